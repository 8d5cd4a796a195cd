"""Large answers that a reader process writes to the client's connection itself."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from urllib.parse import quote

import httpx
import pytest
import uvicorn
from pyoxigraph import Literal, NamedNode, Quad

from server.http.app import create_app
from server.http.short.client_limits import limited_protocol
from server.http.short.handover import offer_outlet
from server.runtime.context import Services
from sparql.workers.pool import WorkerPool
from sparql.workers.processes.process import WorkerProcess
from tests.support.waiting import eventually

ROWS = 5_000
ALL = "SELECT ?s ?n { ?s <http://e/n> ?n }"
ENDLESS = "SELECT * { ?a <http://e/n> ?x . ?b <http://e/n> ?y . ?c <http://e/n> ?z }"
SECONDS = 120


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The connections that were handed over."""
    found: list[int] = []
    hand_over = WorkerProcess.hand_over

    def counted(self: WorkerProcess, descriptor: int) -> None:
        found.append(descriptor)
        hand_over(self, descriptor)

    monkeypatch.setattr(WorkerProcess, "hand_over", counted)
    return found


@pytest.fixture
async def server(services: Services) -> AsyncIterator[uvicorn.Server]:
    predicate = NamedNode("http://e/n")
    services.store.commit(
        [Quad(NamedNode(f"http://e/{number}"), predicate, Literal("é" * 20)) for number in range(ROWS)]
    )
    protocol = limited_protocol(services.settings)
    app = create_app(services)
    config = uvicorn.Config(app, http=protocol, port=0, lifespan="off", log_level="critical", ws="none")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    await eventually(lambda: server.started)
    yield server
    server.should_exit = True
    await task


@pytest.fixture
def port(server: uvicorn.Server) -> int:
    found: int = server.servers[0].sockets[0].getsockname()[1]
    return found


@pytest.fixture
async def client(port: int) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=SECONDS) as client:
        client.headers["accept-encoding"] = "identity"
        yield client


def address(query: str, more: str = "") -> str:
    return f"/sparql?query={quote(query)}{more}"


async def ask(port: int, query: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which the query has been sent, and that holds little of what comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4096)
    writer.write(f"GET {address(query)} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
    return reader, writer


async def test_a_large_answer_is_the_same_by_both_ways(
    client: httpx.AsyncClient, handed_over: list[int]
) -> None:
    direct = await client.get(address(ALL))
    assert len(handed_over) == 1
    around = await client.get(address(ALL), headers={"accept-encoding": "gzip"})
    assert len(handed_over) == 1
    assert direct.content == around.content
    assert len(json.loads(direct.content)["results"]["bindings"]) == ROWS
    assert direct.headers["transfer-encoding"] == "chunked"


async def test_a_connection_goes_on_after_a_large_answer(
    client: httpx.AsyncClient, handed_over: list[int]
) -> None:
    for query, rows in ((ALL, ROWS), ("SELECT ?s { ?s <http://e/n> ?n } LIMIT 1", 1), (ALL, ROWS)):
        answer = await client.get(address(query))
        assert len(answer.json()["results"]["bindings"]) == rows
    assert len(handed_over) == 2
    assert len(set(handed_over)) == 1


async def test_small_answers_and_heads_are_not_handed_over(
    client: httpx.AsyncClient, handed_over: list[int]
) -> None:
    small = await client.get(address(f"{ALL} LIMIT 100"))
    assert len(small.json()["results"]["bindings"]) == 100
    head = await client.head(address(ALL))
    assert head.status_code == 200
    assert handed_over == []


async def test_an_answer_that_passes_its_deadline_is_broken_off(
    client: httpx.AsyncClient, handed_over: list[int]
) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        await client.get(address(ENDLESS, "&timeout=3"))
    assert len(handed_over) == 1
    assert len((await client.get(address(ALL))).json()["results"]["bindings"]) == ROWS


async def test_a_reader_whose_client_leaves_stops_and_takes_the_next_query(
    services: Services, port: int, client: httpx.AsyncClient, handed_over: list[int]
) -> None:
    assert isinstance(services.readers, WorkerPool)
    readers = services.readers.pids
    received, writer = await ask(port, ENDLESS)
    await eventually(lambda: handed_over)
    await received.readexactly(100_000)
    writer.close()
    assert len((await client.get(address(ALL))).json()["results"]["bindings"]) == ROWS
    assert services.readers.pids == readers


async def test_a_client_that_takes_nothing_is_let_go_of(
    server: uvicorn.Server, port: int, handed_over: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "server.http.short.client_limits.offer_outlet", lambda cycle, patience_s: offer_outlet(cycle, 0.2)
    )
    received, writer = await ask(port, ENDLESS)
    await eventually(lambda: handed_over)
    await eventually(lambda: not server.server_state.connections)
    last = b""
    with suppress(ConnectionError):
        while piece := await received.read(65_536):
            last = (last + piece)[-5:]
    assert last != b"0\r\n\r\n"
    writer.close()

"""Lookups that are answered before the application: the same answers, headers, counts and log lines."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
import pytest_asyncio
from pyoxigraph import Literal, NamedNode, Quad
from SPARQLWrapper import CSV, JSON, XML, SPARQLWrapper
from starlette.types import Scope as ASGIScope

from ontology import Schema
from server.app import create_app
from server.http.access.client_limits import limited_protocol
from server.http.access.keys import Scope
from server.monitoring.logs import set_up_logs
from server.runtime.wiring import build
from server.services import Services
from server.short import ShortWay
from shapes.gate.gate import ShapesGate
from sparql.protocol.requests import ProtocolRequest
from sparql.storage.embedded_store import EmbeddedStore
from tests.server.conftest import RecordedModel, own_gate
from tests.support.listening import listening
from tests.support.workshop import settings_of

LOOKUP = "SELECT ?n { <http://e/s> <http://e/n> ?n }"


class Counted(ShortWay):
    """Counts what it answered."""

    answered = 0

    def _look_up(self, scope: ASGIScope, fields: dict[bytes, bytes], found: ProtocolRequest) -> Any:
        answer = super()._look_up(scope, fields, found)
        self.answered += answer is not None
        return answer


pytestmark = pytest.mark.asyncio(loop_scope="module")
ABOUT = Quad(NamedNode("http://e/s"), NamedNode("http://e/n"), Literal("é"))


@dataclass(frozen=True)
class Served:
    """A server with the short way before it, and where it listens."""

    services: Services
    short: Counted
    port: int

    def client(self) -> httpx.AsyncClient:
        client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=120)
        client.headers.pop("accept")
        return client


@asynccontextmanager
async def serving(services: Services) -> AsyncIterator[Served]:
    assert isinstance(services.store, EmbeddedStore)
    services.store.commit([ABOUT])
    short = Counted(create_app(services), services)
    async with listening(short, http=limited_protocol(services.settings), lifespan="off") as port:
        yield Served(services, short, port)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(shared_services: Services) -> AsyncIterator[Served]:
    """One server for all tests here that leave it as it is; what they store about http://e/ is removed."""
    async with serving(shared_services) as served:
        yield served


@pytest.fixture
def services(served: Served) -> Iterator[Services]:
    store = served.services.store
    yield served.services
    everything = store.match_quads(None, None, None)
    stored = [quad for quad in everything if str(quad.subject).startswith("<http://e/")]
    store.commit([ABOUT], [quad for quad in stored if quad != ABOUT])


@pytest.fixture
def short(services: Services, served: Served) -> Counted:
    served.short.answered = 0
    return served.short


@pytest.fixture
def port(short: Counted, served: Served) -> int:
    return served.port


@pytest_asyncio.fixture(loop_scope="module")
async def client(short: Counted, served: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with served.client() as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def alone(
    tmp_path: Path, schema: Schema, gate: ShapesGate, new_folder: Callable[[Path], Path]
) -> AsyncIterator[Served]:
    """A server for one test, which changes more than its data."""
    settings = settings_of(data=new_folder(tmp_path / "data"), readers=1)
    async with build(settings, model=RecordedModel(), schema=schema, gate=own_gate(gate)) as services:
        await services.opened()
        async with serving(services) as served:
            yield served


def lasting(answer: httpx.Response) -> dict[str, str]:
    """The headers that are the same each time."""
    return {name: value for name, value in answer.headers.items() if name not in {"date", "x-request-id"}}


def address(query: str, path: str = "/sparql") -> str:
    return f"{path}?query={quote(query)}"


@pytest.mark.parametrize(
    "accept", [None, "*/*", "text/csv", "application/sparql-results+xml", "text/html;q=0.1, */*"]
)
@pytest.mark.parametrize("more", ["", "&format=csv", "&format=xml&results=xml"])
async def test_it_says_what_the_application_says(
    client: httpx.AsyncClient, short: Counted, accept: str | None, more: str
) -> None:
    headers = {} if accept is None else {"accept": accept}
    target = address(LOOKUP) + more
    quick = await client.get(target, headers=headers)
    assert short.answered == 1
    slow = await client.get(target, headers={**headers, "x-request-id": "mine"})
    assert short.answered == 1
    assert quick.status_code == slow.status_code == 200
    assert quick.content == slow.content
    assert "é" in quick.text
    assert lasting(quick) == lasting(slow)
    assert quick.headers["x-request-id"]


@pytest.mark.parametrize("kind", ["application/sparql-query", "application/x-www-form-urlencoded"])
async def test_lookups_that_are_posted_are_answered_too(
    client: httpx.AsyncClient, short: Counted, kind: str
) -> None:
    body = LOOKUP if kind.endswith("query") else urlencode({"query": LOOKUP})
    headers = {"content-type": kind, "accept": "text/csv"}
    for path in ("/sparql", "/query"):
        quick = await client.post(path, content=body, headers=headers)
        slow = await client.post(path, content=body, headers={**headers, "x-request-id": "mine"})
        assert quick.status_code == slow.status_code == 200
        assert quick.content == slow.content
        assert lasting(quick) == lasting(slow)
    assert short.answered == 2
    assert (await client.post("/update", content=body, headers=headers)).status_code == 400
    assert short.answered == 2


async def test_a_tag_that_it_gave_is_known_to_the_application(
    client: httpx.AsyncClient, short: Counted, services: Services
) -> None:
    tag = (await client.get(address(LOOKUP))).headers["etag"]
    assert (await client.get(address(LOOKUP), headers={"if-none-match": tag})).status_code == 304
    services.store.commit([Quad(NamedNode("http://e/s"), NamedNode("http://e/n"), Literal("two"))])
    again = await client.get(address(LOOKUP), headers={"if-none-match": tag})
    assert again.status_code == 200
    assert len(again.json()["results"]["bindings"]) == 2


async def test_it_sees_every_write_at_once(client: httpx.AsyncClient, short: Counted) -> None:
    for number in range(5):
        update = f"INSERT DATA {{ <http://e/t> <http://e/n> {number} }}"
        assert (await client.post("/update", data={"update": update})).status_code == 200
        found = await client.get(address("SELECT ?n { <http://e/t> <http://e/n> ?n }"))
        assert len(found.json()["results"]["bindings"]) == number + 1
    assert short.answered == 5


NOT_TAKEN = [
    ({}, address("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"), 200),
    ({}, address(LOOKUP) + "&timeout=5", 200),
    ({}, address(LOOKUP) + "&optimize=false", 200),
    ({}, address(LOOKUP) + "&query=ASK%7B%7D", 400),
    ({}, address(LOOKUP) + "&format=png", 200),
    ({}, address(LOOKUP) + "&default-graph-uri=http://e/g", 200),
    ({}, "/sparql", 200),
    ({}, "/sparql?query=%FF", 400),
    ({}, address("SELECT"), 400),
    ({}, address(LOOKUP, "/update"), 405),
    ({"accept": "image/png"}, address(LOOKUP), 406),
    ({"origin": "http://page.example"}, address(LOOKUP), 200),
    ({"authorization": "Bearer ukg_wrong_key"}, address(LOOKUP), 401),
    ({"x-api-key": "wrong"}, address(LOOKUP), 401),
]


@pytest.mark.parametrize(("headers", "target", "status"), NOT_TAKEN)
async def test_all_else_goes_to_the_application(
    client: httpx.AsyncClient, short: Counted, headers: dict[str, str], target: str, status: int
) -> None:
    assert (await client.get(target, headers=headers)).status_code == status
    assert short.answered == 0


async def test_a_server_whose_reads_need_a_key_does_not_answer_without_one(alone: Served) -> None:
    alone.services.guard._open_reads = False
    async with alone.client() as client:
        assert (await client.get(address(LOOKUP))).status_code == 200
        alone.services.keys.create("one", [Scope.READ])
        assert (await client.get(address(LOOKUP))).status_code == 401
    assert alone.short.answered == 1


async def test_a_server_that_is_leaving_takes_no_lookups(alone: Served) -> None:
    alone.services.draining.begin()
    async with alone.client() as client:
        assert (await client.get(address(LOOKUP))).status_code == 503


async def test_large_answers_are_compressed_for_clients_that_accept_it(
    client: httpx.AsyncClient, short: Counted, services: Services
) -> None:
    long = Literal("x" * 2000)
    services.store.commit([Quad(NamedNode("http://e/l"), NamedNode("http://e/n"), long)])
    query = address("SELECT ?n { <http://e/l> <http://e/n> ?n }")
    for accepted in ("gzip, deflate", "*", "identity;q=1, gzip;q=0", "identity"):
        headers = {"accept-encoding": accepted}
        quick = await client.get(query, headers=headers)
        slow = await client.get(query, headers={**headers, "x-request-id": "mine"})
        assert quick.content == slow.content
        assert lasting(quick) == lasting(slow)
        assert ("content-encoding" in quick.headers) == (accepted in ("gzip, deflate", "*"))
    assert short.answered == 4
    tag = (await client.get(query)).headers["etag"]
    assert (await client.get(query, headers={"if-none-match": tag})).status_code == 304


async def test_an_answer_that_is_too_large_leaves_the_short_way_open_for_others(
    client: httpx.AsyncClient, short: Counted, services: Services
) -> None:
    hub = NamedNode("http://e/hub")
    services.store.commit([Quad(hub, NamedNode("http://e/n"), Literal(f"{n:050}")) for n in range(1000)])
    large, small = address(LOOKUP.replace("/s>", "/hub>")), address(LOOKUP)
    for _ in range(3):
        assert len((await client.get(large)).json()["results"]["bindings"]) == 1000
        assert (await client.get(small)).status_code == 200
    assert short.answered == 3
    services.store.commit([], [Quad(hub, NamedNode("http://e/n"), Literal(f"{n:050}")) for n in range(990)])
    for _ in range(101):
        assert (await client.get(large)).status_code == 200
    assert short.answered > 3, "an answer that became small is found to be so"


CLIENTS = {
    "httpx": {},
    "curl": {"user-agent": "curl/8.5.0", "accept": "*/*", "accept-encoding": "identity"},
    "curl --compressed": {
        "user-agent": "curl/8.5.0",
        "accept": "*/*",
        "accept-encoding": "deflate, gzip, br",
    },
    "a program": {"accept": "application/sparql-results+json", "connection": "keep-alive"},
    "requests": {"user-agent": "python-requests/2.32", "accept": "*/*", "accept-encoding": "gzip, deflate"},
    "rdflib": {"accept": "application/sparql-results+xml, application/rdf+xml, application/xml;q=0.8"},
    "browser": {
        "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "accept-encoding": "gzip, deflate, br, zstd",
        "accept-language": "en",
        "sec-fetch-mode": "navigate",
    },
}
TYPICAL = [
    LOOKUP,
    "SELECT * WHERE { <http://e/s> ?p ?o }",
    "SELECT ?p ?o WHERE { <http://e/s> ?p ?o } LIMIT 50",
    "ASK { <http://e/s> <http://e/n> ?n }",
    "SELECT * WHERE { <http://e/long> ?p ?o }",
    "PREFIX e: <http://e/> SELECT ?n WHERE { e:s e:n ?n } ORDER BY ?n",
]


@pytest.fixture
def long(services: Services) -> None:
    predicate = NamedNode("http://e/n")
    services.store.commit(
        [Quad(NamedNode("http://e/long"), predicate, Literal(f"{n:020}")) for n in range(50)]
    )


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("kind", CLIENTS)
async def test_all_lookups_of_real_clients_take_the_short_path(port: int, short: Counted, kind: str) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        for query in TYPICAL:
            answer = await client.get("/sparql", params={"query": query}, headers=CLIENTS[kind])
            assert answer.status_code == 200
    assert short.answered == len(TYPICAL)


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("format_", [JSON, XML, CSV])
async def test_all_lookups_of_sparqlwrapper_take_the_short_path(
    port: int, short: Counted, format_: str
) -> None:
    wrapper = SPARQLWrapper(f"http://127.0.0.1:{port}/sparql")
    wrapper.setReturnFormat(format_)
    queries = [query for query in TYPICAL if format_ != CSV or "ASK" not in query]
    for query in queries:
        wrapper.setQuery(query)
        assert await asyncio.to_thread(wrapper.queryAndConvert)
    assert short.answered == len(queries)


async def test_requests_sent_together_are_answered_in_their_order(port: int, short: Counted) -> None:
    slow = "SELECT (COUNT(*) AS ?n) { ?s <http://e/n> ?o }"
    targets = [address(LOOKUP), address(slow), address(LOOKUP), address(LOOKUP)]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number, target in enumerate(targets):
        last = "connection: close\r\n" if number == 3 else ""
        writer.write(f"GET {target} HTTP/1.1\r\nhost: localhost\r\naccept: text/csv\r\n{last}\r\n".encode())
    async with asyncio.timeout(60):
        received = await reader.read()
    writer.close()
    bodies = [part.partition(b"\r\n\r\n")[2] for part in received.split(b"HTTP/1.1 200 OK\r\n")[1:]]
    assert bodies == ["n\r\né\r\n".encode(), b"n\r\n1\r\n", "n\r\né\r\n".encode(), "n\r\né\r\n".encode()]


async def exchange(port: int, *requests: str) -> list[bytes]:
    """The answers to requests that are sent one after the other over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = []
    async with asyncio.timeout(120):
        for request in requests:
            writer.write(request.encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
            answers.append(head + await reader.readexactly(length))
    writer.close()
    return answers


def comparable(answer: bytes) -> list[bytes]:
    """An answer without what differs each time."""
    return [line for line in answer.split(b"\r\n") if not line.startswith((b"x-request-id", b"date"))]


async def test_a_head_like_one_before_is_answered_as_the_first_was(
    port: int, short: Counted, services: Services
) -> None:
    services.store.commit([Quad(NamedNode("http://e/s2"), NamedNode("http://e/n"), Literal("other"))])
    rest = " HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n"
    other = address(LOOKUP.replace("/s>", "/s2>"))
    first, second, third = await exchange(
        port, *(f"GET {target}{rest}" for target in (address(LOOKUP), other, address(LOOKUP)))
    )
    assert comparable(first) == comparable(third)
    assert second.endswith(b"n\r\nother\r\n")
    assert short.answered == 3


@pytest.mark.parametrize(
    ("target", "rest"),
    [
        ("/sparql?query=%s", "\r\naccept: application/x-unknown"),
        ("/sparql?query=%s", "\r\nif-none-match: *"),
        ("/sparql?query=%s", "\r\nhost: elsewhere"),
        ("/sparql?query=%s HTTP/1.1\r\nx: y", ""),
        ("/sparql?query=%s\tx", ""),
        ("/sparql?query=%s&timeout=soon", ""),
        ("/healthz?%s", ""),
    ],
)
async def test_what_is_not_just_like_it_is_read_anew(
    port: int, short: Counted, target: str, rest: str
) -> None:
    known = " HTTP/1.1\r\nhost: localhost"
    request = f"GET {target.replace('%s', quote(LOOKUP))}{known}{rest}\r\n\r\n"
    (alone,) = await exchange(port, request)
    answered = short.answered
    first, after = await exchange(port, f"GET {address(LOOKUP)}{known}\r\n\r\n", request)
    assert b" 200 OK" in first
    assert comparable(after) == comparable(alone)
    assert short.answered == answered * 2 + 1


async def test_heads_in_pieces_and_with_a_body_are_answered_after_a_head_like_them(port: int) -> None:
    known = f"GET {address(LOOKUP)} HTTP/1.1\r\nhost: localhost\r\naccept: text/csv\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(120):
        for piece in (known, known[:9], known[9:], known + known[:30], known[30:]):
            writer.write(piece.encode())
            await writer.drain()
            await asyncio.sleep(0.05)
        for _ in range(4):
            assert (await reader.readuntil("é\r\n".encode())).startswith(b"HTTP/1.1 200 OK\r\n")
    writer.close()


async def test_old_clients_get_their_connection_closed(port: int, short: Counted) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {address(LOOKUP)} HTTP/1.0\r\n\r\n".encode())
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    assert b" 200 OK" in answer
    assert b"connection: close" in answer
    assert short.answered == 1


async def test_lookups_are_counted_and_logged(alone: Served) -> None:
    stream, root = io.StringIO(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        set_up_logs("info", stream)
        async with alone.client() as client:
            answered = await client.get(address(LOOKUP))
        alone.short._log.write()
    finally:
        root.handlers, root.level = handlers, level
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    (reported,) = (line for line in lines if line["logger"] == "urbankg.requests")
    assert reported["request"] == answered.headers["x-request-id"]
    expected = {"level": "info", "message": "answered", "method": "GET", "route": "/sparql", "status": 200}
    assert expected.items() <= reported.items()
    assert set(reported) == {*expected, "time", "logger", "request", "ms"}
    counted = alone.services.metrics.text().decode()
    assert 'urbankg_request_seconds_count{method="GET",route="/sparql",status="200"} 1.0' in counted


PLACES = (
    "PREFIX geo: <http://www.opengis.net/ont/geosparql#> "
    "PREFIX geof: <http://www.opengis.net/def/function/geosparql/> "
)
READABLE, BROKEN = '"POINT(-73.9 40.8)"^^geo:wktLiteral', '"POINT(-73.9"^^geo:wktLiteral'
IN_PLACE = "FILTER(geof:sfWithin(?w, %s)) }"
KINDS = [
    LOOKUP,
    "ASK { <http://e/s> <http://e/n> ?n }",
    "SELECT * { <http://e/s> ?p 'é' } LIMIT 3",
    "SELECT * { ?s ?p 'x'^^<http://e/own> }",
    PLACES + "SELECT ?w { <http://e/s> geo:asWKT ?w }",
    PLACES + f"SELECT ?s {{ ?s geo:asWKT {READABLE} }}",
    PLACES + f"SELECT ?s {{ ?s geo:asWKT {BROKEN} }}",
    PLACES + f"ASK {{ <http://e/s> geo:asWKT {BROKEN} }}",
    "ASK { <http://e/s> <http://e/n> 'POINT(1'^^<http://www.opengis.net/ont/geosparql#wktLiteral> }",
    PLACES + 'ASK { <http://e/s> <http://e/n> "<gml:Point"^^geo:gmlLiteral }',
    PLACES + "SELECT ?o { <http://e/s> geo:rcc8dc ?o }",
    PLACES + "SELECT ?o { <http://e/s> geo:rcc8ec ?o }",
    "SELECT ?o { <http://e/s> <http://www.opengis.net/ont/geosparql#rcc8dc> ?o }",
    PLACES + "SELECT ?o { <http://e/s> geo:sfDisjoint ?o }",
    PLACES + f"SELECT ?w {{ ?f geo:asWKT ?w {IN_PLACE % READABLE}",
    PLACES + f"SELECT ?w {{ ?f geo:asWKT ?w {IN_PLACE % BROKEN}",
    PLACES + f"SELECT ?f {{ ?f geo:hasGeometry ?g . ?g geo:asWKT ?w {IN_PLACE % BROKEN}",
    PLACES + "SELECT ?w { ?f geo:asWKT ?w FILTER(geof:sfWithin(?w, 'no geometry')) }",
    PLACES
    + f"SELECT ?w {{ ?f geo:asWKT ?w }} ORDER BY geof:distance(?w, {READABLE}, <http://e/league>) LIMIT 1",
    PLACES + f"SELECT ?w {{ ?f geo:asWKT ?w FILTER(geof:distance(?w, {READABLE}, <http://e/league>) < 1) }}",
]


@pytest.mark.parametrize("accept", ["*/*", "text/csv"])
@pytest.mark.parametrize("query", KINDS)
async def test_no_header_of_the_application_is_left_out(
    client: httpx.AsyncClient, short: Counted, services: Services, query: str, accept: str
) -> None:
    slow = await client.get(address(query), headers={"accept": accept, "x-request-id": "mine"})
    assert short.answered == 0
    for _ in range(3):
        quick = await client.get(address(query), headers={"accept": accept})
        assert quick.content == slow.content
        assert lasting(quick) == lasting(slow)
    unhurried = await client.get(address(query) + "&optimize=false", headers={"accept": accept})
    assert ("warning" in unhurried.headers) == ("warning" in slow.headers)


async def test_a_geometry_that_cannot_be_read_is_warned_of_in_lookups(client: httpx.AsyncClient) -> None:
    for query in (one for one in KINDS if "POINT(1'" in one or (BROKEN in one and "FILTER" not in one)):
        assert "cannot be read" in (await client.get(address(query))).headers["warning"]

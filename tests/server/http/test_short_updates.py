"""Updates that are taken before the application: the same answers, headers, counts and log lines."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import pytest_asyncio
from starlette.types import Scope as ASGIScope

from server.app import create_app
from server.http.access.client_limits import limited_protocol
from server.http.access.keys import Scope
from server.http.request_logging import Draining
from server.monitoring.logs import set_up_logs
from server.services import Services
from server.short import ShortWay
from sparql.protocol.requests import ProtocolRequest
from tests.server.conftest import changed, forget_keys
from tests.support.listening import listening
from tests.support.waiting import eventually
from tests.support.workshop import PREFIX, update

FORM = "application/x-www-form-urlencoded"
DIRECT = "application/sparql-update"
INSERT = f"{PREFIX}INSERT DATA {{ :s :p 'é' }}"
OWN = {"date", "x-request-id"}


class Counted(ShortWay):
    """Counts what it took."""

    taken = 0

    async def _carry_out(self, scope: ASGIScope, found: ProtocolRequest) -> Any:
        self.taken += 1
        return await super()._carry_out(scope, found)


@pytest_asyncio.fixture(loop_scope="module")
async def shop(shared_shop: Services, shared_shop_client: httpx.AsyncClient) -> Services:
    """One server for all tests here; each starts with an empty graph and without keys."""
    forget_keys(shared_shop)
    assert (await update(shared_shop_client, "CLEAR ALL")).status_code == 200
    return shared_shop


@pytest.fixture
def short(shop: Services) -> Counted:
    return Counted(create_app(shop), shop)


@pytest_asyncio.fixture(loop_scope="module")
async def port(shop: Services, short: Counted) -> AsyncIterator[int]:
    async with listening(short, http=limited_protocol(shop.settings), lifespan="off") as port:
        yield port


@pytest_asyncio.fixture(loop_scope="module")
async def client(port: int) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        yield client


def parts(response: httpx.Response) -> dict[str, set[str]]:
    return {
        name: {part.strip() for part in value.split(",")}
        for name, value in response.headers.items()
        if name not in OWN
    }


@pytest.mark.parametrize("path", ["/update", "/sparql"])
@pytest.mark.parametrize("kind", [FORM, DIRECT])
@pytest.mark.parametrize(
    ("text", "status"),
    [
        (INSERT, 200),
        (f"{PREFIX}DELETE DATA {{ :s :p 1 }}", 200),
        (f"{PREFIX}INSERT DATA {{ :s a :Park }}", 422),
        (f"{PREFIX}INSERT DATA {{ :s :p }}", 400),
    ],
)
async def test_it_says_what_the_application_says(
    client: httpx.AsyncClient, short: Counted, path: str, kind: str, text: str, status: int
) -> None:
    body = urlencode({"update": text}) if kind == FORM else text
    headers = {"content-type": kind}
    quick = await client.post(path, content=body, headers=headers)
    assert short.taken == 1
    slow = await client.post(path, content=body, headers={**headers, "x-request-id": "mine"})
    assert short.taken == 1
    assert quick.status_code == slow.status_code == status
    assert quick.headers["x-request-id"]
    assert quick.json().keys() == slow.json().keys()
    if status != 200:
        assert quick.content == slow.content
        assert parts(quick) == parts(slow)
    else:
        # The second time it is there, or gone, already: the answers differ by the revision alone.
        lengths = {"content-length"}
        assert parts(quick).keys() == parts(slow).keys()
        assert {k: v for k, v in parts(quick).items() if k not in lengths} == {
            k: v for k, v in parts(slow).items() if k not in lengths
        }


async def test_what_it_acknowledged_is_read_by_the_next_reader(
    client: httpx.AsyncClient, short: Counted, shop: Services
) -> None:
    for number in range(3):
        text = f"{PREFIX}INSERT DATA {{ :s :p {number} }}"
        answer = await client.post("/update", data={"update": text})
        assert answer.json() == {"revision": shop.store.revision(), "warnings": []}
        query = f"{PREFIX}SELECT (COUNT(*) AS ?n) {{ :s :p ?o }}"
        rows = await client.get("/sparql", params={"query": query}, headers={"accept": "text/csv"})
        assert rows.text.split() == ["n", str(number + 1)]
    assert short.taken == 3


NOT_TAKEN = [
    ({}, "/update", f"update=x{'y' * 20_000}", 400),
    ({}, "/update", "update=CLEAR+ALL", 200),
    ({}, "/update", urlencode({"update": INSERT, "partial": "true"}), 200),
    ({}, "/update?partial=true", urlencode({"update": INSERT}), 200),
    ({}, "/update", urlencode({"update": INSERT, "using-graph-uri": "http://e/g"}), 200),
    ({}, "/update", urlencode({"update": f"{INSERT} ; CLEAR ALL"}), 200),
    ({}, "/update", "update=%FF", 400),
    ({}, "/query", urlencode({"update": INSERT}), 400),
    ({}, "/sparql", urlencode({"query": "ASK {}"}), 200),
    ({"content-type": "text/plain"}, "/update", INSERT, 415),
    ({"content-type": f"{FORM}; charset=utf-8"}, "/update", urlencode({"update": INSERT}), 200),
    ({"origin": "http://page.example"}, "/update", urlencode({"update": INSERT}), 403),
    ({"host": "page.example"}, "/update", urlencode({"update": INSERT}), 421),
    ({"forwarded": "for=192.0.2.1"}, "/update", urlencode({"update": INSERT}), 401),
    ({"x-api-key": "wrong"}, "/update", urlencode({"update": INSERT}), 401),
    ({"authorization": "Bearer ukg_wrong_key"}, "/update", urlencode({"update": INSERT}), 401),
]


@pytest.mark.parametrize(("headers", "target", "body", "status"), NOT_TAKEN)
async def test_all_else_goes_to_the_application(
    client: httpx.AsyncClient, short: Counted, headers: dict[str, str], target: str, body: str, status: int
) -> None:
    answer = await client.post(target, content=body.encode(), headers={"content-type": FORM, **headers})
    assert answer.status_code == status, answer.text
    assert short.taken == 0


async def test_where_a_key_exists_none_is_taken_without_one(
    client: httpx.AsyncClient, short: Counted, shop: Services
) -> None:
    shop.keys.create("one", [Scope.WRITE])
    assert (await client.post("/update", data={"update": INSERT})).status_code == 401
    assert short.taken == 0


async def test_a_server_that_is_leaving_takes_no_updates(shop: Services) -> None:
    leaving = changed(shop, draining=Draining())
    short = Counted(create_app(leaving), leaving)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(short), base_url="http://127.0.0.1") as client:
        assert (await client.post("/update", data={"update": INSERT})).status_code == 200
        leaving.draining.begin()
        assert (await client.post("/update", data={"update": INSERT})).status_code == 503
    assert short.taken == 1


async def test_requests_sent_together_are_answered_in_their_order(port: int, short: Counted) -> None:
    texts = [INSERT, "CLEAR GRAPH <http://e/none>", f"{PREFIX}INSERT DATA {{ :s a :Park }}", INSERT]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number, text in enumerate(texts):
        last = "connection: close\r\n" if number == 3 else ""
        content = text.encode()
        writer.write(
            f"POST /update HTTP/1.1\r\nhost: localhost\r\ncontent-type: {DIRECT}\r\n{last}"
            f"content-length: {len(content)}\r\n\r\n".encode()
        )
        # The body comes in two pieces.
        writer.write(content[:10])
        await writer.drain()
        writer.write(content[10:])
    async with asyncio.timeout(120):
        received = await reader.read()
    writer.close()
    reported = [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]
    assert reported == [b"200", b"404", b"422", b"200"]


async def test_a_client_that_leaves_has_its_update_carried_out(
    client: httpx.AsyncClient, port: int, short: Counted, shop: Services
) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    content = INSERT.encode()
    writer.write(
        f"POST /update HTTP/1.1\r\nhost: localhost\r\ncontent-type: {DIRECT}\r\n"
        f"content-length: {len(content)}\r\n\r\n".encode()
        + content
    )
    await writer.drain()
    await eventually(lambda: short.taken)
    writer.transport.abort()
    answer = await client.post("/update", data={"update": f"{PREFIX}INSERT DATA {{ :s :p 2 }}"})
    assert answer.status_code == 200
    found = await client.get("/sparql", params={"query": f"{PREFIX}ASK {{ :s :p 'é' }}"})
    assert found.json()["boolean"] is True


def answered_updates(services: Services) -> float:
    """How many updates the metrics count as carried out."""
    count = 'urbankg_request_seconds_count{method="POST",route="/update",status="200"} '
    lines = services.metrics.text().decode().splitlines()
    return sum(float(line.removeprefix(count)) for line in lines if line.startswith(count))


async def test_updates_are_counted_and_logged(
    client: httpx.AsyncClient, short: Counted, shop: Services
) -> None:
    before = answered_updates(shop)
    stream, root = io.StringIO(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        set_up_logs("info", stream)
        answered = await client.post("/update", data={"update": INSERT})
        short._log.write()
    finally:
        root.handlers, root.level = handlers, level
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    (reported,) = (line for line in lines if line.get("request") == answered.headers["x-request-id"])
    assert reported["logger"] == "urbankg.requests"
    expected = {"level": "info", "message": "answered", "method": "POST", "route": "/update", "status": 200}
    assert expected.items() <= reported.items()
    assert answered_updates(shop) == before + 1


def written(text: str, **headers: str) -> bytes:
    """A request as bytes; `headers` are more of them."""
    body = urlencode({"update": text}).encode()
    head = {"Host": "127.0.0.1", "Content-Type": FORM, "Content-Length": str(len(body)), **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"POST /update HTTP/1.1\r\n{lines}\r\n".encode() + body


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], dict[str, object]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = await reader.readexactly(int(headers["content-length"]))
    return int(head[0].split()[1]), headers, json.loads(body)


@pytest_asyncio.fixture(loop_scope="module")
async def wire(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    yield reader, writer
    writer.close()


async def test_refusals_and_other_updates_on_the_same_connection_are_answered_by_the_application(
    wire: tuple[asyncio.StreamReader, asyncio.StreamWriter], short: Counted
) -> None:
    reader, writer = wire
    reported = []
    # All of the same length, so that their heads are equal.
    for text in (
        "INSERT DATA { :s1 :p 1 }",
        "INSERT DATA { :s1 a :Park }",
        "INSERT DATA { :s1 :p }",
        "CLEAR ALL",
    ):
        writer.write(written(PREFIX + text.ljust(40)))
        status, _, body = await read_answer(reader)
        reported.append((status, "revision" in body))
    assert reported == [(200, True), (422, False), (400, False), (200, True)]
    assert short.taken == 3


async def test_what_is_sent_before_the_answer_waits_its_turn(
    wire: tuple[asyncio.StreamReader, asyncio.StreamWriter], shop: Services
) -> None:
    reader, writer = wire
    requests = [
        written(
            f"{PREFIX}INSERT DATA {{ :early{n} {'a' if n == 5 else ':p'} {':Park' if n == 5 else n} }}".ljust(
                90
            )
        )
        for n in range(9)
    ]
    writer.write(requests[0])
    await read_answer(reader)
    for request in requests[1:]:
        writer.write(request)
        await writer.drain()
        await asyncio.sleep(0)
    last = requests[1][:-30]
    writer.write(last)
    statuses = [(await read_answer(reader))[0] for _ in requests[1:]]
    assert statuses == [200, 200, 200, 200, 422, 200, 200, 200]
    writer.write(requests[1][-30:])
    assert (await read_answer(reader))[2] == {"revision": None, "warnings": []}


async def test_a_connection_that_was_used_opens_nothing_that_was_closed_meanwhile(
    wire: tuple[asyncio.StreamReader, asyncio.StreamWriter], shop: Services, short: Counted
) -> None:
    reader, writer = wire
    request = written(f"{PREFIX}INSERT DATA {{ :closed :p 1 }}")
    writer.write(request)
    assert (await read_answer(reader))[0] == 200
    shop.keys.create("first", [Scope.WRITE])
    short._open_until = 0.0
    writer.write(request)
    assert (await read_answer(reader))[0] == 401
    assert short.taken == 1


NONSENSE = [
    b"\x00\x00\r\n\r\n",
    b"nonsense",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET http://a@b/ HTTP/1.1\r\nhost: e\r\n\r\n",
]


@pytest.mark.parametrize("first", [f"{PREFIX}INSERT DATA {{ :trailed :p 1 }}", "CLEAR GRAPH <http://e/none>"])
@pytest.mark.parametrize("nonsense", NONSENSE)
async def test_bytes_behind_an_update_do_not_take_its_answer_away(
    port: int, shop: Services, first: str, nonsense: bytes
) -> None:
    expected = 200 if first.startswith(PREFIX) else 404
    for pieces in ([written(first) + nonsense], [written(first), nonsense]):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        assert (await read_answer(reader))[0] == expected
        writer.write_eof()
        async with asyncio.timeout(60):
            rest = await reader.read()
        writer.close()
        assert rest == b"" or rest.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 421 "))


async def test_bytes_behind_an_update_that_ends_its_connection_are_passed_over(port: int) -> None:
    text = f"{PREFIX}INSERT DATA {{ :last :p 1 }}"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(written(text, Connection="close") + b"\x00 nonsense\r\n\r\n")
    assert (await read_answer(reader))[0] == 200
    async with asyncio.timeout(60):
        assert await reader.read() == b""
    writer.close()


async def test_a_broken_body_is_refused_after_the_answers_to_what_came_before_it(port: int) -> None:
    text = f"{PREFIX}INSERT DATA {{ :before :p 1 }}"
    broken = b"POST /update HTTP/1.1\r\nhost: e\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(written(text) * 3 + broken)
    statuses = [(await read_answer(reader))[0] for _ in range(4)]
    assert statuses == [200, 200, 200, 400]
    async with asyncio.timeout(60):
        assert await reader.read() == b""
    writer.close()

"""Lookups that are answered by the connection itself: the same answers, headers, counts and lines."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from server.http.access.keys import Scope
from server.http.app import create_app
from server.http.short.client_limits import limited_protocol
from server.http.short.lookup_lane import LookupLane
from server.runtime.context import Services
from server.runtime.logs import set_up_logs
from sparql.model.vocabulary import GEO
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.listening import listening

LOOKUP = "SELECT ?n { <http://e/s> <http://e/n> ?n }"


class Counted(LookupLane):
    """Counts what it answered."""

    answered = 0

    def __call__(self, target: bytes, headers: list[tuple[bytes, bytes]]) -> list[bytes] | None:
        answer = super().__call__(target, headers)
        self.answered += answer is not None
        return answer


@pytest.fixture
def lane(services: Services) -> Counted:
    services.store.commit([Quad(NamedNode("http://e/s"), NamedNode("http://e/n"), Literal("é"))])
    assert isinstance(services.store, EmbeddedStore)
    return Counted(services, services.store)


@pytest.fixture
async def port(services: Services, lane: Counted) -> AsyncIterator[int]:
    protocol = limited_protocol(services.settings, lane)
    async with listening(create_app(services), http=protocol, lifespan="off") as port:
        yield port


@pytest.fixture
async def client(port: int) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        client.headers.pop("accept")
        yield client


def address(query: str, path: str = "/sparql") -> str:
    return f"{path}?query={quote(query)}"


@pytest.mark.parametrize(
    "accept", [None, "*/*", "text/csv", "application/sparql-results+xml", "text/html;q=0.1, */*"]
)
async def test_it_says_what_the_application_says(
    client: httpx.AsyncClient, lane: Counted, accept: str | None
) -> None:
    headers = {} if accept is None else {"accept": accept}
    quick = await client.get(address(LOOKUP), headers=headers)
    assert lane.answered == 1
    slow = await client.get(address(LOOKUP), headers={**headers, "x-request-id": "mine"})
    assert lane.answered == 1
    assert quick.status_code == slow.status_code == 200
    assert quick.content == slow.content
    assert "é" in quick.text
    own = {"date", "x-request-id"}
    assert {k: v for k, v in quick.headers.items() if k not in own} == {
        k: v for k, v in slow.headers.items() if k not in own
    }
    assert quick.headers["x-request-id"]


async def test_a_tag_that_it_gave_is_known_to_the_application(
    client: httpx.AsyncClient, lane: Counted, services: Services
) -> None:
    tag = (await client.get(address(LOOKUP))).headers["etag"]
    assert (await client.get(address(LOOKUP), headers={"if-none-match": tag})).status_code == 304
    services.store.commit([Quad(NamedNode("http://e/s"), NamedNode("http://e/n"), Literal("two"))])
    again = await client.get(address(LOOKUP), headers={"if-none-match": tag})
    assert again.status_code == 200
    assert len(again.json()["results"]["bindings"]) == 2


async def test_it_sees_every_write_at_once(client: httpx.AsyncClient, lane: Counted) -> None:
    for number in range(5):
        update = f"INSERT DATA {{ <http://e/t> <http://e/n> {number} }}"
        assert (await client.post("/update", data={"update": update})).status_code == 200
        found = await client.get(address("SELECT ?n { <http://e/t> <http://e/n> ?n }"))
        assert len(found.json()["results"]["bindings"]) == number + 1
    assert lane.answered == 5


NOT_TAKEN = [
    ({}, address("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"), 200),
    ({}, address(LOOKUP) + "&timeout=5", 200),
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
    client: httpx.AsyncClient, lane: Counted, headers: dict[str, str], target: str, status: int
) -> None:
    assert (await client.get(target, headers=headers)).status_code == status
    assert lane.answered == 0


async def test_a_server_whose_reads_need_a_key_does_not_answer_without_one(
    client: httpx.AsyncClient, lane: Counted, services: Services
) -> None:
    services.guard._open_reads = False
    assert (await client.get(address(LOOKUP))).status_code == 200
    services.keys.create("one", [Scope.READ])
    assert (await client.get(address(LOOKUP))).status_code == 401
    assert lane.answered == 1


async def test_a_server_that_is_leaving_takes_no_lookups(
    client: httpx.AsyncClient, lane: Counted, services: Services
) -> None:
    services.draining.begin()
    assert (await client.get(address(LOOKUP))).status_code == 503


async def test_large_answers_are_compressed_for_those_who_accept_it(
    client: httpx.AsyncClient, services: Services
) -> None:
    long = Literal("x" * 2000)
    services.store.commit([Quad(NamedNode("http://e/l"), NamedNode("http://e/n"), long)])
    query = address("SELECT ?n { <http://e/l> <http://e/n> ?n }")
    assert (await client.get(query)).headers["content-encoding"] == "gzip"
    plain = await client.get(query, headers={"accept-encoding": "identity;q=1, gzip;q=0"})
    assert "content-encoding" not in plain.headers


async def test_requests_sent_together_are_answered_in_their_order(port: int, lane: Counted) -> None:
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


def telling(answer: bytes) -> list[bytes]:
    """An answer without what differs each time."""
    return [line for line in answer.split(b"\r\n") if not line.startswith((b"x-request-id", b"date"))]


async def test_a_head_like_one_before_is_answered_as_the_first_was(
    port: int, lane: Counted, services: Services
) -> None:
    services.store.commit([Quad(NamedNode("http://e/s2"), NamedNode("http://e/n"), Literal("other"))])
    rest = " HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n"
    other = address(LOOKUP.replace("/s>", "/s2>"))
    first, second, third = await exchange(
        port, *(f"GET {target}{rest}" for target in (address(LOOKUP), other, address(LOOKUP)))
    )
    assert telling(first) == telling(third)
    assert second.endswith(b"n\r\nother\r\n")
    assert lane.answered == 3


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
    port: int, lane: Counted, target: str, rest: str
) -> None:
    known = " HTTP/1.1\r\nhost: localhost"
    request = f"GET {target.replace('%s', quote(LOOKUP))}{known}{rest}\r\n\r\n"
    (alone,) = await exchange(port, request)
    answered = lane.answered
    first, after = await exchange(port, f"GET {address(LOOKUP)}{known}\r\n\r\n", request)
    assert b" 200 OK" in first
    assert telling(after) == telling(alone)
    assert lane.answered == answered * 2 + 1


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


async def test_old_clients_get_their_connection_closed(port: int, lane: Counted) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {address(LOOKUP)} HTTP/1.0\r\n\r\n".encode())
    async with asyncio.timeout(60):
        assert b" 200 OK" in await reader.read()
    writer.close()
    assert lane.answered == 0


async def test_lookups_are_counted_and_logged(
    client: httpx.AsyncClient, lane: Counted, services: Services
) -> None:
    stream, root = io.StringIO(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        set_up_logs("info", stream)
        answered = await client.get(address(LOOKUP))
        lane._log.write()
    finally:
        root.handlers, root.level = handlers, level
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    (told,) = (line for line in lines if line["logger"] == "urbankg.requests")
    assert told["request"] == answered.headers["x-request-id"]
    expected = {"level": "info", "message": "answered", "method": "GET", "route": "/sparql", "status": 200}
    assert expected.items() <= told.items()
    assert set(told) == {*expected, "time", "logger", "request", "ms"}
    counted = services.metrics.text().decode()
    assert 'urbankg_request_seconds_count{method="GET",route="/sparql",status="200"} 1.0' in counted


async def test_what_is_in_a_place_is_answered_as_the_application_does(
    client: httpx.AsyncClient, lane: Counted, services: Services
) -> None:
    store, there = services.store, NamedNode("http://e/s/g")
    point = Literal("POINT(0.5 0.5)", datatype=GEO.wktLiteral)
    store.commit([Quad(NamedNode("http://e/s"), GEO.hasGeometry, there), Quad(there, GEO.asWKT, point)])
    query = (
        f"SELECT ?f {{ ?f {GEO.hasGeometry}/{GEO.asWKT} ?w "
        "FILTER(<http://www.opengis.net/def/function/geosparql/sfWithin>(?w, "
        f'"POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))"^^{GEO.wktLiteral})) }}'
    )
    client.headers.pop("accept-encoding")
    slow = await client.get(address(query))
    assert lane.answered == 0, "the index is not built here"
    quick = await client.get(address(query), headers={"accept-encoding": "identity"})
    assert lane.answered == 1
    assert slow.content == quick.content
    assert b"http://e/s" in quick.content
    own = {"date", "x-request-id"}
    assert {k: v for k, v in quick.headers.items() if k not in own} == {
        k: v for k, v in slow.headers.items() if k not in own
    }
    zipped = await client.get(address(query), headers={"accept-encoding": "gzip"})
    varying = await client.get(address(query + " # NOW()"))
    assert lane.answered == 1
    assert zipped.content == varying.content == quick.content
    assert "etag" not in varying.headers


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
    client: httpx.AsyncClient, lane: Counted, services: Services, query: str, accept: str
) -> None:
    own = {"date", "x-request-id"}
    slow = await client.get(address(query), headers={"accept": accept, "x-request-id": "mine"})
    assert lane.answered == 0
    for _ in range(3):
        quick = await client.get(address(query), headers={"accept": accept})
        assert quick.content == slow.content
        assert {k: v for k, v in quick.headers.items() if k not in own} == {
            k: v for k, v in slow.headers.items() if k not in own
        }
    unhurried = await client.get(address(query) + "&optimize=false", headers={"accept": accept})
    assert ("warning" in unhurried.headers) == ("warning" in slow.headers)


async def test_a_geometry_that_cannot_be_read_is_warned_of_in_lookups(client: httpx.AsyncClient) -> None:
    for query in (one for one in KINDS if "POINT(1'" in one or (BROKEN in one and "FILTER" not in one)):
        assert "cannot be read" in (await client.get(address(query))).headers["warning"]

"""Gzip, HEAD, OPTIONS and Allow around any application."""

import asyncio
import gzip
import zlib

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from server.http.bodies.content_coding import Compression, accepts_gzip
from server.http.methods import Methods

LONG = "all the same " * 1000


async def long(request: Request) -> Response:
    return PlainTextResponse(LONG, headers={"etag": '"1-a-turtle"'})


async def short(request: Request) -> Response:
    return PlainTextResponse("short")


async def events(request: Request) -> Response:
    async def comes() -> object:
        yield "data: " + LONG + "\n\n"

    return StreamingResponse(comes(), media_type="text/event-stream")


ROUTES = [
    Route("/long", long, methods=["GET"]),
    Route("/long", short, methods=["PUT"]),
    Route("/short", short, methods=["GET"]),
    Route("/events", events, methods=["GET"]),
    Route("/posted", short, methods=["POST"]),
]
for route in ROUTES:
    # As the routes of the API are: HEAD is not theirs.
    route.methods.discard("HEAD")


@pytest.fixture
def client() -> httpx.AsyncClient:
    app = Compression(Methods(Starlette(routes=ROUTES), ROUTES))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://e")


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("*", True),
        ("*;q=0", False),
        ("gzip;q=0.000, *", False),
        ("", False),
        ("identity", False),
        ("notgzip", False),
    ],
)
def test_accept_encoding_is_read_with_its_qualities(header: str, accepted: bool):
    assert accepts_gzip(header) is accepted


async def test_who_accepts_gzip_gets_it(client: httpx.AsyncClient):
    packed = await client.get("/long", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == LONG
    assert packed.headers["etag"] == '"1-a-turtle-gzip"'
    plain = await client.get("/long", headers={"accept-encoding": "gzip;q=0"})
    assert "content-encoding" not in plain.headers
    assert plain.headers["etag"] == '"1-a-turtle"'
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


async def test_events_and_short_answers_go_as_they_are(client: httpx.AsyncClient):
    for address in ("/events", "/short"):
        response = await client.get(address, headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in response.headers


async def test_each_piece_of_a_stream_leaves_when_it_comes():
    goes_on = asyncio.Event()

    async def app(scope, receive, send) -> None:
        headers = [(b"content-type", b"text/turtle")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"first piece", "more_body": True})
        await goes_on.wait()
        await send({"type": "http.response.body", "body": b", and the last", "more_body": False})

    sent: asyncio.Queue[dict[str, object]] = asyncio.Queue()
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"accept-encoding", b"gzip")]}
    answering = asyncio.create_task(Compression(app)(scope, asyncio.Event().wait, sent.put))
    await sent.get()
    first = (await sent.get())["body"]
    unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
    assert unpacking.decompress(first) == b"first piece"
    goes_on.set()
    await answering
    assert gzip.decompress(first + (await sent.get())["body"]) == b"first piece, and the last"


async def test_head_is_answered_wherever_get_is(client: httpx.AsyncClient):
    head = await client.head("/long", headers={"accept-encoding": "identity"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(LONG))
    assert (await client.head("/posted")).status_code == 405
    assert (await client.head("/nowhere")).status_code == 404


async def test_allow_lists_the_methods_of_all_routes_of_an_address(client: httpx.AsyncClient):
    refused = await client.patch("/long")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, OPTIONS, PUT")
    reported = await client.options("/long")
    assert (reported.status_code, reported.headers["allow"]) == (204, "GET, HEAD, OPTIONS, PUT")
    assert (await client.options("/posted")).headers["allow"] == "OPTIONS, POST"
    assert (await client.options("/nowhere")).status_code == 404

"""Tags of answers, also of those that come in pieces."""

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from server.http.validators import Validators


async def streamed(scope: Scope, receive: Receive, send: Send) -> None:
    """`/own` has a tag, `/none` has none; both come in two pieces. Anything else is one piece."""

    async def pieces():  # type: ignore[no-untyped-def]
        yield b"one"
        yield b"two"

    path = Request(scope).url.path
    answer: Response = StreamingResponse(pieces())
    if path == "/own":
        answer.headers["etag"] = 'W/"7"'
    elif path != "/none":
        answer = PlainTextResponse("whole", 404 if path == "/missing" else 200)
    await answer(scope, receive, send)


@pytest.fixture
def client() -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(Validators(streamed)), base_url="http://test")


async def test_a_tag_of_the_route_is_compared_before_its_body_is_sent(client: httpx.AsyncClient) -> None:
    plain = await client.get("/own")
    known = await client.get("/own", headers={"if-none-match": 'W/"7"'})
    assert (plain.status_code, plain.text) == (200, "onetwo")
    assert (known.status_code, known.text, known.headers["etag"]) == (304, "", 'W/"7"')


@pytest.mark.parametrize("path", ["/none", "/missing"])
async def test_pieces_and_errors_have_no_tag(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path, headers={"if-none-match": "*"})
    assert answer.status_code != 304
    assert answer.text
    assert "etag" not in answer.headers


async def test_a_whole_answer_has_the_digest_of_its_body(client: httpx.AsyncClient) -> None:
    first, again = await client.get("/whole"), await client.get("/whole")
    assert first.headers["etag"] == again.headers["etag"]
    assert first.headers["cache-control"] == "no-cache"
    posted = await client.post("/whole")
    assert "etag" not in posted.headers

"""A client that leaves ends what it asked for, also where it did not ask for a stream."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.http.bodies.event_stream import Note, in_steps


def request(headers: list[tuple[bytes, bytes]], gone: asyncio.Event) -> Request:
    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/extractions",
        "query_string": b"",
        "headers": headers,
    }
    return Request(scope, receive)


async def answered(headers: list[tuple[bytes, bytes]]) -> tuple[Response, bool]:
    """The response to a client that leaves after the work has begun, and whether the work was ended."""
    gone, ended = asyncio.Event(), False

    async def work(note: Note) -> Response:
        nonlocal ended
        gone.set()
        try:
            await asyncio.sleep(2)
        except asyncio.CancelledError:
            ended = True
            raise
        return JSONResponse({})

    return await in_steps(request(headers, gone), work), ended


async def test_work_ends_when_the_client_leaves() -> None:
    response, ended = await answered([(b"accept", b"application/json")])
    assert (response.status_code, ended) == (499, True)


async def test_work_for_a_client_that_may_come_back_is_done() -> None:
    response, ended = await answered([(b"accept", b"application/json"), (b"idempotency-key", b'"a"')])
    assert (response.status_code, ended) == (200, False)

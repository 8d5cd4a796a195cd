"""A whole answer of status 200, as an ASGI application."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.bodies.compression import SMALLEST, Compression


def short_answer(headers: list[tuple[bytes, bytes]], body: bytes) -> ASGIApp:
    """Sends these headers and this body, compressed where the client accepts it and it is worthwhile."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return Compression(answer) if len(body) >= SMALLEST else answer

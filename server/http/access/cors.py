"""Which web pages of other origins may read answers (the CORS protocol of the Fetch standard).

None, unless `cors_origins` names them or is `*`; and then the SPARQL endpoint, the service description and
VoID only. A browser sends the requests of a page all the same: what a page may change is decided by
`server.http.access.guard`, and reading is what it cannot do without these headers.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATHS = frozenset({"/sparql", "/query", "/.well-known/void"})
ANY = "*"
_EXPOSED = b"Content-Length, ETag, Link, Retry-After, Warning, WWW-Authenticate, X-API-Version, X-Request-Id"
_PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, HEAD, POST"),
    (
        b"access-control-allow-headers",
        b"Accept, Authorization, Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Request-Id",
    ),
    (b"access-control-max-age", b"600"),
    (b"content-length", b"0"),
)

RawHeaders = list[tuple[bytes, bytes]]


class CrossOrigin:
    """The origins whose pages may read."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origins)

    def headers(self, path: str, origin: str | None) -> RawHeaders:
        """The headers that let a page of this origin read what is answered at this path; none for others."""
        if origin is None or path not in PATHS:
            return []
        if ANY in self._origins:
            allowed = b"*"
        elif origin in self._origins:
            allowed = origin.encode("latin-1")
        else:
            return []
        return [(b"access-control-allow-origin", allowed)]


class CrossOriginHeaders:
    """ASGI middleware: adds the headers to whatever is answered, errors too, and answers preflights."""

    def __init__(self, app: ASGIApp, pages: CrossOrigin) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it asks what a page may send."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope)
        allowed = self._pages.headers(scope["path"], sent.get("origin"))
        if allowed and scope["method"] == "OPTIONS" and "access-control-request-method" in sent:
            headers = [*allowed, *_PREFLIGHT, (b"vary", b"Origin")]
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                headers.add_vary_header("Origin")
                if allowed:
                    message["headers"] += [*allowed, (b"access-control-expose-headers", _EXPOSED)]
            await send(message)

        await self._app(scope, receive, add)

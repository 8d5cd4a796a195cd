"""Gzip for those who accept it, without holding streams back.

Each piece of a stream is compressed and sent when it comes, so the first byte is early. Server-sent events go
as they are, and so does everything that is compressed already or tiny.
"""

from __future__ import annotations

import re
from functools import lru_cache

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipResponder
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sparql.protocol.conditions import COMPRESSED

SMALLEST = 1000
_LEVEL = 4
_IN_THREAD = 16 * 1024
_STRONG = re.compile(r'"([^"]*)"')


class Compression:
    """ASGI middleware: compresses bodies, says so to caches, and gives such bodies tags of their own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        accepted = b", ".join(value for name, value in scope["headers"] if name == b"accept-encoding")
        compressing = accepts_gzip(accepted.decode("latin-1"))

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                _mark(MutableHeaders(raw=message["headers"]), compressing)
            await send(message)

        if not compressing:
            await self._app(scope, receive, send_marked)
            return
        responder = GZipResponder(self._app, SMALLEST, _LEVEL, thread_minimum_size=_IN_THREAD)
        await responder(scope, receive, send_marked)


@lru_cache(maxsize=256)
def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header takes gzip (RFC 9110, 12.5.3); its own entry counts before ``*``."""
    qualities: dict[str, bool] = {}
    for entry in header.lower().split(","):
        coding, *parameters = (part.strip() for part in entry.split(";"))
        refused = any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters)
        qualities[coding] = not refused
    return qualities.get("gzip", qualities.get("x-gzip", qualities.get("*", False)))


def _mark(headers: MutableHeaders, compressing: bool) -> None:
    """Say what the answer varies by, and give clients that take gzip a tag of their own.

    The tag follows the request, not the size of the body, so that GET, HEAD and 304 agree (RFC 9110, 8.8.3):
    for one such client the same content always has the same bytes.
    """
    kind = headers.get("content-type", "").partition(";")[0]
    vary = headers.get("vary", "")
    if vary.lower().count("accept-encoding") > 1:
        # The answer says so, and the compression adds it again.
        headers["vary"] = ", ".join(dict.fromkeys(name.strip() for name in vary.split(",")))
    elif kind and "accept-encoding" not in vary.lower() and kind not in DEFAULT_EXCLUDED_CONTENT_TYPES:
        headers.add_vary_header("Accept-Encoding")
    tag = _STRONG.fullmatch(headers.get("etag", ""))
    if compressing and tag is not None:
        headers["etag"] = f'"{tag[1]}{COMPRESSED}"'

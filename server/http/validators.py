"""Validators of answers: clients that poll a list or a document get 304 while it is what they have.

Routes that know their revision set a tag themselves, and answer without any work. The tag of every other
answer is a digest of its body, made here: the work is done, and the body is not sent again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from pyoxigraph import NamedNode
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sparql.protocol.formats import Format
from sparql.protocol.requests import Conditions

# What these give differs between two runs at one revision.
_VARYING = re.compile(r"\b(?:NOW|RAND|UUID|STRUUID|BNODE)\s*\(")
_VARYING_NAMES = ("NOW", "RAND", "UUID", "BNODE")


def is_varying(text: str) -> bool:
    """Whether the answers of two runs may differ although nothing has changed."""
    text = text.upper()
    # Hardly any text has one of the names, and to find that out takes a tenth of the search.
    return any(name in text for name in _VARYING_NAMES) and _VARYING.search(text) is not None


class EntityTag:
    """The tag of the answers to one query; a weak one, since the order of rows is not promised."""

    def __init__(
        self,
        text: str,
        format_: Format,
        default_graphs: Sequence[NamedNode] = (),
        named_graphs: Sequence[NamedNode] = (),
        options: str = "",
    ) -> None:
        graphs: tuple[str, ...] = ("urn:x-and",)
        if default_graphs or named_graphs:
            default, named = ([one.value for one in some] for some in (default_graphs, named_graphs))
            graphs = (*default, *graphs, *named)
        content = "\0".join((text, format_.name, *graphs, options))
        self._digest = hashlib.blake2b(content.encode(), digest_size=12).hexdigest()

    def at(self, revision: int) -> str:
        """The tag at a revision of the store."""
        return f'W/"{revision}-{self._digest}"'


def matches(request: Request, tag: str) -> bool:
    """Whether the client has the answer with this tag already (RFC 9110, 13.1.2)."""
    if request.method not in ("GET", "HEAD"):
        return False
    known = request.headers.get("if-none-match")
    if known is None:
        return False
    bare = tag.removeprefix("W/")
    return any(one.strip() == "*" or one.strip().removeprefix("W/") == bare for one in known.split(","))


_LARGEST: Final = 4 * 1024 * 1024
"""A longer body takes more than some milliseconds to digest, on the event loop."""
_KEPT: Final = ("etag", "cache-control", "vary", "link", "content-location", "date", "expires")
"""What a 304 repeats (RFC 9110, 15.4.5)."""


class Validators:
    """ASGI middleware: gives whole answers to GET a tag, and compares it with the client's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is no GET."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        conditions = Conditions.read(None, Headers(scope=scope).get("if-none-match"))
        start: Message | None = None
        known = False

        async def sending(message: Message) -> None:
            nonlocal start, known
            if known:
                return
            if message["type"] == "http.response.start" and _is_tagged(message):
                start = message
                return
            if start is not None:
                first, start = start, None
                headers = MutableHeaders(raw=first["headers"])
                _tag(headers, message)
                tag = headers.get("etag")
                if tag is not None and conditions.is_known(tag.removeprefix("W/").strip('"')):
                    kept = [one for one in headers.raw if one[0].decode("latin-1") in _KEPT]
                    await send({**first, "status": 304, "headers": kept})
                    await send({"type": "http.response.body", "body": b""})
                    known = True
                    return
                await send(first)
            await send(message)

        await self._app(scope, receive, sending)


def _is_tagged(start: Message) -> bool:
    """Whether an answer has a validator, or gets one."""
    kept = MutableHeaders(raw=start["headers"])
    return start["status"] == 200 and "no-store" not in kept.get("cache-control", "")


def _tag(headers: MutableHeaders, body: Message) -> None:
    content = body.get("body", b"")
    if "etag" in headers or body.get("more_body", False) or len(content) > _LARGEST:
        return
    headers["etag"] = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers.setdefault("cache-control", "no-cache")

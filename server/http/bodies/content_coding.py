"""Gzip: bodies of requests are unpacked within bounds, and answers packed for those who accept it."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import IO, Final, cast

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipResponder
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import BodyTooLarge, MalformedBody, UnsupportedCoding
from sparql.protocol.requests import COMPRESSED

_GZIP: Final = ("gzip", "x-gzip")
_WITH_GZIP_HEADER: Final = 16 + zlib.MAX_WBITS


def is_packed(coding: str | None) -> bool:
    """Whether a body with this header is packed by gzip. Raises `UnsupportedCoding` for all other codings."""
    name = (coding or "").strip().lower() or "identity"
    if name not in ("identity", *_GZIP):
        raise UnsupportedCoding(name)
    return name in _GZIP


@contextmanager
def unpacked(
    body: IO[bytes], coding: str | None, limit: int, wanted: Callable[[], bool] = lambda: True
) -> Iterator[IO[bytes]]:
    """A received body to be read as it unpacks, into at most `limit` bytes, while it is `wanted`.

    Reading it raises `BodyTooLarge`, `MalformedBody` and `ClientDisconnect`; this raises `UnsupportedCoding`.
    """
    content = cast("IO[bytes]", gzip.GzipFile(fileobj=body, mode="rb")) if is_packed(coding) else body
    try:
        yield cast("IO[bytes]", io.BufferedReader(LimitedStream(content, limit, wanted)))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise not_whole(error) from error


class LimitedStream(io.RawIOBase):
    """A stream limited in bytes, since compressed input can unpack to any size.

    Raises `BodyTooLarge`, and `ClientDisconnect` when it is no longer `wanted`.
    """

    def __init__(self, stream: IO[bytes], limit: int, wanted: Callable[[], bool]) -> None:
        self._stream = stream
        self._limit = limit
        self._wanted = wanted
        self._given = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Read again from a place; what is read counts anew."""
        self._given = 0
        return self._stream.seek(offset, whence)

    def readinto(self, buffer: object) -> int:
        """Read on into a buffer."""
        if not self._wanted():
            raise ClientDisconnect
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        piece = self._stream.read(len(view))
        view[: len(piece)] = piece
        self._given += len(piece)
        if self._given > self._limit:
            raise BodyTooLarge(self._limit)
        return len(piece)


class Unpacked:
    """Unpacks a body piece by piece, into at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit
        self._member = zlib.decompressobj(_WITH_GZIP_HEADER)
        self._begun = False

    def add(self, piece: bytes) -> bytes:
        """What the next piece unpacks to. Raises `BodyTooLarge` and `MalformedBody`."""
        found = []
        try:
            while piece:
                if self._member.eof:
                    # A body may consist of several packed parts (RFC 1952, 2.2).
                    self._member = zlib.decompressobj(_WITH_GZIP_HEADER)
                self._begun = True
                plain = self._member.decompress(piece, self._left + 1)
                self._left -= len(plain)
                if self._left < 0:
                    raise BodyTooLarge(self._limit)
                found.append(plain)
                piece = self._member.unconsumed_tail or self._member.unused_data
        except zlib.error as error:
            raise not_whole(error) from error
        return b"".join(found)

    def end(self) -> None:
        """Raises `MalformedBody` where the body is not whole."""
        if self._begun and not self._member.eof:
            raise not_whole("its end is missing")


def not_whole(reason: object) -> MalformedBody:
    """The error for a body that cannot be unpacked."""
    return MalformedBody(
        f"The body is not whole gzip, as its Content-Encoding says: {reason}. Send it again, packed "
        "or without that header."
    )


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

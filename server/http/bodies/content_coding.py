"""Packed bodies of requests (`Content-Encoding`; RFC 9110, 8.4): gzip is unpacked, others are refused."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Final, cast

from starlette.requests import ClientDisconnect

from server.errors import BodyTooLarge, MalformedBody, UnsupportedCoding

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

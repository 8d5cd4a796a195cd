"""Packed bodies of requests (`Content-Encoding`; RFC 9110, 8.4): gzip is unpacked, others are refused."""

from __future__ import annotations

import zlib
from typing import Final

from server.errors import BodyTooLarge, MalformedBody, UnsupportedCoding

_GZIP: Final = ("gzip", "x-gzip")
_WITH_GZIP_HEADER: Final = 16 + zlib.MAX_WBITS


def is_packed(coding: str | None) -> bool:
    """Whether a body with this header is packed by gzip. Raises `UnsupportedCoding` for all other codings."""
    name = (coding or "").strip().lower() or "identity"
    if name not in ("identity", *_GZIP):
        raise UnsupportedCoding(name)
    return name in _GZIP


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

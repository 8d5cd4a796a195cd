"""Heads of requests that came before, byte for byte: what was read of them once need not be read again.

A program that keeps its connection sends the same head with every request, but for the length of the body, or
for the target of a GET. A parser takes as long for it as the writer for a small update, or the engine for a
lookup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

Headers = list[tuple[bytes, bytes]]

_MOST: Final = 256
_LONGEST: Final = 2048
_END: Final = b"\r\n\r\n"
# A target of the characters that RFC 3986 allows there: no parser takes anything else out of such a line.
_GET: Final = re.compile(rb"GET (/[A-Za-z0-9\-._~!$&'()*+,;=:@/?%]*)(?= HTTP/1\.1\r\n)")


@dataclass(frozen=True)
class Head:
    """What matters of the head of a POST: its target, the length and the type of its body."""

    target: bytes
    length: int
    kind: bytes


class KnownHeads:
    """Heads by their bytes; for the thread of the event loop. When there are too many, all are forgotten."""

    def __init__(self) -> None:
        self._heads: dict[bytes, Head] = {}

    def find(self, data: bytes) -> tuple[Head, bytes] | None:
        """The head and the body where the data are one whole request with a known head."""
        end = data.find(_END) + len(_END)
        head = self._heads.get(data[:end])
        return (head, data[end:]) if head is not None and len(data) == end + head.length else None

    def learn(self, data: bytes, head: Head) -> None:
        """Remember what a request began with, if the data are that request and nothing else."""
        end = data.find(_END) + len(_END)
        if len(_END) <= end <= _LONGEST and len(data) == end + head.length:
            if len(self._heads) >= _MOST:
                self._heads.clear()
            self._heads[data[:end]] = head


class KnownTails:
    """What follows the target in the heads of GETs, with the headers in it; as `KnownHeads`."""

    def __init__(self) -> None:
        self._headers: dict[bytes, Headers] = {}

    def find(self, data: bytes) -> tuple[bytes, Headers] | None:
        """The target and the headers where the data are one whole GET that ends in a known way."""
        found = _GET.match(data)
        headers = None if found is None else self._headers.get(data[found.end() :])
        return None if found is None or headers is None else (found[1], headers)

    def learn(self, data: bytes, headers: Headers) -> None:
        """Remember how a GET without a body ended, if the data are that request and nothing else."""
        found = _GET.match(data)
        if found is None or data.find(_END) + len(_END) != len(data) or len(data) - found.end() > _LONGEST:
            return
        if len(self._headers) >= _MOST:
            self._headers.clear()
        self._headers[data[found.end() :]] = headers

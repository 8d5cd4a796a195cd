"""Bounds the memory in which the engine keeps what was written last.

RocksDB keeps writes in memory until that is written to a table file, which happens when a checkpoint is made,
and otherwise only beyond a gigabyte. A database that is written to and seldom copied thus grows with each
write, removals included. So the writes are counted here, and written out when they take too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from pyoxigraph import Literal, Quad

__all__ = ["WriteBuffer", "literal_characters"]

_BYTES_PER_QUAD: Final = 500
"""Of an added or removed quad in all indexes together, without a long text (measured: 400 to 650)."""


class WriteBuffer:
    """Counts what is written to a database, and calls `write_out` when that takes more than `most_bytes`."""

    def __init__(self, write_out: Callable[[], None], most_bytes: int) -> None:
        self._write_out = write_out
        self._most_bytes = most_bytes
        self._bytes = 0

    def wrote(self, quads: int, characters: int = 0) -> None:
        """So many quads were added or removed, and literals of so many characters added. Raises OSError."""
        self._bytes += quads * _BYTES_PER_QUAD + characters
        if self._bytes > self._most_bytes:
            self.emptied()
            self._write_out()

    def emptied(self) -> None:
        """All was written out, by a checkpoint for example."""
        self._bytes = 0


def literal_characters(quads: Iterable[Quad]) -> int:
    """The characters of all literals together."""
    return sum(len(quad.object.value) for quad in quads if isinstance(quad.object, Literal))

"""Bounds the memory in which the engine keeps recent writes.

RocksDB keeps writes in memory until they are written to a table file, which happens when a checkpoint is
made, and otherwise only beyond a gigabyte. So a database with many writes and few checkpoints grows with each
write, removals included. Here writes are counted, and flushed when they take too much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from pyoxigraph import Literal, Quad

__all__ = ["WriteBuffer", "literal_characters"]

_BYTES_PER_QUAD: Final = 500
"""Bytes of an added or removed quad in all indexes together, without long texts (measured: 400 to 650)."""


class WriteBuffer:
    """Counts what is written to a database, and calls `write_out` when that exceeds `most_bytes`."""

    def __init__(self, write_out: Callable[[], None], most_bytes: int) -> None:
        self._write_out = write_out
        self._most_bytes = most_bytes
        self._bytes = 0

    def wrote(self, quads: int, characters: int = 0) -> None:
        """Count added and removed quads, and the characters of added literals. Raises OSError."""
        self._bytes += quads * _BYTES_PER_QUAD + characters
        if self._bytes > self._most_bytes:
            self.emptied()
            self._write_out()

    def emptied(self) -> None:
        """Everything was written out, for example by a checkpoint."""
        self._bytes = 0


def literal_characters(quads: Iterable[Quad]) -> int:
    """The total length of all literals."""
    return sum(len(quad.object.value) for quad in quads if isinstance(quad.object, Literal))

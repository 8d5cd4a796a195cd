"""A stack of triples that keeps its lower part in a temporary file."""

from __future__ import annotations

import pickle
import tempfile
from types import TracebackType
from typing import IO

from pyoxigraph import Triple


class SpillingStack:
    """A stack with at most twice `size` triples in memory; the file is deleted on leaving the context."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._top: list[Triple] = []
        self._starts: list[int] = []
        self._file: IO[bytes] | None = None

    def append(self, triple: Triple) -> None:
        """Add a triple on top."""
        self._top.append(triple)
        if len(self._top) >= 2 * self._size:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="urbankg-inference-")  # noqa: SIM115
            self._starts.append(self._file.seek(0, 2))
            pickle.dump(self._top[: self._size], self._file)
            del self._top[: self._size]

    def pop(self) -> Triple:
        """Take the topmost triple."""
        if not self._top and self._file is not None:
            start = self._starts.pop()
            self._file.seek(start)
            self._top = pickle.load(self._file)
            self._file.truncate(start)
        return self._top.pop()

    def __bool__(self) -> bool:
        return bool(self._top or self._starts)

    def __enter__(self) -> SpillingStack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

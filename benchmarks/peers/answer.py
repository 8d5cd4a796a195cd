"""What every peer gives: how many unordered pairs there are of each relation, and what that cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy

from geo.relate.rcc8 import RCC8, classify

Counts = Counter[str]


class Missing(Exception):
    """A peer is not installed, or not as it is needed here."""


class Unfinished(Exception):
    """A peer had no answer after `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"not finished in {seconds:g} s")
        self.seconds = seconds


class EmbeddedPeer(Protocol):
    """One program; `title` names it with its version."""

    title: str

    def relate_all(self, shapes: numpy.ndarray) -> tuple[Counts, float]:
        """RCC8 of all pairs whose boxes meet, by relation, and the CPU seconds it took."""
        ...


class Peer(EmbeddedPeer, Protocol):
    """The same with a limit: `relate_all` raises Unfinished."""


on_start: list[Callable[[], None]] = []
"""Called when a clock starts: a process that is to end some time after that adds to it."""


@contextmanager
def cpu() -> Iterator[Callable[[], float]]:
    """CPU seconds of this process, all its threads together."""
    for call in on_start:
        call()
    start = time.process_time()
    yield lambda: time.process_time() - start


def by_matrix(rows: Iterable[tuple[str, int]]) -> Counts:
    """Counts by relation from counts by DE-9IM matrix."""
    counts: Counts = Counter()
    for matrix, number in rows:
        counts[classify(matrix)] += int(number)
    counts.pop(RCC8.DC, None)
    return merged(counts)


def merged(counts: Counts) -> Counts:
    """Counts of unordered pairs: an inverse counts as the relation itself."""
    result: Counts = Counter()
    for relation, number in counts.items():
        result[min(RCC8(relation), RCC8(relation).inverse, key=len)] += number
    return +result

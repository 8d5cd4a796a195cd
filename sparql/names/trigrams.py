"""Trigram similarity over many names, by an inverted index."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from heapq import nsmallest
from math import ceil
from typing import Final

import numpy
from numpy.typing import NDArray

from geo.remembered import remembered

__all__ = ["TrigramIndex"]

Numbers = NDArray[numpy.uint64]
_NUMBER: Final = numpy.dtype("L")
_EMPTY: Final = array("L")
_LOOK: Final = 500
"""Reading this many entries takes about as long as one check of what is known."""


@remembered((100, 2000))
def _trigrams(key: str) -> frozenset[str]:
    """Return the trigrams of each word, padded with two blanks in front and one behind."""
    grams: set[str] = set()
    for word in key.split(" "):
        padded = f"  {word} "
        grams.update(padded[i : i + 3] for i in range(len(padded) - 2))
    return frozenset(grams)


def _dice(grams: frozenset[str], others: frozenset[str]) -> float:
    return 2 * len(grams & others) / (len(grams) + len(others))


class TrigramIndex:
    """Finds the keys whose trigrams are most similar to those of a query (Dice coefficient, 0 to 1).

    Keys below `floor` are not found: that lets a query read only its rarest trigrams' lists, since a key that
    shares none of those cannot reach the floor. Removed keys leave holes that are swept when they outnumber
    the keys. `read` counts the list entries that were read, for tests.
    """

    def __init__(self, floor: float = 0.4) -> None:
        self.floor = floor
        self.read = 0
        self._keys: list[str | None] = []
        self._number: dict[str, int] = {}
        self._sizes = array("L")
        self._lists: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self._number)

    def add(self, key: str) -> None:
        """Index a key; a known one is ignored."""
        if key in self._number:
            return
        number = len(self._keys)
        self._keys.append(key)
        self._number[key] = number
        grams = _trigrams(key)
        self._sizes.append(len(grams))
        for gram in grams:
            self._lists.setdefault(gram, array("L")).append(number)

    def discard(self, key: str) -> None:
        """Remove a key; an unknown one is ignored."""
        number = self._number.pop(key, None)
        if number is None:
            return
        self._keys[number] = None
        self._sizes[number] = 0
        if len(self._keys) > 2 * len(self._number) + 1000:
            self._sweep()

    def similar(self, key: str, limit: int) -> list[tuple[str, float]]:
        """Return at most `limit` keys with their similarity, best first, ties in alphabetical order.

        The lists of rare trigrams are read first. A key in none of them can share at most the remaining
        trigrams, so the long lists are skipped once enough keys are known to be more similar.
        """
        grams = _trigrams(key)
        if not key or limit < 1:
            return []
        count = len(grams)
        # dice >= f needs shared >= f * |Q| / (2 - f), as the key holds at least the shared ones
        needed = max(1, ceil(self.floor * count / (2 - self.floor)))
        lists = sorted((numpy.frombuffer(self._lists.get(gram, _EMPTY), _NUMBER) for gram in grams), key=len)
        last = count - needed
        read = 0
        for position, numbers in enumerate(lists[: last + 1]):
            read += len(numbers)
            unread = lists[position + 1 :]
            if position < last and len(unread[0]) <= read + _LOOK:
                # Reading the rest costs no more than another check of what is known.
                continue
            self.read += read
            # A key in none of the lists read so far cannot be more similar than this.
            beyond = 2 * len(unread) / (count + len(unread)) if position < last else 0.0
            best = self._best(count, lists[: position + 1], unread, limit, beyond)
            if position == last or len(best) == limit:
                return best
        return []

    def similar_among(self, key: str, known: Iterable[str], limit: int) -> list[tuple[str, float]]:
        """The same among a few keys of the index."""
        grams = _trigrams(key)
        scored = ((_dice(grams, _trigrams(one)), one) for one in known)
        ranked = nsmallest(limit, ((-score, one) for score, one in scored if score >= self.floor))
        return [(one, -score) for score, one in ranked]

    def _best(
        self, count: int, read: list[Numbers], unread: list[Numbers], limit: int, beyond: float
    ) -> list[tuple[str, float]]:
        """The best of the keys found so far, if they are more similar than `beyond`."""
        numbers, shared = numpy.unique(numpy.concatenate(read), return_counts=True)
        sizes = numpy.frombuffer(self._sizes, _NUMBER)[numbers]
        hopes = 2 * (shared + len(unread)) / (count + sizes)
        hopeful = numpy.flatnonzero((sizes > 0) & (hopes >= self.floor) & (hopes > beyond))
        if beyond and len(hopeful) < limit:
            return []
        numbers, shared, sizes = numbers[hopeful], shared[hopeful], sizes[hopeful]
        for one in unread:
            # The numbers of a list are sorted.
            places = one.searchsorted(numbers)
            places[places == len(one)] = 0
            shared += one[places] == numbers
        scores = 2 * shared / (count + sizes)
        taken = numpy.flatnonzero((scores >= self.floor) & (scores > beyond))
        if len(taken) > limit:
            taken = taken[scores[taken] >= numpy.partition(scores[taken], -limit)[-limit]]
        ranked = zip((-scores[taken]).tolist(), map(self._key, numbers[taken].tolist()), strict=True)
        return [(key, -score) for score, key in nsmallest(limit, ranked)]

    def _key(self, number: int) -> str:
        key = self._keys[number]
        assert key is not None
        return key

    def _sweep(self) -> None:
        keys = list(self._number)
        self._keys, self._number, self._sizes, self._lists = [], {}, array("L"), {}
        for key in keys:
            self.add(key)

"""Trigram similarity over many names, by an inverted index."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from operator import itemgetter

__all__ = ["TrigramIndex"]


@lru_cache(maxsize=10_000)
def _trigrams(key: str) -> frozenset[str]:
    """Return the trigrams of each word, the word padded by two blanks in front and one behind."""
    grams: set[str] = set()
    for word in key.split(" "):
        padded = f"  {word} "
        grams.update(padded[i : i + 3] for i in range(len(padded) - 2))
    return frozenset(grams)


class TrigramIndex:
    """Finds the keys whose trigrams are most like those of a query (Dice coefficient, 0 to 1).

    Keys below `floor` are not found: that lets a query read only its rarest trigrams' lists, since a
    key that shares none of those cannot reach the floor. Removed keys leave holes that are swept when
    they outnumber the keys.
    """

    def __init__(self, floor: float = 0.4) -> None:
        self.floor = floor
        self._keys: list[str | None] = []
        self._number: dict[str, int] = {}
        self._sizes = array("L")
        self._lists: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self._number)

    def add(self, key: str) -> None:
        """Index a key; a known one is left as it is."""
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
        """Forget a key; an unknown one is ignored."""
        number = self._number.pop(key, None)
        if number is None:
            return
        self._keys[number] = None
        if len(self._keys) > 2 * len(self._number) + 1000:
            self._sweep()

    def similar(self, key: str, limit: int) -> list[tuple[str, float]]:
        """Return at most `limit` keys with their similarity, best first, ties in alphabetical order.

        The lists of rare trigrams are read first. A key in none of them can share at most the trigrams that
        are left, so the long lists stay unread where enough keys are known to be more like the query.
        """
        grams = _trigrams(key)
        if not key or limit < 1:
            return []
        # dice >= f needs shared >= f * |Q| / (2 - f), as the key holds at least the shared ones
        needed = max(1, ceil(self.floor * len(grams) / (2 - self.floor)))
        lists = sorted((self._lists.get(gram, array("L")) for gram in grams), key=len)
        last = len(lists) - needed
        seen: Counter[int] = Counter()
        scores: dict[int, tuple[float, str]] = {}
        for position, numbers in enumerate(lists[: last + 1]):
            seen.update(numbers)
            unread = len(lists) - position - 1
            if position < last and len(lists[position + 1]) <= len(seen):
                # What follows costs no more than another look at what is known.
                continue
            best = self._best(grams, seen, unread, limit, scores)
            if position == last or (len(best) == limit and best[-1][1] > 2 * unread / (len(grams) + unread)):
                return best
        return []

    def _best(
        self,
        grams: frozenset[str],
        seen: Mapping[int, int],
        unread: int,
        limit: int,
        scores: dict[int, tuple[float, str]],
    ) -> list[tuple[str, float]]:
        """Score candidates from the most hopeful on, until none left can enter the best `limit`.

        `seen` counts the trigrams that a key is known to share; `scores` keeps what was worked out.
        """
        bar, sizes, count = self.floor, self._sizes, len(grams)
        if len(scores) >= limit:
            bar = max(bar, -sorted(scores.values())[limit - 1][0])
        hopes = [
            (hope, number)
            for number, shared in seen.items()
            if (hope := 2 * (shared + unread) / (count + sizes[number])) >= bar
        ]
        hopes.sort(reverse=True)
        for hope, number in hopes:
            if hope < bar:
                break
            if number in scores:
                continue
            key = self._keys[number]
            if key is None:
                continue
            theirs = _trigrams(key)
            score = 2 * len(grams & theirs) / (count + len(theirs))
            if score >= bar:
                scores[number] = (-score, key)
                if len(scores) >= 4 * limit:
                    kept = sorted(scores.items(), key=itemgetter(1))[:limit]
                    scores.clear()
                    scores.update(kept)
                    bar = -kept[-1][1][0]
        return [(key, -score) for score, key in sorted(scores.values())[:limit]]

    def _sweep(self) -> None:
        keys = list(self._number)
        self._keys, self._number, self._sizes, self._lists = [], {}, array("L"), {}
        for key in keys:
            self.add(key)

"""A chart parser: the cheapest items of every span, built from the items of its parts.

Idle words are passed over: an item that ends before one also ends behind it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Final

from sparql.ask.planning.items import Category, Item

__all__ = ["Combine", "parse"]

Combine = Callable[[Item, Item], Iterator[Item]]
_BEAM: Final = 6
_MOST_TOKENS: Final = 40


class _Cell:
    """The items of one span: the cheapest few of each category."""

    __slots__ = ("by_category",)

    def __init__(self) -> None:
        self.by_category: dict[Category, dict[object, Item]] = defaultdict(dict)

    def add(self, item: Item) -> None:
        items = self.by_category[item.category]
        known = items.get(item.meaning)
        if known is not None and known.cost <= item.cost:
            return
        items[item.meaning] = item
        if len(items) > 3 * _BEAM:
            self._prune(item.category)

    def _prune(self, category: Category) -> None:
        kept = sorted(self.by_category[category].values(), key=lambda one: one.cost)[:_BEAM]
        self.by_category[category] = {one.meaning: one for one in kept}

    def close(self) -> list[Item]:
        """Return the items, when the cell is complete."""
        for category in self.by_category:
            self._prune(category)
        return [item for items in self.by_category.values() for item in items.values()]


def parse(
    size: int, idle: Sequence[bool], lexical: Iterable[tuple[int, int, Item]], combine: Combine
) -> list[Item]:
    """Return the items of the whole question, cheapest first; `idle[n]`: the n-th word may be passed over."""
    if not 0 < size <= _MOST_TOKENS:
        return []
    cells: dict[tuple[int, int], _Cell] = defaultdict(_Cell)
    first = next((n for n in range(size) if not idle[n]), 0)
    for start, end, item in lexical:
        for begin in _begins(start, first):
            for finish in _ends(end, size, idle):
                cells[begin, finish].add(item)
    closed: dict[tuple[int, int], list[Item]] = {}
    for width in range(1, size + 1):
        for start in range(size - width + 1):
            end = start + width
            for middle in range(start + 1, end):
                for one, other in product(closed.get((start, middle), ()), closed.get((middle, end), ())):
                    for made in combine(one, other):
                        cells[start, end].add(made)
            if (start, end) in cells:
                closed[start, end] = cells[start, end].close()
    return sorted(closed.get((0, size), []), key=lambda item: item.cost)


def _begins(start: int, first: int) -> Iterator[int]:
    yield start
    if start <= first and start > 0:
        yield 0


def _ends(end: int, size: int, idle: Sequence[bool]) -> Iterator[int]:
    yield end
    while end < size and idle[end]:
        end += 1
        yield end

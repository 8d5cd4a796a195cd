"""A chart parser: the cheapest items of every span, built from the items of its parts.

Idle words are passed over: an item that ends before one also ends behind it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sparql.ask.budget import current_budget
from sparql.ask.planning.items import Category, Item
from sparql.ask.planning.rules import Context, Grammar

__all__ = ["MOST_WORDS", "parse"]

MOST_WORDS: Final = 40
"""Of a longer question nothing is planned: the work grows with the third power of the words."""
_BEAM: Final = 6


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

    def close(self) -> _Closed:
        """Return the items by category, when the cell is complete."""
        for category in self.by_category:
            self._prune(category)
        return {category: list(items.values()) for category, items in self.by_category.items()}


_Closed = dict[Category, list[Item]]


def parse(
    size: int,
    idle: Sequence[bool],
    lexical: Iterable[tuple[int, int, Item]],
    grammar: Grammar,
    context: Context,
) -> list[Item]:
    """Return the items of the whole question, cheapest first; `idle[n]`: the n-th word may be passed over.

    Raises `QuestionTooInvolved` when the time of the question is over.
    """
    if not 0 < size <= MOST_WORDS:
        return []
    budget = current_budget()
    cells: dict[tuple[int, int], _Cell] = defaultdict(_Cell)
    first = next((n for n in range(size) if not idle[n]), 0)
    for start, end, item in lexical:
        budget.tick()
        for begin in _begins(start, first):
            for finish in _ends(end, size, idle):
                cells[begin, finish].add(item)
    closed: dict[tuple[int, int], _Closed] = {}
    for width in range(1, size + 1):
        for start in range(size - width + 1):
            end = start + width
            for middle in range(start + 1, end):
                left, right = closed.get((start, middle)), closed.get((middle, end))
                if left and right:
                    for made in _combined(left, right, grammar, context):
                        budget.tick()
                        cells[start, end].add(made)
                budget.tick()
            if (start, end) in cells:
                closed[start, end] = cells[start, end].close()
    whole = closed.get((0, size), {})
    return sorted((item for items in whole.values() for item in items), key=lambda item: item.cost)


def _combined(left: _Closed, right: _Closed, grammar: Grammar, context: Context) -> Iterator[Item]:
    for category, items in left.items():
        found = [
            (rules, others) for other, others in right.items() if (rules := grammar.get((category, other)))
        ]
        for one in items if found else ():
            for rules, others in found:
                for other in others:
                    for rule in rules:
                        for made, meaning, cost in rule(context, one.meaning, other.meaning):
                            yield Item(made, meaning, one.cost + other.cost + cost)


def _begins(start: int, first: int) -> Iterator[int]:
    yield start
    if start <= first and start > 0:
        yield 0


def _ends(end: int, size: int, idle: Sequence[bool]) -> Iterator[int]:
    yield end
    while end < size and idle[end]:
        end += 1
        yield end

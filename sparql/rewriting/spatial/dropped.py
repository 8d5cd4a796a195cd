"""Filters that candidates make needless, taken out of a query's text with what is left of them."""

from __future__ import annotations

from collections.abc import Collection

from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.edits import Edit
from sparql.rewriting.spatial.filter_sites import Sought
from sparql.rewriting.spatial.runs import Plan, edit_of
from sparql.rewriting.spatial.spatial_filters import conjuncts_of


class DroppedFilters:
    """The conjuncts that go, by the filter in which they stand."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._dropped: dict[int, set[int]] = {}
        self._filters: dict[int, n.Filter] = {}

    def drop(self, sought: Sought) -> None:
        """Take this one out."""
        filter_ = sought.filter_
        self._filters[filter_.start] = filter_
        self._dropped.setdefault(filter_.start, set()).add(sought.spatial.expression.start)

    def edits(self, plans: Collection[Plan]) -> list[Edit]:
        """The edits that put the candidates of the plans into the text, and leave these filters out."""
        written = {start: self._rest_of(self._filters[start]) for start in self._dropped}
        edits: list[Edit] = []
        covered: set[int] = set()
        for plan in plans:
            here = {one: written[one.start] for one in plan.run.filters if one.start in written}
            covered.update(one.start for one in here)
            edits.append(edit_of(self._text, plan, here))
        for start, rest in written.items():
            if start not in covered:
                filter_ = self._filters[start]
                edits.append(Edit(filter_.start, filter_.end, rest))
        return edits

    def _rest_of(self, filter_: n.Filter) -> str:
        kept = [
            f"({self._text[part.start : part.end]})"
            for part in conjuncts_of(filter_.expression)
            if part.start not in self._dropped[filter_.start]
        ]
        # Not nothing: a full stop behind it would have nothing to end.
        return f"FILTER({' && '.join(kept) or 'true'})"

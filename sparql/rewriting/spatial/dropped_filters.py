"""Filters that candidates make needless, taken out of a query's text with what is left of them."""

from __future__ import annotations

from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.spatial.spatial_filters import conjuncts_of


class DroppedFilters:
    """The conjuncts to leave out, by the filter that they are part of."""

    def __init__(self) -> None:
        self._dropped: dict[n.Filter, set[n.Expression]] = {}

    def drop(self, filter_: n.Filter, conjunct: n.Expression) -> None:
        """Leave this one out."""
        self._dropped.setdefault(filter_, set()).add(conjunct)

    def filters(self) -> dict[n.Filter, n.Filter]:
        """What is left of each filter."""
        return {filter_: without(filter_, dropped) for filter_, dropped in self._dropped.items()}


def without(filter_: n.Filter, dropped: set[n.Expression]) -> n.Filter:
    """A filter without some of its conjuncts; a condition stays, since a full stop may follow."""
    kept = [part for part in conjuncts_of(filter_.expression) if part not in dropped]
    return b.filtered(b.all_true(kept))

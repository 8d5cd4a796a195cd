"""What a tolerance would change of the relations of loaded features; none is applied unless it is set.

Borders of layers from several sources seldom agree: an area that lies in another by its name overlaps it by
a hair. Only a person knows how far the borders may be off, so a load says what would follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pyoxigraph import BlankNode, NamedNode, Triple
from shapely.geometry.base import BaseGeometry

from geo.relate.rcc8 import RCC8
from geo.relate.tolerance import relate_within
from sparql.model.vocabulary import GEO

__all__ = ["ToleranceEffect"]

_OVERLAPS: Final = GEO.rcc8po
_TOLERANCES_M: Final = (1, 20, 200)
_MOST_PAIRS: Final = 2_000
"""So many overlaps are looked at, which takes about a second."""
_HOLDS: Final = frozenset({RCC8.TPP, RCC8.NTPP, RCC8.TPPi, RCC8.NTPPi, RCC8.EQ})
_Node = NamedNode | BlankNode


class ToleranceEffect:
    """Collects the overlaps that a load derived, and counts what other relations tolerances would give."""

    def __init__(self) -> None:
        self._pairs: set[tuple[_Node, _Node]] = set()
        self.overlaps = 0

    def note(self, derived: Iterable[Triple]) -> None:
        """Take the derived relations of one commit."""
        for triple in derived:
            one, other = triple.subject, triple.object
            if triple.predicate == _OVERLAPS and str(one) < str(other):
                self.overlaps += 1
                if len(self._pairs) < _MOST_PAIRS and isinstance(other, NamedNode | BlankNode):
                    self._pairs.add((one, other))  # type: ignore[arg-type]

    def message(self, geometries: Callable[[_Node], Sequence[BaseGeometry]]) -> str:
        """What each tolerance would make of the overlaps; empty without any."""
        shapes = [
            (left[0], right[0])
            for one, other in sorted(self._pairs, key=str)
            if len(left := geometries(one)) == 1 and len(right := geometries(other)) == 1
        ]
        if not shapes:
            return ""
        effects = []
        for meters in _TOLERANCES_M:
            found = [relate_within(left, right, meters).rcc8 for left, right in shapes]
            inside = sum(one in _HOLDS for one in found)
            beside = sum(one is RCC8.EC for one in found)
            effects.append(f"at {meters} m {inside} would lie in the other and {beside} would only touch it")
        looked = "" if len(shapes) == self.overlaps else f" (of the first {len(shapes)})"
        return (
            f"{self.overlaps} pairs of features overlap, since tolerance_m is 0{looked}: "
            f"{'; '.join(effects)}. "
            "Set tolerance_m, or layer_tolerance_m for a class, if the borders may be off so far."
        )

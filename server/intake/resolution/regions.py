"""The regions in which places are known to lie, and whether two regions are apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import product
from typing import Final

from pyoxigraph import NamedNode
from shapely.geometry.base import BaseGeometry

from geo.measure.measures import distance_m
from ontology import Schema
from sparql.ask.places import StatedPlaces, Where
from sparql.model.source import TripleSource
from sparql.model.vocabulary import GEO, RDF

__all__ = ["INSIDE", "KnownRegions", "RegionComparison"]

INSIDE: Final = frozenset({GEO.rcc8tpp, GEO.rcc8ntpp, GEO.sfWithin})
"""Relations by which geometries put a place into a region."""


class KnownRegions:
    """Reads in which regions something lies, by its geometry or by what is stated."""

    def __init__(self, source: TripleSource, stated: StatedPlaces) -> None:
        self._source = source
        self._stated = stated

    def around(self, node: NamedNode) -> list[NamedNode]:
        """The regions directly around it: those that the graph names for it."""
        return [
            triple.object
            for triple in self._source.match(node, None, None)
            if isinstance(triple.object, NamedNode)
            and (triple.predicate in INSIDE or self._stated.meaning(triple.predicate) is Where.WITHIN)
        ]

    def with_wider(self, node: NamedNode) -> set[NamedNode]:
        """A node, and all regions in which it lies, however wide."""
        found, waiting = {node}, [node]
        while waiting:
            more = set(self.around(waiting.pop())) - found
            found |= more
            waiting += more
        return found


class RegionComparison:
    """Compares regions by their geometries, or by what is stated of them where one has no geometry.

    `source` holds what is known and what the text adds, `new` are the regions that only the text knows.
    Regions are apart from `slack_m` meters on; one that has only a point or a line may reach farther. Without
    geometries, two regions of one kind that no common region directly holds are apart, such as two cities,
    and so are regions that lie in such ones. A new region is apart from all others. Nested ones are not.
    """

    def __init__(
        self,
        source: TripleSource,
        stated: StatedPlaces,
        schema: Schema,
        new: Collection[NamedNode],
        *,
        shapes: Callable[[NamedNode], Sequence[BaseGeometry]],
        slack_m: float,
    ) -> None:
        self._source = source
        self._schema = schema
        self._new = new
        self._known = KnownRegions(source, stated)
        self._shapes = shapes
        self._slack_m = slack_m

    def apart(self, one: NamedNode, other: NamedNode) -> bool:
        """Whether nothing can lie in both."""
        around, around_other = self._known.with_wider(one), self._known.with_wider(other)
        if one in around_other or other in around:
            return False
        measured = self._measured_apart(one, other)
        if measured is not None:
            return measured
        both = around & around_other
        return any(self._are_apart(a, b) for a, b in product(around - both, around_other - both))

    def _are_apart(self, one: NamedNode, other: NamedNode) -> bool:
        """Whether two regions are apart by themselves, whatever they lie in."""
        if one in self._known.with_wider(other) or other in self._known.with_wider(one):
            return False
        measured = self._measured_apart(one, other)
        if measured is not None:
            return measured
        if one in self._new or other in self._new:
            return True
        shared = set(self._known.around(one)) & set(self._known.around(other))
        return not shared and self._are_of_one_kind(one, other)

    def _measured_apart(self, one: NamedNode, other: NamedNode) -> bool | None:
        """Whether their geometries are apart; None where that is unknown."""
        pairs = list(product(self._shapes(one), self._shapes(other)))
        if any(distance_m(a, b) <= self._slack_m for a, b in pairs):
            return False
        return True if pairs and all(a.area and b.area for a, b in pairs) else None

    def _are_of_one_kind(self, one: NamedNode, other: NamedNode) -> bool:
        kinds, others = self._classes(one), self._classes(other)
        wider: set[NamedNode] = set().union(*map(self._schema.superclasses, kinds))
        wider_others: set[NamedNode] = set().union(*map(self._schema.superclasses, others))
        return not (kinds.isdisjoint(wider_others) and others.isdisjoint(wider))

    def _classes(self, region: NamedNode) -> set[NamedNode]:
        found = self._source.match(region, RDF.type, None)
        return {triple.object for triple in found if isinstance(triple.object, NamedNode)}

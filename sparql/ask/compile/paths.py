"""Links and properties as SPARQL property paths.

Subproperties and declared inverses count, and regions are transitive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pyoxigraph import NamedNode

from ontology import Schema
from sparql.ask.compile.sparql_text import Writer, path
from sparql.ask.places import StatedPlaces
from sparql.ask.plan.nodes import Link, Place, PlaceLink, PropertyLink
from sparql.model.vocabulary import GEO

__all__ = ["Paths"]

_INVERSE: Final = {Place.WITHIN: Place.CONTAINS, Place.CONTAINS: Place.WITHIN}


class Paths:
    """Writes links as property paths over one ontology.

    `used` says whether the graph has statements of a property. Of the properties that state a location only
    those are written that it has: a repeated path looks each of them up at every step.
    """

    def __init__(
        self, schema: Schema, places: StatedPlaces, used: Callable[[NamedNode], bool] = lambda _: True
    ) -> None:
        self._schema = schema
        self.places = places
        self._used = used

    def link(self, writer: Writer, link: Link) -> str:
        """Return the path from the subject of a link to its object."""
        if isinstance(link, PlaceLink):
            return self.place(writer, link.place)
        assert isinstance(link, PropertyLink)
        return self.property(writer, link.property.iri, inverse=link.inverse)

    def property(self, writer: Writer, iri: NamedNode, *, inverse: bool = False) -> str:
        """Return the path of a property; one that means containment or touching includes what is computed."""
        for place, properties in (
            (Place.WITHIN, self.places.inside),
            (Place.CONTAINS, self.places.around),
            (Place.TOUCHES, self.places.touches),
            (Place.OVERLAPS, self.places.crosses),
        ):
            if iri in properties:
                return self.place(writer, _INVERSE.get(place, place) if inverse else place)
        known = self._schema.properties.get(iri)
        forward = {iri} | (self._schema.subproperties(iri) & self._schema.properties.keys())
        backward = {p.inverse for one in forward if (p := self._schema.properties.get(one)) and p.inverse}
        if known is not None and known.symmetric:
            backward |= forward
        if inverse:
            forward, backward = backward, forward
        first = [iri] if iri in forward else []
        steps = [writer.iri(one) for one in (*first, *_sorted(forward - {iri}))]
        steps += [f"^{writer.iri(one)}" for one in _sorted(backward)]
        return path(steps, repeated=known is not None and known.transitive)

    def chain(self, writer: Writer, iris: Sequence[NamedNode]) -> str:
        """Return the path along several properties."""
        return "/".join(self.property(writer, iri) for iri in iris)

    def place(self, writer: Writer, place: Place) -> str:
        """Return the path of a place link: what is computed from geometry, and what is stated."""
        if place is Place.WITHIN:
            return self._within(writer, "", "^")
        if place is Place.CONTAINS:
            return self._within(writer, "^", "")
        if place is Place.TOUCHES:
            stated = [writer.iri(iri) for iri in self.places.touches]
            return path([writer.iri(GEO.rcc8ec), *stated, *(f"^{name}" for name in stated)])
        # A line that ends inside of an area overlaps it; one that is all inside runs through it as well.
        computed = (GEO.rcc8po, GEO.rcc8tpp, GEO.rcc8ntpp, GEO.rcc8tppi, GEO.rcc8ntppi)
        stated = [writer.iri(iri) for iri in self.places.crosses]
        return path([*map(writer.iri, computed), *stated, *(f"^{name}" for name in stated)])

    def _within(self, writer: Writer, mark: str, unmark: str) -> str:
        """Computed containment or stated location, mixed in any order."""
        inside = [GEO.rcc8tpp, GEO.rcc8ntpp, *filter(self._used, self.places.within)]
        steps = [mark + writer.iri(iri) for iri in inside]
        steps += [unmark + writer.iri(iri) for iri in filter(self._used, self.places.contains)]
        return path(steps, repeated=True)


def _sorted(iris: set[NamedNode]) -> list[NamedNode]:
    return sorted(iris, key=lambda iri: iri.value)

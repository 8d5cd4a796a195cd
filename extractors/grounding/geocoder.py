"""From the name of a place to where it is: the Protocol, and the choice among what a geocoder knows.

A geocoder answers with every place of the name that it knows; the choice is made here, by class and by the
regions that the text names, and only a single place is taken. A wrong geometry is worse than none: all that
is derived from it would be wrong too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from geo.measure.measures import distance_m
from ontology.schema import Schema

__all__ = ["Geocoder", "PlaceContext", "PlaceFound", "choose"]


@dataclass(frozen=True)
class PlaceFound:
    """A place that bears a name, and where it is.

    `geometry` is a WKT literal in CRS84 (GeoSPARQL 1.1, 8.5.1), `shape` the same. `classes` are those that
    it is known to be of, `kind` a word for it where the source has no classes. `source` says who knows it:
    the IRI of a feature, or a file and the place there. `confidence` is 0 to 1.
    """

    name: str
    geometry: Literal
    shape: BaseGeometry
    source: str
    confidence: float = 1.0
    classes: frozenset[NamedNode] = frozenset()
    kind: str | None = None


@dataclass(frozen=True)
class PlaceContext:
    """What a text says of a place besides its name: its classes, and the shapes of regions it lies in."""

    classes: frozenset[NamedNode] = frozenset()
    regions: tuple[BaseGeometry, ...] = ()


class Geocoder(Protocol):
    """Knows places by name; called from a worker thread, while nobody writes to the graph."""

    def locate(self, name: str) -> Sequence[PlaceFound]:
        """Every place of this name, the likeliest first; the form of the name is compared as names are."""
        ...


def choose(
    found: Iterable[PlaceFound], context: PlaceContext, schema: Schema, *, slack_m: float
) -> list[PlaceFound]:
    """The places that a text can mean: of a fitting class, and in all the regions that it names.

    Classes that the ontology sets apart do not fit. A place may lie `slack_m` meters outside a region, since
    borders are drawn differently. What is known twice at one spot is one place, the surer or larger of both.
    """
    left: list[PlaceFound] = []
    for place in sorted(found, key=lambda one: (-one.confidence, -one.shape.area, one.source)):
        classes = place.classes or _named(place.kind, schema)
        if classes and any(schema.are_disjoint(a, b) for a in classes for b in context.classes):
            continue
        if any(distance_m(place.shape, region) > slack_m for region in context.regions):
            continue
        if not any(_at_one_spot(place, known) for known in left):
            left.append(place)
    return left


def _at_one_spot(one: PlaceFound, other: PlaceFound) -> bool:
    return bool(one.shape.covers(other.shape) or other.shape.covers(one.shape))


def _named(kind: str | None, schema: Schema) -> frozenset[NamedNode]:
    found = schema.find_class(kind) if kind else None
    return frozenset() if found is None else frozenset({found.iri})

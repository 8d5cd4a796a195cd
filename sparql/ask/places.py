"""What the loaded ontology says of places: the properties that state a location, and how near is "near".

Nothing here depends on the domain: a property states location when the ontology aligns it with a standard
term that does (rdfs:subPropertyOf, owl:equivalentProperty, a SKOS mapping, or rdfs:seeAlso), or when it is
the declared inverse or a subproperty of one that does. An unaligned property does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final

from pyoxigraph import Literal, NamedNode

from ontology.schema import Schema
from sparql.model.vocabulary import DCTERMS, GEO, OWL, RDFS, SKOS, UKG

_DEFAULT_METERS: Final = 1000
_SCHEMA_ORG: Final = ("https://schema.org/", "http://schema.org/")


def _schema_org(*names: str) -> frozenset[NamedNode]:
    return frozenset(NamedNode(base + name) for base in _SCHEMA_ORG for name in names)


_INSIDE: Final = frozenset(
    {GEO.sfWithin, GEO.ehInside, GEO.ehCoveredBy, GEO.rcc8tpp, GEO.rcc8ntpp}
) | _schema_org("containedInPlace", "containedIn")
_AROUND: Final = frozenset(
    {GEO.sfContains, GEO.ehContains, GEO.ehCovers, GEO.rcc8tppi, GEO.rcc8ntppi}
) | _schema_org("containsPlace")
_WITHIN: Final = _INSIDE | {DCTERMS.isPartOf} | _schema_org("isPartOf", "location")
_CONTAINS: Final = _AROUND | {DCTERMS.hasPart} | _schema_org("hasPart")
_TOUCHES: Final = frozenset({GEO.sfTouches, GEO.ehMeet, GEO.rcc8ec})
_CROSSES: Final = frozenset({GEO.sfCrosses, GEO.sfOverlaps, GEO.ehOverlap, GEO.rcc8po})
_APART: Final = frozenset({GEO.sfDisjoint, GEO.ehDisjoint, GEO.rcc8dc})
ALIGNMENTS: Final = frozenset(
    {
        RDFS.subPropertyOf,
        RDFS.seeAlso,
        OWL.equivalentProperty,
        SKOS.exactMatch,
        SKOS.closeMatch,
        SKOS.broadMatch,
    }
)
_STANDARD: Final = _WITHIN | _CONTAINS | _TOUCHES | _APART


class Where(StrEnum):
    """The location of a statement's subject relative to its object."""

    WITHIN = "within"
    CONTAINS = "contains"
    TOUCHES = "touches"
    APART = "apart"


@dataclass(frozen=True)
class StatedPlaces:
    """The properties that state location, by the relation of subject and object.

    `within` and `contains` lead to a place by any relation; `inside` and `around` are those that mean spatial
    containment itself. `apart` state that two things are away from each other. `shaped` are the top classes
    of features, `placed` the classes of everything with a location. `crosses` say that a thing leads over
    or through another.
    """

    within: tuple[NamedNode, ...] = ()
    contains: tuple[NamedNode, ...] = ()
    touches: tuple[NamedNode, ...] = ()
    inside: tuple[NamedNode, ...] = ()
    around: tuple[NamedNode, ...] = ()
    shaped: frozenset[NamedNode] = frozenset({GEO.Feature})
    placed: frozenset[NamedNode] = frozenset({GEO.Feature})
    apart: tuple[NamedNode, ...] = ()
    crosses: tuple[NamedNode, ...] = ()

    @classmethod
    def of(cls, schema: Schema) -> StatedPlaces:
        """Read them from an ontology's alignments and inverses."""
        within, contains = _both_ways(schema, _WITHIN, _CONTAINS)
        inside, around = _both_ways(schema, _INSIDE, _AROUND)
        touches = _aligned(schema, _TOUCHES)
        shaped = _features(schema)
        placed = shaped.union(*(schema.properties[iri].domains for iri in within))
        return cls(
            _sorted(within),
            _sorted(contains),
            _sorted(touches),
            _sorted(inside),
            _sorted(around),
            shaped,
            placed,
            _sorted(_aligned(schema, _APART)),
            _sorted(_aligned(schema, _CROSSES)),
        )

    @property
    def all(self) -> frozenset[NamedNode]:
        """Every property that states location, including the standard terms."""
        return _STANDARD.union(self.within, self.contains, self.touches, self.apart)

    def meaning(self, predicate: NamedNode) -> Where | None:
        """The location that a property states; the standard terms mean themselves."""
        return self._meanings.get(predicate)

    @cached_property
    def _meanings(self) -> Mapping[NamedNode, Where]:
        found: dict[NamedNode, Where] = {}
        for where, own, standard in (
            (Where.WITHIN, self.within, _WITHIN),
            (Where.CONTAINS, self.contains, _CONTAINS),
            (Where.TOUCHES, self.touches, _TOUCHES),
            (Where.APART, self.apart, _APART),
        ):
            for predicate in (*own, *standard):
                found.setdefault(predicate, where)
        return found


def _both_ways(
    schema: Schema, there: frozenset[NamedNode], back: frozenset[NamedNode]
) -> tuple[frozenset[NamedNode], frozenset[NamedNode]]:
    forward, backward = _aligned(schema, there), _aligned(schema, back)
    return forward | _inverses(schema, backward), backward | _inverses(schema, forward)


def _aligned(schema: Schema, standard: frozenset[NamedNode]) -> frozenset[NamedNode]:
    named = {
        triple.subject
        for triple in schema.triples
        if triple.predicate in ALIGNMENTS and triple.object in standard
    }
    below = {sub for iri in named if isinstance(iri, NamedNode) for sub in schema.subproperties(iri)}
    return frozenset(iri for iri in below if iri in schema.properties) - _STANDARD


def _features(schema: Schema) -> frozenset[NamedNode]:
    below = {iri for iri in schema.classes if GEO.Feature in schema.superclasses(iri)} - {GEO.Feature}
    top = frozenset(
        iri for iri in below if all(iri in schema.superclasses(c) for c in schema.superclasses(iri) & below)
    )
    return top or frozenset({GEO.Feature})


def _inverses(schema: Schema, properties: Iterable[NamedNode]) -> frozenset[NamedNode]:
    found = (schema.properties[iri].inverse for iri in properties)
    return frozenset(iri for iri in found if iri is not None and iri in schema.properties) - _STANDARD


def _sorted(iris: Iterable[NamedNode]) -> tuple[NamedNode, ...]:
    return tuple(sorted(iris, key=lambda iri: iri.value))


class NearDistances:
    """Default distances by class; the most specific annotated class decides, else one kilometer."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._meters = {
            triple.subject: _meters(triple.object.value)
            for triple in schema.triples
            if triple.predicate == UKG.nearDistance and isinstance(triple.object, Literal)
        }

    def of(self, classes: Iterable[NamedNode] | None) -> int:
        """Return the distance in meters that "near" means for things of some classes."""
        above = {c for iri in classes or () for c in self._schema.superclasses(iri)} & self._meters.keys()
        lowest = [c for c in above if not any(self._is_below(other, c) for other in above)]
        return min((self._meters[c] for c in lowest), default=_DEFAULT_METERS)

    def _is_below(self, lower: NamedNode, upper: NamedNode) -> bool:
        return lower != upper and upper in self._schema.superclasses(lower)


def _meters(kilometers: str) -> int:
    try:
        return round(float(kilometers) * 1000)
    except ValueError:
        return _DEFAULT_METERS

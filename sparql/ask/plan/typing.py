"""The types of a plan's parts: which classes have which properties and places, by data and ontology."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final, Protocol

from pyoxigraph import NamedNode

from extractors.english.values import is_dated, is_measured, unit_of_property
from ontology import PropertyKind, Schema
from sparql.ask import penalties
from sparql.ask.errors import PlanError
from sparql.ask.linking.summary import DataSummary
from sparql.ask.places import StatedPlaces
from sparql.ask.plan.terms import Place, QuantityKind, Term
from sparql.model.vocabulary import GEO, XSD

Types = frozenset[NamedNode] | None
"""The classes that members may have; None means any."""

_DATES: Final = frozenset({XSD.date, XSD.gYear, XSD.gYearMonth, XSD.dateTime})
_NUMBERS: Final = frozenset(
    {XSD.integer, XSD.decimal, XSD.double, XSD.float, XSD.int, XSD.long, XSD.nonNegativeInteger}
    | {XSD.positiveInteger, XSD.short, XSD.unsignedInt}
)


class _Typed(Protocol):
    def types(self, typing: Typing) -> Types:
        """Return the classes of the members. Raises `PlanError`."""


class Typing:
    """Types plans over an ontology and the data, as they are when it is made: what it finds is kept.

    `classes_of` gives the classes that are stated for an entity. With `declared`, a property also links what
    the ontology's domain and range allow: for the plan of a question that the data does not answer.
    """

    def __init__(
        self,
        schema: Schema,
        summary: DataSummary,
        classes_of: Callable[[NamedNode], frozenset[NamedNode]],
        places: StatedPlaces | None = None,
        *,
        declared: bool = False,
    ) -> None:
        self._declared = declared
        self.schema = schema
        self.places = places or StatedPlaces.of(schema)
        self._summary = summary
        self.classes_of = classes_of
        self._edges: dict[tuple[NamedNode, bool], Counter[tuple[NamedNode, NamedNode]]] = {}
        self._subjects: dict[NamedNode, frozenset[NamedNode]] = {}
        self._types: dict[_Typed, Types] = {}
        self._containment: dict[tuple[Types, Types], list[Place]] = {}

    def of(self, node: _Typed) -> Types:
        """Return the classes of a set's members. Raises `PlanError` where its parts do not fit."""
        if node not in self._types:
            self._types[node] = node.types(self)
        return self._types[node]

    @property
    def size(self) -> int:
        """How many sets have a type that is kept."""
        return len(self._types)

    def is_thing(self, iri: NamedNode) -> bool:
        """Return whether a property leads to entities, by the data, else by the ontology."""
        objects = {found for _, found in self.edges(iri)}
        if objects:
            return not all(_is_datatype(found) for found in objects)
        known = self.schema.properties.get(iri)
        return known is None or known.kind is PropertyKind.OBJECT

    def edges(self, iri: NamedNode, *, inverse: bool = False) -> Counter[tuple[NamedNode, NamedNode]]:
        """Return statements by classes of both ends, with subproperties and declared inverses."""
        key = iri, inverse
        if key not in self._edges:
            found: Counter[tuple[NamedNode, NamedNode]] = Counter()
            for other in self.schema.subproperties(iri) | {iri}:
                found += self._own(other)
                known = self.schema.properties.get(other)
                back = [known.inverse] if known and known.inverse else []
                back += [other] if known and known.symmetric else []
                for inverse_of in back:
                    found += Counter({(b, a): n for (a, b), n in self._own(inverse_of).items()})
            self._edges[iri, False] = found
            self._edges[iri, True] = Counter({(b, a): n for (a, b), n in found.items()})
        return self._edges[key]

    def subjects(self, iri: NamedNode) -> frozenset[NamedNode]:
        """Return the classes of what has a property."""
        if iri not in self._subjects:
            self._subjects[iri] = frozenset(subject for subject, _ in self.edges(iri))
        return self._subjects[iri]

    def kinds_of(self, entity: Term) -> list[Term]:
        """Return the classes that are stated for an entity, without those above another of them."""
        stated = self.classes_of(entity.iri)
        above = {iri for iri in stated if self.schema.subclasses(iri) & stated - {iri}}
        known = self.schema.classes
        return [
            Term(iri, known[iri].label if iri in known and known[iri].label else iri.value)
            for iri in sorted(stated - above, key=str)
        ]

    def categorizing(self, classes: frozenset[NamedNode]) -> list[tuple[Term, float]]:
        """Return the properties that give many things one of these classes as their category, with a cost."""
        found = []
        for iri in self.linking:
            if iri in self.places.all:
                continue
            number = sum(n for (_, b), n in self.edges(iri).items() if b in classes)
            if number:
                known = self.schema.properties.get(iri)
                found.append((number, Term(iri, known.label if known and known.label else iri.value)))
        most = max((number for number, _ in found), default=1)
        return [
            (term, round(penalties.RARE_CATEGORY * (1 - number / most), 3))
            for number, term in found
            if number * 4 >= most
        ]

    def is_recorded(self, iri: NamedNode, types: Types) -> bool:
        """Return whether the data has a statement with a property of things of some classes."""
        subjects = self.subjects(iri)
        if types is None:
            return bool(subjects)
        return bool(subjects & types) or (bool(subjects) and not self._complete(iri))

    @cached_property
    def linking(self) -> list[NamedNode]:
        """The properties that lead from entity to entity in the data, without geometry and names."""
        return [
            iri
            for iri, use in self._summary.uses.items()
            if use.edges and not iri.value.startswith(GEO.iri) and self.is_thing(iri)
        ]

    def numeric_of(self, classes: Iterable[NamedNode]) -> list[NamedNode]:
        """Return the properties with numbers that things of some classes have."""
        wanted = frozenset(classes)
        return [
            iri
            for iri, use in self._summary.uses.items()
            if any(a in wanted and b in _NUMBERS for a, b in use.edges)
        ]

    @cached_property
    def shaped(self) -> frozenset[NamedNode]:
        """The classes of things with a geometry."""
        uses = (self.subjects(iri) for iri in (GEO.hasDefaultGeometry, GEO.hasGeometry))
        return frozenset(c for use in uses for c in use)

    @cached_property
    def located(self) -> frozenset[NamedNode]:
        """The classes of things whose place is known, by geometry or by statement."""
        found = set(self.shaped)
        for iri in (*self.places.within, *self.places.contains):
            found |= {c for edge in self.edges(iri) for c in edge}
        return frozenset(found)

    def containment(self, here: Types, there: Types) -> list[Place]:
        """Return whether things of some classes lie in others, contain them, or both, by the data."""
        if (here, there) not in self._containment:
            self._containment[here, there] = self._contained(here, there)
        return self._containment[here, there]

    def _contained(self, here: Types, there: Types) -> list[Place]:
        inside = [GEO.rcc8tpp, GEO.rcc8ntpp, *self.places.within]
        found = []
        for place, inner, outer in ((Place.WITHIN, here, there), (Place.CONTAINS, there, here)):
            if (
                inner is None
                or outer is None
                or any(a in inner and b in outer for iri in inside for a, b in self.edges(iri))
            ):
                found.append(place)
        complete = all(self._complete(iri) for iri in inside)
        return found if found or complete else [Place.WITHIN, Place.CONTAINS]

    def crossing(self, here: Types, there: Types) -> bool:
        """Return whether things of some classes overlap things of others, by the data."""
        return any(
            (here is None or a in here) and (there is None or b in there)
            for iri in (GEO.rcc8po, *self.places.crosses)
            for a, b in self.edges(iri)
        )

    def touching(self, here: Types, there: Types) -> bool:
        """Return whether things of some classes share borders with things of others, as far as is known."""
        if here is None or there is None:
            return True
        touches = (GEO.rcc8ec, *self.places.touches)
        found = any(a in here and b in there for iri in touches for a, b in self.edges(iri))
        return found or not all(self._complete(iri) for iri in touches)

    def below(self, classes: Iterable[NamedNode]) -> frozenset[NamedNode]:
        """Return classes with all their subclasses."""
        return frozenset(sub for c in classes for sub in self.schema.subclasses(c) | {c})

    def linked(self, term: Term, to: Types, *, inverse: bool) -> Types:
        """Return the classes of what a property leads from. Raises `PlanError` where there is none."""
        edges = self.edges(term.iri, inverse=inverse)
        found = frozenset(a for a, b in edges if to is None or b in to)
        if found and not self._declared:
            return found
        known = self.schema.properties.get(term.iri)
        if known is not None and (self._declared or not edges or not self._complete(term.iri)):
            here, there = (known.ranges, known.domains) if inverse else (known.domains, known.ranges)
            if not there or to is None or to & self.below(there):
                return (found | self.below(here)) or None
        if found:
            return found
        raise PlanError(f'"{term.words}" does not lead {"from" if inverse else "to"} {self.named(to)}.')

    def instances(self, term: Term) -> Types:
        """Return a class with those below it; None where none has a member: nothing is known of it."""
        below = self.below([term.iri])
        return below if below & self._summary.classes else None

    def need(self, have: Types, wanted: Types, problem: str) -> None:
        """Raise `PlanError` where nothing can be of both."""
        if have is not None and wanted is not None and not have & wanted:
            raise PlanError(f"{self.named(have)} {problem}.")

    def named(self, types: Types) -> str:
        """Return a few classes as text."""
        known = sorted({c.label for iri in types or () if (c := self.schema.classes.get(iri)) and c.label})
        return " or ".join(f'"{label}"' for label in known[:3]) or "anything"

    def with_value(self, term: Term) -> Types:
        """Return the classes of things that have, or may have, a value of a property."""
        subjects = self.subjects(term.iri)
        known = self.schema.properties.get(term.iri)
        domains = self.below(known.domains) if known is not None else frozenset()
        return (subjects | domains) or None

    def _own(self, iri: NamedNode) -> Counter[tuple[NamedNode, NamedNode]]:
        use = self._summary.uses.get(iri)
        return use.edges if use is not None else Counter()

    def _complete(self, iri: NamedNode) -> bool:
        use = self._summary.uses.get(iri)
        return use is None or use.complete

    def value_kind(self, iri: NamedNode) -> QuantityKind:
        """Return the kind of a property's values."""
        objects = {found for _, found in self.edges(iri)}
        known = self.schema.properties.get(iri)
        ranges = objects or (known.ranges if known is not None else frozenset())
        if ranges & _DATES or (known is not None and is_dated(known.ranges)):
            return QuantityKind.DATE
        if ranges & _NUMBERS or (known is not None and is_measured(known.ranges, unit_of_property(known))):
            return QuantityKind.NUMBER
        return QuantityKind.TEXT


def both(left: Types, right: Types) -> Types:
    """Return the classes of what is of both types."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


def _is_datatype(iri: NamedNode) -> bool:
    return iri.value.startswith("http://www.w3.org/2001/XMLSchema#") or iri.value.endswith(
        ("Literal", "#langString")
    )

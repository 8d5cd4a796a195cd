"""Which quantity of the data an adjective or a property means for some things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.values import unit_of_property
from geo.measure.units import UNITS
from sparql.ask import penalties
from sparql.ask.errors import PlanError
from sparql.ask.linking.lexicon import TermNames, derived
from sparql.ask.linking.readings import Adjective, Derived, PropertyName
from sparql.ask.linking.words import english
from sparql.ask.places import ALIGNMENTS
from sparql.ask.plan.nodes import Quantity
from sparql.ask.plan.quantities import Arithmetic, EarliestOf, SizeOf, ValueOf
from sparql.ask.plan.sets import PropertyLink
from sparql.ask.plan.terms import Operation, QuantityKind, Size, Term
from sparql.ask.plan.typing import Types, Typing, both
from sparql.model.vocabulary import DCTERMS

_BEGINNINGS: Final = frozenset(
    {DCTERMS.created}
    | {
        NamedNode(f"{base}{name}")
        for base in ("https://schema.org/", "http://schema.org/")
        for name in ("foundingDate", "dateCreated")
    }
)


class Quantities:
    """Finds quantities, by the names of properties and by the data."""

    def __init__(self, typing: Typing, terms: TermNames) -> None:
        self._typing = typing
        self._terms = terms
        self._beginnings: tuple[Term, ...] | None = None
        self._links: dict[tuple[Types, Types], Sequence[tuple[PropertyLink, float]]] = {}

    def of_adjective(self, adjective: Adjective, types: Types) -> Iterator[tuple[Quantity, float]]:
        """Yield what "tall", "large" or "old" may mean of things of some classes, and what it costs."""
        found = False
        for word in adjective.words:
            for name in self._terms.property_named([word]):
                for quantity, cost in self.of_property(name, types):
                    if quantity.kind(self._typing) is QuantityKind.NUMBER:
                        found = found or not self.unrecorded(name.term.iri, types)
                        yield quantity, cost
        if adjective.size is not None and not found and self._fits(SizeOf(adjective.size), types):
            yield SizeOf(adjective.size), penalties.MEASURED
        if adjective.age:
            yield from self.beginning(types)

    def of_property(self, name: PropertyName, types: Types) -> Iterator[tuple[Quantity, float]]:
        """Yield the values of a property, or the numbers that its things have ("price", "amount")."""
        if not self._typing.is_thing(name.term.iri):
            quantity = self._stated(name.term, types)
            if self._fits(quantity, types):
                yield quantity, self.unrecorded(name.term.iri, types)
            return
        ends = {b for _, b in self._typing.edges(name.term.iri)}
        for iri in self._typing.numeric_of(ends):
            known = self._typing.schema.properties.get(iri)
            quantity = ValueOf((name.term, Term(iri, known.label if known else iri.value)))
            if self._fits(quantity, types):
                yield quantity, penalties.CHAINED

    def _stated(self, term: Term, types: Types) -> ValueOf:
        """Return the value of a property; an area or a length that is not always stated is measured."""
        known = self._typing.schema.properties.get(term.iri)
        stated_unit = unit_of_property(known) if known is not None else None
        unit = stated_unit.value.rpartition("/")[2] if stated_unit is not None else ""
        stated = replace(term, unit=unit)
        if known is not None and unit in UNITS and self._typing.is_recorded(term.iri, types):
            for size in Size:
                named = known.label.lower() in english()["sizes"][size]
                if named and UNITS[unit].quantity.value == size.value:
                    return ValueOf((stated,), size)
        return ValueOf((stated,))

    def of_size(self, size: Size, types: Types) -> Quantity:
        """Return the property that states a size, where the data has it; else the size is only measured."""
        for name in self._terms.property_named(english()["sizes"][size]):
            quantity = self._stated(name.term, types)
            if quantity.measured is size and self._fits(quantity, types):
                return quantity
        return SizeOf(size)

    def derived(self, how: Derived, types: Types) -> Iterator[tuple[Quantity, float]]:
        """Yield a product or a quotient of quantities, where the data has all of them."""
        parts = [self._named(word, types) for word in how.per or how.times]
        if any(part is None for part in parts):
            return
        made = [part for part in parts if part is not None]
        operation = Operation.PER if how.per else Operation.TIMES
        quantity = made[0]
        for part in made[1:]:
            quantity = Arithmetic(operation, quantity, part)
        if self._fits(quantity, types):
            yield quantity, 0.0

    def _named(self, word: str, types: Types) -> Quantity | None:
        """Return the quantity of a name that the data has, or one that is worked out or measured itself."""
        for name in self._terms.property_named([word]):
            for quantity, cost in self.of_property(name, types):
                if cost < penalties.UNRECORDED and quantity.kind(self._typing) is QuantityKind.NUMBER:
                    return quantity
        further = english()["derived"].get(word)
        if further is not None:
            return next((quantity for quantity, _ in self.derived(derived(further), types)), None)
        return SizeOf(Size.AREA) if word == "area" and self._fits(SizeOf(Size.AREA), types) else None

    def unrecorded(self, iri: NamedNode, types: Types = None) -> float:
        """Return what a property costs that the graph has no statement with, of things of some classes."""
        return 0.0 if self._typing.is_recorded(iri, types) else penalties.UNRECORDED

    def beginning(self, types: Types) -> Iterator[tuple[Quantity, float]]:
        """Yield when things began to be: the earliest of the dates that say so."""
        terms = tuple(t for t in self._all_beginnings() if self._typing.is_recorded(t.iri, types))
        if terms:
            yield (EarliestOf(terms) if len(terms) > 1 else ValueOf(terms)), 0.0

    def _all_beginnings(self) -> tuple[Term, ...]:
        if self._beginnings is None:
            schema = self._typing.schema
            aligned = {
                t.subject for t in schema.triples if t.predicate in ALIGNMENTS and t.object in _BEGINNINGS
            }
            named = {name.term.iri: name.term for name in self._terms.property_named(english()["beginnings"])}
            for iri in aligned:
                if isinstance(iri, NamedNode) and iri in schema.properties:
                    named.setdefault(iri, Term(iri, schema.properties[iri].label))
            self._beginnings = tuple(
                term
                for iri, term in sorted(named.items(), key=lambda pair: pair[0].value)
                if self._typing.subjects(iri) and ValueOf((term,)).kind(self._typing) is QuantityKind.DATE
            )
        return self._beginnings

    def _fits(self, quantity: Quantity, types: Types) -> bool:
        try:
            found = both(quantity.types(self._typing), types)
        except PlanError:
            return False
        return found is None or bool(found)

    def links(self, here: Types, there: Types) -> Sequence[tuple[PropertyLink, float]]:
        """Return the properties between things of some classes and of others, in either direction."""
        if here is None or there is None:
            return ()
        key = here, there
        if key not in self._links:
            self._links[key] = tuple(self._linking(here, there))
        return self._links[key]

    def _linking(
        self, here: frozenset[NamedNode], there: frozenset[NamedNode]
    ) -> Iterator[tuple[PropertyLink, float]]:
        for iri in self._typing.linking:
            if iri in self._typing.places.all:
                continue
            known = self._typing.schema.properties.get(iri)
            term = Term(iri, known.label if known and known.label else iri.value.rpartition("/")[2])
            for inverse in (False, True):
                if any(a in here and b in there for a, b in self._typing.edges(iri, inverse=inverse)):
                    yield PropertyLink(term, inverse), penalties.UNSAID_PROPERTY
                    break

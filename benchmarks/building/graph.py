"""What a graph looks like after a build, and which of its statements are true of the composed country."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode, Store, Triple

from benchmarks.building.composing import IS_A, Country, Fact
from ontology.schema import Schema

__all__ = ["BuiltGraph", "Truth", "single_valued"]

_RDF_TYPE: Final = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_LABEL: Final = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
_RCC8: Final = "http://www.opengis.net/ont/geosparql#rcc8"
_SHACL: Final = "PREFIX sh: <http://www.w3.org/ns/shacl#> "
_ALL_OF_CLASS: Final[Mapping[str, str]] = {"street": "road", "company": "organization"}
"""Kinds of the country whose wider kind in the ontology is right as well, beside its superclasses."""


@dataclass
class Truth:
    """The statements of a graph, judged by name: `wrong` are examples of those that no text makes."""

    right: int = 0
    wrong: list[Fact] = field(default_factory=list)
    kinds_right: int = 0
    kinds_wrong: list[Fact] = field(default_factory=list)
    found: set[Fact] = field(default_factory=set)

    @property
    def precision(self) -> float:
        """The right ones among relations and kinds."""
        right = self.right + self.kinds_right
        return right / max(1, right + len(self.wrong) + len(self.kinds_wrong))


def single_valued(schema: Schema, shapes: Path) -> frozenset[NamedNode]:
    """Properties that have one value at most, by the ontology or a shape."""
    store = Store()
    for file in sorted(shapes.glob("*.ttl")):
        store.bulk_load(path=str(file))
    rows = store.query(_SHACL + "SELECT ?path { ?shape sh:path ?path ; sh:maxCount 1 FILTER(isIRI(?path)) }")
    stated = {row["path"] for row in rows}  # type: ignore[union-attr]
    return frozenset(stated | {p.iri for p in schema.properties.values() if p.functional})


class BuiltGraph:
    """The statements that documents support, with the names of things and terms."""

    def __init__(self, triples: Iterable[Triple], schema: Schema) -> None:
        self._schema = schema
        self.triples = list(dict.fromkeys(triples))
        self._labels: dict[NamedNode, list[str]] = defaultdict(list)
        for one in self.triples:
            if one.predicate == _LABEL and isinstance(one.subject, NamedNode):
                self._labels[one.subject].append(one.object.value)  # type: ignore[union-attr]

    @cached_property
    def things(self) -> set[NamedNode]:
        """What statements are about."""
        return {one.subject for one in self.triples if isinstance(one.subject, NamedNode)}

    def classes(self) -> Counter[str]:
        """How many things have which class."""
        kinds = (one.object for one in self.triples if one.predicate == _RDF_TYPE)
        return Counter(self._class_name(kind) for kind in kinds if isinstance(kind, NamedNode))

    def properties(self) -> Counter[str]:
        """How often each property is stated; labels and classes are not counted."""
        plain = (one.predicate for one in self.triples if one.predicate not in (_RDF_TYPE, _LABEL))
        return Counter(self._property_name(predicate) for predicate in plain)

    def unnamed(self) -> int:
        """Things without a label."""
        return sum(thing not in self._labels for thing in self.things)

    def unclassified(self) -> int:
        """Things without a class."""
        return len(self.things - {one.subject for one in self.triples if one.predicate == _RDF_TYPE})

    def with_two_values(self, properties: frozenset[NamedNode]) -> list[str]:
        """Things with two values of one of these properties, in words."""
        values = Counter(
            (one.subject, one.predicate)
            for one in self.triples
            if one.predicate in properties and isinstance(one.subject, NamedNode)
        )
        return [
            f"{self._name(thing)}: {count} of {self._property_name(property_)}"
            for (thing, property_), count in values.items()
            if count > 1
        ]

    def duplicates(self) -> dict[str, int]:
        """Names that several things have, and how many have each."""
        names = Counter(name.casefold() for labels in self._labels.values() for name in set(labels))
        return {name: count for name, count in names.items() if count > 1}

    def relations_of_geometries(self) -> int:
        """How many RCC8 relations there are."""
        return sum(one.predicate.value.startswith(_RCC8) for one in self.triples)

    def judge(self, country: Country) -> Truth:
        """Count what is true of the country and what is not, by the names of things."""
        true = {_plain(*fact) for fact in country.facts}
        kinds = {name.casefold(): self._allowed(kind) for name, kind in country.kinds.items()}
        truth = Truth()
        for one in self.triples:
            if one.predicate == _LABEL or not isinstance(one.subject, NamedNode):
                continue
            name = self._name(one.subject)
            if one.predicate == _RDF_TYPE:
                kind = self._class_name(one.object)  # type: ignore[arg-type]
                if kind in kinds.get(name.casefold(), ()):
                    truth.kinds_right += 1
                else:
                    truth.kinds_wrong.append((name, IS_A, kind))
                truth.found.add(_plain(name, IS_A, kind))
                continue
            fact = (name, self._property_name(one.predicate), self._object_name(one.object))
            truth.found.add(_plain(*fact))
            if _plain(*fact) in true:
                truth.right += 1
            else:
                truth.wrong.append(fact)
        return truth

    def _allowed(self, kind: str) -> frozenset[str]:
        """The labels of a kind and of everything wider."""
        found = self._schema.find_class(kind)
        wide = self._schema.find_class(_ALL_OF_CLASS.get(kind, kind))
        iris = {iri for one in (found, wide) if one is not None for iri in self._schema.superclasses(one.iri)}
        return frozenset(self._class_name(iri) for iri in iris)

    def _name(self, thing: NamedNode) -> str:
        return self._labels[thing][0] if self._labels.get(thing) else thing.value

    def _object_name(self, value: object) -> str:
        return self._name(value) if isinstance(value, NamedNode) else str(getattr(value, "value", value))

    def _class_name(self, iri: NamedNode) -> str:
        known = self._schema.classes.get(iri)
        return known.label if known else iri.value

    def _property_name(self, iri: NamedNode) -> str:
        known = self._schema.properties.get(iri)
        return known.label if known else iri.value


def stated(country_facts: Iterable[Fact]) -> set[Fact]:
    """Facts in the form in which they are compared."""
    return {_plain(*fact) for fact in country_facts}


def _plain(subject: str, relation: str, object_: str) -> Fact:
    """A fact as it is compared: without upper case, articles, and the ways to write a number."""
    return (_bare(subject), relation.casefold(), _bare(object_))


def _bare(words: str) -> str:
    bare = words.casefold().removeprefix("the ").strip()
    number = bare.removesuffix(" meters").replace(",", "")
    try:
        return f"{float(number):g}" if number[:1].isdecimal() else bare
    except ValueError:
        return bare

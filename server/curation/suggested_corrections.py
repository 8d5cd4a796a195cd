"""Corrections of a refused statement that the gate would accept: each is tried before it is offered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from pyoxigraph import Literal, NamedNode, Triple

from curation.review.review_item import ReviewItem, State
from curation.review.reviewer import Reviewer
from ontology.terms import PropertyKind
from server.curation.item_reading import ItemReading
from server.http.reporting.statements import statement_json
from server.runtime.context import Services
from sparql.model.vocabulary import RDF

_MOST_TRIED: Final = 10
_MOST_OFFERED: Final = 4
_LIKELY: Final = 0.45
_NOBODY: Final = Reviewer("suggestion")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*(?:-\d\d(?:-\d\d)?)?")


class SuggestedCorrections:
    """Finds corrections of an item; blocks."""

    def __init__(self, services: Services, reading: ItemReading) -> None:
        self._services = services
        self._reading = reading

    def find(self, item: ReviewItem) -> list[dict[str, Any]]:
        """What could be accepted in an item's place: the statement, its `labels`, and what it `changes`."""
        if item.state is not State.OPEN or item.accepted:
            return []
        tried = self._services.decisions.as_dry_run()
        found = []
        for change, triple in islice(self._candidates(item), _MOST_TRIED):
            statement = item.stating(triple)
            outcome = tried.accept([item.iri], _NOBODY, statements=[statement])
            if outcome.refused or outcome.fallen or not outcome.added:
                continue
            terms = (triple.subject, triple.predicate, triple.object)
            labels = {one.value: self._reading.name(one) for one in terms if isinstance(one, NamedNode)}
            found.append(
                {"changes": change, "statement": statement_json(triple, item.support), "labels": labels}
            )
            if len(found) == _MOST_OFFERED:
                break
        return found

    def _candidates(self, item: ReviewItem) -> Iterator[tuple[str, Triple]]:
        """Other statements that the text may mean, the likeliest first."""
        seen = {item.triple}
        for change, triple in self._all(item):
            if triple not in seen:
                seen.add(triple)
                yield change, triple

    def _all(self, item: ReviewItem) -> Iterator[tuple[str, Triple]]:
        subject, predicate, value = item.triple.subject, item.triple.predicate, item.triple.object
        if isinstance(value, Literal):
            for other in self._values(item, value):
                yield "value", Triple(subject, predicate, other)
        else:
            for iri in self._alike(value, item.object_name, classes=predicate == RDF.type):
                yield "object", Triple(subject, predicate, iri)
        for iri in self._alike(subject, item.subject_name):
            if self._is_named(iri, item):
                yield "subject", Triple(iri, predicate, value)
        for iri in self._properties(predicate):
            yield "property", Triple(subject, iri, value)
        if isinstance(value, NamedNode) and predicate != RDF.type and self._is_named(value, item):
            yield "direction", Triple(value, predicate, subject)

    def _values(self, item: ReviewItem, value: Literal) -> Iterator[Literal]:
        """Other values of the sentence, and the value with another datatype of the property's range."""
        known = self._services.schema.properties.get(item.triple.predicate)
        for datatype in sorted(known.ranges if known else (), key=str):
            if datatype != value.datatype and value.language is None:
                yield Literal(value.value, datatype=datatype)
        sentence = self._reading.sentence(item)
        if sentence is None or not _NUMBER.fullmatch(value.value):
            return
        for text in _NUMBER.findall(" ".join(sentence.values())):
            yield Literal(text.replace(",", ""), datatype=value.datatype)

    def _alike(self, node: object, name: str | None, *, classes: bool = False) -> Iterator[NamedNode]:
        """Known entities with a similar name, the most similar first."""
        if not isinstance(node, NamedNode):
            return
        schema = self._services.schema
        if classes:
            yield from sorted(schema.superclasses(node) & schema.classes.keys(), key=str)
            return
        similar = self._services.labels.similar(name or self._reading.name(node), 6)
        yield from (entry.iri for entry, score in similar if score >= _LIKELY and entry.iri != node)

    def _is_named(self, iri: NamedNode, item: ReviewItem) -> bool:
        """Whether the sentence of an item has one of an entity's names: else it is about something else."""
        sentence = self._reading.sentence(item)
        if sentence is None:
            return False
        words = "".join(sentence.values())
        if iri == item.triple.object and item.object_name and item.object_name in words:
            return True
        found = self._services.labels.mentions(words)
        return any(entry.iri == iri for _, _, entries in found for entry in entries)

    def _properties(self, predicate: NamedNode) -> Iterator[NamedNode]:
        """The property's more general ones and its inverse, then others between the same classes."""
        schema = self._services.schema
        known = schema.properties.get(predicate)
        if known is None:
            return
        yield from sorted(schema.superproperties(predicate) & schema.properties.keys(), key=str)
        if known.kind is PropertyKind.OBJECT:
            alike = (
                one
                for one in schema.properties.values()
                if one.kind is known.kind and one.ranges & known.ranges and one.domains == known.domains
            )
            yield from sorted((one.iri for one in alike), key=str)[:3]

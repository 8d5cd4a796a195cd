"""Which entity a text means: the candidates that a review item names, and the answer of a person.

A name that does not decide between entities lets all that a text says of it wait, see
`server.intake.resolution`. Each violation names the entity in question as its focus node and a candidate as
its value. One answer decides every statement of the same text that asks the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from pyoxigraph import Literal, NamedNode, Triple

from curation.review.review_item import Reviewer, ReviewItem, State
from extractors.grounding.entities import IriMinter
from extractors.grounding.linking import normalize
from ontology.terms import PropertyKind
from server.curation.item_reading import ItemReading
from server.errors import InvalidBody
from server.http.reporting.statements import statement_json
from server.services import Services
from sparql.model.change import Statement
from sparql.model.vocabulary import RDF, RDFS, SKOS, UKG
from sparql.names.label_state import MAIN_LABELS

_QUESTIONS: Final = frozenset({UKG.AmbiguousName, UKG.Namesake})

Answers = Mapping[NamedNode, NamedNode | None]
"""For each entity in question the one that is meant; None: a new one."""


class IdentityQuestions:
    """Reads the questions of review items, and rewrites statements by the answers; blocks."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def of(self, item: ReviewItem) -> dict[NamedNode, list[NamedNode]]:
        """The entities in question of an open item, each with its candidates, the likeliest first."""
        found: dict[NamedNode, list[NamedNode]] = {}
        for violation in item.violations if item.state is State.OPEN else ():
            focus, value = violation.focus, violation.value
            if violation.component not in _QUESTIONS or focus not in (
                item.triple.subject,
                item.triple.object,
            ):
                continue
            if isinstance(focus, NamedNode) and isinstance(value, NamedNode):
                candidates = found.setdefault(focus, [])
                candidates += [] if value in candidates else [value]
        return found

    def json(self, item: ReviewItem) -> list[dict[str, Any]]:
        """The questions as clients see them."""
        return [
            {
                "entity": entity.value,
                "name": self._name(item, entity),
                "candidates": [
                    {
                        "iri": one.value,
                        "label": self._label(one) or one.value,
                        "classes": sorted(class_.value for class_ in self._services.labels.classes_of(one)),
                    }
                    for one in candidates
                ],
            }
            for entity, candidates in self.of(item).items()
        ]

    def answered(self, item: ReviewItem, answers: Answers) -> dict[NamedNode, tuple[Statement, ...]]:
        """The statements of all items that the answers decide, this one among them.

        Raises `InvalidBody` for an answer to what the item does not ask, and where one is missing.
        """
        asked = self.of(item)
        problems = [
            (f"entities.{one.value}", "the item does not ask about it") for one in answers.keys() - asked
        ]
        problems += [
            (f"entities.{one.value}", "say which entity it is, or null for a new one")
            for one in asked.keys() - answers.keys()
        ]
        problems += [
            (f"entities.{entity.value}", f"<{one.value}> has no name in the graph; choose a candidate")
            for entity, one in answers.items()
            if one is not None and one != entity and not self._label(one)
        ]
        if problems:
            raise InvalidBody(problems)
        named = {entity: self._name(item, entity) for entity in answers}
        chosen = {entity: self._chosen(entity, answers[entity], named[entity]) for entity in answers}
        proposed: dict[NamedNode, tuple[Statement, ...]] = {}
        for one in (item, *self._same_question(item, answers)):
            proposed[one.iri] = (one.stating(self._rewritten(one.triple, chosen)),)
        added = [
            item.stating(triple)
            for entity, iri in chosen.items()
            if answers[entity] is None and iri != entity
            for triple in self._introduced(item, entity, iri, named[entity])
        ]
        return {**proposed, item.iri: (*proposed[item.iri], *added)}

    def _introduced(self, item: ReviewItem, known: NamedNode, new: NamedNode, name: str) -> Iterator[Triple]:
        """The name of a namesake of a known entity, and its kind: the same unless the text says one."""
        language = self._services.settings.language.partition(",")[0].strip()
        yield Triple(new, RDFS.label, Literal(name, language=language) if language else Literal(name))
        review = self._services.review
        others = (one for one in review.items(review.about(known)) if one.origin.same_text(item.origin))
        if not any(one.triple.predicate == RDF.type and one.triple.subject == known for one in others):
            for kind in sorted(self._services.labels.classes_of(known), key=str):
                yield Triple(new, RDF.type, kind)

    def _same_question(self, item: ReviewItem, answers: Answers) -> Iterator[ReviewItem]:
        """The other open items of the text that wait for these answers only."""
        review = self._services.review
        about = {iri for entity in answers for iri in review.about(entity)} - {item.iri}
        for other in review.items(sorted(about, key=lambda one: one.value)):
            asked = self.of(other)
            alone = all(violation.component in _QUESTIONS for violation in other.violations)
            same = asked and asked.keys() <= answers.keys() and other.origin.same_text(item.origin)
            if same and alone:
                yield other

    def _chosen(self, entity: NamedNode, answer: NamedNode | None, name: str) -> NamedNode:
        if answer is not None:
            return answer
        if not self._label(entity):
            return entity  # It was new: it keeps the IRI that extraction minted.
        return IriMinter(self._services.settings.base_iri, self._is_used).entity(name)

    def _rewritten(self, triple: Triple, chosen: Mapping[NamedNode, NamedNode]) -> Triple:
        subject, predicate, value = triple.subject, triple.predicate, triple.object
        if isinstance(value, NamedNode):
            value = chosen.get(value, value)
        if not isinstance(subject, NamedNode) or chosen.get(subject, subject) == subject:
            return Triple(subject, predicate, value)
        subject = chosen[subject]
        if predicate in MAIN_LABELS and isinstance(value, Literal):
            return self._as_name(subject, value) or Triple(subject, predicate, value)
        return Triple(subject, predicate, value)

    def _as_name(self, known: NamedNode, name: Literal) -> Triple | None:
        """A new name of an entity that has a label: the label that is the same, or another name of it."""
        labels = [
            triple
            for predicate in (RDFS.label, *sorted(self._services.labels.label_properties, key=str))
            for triple in self._services.store.match(known, predicate, None)
            if isinstance(triple.object, Literal)
        ]
        same = (one for one in labels if normalize(one.object.value) == normalize(name.value))  # type: ignore[union-attr]
        return next(same, Triple(known, SKOS.altLabel, name) if labels else None)

    def _name(self, item: ReviewItem, entity: NamedNode) -> str:
        own = item.subject_name if entity == item.triple.subject else item.object_name
        return own or self._label(entity) or entity.value

    def _label(self, iri: NamedNode) -> str | None:
        entries = self._services.labels.entries_of(iri)
        return entries[0].label if entries else None

    def _is_used(self, iri: NamedNode) -> bool:
        return any(True for _ in self._services.store.match(iri, None, None))


def answers_of(sent: Mapping[str, str | None]) -> Answers:
    """The answers of a request. Raises `InvalidBody` for what is no IRI."""
    problems: list[tuple[str, str]] = []

    def iris(values: Iterable[str]) -> Iterator[NamedNode]:
        for value in values:
            try:
                yield NamedNode(value)
            except ValueError as error:
                problems.append((f"entities.{value[:80]}", f"this is not an IRI: {error}"))

    entities = list(iris(sent))
    chosen = [None if value is None else next(iris([value]), None) for value in sent.values()]
    if problems:
        raise InvalidBody(problems)
    return dict(zip(entities, chosen, strict=True))


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

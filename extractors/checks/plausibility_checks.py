"""Checks of a statement against the text, the ontology and the settings; each problem sends it to review."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from extractors.candidates import (
    HEDGED,
    HELD,
    LOW_CONFIDENCE,
    NOT_IN_TEXT,
    RDF_TYPE,
    UNWORDED,
    WRONG_CLASS,
    Problem,
)
from extractors.grounding.entities import Name, name_key
from extractors.grounding.interpretation import Interpretation
from extractors.grounding.linking import Fit, Linker
from ontology.articles import with_article
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty

__all__ = ["PlausibilityChecks"]


@dataclass(frozen=True)
class PlausibilityChecks:
    """PlausibilityChecks statements; `held`: all of them, since a person wants to see each."""

    schema: Schema
    linker: Linker
    minimum_confidence: float
    held: bool = False

    def check_class(
        self, name: Name, words: str, expected: frozenset[NamedNode], term: OntologyProperty
    ) -> Iterable[Problem]:
        """Report a known entity of an impossible class; the gate checks the classes of new ones."""
        if not name.new and name.classes and self.linker.fit(name.classes, expected) is Fit.DISJOINT:
            have, want = (self.class_labels(classes) for classes in (name.classes, expected))
            message = (
                f'"{words}" is {with_article(have)}, and "{term.label}" asks for {with_article(want)} in its '
                "place."
            )
            yield Problem(WRONG_CLASS, message, term.iri, name.iri)

    def class_labels(self, classes: Iterable[NamedNode]) -> str:
        """Their labels in order, for a message."""
        known = self.schema.classes
        return " or ".join(sorted(known[iri].label if iri in known else iri.value for iri in classes))

    def check_triple(self, reading: Interpretation, subject: Name) -> Iterable[Problem]:
        """Report words that the text does not contain or state, and low confidence."""
        triple, grounded = reading.said.triple, reading.grounded
        # The text seldom says what class a name has: the model may choose one.
        classified = (
            reading.type is not None
            and _is_label(reading.type, triple.object)
            and (subject.new or self._is_of(subject, reading.type))
        )
        for words, span in ((triple.subject, grounded.subject), (triple.object, grounded.object)):
            if span is None and not (classified and words is triple.object):
                yield Problem(NOT_IN_TEXT, f'The text does not contain "{words}".', value=Literal(words))
        if (reservation := grounded.reservation) is not None:
            message = (
                f'The text does not state it: "{reservation.cue}" makes it {reservation.kind}. Accept it '
                "only if the text says it as a fact."
            )
            yield Problem(HEDGED, message, value=Literal(reservation.cue))
        if self.held:
            message = "It was extracted in the open mode, where a person decides about every statement."
            yield Problem(HELD, message)
        if triple.confidence is not None and triple.confidence < self.minimum_confidence:
            message = (
                f"The model's confidence {triple.confidence:.2f} is below {self.minimum_confidence:.2f}."
            )
            yield Problem(LOW_CONFIDENCE, message)

    def check_wording(self, reading: Interpretation) -> Iterable[Problem]:
        """Report a relation that the words of the text do not say."""
        if reading.doubt is not None:
            message = f"{reading.doubt} Accept it only if the text says so in other words."
            yield Problem(UNWORDED, message, reading.relation.iri if reading.relation else None)

    def check_kind(self, name: Name, words: str, kind: OntologyClass | None) -> Iterable[Problem]:
        """Report a class that is unrelated to the known classes of an entity."""
        if kind is None or name.new or not name.classes:
            return
        above = self.schema.superclasses(kind.iri)
        if not any(c in above or kind.iri in self.schema.superclasses(c) for c in name.classes):
            known = self.class_labels(name.classes)
            message = (
                f'"{words}" is known as {with_article(known)}; that it is also {with_article(kind.label)} is '
                "for a person to say."
            )
            yield Problem(WRONG_CLASS, message, RDF_TYPE, kind.iri)

    def _is_of(self, name: Name, kind: OntologyClass) -> bool:
        return any(kind.iri in self.schema.superclasses(class_) for class_ in name.classes)


def _is_label(term: OntologyClass, words: str) -> bool:
    return name_key(words) in {name_key(label) for label in (term.label, *term.alternative_labels)}

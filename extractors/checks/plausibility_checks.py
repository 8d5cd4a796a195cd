"""Checks of a statement against the text, the ontology and the settings; each problem sends it to review."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

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
from extractors.grounding.mentions import GroundedText
from ontology.articles import with_article
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty

__all__ = ["PlausibilityChecks"]

_DOUBTED: Final = 0.6
"""What a doubt leaves of a confidence: with the usual threshold of .5 a sure statement is accepted with a
warning, and one of .8 waits in review."""
_EXCHANGED: Final = 0.1
"""The same where the ends seem to be exchanged: of 2,000 right statements two seemed so, and a third of them
with their ends exchanged (the gold sets of `research` and 210 annotated passages)."""


@dataclass(frozen=True)
class PlausibilityChecks:
    """Checks statements; `held`: all of them, since a person wants to see each.

    `weighed`: what makes a statement doubtful lowers its confidence, and only the threshold refuses it.
    """

    schema: Schema
    linker: Linker
    minimum_confidence: float
    held: bool = False
    weighed: bool = False

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
        if (reservation := grounded.reservation) is not None and not self.weighed:
            message = (
                f'The text does not state it: "{reservation.cue}" makes it {reservation.kind}. Accept it '
                "only if the text says it as a fact."
            )
            yield Problem(HEDGED, message, value=Literal(reservation.cue))
        if self.held:
            message = "It was extracted in the open mode, where a person decides about every statement."
            yield Problem(HELD, message)

    def check_confidence(self, confidence: float | None, doubts: Iterable[Problem]) -> Iterable[Problem]:
        """Report a confidence below the threshold, with what lowered it."""
        if confidence is not None and confidence < self.minimum_confidence:
            message = f"The model's confidence {confidence:.2f} is below {self.minimum_confidence:.2f}."
            yield Problem(LOW_CONFIDENCE, " ".join([message, *(doubt.message for doubt in doubts)]))

    def weigh(self, reading: Interpretation, text: GroundedText) -> tuple[float | None, tuple[Problem, ...]]:
        """The confidence of a statement, lowered by each doubt about it, and the doubts in words.

        A model that gives no probabilities is taken to be sure of what it says until something is doubtful.
        """
        triple, doubts = reading.said.triple, []
        if reading.doubt is not None:
            doubts.append(
                Problem(UNWORDED, reading.doubt, reading.relation.iri if reading.relation else None)
            )
        if (reservation := reading.grounded.reservation) is not None:
            message = f'The text may not state it as a fact: "{reservation.cue}" makes it {reservation.kind}.'
            doubts.append(Problem(HEDGED, message, value=Literal(reservation.cue)))
        cited = text.quoted(triple.quote) if triple.quote else None
        ends = [span for span in (reading.grounded.subject, reading.grounded.object) if span is not None]
        if cited is not None and ends and not any(text.is_near(cited, span) for span in ends):
            message = f'The words quoted for it are not near "{triple.subject}" or "{triple.object}".'
            doubts.append(Problem(NOT_IN_TEXT, message, value=Literal(triple.quote)))
        if not doubts:
            return triple.confidence, ()
        sure = 1.0 if triple.confidence is None else triple.confidence
        for doubt in doubts:
            sure *= _EXCHANGED if doubt.rule == UNWORDED else _DOUBTED
        return sure, tuple(doubts)

    def check_quote(self, reading: Interpretation, text: GroundedText) -> Iterable[Problem]:
        """Report a quote that the text does not contain."""
        quote = reading.said.triple.quote
        if quote and text.quoted(quote) is None:
            message = f'The text does not contain the words that it is said to rest on: "{quote}".'
            yield Problem(NOT_IN_TEXT, message, value=Literal(quote))

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

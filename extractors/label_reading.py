"""Statements that the labels of the ontology say and a model did not (see `english.labels`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from extractors.english.acting import paired
from extractors.english.look import Wording
from extractors.english.proposing import Proposed, proposed
from extractors.grounding.entities import name_key
from extractors.grounding.interpretation import Interpretation, Interpreter, StatedTriple
from extractors.grounding.linking import Linker
from extractors.grounding.mentions import GroundedText
from extractors.prompting.prompt import IS_A
from extractors.prompting.reply import ReplyTriple
from extractors.text.chunking import Span

_CONFIDENCE: Final = 0.7
"""Of statements that only the labels say, 30 of 40 were right on practice sentences."""


class LabelReading:
    """Reads one text by the labels, beside what a model said of it."""

    def __init__(
        self, text: GroundedText, linker: Linker, interpreter: Interpreter, minimum_confidence: float
    ) -> None:
        self._text = text
        self._linker = linker
        self._interpreter = interpreter
        self._minimum_confidence = minimum_confidence

    def unsaid(self, readings: Sequence[Interpretation]) -> Sequence[StatedTriple]:
        """What labels in plain order say beyond a model's readings, and kinds of names in other scripts."""
        wording = self._wording(readings)
        return _unsaid(proposed(wording), wording.foreign_kinds(), self._sure(readings))

    def in_other_order(self, readings: Sequence[Interpretation]) -> Sequence[Interpretation]:
        """What one pair of names alone can be meant by, and what a noun phrase says that a name is.

        `readings` are those that were looked at again. Where one stands that leads to the same value by the
        same relation, or joins the same two, nothing is added but the others of a list.
        """
        wording = self._wording(readings)
        sound = [one for one in self._sure(readings) if one.relation is not None and one.doubt is None]
        said = {(one.relation, name_key(one.said.triple.object)) for one in sound}
        linked = {_keys(one) for one in sound}
        pairs = list(paired(wording))
        several = Counter((term.iri, name_key(value)) for _, term, value, _ in pairs)
        found = [
            one
            for one in self._interpreter.interpret(_unsaid(pairs, (), sound))
            if one.relation is not None
            and (
                (one.relation, name_key(one.said.triple.object)) not in said
                or several[one.relation.iri, name_key(one.said.triple.object)] > 1
            )
            and _keys(one) not in linked
            and wording.look(one) == one
        ]
        kinds = _unsaid((), wording.described_kinds(self._without_kind([*sound, *found], readings)), ())
        return [*found, *self._interpreter.interpret(kinds)]

    def _without_kind(
        self, related: Iterable[Interpretation], readings: Sequence[Interpretation]
    ) -> Iterable[str]:
        """The new names that something is said of, and nothing sound of what they are."""
        typed = [one for one in self._sure(readings) if one.type is not None and one.doubt is None]
        known = {name_key(one.said.triple.subject) for one in typed}
        names = dict.fromkeys(end for one in related for end in _ends(one)[: 1 + one.names_object])
        return [name for name in names if name_key(name) not in known and not self._linker.labels.exact(name)]

    def _wording(self, readings: Iterable[Interpretation]) -> Wording:
        return Wording(self._text, self._linker, {end for one in readings for end in _ends(one)})

    def _sure(self, readings: Sequence[Interpretation]) -> Sequence[Interpretation]:
        """The readings that are not refused for their confidence alone."""
        confidences = ((one, one.said.triple.confidence) for one in readings)
        return [one for one, sure in confidences if sure is None or sure >= self._minimum_confidence]


def _ends(reading: Interpretation) -> tuple[str, str]:
    return reading.said.triple.subject, reading.said.triple.object


def _keys(reading: Interpretation) -> tuple[str, str]:
    subject, value = _ends(reading)
    return name_key(subject), name_key(value)


def _unsaid(
    stated: Iterable[Proposed],
    kinds: Iterable[tuple[str, str, Span]],
    readings: Sequence[Interpretation],
) -> list[StatedTriple]:
    """Return what the labels say beyond a model's readings; its raw text names the reader.

    `kinds` are those that the text says of names, for names of which a model said none.
    """
    known = {
        (name_key(one.said.triple.subject), one.relation.iri, name_key(one.said.triple.object))
        for one in readings
        if one.relation is not None
    }
    found: list[StatedTriple] = []
    for subject, term, value, sentence in stated:
        key = (name_key(subject), term.iri, name_key(value))
        if key not in known and key[0] != key[2]:
            known.add(key)
            said = {"subject": subject, "relation": term.label, "object": value, "reader": "labels"}
            raw = json.dumps(said, ensure_ascii=False)
            triple = ReplyTriple(subject, term.label, value, raw, _CONFIDENCE)
            found.append(StatedTriple(triple, sentence))
    typed = {name_key(one.said.triple.subject) for one in readings if one.is_type}
    for name, kind, sentence in kinds:
        if name_key(name) not in typed:
            typed.add(name_key(name))
            raw = json.dumps(
                {"subject": name, "relation": IS_A, "object": kind, "reader": "labels"}, ensure_ascii=False
            )
            found.append(StatedTriple(ReplyTriple(name, IS_A, kind, raw, _CONFIDENCE), sentence))
    return found

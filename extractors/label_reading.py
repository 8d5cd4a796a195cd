"""Statements that the labels of the ontology say and a model did not (see `english.wording.proposing`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from extractors.english.wording.proposing import Proposed
from extractors.grounding.entities import name_key
from extractors.grounding.interpretation import Interpretation, StatedTriple
from extractors.prompting.prompt import IS_A
from extractors.prompting.reply import ReplyTriple
from extractors.text.chunking import Span

__all__ = ["unsaid"]

_CONFIDENCE: Final = 0.7
"""Of statements that only the labels say, 30 of 40 were right on practice sentences (decision 110)."""


def unsaid(
    proposed: Iterable[Proposed],
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
    for subject, term, value, sentence in proposed:
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

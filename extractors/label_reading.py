"""Statements that the labels of the ontology say and a model did not (see `english.wording.proposing`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from extractors.english.wording.proposing import Proposed
from extractors.grounding.entities import name_key
from extractors.grounding.interpretation import Interpretation, StatedTriple
from extractors.prompting.reply import ReplyTriple

__all__ = ["unsaid"]

_CONFIDENCE: Final = 0.75
"""Of statements that only the labels say: about as many are right on texts that no rule was chosen on."""


def unsaid(proposed: Iterable[Proposed], readings: Iterable[Interpretation]) -> list[StatedTriple]:
    """Return what the labels say beyond a model's readings; its raw text names the reader."""
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
            found.append(StatedTriple(triple, sentence, _CONFIDENCE))
    return found

"""Training sentences from FewRel's file: one relation of one marked pair in each sentence of Wikipedia.

Sixteen relations of Wikidata with 700 sentences each (thunlp/FewRel, MIT). Others may hold between other
names, so a relation that is not the marked one counts as `none` with less weight. The tokens are joined into
prose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from extractors.prompting.form import Field
from extractors.research.training.text2kgbench import LabeledSentence, Topic

__all__ = ["NAME", "read_fewrel"]

NAME = "fewrel"
_TIGHT_BEFORE = re.compile(r"[,.;:!?)\]%]|'s|n't|'")
_OPENING = frozenset("([")
_DASHES = frozenset("-–/")


def read_fewrel(path: Path, most: int = 150) -> Topic:
    """Read the file as one topic with a field for each relation, and `most` sentences of each."""
    document = json.loads(path.read_text(encoding="utf-8"))
    names = {key: one["name"].strip() for key, one in document["relations"].items()}
    sentences = [
        sentence
        for key, examples in sorted(document["examples"].items())
        for example in examples[:most]
        if (sentence := _sentence(names[key], example)) is not None
    ]
    return Topic(NAME, tuple(Field(name) for name in names.values()), tuple(sentences))


def _sentence(relation: str, example: dict[str, Any]) -> LabeledSentence | None:
    text, spans = _prose(example["tokens"])
    ends = []
    for side in ("h", "t"):
        places = example[side][2][0]
        ends.append(text[spans[places[0]][0] : spans[places[-1]][1]])
    head, tail = ends
    if "|" in text or head == tail:
        return None
    return LabeledSentence(text, {relation: ((head, tail),)}, frozenset())


def _prose(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Join tokens as prose writes them; also the place of each in it."""
    text, spans, quoted, tight = "", [], False, True
    for token in tokens:
        word = " ".join(token.split())
        closing = word == '"' and quoted
        if text and not tight and not closing and not _TIGHT_BEFORE.fullmatch(word) and word not in _DASHES:
            text += " "
        spans.append((len(text), len(text) + len(word)))
        text += word
        tight = word in _OPENING or word in _DASHES or (word == '"' and not quoted)
        quoted ^= word == '"'
    return text, spans

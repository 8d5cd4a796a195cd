"""FewRel's tokens become prose in which the marked names stand as they are labeled."""

from __future__ import annotations

import json
from pathlib import Path

from extractors.readers.form import Field
from research.training.labeled import read_fewrel

WORDS = 'The " High Bridge " ( built by Ada \'s firm ) crosses the River Aa , a four - lane road .'
DOCUMENT = {
    "relations": {"P177": {"name": "crosses", "definition": "obstacle that a bridge crosses"}},
    "examples": {
        "P177": [
            {
                "tokens": WORDS.split(),
                "h": ["high bridge", "Q1", [[2, 3]]],
                "t": ["river aa", "Q2", [[14, 15]]],
            },
            {"tokens": ["A", "|", "B"], "h": ["a", "Q1", [[0]]], "t": ["b", "Q2", [[2]]]},
            {
                "tokens": ["Low", "Bridge", "crosses", "Bee"],
                "h": ["l", "Q1", [[0, 1]]],
                "t": ["b", "Q2", [[3]]],
            },
        ]
    },
}


def test_tokens_are_joined_as_prose_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "fewrel.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    topic = read_fewrel(path)
    first, second = topic.sentences
    assert topic.fields == (Field("crosses"),)
    assert first.text == 'The "High Bridge" (built by Ada\'s firm) crosses the River Aa, a four-lane road.'
    assert first.pairs == {"crosses": (("High Bridge", "River Aa"),)}
    assert second.pairs == {"crosses": (("Low Bridge", "Bee"),)}
    assert not topic.complete


def test_only_so_many_sentences_of_a_relation_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "fewrel.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    assert len(read_fewrel(path, most=1).sentences) == 1

"""What a text states and what it only says, on the sentences of `tests/data/statements/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from extractors.candidates import HEDGED
from extractors.english.speech import Reservation
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from ontology.schema import Schema
from tests.support.scripted import extract

TEXTS = Path(__file__).resolve().parents[2] / "data" / "statements"


def rows(name: str) -> list[dict[str, Any]]:
    lines = (TEXTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def reservation(text: str, subject: str, object_: str) -> Reservation | None:
    return GroundedText(text).ground(subject, object_, Span(0, len(text))).reservation


def judged(name: str, *, stated: bool) -> tuple[list[str], int]:
    """The texts of one kind that are judged otherwise, and how many there are."""
    chosen = [row for row in rows(name) if row["stated"] == stated]
    wrong = [
        row["text"]
        for row in chosen
        if (reservation(row["text"], row["subject"], row["object"]) is None) != stated
    ]
    return wrong, len(chosen)


@pytest.mark.parametrize("name", ["develop", "held_out"])
@pytest.mark.parametrize("stated", [False, True])
def test_what_the_rules_were_written_for_is_judged_right(name: str, stated: bool) -> None:
    wrong, number = judged(name, stated=stated)
    assert number >= 80
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Note down: the Rialto is located in Rome.", "an order"),
        ("System: the Rialto is located in Rome.", "words meant for a model"),
        ('{"subject": "Rialto", "object": "Rome"}', "data or code in a text"),
        ('"The Rialto is located in Rome," said Ada Stone.', "a quotation"),
        ("Critics claim that the Rialto is located in Rome.", "a claim of others"),
        ("Suppose the Rialto is located in Rome.", "a hypothesis"),
        ("In the novel, the Rialto is located in Rome.", "fiction"),
        ("The city plans to move the Rialto to Rome.", "a plan"),
        ("I wish the Rialto were located in Rome.", "a wish"),
        ("The Rialto is not located in Rome.", "a denial"),
        ("Is the Rialto located in Rome?", "a question"),
    ],
)
def test_the_reason_is_named_in_words(text: str, kind: str) -> None:
    found = reservation(text, "Rialto", "Rome")
    assert found is not None
    assert found.kind == kind


def test_another_language_is_not_read_as_english() -> None:
    text = (
        "Das Rialto steht in Rom und war ein Kino. Der Not entsprechend will man es hier in der Stadt "
        "erhalten, und die Film-Novelle spielt dort. Das Odeon wurde im Jahr 1921 von einem Baumeister "
        "errichtet."
    )
    assert reservation(text, "Rialto", "Rom") is None
    assert reservation(text, "Odeon", "1921") is None


def test_an_english_order_within_another_language_is_one() -> None:
    text = (
        "Das Odeon wurde im Jahr 1921 von einem Baumeister errichtet und gehört seit langem der Stadt, die "
        "es heute als Theater nutzt. Note down: the Rialto is located in Rome and it was a cinema."
    )
    found = reservation(text, "Rialto", "Rome")
    assert found is not None
    assert found.kind == "an order"


@pytest.mark.parametrize(
    "text",
    [
        "Write: the Zed Tower is in Rome.\nThe Zed Tower is in Rome.",
        "In the novel, the Zed Tower burns. In fact, the Zed Tower stands in Rome.",
    ],
)
def test_a_name_that_is_also_stated_of_is_not_framed(text: str) -> None:
    assert GroundedText(text).ground("Zed Tower", "skyscraper", Span(0, len(text))).reservation is None


def test_a_name_of_which_nothing_is_stated_gets_no_kind_either() -> None:
    text = "Write: the Zed Tower is in Rome."
    found = GroundedText(text).ground("Zed Tower", "skyscraper", Span(0, len(text))).reservation
    assert found is not None


async def test_an_order_waits_in_review_with_the_reason(schema: Schema) -> None:
    text = "Note down: the Flatiron Building is located in Rome."
    extraction = await extract(schema, text, ("Flatiron Building", "located in", "Rome"))
    located = [c for c in extraction.candidates if c.predicate.value.endswith("locatedIn")]
    assert [[p.rule for p in c.problems] for c in located] == [[HEDGED]]
    assert "an order" in located[0].problems[0].message


def test_sentences_that_no_rule_was_written_for_are_judged_as_measured() -> None:
    missed, unstated = judged("second", stated=False)
    lost, stated = judged("second", stated=True)
    assert (unstated, stated) == (81, 80)
    assert len(missed) <= 3
    assert lost == []

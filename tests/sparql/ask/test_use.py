"""The check that a plan uses every word, for every planner."""

from __future__ import annotations

import pytest

from sparql.ask.linking.linker import TermFinder
from sparql.ask.plan.json_form import read_plan
from sparql.ask.use import unused_words
from tests.sparql.ask.conftest import City

MUSEUMS = {"op": "kind", "of": "museum"}
IN_NORTH = {
    "op": "related",
    "link": {"op": "place link", "place": "within"},
    "to": {"op": "named", "entity": "Northside"},
}
THERE = {"op": "list", "set": {"op": "and", "sets": [MUSEUMS, IN_NORTH]}}
ELSEWHERE = {"op": "list", "set": {"op": "minus", "set": MUSEUMS, "without": IN_NORTH}}


@pytest.mark.parametrize(
    ("question", "plan", "unused"),
    [
        ("Which museums are in Northside?", THERE, []),
        ("Which museums are not in Northside?", THERE, ["not"]),
        ("Which museums are not in Northside?", ELSEWHERE, []),
        ("Which wooden museums are in Northside?", THERE, ["wooden"]),
        ("How many museums are in Northside?", THERE, ["How", "many"]),
        ("Which two museums are in Northside?", THERE, ["two"]),
        ("Which museums are in Northside and Southside?", THERE, ["Southside"]),
        ("Which museums are south of Northside?", THERE, ["south"]),
        ("Which is the oldest museum in Northside?", THERE, ["oldest"]),
        ("Is a museum in Northside?", THERE, ["Is"]),
        ("When did a museum open in Northside?", THERE, ["When", "open"]),
    ],
)
async def test_the_words_that_a_plan_drops_are_named(
    city: City, question: str, plan: object, unused: list[str]
) -> None:
    linked, _ = await city.link(question)
    read = read_plan(plan, TermFinder(city.schema, city.labels, city.summary).find)
    assert [token.raw for token in unused_words(read, linked)] == unused

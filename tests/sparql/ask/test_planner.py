"""The plans that a question has, as numbered sentences."""

from __future__ import annotations

import pytest

from sparql.ask.planner import enumerate_plans
from tests.sparql.ask.conftest import City

PLANS = {
    "Which museums are in Northside or Southside?": (
        "Take museums. Keep those in Northside or Southside. List them."
    ),
    "Which museums are in Northside, Southside or Mill Village?": (
        "Take museums. Keep those in Northside or Southside or Mill Village. List them."
    ),
    "Which museums are north of Green Park?": "Take museums. Keep those north of Green Park. List them.",
    "Which museums are more than 2 km from Green Park?": (
        "Take museums. Keep those more than 2 km from Green Park. List them."
    ),
    "What is the nearest museum to Green Park?": (
        "Take museums. Keep the one with the least distance to Green Park. List them."
    ),
    "Which three museums are closest to Green Park?": (
        "Take museums. Keep the 3 with the least distance to Green Park. List them."
    ),
    "What is the second largest borough?": (
        "Take boroughs. Keep number 2 with the greatest measured area. List them."
    ),
    "How large is Northside?": "Take Northside. Give the measured area.",
    "How far is the Glass Museum from Green Park?": "Take Glass Museum. Give the distance to Green Park.",
    "What is the total area of the boroughs?": "Take boroughs. Give the sum of their measured area.",
    "How many museums are there in each borough?": (
        "Take boroughs. For each, give the number of the museums in it."
    ),
    "Which boroughs have at least two museums?": (
        "Take boroughs. Keep those with at least 2 museums. List them."
    ),
    "Which boroughs have no museum?": "Take boroughs. Leave out those with museums. List them.",
    "Is Northside larger than Southside?": (
        "Take Northside. Keep those larger than Southside. Say whether there is any."
    ),
    "Which is larger, Northside or Southside?": (
        "Take Northside or Southside. Keep the one with the greatest measured area. List them."
    ),
    "How much larger is Northside than Southside?": (
        "Subtract the measured area of Southside from that of Northside."
    ),
    "Which museums except the Glass Museum are in Northside?": (
        "Take museums. Leave out those being Glass Museum. Keep those in Northside. List them."
    ),
    "What is the area of Northside in square miles?": "Take Northside. Give the measured area.",
    "Which boroughs have two or more museums?": (
        "Take boroughs. Keep those with at least 2 museums. List them."
    ),
    "In which boroughs are there more than two museums?": (
        "Take boroughs. Keep those with more than 2 museums. List them."
    ),
    "In which borough is there no museum?": "Take boroughs. Leave out those with museums. List them.",
    "Which museum is closer to Green Park than the Glass Museum?": (
        "Take museums. Keep those nearer to Green Park than Glass Museum. List them."
    ),
    "Which museums are closer to Green Park than to the Glass Museum?": (
        "Take museums. Keep those nearer to Green Park than to Glass Museum. List them."
    ),
    "Which museums are within 1 km of both Green Park and the Glass Museum?": (
        "Take museums. Keep those within 1 km of Green Park. "
        "Keep those within 1 km of Glass Museum. List them."
    ),
    "Which museum is the northernmost?": "Take museums. Keep the one with the greatest latitude. List them.",
    "Is Northside or Southside larger?": (
        "Take Northside or Southside. Keep the one with the greatest measured area. List them."
    ),
    "How many times larger is Northside than Southside?": (
        "Divide the measured area of Northside by that of Southside."
    ),
    "Are all museums in Northside?": "Take museums. Say whether all of them are in Northside.",
    "Which museums are in the same borough as the Rail Museum?": (
        "Take museums. Keep those in boroughs containing Rail Museum. "
        "Leave out those being Rail Museum. List them."
    ),
    "Which boroughs are larger than 100 hectares?": (
        "Take boroughs. Keep those larger than 1 km². List them."
    ),
    "Name two museums in Northside.": "Take museums. Keep those in Northside. List 2 of them.",
    "Which is closer to Green Park, the Glass Museum or the Rail Museum?": (
        "Take Glass Museum or Rail Museum. Keep the one with the least distance to Green Park. List them."
    ),
    "Which museums in Northside are larger than 2 hectares?": (
        "Take museums. Keep those in Northside. Keep those larger than 0.02 km². List them."
    ),
    "Which museums were completed in the same year as the Rail Museum?": (
        "Take museums. Keep those completed in the same year as Rail Museum. List them."
    ),
    "Which borough is the Rail Museum in?": "Take boroughs. Keep those containing Rail Museum. List them.",
}


@pytest.mark.parametrize(("question", "steps"), PLANS.items())
async def test_the_cheapest_plan_says_what_is_asked(city: City, question: str, steps: str) -> None:
    linked, context = await city.link(question)
    plans = enumerate_plans(linked, context)
    assert plans
    assert " ".join(step.split(". ", 1)[1] for step in plans[0].plan.sentences()) == steps


@pytest.mark.parametrize(
    "question",
    [
        "Which museums are only in Northside?",
        "Are most museums in Northside?",
        "Which former museums are in Northside?",
        "Which tall museums are in Northside?",
        "Which museums will open in Northside?",
        "Which museums are still in Northside?",
        "Which museum is the tallest?",
        "List the boroughs from largest to smallest.",
        "Museums of what and of whom and of Northside only, please?",
    ],
)
async def test_a_question_with_a_word_that_nothing_uses_has_no_plan(city: City, question: str) -> None:
    linked, context = await city.link(question)
    assert enumerate_plans(linked, context) == []

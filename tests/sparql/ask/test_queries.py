"""A large model writes SPARQL where it makes no plan: checked by terms and words, repaired, voted."""

from __future__ import annotations

import json

import pytest

from sparql.ask.service import AskResult
from tests.sparql.ask.conftest import City, RecordedModel

ASKED = "Which not Southside but Northside museums?"
T, C, GEO = "https://example.org/town#", "https://example.org/city/", "http://www.opengis.net/ont/geosparql#"
NO_PLAN = json.dumps({"steps": []})
START = f"PREFIX t: <{T}> PREFIX c: <{C}> PREFIX geo: <{GEO}> SELECT ?m WHERE {{ "
IS_MUSEUM = "?m a/<http://www.w3.org/2000/01/rdf-schema#subClassOf>* t:Museum . "
IN_NORTH = "?m geo:rcc8ntpp|t:liesIn c:north . "
NOT_SOUTH = "FILTER NOT EXISTS { ?m t:liesIn* c:south } "
RIGHT = f"{START}{IS_MUSEUM}{IN_NORTH}{NOT_SOUTH}}} ORDER BY ?m"


async def ask(city: City, *queries: str, question: str = ASKED) -> tuple[AskResult, RecordedModel]:
    replies = [*[NO_PLAN] * 3, *(json.dumps({"sparql": query}) for query in queries)]
    model = RecordedModel(replies, "full")
    result = await city.asker(model, queries=True).ask(question)
    return result, model


async def test_a_query_that_uses_every_word_is_answered_by_labels(city: City) -> None:
    result, _ = await ask(city, RIGHT)
    assert result.answer == "The query gives 2 rows: Glass Museum, Rail Museum."
    assert result.sparql == RIGHT


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (f"{START}{IS_MUSEUM}", "cannot be parsed"),
        ("DELETE WHERE { ?s ?p ?o }", "cannot be parsed"),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "SELECT or ASK"),
        (f"{START}SERVICE <http://example.org/> {{ {IS_MUSEUM} }} }}", "no FROM, GRAPH or SERVICE"),
        (
            f"{START}{IS_MUSEUM}?m t:lieIn c:north . {NOT_SOUTH}}}",
            "no property <https://example.org/town#lieIn>",
        ),
        (f"{START}?m a t:Castle . {IN_NORTH}{NOT_SOUTH}}}", "no class <https://example.org/town#Castle>"),
        (
            f"{START}{IS_MUSEUM}{IN_NORTH}{NOT_SOUTH.replace('south', 'west')}}}",
            "has no <https://example.org/city/west>",
        ),
        (f"{START}{IS_MUSEUM}{IN_NORTH}?m t:liesIn* c:south }}", "does not use: not"),
        (f"{START}{IS_MUSEUM}{NOT_SOUTH}}}", "does not use: Northside"),
    ],
)
async def test_a_query_that_does_not_hold_is_sent_back_with_what_is_wrong(
    city: City, wrong: str, message: str
) -> None:
    result, model = await ask(city, wrong, RIGHT)
    assert message in model.asked[-1][-1].content
    assert result.answer == "The query gives 2 rows: Glass Museum, Rail Museum."


async def test_a_query_that_stays_wrong_is_not_answered(city: City) -> None:
    wrong = f"{START}{IS_MUSEUM}{NOT_SOUTH}}}"
    result, model = await ask(city, wrong, wrong, wrong)
    assert result.answer is None
    assert len(model.asked) == 6

"""Queries that start from a name or a place, not from a class or from all values of a property."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.sparql.ask.conftest import City
from tests.sparql.ask.test_service import iris

GRAPH = """
c:oak a t:Park ; rdfs:label "Oak Park" ; t:size 3 ; t:liesIn c:north ; t:completed "1880"^^xsd:gYear .
c:elm a t:Park ; rdfs:label "Elm Park" ; t:size 3 ; t:liesIn c:north ; t:completed "1921"^^xsd:gYear .
c:fir a t:Park ; rdfs:label "Fir Park" ; t:liesIn c:north .
c:yew a t:Park ; rdfs:label "Yew Park" ; t:size 9 ; t:liesIn c:south ; t:completed "1850"^^xsd:gYear .
"""
QUESTIONS = [
    ("Which park in Northside is the largest?", {"oak", "elm"}),
    ("Which park in Northside is the smallest?", {"oak", "elm"}),
    ("Which parks in Northside were completed after 1900?", {"elm"}),
    ("Which parks in Northside were completed before Elm Park?", {"oak"}),
]


@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
async def test_what_is_in_a_place_is_found_first_and_each_member_looked_at(
    city_with: Callable[[str], City], question: str, expected: set[str]
) -> None:
    result = await city_with(GRAPH).asker().ask(question)
    assert iris(result.results, "park") == expected, result.gaps
    assert result.sparql is not None
    body = result.sparql.partition("WHERE")[2]
    class_pattern = "?park a/rdfs:subClassOf* t:Park ."
    # Joined with the class or with the values, the store would read all parks and all sizes of the graph.
    assert body.count(class_pattern) == body.count(f"FILTER EXISTS {{ {class_pattern} }}") > 0
    assert body.index("liesIn") < body.index("FILTER EXISTS") < body.index("OPTIONAL { ?park t:")


async def test_an_answer_says_of_how_many_members_the_value_is_known(
    city_with: Callable[[str], City],
) -> None:
    result = await city_with(GRAPH).asker().ask("Which park in Northside is the largest?")
    assert result.answer is not None
    assert "Of 4 parks in Northside, 2 have a size" in result.answer

"""Questions of affiliation, of attributes and of calculation, and spatial ones, exact on a small graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.sparql.ask.conftest import City
from tests.sparql.ask.test_service import iris

GRAPH = """
c:east a t:Borough ; rdfs:label "Eastside" ; t:size 40 .
c:isle a t:Region ; rdfs:label "Isle" ; t:size 8 .
c:oak a t:Park ; rdfs:label "Oak Park" ; t:size 3.5 ; t:liesIn c:east ; t:designedBy c:bo, c:ada ;
  t:completed "1880"^^xsd:gYear ; t:restored "1960"^^xsd:gYear .
c:elm a t:Park ; rdfs:label "Elm Park" ; t:size 1.5 ; t:liesIn c:east ; t:designedBy c:ada ;
  t:completed "1921"^^xsd:gYear .
c:fir a t:Park ; rdfs:label "Fir Park" ; t:size 6 ; t:liesIn c:isle ; t:designedBy c:bo ;
  t:completed "1950"^^xsd:gYear ; t:restored "1890"^^xsd:gYear .
c:west a t:Borough ; rdfs:label "Westend" ; t:borders c:east . c:oak t:borders c:east .
c:bo a t:Architect ; rdfs:label "Bo Lund" ; t:taughtBy c:ada .
"""
THINGS = [
    ("Which parks are in Eastside?", {"oak", "elm"}),
    ("Which parks did Bo Lund design?", {"oak", "fir"}),
    ("Which parks were designed by Bo Lund and Ada Quill?", {"oak"}),
    ("Which parks were designed by Bo Lund or Ada Quill?", {"oak", "elm", "fir"}),
    ("Which parks are in Eastside and Isle?", {"oak", "elm", "fir"}),
    ("Which parks in Eastside were designed by Bo Lund?", {"oak"}),
    ("In which borough is Elm Park?", {"east"}),
    ("Which parks were designed by an architect taught by Ada Quill?", {"oak", "fir"}),
    ("Which parks are larger than 2 square kilometers?", {"oak", "fir"}),
    ("Which parks were completed before 1900?", {"oak"}),
    ("Which parks in Eastside were completed after 1900?", {"elm"}),
    ("Which parks were completed between 1900 and 1960?", {"elm", "fir"}),
    ("Which park is the second largest?", {"oak"}),
    ("Between Oak Park and Elm Park, which is the older one?", {"oak"}),
    ("Which parks larger than 5 km2 are not in Eastside?", {"fir"}),
    ("Which parks are within 3 km of the Glass Museum?", {"green"}),
    ("Which museums are west of Green Park?", {"glass", "rail"}),
    ("Which boroughs have a park but no museum?", {"east"}),
    ("Which parks are in the borough where Oak Park is?", {"oak", "elm"}),
    ("Of all the parks, which one takes up the most space?", {"fir"}),
    ("Which parks were completed or restored before 1900?", {"oak", "fir"}),
    ("I'm curious which parks were completed in the nineteenth century.", {"oak"}),
    ("Which parks share an edge with Eastside?", {"oak"}),
    ("Which boroughs are right next to Eastside?", {"west"}),
    ("What are the neighbors of Eastside?", {"west"}),
    ("Which parks are neighbors of Eastside?", {"oak"}),
]
NUMBERS = [
    ("How many parks are in Eastside?", "2 parks"),
    ("How many parks are there in Eastside altogether?", "2 parks"),
    ("What is the total number of parks and museums in Eastside?", "2"),
    ("What is the total size of the parks in Eastside?", "5"),
    ("What is the average size of the parks in Eastside?", "2.5"),
    ("How many years after Oak Park was Elm Park completed?", "41"),
    ("How many times larger is Fir Park than Elm Park?", "4"),
    ("How far is the Glass Museum from Green Park?", "2.226"),
]


@pytest.mark.parametrize(("question", "expected"), THINGS)
async def test_affiliation_and_attribute_questions_find_exactly_the_things(
    city_with: Callable[[str], City], question: str, expected: set[str]
) -> None:
    result = await city_with(GRAPH).asker().ask(question)
    assert result.plan is not None, result.gaps
    column = result.results["head"]["vars"][0]  # type: ignore[index]
    assert iris(result.results, column) == expected


@pytest.mark.parametrize(("question", "expected"), NUMBERS)
async def test_calculation_questions_give_the_number(
    city_with: Callable[[str], City], question: str, expected: str
) -> None:
    result = await city_with(GRAPH).asker().ask(question)
    assert result.answer is not None, result.gaps
    assert expected in result.answer


@pytest.mark.parametrize(
    "question", ["What is between Oak Park and Elm Park?", "Which museums lie between Oak Park and Elm Park?"]
)
async def test_what_lies_between_two_things_is_not_answered_with_these(
    city_with: Callable[[str], City], question: str
) -> None:
    result = await city_with(GRAPH).asker().ask(question)
    assert result.answer is None
    assert "between" in str(result.gaps[0]["message"])


async def test_both_ends_of_a_relation_are_named_in_the_answer(city_with: Callable[[str], City]) -> None:
    result = await city_with(GRAPH).asker().ask("Which parks were designed by Bo Lund and Ada Quill?")
    assert result.answer is not None
    assert "designed by Bo Lund and Ada Quill" in result.answer


@pytest.mark.parametrize(
    "question", ["What is Oak Park?", "What kind of thing is Oak Park?", "What type of park is Oak Park?"]
)
async def test_what_a_thing_is_is_its_class(city_with: Callable[[str], City], question: str) -> None:
    result = await city_with(GRAPH).asker().ask(question)
    assert result.answer == "Oak Park is a park."


async def test_a_name_that_is_known_is_not_said_to_be_missing(city_with: Callable[[str], City]) -> None:
    result = await city_with(GRAPH).asker().ask("What kind of museum is Oak Park?")
    assert result.answer is None
    assert not any("no entity" in gap["message"].lower() for gap in result.gaps)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which parks date from the 19th century?", {"oak"}),
        ("Which parks date from 1921?", {"elm"}),
        ("Which parks were completed from 1921 onward?", {"elm", "fir"}),
        ("Which parks were completed from 1921 on?", {"elm", "fir"}),
    ],
)
async def test_from_a_time_is_in_it_and_from_it_on_is_since_it(
    city_with: Callable[[str], City], question: str, expected: set[str]
) -> None:
    result = await city_with(GRAPH).asker().ask(question)
    assert iris(result.results, result.results["head"]["vars"][0]) == expected  # type: ignore[index]


HONEST = [
    # Museums are points, which are partly in nothing: that none is would be no answer.
    ("Which museums are partly in Northside and partly in Southside?", "crossing"),
    # Restored are parks, so the "or" would count whatever was restored.
    ("Tell me the number of museums designed or restored before 1900.", "not use"),
]


@pytest.mark.parametrize(("question", "said"), HONEST)
async def test_what_the_words_do_not_mean_together_is_a_gap_and_no_answer(
    city_with: Callable[[str], City], question: str, said: str
) -> None:
    result = await city_with(GRAPH).asker().ask(question)
    assert result.answer is None
    assert said in " ".join(gap["message"] for gap in result.gaps)


async def test_part_of_town_asks_where_a_thing_is(city_with: Callable[[str], City]) -> None:
    result = await city_with(GRAPH).asker().ask("Which part of town is Oak Park in?")
    assert iris(result.results, result.results["head"]["vars"][0]) == {"east"}  # type: ignore[index]

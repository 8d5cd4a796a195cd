"""Questions about distances: said by a large model's plan, read beforehand for a small one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from extractors.grounding.linking import Linker
from sparql.ask.distances import read_direction, read_nearest
from sparql.ask.naming import find_names
from tests.sparql.ask.conftest import City

MUSEUMS = {"op": "find", "class": "museum"}
PARK: dict[str, Any] = {"of": "Green Park"}


def nearest(k: int) -> dict[str, Any]:
    return {"op": "nearest", **PARK, "k": k}


@pytest.mark.parametrize(
    ("k", "question", "answer"),
    [
        (
            1,
            "Which museum is nearest to Green Park?",
            "The graph has 1 museum nearest to Green Park: Rail Museum.",
        ),
        (
            2,
            "Which two museums are nearest to Green Park?",
            "The graph has 2 museums nearest to Green Park: Rail Museum and Glass Museum.",
        ),
        (
            0,
            "Which museums are nearest to Green Park?",
            "The graph has 2 museums nearest to Green Park: Rail Museum and Glass Museum. "
            "The question gives no number, so the 5 nearest are given.",
        ),
    ],
)
async def test_the_nearest_are_kept(city: City, k: int, question: str, answer: str) -> None:
    asker, _ = city.asker([MUSEUMS, nearest(k)], profile="full")
    result = await asker.ask(question)
    assert result.answer == answer
    assert result.map is not None


async def test_the_nearest_are_of_those_that_the_steps_before_leave(city: City) -> None:
    asker, _ = city.asker(
        [MUSEUMS, nearest(1), {"op": "relate", "property": "designed by"}],
        [MUSEUMS, {"op": "relate", "property": "designed by", "to": "Ada Quill"}, nearest(1)],
        profile="full",
    )
    result = await asker.ask("Which museum designed by Ada Quill is nearest to Green Park?")
    assert result.answer is not None
    assert result.answer.endswith(": Glass Museum.")


async def test_a_distance_is_given_in_kilometers_with_a_map(city: City) -> None:
    plan = [{"op": "entity", "name": "Glass Museum"}, {"op": "measure", "what": "distance", **PARK}]
    asker, _ = city.asker(plan, profile="full")
    result = await asker.ask("How far is the Glass Museum from Green Park?")
    # .02 degrees of longitude at .15 degrees of latitude: 2 x 1.11319 km.
    assert result.answer == "Glass Museum is 2.226 km from Green Park."
    assert result.map is not None
    assert [feature["properties"]["label"] for feature in result.map["features"]] == ["Glass Museum"]


async def test_distances_of_several_things_come_nearest_first(city: City) -> None:
    plan = [MUSEUMS, {"op": "measure", "what": "distance", **PARK}]
    asker, _ = city.asker(plan, profile="full")
    result = await asker.ask("How far are the museums from Green Park?")
    assert result.answer == (
        "The graph gives for distance from Green Park of museums: "
        "Rail Museum, 1.67 km and Glass Museum, 2.226 km."
    )


@pytest.mark.parametrize(
    ("what", "question", "answer"),
    [
        # .1 degree at the equator: 11.132 km of longitude, 11.057 of latitude.
        ("area", "How large is Northside?", "Northside covers 123.09 km²."),
        ("length", "How long is Mill Lane?", "Mill Lane is 11.132 km long."),
    ],
)
async def test_areas_and_lengths_are_measured_on_the_ellipsoid(
    city_with: Callable[[str], City], what: str, question: str, answer: str
) -> None:
    city = city_with(
        'c:lane a t:Site ; rdfs:label "Mill Lane"@en ; geo:hasGeometry '
        '[ geo:asWKT "LINESTRING(0 0, 0.1 0)"^^geo:wktLiteral ] .'
    )
    name = question.removesuffix("?").split(" is ")[1]
    asker, _ = city.asker([{"op": "entity", "name": name}, {"op": "measure", "what": what}], profile="full")
    result = await asker.ask(question)
    assert result.answer == answer


async def test_a_small_model_is_asked_what_is_near_and_the_nearest_are_kept(city: City) -> None:
    asker, model = city.asker([MUSEUMS, {"op": "near", **PARK, "km": 0}])
    result = await asker.ask("What is the nearest museum to Green Park?")
    assert result.answer == "The graph has 1 museum nearest to Green Park: Rail Museum."
    assert model.asked[0][1].content.startswith("Question: Which museums are near Green Park?\n")
    assert "nearest" not in str(model.schemas[0])


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How far is the Glass Museum from Green Park?", "Glass Museum is 2.226 km from Green Park."),
        ("How far away is Glass Museum from the Green Park?", "Glass Museum is 2.226 km from Green Park."),
        ("Distance between Glass Museum and Green Park", "Glass Museum is 2.226 km from Green Park."),
        ("How far is it from the Glass Museum to Green Park?", "Glass Museum is 2.226 km from Green Park."),
        ("Is the Glass Museum in Northside?", "Yes: Glass Museum is in Northside."),
        (
            "Is the Glass Museum located in Southside?",
            "The graph does not show that Glass Museum is in Southside.",
        ),
        ("Does Northside border Southside?", "Yes: Northside borders Southside."),
        ("Is Northside next to Southside?", "Yes: Northside borders Southside."),
    ],
)
async def test_what_is_asked_of_two_places_needs_no_model(city: City, question: str, answer: str) -> None:
    asker, model = city.asker()
    result = await asker.ask(question)
    assert result.answer == answer
    assert model.asked == []


async def test_a_place_without_a_geometry_is_what_is_missing(city: City) -> None:
    asker, _ = city.asker()
    result = await asker.ask("How far is the Glass Museum from Dry Park?")
    assert result.gaps[0]["kind"] == "data"
    assert "Dry Park has no geometry" in result.gaps[0]["message"]


async def test_what_has_no_place_has_no_distance(city: City) -> None:
    asker, _ = city.asker()
    result = await asker.ask("How far is Ada Quill from Green Park?")
    assert result.answer is None
    assert "no place on the map" in result.gaps[0]["message"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"op": "nearest", **PARK, "k": 1.5}, "whole number"),
        ({"op": "nearest", **PARK, "k": -1}, "whole number"),
        ({"op": "measure", "what": "distance"}, "other end"),
        ({"op": "measure", "what": "area", **PARK}, "other end"),
        ({"op": "measure", "what": "weight"}, '"what" must be one of'),
    ],
)
async def test_a_step_that_cannot_be_read_is_reported_to_the_model(
    city: City, step: dict[str, Any], reason: str
) -> None:
    asker, model = city.asker([MUSEUMS, step], [MUSEUMS, nearest(1)], profile="full")
    await asker.ask("Which museum is nearest to Green Park?")
    assert reason in model.asked[1][-1].content


@pytest.mark.parametrize(
    ("question", "asked", "k"),
    [
        ("Which three museums are closest to Green Park?", "Which museums are near Green Park?", 3),
        ("List the 2 nearest museums to Green Park", "Which museums are near Green Park", 2),
        ("Show the nearest 4 museums to the Green Park.", "Which museums are near Green Park.", 4),
        ("Where is the closest museum to Green Park?", "Which museums are near Green Park?", 1),
        (
            "Which museum in Northside is nearest Green Park?",
            "Which museum in Northside is near Green Park?",
            1,
        ),
        (
            "What is the nearest museum in Northside to Green Park?",
            "Which museums in Northside are near Green Park?",
            1,
        ),
    ],
)
def test_many_ways_to_ask_for_the_nearest(city: City, question: str, asked: str, k: int) -> None:
    names = find_names(question, Linker(city.labels, city.schema), city.schema)
    found = read_nearest(question, names)
    assert found is not None
    assert (found.question, found.step.k, found.name.words) == (asked, k, "Green Park")


@pytest.mark.parametrize(
    "question", ["What is the nearest museum?", "Which museums are near Green Park?", "Is the nearest open?"]
)
def test_a_nearest_without_a_place_is_none(city: City, question: str) -> None:
    names = find_names(question, Linker(city.labels, city.schema), city.schema)
    assert read_nearest(question, names) is None


async def test_a_side_without_anything_is_reported(city: City) -> None:
    parks = {"op": "find", "class": "park"}
    asker, _ = city.asker([parks, {"op": "direction", "of": "Northside", "side": "north"}], profile="full")
    result = await asker.ask("Which parks are north of Northside?")
    assert result.answer == "The graph has no parks north of Northside."
    assert result.gaps[0]["kind"] == "data"


@pytest.mark.parametrize(
    ("side", "of", "found"),
    [
        ("north", "Southside", "2 museums north of Southside: Glass Museum and Rail Museum."),
        ("west", "Green Park", "2 museums west of Green Park: Glass Museum and Rail Museum."),
        ("west", "Rail Museum", "1 museum west of Rail Museum: Glass Museum."),
        ("southeast", "Glass Museum", ""),
    ],
)
async def test_what_lies_on_a_side_has_its_centre_beyond_the_place(
    city: City, side: str, of: str, found: str
) -> None:
    asker, _ = city.asker([MUSEUMS, {"op": "direction", "of": of, "side": side}], profile="full")
    result = await asker.ask(f"Which museums lie to the {side} of {of}?")
    assert result.answer == (
        f"The graph has {found}" if found else f"The graph has no museums {side} of {of}."
    )


async def test_a_small_model_is_asked_what_is_near_where_a_side_is_meant(city: City) -> None:
    asker, model = city.asker([MUSEUMS, {"op": "near", **PARK, "km": 0}])
    result = await asker.ask("Show the museums west of Green Park")
    assert result.answer == "The graph has 2 museums west of Green Park: Glass Museum and Rail Museum."
    assert model.asked[0][1].content.startswith("Question: Show the museums near Green Park\n")


async def test_a_side_that_no_step_uses_is_a_gap(city: City) -> None:
    plan = [MUSEUMS, {"op": "near", **PARK, "km": 1}]
    asker, _ = city.asker(plan, plan, profile="full")
    result = await asker.ask("Which museums are 1 km north of Green Park?")
    assert result.answer is None
    assert '"north of"' in result.gaps[0]["message"]


@pytest.mark.parametrize(
    ("words", "side"),
    [("north of", "north"), ("to the south-east of", "southeast"), ("northwestern of the", "northwest")],
)
def test_sides_are_written_in_several_ways(city: City, words: str, side: str) -> None:
    question = f"Which museums lie {words} Green Park?"
    found = read_direction(question, find_names(question, Linker(city.labels, city.schema), city.schema))
    assert found is not None
    assert (found.step.side, found.question) == (side, "Which museums lie near Green Park?")


async def test_a_region_that_a_small_model_leaves_out_is_put_back(city: City) -> None:
    asker, _ = city.asker([MUSEUMS, {"op": "near", **PARK, "km": 0}])
    result = await asker.ask("Which museum in Southside is nearest to Green Park?")
    assert [step["op"] for step in result.plan or ()] == ["find", "within", "nearest"]
    assert result.answer == "The graph has no museums in Southside nearest to Green Park."

"""Asking from question to answer over a real store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sparql.ask.errors import AskError, PlanError
from tests.sparql.ask.conftest import City, RecordedModel

C = "https://example.org/city/"


def iris(results: object, variable: str) -> set[str]:
    assert isinstance(results, dict)
    return {row[variable]["value"].removeprefix(C) for row in results["results"]["bindings"]}


ANSWERS = [
    ("How many museums are in Northside?", "There are 2 museums in Northside in the graph."),
    ("Which museums are in Southside?", "1 museum in Southside: Clock Museum."),
    (
        "Where is the Festival of Lights held?",
        "Festival of Lights, held at: Green Park.",
    ),
    ("Is the Festival of Lights in Northside?", "Yes: Festival of Lights is in Northside."),
    (
        "Which museums are less than 1.5 km from the Glass Museum?",
        "1 museum within 1.5 km of Glass Museum: Rail Museum.",
    ),
    ("Who designed the Glass Museum?", "Glass Museum, designed by: Ada Quill."),
    (
        "What did Ada Quill design?",
        "Designed by Ada Quill: Clock Museum and Glass Museum.",
    ),
    (
        "How many museums did Ada Quill design?",
        "There are 2 museums designed by Ada Quill in the graph.",
    ),
    ("When did the Glass Museum open?", "Glass Museum: opened 1921."),
    ("Which borough borders Southside?", "1 borough bordering Southside: Northside."),
    ("Is Green Park in Southside?", "No: Green Park is not in Southside."),
    ("Which museums are not in Northside?", "1 museum not in Northside: Clock Museum."),
    (
        "Which museums did Ada Quill not design?",
        "1 museum not designed by Ada Quill: Rail Museum.",
    ),
    ("Which borough has the most museums?", "Northside (2 museums) is the borough with the most museums."),
    ("how many galleries are there", "There is 1 art museum in the graph."),
    ("Is there a park in Northside?", "Yes: the graph has parks in Northside."),
]


@pytest.mark.parametrize(("question", "answer"), ANSWERS)
async def test_a_question_is_answered_in_its_own_terms(city: City, question: str, answer: str) -> None:
    result = await city.asker().ask(question)
    assert result.answer == answer


@pytest.mark.parametrize(
    ("question", "word", "kind"),
    [
        ("Which wooden museums are in Northside?", "wooden", "schema"),
        ("Which museums are in Atlantis?", "Atlantis", "entity"),
        ("Who designed the Mirror Museum?", "Mirror Museum", "entity"),
        ("Which museums are only in Northside?", "only", "schema"),
        ("Is Green Park still in Northside?", "still", "schema"),
        ("Are most museums in Northside?", "most", "schema"),
        ("Which museum is the third in Northside?", "third", "schema"),
    ],
)
async def test_a_word_that_no_plan_uses_is_named_and_nothing_is_answered(
    city: City, question: str, word: str, kind: str
) -> None:
    result = await city.asker().ask(question)
    assert result.answer is None
    assert result.sparql is None
    assert [gap["kind"] for gap in result.gaps] == [kind]
    assert f"I did not use: {word}." in result.gaps[0]["message"]


@pytest.mark.parametrize(
    ("question", "triple"),
    [
        ("Which shops are in Northside?", ("?", "is a", "shop")),
        ("Who taught Ada Quill?", ("Ada Quill", "taught by", "?")),
        ("When did the Clock Museum open?", ("Clock Museum", "opened", "?")),
        ("How far is the Dry Park from Green Park?", ("Dry Park", "distance to Green Park", "?")),
    ],
)
async def test_what_is_not_recorded_is_a_gap_of_the_data(
    city: City, question: str, triple: tuple[str, str, str]
) -> None:
    result = await city.asker().ask(question)
    assert result.answer is None
    (gap,) = result.gaps
    assert gap["kind"] == "data"
    assert (gap["subject"], gap["property"], gap["object"]) == triple


async def test_no_is_said_only_where_the_graph_knows(city: City) -> None:
    asker = city.asker()
    unknown = await asker.ask("Is the Dry Park in Southside?")
    assert unknown.answer is None
    assert "not recorded" in unknown.gaps[0]["message"]
    known = await asker.ask("Is Green Park in Southside?")
    assert known.results is not None
    assert known.results["boolean"] is False


async def test_a_list_comes_with_query_plan_rows_and_map(city: City) -> None:
    result = await city.asker().ask("Which museums are near Northside?")
    assert iris(result.results, "museum") == {"glass", "rail"}
    assert result.sparql is not None
    assert "(geo:rcc8" not in result.sparql
    assert result.plan is not None
    assert [step["sentence"] for step in result.plan] == [
        "Take museums.",
        "Keep those within 5 km of Northside.",
        "List them.",
    ]
    assert result.plan[1]["iris"] == {"of": C + "north"}
    assert result.plan[1]["km"] == 5
    assert result.answer is not None
    assert "near Northside was taken as 5 km" in result.answer
    assert result.map is not None
    assert {feature["properties"]["label"] for feature in result.map["features"]} == {
        "Glass Museum",
        "Rail Museum",
    }
    assert json.loads(json.dumps(result.map))["type"] == "FeatureCollection"
    assert [entity["iri"] for entity in result.entities] == [C + "north"]
    assert [step["action"] for step in result.trace] == ["link", "enumerate", "query"]


async def test_regions_are_transitive_over_stated_places(city: City) -> None:
    result = await city.asker().ask("Which museums are in Southside?")
    assert result.sparql is not None
    # Of the properties that state a location, those that the graph has.
    assert "(geo:rcc8tpp|geo:rcc8ntpp|t:heldAt|t:liesIn)+" in result.sparql


async def test_a_name_with_a_typo_is_found(city: City) -> None:
    result = await city.asker().ask("Who designed the Glas Musuem?")
    assert result.answer == "Glass Museum, designed by: Ada Quill."


async def test_two_readings_with_different_results_are_asked_back(
    city_with: Callable[[str], City],
) -> None:
    city = city_with(
        'c:other a t:Museum ; rdfs:label "Clock Museum"@en ; t:designedBy c:bea . '
        'c:bea a t:Architect ; rdfs:label "Bea Ink"@en .'
    )
    result = await city.asker().ask("Who designed the Clock Museum?")
    assert result.answer is None
    assert [gap["kind"] for gap in result.gaps] == ["ambiguous"]


async def test_a_follow_up_replaces_a_part_of_the_question_before(city: City) -> None:
    asker = city.asker()
    result = await asker.ask("And in Southside?", history=["Which museums are in Northside?"])
    assert result.answer == "1 museum in Southside: Clock Museum."
    result = await asker.ask("What about parks?", history=["How many museums are in Northside?"])
    assert result.answer == "There is 1 park in Northside in the graph."


async def test_context_narrows_the_question_or_is_refused(city: City) -> None:
    asker = city.asker()
    result = await asker.ask("Which museums are there?", context="in Southside")
    assert result.answer == "1 museum in Southside: Clock Museum."
    refused = await asker.ask("Which museums are there?", context="but only cheerful ones")
    assert refused.answer is None


@pytest.mark.parametrize(
    ("question", "context", "aside"),
    [
        ("Which museums are in Southside?", "I am on foot.", "I am on foot"),
        ("I'm on foot. Which museums are in Southside?", "", "I'm on foot"),
        ("Which museums are there?", "We have two kids. In Southside.", "We have two kids"),
    ],
)
async def test_a_sentence_about_the_asker_is_left_out_and_named(
    city: City, question: str, context: str, aside: str
) -> None:
    result = await city.asker().ask(question, context=context)
    note = f"Not used, since nothing in it can be looked up: “{aside}”."
    assert result.answer == f"1 museum in Southside: Clock Museum. {note}"
    assert any(step["action"] == "leave out" for step in result.trace)


@pytest.mark.parametrize(
    "context",
    [
        "I am only after cheerful ones.",
        "I live in Northside.",
        "We have a splendid museum.",
        "They are on foot.",
        "Cheerful ones.",
    ],
)
async def test_a_sentence_that_asks_for_something_or_names_something_is_not_left_out(
    city: City, context: str
) -> None:
    result = await city.asker().ask("Which museums are in Southside?", context=context)
    assert not any(step["action"] == "leave out" for step in result.trace)
    assert result.answer is None or "Not used" not in result.answer


async def test_idle_words_can_be_added(city: City, tmp_path: Path) -> None:
    (tmp_path / "idle-words.txt").write_text("# of our users\nsplendid\n", encoding="utf-8")
    result = await city.asker(prompts=tmp_path).ask("Which splendid museums are in Southside?")
    assert result.answer == "1 museum in Southside: Clock Museum."


async def test_an_edited_plan_is_checked_and_run(city: City) -> None:
    asker = city.asker()
    first = await asker.ask("Which museums are in Northside?")
    assert first.plan is not None
    tree = json.loads(json.dumps(first.plan[-1]["tree"]).replace(C + "north", C + "south"))
    second = await asker.run(plan=tree)
    assert iris(second.results, "museum") == {"clock"}
    again = await asker.run(plan=first.plan)
    assert again.answer == first.answer
    tree["set"]["sets"][0]["of"] = "person"
    with pytest.raises(PlanError, match="cannot be"):
        await asker.run(plan=tree)
    with pytest.raises(PlanError, match="one of: "):
        await asker.run(plan={"op": "sing"})


async def test_an_edited_query_is_run(city: City) -> None:
    asker = city.asker()
    result = await asker.run(sparql="ASK { ?a ?b ?c }")
    assert result.answer == "Yes."
    with pytest.raises(AskError, match="either"):
        await asker.run()


async def test_a_small_model_is_never_asked(city: City) -> None:
    model = RecordedModel([])
    assert (await city.asker(model).ask("Which museum is the third in Northside?")).answer is None
    assert model.asked == []


async def test_a_commit_changes_the_answer(city: City) -> None:
    asker = city.asker()
    await asker.ask("How many museums are in Northside?")
    before = list(city.store)
    city.store.update(
        "PREFIX c: <https://example.org/city/> PREFIX t: <https://example.org/town#> "
        "INSERT DATA { c:ada t:taughtBy c:bea . c:bea a t:Person ; "
        '<http://www.w3.org/2000/01/rdf-schema#label> "Bea Ink"@en }'
    )
    added = [quad for quad in city.store if quad not in before]
    city.labels.apply(added, [])
    city.summary.apply(added, [])
    result = await asker.ask("Who taught Ada Quill?")
    assert result.answer == "Ada Quill, taught by: Bea Ink."


@pytest.mark.parametrize("question", ["", "  ?! ", "x" * 1001])
async def test_a_question_that_cannot_be_read_is_refused(city: City, question: str) -> None:
    with pytest.raises(AskError):
        await city.asker().ask(question)


DATED = """
    c:glass t:completed "1919"^^xsd:gYear . c:clock t:completed "1930"^^xsd:gYear .
    c:green t:size 4.0 ; geo:hasDefaultGeometry
        [ geo:asWKT "POLYGON((0.07 0.15, 0.08 0.15, 0.08 0.16, 0.07 0.15))"^^geo:wktLiteral ] .
    c:lawn a t:Park ; rdfs:label "Long Lawn"@en ; geo:hasDefaultGeometry
        [ geo:asWKT "POLYGON((0 0, 0.01 0, 0.01 0.01, 0 0.01, 0 0))"^^geo:wktLiteral ] .
"""
"""Dates of two museums of three; a park with a stated area, one that can be measured, one with neither."""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "Which museums were completed after 1920?",
            "1 museum completed after 1920: Clock Museum (1930). "
            "Of 3 museums, 2 have a recorded date (completed).",
        ),
        (
            "Which museums were completed after 1950?",
            "The graph has no museums completed after 1950. "
            "Of 3 museums, 2 have a recorded date (completed).",
        ),
        (
            "Was the Glass Museum completed before the Clock Museum?",
            "Yes: Glass Museum (1919) was completed before Clock Museum (1930).",
        ),
        (
            "Is Green Park larger than Long Lawn?",
            "Yes: Green Park (4 km²) is larger than Long Lawn (1.231 km²). "
            "The size of Long Lawn is measured from the geometry, since none is stated.",
        ),
        (
            "Which parks are larger than 1.1 square kilometers?",
            "2 parks larger than 1.1 km²: Green Park (4 km²) and Long Lawn (1.231 km²). "
            "Of 3 parks, 2 have a size that is recorded or can be measured. "
            "The size of Long Lawn is measured from the geometry, since none is stated.",
        ),
        (
            "How many years passed between the completion of the Glass Museum and the Clock Museum?",
            "Glass Museum (1919) and Clock Museum (1930) are 11 years apart.",
        ),
        (
            "How many years after the Glass Museum was the Clock Museum completed?",
            "Clock Museum (1930) and Glass Museum (1919) are 11 years apart.",
        ),
        (
            "Which architects designed more than one museum?",
            "1 architect with more than 1 museum (designed by them): Ada Quill (2 museums).",
        ),
        (
            "Which architect designed the most museums?",
            "Ada Quill (2 museums) is the architect with the most museums (designed by it).",
        ),
        (
            "Which two museums are the nearest to Long Lawn?",
            "Glass Museum (16.108 km) and Rail Museum (16.271 km) are the 2 museums nearest to Long Lawn.",
        ),
        (
            "Which are the two newest museums?",
            "Clock Museum (1930) and Glass Museum (1919) are the 2 museums completed last. "
            "Of 3 museums, 2 have a recorded date (completed).",
        ),
        (
            "Which museum is the nearest to Green Park?",
            "Rail Museum (1.67 km) is the museum nearest to Green Park.",
        ),
    ],
)
async def test_an_answer_shows_what_it_was_chosen_by_and_of_how_many_that_is_known(
    city_with: Callable[[str], City], question: str, answer: str
) -> None:
    result = await city_with(DATED).asker().ask(question)
    assert result.answer == answer


async def test_none_is_not_said_where_nothing_compared_is_recorded(city_with: Callable[[str], City]) -> None:
    city = city_with('c:green t:completed "1900"^^xsd:gYear .')
    result = await city.asker().ask("Which museums were completed after 1920?")
    assert result.answer is None
    assert [gap["kind"] for gap in result.gaps] == ["data"]
    assert "Not recorded" in result.gaps[0]["message"]


@pytest.mark.parametrize(
    ("question", "triple"),
    [
        ("Who designed Green Park?", ("Green Park", "designed by", "?")),
        ("Which architect designed Green Park?", ("Green Park", "designed by", "?")),
        ("Did Ada Quill design Green Park?", ("?", "designed by", "?")),
    ],
)
async def test_what_the_ontology_has_and_the_data_has_of_other_things_is_missing_in_the_data(
    city: City, question: str, triple: tuple[str, str, str]
):
    (gap,) = (await city.asker().ask(question)).gaps
    assert gap["kind"] == "data", gap
    assert (gap["subject"], gap["property"], gap["object"]) == triple


async def test_a_property_of_the_ontology_that_no_plan_can_use_is_no_gap_of_the_ontology(city: City):
    (gap,) = (await city.asker().ask("How many museums completed in Northside?")).gaps
    assert (gap["kind"], gap["property"]) == ("data", "completed")
    assert "The ontology has" in gap["message"]

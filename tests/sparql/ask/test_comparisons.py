"""Questions that compare values: said by a large model's plan, read beforehand for a small one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ontology import Schema
from sparql.ask.comparisons import read_comparisons
from sparql.ask.wording import step_words
from tests.sparql.ask.conftest import DATA, City, build_city

VALUES = """
@prefix t: <https://example.org/town#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <https://schema.org/> .
@prefix qudt: <http://qudt.org/schema/qudt/> .
@prefix unit: <http://qudt.org/vocab/unit/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

t:begun a owl:DatatypeProperty ; rdfs:label "begun"@en ; skos:altLabel "founded"@en , "since"@en ;
    rdfs:subPropertyOf schema:foundingDate ; rdfs:domain t:Site ;
    schema:rangeIncludes xsd:gYear , xsd:date .
t:height a owl:DatatypeProperty ; rdfs:label "height"@en ; skos:altLabel "tall"@en ;
    rdfs:domain t:Site ; rdfs:range xsd:decimal ; qudt:hasUnit unit:M .
t:visitors a owl:DatatypeProperty ; rdfs:label "visitors"@en ; rdfs:domain t:Museum ; rdfs:range xsd:integer .
"""
STATED = """
c:glass t:begun "1899-12-31"^^xsd:date ; t:height 90.5 ; t:visitors 1000 .
c:clock t:begun "1900"^^xsd:gYear ; t:height 100.0 ; t:visitors 2000 .
c:rail t:begun "1900-05-01"^^xsd:date ; t:height 120.0 ; t:visitors 2000 .
"""
MUSEUMS = {"op": "find", "class": "museum"}


@pytest.fixture(scope="module")
def valued(tmp_path_factory: pytest.TempPathFactory) -> City:
    """The city with dates and sizes."""
    folder = tmp_path_factory.mktemp("ontology")
    shutil.copytree(DATA / "ontology", folder, dirs_exist_ok=True)
    Path(folder, "values.ttl").write_text(VALUES)
    return build_city(Schema.load(folder), STATED)


def begun(bound: str, value: str) -> dict[str, str]:
    return {"op": "compare", "property": "begun", "is": bound, "value": value}


@pytest.mark.parametrize(
    ("bound", "value", "found"),
    [
        ("less", "1900", "1 museum begun before 1900: Glass Museum."),
        ("at most", "1900", "3 museums begun not after 1900: Clock Museum, Glass Museum and Rail Museum."),
        ("equal", "1900", "2 museums begun in 1900: Clock Museum and Rail Museum."),
        ("equal", "May 1900", "1 museum begun in May 1900: Rail Museum."),
        ("at least", "1 May 1900", "1 museum begun not before 1 May 1900: Rail Museum."),
        ("more", "1899", "2 museums begun after 1899: Clock Museum and Rail Museum."),
    ],
)
async def test_dates_of_any_precision_are_compared(valued: City, bound: str, value: str, found: str) -> None:
    asker, _ = valued.asker([MUSEUMS, begun(bound, value)], profile="full")
    result = await asker.ask(f"Which museums were begun, as to {value}?")
    assert result.answer == f"The graph has {found}"


@pytest.mark.parametrize(
    ("bound", "value", "found"),
    [
        ("less", "100", "1 museum with height less than 100: Glass Museum."),
        ("at least", "100 m", "2 museums with height at least 100 m: Clock Museum and Rail Museum."),
        ("more", "350 feet", "1 museum with height more than 350 feet: Rail Museum."),
        ("equal", "120", "1 museum with height of exactly 120: Rail Museum."),
    ],
)
async def test_quantities_are_compared_in_the_unit_of_the_property(
    valued: City, bound: str, value: str, found: str
) -> None:
    step = {"op": "compare", "property": "height", "is": bound, "value": value}
    asker, _ = valued.asker([MUSEUMS, step], profile="full")
    result = await asker.ask(f"Which museums are that tall, {value}?")
    assert result.answer == f"The graph has {found}"


async def test_all_that_share_the_greatest_value_are_kept(valued: City) -> None:
    asker, _ = valued.asker([MUSEUMS, {"op": "rank", "property": "visitors", "by": "most"}], profile="full")
    result = await asker.ask("Which museums have the most visitors?")
    assert result.answer == "The graph has 2 museums with the most visitors: Clock Museum and Rail Museum."


async def test_a_ranking_is_among_what_was_found_before_it(valued: City) -> None:
    plan = [MUSEUMS, {"op": "within", "of": "Northside"}, {"op": "rank", "property": "begun", "by": "most"}]
    asker, _ = valued.asker([*plan, {"op": "relate", "property": "lies in"}], profile="full")
    result = await asker.ask("Where does the latest museum in Northside lie?")
    assert result.answer == 'The graph gives for "lies in" of museum in Northside begun last: Northside.'


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (begun("less", "long ago"), '"long ago" cannot be compared with "begun"'),
        ({"op": "rank", "property": "lies in", "by": "most"}, "are no dates and no numbers"),
        ({"op": "compare", "property": "height", "is": "less", "value": "3 tonnes"}, "cannot be compared"),
    ],
)
async def test_what_cannot_be_compared_is_reported(valued: City, step: dict[str, str], reason: str) -> None:
    asker, _ = valued.asker([MUSEUMS, step], [MUSEUMS, step], profile="full")
    result = await asker.ask("Which museums are meant, those of height that lie in what was begun?")
    assert result.answer is None
    assert reason in result.gaps[0]["message"]


async def test_a_small_model_is_asked_without_the_comparison_and_it_is_added(valued: City) -> None:
    asker, model = valued.asker([MUSEUMS, {"op": "within", "of": "NONE"}])
    result = await asker.ask("Which museums were founded before 1900?")
    assert result.answer == "The graph has 1 museum begun before 1900: Glass Museum."
    assert model.asked[0][1].content.startswith("Question: Which museums are there?\n")
    assert "compare" not in str(model.schemas[0])


async def test_the_comparison_comes_before_what_asks_for_something_of_the_things(valued: City) -> None:
    asker, _ = valued.asker([MUSEUMS, {"op": "relate", "property": "designed by"}])
    result = await asker.ask("Who designed the oldest museum?")
    assert result.answer is not None
    assert "Ada Quill" in result.answer
    assert [step["op"] for step in result.plan or ()] == ["find", "rank", "relate"]


async def test_one_thing_is_compared_with_yes_or_not_shown(valued: City) -> None:
    asker, _ = valued.asker([{"op": "entity", "name": "Rail Museum"}, {"op": "relate", "property": "NONE"}])
    result = await asker.ask("Is the Rail Museum taller than 300 feet?")
    assert result.answer == "Yes: Rail Museum has height more than 300 feet."


async def test_a_superlative_that_no_step_ranks_is_a_gap(valued: City) -> None:
    asker, _ = valued.asker([MUSEUMS], [MUSEUMS])
    result = await asker.ask("What is the busiest museum?")
    assert result.answer is None
    assert "busiest" in result.gaps[0]["message"]


async def test_nothing_left_after_a_comparison_names_what_is_missing(valued: City) -> None:
    asker, _ = valued.asker([MUSEUMS])
    result = await asker.ask("Which museums were founded after 2000?")
    assert result.gaps[0]["kind"] == "data"
    assert (result.gaps[0]["property"], result.gaps[0]["object"]) == ("begun", "2000")


@pytest.mark.parametrize(
    ("question", "steps", "rest"),
    [
        (
            "Which museums founded since May 1900 are there?",
            ["compare begun at least May 1900"],
            "museums are there",
        ),
        ("Which sites are taller than 200 m?", ["compare height more 200 m"], "Which sites ?"),
        (
            "How many sites with a height under 1,000 ft?",
            ["compare height less 1,000 ft"],
            "How many sites ?",
        ),
        (
            "Which museum has at least 2 million visitors?",
            ["compare visitors at least 2 million"],
            "Which museum ?",
        ),
        ("What is the tallest museum?", ["rank height most"], "What is the museum?"),
        ("What is the oldest museum?", ["rank begun least"], "What is the museum?"),
        ("What is the newest museum?", ["rank begun most"], "What is the museum?"),
        ("Which museum has the fewest visitors?", ["rank visitors least"], "Which museum has the ?"),
        ("Which museums are within 2 km of the park?", [], "Which museums are within 2 km of the park?"),
        ("What is in 12 Low Street?", [], "What is in 12 Low Street?"),
        ("Which forest lies in the west?", [], "Which forest lies in the west?"),
    ],
)
def test_comparisons_are_read_by_the_labels_of_the_ontology(
    valued: City, question: str, steps: list[str], rest: str
) -> None:
    found = read_comparisons(question, (), valued.schema)
    assert [step_words(step) for step in found.steps] == steps
    assert rest in " ".join(found.question.split())
    assert len(found.question) == len(question)

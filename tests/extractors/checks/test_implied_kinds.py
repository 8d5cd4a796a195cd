"""The kinds that follow from what is said of a name, and when none does."""

import pytest
from pyoxigraph import NamedNode

from extractors.candidates import ASSUMED_KIND, HEDGED, IMPLIED_KIND, RDF_TYPE, UNWORDED, Extraction
from extractors.checks.plausibility import Link, implied_kinds
from extractors.grounding.linking import Linker
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, city_labels, pipeline, reply, small_pipeline, urban

HALL, TOWN, ADA = (NamedNode(f"https://example.org/{name}") for name in ("hall", "town", "ada"))


@pytest.fixture(scope="module")
def linker(schema: Schema) -> Linker:
    return Linker(city_labels(), schema)


def link(schema: Schema, subject: NamedNode, label: str, object_: NamedNode | None) -> Link:
    term = schema.find_property(label)
    assert term is not None
    return Link(subject, term, object_, 0.9)


def kinds(
    links: list[Link], known: dict[NamedNode, frozenset[NamedNode]], linker: Linker
) -> dict[NamedNode, NamedNode]:
    return {node: one.kind for node, one in implied_kinds(links, known, linker).items()}


def test_what_something_known_is_located_in_is_a_place(schema: Schema, linker: Linker):
    museum = {HALL: frozenset({urban("Museum")})}
    assert kinds([link(schema, HALL, "located in", TOWN)], museum, linker) == {TOWN: urban("Place")}


def test_a_kind_that_may_be_one_of_several_is_not_guessed(schema: Schema, linker: Linker):
    museum = {HALL: frozenset({urban("Museum")})}
    assert kinds([link(schema, HALL, "designed by", ADA)], museum, linker) == {}


def test_a_statement_that_does_not_stand_itself_implies_nothing(schema: Schema, linker: Linker):
    assert kinds([link(schema, HALL, "ends at", TOWN)], {}, linker) == {}, "the hall is of no kind"
    person = {HALL: frozenset({urban("Person")})}
    assert kinds([link(schema, HALL, "located in", TOWN)], person, linker) == {}, "a person is in no place"


def test_kinds_follow_from_kinds_that_follow(schema: Schema, linker: Linker):
    links = [link(schema, HALL, "completed", None), link(schema, HALL, "located in", TOWN)]
    assert kinds(links, {}, linker) == {HALL: urban("Place"), TOWN: urban("Place")}


def test_statements_that_exclude_each_other_leave_a_name_without_a_kind(schema: Schema, linker: Linker):
    museum = {HALL: frozenset({urban("Museum")}), ADA: frozenset({urban("Person")})}
    links = [link(schema, HALL, "located in", TOWN), link(schema, TOWN, "born in", HALL)]
    assert TOWN not in kinds(links, museum, linker)


async def extracted(schema: Schema, text: str, *triples: tuple[str, str, str], **settings) -> Extraction:
    return await small_pipeline(schema, ScriptedModel(reply(triples)), **settings).extract(text)


async def test_a_new_place_gets_its_kind_with_a_doubt_and_where_it_is_mentioned(schema: Schema):
    text = "The Bowery Hall is a museum in Larnford."
    stated = ("Bowery Hall", "is a", "museum"), ("Bowery Hall", "located in", "Larnford")
    extraction = await extracted(schema, text, *stated)
    (kind,) = (c for c in extraction.candidates if c.predicate == RDF_TYPE and not c.reply)
    assert (kind.object, kind.inferred, kind.problems) == (urban("Place"), ("object",), ())
    assert kind.evidence is not None
    assert kind.evidence.quote == "Larnford"
    (doubt,) = kind.warnings
    assert doubt.rule == IMPLIED_KIND
    assert '"located in"' in doubt.message
    off = await extracted(schema, text, *stated, implied_kinds=False)
    assert all(c.reply for c in off.candidates)


async def test_a_kind_that_is_the_first_of_several_is_marked_as_assumed(schema: Schema):
    model = ScriptedModel(reply([("Elm Hall", "founded by", "Ada Stone")]))
    extraction = await pipeline(schema, model).extract("Elm Hall was founded by Ada Stone.")
    doubts = {c.object: c.warnings for c in extraction.candidates if c.predicate == RDF_TYPE}
    (doubt,) = doubts[urban("Place")]
    assert doubt.rule == ASSUMED_KIND
    assert '"founded by" allows several classes for Elm Hall' in doubt.message


async def test_a_denied_statement_implies_no_kind(schema: Schema):
    text = "The Bowery Hall is a museum that was never located in Larnford."
    extraction = await extracted(
        schema, text, ("Bowery Hall", "is a", "museum"), ("Bowery Hall", "located in", "Larnford")
    )
    assert any(HEDGED in {p.rule for p in c.problems} for c in extraction.candidates)
    assert all(c.reply for c in extraction.candidates)


async def test_of_statements_about_the_same_words_one_waits_for_a_person(schema: Schema):
    text = "The Bowery Hall is a museum that closed in 1971."
    extraction = await extracted(
        schema,
        text,
        ("Bowery Hall", "is a", "museum"),
        ("Bowery Hall", "closed", "1971"),
        ("Bowery Hall", "opened", "1971"),
    )
    rules = {c.predicate: [p.rule for p in c.problems] for c in extraction.candidates}
    assert (rules[urban("closed")], rules[urban("opened")]) == ([], [UNWORDED])


async def test_a_name_is_taken_without_the_place_that_stands_beside_it(schema: Schema):
    text = "The Atomium in Larnford was completed in 1958. Larnford has the University of Larnford."
    extraction = await extracted(
        schema,
        text,
        ("Atomium in Larnford", "completed", "1958"),
        ("University of Larnford", "located in", "Larnford"),
    )
    assert {entity.label for entity in extraction.entities} == {
        "Atomium",
        "University of Larnford",
        "Larnford",
    }


def test_where_a_relation_leaves_several_kinds_the_ontology_says_which_is_usual(
    schema: Schema, linker: Linker
):
    person = {ADA: frozenset({urban("Person")})}
    assert kinds([link(schema, HALL, "designed by", ADA)], person, linker) == {HALL: urban("Place")}
    higher = [link(schema, HALL, "designed by", ADA), link(schema, HALL, "height", None)]
    assert kinds(higher, person, linker) == {HALL: urban("Structure")}


def test_a_usual_kind_is_not_taken_where_the_name_says_another(schema: Schema, linker: Linker):
    person = {ADA: frozenset({urban("Person")})}
    found = implied_kinds(
        [link(schema, HALL, "designed by", ADA)], person, linker, {HALL: urban("Organization")}
    )
    assert {node: one.kind for node, one in found.items()} == {HALL: urban("Organization")}

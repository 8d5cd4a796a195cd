"""The large build: documents whose facts are known, replies with known mistakes, and the graph's truth."""

import json
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from benchmarks.building.composing import Country, compose
from benchmarks.building.graph import BuiltGraph, single_valued
from benchmarks.building.replies import replies, write_replies
from benchmarks.large_build import Moment, Watch, main
from ontology.schema import Schema
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from tests.support.recorded.server import read_replies

URBAN = "https://w3id.org/urbankg/urban#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
SCHEMA = Schema.load(SHIPPED_ONTOLOGY)


def urban(name: str) -> NamedNode:
    return NamedNode(URBAN + name)


def thing(name: str) -> NamedNode:
    return NamedNode("https://example.org/" + name)


def labeled(name: str, label: str) -> Triple:
    return Triple(thing(name), LABEL, Literal(label, language="en"))


def test_no_two_documents_are_alike_and_each_states_its_facts_by_name() -> None:
    documents, country = compose(400)
    assert len({one.text for one in documents}) == 400
    assert compose(400)[0] == documents
    for one in documents:
        assert one.facts
        assert all(subject in one.text and object_ in one.text for subject, _, object_ in one.facts)
    assert country.facts == {fact for one in documents for fact in one.facts}
    assert all(SCHEMA.find_class(kind) for kind in set(country.kinds.values()))
    assert all(SCHEMA.find_property(relation) for _, relation, _ in country.facts if relation != "is a")


def test_a_document_may_be_one_sentence() -> None:
    documents, _ = compose(100, sentences=(1,))
    assert all(one.text.count(".") == 1 for one in documents)


def test_places_of_one_name_lie_in_two_cities() -> None:
    _, country = compose(3000, seed=3)
    assert country.namesakes
    for name in country.namesakes:
        assert len({o for s, relation, o in country.facts if (s, relation) == (name, "located in")}) == 2


def test_a_share_of_the_replies_says_something_that_its_document_does_not(tmp_path: Path) -> None:
    documents, _ = compose(500)
    said = list(replies(documents, errors=0.1))
    wrong = [one for one in said if one.wrong is not None]
    assert 20 < len(wrong) < 90
    assert all(one.said[-1] == one.wrong for one in wrong)
    assert [one.said[: len(document.facts)] for one, document in zip(said, documents, strict=True)] == [
        document.facts for document in documents
    ]
    assert not any(one.wrong for one in replies(documents, errors=0.0))
    write_replies(said, tmp_path / "replies.jsonl")
    kept = read_replies(tmp_path / "replies.jsonl")
    assert len(json.loads(kept[documents[0].text])["triples"]) == len(said[0].said)


def test_statements_are_judged_by_name_and_number() -> None:
    country = Country(
        {("Cor Tower", "height", "120 meters"), ("Cor Tower", "located in", "Esk"),
         ("Cor Tower", "capacity", "1,200")},
        {"Cor Tower": "skyscraper", "Esk": "city"},
    )  # fmt: skip
    graph = BuiltGraph(
        [
            labeled("tower", "Cor Tower"), labeled("esk", "Esk"),
            Triple(thing("tower"), RDF_TYPE, urban("Building")),
            Triple(thing("esk"), RDF_TYPE, urban("Person")),
            Triple(thing("tower"), urban("height"), Literal("120.0")),
            Triple(thing("tower"), urban("height"), Literal("90")),
            Triple(thing("tower"), urban("capacity"), Literal("1200")),
            Triple(thing("tower"), urban("locatedIn"), thing("esk")),
            Triple(thing("esk"), urban("locatedIn"), thing("tower")),
            labeled("other", "esk"), Triple(thing("nameless"), urban("opened"), Literal("1900")),
        ],
        SCHEMA,
    )  # fmt: skip
    truth = graph.judge(country)
    assert (truth.right, truth.kinds_right) == (3, 1)
    assert truth.kinds_wrong == [("Esk", "is a", "person")]
    assert {fact[1] for fact in truth.wrong} == {"height", "located in", "opened"}
    assert graph.with_two_values(single_valued(SCHEMA, SHIPPED_SHAPES)) == ["Cor Tower: 2 of height"]
    assert graph.duplicates() == {"esk": 2}
    assert (graph.unnamed(), graph.unclassified()) == (1, 2)
    assert graph.properties()["height"] == 2
    assert graph.classes() == {"building": 1, "person": 1}


def test_a_pace_that_falls_shows_in_the_tenths() -> None:
    watch = Watch.__new__(Watch)
    watch.moments = [Moment(0, 0, 100, 0), Moment(10, 50, 150, 1), Moment(30, 100, 200, 3)]
    assert watch.rates() == pytest.approx([5.0] * 5 + [2.5] * 5)
    assert watch.memory() == (100, 150, 200)
    assert watch.seconds == 30


def test_a_small_build_loses_nothing_and_most_of_it_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--documents", "12", "--delay", "0", "--errors", "0"]) == 0
    printed = capsys.readouterr().out
    assert "recorded model: {'committed': 12}" in printed
    assert "documents lost: 0; doubled: 0" in printed
    assert "false: 0 and 0; precision 1.0000" in printed
    assert "things without a label: 0" in printed

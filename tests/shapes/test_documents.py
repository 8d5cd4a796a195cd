"""Taking documents back leaves what never posting them would."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from extractors import Pipeline
from ontology import Schema
from server.intake import Intake
from shapes.decisions import Decisions, Reviewer
from shapes.documents import Documents
from shapes.errors import DocumentRemoved
from shapes.gate import ShapesGate
from shapes.loading import load_shapes
from shapes.review import ReviewFilter, ReviewQueue
from sparql.change import Change, Statement
from sparql.labels import LabelIndex
from sparql.provenance import Document, Support
from sparql.relations import SpatialRelations
from sparql.store import EmbeddedStore
from sparql.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, GEO, RDF, RDFS
from sparql.writer import Writer
from tests.server.conftest import RecordedModel

EX = "http://example.org/"
ADA = Reviewer("Ada")
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix ex: <http://example.org/> .
ex:Kind a sh:PropertyShape ; sh:targetSubjectsOf ex:opened , ex:capacity , ex:near ; sh:path rdf:type ;
    sh:minCount 1 ; sh:message "of no kind" .
ex:One a sh:PropertyShape ; sh:targetSubjectsOf ex:capacity ; sh:path ex:capacity ; sh:maxCount 1 ;
    sh:message "several" .
"""


def ex(name: str) -> NamedNode:
    return NamedNode(EX + name)


def kind(subject: str) -> Triple:
    return Triple(ex(subject), RDF.type, ex("Hall"))


def said(subject: str, predicate: str, value: str) -> Triple:
    return Triple(ex(subject), ex(predicate), Literal(value))


def placed(subject: str, wkt: str) -> list[Triple]:
    node = ex(subject + "/geometry")
    return [
        Triple(ex(subject), GEO.hasDefaultGeometry, node),
        Triple(node, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral)),
    ]


DOCUMENTS = {
    "a opened": [kind("a"), said("a", "opened", "1900")],
    "a opened, too": [kind("a"), said("a", "opened", "1900"), said("a", "known", "well")],
    "a holds 5": [kind("a"), said("a", "capacity", "5")],
    "a holds 6": [kind("a"), said("a", "capacity", "6")],
    "a holds 7": [kind("a"), said("a", "capacity", "7"), said("a", "opened", "1900")],
    "a lies in b": [
        *placed("a", "POINT (1 1)"),
        *placed("b", "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"),
        kind("b"),
    ],
    "b is there": [*placed("b", "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"), kind("b")],
    "stated already": [said("c", "known", "well"), kind("c"), said("c", "capacity", "9")],
}
STATED = [said("c", "known", "well"), kind("c")]


class City:
    """A store with everything that documents pass through, and no model."""

    def __init__(self, folder: Path) -> None:
        (folder / "shapes.ttl").write_text(SHAPES)
        gate = ShapesGate(load_shapes(folder))
        self.store = EmbeddedStore(None)
        self.writer = Writer(self.store, gate=gate, deriver=SpatialRelations())
        self.review = ReviewQueue(self.store)
        self.documents = Documents(self.store, self.writer, self.review)
        schema = Schema.empty()
        self.intake = Intake(
            self.writer,
            self.review,
            schema=schema,
            shapes_version=gate.version,
            pipeline=Pipeline(schema=schema, labels=LabelIndex(), model=RecordedModel()),
        )

    def post(self, text: str, triples: list[Triple]) -> None:
        supported = [(Statement(triple), Support()) for triple in triples]
        asyncio.run(self.intake.submit(supported, text=text))

    def state(self, triples: list[Triple]) -> None:
        self.writer.commit(Change(additions=tuple(Statement(triple) for triple in triples)))

    def remove(self, text: str):
        return self.documents.remove(Document(text).iri, ADA)

    def graphs(self) -> dict[str, set[str]]:
        graphs = (DEFAULT, EXTRACTED, DERIVED, ASSERTED)
        return {str(g): {str(q.triple) for q in self.store.match_quads(None, None, None, g)} for g in graphs}

    def waiting(self) -> set[str]:
        return {str(self.review.get(item).triple) for item in self.review.find(ReviewFilter())}


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.sampled_from(sorted(DOCUMENTS)), max_size=10), stated=st.booleans())
def test_any_sequence_of_posting_and_removing_leaves_what_never_posting_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], stated: bool
):
    """A document that is there is removed at its next turn."""
    city = City(tmp_path_factory.mktemp("city"))
    there: list[str] = []
    if stated:
        city.state(STATED)
    for text in steps:
        if text in there:
            city.remove(text)
            there.remove(text)
        else:
            city.post(text, DOCUMENTS[text])
            there.append(text)
    never = City(tmp_path_factory.mktemp("never"))
    if stated:
        never.state(STATED)
    for text in there:
        never.post(text, DOCUMENTS[text])
    assert city.graphs() == never.graphs()
    assert city.waiting() == never.waiting()
    left = {iri.value for iri in city.documents.find()}
    assert left == {Document(text).iri.value for text in there}


@pytest.fixture
def city(tmp_path: Path) -> City:
    return City(tmp_path)


def test_what_stood_on_a_removed_text_waits_in_review(city: City):
    city.post("kind", [kind("x")])
    city.post("opened", [said("x", "opened", "1950")])
    removal = city.remove("kind")
    assert removal.removed == (kind("x"),)
    assert removal.fallen == (said("x", "opened", "1950"),)
    assert city.waiting() == {str(said("x", "opened", "1950"))}
    assert not any(city.store.match(ex("x"), None, None))


def test_what_falls_takes_along_what_stood_on_it(city: City, tmp_path: Path):
    city.post("kind", [kind("x")])
    city.post("link", [Triple(ex("x"), ex("near"), ex("y")), kind("y")])
    city.post("more", [said("y", "opened", "1950")])
    removal = city.remove("kind")
    assert removal.fallen == (Triple(ex("x"), ex("near"), ex("y")),)
    assert {str(t) for t in city.store.match(ex("y"), None, None)} == {
        str(kind("y")),
        str(said("y", "opened", "1950")),
    }


def test_what_was_refused_because_of_a_removed_text_comes_in(city: City):
    city.post("five", [kind("x"), said("x", "capacity", "5")])
    city.post("six", [kind("x"), said("x", "capacity", "6")])
    removal = city.remove("five")
    assert removal.revived == (said("x", "capacity", "6"),)
    assert city.waiting() == set()
    city.remove("six")
    assert not any(city.store.match(ex("x"), None, None))


def test_a_person_s_no_outlives_the_text_but_not_its_words(city: City):
    city.post("five", [kind("x"), said("x", "capacity", "5")])
    city.post("six", [said("x", "capacity", "6")])
    (item,) = city.review.find(ReviewFilter())
    desk = Decisions(city.store, city.writer, city.review, schema=Schema.empty, shapes_version=lambda: "test")
    desk.reject([item], ADA, reason="wrong")
    city.remove("six")
    city.remove("five")
    city.post("six again", [kind("x"), said("x", "capacity", "6")])
    assert {str(t) for t in city.store.match(ex("x"), None, None)} == {str(kind("x"))}
    assert city.review.get(item).support.quote is None


def test_a_removed_document_tells_who_removed_it(city: City):
    city.post("text", [kind("x")])
    city.documents.remove(Document("text").iri, ADA, reason="asked to")
    with pytest.raises(DocumentRemoved) as told:
        city.documents.get(Document("text").iri)
    assert (told.value.by, told.value.reason) == ("Ada", "asked to")
    assert not any(
        isinstance(quad.object, Literal) and quad.object.value == "text"
        for quad in city.store.match_quads(None, None, None, None)
    )
    city.post("text", [kind("x")])
    assert city.documents.get(Document("text").iri).text == "text"


def test_a_label_that_only_texts_gave_is_supported_by_each_text_that_uses_it(city: City):
    label = Triple(ex("x"), RDFS.label, Literal("X"))
    city.post("one", [kind("x"), label])
    city.post("two", [kind("x"), label])
    assert city.remove("one").removed == ()
    assert city.documents.supported(Document("two").iri)[0].others == 0

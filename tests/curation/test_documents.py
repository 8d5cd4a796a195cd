"""Taking documents back leaves what never posting them would."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Triple

from curation.deciding.decisions import Decisions
from curation.review.review_search import ReviewFilter
from ontology import Schema
from shapes.errors import DocumentRemoved
from sparql.model.vocabulary import OWL, RDF, RDFS
from sparql.provenance.records import Document
from tests.support.gate_city import ADA, City, ex, kind, placed, said

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
    "a seats 8": [kind("a"), said("a", "seats", "8")],
    "a is near b": [kind("a"), kind("b"), Triple(ex("a"), ex("near"), ex("b"))],
    "b is near a": [kind("a"), kind("b"), Triple(ex("b"), ex("near"), ex("a"))],
    "stated already": [said("c", "known", "well"), kind("c"), said("c", "capacity", "9")],
}
STATED = [said("c", "known", "well"), kind("c")]
AXIOMS = [
    Triple(ex("Hall"), RDFS.subClassOf, ex("Building")),
    Triple(ex("near"), RDF.type, OWL.SymmetricProperty),
    Triple(ex("near"), RDF.type, OWL.TransitiveProperty),
    Triple(ex("seats"), RDFS.subPropertyOf, ex("capacity")),
]


@settings(max_examples=30, deadline=None)
@given(
    steps=st.lists(st.sampled_from(sorted(DOCUMENTS)), max_size=10),
    stated=st.booleans(),
    inferring=st.booleans(),
)
def test_any_sequence_of_posting_and_removing_leaves_what_never_posting_would(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], stated: bool, inferring: bool
):
    """A document that is there is removed at its next turn."""
    city = City(tmp_path_factory.mktemp("city"), inferring=inferring)
    city.state(AXIOMS)
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
    never = City(tmp_path_factory.mktemp("never"), inferring=inferring)
    never.state(AXIOMS)
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


@pytest.mark.parametrize("inferring", [False, True])
def test_what_another_text_also_says_stays_before_what_waited(tmp_path: Path, inferring: bool):
    """Removal takes what only the document supported; it does not judge anew what others support."""
    city = City(tmp_path, inferring=inferring)
    city.state([Triple(ex("seats"), RDFS.subPropertyOf, ex("capacity"))])
    first = said("x", "seats" if inferring else "capacity", "6")
    city.post("first", [kind("x"), first])
    city.post("five", [kind("x"), said("x", "capacity", "5")])
    city.post("six", [kind("x"), said("x", "capacity", "6")])
    removal = city.remove("first")
    assert removal.revived == ()
    assert city.waiting() == {str(said("x", "capacity", "5"))}
    assert set(city.store.match(ex("x"), ex("capacity"), None)) == {said("x", "capacity", "6")}


def test_a_person_s_no_outlives_the_text_but_not_its_words(city: City):
    city.post("five", [kind("x"), said("x", "capacity", "5")])
    city.post("six", [said("x", "capacity", "6")])
    (item,) = city.review.find(ReviewFilter())
    decisions = Decisions(
        city.store, city.writer, city.review, schema=Schema.empty, shapes_version=lambda: "test"
    )
    decisions.reject([item], ADA, reason="wrong")
    city.remove("six")
    city.remove("five")
    city.post("six again", [kind("x"), said("x", "capacity", "6")])
    assert {str(t) for t in city.store.match(ex("x"), None, None)} == {str(kind("x"))}
    assert city.review.get(item).support.quote is None


def test_a_removed_document_names_who_removed_it(city: City):
    city.post("text", [kind("x")])
    city.documents.remove(Document("text").iri, ADA, reason="asked to")
    with pytest.raises(DocumentRemoved) as raised:
        city.documents.get(Document("text").iri)
    assert (raised.value.by, raised.value.reason) == ("Ada", "asked to")
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

"""Statements of a run that rest on the same share their evidence, and each can go without the others."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from curation.deciding.decisions import Decisions
from curation.review.review_search import ReviewFilter
from ontology import Schema
from sparql.model.change import Statement, Verdict
from sparql.model.vocabulary import PROV, PROVENANCE, RDF, UKG
from sparql.provenance.records import Document, EvidenceReader, Run, RunRecord, Support
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.gate_city import ADA, SHAPES, City, ex, kind, said

DOUBTFUL = """
ex:Short a sh:PropertyShape ; sh:targetSubjectsOf ex:called ; sh:path ex:called ; sh:maxLength 3 ;
    sh:severity sh:Warning ; sh:message "long" .
"""
LONG = [said(subject, "called", f"{subject} by a long name") for subject in "abc"]


@pytest.fixture
def city(tmp_path: Path) -> City:
    return City(tmp_path, shapes=SHAPES + DOUBTFUL)


@pytest.fixture
def decisions(city: City) -> Decisions:
    return Decisions(city.store, city.writer, city.review, schema=Schema.empty, shapes_version=lambda: "test")


def item_of(city: City, triple: Triple) -> NamedNode:
    return next(item for item in city.review.find(ReviewFilter()) if city.review.get(item).triple == triple)


def reifiers(city: City) -> dict[Triple, set[NamedNode]]:
    reader = EvidenceReader(city.store)
    return {triple: {piece.reifier for piece in reader.about(triple)} for triple in LONG}


def test_what_rests_on_the_same_shares_a_reifier(city: City):
    city.post("text", LONG)
    (shared,) = {frozenset(found) for found in reifiers(city).values()}
    assert len(shared) == 1


def test_what_a_person_takes_out_leaves_the_others_their_evidence(city: City, decisions: Decisions):
    city.post("text", LONG)
    decisions.reject([item_of(city, LONG[0])], ADA, reason="no")
    left = [one.evidence.triple for one in city.documents.supported(Document("text").iri)]
    assert left == LONG[1:]
    assert set(city.store.match(None, ex("called"), None)) == set(LONG[1:])
    assert reifiers(city)[LONG[0]] == set()


def test_what_a_person_decides_on_has_evidence_of_its_own(city: City, decisions: Decisions):
    city.post("text", LONG)
    done = decisions.accept([item_of(city, LONG[1])], ADA)
    decided = {
        one.evidence.triple: one.evidence.decision for one in city.documents.supported(Document("text").iri)
    }
    assert decided == {LONG[0]: None, LONG[1]: done.decision, LONG[2]: None}
    assert all(len(found) == 1 for found in reifiers(city).values())
    city.remove("text")
    assert not any(city.store.match(None, ex("called"), None))
    assert not any(reifiers(city).values())


def test_the_last_that_goes_takes_the_reifier_along(city: City, decisions: Decisions):
    city.post("text", LONG)
    for triple in LONG:
        decisions.reject([item_of(city, triple)], ADA, reason="no")
    assert not any(reifiers(city).values())
    assert not any(city.store.match_quads(None, PROV.wasGeneratedBy, None, PROVENANCE))


def test_two_texts_that_say_the_same_have_evidence_each(city: City):
    city.post("one", [kind("x")])
    city.post("two", [kind("x")])
    assert len(EvidenceReader(city.store).about(kind("x"))) == 2
    city.remove("one")
    assert len(EvidenceReader(city.store).about(kind("x"))) == 1


def test_what_statements_rest_on_is_reported_once_for_many_and_read_back_for_each():
    now = datetime.now(UTC)
    run = Run("many", now, now)
    triples = [Triple(ex(f"s{number}"), ex("p"), Literal("o")) for number in range(200)]
    spans = [Support(0, 2, "so", 0.5), Support(3, 6, "and", 0.5)]
    supports = {triple: spans[number % 2] for number, triple in enumerate(triples)}
    record = RunRecord(run, supports, lambda *reported: ())
    verdict = Verdict(accepted=tuple(Statement(triple) for triple in triples))
    store = EmbeddedStore()
    store.commit([*record(verdict)])
    reader = EvidenceReader(store)
    read = {triple: reader.read(piece) for triple in triples for piece in reader.about(triple)}
    assert {triple: one.support for triple, one in read.items() if one is not None} == supports
    assert {piece.triple for piece in reader.of_run(run.iri)} == set(triples)
    reported = list(store.match_quads(None, UKG.quote, None, PROVENANCE))
    assert len(reported) == 4
    assert all(
        sum(1 for _ in store.match_quads(quad.subject, RDF.reifies, None, PROVENANCE)) <= 64
        for quad in reported
    )

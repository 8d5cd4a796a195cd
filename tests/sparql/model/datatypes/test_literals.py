"""Literals are judged on every route: unreadable ones are refused, repaired geometries are reported."""

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from sparql.model.change import Change, Statement
from sparql.model.literals import literal_violations
from sparql.model.vocabulary import GEO, UKG, XSD, Namespace
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.bulk import BulkLoad, MalformedLiteral
from sparql.writing.writer import Writer

EX = Namespace("http://example.org/")
BOW_TIE = "POLYGON((0 0, 2 2, 2 0, 0 2, 0 0))"


def wkt(text: str) -> Triple:
    return Triple(EX.geometry, GEO.asWKT, Literal(text, datatype=GEO.wktLiteral))


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("POINT(1", GEO.wktLiteral),
        ("POINT(40 -120)", GEO.wktLiteral),
        ("<http://example.org/crs> POINT(1 1)", GEO.wktLiteral),
        ('{"type": "Point"}', GEO.geoJSONLiteral),
        ("<gml:Point>", GEO.gmlLiteral),
        ("<Point><coordinates>1,x</coordinates></Point>", GEO.kmlLiteral),
        ("soon", XSD.date),
    ],
)
@pytest.mark.parametrize("invalid", ["repair", "refuse"])
def test_an_unreadable_literal_is_refused_with_a_suggested_fix(
    text: str, datatype: NamedNode, invalid: str
) -> None:
    triple = Triple(EX.geometry, EX.value, Literal(text, datatype=datatype))
    [violation] = literal_violations(triple, invalid)  # type: ignore[arg-type]
    assert violation.blocking
    assert violation.component == UKG.MalformedLiteral


@pytest.mark.parametrize("text", ["", "POINT EMPTY", "POINT Z(1 2 3)", "LINESTRING M(1 2 3, 4 5 6)"])
def test_empty_geometries_heights_and_measures_are_accepted(text: str) -> None:
    assert literal_violations(wkt(text)) == ()


def test_a_repaired_geometry_is_accepted_as_written_with_a_warning() -> None:
    store = EmbeddedStore()
    verdict = Writer(store).commit(Change(additions=(Statement(wkt(BOW_TIE)),)))
    assert verdict.conforms
    [warning] = verdict.warnings
    assert warning.violations[0].component == UKG.RepairedGeometry
    assert "Self-intersection" in warning.violations[0].message
    [stored] = store.match(EX.geometry, None, None)
    assert stored.object.value == BOW_TIE


def test_an_invalid_geometry_is_refused_where_the_setting_says_so() -> None:
    store = EmbeddedStore()
    verdict = Writer(store, invalid_geometry="refuse").commit(
        Change(additions=(Statement(wkt(BOW_TIE)), Statement(wkt("POINT(1 1)"))), partial=True)
    )
    assert [rejection.statement.triple for rejection in verdict.rejected] == [wkt(BOW_TIE)]
    assert [triple.object.value for triple in store.match(EX.geometry, None, None)] == ["POINT(1 1)"]


def test_a_bulk_load_reports_repaired_geometries_or_refuses_them() -> None:
    store = EmbeddedStore()
    quads = [wkt(BOW_TIE), wkt("POINT(1 1)")]
    outcome = BulkLoad(store, Writer(store)).run(as_quads(quads))
    assert outcome.quads == 2
    assert [rejection.statement.triple for rejection in outcome.repaired.examples] == [wkt(BOW_TIE)]
    store = EmbeddedStore()
    with pytest.raises(MalformedLiteral):
        BulkLoad(store, Writer(store, invalid_geometry="refuse")).run(as_quads(quads))
    assert list(store.match(EX.geometry, None, None)) == []


def as_quads(triples: list[Triple]) -> list[Quad]:
    return [Quad(triple.subject, triple.predicate, triple.object) for triple in triples]

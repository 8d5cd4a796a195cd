"""Judging many literals at once agrees with judging each; only doubtful ones take the complete path."""

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from sparql.model.literals import check_of, doubtful, literal_violations
from sparql.model.vocabulary import GEO, XSD, Namespace

EX = Namespace("http://example.org/")
TEXTS = [
    *("", " 1", "1", "-1", "+07", "1.5", "1e3", "INF", "NaN", "true", "yes", "2024-02-29", "2023-02-29"),
    *("2024-01-01T00:00:00Z", "12:00:00", "1850", "0000", "P1Y", "300", "-129", "99999999999999999999"),
    *("POINT(1 2)", "POINT(1", "POINT(200 2)", "POLYGON((0 0, 2 2, 2 0, 0 2, 0 0))", "POINT EMPTY"),
    *("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(40 -73)", "SRID=4326;POINT(1 2)", "en", "QQ=="),
]
DATATYPES = [
    *(XSD.term(name) for name in ("integer", "decimal", "double", "boolean", "date", "dateTime", "time")),
    *(XSD.term(name) for name in ("gYear", "byte", "nonNegativeInteger", "duration", "language", "anyURI")),
    *(XSD.string, GEO.wktLiteral, GEO.geoJSONLiteral, GEO.gmlLiteral, EX.anything),
]


@pytest.mark.parametrize("datatype", DATATYPES, ids=lambda one: one.value.rpartition("#")[2])
def test_what_is_not_doubtful_violates_nothing_however_geometry_is_taken(datatype: NamedNode) -> None:
    literals = [Literal(text, datatype=datatype) for text in TEXTS]
    left = set(doubtful(literals))
    for position, literal in enumerate(literals):
        for invalid in ("repair", "refuse"):
            if literal_violations(Triple(EX.a, EX.p, literal), invalid):  # type: ignore[arg-type]
                assert position in left, literal


def test_usual_literals_and_what_is_none_are_not_doubtful() -> None:
    usual = [
        *(EX.a, Literal("name"), Literal("name", language="en"), Literal("1", datatype=XSD.integer)),
        *(Literal("2024-02-29", datatype=XSD.date), Literal("POINT(1 2)", datatype=GEO.wktLiteral)),
        *(Literal("odd", datatype=EX.anything), Triple(EX.a, EX.p, Literal("x", datatype=XSD.integer))),
    ]
    assert doubtful(usual) == []


def test_doubtful_positions_come_in_order_with_geometries_among_them() -> None:
    mixed = [
        *(Literal("POINT(1", datatype=GEO.wktLiteral), Literal("x", datatype=XSD.integer), Literal("x")),
        *(Literal("POINT(1 2)", datatype=GEO.wktLiteral), Literal("{}", datatype=GEO.geoJSONLiteral)),
    ]
    assert doubtful(mixed) == [0, 1, 4]


def test_a_datatype_without_a_lexical_space_has_no_check() -> None:
    assert check_of("string") is None
    assert check_of("anyURI") is None
    assert check_of("integer") is not None

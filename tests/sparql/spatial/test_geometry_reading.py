"""Geometries read in columns equal the stored ones, however they are read."""

import pytest
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple

from sparql.model.geometry import Text, literal_of, literal_text, node_of, text_of
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import DEFAULT, GEO, RDF, Namespace
from sparql.spatial.geometry_reading import literal_columns, node_columns, read_geometries
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")
TEXTS = [
    "POINT(1 1)",
    'a "quoted" \\ one',
    "two\nlines\tand a tab",
    "é 🗺",
    "",
    "POINT(nowhere)",
    "\r\x7f\x01",
]
LITERALS = [
    *(Literal(text, datatype=GEO.wktLiteral) for text in TEXTS),
    Literal("plain"),
    Literal("plain", language="en"),
    Literal(5),
    Literal(2.5),
    Literal(True),
    Literal('{"type": "Point", "coordinates": [1, 2]}', datatype=GEO.geoJSONLiteral),
]
NODES = [
    EX.g,
    NamedNode("urn:uuid:5"),
    NamedNode("tag:a,b:c_d?e#f"),
    BlankNode("b1"),
    NamedNode("http://e/é"),
]
OBJECTS = [*LITERALS, *NODES, Triple(EX.a, EX.b, EX.c)]


def stored(predicate: NamedNode, graph: NamedNode | DefaultGraph = DEFAULT) -> list[Quad]:
    return [Quad(NODES[number % len(NODES)], predicate, value, graph) for number, value in enumerate(OBJECTS)]


@pytest.fixture
def store() -> EmbeddedStore:
    store = EmbeddedStore()
    store.commit([*stored(GEO.asWKT), *stored(GEO.hasGeometry), Quad(EX.f, GEO.asWKT, LITERALS[0], EX.graph)])
    return store


def rows(portions: object) -> set[tuple[str, Text | None]]:
    return {row for portion in portions for row in zip(*portion, strict=True)}  # type: ignore[attr-defined]


def test_literals_are_those_of_the_store_to_the_last_character(store: EmbeddedStore) -> None:
    assert rows(literal_columns(store, GEO.asWKT)) == {
        (text_of(quad.subject), literal_text(quad.object) if isinstance(quad.object, Literal) else None)
        for quad in stored(GEO.asWKT)
    }


def test_nodes_are_those_of_the_store(store: EmbeddedStore) -> None:
    assert rows(node_columns(store, GEO.hasGeometry)) == {
        (
            text_of(quad.subject),
            text_of(quad.object) if isinstance(quad.object, NamedNode | BlankNode) else None,
        )
        for quad in stored(GEO.hasGeometry)
    }


def test_other_graphs_are_read_by_themselves(store: EmbeddedStore) -> None:
    assert rows(literal_columns(store, GEO.asWKT, elsewhere=True)) == {(text_of(EX.f), "POINT(1 1)")}
    assert rows(literal_columns(store, RDF.type)) == set()


def test_a_source_that_is_asked_pattern_by_pattern_reads_the_same(store: EmbeddedStore) -> None:
    index = TripleIndex(quad.triple for quad in store.match_quads(None, None, None, DEFAULT))
    fast, slow = read_geometries(store), read_geometries(index)
    assert set(zip(fast.nodes, fast.literals, strict=True)) == set(
        zip(slow.nodes, slow.literals, strict=True)
    )
    for one in (fast, slow):
        assert {
            one.literals[row]: shape.wkt for row, shape in enumerate(one.shapes) if shape is not None
        } == {
            "POINT(1 1)": "POINT (1 1)",
            "": "GEOMETRYCOLLECTION EMPTY",
            literal_text(LITERALS[12]): "POINT (1 2)",
        }
        assert set(one.faults) == {
            row for row, literal in enumerate(one.literals) if literal is not None and one.shapes[row] is None
        }


def test_more_than_one_portion_is_read_whole() -> None:
    store = EmbeddedStore()
    long = " " * 90_000
    store.commit(
        [
            Quad(
                EX.term(f"g{number}"),
                GEO.asWKT,
                Literal(f"POINT({number % 90} 1){long * (number < 3)}"),
                DEFAULT,
            )
            for number in range(5000)
        ]
    )
    assert len(rows(literal_columns(store, GEO.asWKT))) == 5000


def test_what_was_loaded_unchecked_keeps_its_name() -> None:
    store = EmbeddedStore()
    text = "<http://e/a b> <http://www.opengis.net/ont/geosparql#hasGeometry> <_:x> ."
    store.graph.load(text.encode(), format=RdfFormat.N_TRIPLES, lenient=True)
    (quad,) = store.match_quads(None, GEO.hasGeometry, None)
    (row,) = rows(node_columns(store, GEO.hasGeometry))
    assert row == (text_of(quad.subject), text_of(quad.object))
    assert (node_of(row[0]), node_of(str(row[1]))) == (quad.subject, quad.object)


@pytest.mark.parametrize("node", NODES)
def test_a_node_is_found_again_from_its_text(node: NamedNode | BlankNode) -> None:
    assert node_of(text_of(node)) == node


@pytest.mark.parametrize("literal", LITERALS)
def test_a_literal_is_found_again_from_its_text(literal: Literal) -> None:
    assert literal_of(literal_text(literal)) == literal

"""What the gate reads follows the batch, not the store."""

import pytest
from pyoxigraph import Literal, Quad, Triple

from ontology import Schema
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.gate.gate import ShapesGate
from shapes.gate.opening import with_generated
from shapes.loading import load_shapes
from sparql.model.change import Change, Delta, Statement
from sparql.model.vocabulary import ASSERTED, DERIVED, GEO, RDF, RDFS, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.counting_source import CountingSource

EX = Namespace("http://example.org/")
URBAN = Namespace("https://w3id.org/urbankg/urban#")
NAME = Literal("A place", language="en")


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(SHIPPED_ONTOLOGY)


@pytest.fixture(scope="module")
def gate(schema: Schema) -> ShapesGate:
    return ShapesGate(with_generated(load_shapes(SHIPPED_SHAPES), schema, "contradictions"))


def place(number: int) -> list[Triple]:
    iri = EX.term(f"place-{number}")
    point = Literal(f"POINT({-74 + number % 100 / 1000} 40.7)", datatype=GEO.wktLiteral)
    return [
        Triple(iri, RDF.type, URBAN.Museum),
        Triple(iri, RDFS.label, Literal(f"Place {number}", language="en")),
        Triple(iri, URBAN.locatedIn, EX.city),
        Triple(iri, GEO.hasDefaultGeometry, EX.term(f"point-{number}")),
        Triple(EX.term(f"point-{number}"), RDF.type, GEO.Geometry),
        Triple(EX.term(f"point-{number}"), GEO.asWKT, point),
    ]


def city(schema: Schema, size: int) -> EmbeddedStore:
    store = EmbeddedStore()
    triples = [
        *schema.triples,
        Triple(EX.city, RDF.type, URBAN.City),
        Triple(EX.city, RDFS.label, Literal("C")),
    ]
    triples += [t for number in range(size) for t in place(number)]
    store.commit([Quad(t.subject, t.predicate, t.object) for t in triples])
    return store


def test_triples_read_for_a_batch_do_not_grow_with_the_store(gate: ShapesGate, schema: Schema):
    reads = {}
    for size in (50, 2000):
        source = CountingSource(city(schema, size))
        batch = tuple(Statement(t) for number in range(10_000, 10_005) for t in place(number))
        accepted, rejected, *_ = gate.select(source, batch, frozenset(), lambda a, r: Delta(), partial=True)
        assert (len(accepted), rejected) == (30, ())
        reads[size] = source.read
    assert reads[50] == reads[2000]


def test_triples_read_to_refuse_do_not_grow_with_the_store_either(gate: ShapesGate, schema: Schema):
    reads = {}
    for size in (50, 2000):
        source = CountingSource(city(schema, size))
        batch = (Statement(Triple(EX.term("place-1"), RDF.type, URBAN.Person)),)
        _, rejected, *_ = gate.select(source, batch, frozenset(), lambda a, r: Delta(), partial=True)
        assert len(rejected) == 1
        reads[size] = source.read
    assert reads[50] == reads[2000]


def test_a_relation_that_was_stated_before_its_geometries_outlives_them_under_a_gate(gate: ShapesGate):
    store = EmbeddedStore()
    writer = Writer(store, gate=gate, deriver=SpatialRelations())
    features = [EX.term(f"place-{number}") for number in (1, 101)]
    named = [
        t for one in features for t in (Triple(one, RDF.type, GEO.Feature), Triple(one, RDFS.label, NAME))
    ]
    equal = Triple(features[0], GEO.rcc8eq, features[1])
    placed = [t for number in (1, 101) for t in place(number)[3:]]
    for triples in ([*named, equal], placed):
        assert writer.commit(Change(additions=tuple(map(Statement, triples)))).conforms
    for graph in (ASSERTED, DERIVED):
        assert store.contains(Quad(equal.subject, equal.predicate, equal.object, graph))
    assert writer.commit(Change(removals=frozenset(placed))).conforms
    assert set(store.match(None, GEO.rcc8eq, None)) == {equal}

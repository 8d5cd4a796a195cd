"""What the gate reads follows the batch, not the store."""

import pytest
from pyoxigraph import Literal, Quad, Triple

from ontology import Schema
from server.shipped import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.change import Delta, Statement
from sparql.source import CountingSource
from sparql.store import EmbeddedStore
from sparql.vocabulary import GEO, RDF, RDFS, Namespace

EX = Namespace("http://example.org/")
URBAN = Namespace("https://w3id.org/urbankg/urban#")


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(SHIPPED_ONTOLOGY)


@pytest.fixture(scope="module")
def gate() -> ShapesGate:
    return ShapesGate(load_shapes(SHIPPED_SHAPES))


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

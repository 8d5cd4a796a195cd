"""The gate's cost per batch against validating everything: python benchmarks/gate.py [--sizes ...].

For each size a store of that many triples is filled with made-up museums; then batches of 50 statements
(ten new museums, one of them impossible) are judged, blame included, and the same is done by pySHACL over the
whole, as one would without a gate that knows deltas. Prints milliseconds and the ratio of the two in one run.
The whole-store peer is left out above `--peer-limit` triples: at 20,000 it takes minutes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator

import rdflib
from pyoxigraph import Literal, Quad, Triple
from pyshacl import validate

from ontology import Schema
from server.services import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.data_graph import DataGraph
from shapes.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.change import Delta, Statement
from sparql.source import CountingSource, Overlay
from sparql.store import EmbeddedStore
from sparql.vocabulary import RDF, RDFS, XSD, Namespace

EX = Namespace("http://example.org/")
URBAN = Namespace("https://w3id.org/urbankg/urban#")
PER_MUSEUM = 5
BATCHES = 7


def museum(number: int) -> list[Triple]:
    """Five statements about a museum; one in ten says that it closed before it opened."""
    iri = EX.term(f"museum-{number}")
    closed = 1800 if number % 10 == 0 else 1990
    return [
        Triple(iri, RDF.type, URBAN.Museum),
        Triple(iri, RDFS.label, Literal(f"Museum {number}", language="en")),
        Triple(iri, URBAN.locatedIn, EX.city),
        Triple(iri, URBAN.opened, Literal("1900", datatype=XSD.gYear)),
        Triple(iri, URBAN.closed, Literal(str(closed), datatype=XSD.gYear)),
    ]


def filled(schema: Schema, size: int) -> EmbeddedStore:
    """A store of about `size` triples beside the ontology."""

    def quads() -> Iterator[Quad]:
        city = [
            Triple(EX.city, RDF.type, URBAN.City),
            Triple(EX.city, RDFS.label, Literal("City", language="en")),
        ]
        for triple in (*schema.triples, *city):
            yield Quad(triple.subject, triple.predicate, triple.object)
        for number in range(size // PER_MUSEUM):
            for triple in museum(number * 10 + 1):
                yield Quad(triple.subject, triple.predicate, triple.object)

    store = EmbeddedStore()
    store.graph.bulk_extend(quads())
    return store


def gate_seconds(gate: ShapesGate, store: EmbeddedStore, size: int) -> tuple[float, int, int]:
    """Median seconds per batch of 50, triples read for one, statements refused in one."""
    times = []
    for batch in range(BATCHES + 1):
        start = 10_000_000 + batch * 10
        statements = tuple(Statement(t) for number in range(start, start + 10) for t in museum(number))
        source = CountingSource(store)
        began = time.perf_counter()
        _, rejected, _ = gate.select(source, statements, frozenset(), lambda a, r: Delta(), partial=True)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:]), source.read, len(rejected)


def whole_seconds(files: rdflib.Graph, store: EmbeddedStore) -> float:
    """Seconds for pySHACL over everything, with one batch added."""
    after = Overlay(store, [t for number in range(20_000_000, 20_000_010) for t in museum(number)])
    copy = rdflib.Graph()
    for triple in DataGraph(after).triples((None, None, None)):
        copy.add(triple)
    began = time.perf_counter()
    validate(copy, shacl_graph=files, inplace=True)
    return time.perf_counter() - began


def main() -> None:
    """Print one row per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="2000,20000,200000")
    parser.add_argument("--peer-limit", type=int, default=2_000)
    arguments = parser.parse_args()
    files = load_shapes(SHIPPED_SHAPES)
    gate, schema = ShapesGate(files), Schema.load(SHIPPED_ONTOLOGY)
    print(f"{'triples':>9} {'gate ms':>9} {'read':>7} {'refused':>8} {'whole ms':>10} {'ratio':>8}")
    for size in (int(part) for part in arguments.sizes.split(",")):
        store = filled(schema, size)
        seconds, read, refused = gate_seconds(gate, store, size)
        row = f"{size:>9} {seconds * 1000:>9.0f} {read:>7} {refused:>8}"
        if size <= arguments.peer_limit:
            whole = whole_seconds(files.graph, store)
            row += f" {whole * 1000:>10.0f} {whole / seconds:>8.1f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()

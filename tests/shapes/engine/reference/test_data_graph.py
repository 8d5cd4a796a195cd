"""What a query of a shape may look for, and the store cannot hold, is not found; it is no failure."""

from pathlib import Path

import pytest
import rdflib
from pyoxigraph import Quad, RdfFormat, parse

from shapes.engine.reference import DataGraph
from shapes.gate.gate import EngineName, ShapesGate
from shapes.loading import load_shapes
from sparql.model.source import TripleIndex
from sparql.storage.embedded_store import EmbeddedStore

EX = rdflib.Namespace("http://example.org/")
SHAPES = """@prefix : <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
:S a sh:NodeShape ; sh:targetClass :Thing ; sh:sparql [ sh:message "Undefined." ; sh:select
  "SELECT $this WHERE { ?p a <http://example.org/Relation> . $this ?p ?o }" ] .
"""
DATA = """@prefix : <http://example.org/> .
:a a :Thing ; :knows :b . :b a :Thing . :knows a :Relation . [] a :Relation .
"""


@pytest.mark.parametrize("engine", ["compiled", "pyshacl"])
def test_a_query_that_binds_a_predicate_to_a_blank_node_is_judged(tmp_path: Path, engine: EngineName) -> None:
    (tmp_path / "s.ttl").write_text(SHAPES)
    store = EmbeddedStore()
    store.commit([Quad(*quad.triple) for quad in parse(DATA, format=RdfFormat.TURTLE)])
    found = ShapesGate(load_shapes(tmp_path), engine).report(store)
    assert [(str(one.focus), one.message) for one in found] == [("<http://example.org/a>", "Undefined.")]


@pytest.mark.parametrize(
    "pattern",
    [
        (None, rdflib.BNode("p"), None),
        (EX.a, rdflib.Literal("p"), None),
        (rdflib.Literal("s"), EX.knows, None),
    ],
)
def test_nothing_fits_a_pattern_that_no_triple_can_fit(pattern: tuple[object, object, object]) -> None:
    triples = [quad.triple for quad in parse(DATA, format=RdfFormat.TURTLE)]
    assert list(DataGraph(TripleIndex(triples)).triples(pattern)) == []

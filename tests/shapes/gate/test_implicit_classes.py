"""A shape that is a class targets the instances of that class (SHACL, 2.1.3.3)."""

from pathlib import Path

import pytest
from pyoxigraph import Quad, RdfFormat, parse

from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.storage.embedded_store import EmbeddedStore

HEAD = """@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""
NAMED = "sh:property [ sh:path rdfs:label ; sh:minCount 1 ] ."


def gate(folder: Path, shapes: str) -> ShapesGate:
    (folder / "s.ttl").write_text(HEAD + shapes)
    return ShapesGate(load_shapes(folder))


@pytest.mark.parametrize(
    "shapes",
    [
        f":Pump a rdfs:Class , sh:NodeShape ; {NAMED}",
        f":Pump a owl:Class , sh:NodeShape ; {NAMED}",
        f":Kind rdfs:subClassOf rdfs:Class . :Pump a :Kind , sh:NodeShape ; {NAMED}",
        f":Kind rdfs:subClassOf owl:Class . :Pump a :Kind , sh:NodeShape ; {NAMED}",
        ":Kind rdfs:subClassOf rdfs:Class . :Sort rdfs:subClassOf :Kind . "
        f":Pump a :Sort , sh:NodeShape ; {NAMED}",
        ":Kind rdfs:subClassOf rdfs:Class , :Kind . "
        ":Pump a :Kind , sh:PropertyShape ; sh:path rdfs:label ; sh:minCount 1 .",
    ],
)  # fmt: skip
def test_instances_of_a_shape_that_is_a_class_are_judged(tmp_path: Path, shapes: str) -> None:
    data = HEAD + ":p1 a :Pump . :p2 a :Small . :Small rdfs:subClassOf :Pump . :p3 a :Other ."
    triples = [quad.triple for quad in parse(data, format=RdfFormat.TURTLE)]
    empty = EmbeddedStore()
    found = {str(one.focus) for one in gate(tmp_path, shapes).judge(empty, triples)}
    assert found == {"<http://example.org/p1>", "<http://example.org/p2>"}


@pytest.mark.parametrize(
    "shapes", [f":Pump a :Kind , sh:NodeShape ; {NAMED}", f":Pump a rdfs:Class ; {NAMED}"]
)
def test_a_shape_that_is_no_class_and_a_class_that_is_no_shape_target_nothing(
    tmp_path: Path, shapes: str
) -> None:
    store = EmbeddedStore()
    store.commit([Quad(*one.triple) for one in parse(HEAD + ":p1 a :Pump .", format=RdfFormat.TURTLE)])
    assert gate(tmp_path, shapes).report(store) == []

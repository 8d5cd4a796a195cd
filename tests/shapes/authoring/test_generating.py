"""Shapes made from axioms demand what the axioms say, and step back for what is said by hand."""

from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse

from ontology import Schema
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from shapes.rules import with_generated
from sparql.model.source import TripleIndex

ROOT = Path(__file__).parents[3]
ONTOLOGY = """@prefix : <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix ukg: <https://w3id.org/urbankg/system#> .
:Park a owl:Class . :Road a owl:Class ; owl:disjointWith :Park .
:Sign a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:oneOf ( :stop :go ) ] .
:Grade a rdfs:Datatype ; owl:equivalentClass [ a rdfs:Datatype ; owl:onDatatype xsd:integer ;
    owl:withRestrictions ( [ xsd:minInclusive 1 ] [ xsd:maxInclusive 5 ] ) ] .
:in a owl:ObjectProperty ; rdfs:range :Park ;
    rdfs:domain [ a owl:Class ; owl:unionOf ( :Park :Road ) ] .
:opened a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:range xsd:gYear .
:grade a owl:DatatypeProperty ; rdfs:range :Grade .
:code a owl:DatatypeProperty , owl:InverseFunctionalProperty .
:lanes a owl:DatatypeProperty .
:Road rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :lanes ; owl:maxCardinality 1 ] ,
    [ a owl:Restriction ; owl:onProperty :in ; owl:minCardinality 1 ] .
:free a owl:ObjectProperty ; rdfs:domain :Road ; ukg:generateShapes false .
"""
HEAD = """@prefix : <http://example.org/o#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""


def gate(folder: Path, by_hand: str = "") -> ShapesGate:
    for name, text in (("ontology", ONTOLOGY), ("shapes", HEAD + by_hand)):
        (folder / name).mkdir()
        (folder / name / "file.ttl").write_text(text)
    files = load_shapes(folder / "shapes")
    return ShapesGate(with_generated(files, Schema.load(folder / "ontology")))


def found(gate: ShapesGate, turtle: str) -> set[tuple[str, str]]:
    """Severity and component of everything that these triples break."""
    source = TripleIndex(quad.triple for quad in parse(HEAD + turtle, RdfFormat.TURTLE))
    return {
        (one.severity.value.rpartition("#")[2], one.component.value.rpartition("#")[2])
        for one in gate.report(source)
    }


@pytest.mark.parametrize(
    ("turtle", "component"),
    [
        (":x :in :p . :p a :Park .", "OrConstraintComponent"),
        (":x a :Park ; :in :y . :y a :Road ; :in :x .", "ClassConstraintComponent"),
        (":x a :Park , :Road ; :in :p . :p a :Park .", "NotConstraintComponent"),
        (':x :opened "1900"^^xsd:gYear , "1901"^^xsd:gYear .', "MaxCountConstraintComponent"),
        (":x :opened 1900 .", "DatatypeConstraintComponent"),
        (":x :grade 6 .", "MaxInclusiveConstraintComponent"),
        (":x :code 'a' . :y :code 'a' .", "MaxCountConstraintComponent"),
        (":x a :Sign .", "InConstraintComponent"),
        (":x a :Road ; :in :p ; :lanes 1 , 2 . :p a :Park .", "MaxCountConstraintComponent"),
    ],
)
def test_what_an_axiom_excludes_is_refused(tmp_path: Path, turtle: str, component: str) -> None:
    assert ("Violation", component) in found(gate(tmp_path), turtle)


@pytest.mark.parametrize(
    "turtle",
    [
        ":x a :Road ; :in :p . :p a :Park .",
        ':x :opened "1900"^^xsd:gYear .',
        ":x :grade 3 .",
        ":stop a :Sign .",
        ":x :free :y .",
        ":x :code 'a' .",
    ],
)
def test_what_fits_the_axioms_passes(tmp_path: Path, turtle: str) -> None:
    assert found(gate(tmp_path), turtle) == set()


def test_what_must_be_there_only_warns(tmp_path: Path) -> None:
    assert found(gate(tmp_path), ":x a :Road .") == {("Warning", "MinCountConstraintComponent")}


@pytest.mark.parametrize(
    ("by_hand", "turtle"),
    [
        (":s a sh:NodeShape ; sh:targetSubjectsOf :in ; sh:nodeKind sh:IRI .", ":x :in :p . :p a :Park ."),
        (":s sh:targetSubjectsOf :opened ; sh:path :opened ; sh:maxCount 3 .",
         ":x :opened '1900'^^xsd:gYear , '1901'^^xsd:gYear ."),
        (":s sh:targetSubjectsOf :opened ; sh:path :opened ; sh:deactivated true .", ":x :opened 1 , 2 ."),
        (":s a sh:NodeShape ; sh:targetClass :Road ; sh:not [ sh:class :Park ] ; sh:deactivated true .",
         ":x a :Park , :Road ; :in :x ."),
    ],
)  # fmt: skip
def test_a_shape_by_hand_replaces_the_generated_one(tmp_path: Path, by_hand: str, turtle: str) -> None:
    assert not {one for one in found(gate(tmp_path, by_hand), turtle) if one[0] == "Violation"}


def test_the_shapes_are_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    schema = Schema.load(ROOT / "ontology")
    first, second = (with_generated(load_shapes(tmp_path / "empty"), schema) for _ in range(2))
    assert first.generated == second.generated
    assert first.version == second.version
    assert len(first.generated) > 500

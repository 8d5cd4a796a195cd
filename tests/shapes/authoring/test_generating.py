"""Shapes made from axioms demand what the axioms say, and step back for what is said by hand."""

from pathlib import Path

import pytest
from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from ontology import Schema
from shapes.configuration import Generation, generation_of
from shapes.gate.gate import ShapesGate
from shapes.gate.opening import with_generated
from shapes.loading import load_shapes
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import RDF, RDFS, SH

ROOT = Path(__file__).parents[3]
NOT = SH.term("NotConstraintComponent")
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
:Lane a owl:Class ; rdfs:subClassOf :Road . :Lake a owl:Class ; owl:disjointWith :Road .
:leads a owl:ObjectProperty ; rdfs:domain :Lane .
:meets a owl:ObjectProperty ; rdfs:domain [ a owl:Class ; owl:unionOf ( :Road :Lane ) ] .
:depth a owl:DatatypeProperty ; rdfs:range xsd:decimal .
:seats a owl:DatatypeProperty ; rdfs:range xsd:unsignedByte .
:svg a rdfs:Datatype . :shape a owl:DatatypeProperty ; rdfs:range :svg .
:free a owl:ObjectProperty ; rdfs:domain :Road ; ukg:generateShapes false .
:beside a owl:ObjectProperty , owl:IrreflexiveProperty .
:above a owl:ObjectProperty , owl:AsymmetricProperty .
:owner a owl:ObjectProperty ; owl:propertyDisjointWith :rival . :rival a owl:ObjectProperty .
:east a owl:ObjectProperty . :west a owl:ObjectProperty .
[] a owl:AllDisjointProperties ; owl:members ( :west :east ) .
:isbn a owl:DatatypeProperty ; rdfs:range [ owl:unionOf ( :Ten ) ] .
:Ten a rdfs:Datatype ; owl:equivalentClass
    [ owl:onDatatype xsd:string ; owl:withRestrictions ( [ xsd:length 3 ] ) ] .
"""
HEAD = """@prefix : <http://example.org/o#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
"""


def gate(folder: Path, by_hand: str = "", mode: Generation = "closed") -> ShapesGate:
    for name, text in (("ontology", ONTOLOGY), ("shapes", HEAD + by_hand)):
        (folder / name).mkdir()
        (folder / name / "file.ttl").write_text(text)
    files = load_shapes(folder / "shapes")
    return ShapesGate(with_generated(files, Schema.load(folder / "ontology"), mode))


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


CONTRADICTIONS = [
    (":x a :Park , :Road .", {"NotConstraintComponent"}),
    (":x a :Park ; :in :y . :y a :Road .", {"NotConstraintComponent"}),
    (":x :in :y . :y a :Lane . :Lane rdfs:subClassOf :Road .", {"NotConstraintComponent"}),
    (":x :in 'a park' .", {"NodeKindConstraintComponent"}),
    (":x :leads :y . :x a :Park .", {"NotConstraintComponent"}),
    (":x :meets :y . :x a :Park , :Lake . :y a :Park .", {"OrConstraintComponent"}),
    (":x :opened '1900'^^xsd:gYear , '1901'^^xsd:gYear .", {"MaxCountConstraintComponent"}),
    (":x :opened 1900 .", {"DatatypeConstraintComponent"}),
    (":x :grade 6 .", {"MaxInclusiveConstraintComponent"}),
    (":x :grade 4.5 .", {"OrConstraintComponent"}),
    (":x :depth 'deep' .", {"OrConstraintComponent"}),
    (":x :depth 1.5e0 .", {"OrConstraintComponent"}),
    (":x :depth :y .", {"OrConstraintComponent"}),
    (":x :depth 'six'^^xsd:integer .", {"OrConstraintComponent"}),
    (":x :seats -1 .", {"MinInclusiveConstraintComponent"}),
    (":x :seats 300 .", {"MaxInclusiveConstraintComponent"}),
    (":x :shape :y .", {"NodeKindConstraintComponent"}),
    (":x a :Road ; :lanes 1 , 2 .", {"MaxCountConstraintComponent"}),
    (":x :beside :x .", {"DisjointConstraintComponent"}),
    (":x :above :y . :y :above :x .", {"DisjointConstraintComponent"}),
    (":x :above :x .", {"DisjointConstraintComponent"}),
    (":x :owner :y ; :rival :y .", {"DisjointConstraintComponent"}),
    (":x :west :y ; :east :y .", {"DisjointConstraintComponent"}),
    (":x :isbn 'ab' .", {"MinLengthConstraintComponent"}),
    (":x :isbn 'abcd' .", {"MaxLengthConstraintComponent"}),
]
CONSISTENT = [
    ":x :in :y .",
    ":x a :Sign ; :in :y . :y a :Sign .",
    ":x :leads :y . :y :leads :x .",
    ":x :meets :y . :x a :Sign .",
    ":x :depth 16 , 16.5 , '3'^^xsd:byte .",
    ":x :grade 3.0 , 2 .",
    ":x :seats 255 , '7'^^xsd:long .",
    ":x :shape '<svg/>' .",
    ":x :code 'a' . :y :code 'a' .",
    ":x a :Road .",
    ":x :beside :y . :y :beside :x .",
    ":x :above :y . :y :above :z .",
    ":x :owner :y ; :rival :z . :z :owner :x . :x :west :y . :y :east :x .",
    ":x :isbn 'abc' .",
    ":free :free :x . :x a :Park .",
]


@pytest.fixture(scope="module")
def contradictions(tmp_path_factory: pytest.TempPathFactory) -> ShapesGate:
    return gate(tmp_path_factory.mktemp("contradictions"), mode="contradictions")


@pytest.mark.parametrize(("turtle", "components"), CONTRADICTIONS)
def test_what_contradicts_an_axiom_is_refused(
    contradictions: ShapesGate, turtle: str, components: set[str]
) -> None:
    assert found(contradictions, turtle) == {("Violation", component) for component in components}


@pytest.mark.parametrize("turtle", CONSISTENT)
def test_what_is_only_not_known_passes_where_contradictions_are_looked_for(
    contradictions: ShapesGate, turtle: str
) -> None:
    assert found(contradictions, turtle) == set()


def test_a_message_names_what_the_axiom_says(contradictions: ShapesGate) -> None:
    source = TripleIndex(
        quad.triple
        for quad in parse(HEAD + ":x :in :y . :y a :Lane . :Lane rdfs:subClassOf :Road .", RdfFormat.TURTLE)
    )
    (result,) = contradictions.report(source)
    assert 'the value of "in" is a park; this cannot be one.' in result.message


@pytest.mark.parametrize(
    ("written", "mode"), [(True, "closed"), ("true", "closed"), (False, "off"), ("closed", "closed")]
)
def test_the_flag_of_earlier_versions_is_read(written: object, mode: str) -> None:
    assert generation_of(written) == mode


def test_no_shapes_are_made_where_switched_off(tmp_path: Path) -> None:
    assert found(gate(tmp_path, mode="off"), ":x a :Park , :Road .") == set()


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
        (":s a sh:NodeShape ; sh:targetSubjectsOf :beside ; sh:disjoint :beside ; sh:severity sh:Info .",
         ":x :beside :x ."),
        (":s sh:targetSubjectsOf :above ; sh:path [ sh:inversePath :above ] ; sh:disjoint :above ; "
         "sh:deactivated true .", ":x :above :y . :y :above :x ."),
        (":s sh:targetSubjectsOf :rival ; sh:path :rival ; sh:disjoint :owner ; sh:deactivated true .",
         ":x :rival :y ; :owner :y ."),
    ],
)  # fmt: skip
def test_a_shape_by_hand_replaces_the_generated_one(tmp_path: Path, by_hand: str, turtle: str) -> None:
    assert not {one for one in found(gate(tmp_path, by_hand), turtle) if one[0] == "Violation"}


def test_with_the_shipped_files_nothing_is_in_two_disjoint_classes() -> None:
    schema = Schema.load(ROOT / "ontology")
    shipped = ShapesGate(with_generated(load_shapes(ROOT / "shapes"), schema, "contradictions"))
    own = sorted((one.iri for one in schema.classes.values() if not one.borrowed), key=str)
    above = [triple for triple in schema.triples if triple.predicate == RDFS.subClassOf]
    pairs = [(one, other) for one in own for other in schema.disjoint_with(one) if other in own]
    assert len(pairs) > 30
    for number, pair in enumerate(pairs):
        thing = NamedNode(f"http://example.org/{number}")
        source = TripleIndex((*above, *(Triple(thing, RDF.type, class_) for class_ in pair)))
        wrong = [one for one in shipped.report(source) if one.component == NOT]
        assert wrong, pair


def test_the_shapes_are_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    schema = Schema.load(ROOT / "ontology")
    first, second = (with_generated(load_shapes(tmp_path / "empty"), schema, "closed") for _ in range(2))
    assert first.generated == second.generated
    assert first.version == second.version
    assert len(first.generated) > 500

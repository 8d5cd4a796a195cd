"""What texts say of where things are, against their geometries; the ontology says what a property means."""

from pathlib import Path

import pytest
import shapely
from pyoxigraph import NamedNode, Triple

from curation.place_conflicts import PlaceConflicts
from geo.relate.rcc8 import RCC8
from ontology import Schema
from sparql.ask.places import StatedPlaces, Where
from sparql.model.vocabulary import GEO, SH
from sparql.provenance.records import Support

EX = "http://example.org/"
ONTOLOGY = """
@prefix ex: <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> . @prefix ukg: <https://w3id.org/urbankg/system#> .
ex:liesIn a owl:ObjectProperty ; rdfs:subPropertyOf geo:sfWithin .
ex:holds a owl:ObjectProperty ; owl:inverseOf ex:liesIn .
ex:besides a owl:ObjectProperty ; rdfs:seeAlso geo:sfTouches ; ukg:onGeometryConflict sh:Warning .
ex:farFrom a owl:ObjectProperty ; rdfs:subPropertyOf geo:rcc8dc .
ex:likes a owl:ObjectProperty .
"""
SQUARE = shapely.box(0, 0, 1, 1)
SHAPES = {
    EX + "square": SQUARE,
    EX + "inner": shapely.box(0.2, 0.2, 0.4, 0.4),
    EX + "next": shapely.box(1, 0, 2, 1),
    EX + "over": shapely.box(0.5, 0.5, 1.5, 1.5),
    EX + "near": shapely.Point(1.001, 0.5),
    EX + "far": shapely.Point(3, 3),
}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    folder = tmp_path_factory.mktemp("ontology")
    (folder / "town.ttl").write_text(ONTOLOGY)
    return Schema.load(folder)


def geometries(node):
    found = SHAPES.get(node.value)
    return () if found is None else (found,)


def triple(subject: str, predicate: str, value: str) -> Triple:
    name = NamedNode(predicate if "://" in predicate else EX + predicate)
    return Triple(NamedNode(EX + subject), name, NamedNode(EX + value))


@pytest.mark.parametrize(
    ("subject", "predicate", "value", "agrees"),
    [
        ("inner", "liesIn", "square", True),
        ("far", "liesIn", "square", False),
        ("near", "liesIn", "square", None),
        ("over", "liesIn", "square", None),
        ("next", "liesIn", "square", None),
        ("square", "liesIn", "inner", False),
        ("square", "holds", "inner", True),
        ("inner", "holds", "square", False),
        ("square", "besides", "next", True),
        ("inner", "besides", "square", False),
        ("square", "besides", "far", False),
        ("near", "besides", "square", None),
        ("far", "farFrom", "square", True),
        ("inner", "farFrom", "square", False),
        ("next", "farFrom", "square", None),
        ("far", GEO.sfWithin.value, "square", False),
    ],
)
def test_a_statement_is_borne_out_or_contradicted(
    schema: Schema, subject: str, predicate: str, value: str, agrees: bool | None
):
    check = PlaceConflicts(schema, slack_m=500)
    finding = check.look(triple(subject, predicate, value), geometries)
    assert finding is not None
    assert finding.agrees is agrees


@pytest.mark.parametrize("rough", ["near", "square"])
def test_of_two_features_the_one_that_is_drawn_more_roughly_counts(schema: Schema, rough: str):
    check, stated = PlaceConflicts(schema), triple("near", "besides", "square")
    exact = check.look(stated, geometries, lambda node: 0.5)
    near = check.look(stated, geometries, lambda node: 600.0 if node.value == EX + rough else 0.5)
    assert exact is not None
    assert near is not None
    assert (exact.computed, exact.agrees) == (RCC8.DC, False)
    assert (near.computed, near.agrees) == (RCC8.EC, True)


def test_nothing_is_said_without_both_geometries_or_of_other_properties(schema: Schema):
    check = PlaceConflicts(schema)
    assert check.look(triple("inner", "liesIn", "unplaced"), geometries) is None
    assert check.look(triple("inner", "likes", "square"), geometries) is None


def test_agreement_halves_the_doubt_and_shows_both_sides(schema: Schema):
    finding = PlaceConflicts(schema).look(triple("inner", "liesIn", "square"), geometries)
    assert finding is not None
    support = finding.supports(Support(confidence=0.6))
    assert support.confidence == pytest.approx(0.8)
    assert (support.stated, support.computed, support.distance_m) == ("within", GEO.rcc8ntpp, 0.0)
    assert finding.supports(Support()).confidence is None


def test_the_setting_decides_unless_the_property_says_otherwise(schema: Schema):
    for policy, severity in (("refuse", SH.Violation), ("warn", SH.Warning), ("ignore", SH.Info)):
        check = PlaceConflicts(schema, policy=policy)
        assert check.severity(NamedNode(EX + "liesIn")) == severity
        assert check.severity(NamedNode(EX + "besides")) == SH.Warning


def test_the_message_names_both_sides(schema: Schema):
    check = PlaceConflicts(schema)
    found = triple("far", "liesIn", "square")
    finding = check.look(found, geometries)
    assert finding is not None
    message = check.contradiction(found, finding, lambda node: node.value.rpartition("/")[2]).message
    assert message.startswith('The text puts "far" within "square". By their geometries it lies apart')
    assert "(DC, 313." in message


def test_the_shipped_ontology_says_what_its_properties_mean(shipped: Path):
    places = StatedPlaces.of(Schema.load(shipped))
    named = {term.label: iri for iri, term in Schema.load(shipped).properties.items()}
    assert places.meaning(named["located in"]) is Where.WITHIN
    assert places.meaning(named["part of"]) is Where.WITHIN
    assert places.meaning(named["contains"]) is Where.CONTAINS
    assert places.meaning(named["adjacent to"]) is Where.TOUCHES
    assert places.meaning(named["opened"]) is None


@pytest.fixture
def shipped() -> Path:
    import ontology

    return Path(ontology.__file__).parent

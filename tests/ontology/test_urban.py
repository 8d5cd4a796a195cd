"""The shipped ontology keeps its promises: documented terms, OWL 2 DL, consistent, loaded fast."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pyoxigraph
import pytest
from pyowl2_profiles import detect_profiles

from ontology import OntologyClass, OntologyProperty, PropertyKind, Schema

FOLDER = Path(__file__).parents[2] / "ontology"
URBAN = "https://w3id.org/urbankg/urban#"
XSD = "http://www.w3.org/2001/XMLSchema#"
GEO = "http://www.opengis.net/ont/geosparql#"
PROV = "http://www.w3.org/ns/prov#"


@cache
def schema() -> Schema:
    return Schema.load(FOLDER)


def urban(name: str) -> pyoxigraph.NamedNode:
    return pyoxigraph.NamedNode(URBAN + name)


def own_classes() -> list[OntologyClass]:
    return [term for term in schema().classes.values() if not term.borrowed]


def own_properties() -> list[OntologyProperty]:
    return [term for term in schema().properties.values() if not term.borrowed]


def test_the_ontology_covers_a_first_city() -> None:
    assert len(own_classes()) >= 60
    assert len(own_properties()) >= 40


def test_every_own_term_has_a_label_alternatives_and_a_definition() -> None:
    for term in (*own_classes(), *own_properties()):
        assert term.label
        assert term.alternative_labels, term.iri
        assert term.definition.endswith("."), term.iri


def test_every_own_property_has_a_domain_and_a_range() -> None:
    for term in own_properties():
        assert term.domains, term.iri
        assert term.ranges, term.iri
        assert term.domains <= set(schema().classes)


def test_main_labels_name_one_term_only_and_are_found_again() -> None:
    for term in own_classes():
        assert schema().find_class(term.label) == term
    for relation in own_properties():
        assert schema().find_property(relation.label) == relation


def test_labels_follow_the_local_names() -> None:
    assert schema().classes[urban("SubwayStation")].label == "subway station"
    assert schema().properties[urban("locatedIn")].label == "located in"


def test_dates_may_be_years_months_and_days() -> None:
    dates = {pyoxigraph.NamedNode(XSD + name) for name in ("gYear", "gYearMonth", "date")}
    dated = {term.label for term in own_properties() if term.ranges == dates}
    assert {"established", "opened", "closed", "start date", "end date"} <= dated


def test_numbers_carry_their_unit() -> None:
    units = {term.label: term.unit.value.rsplit("/")[-1] for term in own_properties() if term.unit}
    assert units["height"] == "M"
    assert units["length"] == "KiloM"
    assert units["area"] == "KiloM2"
    numeric = [t for t in own_properties() if t.ranges & {pyoxigraph.NamedNode(XSD + "decimal")}]
    assert all(term.unit for term in numeric)


def test_a_university_is_a_place_and_an_organization_and_a_feature() -> None:
    above = schema().superclasses(urban("University"))
    expected = {URBAN + "Place", URBAN + "Organization", GEO + "Feature", PROV + "Agent"}
    assert expected <= {iri.value for iri in above}


@pytest.mark.parametrize(
    ("one", "other"),
    [("Architect", "Park"), ("Parade", "Street"), ("River", "Skyscraper"), ("Avenue", "CityHall")],
)
def test_kinds_that_exclude_one_another_are_disjoint(one: str, other: str) -> None:
    assert schema().are_disjoint(urban(one), urban(other))
    assert schema().are_disjoint(urban(other), urban(one))


@pytest.mark.parametrize(
    ("one", "other"), [("Museum", "Building"), ("Church", "Organization"), ("City", "Borough")]
)
def test_kinds_that_may_meet_are_not_disjoint(one: str, other: str) -> None:
    assert not schema().are_disjoint(urban(one), urban(other))


def test_inverse_properties_know_each_other() -> None:
    properties = schema().properties
    assert properties[urban("contains")].inverse == urban("locatedIn")
    assert properties[urban("locatedIn")].inverse == urban("contains")
    assert properties[urban("adjacentTo")].symmetric
    assert properties[urban("partOf")].transitive
    assert not any(term.functional for term in own_properties())


def test_the_ontology_is_in_owl_2_dl() -> None:
    store = pyoxigraph.Store()
    store.load(path=str(FOLDER / "urban.ttl"))
    report = detect_profiles(store, None)["dl"]
    assert report["in_profile"], report["violations_by_axiom_type"]


def test_terms_of_other_vocabularies_are_declared_and_marked() -> None:
    feature = schema().classes[pyoxigraph.NamedNode(GEO + "Feature")]
    assert feature.borrowed
    wkt = schema().properties[pyoxigraph.NamedNode(GEO + "asWKT")]
    assert wkt.kind is PropertyKind.DATATYPE
    assert {iri.value for iri in wkt.ranges} == {GEO + "wktLiteral"}


def test_the_catalog_points_to_every_version_of_the_file() -> None:
    entries = ElementTree.parse(FOLDER / "catalog-v001.xml").getroot()
    files = {entry.attrib["name"]: FOLDER / entry.attrib["uri"] for entry in entries}
    named = {*schema().ontologies, *schema().version_iris}
    assert {iri.value for iri in named} <= set(files)
    assert all(file.is_file() for file in files.values())


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_reasoner_finds_the_ontology_consistent_and_every_class_possible(tmp_path: Path) -> None:
    owlready2 = pytest.importorskip("owlready2")
    file = tmp_path / "urban.nt"
    file.write_text("".join(f"{triple} .\n" for triple in schema().triples), encoding="utf-8")
    world = owlready2.World()
    loaded = world.get_ontology(file.as_uri()).load()
    with loaded:
        owlready2.sync_reasoner_hermit(world, debug=0)
    assert list(world.inconsistent_classes()) == []

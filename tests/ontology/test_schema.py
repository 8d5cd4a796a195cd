"""A schema is read from any OWL file, whatever conventions it follows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import BlankNode, NamedNode

import ontology
from ontology import PropertyKind, Schema
from tests.support.retained import retained

PREFIXES = """
@prefix ex: <http://example.org/zoo#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix schema: <https://schema.org/> .
"""


def ex(name: str) -> NamedNode:
    return NamedNode("http://example.org/zoo#" + name)


def load(folder: Path, turtle: str) -> Schema:
    (folder / "zoo.ttl").write_text(PREFIXES + turtle, encoding="utf-8")
    return Schema.load(folder)


def test_the_package_exports_what_it_promises() -> None:
    assert all(hasattr(ontology, name) for name in ontology.__all__)


def test_an_empty_folder_gives_an_empty_schema(tmp_path: Path) -> None:
    schema = Schema.load(tmp_path)
    assert not schema.classes
    assert not schema.properties
    assert not schema.triples
    assert schema.snippet("any text").classes == ()
    assert schema.find_class("park") is None
    assert schema.version == Schema.empty().version


def test_files_that_are_no_ontology_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not an ontology")
    assert not Schema.load(tmp_path).triples


def test_a_term_without_a_label_is_called_by_its_local_name(tmp_path: Path) -> None:
    schema = load(tmp_path, "ex:SnowLeopard a owl:Class . ex:livesIn a owl:ObjectProperty .")
    assert schema.classes[ex("SnowLeopard")].label == "snow leopard"
    assert schema.properties[ex("livesIn")].label == "lives in"


def test_the_english_label_is_the_main_one_and_the_others_are_alternatives(tmp_path: Path) -> None:
    schema = load(
        tmp_path, 'ex:Lion a owl:Class ; rdfs:label "Löwe"@de , "lion"@en ; skos:altLabel "big cat" .'
    )
    lion = schema.classes[ex("Lion")]
    assert lion.label == "lion"
    assert set(lion.alternative_labels) == {"Löwe", "big cat"}
    assert schema.find_class("LOWE") == lion
    assert schema.find_class("big cats") == lion


def test_a_label_in_another_language_serves_where_there_is_no_english_one(tmp_path: Path) -> None:
    schema = load(tmp_path, 'ex:Lion a owl:Class ; rdfs:label "Löwe"@de .')
    assert schema.classes[ex("Lion")].label == "Löwe"


def test_classes_of_rdfs_and_undeclared_subclasses_count(tmp_path: Path) -> None:
    schema = load(tmp_path, "ex:Animal a rdfs:Class . ex:Cat rdfs:subClassOf ex:Animal .")
    assert set(schema.classes) == {ex("Animal"), ex("Cat")}
    assert schema.subclasses(ex("Animal")) == {ex("Animal"), ex("Cat")}


def test_unions_in_a_domain_are_alternatives(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        """ex:eats a owl:ObjectProperty ;
            rdfs:domain [ owl:unionOf ( ex:Cat [ owl:unionOf ( ex:Dog ex:Fox ) ] ) ] .""",
    )
    assert schema.properties[ex("eats")].domains == {ex("Cat"), ex("Dog"), ex("Fox")}


def test_domain_and_range_includes_of_schema_org_count(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        "ex:age a rdf:Property ; schema:domainIncludes ex:Cat , ex:Dog ; schema:rangeIncludes xsd:integer .",
    )
    age = schema.properties[ex("age")]
    assert age.kind is PropertyKind.DATATYPE
    assert age.domains == {ex("Cat"), ex("Dog")}
    assert age.ranges == {NamedNode("http://www.w3.org/2001/XMLSchema#integer")}


def test_equivalent_classes_are_above_and_below_each_other(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        """ex:Cat a owl:Class ; owl:equivalentClass ex:Feline ; rdfs:subClassOf ex:Animal .
        ex:Pet owl:equivalentClass [ owl:intersectionOf ( ex:Animal ex:Tame ) ] .
        ex:Beast owl:equivalentClass [ owl:unionOf ( ex:Lion ex:Bear ) ] .""",
    )
    assert schema.superclasses(ex("Feline")) == {ex("Feline"), ex("Cat"), ex("Animal")}
    assert schema.superclasses(ex("Pet")) >= {ex("Animal"), ex("Tame")}
    assert schema.subclasses(ex("Beast")) >= {ex("Lion"), ex("Bear")}


def test_a_circle_of_subclasses_does_no_harm(tmp_path: Path) -> None:
    schema = load(tmp_path, "ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:A .")
    assert schema.superclasses(ex("A")) == {ex("A"), ex("B")}


def test_disjointness_is_inherited_from_every_axiom_form(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        """ex:Lion rdfs:subClassOf ex:Cat . ex:Cat owl:disjointWith ex:Dog .
        [] a owl:AllDisjointClasses ; owl:members ( ex:Plant ex:Animal ex:Stone ) .
        ex:Meal owl:disjointUnionOf ( ex:Breakfast ex:Supper ) .""",
    )
    assert schema.are_disjoint(ex("Dog"), ex("Lion"))
    assert schema.are_disjoint(ex("Stone"), ex("Plant"))
    assert schema.are_disjoint(ex("Breakfast"), ex("Supper"))
    assert schema.subclasses(ex("Meal")) == {ex("Meal"), ex("Breakfast"), ex("Supper")}
    assert not schema.are_disjoint(ex("Lion"), ex("Stone"))


def test_subproperties_are_ordered(tmp_path: Path) -> None:
    schema = load(tmp_path, "ex:hunts a owl:ObjectProperty ; rdfs:subPropertyOf ex:meets .")
    assert schema.superproperties(ex("hunts")) == {ex("hunts"), ex("meets")}
    assert schema.subproperties(ex("meets")) == {ex("hunts"), ex("meets")}


def test_deprecated_terms_are_known_but_not_offered(tmp_path: Path) -> None:
    schema = load(tmp_path, "ex:Cat a owl:Class . ex:Dog a owl:Class ; owl:deprecated true .")
    assert schema.classes[ex("Dog")].deprecated
    assert [term.iri for term in schema.snippet("a dog").classes] == [ex("Cat")]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("private Ivy League research university", "University"),
        ("Universities", "University"),
        ("a university in the Park", "University"),
        ("the oldest institution of higher learning in town", "University"),
        ("city-park", "Park"),
        ("something else", None),
        ("", None),
    ],
)
def test_a_class_is_found_by_the_head_of_a_noun_phrase(tmp_path: Path, words: str, found: str | None) -> None:
    schema = load(
        tmp_path,
        'ex:University a owl:Class ; skos:altLabel "institution of higher learning" . ex:Park a owl:Class .',
    )
    term = schema.find_class(words)
    assert (term.iri if term else None) == (ex(found) if found else None)


def test_a_property_is_found_by_its_whole_label_only(tmp_path: Path) -> None:
    schema = load(tmp_path, 'ex:locatedIn a owl:ObjectProperty ; skos:altLabel "lies in" .')
    assert schema.find_property("Located-In") == schema.properties[ex("locatedIn")]
    assert schema.find_property("lies in") == schema.properties[ex("locatedIn")]
    assert schema.find_property("formerly located in") is None


def test_a_main_label_wins_over_an_alternative_one(tmp_path: Path) -> None:
    schema = load(tmp_path, 'ex:Garden a owl:Class ; skos:altLabel "park" . ex:Park a owl:Class .')
    assert schema.find_class("park") == schema.classes[ex("Park")]


def test_blank_nodes_of_two_files_stay_apart_and_keep_their_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        text = PREFIXES + f"ex:{name} rdfs:subClassOf _:x . _:x owl:unionOf ( ex:C ex:D ) ."
        (tmp_path / f"{name}.ttl").write_text(text)
    schema = Schema.load(tmp_path)
    nodes = {triple.subject for triple in schema.triples if isinstance(triple.subject, BlankNode)}
    assert len(nodes) == 6
    assert Schema.load(tmp_path).triples == schema.triples


def test_rdf_xml_and_n_triples_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "a.owl").write_text(
        '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:owl="http://www.w3.org/2002/07/owl#"><owl:Class rdf:about="http://example.org/zoo#Lion"/></rdf:RDF>'
    )
    (tmp_path / "b.nt").write_text(
        "<http://example.org/zoo#Bear> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
        "<http://www.w3.org/2002/07/owl#Class> .\n"
    )
    (tmp_path / "c.owl").write_text(PREFIXES + "ex:Wolf a owl:Class .")
    assert set(Schema.load(tmp_path).classes) == {ex("Lion"), ex("Bear"), ex("Wolf")}


def test_ontologies_versions_and_prefixes_are_reported(tmp_path: Path) -> None:
    schema = load(
        tmp_path, "ex: a owl:Ontology ; owl:versionIRI <http://example.org/zoo/2> . ex:Cat a owl:Class ."
    )
    assert set(schema.ontologies) == {NamedNode("http://example.org/zoo#")}
    assert schema.version_iris == (NamedNode("http://example.org/zoo/2"),)
    assert schema.prefixes["ex"] == "http://example.org/zoo#"
    before = schema.version
    assert load(tmp_path, "ex:Cat a owl:Class .").version != before


def test_a_page_about_a_vocabulary_hides_no_class_of_it(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        "ex: a owl:Ontology . ex:Cat a owl:Class ; rdfs:isDefinedBy <http://pages.example/zoo/> ."
        "<http://other.example/Dog> a owl:Class ; rdfs:isDefinedBy <http://other.example/> ."
        "<http://third.example/Hen> a owl:Class ; rdfs:isDefinedBy <http://pages.example/zoo/> ."
        "<http://third.example/Cow> a owl:Class ; rdfs:label 'cow' ; rdfs:isDefinedBy <http://a.example/> .",
    )
    borrowed = {one.label for one in schema.classes.values() if one.borrowed}
    assert borrowed == {"dog", "hen"}
    assert [one.label for one in schema.snippet("cats and hens").classes] == ["cat", "cow"]


def test_a_vocabulary_that_is_loaded_by_itself_is_offered(tmp_path: Path) -> None:
    schema = load(tmp_path, "ex:Cat a owl:Class ; rdfs:isDefinedBy <http://elsewhere.example/> .")
    assert schema.find_class("cat") is not None


def test_terms_of_the_data_are_not_kept() -> None:
    schema = Schema.empty()
    before = retained(schema, "ontology")
    for number in range(1000):
        name = ex(f"Unknown{number}")
        for order in (schema.superclasses, schema.subclasses, schema.superproperties, schema.subproperties):
            assert order(name) == {name}
    assert retained(schema, "ontology") == before

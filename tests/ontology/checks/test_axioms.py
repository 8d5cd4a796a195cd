"""Every term of OWL 2 has an effect here, or `check` names it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from rdflib.namespace import OWL

from ontology import Schema
from ontology.checks.axioms import effect
from ontology.checks.findings import Finding
from ontology.checks.linting import lint_ontology
from shapes.authoring.demands import Overrides
from shapes.authoring.generating import generate_shapes
from shapes.graph import graph_in_memory
from tests.ontology.checks.test_linting import HEAD
from tests.sparql.inference.test_profile_rules import RULES
from tests.support.profile_tables import NOT_FOLLOWED, TABLES

TERMS = sorted(OWL.__annotations__)
RESTRICTION = ":Park rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; {} ] ."
SAME = ":Park owl:equivalentClass [ {} ] ."
REPORTED = {
    "hasKey": ":Park owl:hasKey ( :p ) .",
    "hasSelf": RESTRICTION.format("owl:hasSelf true"),
    "intersectionOf": SAME.format("owl:intersectionOf ( :Road :Park )"),
    "unionOf": SAME.format("owl:unionOf ( :Road :Way )"),
    "oneOf": SAME.format("owl:oneOf ( :a :b )"),
    "disjointUnionOf": ":Place owl:disjointUnionOf ( :Park :Road ) .",
    "someValuesFrom": RESTRICTION.format("owl:someValuesFrom :Road"),
    "inverseOf": ":Park rdfs:subClassOf [ owl:onProperty [ owl:inverseOf :p ] ; owl:hasValue :a ] .",
    "ReflexiveProperty": ":p a owl:ReflexiveProperty .",
    "topObjectProperty": ":q owl:inverseOf owl:topObjectProperty .",
    "topDataProperty": ":p owl:equivalentProperty owl:topDataProperty .",
    "differentFrom": ":a owl:differentFrom :b .",
    "AllDifferent": "[] a owl:AllDifferent ; owl:distinctMembers ( :a :b ) .",
    "complementOf": ":Park owl:complementOf :Road .",
    "datatypeComplementOf": ":d a rdfs:Datatype ; owl:datatypeComplementOf :e .",
    "NegativePropertyAssertion": (
        "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :a ; owl:assertionProperty :p ; "
        "owl:targetIndividual :b ; owl:targetValue 1 ."
    ),
    "bottomObjectProperty": ":p rdfs:subPropertyOf owl:bottomObjectProperty .",
    "bottomDataProperty": ":p rdfs:subPropertyOf owl:bottomDataProperty .",
    "Nothing": ":Park rdfs:subClassOf owl:Nothing .",
    "onClass": RESTRICTION.format("owl:maxQualifiedCardinality 1 ; owl:onClass :Road"),
    "onDataRange": RESTRICTION.format("owl:maxQualifiedCardinality 1 ; owl:onDataRange :d"),
    "onProperties": ":Park rdfs:subClassOf [ owl:onProperties ( :p :q ) ; owl:allValuesFrom :d ] .",
    "DataRange": ":d a owl:DataRange .",
}
JUDGED = {
    "disjointWith": ":A a owl:Class ; owl:disjointWith :B . :B a owl:Class .",
    "AllDisjointClasses": ":A a owl:Class . :B a owl:Class . "
    "[] a owl:AllDisjointClasses ; owl:members ( :A :B ) .",
    "disjointUnionOf": ":A a owl:Class . :B a owl:Class . :C owl:disjointUnionOf ( :A :B ) .",
    "FunctionalProperty": ":p a owl:ObjectProperty , owl:FunctionalProperty .",
    "IrreflexiveProperty": ":p a owl:ObjectProperty , owl:IrreflexiveProperty .",
    "AsymmetricProperty": ":p a owl:ObjectProperty , owl:AsymmetricProperty .",
    "propertyDisjointWith": ":p a owl:ObjectProperty ; owl:propertyDisjointWith :q .",
    "AllDisjointProperties": ":p a owl:ObjectProperty . :q a owl:ObjectProperty . "
    "[] a owl:AllDisjointProperties ; owl:members ( :p :q ) .",
    "allValuesFrom": ":A rdfs:subClassOf [ owl:onProperty :p ; owl:allValuesFrom :B ] .",
    "oneOf": ":A owl:equivalentClass [ owl:oneOf ( :a ) ] . :A a owl:Class .",
    "unionOf": ":p a owl:ObjectProperty ; rdfs:domain [ owl:unionOf ( :A :B ) ] .",
    "onDatatype": ":p a owl:DatatypeProperty ; rdfs:range :d . :d a rdfs:Datatype ; owl:equivalentClass "
    "[ owl:onDatatype xsd:string ; owl:withRestrictions ( [ xsd:length 2 ] ) ] .",
    "real": ":p a owl:DatatypeProperty ; rdfs:range owl:real .",
    "rational": ":p a owl:DatatypeProperty ; rdfs:range owl:rational .",
    **{
        f"{kind}ardinality": f":A rdfs:subClassOf [ owl:onProperty :p ; owl:{kind}ardinality 1 ] ."
        for kind in ("c", "minC", "maxC")
    },
    **{
        f"{kind}ualifiedCardinality": ":A rdfs:subClassOf [ owl:onProperty :p ; "
        f"owl:{kind}ualifiedCardinality 1 ; owl:onClass owl:Thing ; owl:onDataRange rdfs:Literal ] ."
        for kind in ("q", "minQ", "maxQ")
    },
}
"""Terms that are parts of these: members, withRestrictions, onClass, onDataRange."""


def lint(folder: Path, turtle: str) -> tuple[Finding, ...]:
    (folder / "o.ttl").write_text(HEAD + turtle, encoding="utf-8")
    return lint_ontology(Schema.load(folder))


def test_every_term_of_owl_has_an_effect_or_is_reported() -> None:
    effects = {term: effect(term) for term in TERMS}
    assert "" not in effects.values()
    assert {term for term, word in effects.items() if word == "reported"} == REPORTED.keys()
    rules = " ".join(premises for premises, _ in RULES.values())
    assert [
        term for term, word in effects.items() if word == "inferred" and f"owl:{term} " not in rules
    ] == []
    judged = " ".join(JUDGED.values())
    assert [term for term, word in effects.items() if word == "judged" and f"owl:{term}" not in judged] == []


@pytest.mark.parametrize("term", REPORTED)
def test_an_axiom_that_is_neither_inferred_from_nor_judged_is_named(tmp_path: Path, term: str) -> None:
    found = [
        one
        for one in lint(tmp_path, REPORTED[term])
        if one.rule.name in ("axiom_not_inferred", "axiom_not_judged")
    ]
    assert [one.subject for one in found] == [str(OWL) + term]
    assert found[0].level == "INFO"
    assert found[0].line is not None


def test_of_every_rule_of_the_profile_it_is_known_what_comes_of_it() -> None:
    """The tables have 9, 20, 19, 5, 5 and 20 rules (OWL 2 Profiles, 4.3)."""
    families = Counter(name.partition("-")[0] for name in TABLES)
    assert families == {"eq": 9, "prp": 20, "cls": 19, "cax": 5, "dt": 5, "scm": 20}
    words = {"trivial", "shapes", "datatypes", "schema"}
    assert set(NOT_FOLLOWED.values()) - words <= REPORTED.keys() | JUDGED.keys()


@pytest.mark.parametrize("rule", [name for name, term in NOT_FOLLOWED.items() if term in REPORTED])
def test_a_rule_that_is_not_followed_is_named_where_an_axiom_needs_it(tmp_path: Path, rule: str) -> None:
    term = str(OWL) + NOT_FOLLOWED[rule]
    [found] = [one for one in lint(tmp_path, REPORTED[NOT_FOLLOWED[rule]]) if one.subject == term]
    assert rule in found.message[found.message.index("OWL 2 RL: ") :].rstrip(").").replace(",", " ").split()


@pytest.mark.parametrize("term", JUDGED)
def test_of_an_axiom_that_is_judged_a_shape_is_made(tmp_path: Path, term: str) -> None:
    prefix = "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> ."
    assert f"owl:{term}" in JUDGED[term]
    head = HEAD[: HEAD.index(":Park a")]
    (tmp_path / "o.ttl").write_text(prefix + head + JUDGED[term], encoding="utf-8")
    made = generate_shapes(Schema.load(tmp_path), Overrides(graph_in_memory()), "closed")
    assert made


def test_axioms_that_have_their_effect_are_not_named(tmp_path: Path) -> None:
    turtle = (
        ":p a owl:TransitiveProperty , owl:SymmetricProperty ; owl:inverseOf :q ; rdfs:subPropertyOf :q ."
        ":p owl:propertyChainAxiom ( :p :p ) . :a owl:sameAs :b . :p a owl:InverseFunctionalProperty ."
        ":Park owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :Road ] ."
        ":q rdfs:domain [ owl:unionOf ( :Park :Road ) ] ; rdf:_1 :Park ; rdfs:isDefinedBy owl: ."
        "[] a owl:AllDisjointClasses ; owl:members ( :Park :Road ) ."
    )
    prefix = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
    names = {one.rule.name for one in lint(tmp_path, prefix + turtle)}
    assert names.isdisjoint({"axiom_not_inferred", "axiom_not_judged", "unknown_owl"})


def test_a_facet_that_no_shape_is_made_of_is_named(tmp_path: Path) -> None:
    turtle = """@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . :d a rdfs:Datatype ; owl:equivalentClass
        [ owl:onDatatype xsd:decimal ;
          owl:withRestrictions ( [ xsd:totalDigits 2 ] [ xsd:minInclusive 1 ] ) ] ."""
    found = [one.subject for one in lint(tmp_path, turtle) if one.rule.name == "axiom_not_judged"]
    assert found == ["http://www.w3.org/2001/XMLSchema#totalDigits"]


@pytest.mark.parametrize(
    "turtle", [":Road rdfs:subclassOf :Park .", ":p a owl:Asymetric .", ":a rdf:typ :Park ."]
)
def test_a_misspelled_term_of_owl_or_rdfs_is_named_with_its_place(tmp_path: Path, turtle: str) -> None:
    prefix = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
    found = [one for one in lint(tmp_path, prefix + turtle) if one.rule.name == "unknown_owl"]
    assert len(found) == 1
    assert found[0].level == "WARN"
    assert found[0].line is not None


def test_a_class_is_deprecated_by_its_type_too(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(
        HEAD
        + ":Old a owl:DeprecatedClass , owl:Class . :old a owl:DeprecatedProperty , owl:ObjectProperty .",
        encoding="utf-8",
    )
    schema = Schema.load(tmp_path)
    old = [one.iri.value for one in (*schema.classes.values(), *schema.properties.values()) if one.deprecated]
    assert old == ["http://example.org/o#Old", "http://example.org/o#old"]

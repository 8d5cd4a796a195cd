"""Each rule of the check finds what it is named after, with its place, and nothing in the shipped files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from ontology import Schema
from ontology.checks.findings import Finding
from ontology.checks.linting import lint_ontology
from ontology.loading import line_of

HEAD = """@prefix : <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
<http://example.org/o> a owl:Ontology ; owl:versionIRI <http://example.org/o/1> ;
    dct:license :l ; dct:creator "A" .
:Park a owl:Class ; rdfs:label "park"@en ; skos:definition "Green." .
:Road a owl:Class ; rdfs:label "road"@en ; skos:definition "A way." ; owl:disjointWith :Park .
"""
DOCUMENTED = 'rdfs:label "new"@en ; skos:definition "New."'


def lint(folder: Path, turtle: str, head: str = HEAD) -> tuple[Finding, ...]:
    (folder / "o.ttl").write_text(head + turtle, encoding="utf-8")
    return lint_ontology(Schema.load(folder))


@pytest.mark.parametrize(
    ("rule", "turtle"),
    [
        ("missing_label", ':X a owl:Class ; skos:definition "X." .'),
        ("missing_definition", ':X a owl:Class ; rdfs:label "x"@en .'),
        ("multiple_labels", ':X a owl:Class ; rdfs:label "x"@en , "y"@en ; skos:definition "X." .'),
        ("duplicate_label", ':X a owl:Class ; rdfs:label "Park"@en ; skos:definition "X." .'),
        ("missing_domain", f":p a owl:ObjectProperty ; {DOCUMENTED} ; rdfs:range :Park ."),
        ("missing_range", f":p a owl:ObjectProperty ; {DOCUMENTED} ; rdfs:domain :Park ."),
        (
            "impossible_domain",
            f":p a owl:ObjectProperty ; {DOCUMENTED} ; rdfs:domain :Park , :Road ; rdfs:range :Park .",
        ),
        ("undeclared_term", f":X a owl:Class ; {DOCUMENTED} ; rdfs:subClassOf :Prak ."),
        ("cycle", f":X a owl:Class ; {DOCUMENTED} ; rdfs:subClassOf :Y . :Y rdfs:subClassOf :X ."),
        ("impossible_class", f":X a owl:Class ; {DOCUMENTED} ; rdfs:subClassOf :Park , :Road ."),
        (
            "deprecated_in_use",
            f":Old a owl:Class ; {DOCUMENTED} ; owl:deprecated true . :Park rdfs:subClassOf :Old .",
        ),
        ("missing_replacement", f":Old a owl:Class ; {DOCUMENTED} ; owl:deprecated true ."),
    ],
)
def test_a_rule_finds_what_it_is_named_after(tmp_path: Path, rule: str, turtle: str) -> None:
    found = [one for one in lint(tmp_path, turtle) if one.rule.name == rule]
    assert found, [one.rule.name for one in lint(tmp_path, turtle)]
    assert found[0].file == tmp_path / "o.ttl"
    assert found[0].line is not None
    assert found[0].fix


def test_two_domains_that_can_both_hold_are_reported_to_intersect(tmp_path: Path) -> None:
    turtle = f""":Wide a owl:Class ; rdfs:label "wide"@en ; skos:definition "Wide." .
    :p a owl:ObjectProperty ; {DOCUMENTED} ; rdfs:domain :Park , :Wide ; rdfs:range :Park ."""
    assert [one.rule.name for one in lint(tmp_path, turtle)] == ["intersecting_domains"]


def test_classes_that_exclude_nothing_and_a_file_without_a_version_are_reported(tmp_path: Path) -> None:
    head = HEAD.replace("owl:versionIRI <http://example.org/o/1> ;", "").replace(
        "; owl:disjointWith :Park ", ""
    )
    assert [one.rule.name for one in lint(tmp_path, "", head)] == ["missing_version_iri", "no_disjointness"]


def test_a_file_without_an_ontology_is_reported(tmp_path: Path) -> None:
    names = [one.rule.name for one in lint(tmp_path, "", HEAD.replace("a owl:Ontology ;", ""))]
    assert names == ["missing_ontology_iri"]


def test_the_worst_comes_first(tmp_path: Path) -> None:
    found = lint(tmp_path, ":p a owl:ObjectProperty . :X rdfs:subClassOf :Park , :Road .")
    assert [one.level.value for one in found] == sorted(
        (one.level.value for one in found), key=["ERROR", "WARN", "INFO"].index
    )
    assert found[0].level.value == "ERROR"


def test_a_line_is_that_of_the_name_and_not_of_a_longer_one(tmp_path: Path) -> None:
    turtle = ":Parking a owl:Class .:Par-k a owl:Class .\n:Y rdfs:subClassOf :Par .\n:Par a owl:Class ."
    (tmp_path / "o.ttl").write_text(HEAD + turtle)
    (file,) = Schema.load(tmp_path).files
    first = HEAD.count("\n") + 1
    lines = {
        name: line_of(file, NamedNode("http://example.org/o#" + name)) for name in ("Parking", "Par-k", "Par")
    }
    assert lines == {"Parking": first, "Par-k": first, "Par": first + 2}
    assert line_of(file, NamedNode("http://example.org/o#Pa")) is None


def test_the_shipped_ontology_has_no_findings() -> None:
    assert lint_ontology(Schema.load(Path(__file__).parents[3] / "ontology")) == ()


def test_a_term_that_is_a_class_and_a_property_does_not_share_its_label_with_itself(tmp_path: Path) -> None:
    turtle = f":X a owl:Class , owl:ObjectProperty ; {DOCUMENTED} ; rdfs:domain :Park ; rdfs:range :Park ."
    assert lint(tmp_path, turtle) == ()


def test_a_shared_synonym_names_all_others_of_the_word(tmp_path: Path) -> None:
    turtle = "".join(
        f':{name} a owl:Class ; rdfs:label "{name}"@en ; skos:definition "." ; skos:altLabel "Lot"@en .'
        for name in ("garage", "yard", "plot")
    )
    (found,) = lint(tmp_path, turtle)
    assert found.rule.name == "shared_synonym"
    assert found.subject.endswith("plot")
    assert found.message == 'has the synonym "lot", which names :garage, :yard too.'

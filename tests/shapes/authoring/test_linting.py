"""Each rule about shapes finds what it is named after, with its place, and nothing in the shipped files."""

from pathlib import Path

import pytest

from ontology import Schema
from ontology.checks.findings import Finding
from shapes.authoring.linting import lint_shapes
from shapes.configuration import Generation
from shapes.loading import load_shapes

ROOT = Path(__file__).parents[3]
ONTOLOGY = """@prefix : <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Park a owl:Class . :Road a owl:Class ; owl:disjointWith :Park . :Old a owl:Class ; owl:deprecated true .
:in a owl:ObjectProperty ; rdfs:range :Park . :size a owl:DatatypeProperty .
"""
HEAD = """@prefix : <http://example.org/o#> .
@prefix s: <http://example.org/s#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def lint(folder: Path, turtle: str, mode: Generation = "off") -> tuple[Finding, ...]:
    for name in ("ontology", "shapes"):
        (folder / name).mkdir()
    (folder / "ontology" / "o.ttl").write_text(ONTOLOGY)
    (folder / "shapes" / "s.ttl").write_text(HEAD + turtle)
    return lint_shapes(load_shapes(folder / "shapes"), Schema.load(folder / "ontology"), mode)


@pytest.mark.parametrize(
    ("rule", "turtle"),
    [
        ("shape_unknown_term", 's:S a sh:NodeShape ; sh:targetClass :Prak ; sh:class :Park .'),
        ("shape_unknown_term", 's:S sh:targetClass :Park ; sh:path :inn ; sh:minCount 1 ; sh:message "." .'),
        ("shape_unknown_shacl", 's:S sh:targetClass :Park ; sh:path :in ; sh:minCout 1 ; sh:message "." .'),
        ("shape_contradiction", "s:S sh:targetClass :Park ; sh:path :in ; sh:minCount 2 ; sh:maxCount 1 ."),
        ("shape_contradiction", "s:S sh:targetClass :Park ; sh:path :in ; sh:class :Park , :Road ."),
        ("shape_contradiction", "s:S sh:targetClass :Park ; sh:nodeKind sh:IRI ; sh:datatype xsd:date ."),
        (
            "shape_contradiction",
            "s:S sh:targetClass :Park ; sh:path :size ; sh:minInclusive 3 ; sh:maxExclusive 3 .",
        ),
        (
            "shape_contradiction",
            "s:R sh:targetClass :Park ; sh:path :in ; sh:minCount 1 ."
            "s:S sh:targetClass :Park ; sh:path :in ; sh:maxCount 0 .",
        ),
        ("shape_against_ontology", "s:S sh:targetClass :Park ; sh:path :in ; sh:class :Road ."),
        ("shape_never_fails", "s:S sh:targetClass :Park ; sh:path :in ; sh:minCount 0 ."),
        ("shape_never_runs", "s:S a sh:PropertyShape ; sh:path :in ; sh:minCount 1 ."),
        ("shape_deprecated_term", "s:S a sh:NodeShape ; sh:targetClass :Old ; sh:nodeKind sh:IRI ."),
        ("shape_missing_message", "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:nodeKind sh:IRI ."),
        ("shape_deactivated", "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:deactivated true ."),
    ],
)  # fmt: skip
def test_a_rule_finds_what_it_is_named_after(tmp_path: Path, rule: str, turtle: str) -> None:
    found = lint(tmp_path, turtle)
    mine = [one for one in found if one.rule.name == rule]
    assert mine, [one.rule.name for one in found]
    assert (mine[0].file, mine[0].line) == (tmp_path / "shapes" / "s.ttl", 5)


def test_a_shape_that_asks_something_of_known_terms_is_fine(tmp_path: Path) -> None:
    assert lint(tmp_path, 's:S sh:targetClass :Park ; sh:path :in ; sh:minCount 1 ; sh:message "In?" .') == ()


def test_a_shape_that_is_a_class_by_a_subclass_of_rdfs_class_runs(tmp_path: Path) -> None:
    kind = "s:Kind <http://www.w3.org/2000/01/rdf-schema#subClassOf> "
    shape = " s:S a s:Kind , sh:NodeShape ; sh:property [ sh:path :in ; sh:minCount 1 ; sh:message 'In?' ] ."
    assert lint(tmp_path, f"{kind} <http://www.w3.org/2000/01/rdf-schema#Class> .{shape}") == ()


def test_the_shipped_shapes_have_no_findings() -> None:
    assert lint_shapes(load_shapes(ROOT / "shapes"), Schema.load(ROOT / "ontology"), "contradictions") == ()


@pytest.mark.parametrize(
    ("mode", "turtle", "repeats"),
    [
        ("closed", "s:S sh:targetSubjectsOf :in ; sh:path :in ; sh:class :Park .", True),
        ("contradictions", "s:S sh:targetSubjectsOf :in ; sh:path :in ; sh:class :Park .", False),
        ("contradictions", "s:S sh:targetClass :Park ; sh:not [ sh:class :Road ] .", True),
        ("off", "s:S sh:targetClass :Park ; sh:not [ sh:class :Road ] .", False),
        ("closed", "s:S sh:targetSubjectsOf :in ; sh:path :in ; sh:class :Park ; sh:maxCount 3 .", False),
        ("closed", "s:S sh:targetSubjectsOf :in ; sh:class :Park ; sh:severity sh:Info .", False),
    ],
)  # fmt: skip
def test_a_shape_that_only_repeats_axioms_is_found(
    tmp_path: Path, mode: Generation, turtle: str, repeats: bool
) -> None:
    found = lint(tmp_path, turtle, mode)
    assert ("shape_repeats_axiom" in {one.rule.name for one in found}) is repeats


ILL_FORMED = [
    'sh:minCount "one"',
    "sh:minCount 1 , 2",
    "sh:minCount 1.5",
    "sh:maxCount -1",
    'sh:datatype "integer"',
    "sh:nodeKind sh:Iri",
    'sh:pattern "("',
    "sh:pattern 5",
    'sh:uniqueLang "yes"',
    'sh:in "a"',
    "sh:in [ <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> 1 ]",
    "sh:languageIn ( 1 )",
    'sh:lessThan "x"',
    'sh:or ( "x" )',
    "sh:property [ sh:class :Park ]",
    "sh:property 5",
    "sh:qualifiedValueShape [ sh:class :Park ]",
    "sh:closed 1",
    'sh:ignoredProperties ( "x" )',
    'sh:severity "high"',
    "sh:message 5",
    'sh:deactivated "no"',
    "sh:minInclusive :Park",
    "sh:path :size",
    'sh:sparql [ sh:message "." ]',
]


@pytest.mark.parametrize("constraint", ILL_FORMED)
def test_an_ill_formed_shape_is_an_error(tmp_path: Path, constraint: str) -> None:
    shape = f"s:S a sh:PropertyShape ; sh:targetClass :Park ; sh:path :in ; {constraint} ."
    found = [one for one in lint(tmp_path, shape) if one.rule.name == "shape_ill_formed"]
    assert len(found) == 1, found
    assert (found[0].level, found[0].subject) == ("ERROR", "http://example.org/s#S")
    assert found[0].line == HEAD.count("\n") + 1


def test_parameters_of_property_shapes_need_a_path(tmp_path: Path) -> None:
    found = lint(tmp_path, "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:minCount 1 ; sh:lessThan :size .")
    messages = [one.message for one in found if one.rule.name == "shape_ill_formed"]
    assert len(messages) == 2
    assert all("no sh:path" in message for message in messages)


def test_an_ill_formed_shape_hides_no_other_finding(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        's:S sh:targetClass :Park ; sh:path "in" ; sh:minCount "one" ; sh:in 5 ; sh:class :Prak .'
        "s:T sh:targetClass :Park ; sh:path :in ; sh:minCount 2 ; sh:maxCount 1 .",
    )
    rules = [one.rule.name for one in found]
    assert rules.count("shape_ill_formed") == 3
    assert "shape_unknown_term" in rules
    assert "shape_contradiction" in rules


@pytest.mark.parametrize(
    ("level", "turtle"),
    [
        ("ERROR", 's:S a sh:NodeShape ; sh:target [ a sh:SPARQLTarget ; sh:select "SELECT ?this {}" ] .'),
        ("ERROR", "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:expression [ sh:path :in ] ."),
        ("ERROR", 's:S a sh:NodeShape ; sh:targetClass :Park ; sh:js [ sh:jsFunctionName "f" ] .'),
        (
            "WARN",
            "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:rule [ a sh:TripleRule ] ; sh:class :Park .",
        ),
        ("WARN", "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:property [ sh:path :in ; sh:values 1 ] ."),
    ],
)
def test_an_unsupported_feature_is_reported(tmp_path: Path, level: str, turtle: str) -> None:
    found = [one for one in lint(tmp_path, turtle) if one.rule.name == "shape_unsupported"]
    assert {one.level for one in found} == {level}
    assert all("unsupported" in one.message for one in found)
    assert found[0].subject == "http://example.org/s#S"


@pytest.mark.parametrize(
    "turtle",
    [
        "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:rule [ a sh:TripleRule ; sh:subject sh:this ] .",
        "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:expression [ sh:path :in ] .",
        's:S a sh:PropertyShape ; sh:targetClass :Park ; sh:path :in ; sh:minCount "one" .',
    ],
)
def test_a_shape_with_a_graver_finding_is_not_called_useless(tmp_path: Path, turtle: str) -> None:
    names = {one.rule.name for one in lint(tmp_path, turtle)}
    assert "shape_never_fails" not in names
    assert names & {"shape_unsupported", "shape_ill_formed"}

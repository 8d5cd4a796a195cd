"""Each rule about shapes finds what it is named after, with its place, and nothing in the shipped files."""

from pathlib import Path

import pytest

from ontology import Schema
from ontology.checks.findings import Finding
from shapes.authoring.linting import lint_shapes
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


def lint(folder: Path, turtle: str) -> tuple[Finding, ...]:
    for name in ("ontology", "shapes"):
        (folder / name).mkdir()
    (folder / "ontology" / "o.ttl").write_text(ONTOLOGY)
    (folder / "shapes" / "s.ttl").write_text(HEAD + turtle)
    return lint_shapes(load_shapes(folder / "shapes"), Schema.load(folder / "ontology"))


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


def test_the_shipped_shapes_have_no_findings() -> None:
    assert lint_shapes(load_shapes(ROOT / "shapes"), Schema.load(ROOT / "ontology")) == ()

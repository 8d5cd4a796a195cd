"""A test of pySHACL's suite passes by what is inferred or judged, and else says what is unsupported."""

from __future__ import annotations

from benchmarks.shacl_advanced import Outcome, run, table

HEAD = """@prefix : <http://example.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix dash: <http://datashapes.org/dash#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
RULE = """:a :p :b . :S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:rule [ a sh:TripleRule ;
    sh:subject sh:this ; sh:predicate :q ; sh:object 1 ] .
:case a dash:InferencingTestCase ; dash:expectedResult
    [ rdf:subject :a ; rdf:predicate :q ; rdf:object %s ] ."""
JUDGED = """:S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:nodeKind sh:Literal %s . :a :p :b .
:case a dash:GraphValidationTestCase ; dash:expectedResult [ sh:result
    [ sh:focusNode :a ; sh:sourceConstraintComponent sh:NodeKindConstraintComponent ] ] ."""


def outcome(turtle: str) -> Outcome:
    return run("rules/triple/one", (HEAD + turtle).encode())


def test_a_test_of_rules_passes_if_its_triples_are_inferred() -> None:
    assert outcome(RULE % 1) == Outcome("rules/triple/one", True)
    assert not outcome(RULE % 2).passes
    assert outcome(RULE % 2).causes == ()


def test_a_test_of_validation_passes_by_focus_nodes_and_components() -> None:
    assert outcome(JUDGED % "").passes
    failed = outcome(JUDGED % "; sh:deactivated true ; sh:expression [ sh:path :p ]")
    assert not failed.passes
    assert "sh:expression" in failed.causes[0]


def test_the_table_names_each_failure_with_its_cause() -> None:
    lines = table([Outcome("target/one", True), Outcome("target/two", False, ("why",))], "suite")
    assert "| target | 2 | 1 |" in lines
    assert "- `target/two`: why" in lines

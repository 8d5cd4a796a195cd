"""Every term of SHACL and its extensions has an effect here, or `check` names its use."""

from __future__ import annotations

from pathlib import Path

import pyshacl
import pytest
import rdflib
from rdflib.namespace import RDF, SH

from shapes.authoring.syntax import effect
from tests.shapes.authoring.test_linting import lint

VOCABULARY = rdflib.Graph().parse(Path(pyshacl.__file__).parent / "assets" / "shacl.ttl")
TERMS = sorted(
    name
    for term in set(VOCABULARY.subjects())
    if isinstance(term, rdflib.URIRef) and (name := term.removeprefix(str(SH))) and term.startswith(str(SH))
)
"""As the W3C's file has them, with those of SHACL-AF and SHACL-JS."""
PROPERTIES = {str(one).removeprefix(str(SH)) for one in VOCABULARY.subjects(RDF.type, RDF.Property)}
REPORTED = [term for term in TERMS if effect(term) in ("judged", "ignored", "declared", "part")]


def test_the_table_has_every_term_of_the_vocabulary() -> None:
    assert len(TERMS) > 200
    assert [term for term in TERMS if not effect(term)] == []
    assert len(REPORTED) > 45


@pytest.mark.parametrize("term", [one for one in REPORTED if "-" not in one and "Component" not in one])
def test_a_use_of_a_term_without_effect_is_named(tmp_path: Path, term: str) -> None:
    base = "s:S a sh:NodeShape ; sh:targetClass :Park ; sh:nodeKind sh:IRI ; sh:message '.'"
    use = f"sh:{term} 1" if term in PROPERTIES else f"a sh:{term}"
    if term == "this":
        use = "s:of sh:this"
    found = [one for one in lint(tmp_path, f"{base} ; {use} .") if one.rule.name == "shape_unsupported"]
    assert [one.level == "ERROR" for one in found] == [effect(term) == "judged"]
    assert f"sh:{term}," in found[0].message
    assert "unsupported" in found[0].message


@pytest.mark.parametrize("term", [one for one in TERMS if one not in REPORTED and "-" not in one])
def test_a_use_of_a_term_with_its_effect_is_not_named(tmp_path: Path, term: str) -> None:
    use = f"s:S sh:{term} 1 ." if term in PROPERTIES else f"s:S s:of sh:{term} ."
    names = {one.rule.name for one in lint(tmp_path, use)}
    assert names.isdisjoint({"shape_unsupported", "shape_unknown_shacl"})


@pytest.mark.parametrize(
    "term", ["ConstraintComponent", "Minus", "memberShape", "ClassConstraintComponent-x"]
)
def test_a_term_that_shacl_does_not_define_has_no_effect_in_the_table(term: str) -> None:
    assert bool(effect(term)) == (term == "ConstraintComponent")


def test_what_is_within_a_feature_is_named_once(tmp_path: Path) -> None:
    turtle = """s:S a sh:NodeShape ; sh:targetClass :Park ; sh:nodeKind sh:IRI ; sh:message '.' ; sh:rule
        [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :in ; sh:condition [ sh:class :Park ] ;
          sh:object [ sh:filterShape [ sh:class :Park ] ; sh:nodes [ sh:path :in ] ] ] ."""
    found = [one for one in lint(tmp_path, turtle) if one.rule.name == "shape_unsupported"]
    assert len(found) == 1
    assert "sh:rule, a rule" in found[0].message


@pytest.mark.parametrize(
    ("query", "level"), [("FILTER (s:f($this) = 1)", "ERROR"), ("FILTER ($this != s:S)", "WARN")]
)
def test_a_function_that_a_query_calls_is_an_error(tmp_path: Path, query: str, level: str) -> None:
    turtle = f"""s:f a sh:SPARQLFunction ; sh:select "SELECT (1 AS ?r) {{}}" .
        s:S a sh:NodeShape ; sh:targetClass :Park ;
        sh:message '.' ; sh:sparql [ sh:select "SELECT $this {{ $this :in ?x . {query} }}" ] ."""
    found = [one for one in lint(tmp_path, turtle) if one.rule.name == "shape_unsupported"]
    assert [one.level for one in found] == [level]

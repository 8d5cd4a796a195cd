"""What a SHACL-SPARQL constraint depends on is read from its query, and never too narrowly."""

import pytest
import rdflib

from shapes.errors import ShapeMalformed
from shapes.model import targeted_shapes
from shapes.paths import ADDED, ANY, REMOVED, Dependency, sparql_text

EX = "http://example.org/"


def dependencies(where: str, *, path: str = "", head: str = "SELECT $this") -> list[Dependency]:
    """Of a shape with this one constraint."""
    graph = rdflib.Graph()
    graph.parse(
        format="turtle",
        data=f"""
        @prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <{EX}> .
        ex:prefixes sh:declare [ sh:prefix "ex" ; sh:namespace "{EX}" ] .
        ex:Shape sh:targetClass ex:Thing ; {path}
          sh:sparql [ sh:prefixes ex:prefixes ; sh:select \"\"\"{head} WHERE {{ {where} }}\"\"\" ] .
        """,
    )
    (shape,) = targeted_shapes(graph)
    return list(shape.dependencies)


def reported(found: list[Dependency]) -> set[tuple[str | None, str]]:
    """Paths and steps as texts, with the namespace left out."""

    def short(text: str) -> str:
        return text.replace(EX, "").replace("<", "").replace(">", "").strip("()")

    return {
        (None if d.path is None else short(sparql_text(d.path)), short(sparql_text(d.step))) for d in found
    }


def test_uniqueness_is_solved_from_the_focus_node():
    found = dependencies("$this ex:code ?code . ?other ex:code ?code FILTER (?other != $this)")
    assert reported(found) == {("", "code"), ("code", "^code")}
    assert {d.effect for d in found} == {ADDED}


def test_a_pattern_that_nothing_joins_may_concern_any_focus_node():
    assert (None, "code") in reported(
        dependencies("$this ex:code ?code . ?other ex:code ?same FILTER (?same = ?code)")
    )


def test_what_an_optional_binds_leads_nowhere_outside_of_it():
    found = reported(dependencies("OPTIONAL { $this ex:part ?part } ?part ex:broken true"))
    assert (None, "broken") in found
    assert ("", "part") in found


def test_an_optional_is_reached_from_what_it_is_attached_to():
    assert reported(
        dependencies("$this ex:part ?part OPTIONAL { ?part ex:broken ?b } FILTER (!BOUND(?b))")
    ) == {
        ("", "part"),
        ("part", "broken"),
    }


def test_a_branch_of_a_union_does_not_lead_into_the_other():
    assert (None, "broken") in reported(dependencies("{ $this ex:part ?x } UNION { ?x ex:broken true }"))
    both = dependencies("$this ex:part ?x { ?x ex:broken true } UNION { ?x ex:lost true }")
    assert reported(both) == {("", "part"), ("part", "broken"), ("part", "lost")}


def test_not_exists_is_reached_from_the_solution_it_tests():
    found = dependencies("$this ex:part ?x FILTER NOT EXISTS { ?x ex:checked ?when }")
    assert reported(found) == {("", "part"), ("part", "checked")}
    assert {d.effect for d in found} == {ANY}


def test_a_sub_select_shares_only_what_it_projects():
    hidden = "$this ex:part ?x { SELECT $this WHERE { $this ex:near ?x . ?y ex:broken ?x } }"
    assert reported(dependencies(hidden)) == {("", "part"), ("", "near"), ("near", "^broken")}
    with pytest.raises(ShapeMalformed, match="nested SELECT"):
        dependencies("$this ex:part ?x { SELECT ?y WHERE { ?y ex:broken $this } }")


def test_a_filter_narrows_a_predicate_that_is_a_variable():
    found = reported(dependencies("$this ?p $this FILTER (?p IN (ex:near, ex:in))"))
    assert found == {("", "near"), ("", "in")}
    assert reported(dependencies("$this ?p $this FILTER (?p = ex:near || true)")) == {("", "!")}


def test_the_path_of_the_shape_stands_for_its_variable():
    found = reported(
        dependencies(
            "$this $PATH ?v . ?v ex:broken true", path="sh:path ( ex:part [ sh:inversePath ex:in ] ) ;"
        )
    )
    assert found == {("", "part"), ("part", "^in"), ("part/^in", "broken")}


def test_a_component_of_ones_own_depends_on_what_its_validator_asks():
    graph = rdflib.Graph()
    graph.parse(
        format="turtle",
        data=f"""
        @prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <{EX}> .
        ex:prefixes sh:declare [ sh:prefix "ex" ; sh:namespace "{EX}" ] .
        ex:Component a sh:ConstraintComponent ; sh:parameter [ sh:path ex:owner ] ;
          sh:validator [ a sh:SPARQLAskValidator ; sh:prefixes ex:prefixes ;
                         sh:ask "ASK {{ $value ex:ownedBy $owner }}" ] .
        ex:Shape sh:targetClass ex:Thing ; sh:property [ sh:path ex:part ; ex:owner ex:me ] .
        ex:Other sh:targetClass ex:Thing ; sh:property [ sh:path ex:part ; sh:minCount 1 ] .
        """,
    )
    other, shape = targeted_shapes(graph)
    assert reported(list(shape.dependencies)) == {("", "part"), ("part", "ownedBy")}
    assert {d.effect for d in shape.dependencies if reported([d]) == {("part", "ownedBy")}} == {REMOVED}
    assert {d.effect for d in other.dependencies} == {REMOVED}


def test_a_query_that_does_not_parse_names_its_constraint():
    with pytest.raises(ShapeMalformed, match=r"Shape .*does not parse"):
        dependencies("$this ex:part")


@pytest.mark.parametrize(
    "where", ["$this ex:part ?x MINUS { ?x ex:broken true }", "VALUES ?x { 1 } $this ex:part ?x"]
)
def test_a_query_that_shacl_does_not_allow_is_refused_when_it_is_read(where: str):
    with pytest.raises(ShapeMalformed, match="SHACL does not allow"):
        dependencies(where)

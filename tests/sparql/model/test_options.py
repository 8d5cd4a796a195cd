"""derived, rewrite and textMatch: what a query means with them, on a real store."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions
from shapely import from_wkt, get_dimensions

from geo.functions import FUNCTIONS
from geo.functions.topology import PATTERNS
from sparql.model.errors import MalformedRequest
from sparql.model.options import Options, read_options
from sparql.model.vocabulary import DEFAULT, GEO, RDFS, UKG
from sparql.names.labels import LabelIndex
from sparql.rewriting.rewriter import Rewriter
from sparql.rewriting.steps import Probe, Row
from sparql.rewriting.topology import PROPERTIES
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.rewriting import drive
from tests.support.spatial_city import EX, PREFIXES, wkt

MATCH = f"<{UKG.iri}textMatch>"
SHAPES = {
    "park": "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))",
    "pond": "POLYGON((1 1, 2 1, 2 2, 1 2, 1 1))",
    "corner": "POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))",
    "beside": "POLYGON((4 0, 6 0, 6 4, 4 4, 4 0))",
    "across": "POLYGON((3 3, 5 3, 5 5, 3 5, 3 3))",
    "same": "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))",
    "far": "POLYGON((20 20, 21 20, 21 21, 20 21, 20 20))",
    "path": "LINESTRING(-1 2, 5 2)",
    "bench": "POINT(1.5 1.5)",
}


class Town:
    """A store with relations and labels, and queries with options over it."""

    def __init__(self, *more: tuple[Any, Any, Any]) -> None:
        self.store = EmbeddedStore()
        self.labels = LabelIndex()
        writer = Writer(self.store, deriver=SpatialRelations(), observers=(self.labels,))
        writer.start()
        quads = [Quad(*triple, DEFAULT) for triple in more]
        for name, shape in SHAPES.items():
            feature, node = EX.term(name), EX.term(f"{name}-g")
            quads += [
                Quad(feature, GEO.hasGeometry, node, DEFAULT),
                Quad(node, GEO.asWKT, wkt(shape), DEFAULT),
                Quad(feature, RDFS.label, Literal(f"The old {name}", language="en"), DEFAULT),
            ]
        writer.bulk(quads)
        self.rewriter = Rewriter(self.store, lambda: self.labels)

    def ask(self, query: str, **options: Any) -> list[tuple[str, ...]]:
        preparation = self.rewriter.preparation(PREFIXES + query, Options(**options))
        text = PREFIXES + query
        if preparation is not None:
            text = drive(self.rewriter.steps(preparation, self.store.revision()), self._probe)
        rows = self.store.graph.query(text, custom_functions=FUNCTIONS)
        assert isinstance(rows, QuerySolutions)
        return sorted(tuple("" if term is None else term.value for term in row) for row in rows)

    def names(self, query: str, **options: Any) -> list[str]:
        """The one column of a query, without its namespace."""
        return [row[0].rpartition("/")[2] for row in self.ask(query, **options)]

    def _probe(self, probe: Probe) -> list[Row]:
        rows = self.store.graph.query(probe.text, custom_functions=FUNCTIONS)
        assert isinstance(rows, QuerySolutions)
        names = [variable.value for variable in rows.variables]
        return [{name: row[name] for name in names if row[name] is not None} for row in rows]


@pytest.fixture(scope="module")
def town() -> Town:
    return Town()


EGENHOFER = [name for name in PATTERNS if name.startswith("eh") and name != "ehDisjoint"]


def function_is_true(name: str, left: str, right: str) -> bool:
    return FUNCTIONS[NamedNode(f"http://www.opengis.net/def/function/geosparql/{name}")](
        wkt(SHAPES[left]), wkt(SHAPES[right])
    ) == Literal(True)


@pytest.mark.parametrize("name", [p.value.rpartition("#")[2] for p in PROPERTIES if "#sf" in p.value])
def test_simple_feature_properties_are_what_their_functions_say(town: Town, name: str) -> None:
    expected = sorted(
        (a, b)
        for a, b in product(SHAPES, SHAPES)
        if function_is_true(name, a, b) and not (a == b and name == "sfDisjoint")
    )
    known = "?a rdfs:label ?l ." if name == "sfDisjoint" else ""
    found = town.ask(f"SELECT ?a ?b {{ {known} ?a geo:{name} ?b }}", rewrite=True)
    assert [tuple(term.rpartition("/")[2] for term in row) for row in found] == expected


@pytest.mark.parametrize(
    "name", [name for name in PATTERNS if name.startswith("eh") and name != "ehDisjoint"]
)
def test_egenhofer_properties_are_what_their_functions_say(town: Town, name: str) -> None:
    expected = {(a, b) for a, b in product(SHAPES, SHAPES) if a != b and function_is_true(name, a, b)}
    found = town.ask(f"SELECT ?a ?b {{ ?a geo:{name} ?b FILTER(?a != ?b) }}", rewrite=True)
    assert {tuple(term.rpartition("/")[2] for term in row) for row in found} == expected


def test_geometry_nodes_take_part_where_one_side_is_an_iri(town: Town) -> None:
    found = town.names("SELECT ?a { ?a geo:sfWithin ex:pond }", rewrite=True)
    assert found == ["bench", "bench-g", "pond", "pond-g"]


def test_the_five_classes_are_answered(town: Town) -> None:
    for name, expected in {
        "rcc5in": ["bench", "corner", "pond"],
        "rcc5eq": ["same"],
        "rcc5ec": ["beside"],
        "rcc5po": ["across", "path"],
        "rcc5dc": ["far"],
    }.items():
        assert town.names(f"SELECT ?a {{ ?a {UKG.term(name)} ex:park }}", rewrite=True) == expected, name
    assert "park" in town.names(f"SELECT ?a {{ ?a <{UKG.iri}rcc5ini> ex:pond }}", rewrite=True)


def test_disconnected_places_are_those_that_nothing_relates(town: Town) -> None:
    shapes = {name: from_wkt(shape) for name, shape in SHAPES.items()}
    for name, shape in shapes.items():
        apart = [other for other, its in shapes.items() if other != name and shape.disjoint(its)]
        expected = sorted([*apart, *(f"{other}-g" for other in apart)])
        assert town.names(f"SELECT ?b {{ ex:{name} geo:rcc8dc ?b }}", rewrite=True) == expected
        assert town.names(f"SELECT ?b {{ ?b geo:rcc8dc ex:{name} }}", rewrite=True) == expected


@pytest.mark.parametrize("name", PATTERNS)
def test_without_derived_statements_the_rules_of_the_standard_alone_answer(town: Town, name: str) -> None:
    shapes = {one: from_wkt(shape) for one, shape in SHAPES.items()}
    areas = [one for one in SHAPES if not name.startswith("rcc8") or get_dimensions(shapes[one]) == 2]
    for one in ("park", "path", "bench"):
        related = [b for b in areas if one in areas and function_is_true(name, one, b)]
        found = town.names(f"SELECT ?b {{ ex:{one} geo:{name} ?b }}", rewrite=True, derived=False)
        assert found == sorted([*related, *(f"{b}-g" for b in related)]), one


@pytest.mark.parametrize("pattern", ["?a <https://w3id.org/urbankg/system#rcc5in> ?b", "?a geo:sfWithin+ ?b"])
def test_what_only_derived_statements_answer_is_refused_without_them(town: Town, pattern: str) -> None:
    with pytest.raises(MalformedRequest, match="leave derived=false out"):
        town.ask(f"SELECT * {{ {pattern} }}", rewrite=True, derived=False)


def test_disconnected_from_anything_is_refused_with_the_reason(town: Town) -> None:
    with pytest.raises(MalformedRequest, match="Give one side"):
        town.ask("SELECT * { ?a geo:rcc8dc ?b }", rewrite=True)


def test_relations_in_a_path_are_followed(town: Town) -> None:
    assert town.names("SELECT DISTINCT ?a { ?a geo:sfWithin+ ex:park }", rewrite=True) == [
        "bench",
        "corner",
        "park",
        "pond",
        "same",
    ]
    with pytest.raises(MalformedRequest, match="pattern of its own"):
        town.ask("SELECT ?a { ?a geo:sfCrosses/geo:sfWithin ex:park }", rewrite=True)


def test_without_rewrite_a_topological_property_is_just_looked_up(town: Town) -> None:
    assert town.names("SELECT ?a { ?a geo:sfWithin ex:park }") == []


def test_derived_statements_are_hidden_and_those_also_asserted_are_not() -> None:
    town = Town((EX.pond, GEO.rcc8ntpp, EX.park))
    assert town.names("SELECT ?a { ?a geo:rcc8ntpp ex:park }") == ["bench", "pond"]
    assert town.names("SELECT ?a { ?a geo:rcc8ntpp ex:park }", derived=False) == ["pond"]
    assert set(town.names("SELECT ?p { ex:bench ?p ?o }", derived=False)) == {
        "rdf-schema#label",
        "geosparql#hasGeometry",
    }
    unrelated = "SELECT ?a { ?a rdfs:label ?l FILTER NOT EXISTS { ?a geo:rcc8ntpp ex:park } }"
    assert "bench" in town.names(unrelated, derived=False)
    assert "bench" not in town.names(unrelated)


def test_what_cannot_be_hidden_is_refused(town: Town) -> None:
    for query in ("SELECT ?a { ?a geo:rcc8ntpp+ ex:park }", "SELECT ?a { ?a !rdfs:label ex:park }"):
        with pytest.raises(MalformedRequest):
            town.ask(query, derived=False)


def test_inference_is_no_parameter_of_a_query_and_the_refusal_names_the_setting() -> None:
    assert read_options({"inference": "none"}.get) == Options()
    for value in ("rdfs", "OWL", "some"):
        with pytest.raises(MalformedRequest, match="setting inference"):
            read_options({"inference": value}.get)


def test_labels_are_matched_with_their_score(town: Town) -> None:
    rows = town.ask(f"SELECT ?place ?score {{ (?place ?score) {MATCH} ('the old pond' 3) }}")
    assert max(rows, key=lambda row: float(row[1]))[0] == EX.pond.value
    assert len(rows) == 3


def test_a_text_match_joins_other_patterns(town: Town) -> None:
    found = town.names(f"SELECT ?p {{ ?p {MATCH} 'the old pond' ; geo:sfWithin ex:park }}", rewrite=True)
    assert "pond" in found
    assert "far" not in found


def test_a_label_that_the_graph_does_not_have_any_more_is_not_matched(town: Town) -> None:
    query = f"SELECT ?place {{ ?place {MATCH} ('the old bench' 1) }}"
    assert town.names(query) == ["bench"]
    label = Quad(EX.bench, RDFS.label, Literal("The old bench", language="en"), DEFAULT)
    town.store.commit([], [label])
    try:
        assert town.names(query) == []
    finally:
        town.store.commit([label])


def test_a_text_match_in_another_form_is_refused(town: Town) -> None:
    with pytest.raises(MalformedRequest, match="textMatch"):
        town.ask(f"SELECT ?p {{ ?p {MATCH} ?words }}")

"""What is searched for in the index, what is not, and what is reported of it."""

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from sparql.model.errors import QueryTimeout
from sparql.model.options import Options
from sparql.model.vocabulary import GEO, RDF
from sparql.rewriting.candidates import TooMuchText, column_for, written_length
from sparql.rewriting.steps import Probe, Row
from tests.support.spatial_city import EX, OTHER_GRAPH, PREFIXES, City, small_city, wkt

BOX = '"POLYGON((0.2 0.2, 0.6 0.2, 0.6 0.6, 0.2 0.6, 0.2 0.2))"^^geo:wktLiteral'
POINT = '"POINT(0.5 0.5)"^^geo:wktLiteral'
DISTANCE = f"geof:distance(?w, {POINT}, uom:metre)"
WITHIN = f"geof:sfWithin(?w, {BOX})"
PATTERN = "?f geo:hasGeometry ?g . ?g geo:asWKT ?w"


@pytest.fixture(scope="module")
def city() -> City:
    return City(small_city(literals_only=True))


@pytest.mark.parametrize(
    "condition",
    [
        f"geof:sfWithin(?w, {BOX})",
        f"geof:sfContains({BOX}, ?w)",
        f"geof:ehInside(?w, {BOX})",
        f"geof:rcc8ntpp(?w, {BOX})",
        f"geof:sfWithin(?w, geof:buffer({POINT}, 40, uom:kilometre))",
        f"geof:sfIntersects(geof:buffer(?w, 20, uom:kilometre), {POINT})",
        f"geof:distance(?w, {POINT}, uom:metre) < 20000",
        f"20 * 1000 >= geof:metricDistance({POINT}, ?w)",
        f"geof:sfIntersects(?w, geof:envelope({BOX}))",
        f'geof:relate(?w, {BOX}, "T*F**F***")',
    ],
)
def test_filters_with_a_constant_are_searched_for(city: City, condition: str) -> None:
    text, report = city.rewritten(f"SELECT ?f {{ {PATTERN} FILTER({condition}) }}")
    assert report.done
    assert "VALUES ?w" in text
    assert city.answers(text)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"SELECT ?f {{ {PATTERN} FILTER(geof:sfDisjoint(?w, {BOX})) }}", "anywhere"),
        (f"SELECT ?f {{ {PATTERN} FILTER(!geof:sfWithin(?w, {BOX})) }}", "true by itself"),
        (f"SELECT ?f {{ {PATTERN} FILTER(geof:distance(?w, {POINT}, uom:degree) < 1) }}", "unit of length"),
        (f"SELECT ?f {{ ?f ex:at ?w FILTER(geof:sfWithin(?w, {BOX})) }}", "no triple pattern beside it"),
        (
            f"SELECT ?f {{ ?f a ex:Place FILTER(?f = 1 || EXISTS {{ {PATTERN} FILTER({WITHIN}) }}) }}",
            "solution by solution",
        ),
        (f"SELECT ?w {{ {PATTERN} }} ORDER BY DESC({DISTANCE}) LIMIT 3", "furthest"),
        (f"SELECT ?w {{ {PATTERN} }} ORDER BY {DISTANCE}", "no LIMIT"),
        ("SELECT ?f { << ?f ?p ?o >> ex:said ?w }", "not read here"),
    ],
)
def test_what_is_left_alone_is_reported_with_the_reason(city: City, query: str, why: str) -> None:
    text, report = city.rewritten(query)
    assert text == PREFIXES + query
    assert any(why in left["why"] for left in report.left), report.left


def test_the_filter_goes_where_the_index_is_exact_and_stays_elsewhere(city: City) -> None:
    within, _ = city.rewritten(f"SELECT ?f {{ {PATTERN} FILTER(geof:sfWithin(?w, {BOX})) }}")
    touching, _ = city.rewritten(f"SELECT ?f {{ {PATTERN} FILTER(geof:sfTouches(?w, {BOX})) }}")
    around, _ = city.rewritten(f"SELECT ?f {{ {PATTERN} FILTER(geof:sfTouches(geof:boundary(?w), {BOX})) }}")
    near, _ = city.rewritten(f"SELECT ?f {{ {PATTERN} FILTER({DISTANCE} < 20000) }}")
    assert "sfWithin" not in within
    assert "sfTouches" not in touching
    assert "sfTouches" in around
    assert "geof:distance" in near


@pytest.mark.parametrize("graph", ["?graph", "ex:graph"])
def test_a_filter_over_a_graph_is_searched_for_in_that_graph(graph: str) -> None:
    def placed(name: str, text: str, *graph: NamedNode) -> list[Quad]:
        node = EX.term(f"{name}/g")
        link = Quad(EX.term(name), GEO.hasGeometry, node, *graph)
        return [link, Quad(node, GEO.asWKT, wkt(text), *graph)]

    city = City([*placed("a", "POINT(0.3 0.3)"), *placed("b", "POINT(0.5 0.5)")])
    city.store.extend(placed("a", "POINT(0.3 0.3)", OTHER_GRAPH))
    query = f"SELECT ?f ?w {{ GRAPH {graph} {{ {PATTERN} }} FILTER({WITHIN}) }}"
    text, report = city.rewritten(query)
    assert report.done
    assert city.answers(text) == city.answers(PREFIXES + query)
    assert sum(city.answers(text).values()) == 1


def test_filters_of_one_geometry_are_searched_for_together(city: City) -> None:
    other = '"POLYGON((0.3 0.3, 0.9 0.3, 0.9 0.9, 0.3 0.9, 0.3 0.3))"^^geo:wktLiteral'
    conditions = f"{WITHIN} && geof:sfIntersects(?w, {other}) && {DISTANCE} < 20000"
    query = f"SELECT ?f ?w {{ {PATTERN} FILTER({conditions}) }}"
    text, report = city.rewritten(query)
    assert "sfWithin" not in text
    assert "sfIntersects" not in text
    assert "geof:distance" in text
    assert len({done["candidates"] for done in report.done}) == 1
    alone = [
        city.rewritten(f"SELECT ?f ?w {{ {PATTERN} FILTER({one}) }}") for one in conditions.split(" && ")
    ]
    assert report.done[0]["candidates"] < min(one.done[0]["candidates"] for _, one in alone)
    assert city.answers(text) == city.answers(PREFIXES + query)


def test_a_join_takes_over_what_is_decided_of_one_side(city: City) -> None:
    pair = "?f2 a ex:Place ; geo:hasGeometry/geo:asWKT ?w2"
    query = (
        f"SELECT ?f ?f2 {{ {PATTERN} . {pair} FILTER({WITHIN} && geof:distance(?w, ?w2, uom:metre) < 3000) }}"
    )
    text, report = city.rewritten(query)
    assert [done["candidates"] > 0 for done in report.done] == [True, True]
    assert "sfWithin" not in text
    assert "geof:distance" in text
    assert city.answers(text) == city.answers(PREFIXES + query)


def test_a_nearest_query_asks_a_probe_and_gets_candidates(city: City) -> None:
    _, report = city.rewritten(f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w }} ORDER BY {DISTANCE} LIMIT 2")
    assert [done["rewriting"] for done in report.done] == ["nearest"]
    assert "COUNT(*)" in city.probes[-1]


def test_a_join_of_two_variables_gets_pairs(city: City) -> None:
    query = (
        "SELECT ?a ?b { ?a a ex:Shop ; geo:hasGeometry ?ga . ?ga geo:asWKT ?wa . "
        "?b a ex:Park ; geo:hasGeometry ?gb . ?gb geo:asWKT ?wb FILTER(geof:sfIntersects(?wa, ?wb)) }"
    )
    text, report = city.rewritten(query)
    assert "VALUES (?wa ?wb)" in text or "VALUES (?ga ?gb)" in text
    assert report.done[0]["candidates"] > 0
    assert city.answers(text) == city.answers(PREFIXES + query)


@pytest.mark.parametrize("turned", [False, True])
def test_a_join_is_searched_for_around_the_side_that_has_few(turned: bool) -> None:
    points = [(EX.term(f"p{n}"), EX.term(f"p{n}-at"), f"POINT({n} 0)") for n in range(50)]
    city = City([
        quad
        for place, node, text in [*points, (EX.one, EX.term("one-at"), "POINT(7 0)")]
        for quad in (Quad(place, GEO.hasGeometry, node), Quad(node, GEO.asWKT, wkt(text)))
    ])  # fmt: skip
    sides = ["?f geo:hasGeometry/geo:asWKT ?many", "ex:one geo:hasGeometry/geo:asWKT ?few"]
    query = (
        f"SELECT ?f {{ {' . '.join(reversed(sides) if turned else sides)} "
        f"FILTER(geof:sfIntersects({'?few, ?many' if turned else '?many, ?few'})) }}"
    )
    text, report = city.rewritten(query)
    assert "around 1 geometries of ?few" in report.done[0]["what"]
    assert city.answers(text) == city.answers(PREFIXES + query)


def test_a_geometry_that_cannot_be_read_is_reported(city: City) -> None:
    query = f'SELECT ?f {{ {PATTERN} FILTER(geof:sfWithin(?w, "POLYGON((1 2"^^geo:wktLiteral)) }}'
    _, report = city.rewritten(query)
    assert "POLYGON((1 2" in report.warnings[0]


NEAR = "?d a ex:Shop ; geo:hasGeometry/geo:asWKT ?w2 FILTER(geof:distance(?w, ?w2, uom:metre) < 5000)"


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        (f"?f a ex:Place FILTER EXISTS {{ {PATTERN} FILTER({WITHIN}) }}", "{ SELECT DISTINCT ?f WHERE {"),
        (
            f"?f a ex:Place FILTER(!EXISTS {{ {PATTERN} FILTER({WITHIN}) }})",
            "MINUS { SELECT DISTINCT ?f WHERE {",
        ),
        (
            f"?f geo:hasGeometry/geo:asWKT ?w FILTER NOT EXISTS {{ {NEAR} }}",
            "MINUS { SELECT DISTINCT ?w WHERE {",
        ),
        (f"{PATTERN} FILTER EXISTS {{ {NEAR} FILTER(?d != ?f) }}", "{ SELECT DISTINCT ?f ?w WHERE {"),
    ],
)
def test_exists_is_asked_once_for_all_solutions(pattern: str, written: str) -> None:
    city = City(small_city(places=100, literals_only=True))
    text, report = city.rewritten(f"SELECT ?f {{ {pattern} }}")
    assert written in text
    assert report.done[-1]["rewriting"] == "exists"
    assert city.answers(text) == city.answers(f"{PREFIXES}SELECT ?f {{ {pattern} }}")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (f"VALUES ?f {{ ex:f1 ex:f2 }} FILTER EXISTS {{ {PATTERN} FILTER({WITHIN}) }}", "few solutions"),
        (
            f"?f a ex:Place FILTER EXISTS {{ {PATTERN} OPTIONAL {{ ?f ex:no ?y }} FILTER({WITHIN}) }}",
            "more than",
        ),
        (f"?x a ex:Place FILTER EXISTS {{ {PATTERN} FILTER({WITHIN}) }}", "shares no variable"),
        (f"?f ex:in ?x ; a ex:Place FILTER EXISTS {{ {NEAR} FILTER(?d != ?f) }}", "compares ?f"),
        (
            f"?x a ex:Place OPTIONAL {{ ?x ex:at ?f }} FILTER EXISTS {{ {PATTERN} FILTER({WITHIN}) }}",
            "may be unbound",
        ),
        (f"?f a ex:Place FILTER EXISTS {{ ?f ex:in* ?y . {PATTERN} FILTER({WITHIN}) }}", "may be empty"),
        (f"?f a ex:Place FILTER EXISTS {{ {PATTERN} FILTER(!{WITHIN}) }}", "nothing in it is searched for"),
    ],
)
def test_exists_is_asked_for_each_solution_where_it_must_be(pattern: str, why: str) -> None:
    city = City(small_city(places=100, literals_only=True))
    text, report = city.rewritten(f"SELECT ?f {{ {pattern} }}")
    assert text == f"{PREFIXES}SELECT ?f {{ {pattern} }}"
    assert why in str([left["why"] for left in report.left if left["rewriting"] == "exists"])


def test_another_pattern_that_leaves_less_is_tried_first() -> None:
    city = City(small_city(places=400, literals_only=True))
    everywhere = '"POLYGON((-1 -1, 3 -1, 3 3, -1 3, -1 -1))"^^geo:wktLiteral'
    query = f'SELECT ?w {{ {PATTERN} . ?f rdfs:label "name 3" FILTER(geof:sfWithin(?w, {everywhere})) }}'
    _, report = city.rewritten(query)
    assert not report.done
    assert "tried first" in report.left[0]["why"]


SEARCHED = f"{PATTERN} FILTER({WITHIN})"


@pytest.mark.parametrize(
    "pattern",
    [
        f"?f a ex:Place . {{ {SEARCHED} }}",
        f"?f a ex:Place . {{ {SEARCHED} }} UNION {{ ?f ex:at ?w }}",
        f"?f a ex:Place OPTIONAL {{ {SEARCHED} }}",
        f"?f a ex:Place OPTIONAL {{ ?f ex:no ?x }} {SEARCHED}",
        f"?f a ex:Place OPTIONAL {{ {PATTERN} }} FILTER({WITHIN})",
        f"?f a ex:Place . GRAPH ex:graph {{ {SEARCHED} }}",
    ],
)
def test_candidates_are_looked_through_once_and_not_for_each_solution_they_are_joined_to(
    city: City, pattern: str
) -> None:
    query = f"SELECT ?f ?w {{ {pattern} }}"
    text, report = city.rewritten(query)
    assert report.done
    assert "{ SELECT * WHERE { VALUES" in text
    assert city.answers(text) == city.answers(PREFIXES + query)


def test_candidates_apart_in_a_graph_give_its_name(city: City) -> None:
    query = f"SELECT ?f ?graph {{ ?f a ex:Place . GRAPH ?graph {{ {SEARCHED} }} }}"
    text, report = city.rewritten(query)
    assert report.done
    assert "?graph WHERE { VALUES" in text
    assert city.answers(text) == city.answers(PREFIXES + query)


@pytest.mark.parametrize(
    "pattern",
    [
        SEARCHED,
        f"{SEARCHED} BIND(STR(?w) AS ?s)",
        f"{{ {SEARCHED} }} UNION {{ ?f ex:at ?w }}",
        f"?f a ex:Place MINUS {{ {SEARCHED} }}",
        f"?f a ex:Place . {{ SELECT ?f {{ {SEARCHED} }} }}",
        f"GRAPH ?graph {{ SELECT ?f {{ ?f a ex:Place OPTIONAL {{ ?f ex:no ?x }} {SEARCHED} }} }}",
    ],
)
def test_candidates_that_nothing_surrounds_need_no_sub_select(city: City, pattern: str) -> None:
    query = f"SELECT ?f {{ {pattern} }}"
    text, report = city.rewritten(query)
    assert report.done
    assert "SELECT *" not in text
    assert city.answers(text) == city.answers(PREFIXES + query)


@pytest.mark.parametrize(
    "inner", [f"OPTIONAL {{ {SEARCHED} }}", f"OPTIONAL {{ {PATTERN} }} FILTER({WITHIN})"]
)
def test_candidates_that_would_be_looked_through_with_each_solution_are_not_named(
    city: City, inner: str
) -> None:
    query = f"SELECT ?f ?w {{ ?f a ex:Place OPTIONAL {{ ?f rdfs:label ?l {inner} }} }}"
    text, report = city.rewritten(query)
    assert text == PREFIXES + query
    assert "with each solution" in report.left[0]["why"]


def test_a_join_of_features_names_pairs_of_them_and_each_with_itself_where_it_is_on_both_sides() -> None:
    quads = []
    for name, kind, text in (("a", EX.Shop, "POINT(0.5 0.5)"), ("b", EX.Park, "POINT(0.5 0.5)")):
        node = EX.term(f"{name}/g")
        quads += [Quad(EX.term(name), RDF.type, kind), Quad(EX.term(name), GEO.hasGeometry, node)]
        quads.append(Quad(node, GEO.asWKT, wkt(text)))
    join = (
        "SELECT ?f ?z { ?f a ex:Shop ; geo:hasGeometry/geo:asWKT ?w . "
        "?z a ex:Park ; geo:hasGeometry/geo:asWKT ?v FILTER(geof:sfWithin(?w, ?v)) }"
    )
    city = City(quads)
    text, _ = city.rewritten(join)
    assert "VALUES (?f ?z)" in text
    assert "sfWithin" not in text
    assert not city.probes
    assert sum(city.answers(text).values()) == 1
    city.add(Quad(EX.a, RDF.type, EX.Park))
    text, _ = city.rewritten(join)
    assert sum(city.answers(text).values()) == 2
    assert city.answers(text) == city.answers(PREFIXES + join)


async def test_the_search_for_pairs_ends_with_the_time_of_its_query() -> None:
    city = City(small_city())
    pairs = "SELECT * { ?a geo:asWKT ?x . ?b geo:asWKT ?y FILTER(geof:distance(?x, ?y, uom:metre) < 900) }"
    preparation = city.rewriter.preparation(PREFIXES + pairs, Options())
    assert preparation is not None

    async def ask(probe: Probe) -> list[Row]:
        return city._ask(probe)

    assert "VALUES" in await preparation.apply(1, ask, timeout_s=60, left_s=60)
    with pytest.raises(QueryTimeout, match="5"):
        await preparation.apply(1, ask, timeout_s=5, left_s=0)


def test_pairs_of_long_geometries_are_not_written_into_a_query() -> None:
    """Counted as often as they are written: two hundred outlines of a city made a query of 100 MB."""
    keys = [(BlankNode("n"), Literal("POINT" + " " * 1_000_000))]
    assert written_length(keys * 20) == 20 * written_length(keys)
    with pytest.raises(TooMuchText):
        column_for(None, keys, written_length(keys * 20), fresh=None)  # type: ignore[arg-type]

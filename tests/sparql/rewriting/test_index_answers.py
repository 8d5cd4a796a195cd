"""What the index answers without the engine is what the engine answers, in every format and revision."""

from __future__ import annotations

import random
from collections import Counter

import pyoxigraph
import pytest
from pyoxigraph import Literal, Quad, QueryResultsFormat

from geo.functions import FUNCTIONS
from sparql.model.options import Options
from sparql.model.vocabulary import DEFAULT, GEO, RDF
from sparql.protocol.formats import RESULT_FORMATS, Format
from sparql.rewriting.index_answers import Column, Table, cell_of
from sparql.rewriting.rewriter import Rewriter
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.spatial_city import EX, PREFIXES, City, plain_city, wkt

JSON = RESULT_FORMATS[0]
BOX = '"POLYGON((0.02 0.02, 0.33 0.02, 0.33 0.41, 0.02 0.41, 0.02 0.02))"^^geo:wktLiteral'
WITHIN = f"FILTER(geof:sfWithin(?w, {BOX}))"
ALL = f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }}"


def index_answer(city: City, query: str, format_: Format = JSON, **options: bool) -> bytes | None:
    preparation = city.rewriter.preparation(PREFIXES + query, Options(**options))
    assert preparation is not None
    found = city.rewriter.index_answer(preparation, format_)
    return None if found is None else found.body


def rows_of(body: bytes, format_: QueryResultsFormat = QueryResultsFormat.JSON) -> Counter[str]:
    results = pyoxigraph.parse_query_results(body, format=format_)
    assert isinstance(results, pyoxigraph.QuerySolutions)
    return Counter(str([str(solution[v]) for v in results.variables]) for solution in results)


FUNCTIONS_BY_MATRIX = (
    *("sfTouches", "sfCrosses", "sfOverlaps", "sfEquals", "relate", "relate"),
    *(
        "ehInside",
        "ehMeet",
        "ehCovers",
        "ehCoveredBy",
        "ehContains",
        "rcc8eq",
        "rcc8ec",
        "rcc8tppi",
        "rcc8ntpp",
    ),
)
MATRICES = (
    "T*F**F***",
    "T*****FF*",
    "F***1****",
    "f***0****",
    "FT*******",
    "2********",
    "0FFFFF***",
    "*T*******",
)


def simple_query(chance: random.Random) -> str:
    patterns = [
        chance.choice(
            [
                "?f geo:hasGeometry/geo:asWKT ?w",
                "?f geo:hasGeometry ?g . ?g geo:asWKT ?w",
                "?f geo:hasGeometry [ geo:asWKT ?w ]",
                "?f (geo:hasGeometry|geo:hasDefaultGeometry)/geo:asWKT ?w",
            ]
        )
    ]
    patterns += chance.sample(
        ["?f a ex:Place", "?f a ex:Park", "?f a ex:Nowhere"], chance.choice([0, 0, 1, 1, 2])
    )
    chance.shuffle(patterns)
    x, y, size = (chance.randrange(8) / 20 for _ in range(3))
    size = chance.choice([size, 0.1, 0.2])
    ring = f"{x} {y}, {x + size} {y}, {x + size} {y + size}, {x} {y + size}, {x} {y}"
    constant = chance.choice([f"POLYGON(({ring}))", f"POINT({x} {y})"])
    function = chance.choice(["sfWithin", "sfIntersects", "sfContains", *FUNCTIONS_BY_MATRIX])
    sides = chance.choice(["?w, {}", "{}, ?w"]).format(f'"{constant}"^^geo:wktLiteral')
    if function == "relate":
        sides += f', "{chance.choice(MATRICES)}"'
    shown = chance.choice(["?f", "?f ?w", "?w", "?w ?f", "DISTINCT ?f", "DISTINCT ?w", "?g ?f", "*"])
    return f"SELECT {shown} WHERE {{ {' . '.join(patterns)} FILTER(geof:{function}({sides})) }}"


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_from_the_index_alone_is_that_of_the_engine(seed: int) -> None:
    city = City(plain_city(seed))
    chance = random.Random(seed)
    answered = 0
    for _ in range(80):
        query = simple_query(chance)
        body = index_answer(city, query)
        if body is not None:
            answered += 1
            assert rows_of(body) == city.answers(PREFIXES + query), query
    assert answered > 20


def simple_join(chance: random.Random) -> str:
    patterns = []
    for side in ("", "2"):
        patterns.append(
            chance.choice(
                [
                    f"?f{side} geo:hasGeometry/geo:asWKT ?w{side}",
                    f"?f{side} geo:hasGeometry ?g{side} . ?g{side} geo:asWKT ?w{side}",
                    f"?f{side} geo:hasGeometry [ geo:asWKT ?w{side} ]",
                    f"?f{side} (geo:hasGeometry|geo:hasDefaultGeometry)/geo:asWKT ?w{side}",
                ]
            )
        )
        if chance.random() < 0.5:
            patterns.append(f"?f{side} a ex:{chance.choice(['Place', 'Park', 'Shop', 'Nowhere'])}")
    chance.shuffle(patterns)
    function = chance.choice(["sfWithin", "sfIntersects", "sfContains", *FUNCTIONS_BY_MATRIX])
    sides = chance.choice(["?w, ?w2", "?w2, ?w"])
    if function == "relate":
        sides += f', "{chance.choice(MATRICES)}"'
    shown = chance.choice(["?f ?f2", "?f2 ?f", "?f", "?w2 ?f", "DISTINCT ?f", "DISTINCT ?f2 ?w", "?w ?w2"])
    return f"SELECT {shown} WHERE {{ {' . '.join(patterns)} FILTER(geof:{function}({sides})) }}"


@pytest.mark.parametrize("seed", range(6))
def test_a_join_from_the_index_alone_is_that_of_the_engine(seed: int) -> None:
    quads = plain_city(seed, 24)
    city = City(quads[:-20])
    # So that some are in the newest part of the index, and some gone from it.
    city.rewriter.geometries.at(1)
    city.add(*quads[-20:])
    chance = random.Random(seed)
    answered = 0
    for _ in range(40):
        query = simple_join(chance)
        body = index_answer(city, query)
        if body is not None:
            answered += 1
            assert rows_of(body) == city.answers(PREFIXES + query), query
    assert answered > 10


JOIN = "?f geo:hasGeometry/geo:asWKT ?w . ?f2 geo:hasGeometry/geo:asWKT ?w2 FILTER(geof:sfWithin(?w, ?w2))"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT ?f {{ ?f ex:in ?f2 . {JOIN} }}",
        f"SELECT ?f {{ {JOIN} FILTER(?f != ?f2) }}",
        "SELECT ?f { ?f geo:hasGeometry/geo:asWKT ?w . ?f geo:hasDefaultGeometry/geo:asWKT ?w2 "
        "FILTER(geof:sfWithin(?w, ?w2)) }",
        "SELECT ?f { ?f geo:hasGeometry ?g . ?g geo:asWKT ?w, ?w2 FILTER(geof:sfWithin(?w, ?w2)) }",
        JOIN.join(["SELECT ?f { ", " }"]).replace("sfWithin", "sfEquals"),
        "SELECT ?f { ?f geo:hasGeometry/geo:asWKT ?w . ?f2 geo:hasGeometry/geo:asWKT ?w2 "
        "FILTER(geof:distance(?w, ?w2, uom:metre) < 5) }",
        JOIN.join(["SELECT ?f { ", " }"]).replace("sfWithin(?w,", "sfWithin(geof:envelope(?w),"),
        f"SELECT ?f {{ ?f rdfs:label ?l . {JOIN} }}",
    ],
)
def test_joins_that_ask_for_more_take_the_long_way(query: str) -> None:
    assert index_answer(City(plain_city()), query) is None


def test_a_join_of_features_that_share_a_geometry_takes_the_long_way() -> None:
    shared = Quad(EX.term("other"), GEO.hasGeometry, EX.term("a/g"), DEFAULT)
    assert index_answer(City([*placed("a", "POINT(0.1 0.1)"), shared]), f"SELECT ?f ?f2 {{ {JOIN} }}") is None


def test_a_join_of_too_many_takes_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    city = City([quad for number in range(9) for quad in placed(f"p{number}", "POINT(0.1 0.1)")])
    query = f"SELECT ?f ?f2 {{ {JOIN} }}"
    assert rows_of(index_answer(city, query) or b"").total() == 81
    assert rows_of(index_answer(city, query + " LIMIT 7 OFFSET 2") or b"").total() == 7
    monkeypatch.setattr("sparql.rewriting.index_answers._MOST_PAIRS", 80)
    assert index_answer(city, query) is None
    monkeypatch.setattr("sparql.rewriting.index_answers._MOST_DRIVING", 8)
    assert index_answer(city, query) is None


@pytest.mark.parametrize("format_", RESULT_FORMATS, ids=lambda one: one.name)
def test_it_is_written_as_the_engine_writes_it(format_: Format) -> None:
    city = City([*plain_city(3), *placed("odd", "POINT(0.1   0.1)")])
    query = f"SELECT ?f ?w {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }}"
    body = index_answer(city, query, format_)
    results = city.store.query(PREFIXES + query, custom_functions=FUNCTIONS)
    assert isinstance(results, pyoxigraph.QuerySolutions)
    assert isinstance(format_.engine, QueryResultsFormat)
    written = results.serialize(format=format_.engine)
    assert body is not None
    assert written is not None
    # The rows may come in another order.
    assert sorted(body) == sorted(written)


def placed(name: str, text: str) -> list[Quad]:
    node = EX.term(f"{name}/g")
    return [
        Quad(EX.term(name), GEO.hasGeometry, node, DEFAULT),
        Quad(node, GEO.asWKT, wkt(text), DEFAULT),
        Quad(EX.term(name), RDF.type, EX.Place, DEFAULT),
    ]


def test_a_limit_and_an_offset_take_a_part_of_it() -> None:
    city = City([quad for number in range(9) for quad in placed(f"p{number}", f"POINT(0.1 0.{number + 1})")])
    every = rows_of(index_answer(city, ALL) or b"")
    some = rows_of(
        index_answer(city, f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }} LIMIT 2 OFFSET 1")
        or b""
    )
    assert some.total() == 2
    assert some <= every
    none = index_answer(city, f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }} OFFSET 100")
    assert none == b'{"head":{"vars":["f"]},"results":{"bindings":[]}}'


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }} ORDER BY ?f",
        f"SELECT (COUNT(*) AS ?n) {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }}",
        f"SELECT ?f ?l {{ ?f rdfs:label ?l ; geo:hasGeometry/geo:asWKT ?w {WITHIN} }}",
        f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} FILTER(?f != ex:f1) }}",
        f"SELECT ?f {{ GRAPH ?g {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }} }}",
        f"SELECT ?f FROM ex:graph {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }}",
        f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }} VALUES ?f {{ ex:f1 }}",
        f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }} HAVING(?f)",
        f"SELECT ?f ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }}",
        f"ASK {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }}",
        'SELECT ?f { ?f geo:hasGeometry/geo:asWKT ?w FILTER(geof:sfWithin(?w, "POINT(no"^^geo:wktLiteral)) }',
        f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w FILTER(geof:sfTouches(geof:boundary(?w), {BOX})) }}",
        f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w FILTER(geof:distance(?w, {BOX}, uom:metre) < 5) }}",
    ],
)
def test_what_asks_for_more_takes_the_long_way(query: str) -> None:
    assert index_answer(City(plain_city()), query) is None


@pytest.mark.parametrize(
    "options", [{"derived": False}, {"optimize": False}, {"explain": True}, {"rewrite": True}]
)
def test_options_take_the_long_way(options: dict[str, bool]) -> None:
    query = f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w {WITHIN} }}"
    assert index_answer(City(plain_city()), query, **options) is None


def test_it_follows_the_store_from_commit_to_commit() -> None:
    store = EmbeddedStore()
    rewriter = Rewriter(store)
    store.before_commit = rewriter.geometries.note
    chance = random.Random(5)
    possible = [quad for n in range(12) for quad in placed(f"p{n}", f"POINT(0.1 0.{n % 4 + 1})")]
    possible += [Quad(EX.term(f"p{n}/g"), GEO.asWKT, wkt("POINT(5 5)"), DEFAULT) for n in range(6)]
    within = f"{PREFIXES} SELECT ?f ?w {{ ?f a ex:Place ; geo:hasGeometry/geo:asWKT ?w {WITHIN} }}"
    joined = f"{PREFIXES} SELECT ?f ?w2 {{ ?f a ex:Place . {JOIN} }}"
    answered = 0
    for number in range(160):
        query = joined if number % 4 == 0 else within
        there = [quad for quad in possible if quad in store.graph]
        store.commit(chance.sample(possible, chance.randrange(4)), chance.sample(there, min(len(there), 2)))
        preparation = rewriter.preparation(query, Options())
        assert preparation is not None
        found = rewriter.index_answer(preparation, JSON)
        if found is not None:
            answered += 1
            assert found.revision == store.revision()
            expected = store.graph.query(query, custom_functions=FUNCTIONS)
            assert isinstance(expected, pyoxigraph.QuerySolutions)
            rows = Counter(str([str(solution[v]) for v in expected.variables]) for solution in expected)
            assert rows_of(found.body) == rows
    assert answered > 40


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_are_those_of_the_engine(seed: int) -> None:
    chance = random.Random(seed)
    spread = [
        quad for n in range(150) for quad in placed(f"p{n}", f"POINT({chance.random()} {chance.random()})")
    ]
    parks = [Quad(EX.term(f"p{n}"), RDF.type, EX.Park, DEFAULT) for n in range(0, 150, 3)]
    city = City([*spread, *parks, *placed("line", "LINESTRING(0.2 0.2, 0.3 0.8)")])
    answered = 0
    for _ in range(20):
        unit = chance.choice(["uom:metre", "<http://qudt.org/vocab/unit/KiloM>"])
        place = f'"POINT({chance.random()} {chance.random()})"^^geo:wktLiteral'
        sides = chance.choice([f"?w, {place}", f"{place}, ?w"])
        kind = chance.choice(["a ex:Park ;", "a ex:Place, ex:Park ;", "", "a ex:Nowhere ;"])
        query = f"SELECT ?f ?w {{ ?f {kind} geo:hasGeometry/geo:asWKT ?w }} "
        query += f"ORDER BY geof:distance({sides}, {unit})"
        query += f" LIMIT {chance.choice([1, 4])} OFFSET {chance.choice([0, 2])}"
        body = index_answer(city, query)
        if body is not None:
            answered += 1
            assert rows_of(body) == city.answers(PREFIXES + query), query
    assert answered > 5


@pytest.mark.parametrize("sides", ["?w, {}", "{}, ?w"])
def test_the_nearest_points_come_in_the_order_of_the_engine(sides: str) -> None:
    chance = random.Random(3)
    city = City(
        [q for n in range(200) for q in placed(f"p{n}", f"POINT({chance.random()} {chance.random()})")]
    )
    place = '"POINT(0.5 0.5)"^^geo:wktLiteral'
    measured = f"geof:metricDistance({sides.format(place)})"
    query = f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w }} ORDER BY {measured} LIMIT 50"
    results = pyoxigraph.parse_query_results(index_answer(city, query) or b"", format=QueryResultsFormat.JSON)
    expected = city.store.query(PREFIXES + query, custom_functions=FUNCTIONS)
    assert isinstance(results, pyoxigraph.QuerySolutions)
    assert isinstance(expected, pyoxigraph.QuerySolutions)
    assert [row["f"] for row in results] == [row["f"] for row in expected]


def test_the_nearest_of_geometries_without_a_distance_take_the_long_way() -> None:
    city = City([*placed("a", "POINT(0.1 0.1)"), *placed("b", "POINT EMPTY")])
    query = 'ORDER BY geof:distance(?w, "POINT(0 0)"^^geo:wktLiteral, uom:metre) LIMIT 1'
    assert index_answer(city, f"SELECT ?f {{ ?f geo:hasGeometry/geo:asWKT ?w }} {query}") is None


def test_literals_are_written_with_language_and_datatype() -> None:
    terms = (
        EX.a,
        Literal('say "é"\n'),
        Literal("x", language="en"),
        wkt("POINT(1 2)"),
        pyoxigraph.BlankNode("b"),
    )
    body = Table(("a",), (Column([cell_of(term) for term in terms]),)).written(JSON)
    results = pyoxigraph.parse_query_results(body, format=QueryResultsFormat.JSON)
    assert isinstance(results, pyoxigraph.QuerySolutions)
    assert [solution["a"] for solution in results][:4] == list(terms[:4])

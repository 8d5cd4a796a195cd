"""The parameters of the endpoint that decide about rewriting, over a whole server."""

from pathlib import Path

import httpx
import pytest
from pyoxigraph import Quad

from server.problem_map import all_problems
from server.services import Services
from sparql.model.errors import UnknownFunction
from sparql.model.vocabulary import DEFAULT, GEO
from sparql.workers.frames import FrameKind
from sparql.workers.query import error_of
from tests.server.conftest import select
from tests.support.spatial_city import EX, PREFIXES, small_city, wkt

pytestmark = pytest.mark.asyncio(loop_scope="module")
BOX = '"POLYGON((0.2 0.2, 0.6 0.2, 0.6 0.6, 0.2 0.6, 0.2 0.2))"^^geo:wktLiteral'
WITHIN = PREFIXES + (
    f"SELECT ?f ?w {{ ?f geo:hasGeometry/geo:asWKT ?w FILTER(geof:sfWithin(?w, {BOX})) }} ORDER BY ?f ?w"
)


@pytest.fixture(scope="module")
def city(shared_services: Services) -> Services:
    shared_services.writer.bulk(small_city())
    return shared_services


@pytest.fixture
def client(shared_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shared_client


async def test_the_answer_is_the_same_with_and_without_the_index(
    city: Services, client: httpx.AsyncClient
) -> None:
    answers = []
    for optimize in ("true", "false"):
        response = await client.get("/sparql", params={"query": WITHIN, "optimize": optimize})
        assert response.status_code == 200
        answers.append(response.json())
    assert answers[0] == answers[1]
    assert answers[0]["results"]["bindings"]


async def test_explain_shows_the_rewritten_query_and_does_not_run_it(
    city: Services, client: httpx.AsyncClient
) -> None:
    response = await client.get("/sparql", params={"query": WITHIN, "explain": "true"})
    reported = response.json()
    assert reported["query"] == WITHIN
    assert "VALUES" in reported["rewritten"]
    assert reported["done"][0]["rewriting"] == "spatial filter"
    assert reported["revision"] == city.store.revision()


async def test_a_place_added_a_moment_ago_is_found(city: Services, client: httpx.AsyncClient) -> None:
    await select(client, WITHIN)
    added = [
        Quad(EX.new, GEO.hasGeometry, EX.newg, DEFAULT),
        Quad(EX.newg, GEO.asWKT, wkt("POINT(0.31 0.32)"), DEFAULT),
    ]
    city.store.commit(added)
    assert "http://example.org/new" in {row["f"] for row in await select(client, WITHIN)}
    city.store.commit([], added)


async def test_an_unreadable_geometry_is_reported_in_a_header(
    city: Services, client: httpx.AsyncClient
) -> None:
    query = WITHIN.replace("0.2 0.2))", "0.2")
    response = await client.get("/sparql", params={"query": query})
    assert response.status_code == 200
    assert response.json()["results"]["bindings"] == []
    assert "cannot be read" in response.headers["warning"]


async def test_an_unreadable_geometry_in_the_pattern_of_an_update_is_reported_in_a_header(
    city: Services, client: httpx.AsyncClient
) -> None:
    pattern = WITHIN.replace("0.2 0.2))", "0.2").replace("SELECT ?f ?w", "INSERT { ?f a geo:Feature } WHERE")
    pattern = pattern.removesuffix(" ORDER BY ?f ?w")
    response = await client.post("/sparql", data={"update": pattern})
    assert response.status_code == 200
    assert "cannot be read" in response.headers["warning"]


@pytest.mark.parametrize(
    "call",
    [
        'boundary("GEOMETRYCOLLECTION(POINT(1 2))"^^geo:wktLiteral)',
        'buffer(?w, "many"^^xsd:integer, uom:metre)',
        'buffer("POINT(1 2)"^^geo:wktLiteral, "NaN"^^xsd:double, uom:degree)',
        'buffer("POINT(1 2)"^^geo:wktLiteral, "INF"^^xsd:double, uom:degree)',
    ],
)
async def test_a_call_that_has_no_answer_is_an_error_of_its_expression_and_never_the_servers(
    city: Services, client: httpx.AsyncClient, call: str
) -> None:
    xsd = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
    query = xsd + PREFIXES + f"SELECT * {{ ?g geo:asWKT ?w BIND(geof:{call} AS ?x) }} LIMIT 1"
    for text in (query, query.replace("BIND(", "FILTER(geof:sfWithin(?w, ").replace(" AS ?x)", "))")):
        response = await client.get("/sparql", params={"query": text})
        assert response.status_code == 200
        assert "warning" in response.headers


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("distance(?w, ?w, uom:furlong)", "is not a known unit"),
        ("area(?w, uom:metre)", "but area is needed"),
        ("distance(?w, ?w)", "do not fit"),
        ('sfWithin(?w, "POINT(1 1)")', "geometry literal"),
    ],
)
async def test_a_call_that_fits_no_geometry_is_reported_in_a_header(
    city: Services, client: httpx.AsyncClient, call: str, said: str
) -> None:
    query = PREFIXES + f"SELECT * {{ ?g geo:asWKT ?w BIND(geof:{call} AS ?x) }} LIMIT 1"
    response = await client.get("/sparql", params={"query": query})
    assert response.status_code == 200
    assert said in response.headers["warning"]


@pytest.mark.parametrize("call", ["distance(?w, ?w, ?u)", "buffer(?w, ?d, uom:degree)", "relate(?w, ?w, ?p)"])
async def test_a_call_that_may_fit_is_not_reported(
    city: Services, client: httpx.AsyncClient, call: str
) -> None:
    query = PREFIXES + f"SELECT * {{ ?g geo:asWKT ?w BIND(geof:{call} AS ?x) }} LIMIT 1"
    assert "warning" not in (await client.get("/sparql", params={"query": query})).headers


async def test_an_unknown_function_is_the_fault_of_the_query() -> None:
    reported = (
        "The custom function <http://www.opengis.net/def/function/geosparql/symdifference> is not supported"
    )
    error = error_of(FrameKind.ERROR, {"type": "failed", "message": reported})
    assert isinstance(error, UnknownFunction)
    assert error.like[0] == "http://www.opengis.net/def/function/geosparql/symDifference"
    assert all_problems().response(error).status_code == 400


async def test_a_syntax_error_is_reported_at_its_place_in_the_text_that_was_sent(
    city: Services, client: httpx.AsyncClient
) -> None:
    query = WITHIN.replace("ORDER BY ?f ?w", "\nGROUP ?f")
    response = await client.get("/sparql", params={"query": query})
    assert response.status_code == 400
    assert response.json()["line"] == query.count("\n") + 1


@pytest.mark.parametrize("parameter", ["derived", "rewrite", "optimize", "explain"])
async def test_a_parameter_that_means_nothing_is_refused(client: httpx.AsyncClient, parameter: str) -> None:
    response = await client.get("/sparql", params={"query": "ASK {}", parameter: "perhaps"})
    assert response.status_code == 400
    assert parameter in response.json()["detail"]


async def test_parameters_change_the_answer_and_its_tag(city: Services, client: httpx.AsyncClient) -> None:
    query = PREFIXES + "SELECT * { ?a geo:sfIntersects ex:f1 }"
    tags, sizes = set(), []
    for options in ({}, {"rewrite": "true"}, {"derived": "false"}):
        response = await client.get("/sparql", params={"query": query, **options})
        assert response.status_code == 200, response.text
        tags.add(response.headers["etag"])
        sizes.append(len(response.json()["results"]["bindings"]))
    assert len(tags) == 3
    assert sizes[0] == sizes[2] == 0
    assert sizes[1] > 0


async def test_disconnected_from_anything_is_refused(city: Services, client: httpx.AsyncClient) -> None:
    query = PREFIXES + "SELECT * { ?a geo:rcc8dc ?b }"
    response = await client.get("/sparql", params={"query": query, "rewrite": "true"})
    assert response.status_code == 400
    assert "Give one side" in response.json()["detail"]
    assert (await client.get("/sparql", params={"query": query})).headers["warning"]


async def test_labels_are_matched_over_http(city: Services, client: httpx.AsyncClient) -> None:
    words = "PREFIX u: <https://w3id.org/urbankg/system#> SELECT ?p { ?p u:textMatch 'name 3' }"
    assert len(await select(client, words)) == 10
    response = await client.get("/sparql", params={"query": words})
    assert len(response.json()["results"]["bindings"]) == 10


async def test_labels_are_matched(city: Services) -> None:
    rows = await city.readers.solutions(
        "SELECT ?p { ?p <https://w3id.org/urbankg/system#textMatch> ('name 3' 4) }"
    )
    assert len(rows["results"]["bindings"]) == 4


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (geof:aggFoo(?w) AS ?x) { ?g geo:asWKT ?w }",
        "SELECT ?g (geof:aggunion(?w) AS ?x) { ?g geo:asWKT ?w } GROUP BY ?g",
        "SELECT ?g { ?g geo:asWKT ?w } GROUP BY ?g HAVING(geof:isEmpty(geof:aggFoo(?w)))",
        "SELECT (geof:aggFoo(?w) AS ?x) { ?g geo:asWKT ?w . << ?g ex:a ?b >> ex:c ?d }",
    ],
)
async def test_an_unknown_aggregate_is_refused(city: Services, client: httpx.AsyncClient, query: str) -> None:
    for options in ({}, {"optimize": "false"}):
        response = await client.get("/sparql", params={"query": PREFIXES + query, **options})
        assert response.status_code == 400, response.text
        assert "geosparql/aggUnion>" in response.json()["detail"]


async def test_an_unknown_aggregate_of_an_update_is_refused(
    city: Services, client: httpx.AsyncClient
) -> None:
    update = "INSERT { ex:all ex:hull ?x } WHERE { SELECT (geof:aggFoo(?w) AS ?x) { ?g geo:asWKT ?w } }"
    response = await client.post("/update", data={"update": PREFIXES + update})
    assert response.status_code == 400, response.text


@pytest.mark.parametrize("arguments", ["", "?w, ?w"])
async def test_an_aggregate_of_other_than_one_argument_is_refused(
    city: Services, client: httpx.AsyncClient, arguments: str
) -> None:
    query = PREFIXES + f"SELECT (geof:aggUnion({arguments}) AS ?x) {{ ?g geo:asWKT ?w }}"
    response = await client.get("/sparql", params={"query": query})
    assert response.status_code == 400
    assert "takes one argument" in response.json()["detail"]


@pytest.mark.parametrize(
    "place", ["FILTER(geof:isEmpty(geof:aggUnion(?w)))", "BIND(geof:aggUnion(?w) AS ?x)"]
)
async def test_an_aggregate_in_a_filter_or_bind_is_refused(
    city: Services, client: httpx.AsyncClient, place: str
) -> None:
    query = PREFIXES + f"SELECT ?g {{ ?g geo:asWKT ?w {place} }} GROUP BY ?g"
    response = await client.get("/sparql", params={"query": query})
    assert response.status_code == 400
    assert "is an aggregate" in response.json()["detail"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?g geo:asWKT ?w FILTER(ex:no(?w)) }",
        "SELECT (ex:no(?g) AS ?x) { ?g a ?c }",
        "SELECT ?g { ?g a ?c } GROUP BY ?g HAVING(ex:no(?g))",
        "SELECT ?g { ?g a ?c } ORDER BY ex:no(?g)",
        "SELECT * { { SELECT (ex:no(?g) AS ?x) { ?g a ?c } } }",
        "ASK { ?g a ?c FILTER EXISTS { ?g geo:asWKT ?w FILTER(ex:no(?w)) } }",
    ],
)
async def test_explain_lists_the_unknown_functions_that_the_header_names(
    city: Services, client: httpx.AsyncClient, query: str
) -> None:
    asked = {"query": PREFIXES + query}
    reported = (await client.get("/sparql", params=asked)).headers["warning"]
    explained = (await client.get("/sparql", params={**asked, "explain": "true"})).json()
    assert [f'199 urbankg "{one}"' for one in explained["warnings"]] == [reported]


async def test_explain_does_not_list_functions_of_the_engine(
    city: Services, client: httpx.AsyncClient
) -> None:
    query = "SELECT (<http://www.w3.org/2001/XMLSchema#integer>('1') AS ?x) (geof:asWKT(?w) AS ?y) {}"
    response = await client.get("/sparql", params={"query": PREFIXES + query, "explain": "true"})
    assert response.json()["warnings"] == []


@pytest.mark.parametrize(
    "pattern", ["?g <https://w3id.org/urbankg/system#textMatch> 'name 3'", "?g geo:sfWithin ex:f1"]
)
async def test_an_error_of_grouping_is_reported_at_its_place_in_the_text_that_was_sent(
    city: Services, client: httpx.AsyncClient, pattern: str
) -> None:
    query = PREFIXES + f"SELECT ?nowhere {{ {pattern} }} GROUP BY ?g"
    response = await client.get("/sparql", params={"query": query, "rewrite": "true"})
    assert response.status_code == 400
    assert response.json()["column"] <= len(query.splitlines()[-1]) + 1


async def test_the_documented_query_returns_the_tolerance_of_the_relations(
    city: Services, client: httpx.AsyncClient
) -> None:
    page = (Path(__file__).parents[4] / "docs" / "geosparql.md").read_text(encoding="utf-8")
    query = page.split("### With which tolerance")[1].split("```sparql")[1].split("```")[0]
    found = (await client.get("/sparql", params={"query": query})).json()["results"]["bindings"]
    assert [row["basis"]["value"] for row in found] == ["RCC8, tolerance 0 m"]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("geof:sfWithn(?w, ?w)", "sfWithn> is not known here"),
        ("ex:no(?w)", "no> is not known here"),
        ("geof:distance(?w, ?w, uom:furlong) < 3", "is not a known unit"),
        ('geof:sfWithin(?w, "POINT(x)"^^geo:wktLiteral)', "cannot be read"),
    ],
)
async def test_what_matches_nothing_in_an_update_is_reported_in_a_header(
    city: Services, client: httpx.AsyncClient, condition: str, said: str
) -> None:
    update = f"INSERT {{ ?g ex:seen ?w }} WHERE {{ ?g geo:asWKT ?w FILTER({condition}) }}"
    response = await client.post("/update", data={"update": PREFIXES + update})
    assert response.status_code == 200, response.text
    assert said in response.headers["warning"]


async def test_an_update_whose_calls_are_known_has_no_warning(
    city: Services, client: httpx.AsyncClient
) -> None:
    update = "INSERT { ?g ex:dim ?d } WHERE { ?g geo:asWKT ?w BIND(geof:dimension(?w) AS ?d) FILTER(?d = 7) }"
    response = await client.post("/update", data={"update": PREFIXES + update})
    assert response.status_code == 200, response.text
    assert "warning" not in response.headers

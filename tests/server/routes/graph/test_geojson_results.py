"""Rows of a SELECT query as GeoJSON."""

from typing import Any

import httpx
import pytest

WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"
ROWS = f"""SELECT ?name ?where ?n ?open WHERE {{ VALUES (?name ?where ?n ?open) {{
    ("a \\"mill\\"\\tand more" "POINT (1 2)"^^<{WKT}> 3 true)
    ("far" "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT (2 1)"^^<{WKT}> 4.5 false)
    ("nowhere" UNDEF UNDEF UNDEF)
    ("broken" "POINT (1"^^<{WKT}> 1 true) }} }}"""


@pytest.fixture
def client(shared_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shared_client


async def features(client: httpx.AsyncClient, query: str, **more: str) -> httpx.Response:
    return await client.post(
        "/sparql", data={"query": query, **more}, headers={"Accept": "application/geo+json"}
    )


async def test_rows_become_features_in_crs84_with_the_other_columns_as_properties(client: httpx.AsyncClient):
    answer = await features(client, ROWS)
    assert answer.headers["content-type"] == "application/geo+json"
    found = answer.json()
    assert found["type"] == "FeatureCollection"
    assert [one["geometry"] for one in found["features"]] == [
        {"type": "Point", "coordinates": [1, 2]},
        {"type": "Point", "coordinates": [1, 2]},
        None,
        None,
    ]
    assert found["features"][0]["properties"] == {"name": 'a "mill"\tand more', "n": 3, "open": True}
    assert found["features"][2]["properties"] == {"name": "nowhere", "n": None, "open": None}


async def test_the_column_can_be_named_and_the_format_too(client: httpx.AsyncClient):
    query = f"""SELECT ?a ?b WHERE {{
        BIND("POINT (1 1)"^^<{WKT}> AS ?a) BIND("POINT (2 2)"^^<{WKT}> AS ?b) }}"""
    answer = await client.get("/sparql", params={"query": query, "format": "geojson", "geometry": "b"})
    feature = answer.json()["features"][0]
    assert feature["geometry"]["coordinates"] == [2, 2]
    assert feature["properties"] == {"a": "POINT (1 1)"}


async def test_many_rows_arrive_whole(client: httpx.AsyncClient):
    digits = " ".join(str(n) for n in range(10))
    values = " ".join(f"VALUES ?{name} {{ {digits} }}" for name in "abcd")
    query = f"""SELECT ?a ?b ?c ?d ?where WHERE {{ {values}
        BIND(STRDT(CONCAT("POINT (", STR(?a), " ", STR(?b), ")"), <{WKT}>) AS ?where) }}"""
    found: dict[str, Any] = (await features(client, query)).json()
    assert len({tuple(one["properties"].values()) for one in found["features"]}) == 10_000


async def test_no_rows_are_an_empty_collection(client: httpx.AsyncClient):
    found = (await features(client, "SELECT ?x WHERE { ?x <urn:nothing> ?y }")).json()
    assert found == {"type": "FeatureCollection", "features": []}


@pytest.mark.parametrize(
    ("query", "more", "status", "message"),
    [
        ("SELECT ?x WHERE { VALUES ?x { 1 2 } }", {}, 400, "No column of the answer has a geometry"),
        (ROWS, {"geometry": "wher"}, 400, "no column ?wher"),
        ("ASK {}", {}, 406, "application/geo+json"),
        ("CONSTRUCT WHERE { ?s ?p ?o }", {}, 406, "application/geo+json"),
    ],
)
async def test_what_has_no_geometry_is_refused(
    client: httpx.AsyncClient, query: str, more: dict[str, str], status: int, message: str
):
    answer = await features(client, query, **more)
    assert answer.status_code == status
    assert message in answer.json()["detail"]

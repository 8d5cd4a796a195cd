"""Geometry that no one draws: it ends with an answer or an error of the client, and holds nobody."""

import httpx
import pytest

from tests.server.conftest import select
from tests.support.workshop import update

GEOF = "http://www.opengis.net/def/function/geosparql/"
GEO = "http://www.opengis.net/ont/geosparql#"
METRE = "<http://www.opengis.net/def/uom/OGC/1.0/metre>"
ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "1 1 "><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>'
)
GML = "<gml:Point xmlns:gml='http://www.opengis.net/gml/3.2'>"
KML = "<Point xmlns='http://www.opengis.net/kml/2.2'>"
LITERALS = (
    ("wktLiteral", "POINT EMPTY"),
    ("wktLiteral", "POINT(NaN 1)"),
    ("wktLiteral", "POINT(1e400 1)"),
    ("wktLiteral", "POINT(inf inf)"),
    ("wktLiteral", "POLYGON((0 0, 1 1, 1 0, 0 1, 0 0))"),
    ("wktLiteral", "POLYGON((0 0, 0 0, 0 0, 0 0))"),
    ("wktLiteral", "GEOMETRYCOLLECTION(" * 500 + "POINT(1 1)" + ")" * 500),
    ("wktLiteral", "MULTIPOLYGON(((0 0, 9 0, 9 9, 0 9, 0 0)), ((1 1, 2 1, 2 2, 1 2, 1 1)))"),
    ("gmlLiteral", ENTITIES + GML + "<gml:pos>&c;</gml:pos></gml:Point>"),
    ("gmlLiteral", GML * 400),
    ("kmlLiteral", ENTITIES + KML + "<coordinates>&c;</coordinates></Point>"),
    ("geoJSONLiteral", '{"type":"Point","coordinates":[NaN,1]}'),
    ("geoJSONLiteral", '{"type":"Point","coordinates":[1e999,1]}'),
    ("geoJSONLiteral", "[" * 5000),
)
FUNCTIONS = (
    *("metricArea", "convexHull", "isSimple", "asGeoJSON", "boundary", "concaveHull"),
    *("geometryType", "asGML"),
)


@pytest.fixture
def client(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shop_client


@pytest.mark.parametrize(("kind", "text"), LITERALS)
async def test_a_hostile_literal_is_stored_or_refused_and_never_fails_a_request(
    client: httpx.AsyncClient, kind: str, text: str
) -> None:
    escaped = text.replace('"', '\\"')
    literal = f'"{escaped}"^^<{GEO}{kind}>'
    geometry = f"<{GEO}hasDefaultGeometry> [ <{GEO}asWKT> {literal} ]"
    added = await update(client, f"INSERT DATA {{ :g a :Park ; :name 'g' ; {geometry} }}")
    assert added.status_code in (200, 400, 422), added.text
    for name in FUNCTIONS:
        within = f"<{GEOF}sfWithin>({literal}, {literal})"
        query = f"SELECT (<{GEOF}{name}>({literal}) AS ?x) ({within} AS ?y) {{}}"
        answer = await client.post("/sparql", data={"query": query}, timeout=60)
        assert answer.status_code in (200, 400), (name, answer.text)
    assert await select(client, "SELECT (1 AS ?one) {}") == [{"one": "1"}]


@pytest.mark.parametrize(
    "tolerance", ["2.2250738585e-313", "1e-300", "5e-324", "1e-12", "1e-9", "0.001", "10"]
)
async def test_features_are_drawn_with_any_tolerance(client: httpx.AsyncClient, tolerance: str) -> None:
    square = f"'POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))'^^<{GEO}wktLiteral>"
    geometry = f"<{GEO}hasDefaultGeometry> [ <{GEO}asWKT> {square} ]"
    added = await update(client, f"INSERT DATA {{ :g a :Park ; :name 'g' ; {geometry} }}")
    assert added.status_code == 200, added.text
    answer = await client.get("/features", params={"tolerance": tolerance})
    assert answer.status_code == 200, answer.text
    assert answer.json()["numberMatched"] == 1


@pytest.mark.parametrize("distance", ["1e9", "1e300", "-1e9", "1e-320"])
async def test_a_buffer_of_any_size_ends(client: httpx.AsyncClient, distance: str) -> None:
    for name, unit in (("buffer", f", {METRE}"), ("metricBuffer", "")):
        point = f"'POINT(1 1)'^^<{GEO}wktLiteral>"
        query = f"SELECT (<{GEOF}{name}>({point}, {distance}{unit}) AS ?x) {{}}"
        answer = await client.post("/sparql", data={"query": query}, timeout=60)
        assert answer.status_code == 200, answer.text

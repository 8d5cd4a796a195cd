"""Shapes and rules that call functions: those of the endpoint judge, and a file with any other is refused."""

import httpx
import pytest

from tests.support.workshop import RULES, update

TURTLE = {"content-type": "text/turtle"}
HEAD = RULES.partition("s:Named")[0]
GEOF = "http://www.opengis.net/def/function/geosparql/"
WKT = "<http://www.opengis.net/ont/geosparql#wktLiteral>"
SQUARE = "POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))"


def shape(condition: str) -> str:
    """A file with a shape that is violated where the geometry of a park meets a condition."""
    query = f"SELECT $this {{ $this <http://example.org/city#outline> ?w FILTER({condition}) }}"
    return (
        HEAD
        + f"s:Checked sh:targetClass :Park ; sh:sparql [ sh:message 'Wrong.' ; sh:select '''{query}''' ] .\n"
    )


@pytest.fixture
def client(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shop_client


async def put(client: httpx.AsyncClient, text: str) -> httpx.Response:
    return await client.put("/shapes/checked.ttl", content=text, headers=TURTLE, timeout=120)


async def park(client: httpx.AsyncClient, wkt: str) -> int:
    """The status of adding a park with this outline."""
    text = f"INSERT DATA {{ :p a :Park ; :name 'p' ; :outline '{wkt}'^^{WKT} }}"
    return (await update(client, text)).status_code


@pytest.mark.parametrize(
    ("condition", "good", "bad"),
    [
        (f"<{GEOF}metricArea>(?w) > 1e9", "POLYGON((0 0, 0.1 0, 0.1 0.1, 0 0))", SQUARE),
        (f"!<{GEOF}sfWithin>(?w, '{SQUARE}'^^{WKT})", "POINT(0.5 0.5)", "POINT(5 5)"),
        (f"<{GEOF}geometryType>(?w) = <http://www.opengis.net/ont/sf#Point>", SQUARE, SQUARE),
        ("xsd:date('2026-01-01') > xsd:date('2025-01-01') && STRLEN(STR(?w)) > 20", "POINT(1 1)", SQUARE),
    ],
)
async def test_a_shape_judges_by_the_functions_that_the_endpoint_has(
    client: httpx.AsyncClient, condition: str, good: str, bad: str
) -> None:
    prefix = "http://www.w3.org/2001/XMLSchema#"
    condition = condition.replace("xsd:date", f"<{prefix}date>")
    answer = await put(client, shape(condition))
    assert answer.status_code == 201, answer.text
    assert await park(client, good) == 200
    if good != bad:
        assert await park(client, bad) == 422


@pytest.mark.parametrize(
    ("called", "declared"),
    [
        ("http://example.org/nowhere", ""),
        (GEOF + "metricAria", ""),
        (GEOF + "aggUnion", ""),
        (
            "http://example.org/shapes#twice",
            "s:twice a sh:SPARQLFunction ; sh:parameter [ sh:path s:a ] ; "
            "sh:select 'SELECT ($a*2 AS ?r) {}' .",
        ),
    ],
)
async def test_a_shape_that_calls_another_function_is_refused_with_shape_and_function(
    client: httpx.AsyncClient, called: str, declared: str
) -> None:
    answer = await put(client, shape(f"<{called}>(?w) > 3") + declared)
    assert answer.status_code == 422, answer.text
    detail = answer.json()["detail"]
    assert called in detail
    assert "http://example.org/shapes#Checked" in detail


async def test_a_declared_function_that_no_shape_calls_does_not_keep_its_file_out(
    client: httpx.AsyncClient,
) -> None:
    text = "s:twice a sh:SPARQLFunction ; sh:parameter [ sh:path s:a ] ; sh:select 'SELECT ($a*2 AS ?r) {}' ."
    assert (await put(client, HEAD + text)).status_code == 201


async def test_a_call_with_a_geometry_of_very_many_points_ends_with_the_judgment(
    shop_client: httpx.AsyncClient,
) -> None:
    assert (await put(shop_client, shape(f"<{GEOF}metricArea>(?w) > 1e12"))).status_code == 201
    tops = ", ".join(f"{n / 1e5} {(n * 7919 % 1000) / 1e4}" for n in range(20_000))
    assert await park(shop_client, f"POLYGON(({tops}, 0.2 -1, 0 -1, 0 0))") == 200
    # Closed along the axis, the ring crosses itself so often that no repair is tried.
    assert await park(shop_client, f"POLYGON(({tops}, 0 0))") == 422

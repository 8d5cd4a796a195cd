"""Statements of a client's own extractor go through the same gate."""

import httpx
import pytest

from server.services import Services
from tests.server.conftest import select

URBAN = "https://w3id.org/urbankg/urban#"
GEO = "http://www.opengis.net/ont/geosparql#"
PLACE = "https://w3id.org/urbankg/id/test-hall"

TURTLE = f"""
@prefix urban: <{URBAN}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix geo: <{GEO}> . @prefix sf: <http://www.opengis.net/ont/sf#> .
<{PLACE}> a urban:Museum ; rdfs:label "Test Hall"@en ;
  geo:hasDefaultGeometry <{PLACE}/geometry> .
<{PLACE}/geometry> a sf:Point ; geo:asWKT "POINT(-73.96 40.81)"^^geo:wktLiteral .
"""


def statement(
    predicate: str, value: dict[str, str], subject: str = PLACE, **more: object
) -> dict[str, object]:
    return {"subject": subject, "predicate": predicate, "object": value, **more}


async def post_turtle(client: httpx.AsyncClient, body: str) -> httpx.Response:
    return await client.post("/candidates", content=body, headers={"content-type": "text/turtle"})


async def test_turtle_is_accepted_and_can_be_queried(client: httpx.AsyncClient):
    answer = (await post_turtle(client, TURTLE)).json()
    assert answer["rejected"] == []
    assert await select(
        client, f"SELECT ?l WHERE {{ <{PLACE}> <http://www.w3.org/2000/01/rdf-schema#label> ?l }}"
    ) == [{"l": "Test Hall"}]


async def test_json_is_judged_statement_by_statement(client: httpx.AsyncClient):
    label = {"type": "literal", "value": "Test Hall", "xml:lang": "en"}
    body = {
        "statements": [
            statement(
                "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", {"type": "uri", "value": URBAN + "Museum"}
            ),
            statement("http://www.w3.org/2000/01/rdf-schema#label", label, confidence=0.9),
            statement(URBAN + "population", {"type": "literal", "value": "many"}),
            statement(URBAN + "locatedIn", {"type": "uri", "value": PLACE}),
            statement("http://example.org/unheardOf", {"type": "literal", "value": "x"}),
        ],
        "source": "unit test",
    }
    answer = (await client.post("/candidates", json=body)).json()
    assert len(answer["accepted"]) == 2
    assert len(answer["rejected"]) == 3
    assert all(r["violations"][0]["message"] for r in answer["rejected"])
    assert (await client.get("/review")).json()["total"] == 3


@pytest.mark.parametrize(
    "wkt", ["POINT(-73.96", "POINT(-73.96 140.81)", "POINT(40.81 -173.96)", "POINT(nan 1)", "CIRCLE(1 2)"]
)
async def test_a_geometry_that_does_not_parse_or_lies_nowhere_is_refused(client: httpx.AsyncClient, wkt: str):
    answer = (await post_turtle(client, TURTLE.replace("POINT(-73.96 40.81)", wkt))).json()
    refused = {r["statement"]["predicate"] for r in answer["rejected"]}
    assert GEO + "asWKT" in refused
    assert (await client.get("/review")).json()["total"] == len(answer["rejected"])


async def test_geometry_brings_its_relations_and_takes_them_along(
    client: httpx.AsyncClient, services: Services
):
    square = "POLYGON((-74 40.7,-73.9 40.7,-73.9 40.9,-74 40.9,-74 40.7))"
    await post_turtle(client, TURTLE)
    region = TURTLE.replace("test-hall", "test-area").replace("Test Hall", "Test Area")
    region = (
        region.replace("POINT(-73.96 40.81)", square)
        .replace("sf:Point", "sf:Polygon")
        .replace("Museum", "Park")
    )
    answer = (await post_turtle(client, region)).json()
    assert answer["derived"] == 2
    area = PLACE.replace("hall", "area")
    asks = f"SELECT ?p WHERE {{ <{PLACE}> ?p <{area}> }}"
    assert await select(client, asks) == [{"p": GEO + "rcc8ntpp"}]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"<a> <b>", "text/turtle", 400),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 422),
        (
            b'{"statements":[{"subject":"no iri","predicate":"p:q","object":{"type":"uri","value":"a:b"}}]}',
            "application/json",
            400,
        ),
        (
            b'{"statements":[{"subject":"a:b","predicate":"p:q","object":{"type":"uri"}}]}',
            "application/json",
            422,
        ),
        (b"a,b", "text/csv", 415),
    ],
)
async def test_a_body_that_cannot_be_read_is_a_problem(
    shared_client: httpx.AsyncClient, content: bytes, kind: str, status: int
):
    response = await shared_client.post("/candidates", content=content, headers={"content-type": kind})
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"


async def test_evidence_must_span_its_quote(shared_client: httpx.AsyncClient):
    bad = statement(
        URBAN + "nickname", {"type": "literal", "value": "x"}, evidence={"start": 0, "end": 9, "quote": "x"}
    )
    response = await shared_client.post("/candidates", json={"statements": [bad]})
    assert response.status_code == 422
    assert "code points" in response.json()["detail"]


@pytest.mark.parametrize(
    ("member", "length", "limit"), [("source", 2001, "2000"), ("text", 200_001, "200,000")]
)
async def test_what_is_too_long_is_refused_with_the_limit(
    client: httpx.AsyncClient, member: str, length: int, limit: str
) -> None:
    answer = await client.post("/candidates", json={"statements": [], member: "a" * length})
    assert answer.status_code == 422
    assert limit in answer.text


@pytest.mark.parametrize("form", ["json", "turtle"])
async def test_a_name_of_a_thousand_characters_is_the_longest(client: httpx.AsyncClient, form: str) -> None:
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    for length, status in ((1000, 200), (1001, 422)):
        name = "a" * length
        if form == "json":
            value = {"type": "literal", "value": name}
            sent = {"subject": "http://example.org/a", "predicate": label, "object": value}
            answer = await client.post("/candidates", json={"statements": [sent]})
        else:
            body = f'<http://example.org/a> <{label}> "{name}" .'
            headers = {"content-type": "text/turtle"}
            answer = await client.post("/candidates", content=body, headers=headers)
        assert answer.status_code == status
        assert status == 200 or "1,000" in answer.text


async def test_a_reason_has_a_longest_length(client: httpx.AsyncClient) -> None:
    answer = await client.post("/review/x/reject", json={"reason": "a" * 10_001})
    assert answer.status_code == 422
    assert "10000" in answer.text

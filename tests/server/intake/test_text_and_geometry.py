"""Texts that geometry bears out or contradicts, through the whole server."""

import re
from pathlib import Path

import httpx
import pytest

from server.services import Services
from tests.server.conftest import RecordedModel, select, triples

CITY = Path(__file__).parents[2] / "data" / "mini_city.ttl"
URBAN = "https://w3id.org/urbankg/urban#"
ID = "https://w3id.org/urbankg/id/"


def moved(turtle: str) -> str:
    """The city where the shipped shapes let cities be."""
    pair = r"\b(10(?:\.\d+)?) (50(?:\.\d+)?)\b"
    return re.sub(pair, lambda found: f"{float(found[1]) - 84:.4f} {float(found[2]) - 9.3:.4f}", turtle)


@pytest.fixture(autouse=True)
async def city(client: httpx.AsyncClient) -> None:
    headers = {"content-type": "text/turtle"}
    response = await client.post("/store?default", content=moved(CITY.read_text()), headers=headers)
    assert response.status_code in (201, 204), response.text


async def say(client: httpx.AsyncClient, model: RecordedModel, text: str, *rows: tuple[str, str, str]):
    model.replies = [triples(*rows)]
    return (await client.post("/extractions", json={"text": text})).json()


async def test_agreement_is_reported_with_both_sides(client: httpx.AsyncClient, model: RecordedModel):
    text = "The Harbour Museum is a museum located in Mini City, which is a city by the sea."
    answer = await say(client, model, text, ("Harbour Museum", "located in", "Mini City"))
    (found,) = [one for one in answer["accepted"] if one["predicate"] == URBAN + "locatedIn"]
    assert found["geometry"] == {"stated": "within", "computed": "NTPP", "distance_m": 0.0}


async def test_contradiction_is_refused_and_both_sides_wait_in_review(
    client: httpx.AsyncClient, model: RecordedModel
):
    text = "The Clock Museum is a museum located in Eastside, and it shows clocks from all over the world."
    answer = await say(client, model, text, ("Clock Museum", "located in", "Eastside"))
    assert [one["statement"]["predicate"] for one in answer["rejected"]] == [URBAN + "locatedIn"]
    (item,) = (await client.get("/review")).json()["items"]
    (violation,) = item["violations"]
    assert violation["component"] == "https://w3id.org/urbankg/system#ContradictsGeometry"
    assert "DC" in violation["message"]
    geometry = item["statement"]["geometry"]
    assert (geometry["stated"], geometry["computed"]) == ("within", "DC")
    assert 800 < geometry["distance_m"] < 1100
    reported = await client.post(f"/review/{item['id']}/accept", json={"reason": "it moved", "by": "Ada"})
    assert reported.status_code == 200
    rows = await select(client, f"SELECT ?o WHERE {{ <{ID}clock-museum> <{URBAN}locatedIn> ?o }}")
    assert {row["o"] for row in rows} == {ID + "westside", ID + "eastside"}
    again = await say(client, model, text, ("Clock Museum", "located in", "Eastside"))
    assert again["rejected"] == []


async def test_places_far_apart_are_not_beside_each_other(client: httpx.AsyncClient, model: RecordedModel):
    text = "Outer Village is adjacent to Westside. Westside is adjacent to Eastside, across the middle."
    answer = await say(
        client,
        model,
        text,
        ("Outer Village", "adjacent to", "Westside"),
        ("Westside", "adjacent to", "Eastside"),
    )
    assert [one["geometry"]["computed"] for one in answer["accepted"]] == ["EC"]
    assert [one["statement"]["geometry"]["computed"] for one in answer["rejected"]] == ["DC"]


async def test_confidence_grows_with_agreement_of_a_geometry_in_the_same_batch(
    client: httpx.AsyncClient, services: Services
):
    geo = "http://www.opengis.net/ont/geosparql#"
    place, node = "https://example.org/kiosk", "https://example.org/kiosk/geometry"

    def statement(subject: str, predicate: str, value: dict, **more: object) -> dict:
        return {"subject": subject, "predicate": predicate, "object": value, **more}

    wkt = {"type": "literal", "value": "POINT (-73.969 40.713)", "datatype": geo + "wktLiteral"}
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    body = {
        "statements": [
            statement(place, rdf, {"type": "uri", "value": URBAN + "Museum"}),
            statement(
                place,
                "http://www.w3.org/2000/01/rdf-schema#label",
                {"type": "literal", "value": "Kiosk"},
            ),
            statement(place, geo + "hasDefaultGeometry", {"type": "uri", "value": node}),
            statement(node, rdf, {"type": "uri", "value": "http://www.opengis.net/ont/sf#Point"}),
            statement(node, geo + "asWKT", wkt),
            statement(place, URBAN + "locatedIn", {"type": "uri", "value": ID + "eastside"}, confidence=0.6),
            statement(place, URBAN + "partOf", {"type": "uri", "value": ID + "westside"}, confidence=0.6),
        ]
    }
    answer = (await client.post("/candidates", json=body)).json()
    (found,) = [one for one in answer["accepted"] if one["predicate"] == URBAN + "locatedIn"]
    assert found["confidence"] == pytest.approx(0.8)
    assert [one["statement"]["predicate"] for one in answer["rejected"]] == [URBAN + "partOf"]

"""New places get their geometry from loaded layers and gazetteers, where only one can be meant."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from extractors.errors import GazetteerError
from ontology import Schema
from server.app import create_app
from server.runtime.wiring import build
from server.settings import Settings
from shapes.gate.gate import ShapesGate
from tests.server.conftest import RecordedModel, own_gate, select, triples

URBAN = "https://w3id.org/urbankg/urban#"
GEO = "http://www.opengis.net/ont/geosparql#"
PREFIXES = f"""@prefix urban: <{URBAN}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix geo: <{GEO}> . @prefix : <http://example.org/layer/> .
"""
CITY = """
:harlem a urban:Neighborhood ; rdfs:label "Harlem"@en ; geo:hasDefaultGeometry :g2 .
:g2 a geo:Geometry ;
  geo:asWKT "POLYGON ((-73.96 40.79, -73.94 40.79, -73.94 40.81, -73.96 40.81, -73.96 40.79))"
  ^^geo:wktLiteral .
"""
LAYER = """
:elm a urban:Museum ; rdfs:label "Elm Hall"@en ; geo:hasGeometry :e .
:e geo:asWKT "POINT (-73.95 40.80)"^^geo:wktLiteral .
:oak1 rdfs:label "Oak Hall" ; geo:hasGeometry :o1 . :o1 geo:asWKT "POINT (-73.95 40.80)"^^geo:wktLiteral .
:oak2 rdfs:label "Oak Hall" ; geo:hasGeometry :o2 . :o2 geo:asWKT "POINT (-74.05 40.60)"^^geo:wktLiteral .
"""
PLACES = "name,kind,lat,lon\nAsh Hall,museum,40.80,-73.95\nElm Hall,museum,10,10\n"
COMPONENT = "https://w3id.org/urbankg/system#AmbiguousPlace"


@pytest.fixture
async def town(
    tmp_path: Path, model: RecordedModel, schema: Schema, gate: ShapesGate
) -> AsyncIterator[httpx.AsyncClient]:
    """A server with a layer in a named graph and a gazetteer in a file."""
    (tmp_path / "places.csv").write_text(PLACES)
    settings = Settings(data=tmp_path / "data", readers=1, gazetteers=str(tmp_path / "places.csv"))
    async with build(settings, model=model, schema=schema, gate=own_gate(gate)) as services:
        transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            await load(client, "default", CITY)
            await load(client, "graph=http://example.org/layer", LAYER)
            yield client


async def load(client: httpx.AsyncClient, graph: str, turtle: str) -> None:
    response = await client.post(
        f"/store?{graph}", content=PREFIXES + turtle, headers={"content-type": "text/turtle"}
    )
    assert response.status_code in (201, 204), response.text


async def say(client: httpx.AsyncClient, model: RecordedModel, text: str, *rows: tuple[str, str, str]) -> Any:
    model.replies = [triples(*rows)]
    response = await client.post("/extractions", json={"text": text})
    assert response.status_code == 200, response.text
    return response.json()


async def where(client: httpx.AsyncClient, name: str) -> list[str]:
    rows = await select(
        client,
        f"SELECT ?w {{ ?s <http://www.w3.org/2000/01/rdf-schema#label> '{name}'@en ; "
        f"<{GEO}hasDefaultGeometry>/<{GEO}asWKT> ?w }}",
    )
    return [row["w"] for row in rows]


async def test_a_new_place_gets_the_geometry_of_the_one_feature_of_its_name_with_provenance(
    town: httpx.AsyncClient, model: RecordedModel
) -> None:
    answer = await say(
        town, model, "The Elm Hall is a museum that nobody forgets.", ("Elm Hall", "is a", "museum")
    )
    assert await where(town, "Elm Hall") == ["POINT (-73.95 40.8)"]
    located = [s for s in answer["accepted"] if s["geocoded_from"]]
    assert {s["geocoded_from"] for s in located} == {"http://example.org/layer/elm"}
    assert all(s["evidence"]["quote"] == "Elm Hall" and s["confidence"] == 0.9 for s in located)
    assert answer["derived"] > 0
    rows = await select(
        town,
        f"SELECT ?n {{ ?s <http://www.w3.org/2000/01/rdf-schema#label> 'Elm Hall'@en ; <{GEO}rcc8ntpp> ?o . "
        "?o <http://www.w3.org/2000/01/rdf-schema#label> ?n }",
    )
    assert rows == [{"n": "Harlem"}]
    evidence = await select(
        town,
        "SELECT DISTINCT ?from FROM <https://w3id.org/urbankg/graph/provenance> "
        "{ ?e <https://w3id.org/urbankg/system#geocodedFrom> ?from }",
    )
    assert evidence == [{"from": "http://example.org/layer/elm"}]


async def test_a_gazetteer_is_asked_for_what_the_layers_do_not_know(
    town: httpx.AsyncClient, model: RecordedModel
) -> None:
    text = "The Ash Hall is a museum in Harlem, as far as anybody can tell."
    answer = await say(
        town, model, text, ("Ash Hall", "is a", "museum"), ("Ash Hall", "located in", "Harlem")
    )
    assert await where(town, "Ash Hall") == ["POINT (-73.95 40.8)"]
    sources = {s["geocoded_from"] for s in answer["accepted"]} - {None}
    assert sources == {"places.csv, line 2 (Ash Hall)"}
    (stated,) = [s for s in answer["accepted"] if s["predicate"] == URBAN + "locatedIn"]
    assert stated["geometry"]["computed"] == "NTPP"


async def test_a_name_that_several_places_bear_is_queued_and_not_located(
    town: httpx.AsyncClient, model: RecordedModel
) -> None:
    await say(town, model, "The Oak Hall is a museum that nobody forgets.", ("Oak Hall", "is a", "museum"))
    assert await where(town, "Oak Hall") == []
    (item,) = (await town.get("/review")).json()["items"]
    (violation,) = item["violations"]
    assert (violation["component"], violation["severity"]) == (COMPONENT, "Warning")
    assert "http://example.org/layer/oak1" in violation["message"]
    assert item["accepted"]


async def test_a_region_that_the_text_names_decides_between_them(
    town: httpx.AsyncClient, model: RecordedModel
) -> None:
    text = "The Oak Hall is a museum in Harlem, as far as anybody can tell."
    await say(town, model, text, ("Oak Hall", "is a", "museum"), ("Oak Hall", "located in", "Harlem"))
    assert await where(town, "Oak Hall") == ["POINT (-73.95 40.8)"]
    assert (await town.get("/review")).json()["total"] == 0


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("The Yew Hall is a museum that nobody forgets.", [("Yew Hall", "is a", "museum")]),
        ("Elm Hall is a person that nobody forgets.", [("Elm Hall", "is a", "person")]),
        (
            "Elm Hall was founded by Ada Stone, whom nobody forgets.",
            [("Elm Hall", "founded by", "Ada Stone")],
        ),
    ],
)
async def test_what_is_unknown_of_another_class_or_of_none_is_left_alone(
    town: httpx.AsyncClient, model: RecordedModel, text: str, rows: list[tuple[str, str, str]]
) -> None:
    answer = await say(town, model, text, *rows)
    reported = answer["accepted"] + [one["statement"] for one in answer["rejected"]]
    assert {s["geocoded_from"] for s in reported} == {None}


async def test_a_broken_gazetteer_stops_the_start(tmp_path: Path, schema: Schema, gate: ShapesGate) -> None:
    model = RecordedModel(triples(("Ash Hall", "is a", "museum")))
    broken = Settings(data=tmp_path / "b", readers=1, gazetteers=str(tmp_path / "none.csv"))
    with pytest.raises(GazetteerError, match=r"none\.csv"):
        async with build(broken, model=model, schema=schema, gate=own_gate(gate)):
            pass

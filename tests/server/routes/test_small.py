"""Relations, health, the ontology under its own IRI, the page of the API."""

import re

import httpx
import pytest
import rdflib

from server.services import Services
from tests.server.conftest import RecordedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")
SQUARE = "POLYGON((0 0,2 0,2 2,0 2,0 0))"


@pytest.fixture
def client(shared_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shared_client


@pytest.fixture
def services(shared_services: Services) -> Services:
    return shared_services


@pytest.fixture
def model(shared_model: RecordedModel) -> RecordedModel:
    return shared_model


@pytest.mark.parametrize(
    ("a", "b", "rcc8", "rcc5"),
    [
        ("POINT(1 1)", SQUARE, "NTPP", "IN"),
        (SQUARE, "POINT(1 1)", "NTPPi", "INi"),
        ("POINT(0 1)", SQUARE, "EC", "EC"),
        ("POINT(5 5)", SQUARE, "DC", "DC"),
        (SQUARE, SQUARE, "EQ", "EQ"),
        ("POLYGON((1 1,3 1,3 3,1 3,1 1))", SQUARE, "PO", "PO"),
    ],
)
async def test_two_geometries_are_related(client: httpx.AsyncClient, a: str, b: str, rcc8: str, rcc5: str):
    answer = (await client.post("/relations", json={"a": a, "b": b})).json()
    assert (answer["rcc8"], answer["rcc5"]) == (rcc8, rcc5)
    assert len(answer["relate"]) == 9
    assert (answer["distance_m"] > 0) == (rcc8 == "DC")


async def test_distance_is_geodesic_in_meters(client: httpx.AsyncClient):
    answer = (await client.post("/relations", json={"a": "POINT(0 0)", "b": "POINT(0 1)"})).json()
    assert answer["distance_m"] == pytest.approx(110_574, rel=1e-3)


@pytest.mark.parametrize("wkt", ["POINT(1", "POINT(10 95)", "", "POINT EMPTY", "hello"])
async def test_wkt_that_cannot_be_used_is_reported(client: httpx.AsyncClient, wkt: str):
    response = await client.post("/relations", json={"a": wkt, "b": SQUARE})
    assert response.status_code == 422
    assert response.json()["errors"][0]["place"] == "a"


async def test_health_reports_revision_and_versions(client: httpx.AsyncClient, services: Services):
    answer = (await client.get("/healthz")).json()
    assert answer["status"] == "ok"
    assert answer["ontology"] == services.schema.version


@pytest.mark.parametrize(("accept", "format_"), [("text/turtle", "turtle"), ("application/rdf+xml", "xml")])
async def test_the_ontology_dereferences_under_its_own_path(
    client: httpx.AsyncClient, accept: str, format_: str
):
    response = await client.get("/urbankg/urban", headers={"accept": accept})
    assert response.headers["content-type"].startswith(accept)
    graph = rdflib.Graph().parse(data=response.text, format=format_)
    ontology = rdflib.URIRef("https://w3id.org/urbankg/urban")
    assert (ontology, rdflib.RDF.type, rdflib.OWL.Ontology) in graph
    assert len(list(graph.subjects(rdflib.RDF.type, rdflib.OWL.Class))) > 60


async def test_a_browser_gets_the_ontology_as_a_page_with_shapes_and_no_script(client: httpx.AsyncClient):
    browser = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    page = await client.get("/urbankg/urban", headers=browser)
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["vary"].startswith("Accept")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert '<h3 id="Museum">museum</h3>' in page.text
    assert '<h3 id="OnePopulation">' in page.text
    assert "<script" not in page.text
    by_name = await client.get("/ontology?iri=https://w3id.org/urbankg/urban", headers=browser)
    assert by_name.text == page.text
    all_of_them = await client.get("/ontology", headers={"accept": "text/html,*/*;q=0.1"})
    assert all_of_them.headers["content-type"].startswith("text/turtle")


async def test_the_api_page_lists_every_route(client: httpx.AsyncClient):
    paths = (await client.get("/openapi.json")).json()["paths"]
    assert {"/sparql", "/extractions", "/candidates", "/relations", "/review", "/ask", "/healthz"} <= set(
        paths
    )


async def test_an_unknown_address_is_a_problem(client: httpx.AsyncClient):
    response = await client.get("/nowhere")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"


async def test_the_computed_relation_is_named_in_every_vocabulary(client: httpx.AsyncClient):
    body = {"a": SQUARE, "b": {"type": "Point", "coordinates": [1, 1]}}
    answer = (await client.post("/relations", json=body)).json()
    assert answer["computed"] is True
    assert (answer["relation"], answer["inside"], answer["rcc8"]) == ("IN", "b", "NTPPi")
    assert answer["simple_features"] == ["sfIntersects", "sfContains"]
    assert answer["distance_km"] == answer["distance_m"] / 1000
    assert "model" not in answer


async def test_the_model_is_shown_beside_the_computed_relation_and_never_in_its_place(
    client: httpx.AsyncClient, model: RecordedModel
):
    named, answered = '{"tools": ["Point2Polygon"]}', '{"relation": "DC", "inner": "none"}'
    model.replies = ["Far apart.", named, "Far apart all the same.", answered]
    body = {"a": "POINT(1 1)", "b": SQUARE, "a_name": "Kiosk", "rounds": 0}
    answer = (await client.post("/relations?explain=model", json=body)).json()
    assert (answer["computed"], answer["relation"], answer["inside"]) == (True, "IN", "a")
    said = answer["model"]
    assert (said["relation"], said["inside"], said["agrees"]) == ("DC", None, False)
    assert said["tools"] == [{"tool": "Point2Polygon", "result": "yes, A lies in B", "by_model": True}]
    assert [turn["stage"] for turn in said["turns"]] == ["think", "tools", "results", "answer"]
    assert answer["usage"]["calls"] == 4
    assert "Kiosk" in said["turns"][0]["messages"][-1]["content"]


async def test_a_model_that_does_not_follow_the_dialog_is_not_asked_and_the_tools_speak(
    client: httpx.AsyncClient, model: RecordedModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(model, "prompt_profile", "compact")
    body = {"a": "POINT(1 1)", "b": SQUARE}
    answer = (await client.post("/relations?explain=model", json=body)).json()
    said = answer["model"]
    assert (answer["relation"], said["relation"], said["turns"]) == ("IN", None, [])
    assert answer["usage"]["calls"] == 0
    assert "model_url" in said["error"]
    assert [(one["tool"], one["result"]) for one in said["tools"][1:]] == [
        ("Distance", "0.000000 km"),
        ("Point2Polygon", "yes, A lies in B"),
    ]
    assert {one["by_model"] for one in said["tools"]} == {False}


async def test_without_geometry_there_is_only_the_opinion_of_the_model(
    client: httpx.AsyncClient, model: RecordedModel
):
    body = {"b": SQUARE, "a_name": "Atlantis", "rounds": 0}
    assert (await client.post("/relations", json=body)).status_code == 422
    model.replies = ["It sank.", '{"tools": []}', "It sank.", '{"relation": "DC", "inner": "none"}']
    answer = (await client.post("/relations?explain=model", json=body)).json()
    assert (answer["computed"], answer["relation"], answer["rcc8"]) == (False, None, None)
    assert (answer["model"]["relation"], answer["model"]["agrees"]) == ("DC", None)


async def test_the_page_of_the_api_needs_no_other_host(client: httpx.AsyncClient, services: Services):
    page = (await client.get("/docs")).text
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(named) == 3
    for path in named:
        assert path.startswith("/docs/")
        answer = await client.get(path)
        assert (answer.status_code, len(answer.content) > 1000) == (200, True)
    assert "url: '/openapi.json'" in page
    assert "://" not in page.replace(f"<title>UrbanKG at {services.settings.base_url}</title>", "")


async def test_a_file_that_the_page_does_not_have_is_reported(client: httpx.AsyncClient):
    answer = await client.get("/docs/core.py")
    assert answer.status_code == 404
    assert "/docs" in answer.json()["detail"]

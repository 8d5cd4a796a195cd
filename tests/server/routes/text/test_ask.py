"""Questions through HTTP: answered from the graph alone."""

import httpx
import pytest
import pytest_asyncio

from tests.server.conftest import RecordedModel

PREFIXES = """
@prefix urban: <https://w3id.org/urbankg/urban#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> . @prefix sf: <http://www.opengis.net/ont/sf#> .
@prefix : <https://w3id.org/urbankg/id/> .
"""


def feature(name: str, label: str, kind: str, wkt: str, more: str = "") -> str:
    shape = "sf:Point" if wkt.startswith("POINT") else "sf:Polygon"
    return (
        f':{name} a urban:{kind} ; rdfs:label "{label}"@en {more}; geo:hasDefaultGeometry :{name}-g .\n'
        f':{name}-g a {shape} ; geo:asWKT "{wkt}"^^geo:wktLiteral .\n'
    )


CITY = PREFIXES + "".join(
    (
        feature(
            "north", "Northtown", "Borough", "POLYGON((-74 40.8,-73.9 40.8,-73.9 40.9,-74 40.9,-74 40.8))"
        ),
        feature("a", "Clock Museum", "Museum", "POINT(-73.95 40.85)", "; urban:designedBy :ann"),
        feature("b", "Rope Museum", "Museum", "POINT(-73.96 40.85)"),
        feature("c", "Salt Museum", "Museum", "POINT(-73.95 40.75)"),
        ':ann a urban:Architect ; rdfs:label "Ann Mill"@en .\n',
    )
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def city(shared_client: httpx.AsyncClient) -> httpx.AsyncClient:
    answer = await shared_client.post("/candidates", content=CITY, headers={"content-type": "text/turtle"})
    assert answer.json()["rejected"] == []
    return shared_client


async def ask(client: httpx.AsyncClient, question: str) -> dict[str, object]:
    response = await client.post("/ask", json={"question": question})
    assert response.status_code == 200, response.text
    found = response.json()
    members = {"answer", "sparql", "plan", "entities", "results", "map", "gaps", "trace", "usage"}
    assert set(found) == members
    assert found["usage"]["per_1000_tasks"]["prompt_tokens"] == 1000 * found["usage"]["calls"]
    return found


async def test_what_lies_within_a_region_is_counted(city: httpx.AsyncClient):
    answer = await ask(city, "How many museums are in Northtown?")
    assert answer["answer"] == "There are 2 museums in Northtown in the graph."
    assert answer["results"]["results"]["bindings"][0]["count"]["value"] == "2"
    sentences = [step["sentence"] for step in answer["plan"]]
    assert sentences == ["Take museums.", "Keep those in Northtown.", "Count them."]
    assert answer["map"] is None
    assert answer["gaps"] == []


async def test_what_is_near_comes_with_a_map(city: httpx.AsyncClient):
    answer = await ask(city, "Which museums are within 2 km of the Clock Museum?")
    assert "Rope Museum" in answer["answer"]
    assert "Salt Museum" not in answer["answer"]
    assert answer["map"]["type"] == "FeatureCollection"


async def test_a_relation_is_followed_from_a_name(city: httpx.AsyncClient):
    answer = await ask(city, "Who designed the Clock Museum?")
    assert "Ann Mill" in answer["answer"]
    assert answer["sparql"].startswith("PREFIX")


async def test_a_name_the_graph_does_not_know_is_a_gap_and_not_a_guess(
    city: httpx.AsyncClient, shared_model: RecordedModel
):
    answer = await ask(city, "Who designed the Mirror Palace?")
    assert answer["answer"] is None
    assert answer["gaps"][0]["kind"] == "entity"
    assert "Mirror Palace" in answer["gaps"][0]["message"]
    assert shared_model.asked == []


async def test_a_commit_is_known_to_the_next_question(city: httpx.AsyncClient):
    before = await ask(city, "When did the Rope Museum open?")
    assert before["answer"] is None
    assert before["gaps"][0]["kind"] == "data"
    stated = PREFIXES + ':b urban:opened "1907"^^<http://www.w3.org/2001/XMLSchema#gYear> .'
    answer = await city.post("/candidates", content=stated, headers={"content-type": "text/turtle"})
    assert answer.json()["rejected"] == []
    after = await ask(city, "When did the Rope Museum open?")
    assert after["answer"] == "Rope Museum: opened 1907."


async def test_a_follow_up_goes_on_from_the_question_before(city: httpx.AsyncClient):
    message = {"question": "What about the Salt Museum?", "history": ["Who designed the Clock Museum?"]}
    found = (await city.post("/ask", json=message)).json()
    assert found["gaps"][0]["subject"] == "Salt Museum"


async def test_an_edited_plan_and_an_edited_query_are_run(city: httpx.AsyncClient):
    first = await ask(city, "Which museums are in Northtown?")
    tree = {"op": "count", "set": first["plan"][-1]["tree"]["set"]}
    counted = await city.post("/ask/run", json={"plan": tree})
    assert counted.json()["answer"] == "There are 2 museums in Northtown in the graph."
    queried = await city.post("/ask/run", json={"sparql": first["sparql"]})
    assert queried.json()["results"] == first["results"]
    refused = await city.post("/ask/run", json={"plan": {"op": "sing"}})
    assert refused.status_code == 422
    assert "one of: aggregation; " in refused.json()["detail"]
    assert (await city.post("/ask/run", json={})).status_code == 422


@pytest.mark.parametrize("question", ["", "   ", "x" * 1001])
async def test_a_question_that_cannot_be_read_is_refused(city: httpx.AsyncClient, question: str):
    response = await city.post("/ask", json={"question": question})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"

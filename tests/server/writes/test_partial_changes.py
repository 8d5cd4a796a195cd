"""A change is refused whole with its report, or taken as far as it conforms, whichever way it comes."""

import httpx
import pyoxigraph
import pytest
from pyoxigraph import RdfFormat

from server.services import Services
from sparql.model.vocabulary import SH

URBAN = "https://w3id.org/urbankg/urban#"
PREFIXES = f"""PREFIX urban: <{URBAN}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX ex: <http://example.org/>
"""
HALF = PREFIXES + (
    'INSERT DATA { ex:hall a urban:Museum ; rdfs:label "Hall"@en ; urban:opened "1900"^^xsd:gYear ;'
    ' urban:closed "1800"^^xsd:gYear . ex:odd ex:says "anything" }'
)
LONG_NAME = PREFIXES + f'INSERT DATA {{ ex:long a urban:Museum ; rdfs:label "{"word " * 60}"@en }}'


async def update(client: httpx.AsyncClient, text: str, **more) -> httpx.Response:
    accept = more.pop("accept", "application/json")
    headers = {"content-type": "application/sparql-update", "accept": accept}
    return await client.post("/update", content=text, headers=headers, params=more)


async def waiting(client: httpx.AsyncClient) -> int:
    return (await client.get("/review")).json()["total"]


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/problem+json"])
async def test_an_update_is_refused_whole_and_says_what_is_wrong(
    shared_client, shared_services: Services, accept
):
    before = shared_services.store.revision()
    answer = await update(shared_client, HALF, accept=accept)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    (refused,) = answer.json()["rejected"]
    assert refused["statement"]["predicate"] == URBAN + "closed"
    assert refused["violations"][0]["shape"].endswith("OpenedBeforeClosed")
    assert shared_services.store.revision() == before
    assert await waiting(shared_client) == 0


@pytest.mark.parametrize(
    ("accept", "engine"),
    [("text/turtle", RdfFormat.TURTLE), ("application/ld+json", RdfFormat.JSON_LD)],
)
async def test_the_refusal_of_an_update_is_a_validation_report_for_who_asks(shared_client, accept, engine):
    answer = await update(shared_client, HALF, accept=accept)
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith(accept)
    report = [quad.triple for quad in pyoxigraph.parse(answer.content, format=engine)]
    assert [t.object.value for t in report if t.predicate == SH.conforms] == ["false"]
    assert [t.object.value for t in report if t.predicate == SH.resultPath] == [URBAN + "closed"]


async def test_the_conforming_part_of_an_update_is_taken_and_the_rest_waits_for_a_person(client):
    answer = await update(client, HALF, partial="true")
    assert answer.status_code == 200
    reported = answer.json()
    assert (reported["accepted"], len(reported["rejected"])) == (4, 1)
    assert reported["revision"]
    (item,) = (await client.get("/review")).json()["items"]
    assert item["statement"]["predicate"] == URBAN + "closed"
    assert item["source"] == "update"
    held = await client.get("/sparql", params={"query": PREFIXES + "ASK { ex:hall urban:closed ?c }"})
    assert held.json()["boolean"] is False


async def test_removals_that_break_a_shape_are_not_taken_in_part(client):
    await update(client, PREFIXES + 'INSERT DATA { ex:hall a urban:Museum ; rdfs:label "Hall"@en }')
    answer = await update(
        client, PREFIXES + "DELETE WHERE { ex:hall rdfs:label ?l }", partial="true", accept="application/json"
    )
    assert answer.status_code == 200
    reported = answer.json()
    assert (reported["accepted"], reported["revision"] is not None) == (0, True)
    assert [one["statement"]["object"]["value"] for one in reported["rejected"]] == ["Hall"]
    held = await client.get("/sparql", params={"query": PREFIXES + "ASK { ex:hall rdfs:label ?l }"})
    assert held.json()["boolean"] is True


async def test_a_warning_lets_an_update_in_and_waits_for_a_person(client):
    answer = await update(client, LONG_NAME)
    assert answer.status_code == 200
    assert len(answer.json()["warnings"]) == 1
    (item,) = (await client.get("/review")).json()["items"]
    assert item["accepted"] is True


async def test_the_conforming_part_of_a_graph_is_taken_and_the_rest_waits_for_a_person(client):
    body = (
        f"PREFIX urban: <{URBAN}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
        '<http://example.org/hall> a urban:Museum ; rdfs:label "Hall"@en ; urban:population "many" .'
    )
    headers = {"content-type": "text/turtle", "accept": "text/turtle"}
    refused = await client.post("/store?default", content=body, headers=headers)
    assert refused.status_code == 422
    assert b"ValidationReport" in refused.content
    taken = await client.post("/store?default&partial=true", content=body, headers=headers)
    assert taken.status_code == 200
    assert taken.json()["accepted"] == 2
    (item,) = (await client.get("/review")).json()["items"]
    assert item["source"] == "graph store"


@pytest.mark.parametrize("value", ["yes", ""])
async def test_partial_is_true_or_false(shared_client, value):
    answer = await update(shared_client, HALF, partial=value)
    assert answer.status_code == 400
    assert "partial" in answer.json()["detail"]


async def test_a_query_has_no_part_to_take(shared_client):
    answer = await shared_client.get("/sparql", params={"query": "ASK {}", "partial": "true"})
    assert answer.status_code == 400

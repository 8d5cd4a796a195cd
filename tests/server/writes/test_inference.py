"""Materialized inference over HTTP and the command line: shapes see it, it is deleted with its grounds."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from pyoxigraph import NamedNode, Quad
from typer.testing import CliRunner

from server.app import create_app
from server.cli.app import command_line
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from sparql.model.vocabulary import DEFAULT, INFERRED, RDF
from tests.server.conftest import RecordedModel, select

EX = "http://example.org/"
ONTOLOGY = """
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ex: <http://example.org/> .
<http://example.org/city> a owl:Ontology .
ex:Place a owl:Class ; rdfs:label "place" ; rdfs:comment "Anything with a location." .
ex:Park a owl:Class ; rdfs:label "park" ; rdfs:comment "A green place." ; rdfs:subClassOf ex:Place .
ex:Square a owl:Class ; rdfs:label "square" ; rdfs:comment "An open place." .
ex:beside a owl:ObjectProperty , owl:SymmetricProperty ; rdfs:label "beside" ;
    rdfs:comment "Next to." ; rdfs:domain ex:Place ; rdfs:range ex:Place .
ex:within a owl:ObjectProperty , owl:TransitiveProperty ; rdfs:label "within" ;
    rdfs:comment "Inside of." ; rdfs:domain ex:Place ; rdfs:range ex:Place .
"""
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> .
ex:OneNeighbor a sh:NodeShape ; sh:targetSubjectsOf ex:beside ;
    sh:property [ sh:path ex:beside ; sh:maxCount 1 ; sh:message "two neighbors" ] .
"""


def settings_of(folder: Path, **more: object) -> Settings:
    for name, text in (("ontology/city.ttl", ONTOLOGY), ("shapes/city.ttl", SHAPES)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(text)
    values: dict[str, object] = {
        "readers": 1,
        "watch_files_s": 0,
        "reasoner": "none",
        "inference": "materialised",
    } | more
    return Settings(data=folder / "data", ontology=folder / "ontology", shapes=folder / "shapes", **values)  # type: ignore[arg-type]


def client_of(services: Services) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=120)


@pytest.fixture
async def city(tmp_path: Path) -> AsyncIterator[Services]:
    async with build(settings_of(tmp_path), model=RecordedModel()) as services:
        yield services


@pytest.fixture
async def client(city: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(city) as client:
        yield client


async def update(client: httpx.AsyncClient, text: str) -> httpx.Response:
    return await client.post(
        "/update",
        content=f"PREFIX ex: <{EX}> {text}",
        headers={"content-type": "application/sparql-update"},
    )


async def names(client: httpx.AsyncClient, pattern: str, **parameters: str) -> list[str]:
    text = f"PREFIX ex: <{EX}> SELECT ?x {{ {pattern} }}"
    response = await client.get("/sparql", params={"query": text, **parameters})
    assert response.status_code == 200, response.text
    rows = response.json()["results"]["bindings"]
    return sorted(row["x"]["value"].removeprefix(EX) for row in rows)


async def test_queries_see_what_follows_and_derived_false_hides_it(client: httpx.AsyncClient):
    done = await update(client, "INSERT DATA { ex:a a ex:Park ; ex:within ex:b . ex:b ex:within ex:c }")
    assert done.is_success, done.text
    assert await names(client, "?x a ex:Place") == ["a"]
    assert await names(client, "ex:a ex:within ?x") == ["b", "c"]
    assert await names(client, "ex:a ex:within ?x", derived="false") == ["b"]
    assert await names(client, "?x a ex:Place", derived="false") == []
    assert await names(client, "?x a ?class FILTER(?class = ex:Place)", derived="false") == []
    path = f"PREFIX ex: <{EX}> SELECT * {{ ex:a ex:within/ex:within ?x }}"
    refused = await client.get("/sparql", params={"query": path, "derived": "false"})
    assert refused.status_code == 400
    inferred = await select(client, f"SELECT * {{ GRAPH {INFERRED} {{ ?s ?p <{EX}c> }} }}")
    assert [row["s"] for row in inferred] == [EX + "a"]


async def test_shapes_judge_a_change_with_what_follows_from_it(client: httpx.AsyncClient):
    assert (await update(client, "INSERT DATA { ex:a ex:beside ex:b }")).is_success
    refused = await update(client, "INSERT DATA { ex:c ex:beside ex:b }")
    assert refused.status_code == 422
    assert "two neighbors" in refused.text
    assert await names(client, "ex:b ex:beside ?x") == ["a"]


async def test_what_only_follows_cannot_be_removed_by_itself(client: httpx.AsyncClient):
    await update(client, "INSERT DATA { ex:a ex:beside ex:b }")
    refused = await update(client, "DELETE DATA { ex:b ex:beside ex:a }")
    assert refused.status_code == 403
    assert "follows from" in refused.json()["detail"]
    assert (await update(client, "DELETE WHERE { ?s ex:beside ?o }")).is_success
    assert await names(client, "?x ex:beside ?y") == []


async def test_removing_a_document_removes_what_followed_from_it_alone(client: httpx.AsyncClient):
    async def post(text: str, *rows: tuple[str, str, str]) -> str:
        statements = [
            {"subject": EX + s, "predicate": p, "object": {"type": "uri", "value": EX + o}}
            for s, p, o in rows
        ]
        answer = await client.post("/candidates", json={"text": text, "statements": statements})
        assert answer.status_code == 200, answer.text
        assert answer.json()["rejected"] == []
        (found,) = (await client.get("/documents", params={"text": text})).json()["documents"]
        return found["id"]

    kind = RDF.type.value
    one = await post("A is a park.", ("a", kind, "Park"))
    other = await post("A is a park and B one too.", ("a", kind, "Park"), ("b", kind, "Park"))
    assert await names(client, "?x a ex:Place") == ["a", "b"]
    removed = await client.delete(f"/documents/{other}")
    assert removed.status_code == 200, removed.text
    assert removed.json()["inferences_removed"] == 1
    assert await names(client, "?x a ex:Place") == ["a"]
    await client.delete(f"/documents/{one}")
    assert await names(client, "?x a ex:Place") == []


async def test_an_edited_ontology_changes_what_follows(client: httpx.AsyncClient, city: Services):
    await update(client, "INSERT DATA { ex:a a ex:Park . ex:s a ex:Square }")
    edited = ONTOLOGY.replace('"An open place." .', '"An open place." ; rdfs:subClassOf ex:Place .')
    edited = edited.replace("; rdfs:subClassOf ex:Place .\nex:Square", ".\nex:Square")
    put = await client.put("/ontologies/city.ttl", content=edited, headers={"content-type": "text/turtle"})
    assert put.status_code == 200, put.text
    assert await names(client, "?x a ex:Place") == ["s"]
    assert (await client.get("/rules")).json()["inference"] == "complete"


async def test_an_edit_from_which_much_follows_is_in_force_at_once_and_inferred_beside(tmp_path: Path):
    async with (
        build(settings_of(tmp_path, inference_max=20), model=RecordedModel()) as services,
        client_of(services) as client,
    ):
        for start in range(0, 30, 5):
            squares = " ".join(f"ex:s{number} a ex:Square ." for number in range(start, start + 5))
            assert (await update(client, f"INSERT DATA {{ {squares} }}")).is_success
        refused = await update(
            client,
            "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
            "INSERT DATA { ex:Square rdfs:subClassOf ex:Open }",
        )
        assert refused.status_code == 422
        assert refused.json()["limit"] == 20
        edited = ONTOLOGY.replace('"An open place." .', '"An open place." ; rdfs:subClassOf ex:Place .')
        put = await client.put(
            "/ontologies/city.ttl", content=edited, headers={"content-type": "text/turtle"}
        )
        assert put.status_code == 200, put.text
        services.background.finish(120)
        assert len(await names(client, "?x a ex:Place")) == 30
        assert (await client.get("/rules")).json()["inference"] == "complete"


async def test_switched_off_and_on_again_by_the_setting_and_the_command(tmp_path: Path):
    async with build(settings_of(tmp_path), model=RecordedModel()) as services, client_of(services) as client:
        await update(client, "INSERT DATA { ex:a a ex:Park }")
    follows = Quad(NamedNode(EX + "a"), RDF.type, NamedNode(EX + "Place"), DEFAULT)
    del services, client
    gc.collect()  # Ends the store, which nobody may open anew before.
    async with build(settings_of(tmp_path, inference="none"), model=RecordedModel()) as services:
        assert not services.store.contains(follows)
        assert services.writer.inferring == "none"
    del services
    gc.collect()
    async with build(settings_of(tmp_path), model=RecordedModel()) as services:
        assert services.store.contains(follows)
    config = tmp_path / "urbankg.toml"
    for setting, count in (("none", 0), ("materialised", 1)):
        config.write_text(f'inference = "{setting}"\n')
        folders = ["--data", str(tmp_path / "data"), "--ontology", str(tmp_path / "ontology")]
        outcome = CliRunner().invoke(command_line(), ["infer", "--config", str(config), *folders])
        assert outcome.exit_code == 0, outcome.output
        assert f"{count} inferences" in outcome.output

"""Extracting without an ontology, until an engineer writes one from what the texts asked for."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from server.app import create_app
from server.runtime.wiring import build
from tests.server.conftest import RecordedModel, select, triples
from tests.support.workshop import folders, settings_in

TEXT = "Elm Hall is a glimmerfax. Oak Hall is a glimmerfax. Elm Hall outshines Oak Hall."
ROWS = [
    ("Elm Hall", "is a", "glimmerfax"),
    ("Oak Hall", "is a", "glimmerfax"),
    ("Elm Hall", "outshines", "Oak Hall"),
]
EMPTY = "<http://example.org/city> a <http://www.w3.org/2002/07/owl#Ontology> .\n"


async def ends(client: httpx.AsyncClient) -> list[dict[str, str]]:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    return await select(
        client,
        f"""SELECT ?a ?b {{ ?s ?p ?o . ?s {label} ?a . ?o {label} ?b .
        ?p {label} "outshines"@en }}""",
    )


async def test_a_graph_grows_from_no_ontology_by_way_of_proposals(tmp_path: Path) -> None:
    folders(tmp_path, ontology=EMPTY, shapes="")
    async with build(settings_in(tmp_path), model=RecordedModel(triples(*ROWS))) as services:
        transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            answer = (await client.post("/extractions", json={"text": TEXT})).json()
            assert answer["accepted"] == []
            assert answer["trace"]["method"] == "open"
            page = (await client.get("/proposals")).json()["proposals"]
            assert {(one["kind"], one["term"], one["count"]) for one in page} == {
                ("class", "glimmerfax", 2), ("property", "outshines", 1),
            }  # fmt: skip
            exported = (await client.get("/proposals/export")).text
            put = await client.put(
                "/ontologies/city.ttl", content=EMPTY + exported, headers={"content-type": "text/turtle"}
            )
            assert put.status_code == 200, put.text
            assert (await client.get("/proposals")).json()["total"] == 0
            assert await ends(client) == [{"a": "Elm Hall", "b": "Oak Hall"}]
            assert (await client.get("/review")).json()["total"] == 0


@pytest.mark.parametrize("asked", [{"open": True}, {"method": "open"}])
async def test_on_request_nothing_enters_the_graph_even_where_the_ontology_knows_the_words(
    client: httpx.AsyncClient, model: RecordedModel, asked: dict[str, Any]
) -> None:
    text = "The Elm Hall is a museum that outshines the others. The Elm Hall opened in 1902."
    model.replies = [triples(("Elm Hall", "is a", "museum"), ("Elm Hall", "opened", "1902"))]
    answer = (await client.post("/extractions", json={"text": text, **asked})).json()
    assert answer["accepted"] == []
    assert len(answer["rejected"]) == 3
    waiting = [item["id"] for item in (await client.get("/review")).json()["items"]]
    reported = (await client.post("/review/decisions", json={"decision": "accept", "items": waiting})).json()
    assert (len(reported["items"]), reported["refused"]) == (3, [])


async def test_two_methods_at_once_are_refused(client: httpx.AsyncClient) -> None:
    response = await client.post("/extractions", json={"text": TEXT, "open": True, "method": "fast"})
    assert response.status_code == 422
    assert "leave out open" in response.text


async def test_a_model_that_cannot_says_so(client: httpx.AsyncClient, model: RecordedModel) -> None:
    model.prompt_profile = "compact"
    response = await client.post("/extractions", json={"text": TEXT, "open": True})
    assert response.status_code == 422
    assert "model_url" in response.json()["detail"]

"""Traces: what was asked of the model and what it said, kept with the run and gone with its text."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from ontology import Schema
from server.app import create_app
from server.cli.app import command_line
from server.intake.outcome import packed, shortened, unpacked
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from shapes.gate.gate import ShapesGate
from tests.server.cli.test_cli import on_terminal
from tests.server.conftest import COLUMBIA, RecordedModel, own_gate, triples
from tests.support.tgi_stand_in import MODEL, StandIn, running

REPLY = triples(("Columbia University", "is a", "university"))


def turn(content: str, reply: str | None) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": content}], "reply": reply, "stage": "triples"}


async def test_a_trace_is_kept_with_its_run_and_given_back_whole(
    client: httpx.AsyncClient, model: RecordedModel
):
    model.replies = [REPLY]
    answer = (await client.post("/extractions", json={"text": COLUMBIA, "source": "leaflet"})).json()
    reported = (await client.get(f"/extractions/{answer['id']}/trace")).json()
    assert reported["model"] == "recorded"
    assert reported["source"] == "leaflet"
    assert reported["prompt_version"] == answer["trace"]["prompt_version"]
    assert reported["ontology_version"]
    usage = reported["trace"].pop("usage")
    assert reported["trace"] == answer["trace"]
    assert usage["calls"] == answer["usage"]["calls"] == 1
    assert COLUMBIA in reported["trace"]["windows"][0]["messages"][-1]["content"]
    assert reported["trace"]["windows"][0]["reply"] == REPLY


async def test_extractions_are_listed_the_last_first(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [REPLY]
    for source in ("first", "second", "third"):
        await client.post("/extractions", json={"text": f"{COLUMBIA} {source}.", "source": source})
    page = (await client.get("/extractions", params={"limit": 2})).json()
    assert page["total"] == 3
    assert [one["source"] for one in page["extractions"]] == ["third", "second"]
    rest = (await client.get("/extractions", params={"offset": 2})).json()["extractions"]
    assert [one["source"] for one in rest] == ["first"]
    assert rest[0]["model"] == "recorded"


@pytest.mark.parametrize("name", ["0" * 32, "no-such-run", "..%2f", "a>b"])
async def test_an_extraction_that_is_not_there_is_reported(shared_client: httpx.AsyncClient, name: str):
    response = await shared_client.get(f"/extractions/{name}/trace")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"


async def test_a_dry_run_leaves_no_trace(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [REPLY]
    answer = (await client.post("/extractions", json={"text": COLUMBIA, "commit": False})).json()
    assert answer["trace"]["windows"]
    assert (await client.get(f"/extractions/{answer['id']}/trace")).status_code == 404


async def test_a_trace_goes_with_its_document(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [REPLY]
    answer = (await client.post("/extractions", json={"text": COLUMBIA})).json()
    document = (await client.get("/documents")).json()["documents"][0]["id"]
    assert (await client.delete(f"/documents/{document}")).status_code == 200
    assert (await client.get(f"/extractions/{answer['id']}/trace")).status_code == 404
    assert (await client.get("/extractions")).json()["total"] == 0


@pytest.mark.parametrize(("most", "kept"), [(40, "characters left out"), (0, None)])
async def test_how_much_is_kept_is_a_setting(
    tmp_path: Path, schema: Schema, gate: ShapesGate, most: int, kept: str | None
):
    settings = Settings(data=tmp_path / "data", readers=1, trace_message_chars=most)
    async with build(settings, model=RecordedModel(REPLY), schema=schema, gate=own_gate(gate)) as services:
        transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            answer = (await client.post("/extractions", json={"text": COLUMBIA})).json()
            reported = (await client.get(f"/extractions/{answer['id']}/trace")).json()
    assert answer["trace"]["windows"][0]["reply"] == REPLY
    if kept is None:
        assert reported["trace"] is None
    else:
        assert kept in reported["trace"]["windows"][0]["messages"][0]["content"]


def test_what_stands_in_several_messages_is_stored_once():
    long = "The ontology: " + "a class; " * 500
    trace = {"model": "m", "windows": [turn(long, "{}"), turn(long, None)]}
    stored = packed(trace, 20_000)
    assert len(stored) < 1.5 * len(long)
    assert unpacked(stored) == trace


def test_long_texts_keep_their_ends():
    assert shortened("a" * 50 + "b" * 50, 20) == "a" * 10 + " [... 80 characters left out ...] " + "b" * 10
    assert shortened("short", 20) == "short"


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with running(StandIn(answer=REPLY, unlisted=("city-lora",))) as stand_in:
        yield stand_in


async def test_provenance_names_the_base_model_and_the_adapter_and_no_key(
    tmp_path: Path, schema: Schema, gate: ShapesGate, stand_in: StandIn
):
    settings = Settings(
        data=tmp_path / "data",
        readers=1,
        model_url=stand_in.url,
        model_name="city-lora",
        model_api_key="sesame1",
    )
    async with build(settings, schema=schema, gate=own_gate(gate)) as services:
        outcome = await services.intake.extract(COLUMBIA)
        rows = await services.readers.solutions(
            "PREFIX ukg: <https://w3id.org/urbankg/system#> SELECT ?p ?o WHERE { GRAPH "
            "<https://w3id.org/urbankg/graph/provenance> "
            f"{{ <https://w3id.org/urbankg/record/run/{outcome.identifier}> ?p ?o }} }}"
        )
    facts = {row["p"]["value"].rpartition("#")[2]: row["o"]["value"] for row in rows["results"]["bindings"]}
    assert (facts["model"], facts["adapter"]) == (MODEL, "city-lora")
    assert "sesame1" not in json.dumps(rows)


async def test_the_command_shows_the_last_trace(services: Services, model: RecordedModel):
    model.replies = [REPLY]
    await services.intake.extract(COLUMBIA, source="leaflet")
    folder = services.settings.data
    await services.close()
    shown = on_terminal("extract", "--trace", "last", "--data", str(folder))
    assert "leaflet" in shown
    assert "Columbia University is a private" in shown
    reported = json.loads(
        CliRunner().invoke(command_line(), ["extract", "--trace", "last", "--data", str(folder)]).stdout
    )
    assert reported["trace"]["windows"][0]["reply"] == REPLY

"""The language model of a server: what is reported of it, counted and charged."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from extractors.errors import ModelReplyError
from ontology import Schema
from server.app import create_app
from server.cli.app import command_line
from server.intake.language_model import connecting, model_state, text_schemas
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from shapes.gate.gate import ShapesGate
from tests.server.conftest import COLUMBIA, RecordedModel, own_gate, triples
from tests.support.tgi_stand_in import MODEL, StandIn, free_port, running
from tests.support.waiting import eventually

ANSWER = triples(("Columbia University", "is a", "university"))


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with running(StandIn(answer=ANSWER)) as stand_in:
        yield stand_in


@asynccontextmanager
async def serving(
    folder: Path, schema: Schema, gate: ShapesGate, **settings: object
) -> AsyncIterator[tuple[Services, httpx.AsyncClient]]:
    chosen = Settings.model_validate({"data": folder / "data", "readers": 1, **settings})
    async with build(chosen, schema=schema, gate=own_gate(gate)) as services:
        await services.opened()
        transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            yield services, client


async def test_an_extraction_reports_what_it_cost_and_what_a_thousand_would(
    tmp_path: Path, schema: Schema, gate: ShapesGate, stand_in: StandIn
):
    prices = {"model_price_input": 2.0, "model_price_output": 10.0, "model_currency": "EUR"}
    async with serving(tmp_path, schema, gate, model_url=stand_in.url, **prices) as (_, client):
        usage = (await client.post("/extractions", json={"text": COLUMBIA})).json()["usage"]
        assert usage["calls"] == 1
        assert usage["retries"] == usage["failed"] == 0
        assert usage["prompt_tokens"] == 11
        tokens = usage["completion_tokens"]
        assert usage["cost"] == {"amount": round((22 + 10 * tokens) / 1e6, 6), "currency": "EUR"}
        thousand = usage["per_1000_tasks"]
        assert thousand["prompt_tokens"] == 11_000
        assert thousand["cost"]["amount"] == pytest.approx((22 + 10 * tokens) / 1e3)
        assert thousand["seconds"] > 0


async def test_metrics_count_calls_tokens_retries_and_money(
    tmp_path: Path, schema: Schema, gate: ShapesGate, stand_in: StandIn
):
    settings = {"model_url": stand_in.url, "model_price_output": 5.0}
    async with serving(tmp_path, schema, gate, **settings) as (_, client):
        stand_in.troubles = ["overloaded"]
        usage = (await client.post("/extractions", json={"text": COLUMBIA})).json()["usage"]
        text = (await client.get("/metrics")).text
        assert 'urbankg_model_call_seconds_count{outcome="answered"} 1.0' in text
        assert "urbankg_model_retries_total 1.0" in text
        assert 'urbankg_model_tokens_total{way="in"} 11.0' in text
        assert 'urbankg_model_cost_total{currency="USD"}' in text
        assert "urbankg_extraction_seconds_count 1.0" in text
        assert usage["retries"] == 1
        reported = (await client.get("/models")).json()
        assert reported["usage"] == {**usage, "model_seconds": reported["usage"]["model_seconds"]}


async def test_calls_that_fail_are_counted_with_the_tokens_they_cost(
    client: httpx.AsyncClient, services: Services, model: RecordedModel
):
    model.replies = [ModelReplyError("cut off", "x", prompt_tokens=40, completion_tokens=60)]
    assert (await client.post("/extractions", json={"text": COLUMBIA})).status_code == 502
    usage = (await client.get("/models")).json()["usage"]
    assert usage["failed"] == usage["calls"] > 0
    assert usage["prompt_tokens"] == 40 * usage["calls"]
    assert "per_1000_tasks" not in usage
    assert 'outcome="unusable"} ' in (await client.get("/metrics")).text


async def test_the_model_server_is_probed_in_the_background_and_its_state_reported(
    tmp_path: Path, schema: Schema, gate: ShapesGate, stand_in: StandIn
):
    async with serving(tmp_path, schema, gate, model_url=stand_in.url) as (services, client):
        async with connecting(services.model), asyncio.timeout(120):
            await eventually(lambda: len(stand_in.requests) >= 3)
        assert len(stand_in.canaries) == 1
        assert {request["max_tokens"] for request in stand_in.requests} == {1}
        health = (await client.get("/healthz")).json()
        assert health["model"] == MODEL
        assert health["model_state"] == {
            "kind": "text-generation-inference",
            "version": "3.3.7",
            "schema": "honoured",
            "adapter": "none",
            "circuit": "closed",
        }
        state = (await client.get("/models")).json()["state"]
        assert state["url"] == stand_in.url
        assert state["max_total_tokens"] == 4096


async def test_the_model_server_compiles_the_schema_of_all_texts_before_the_first(
    tmp_path: Path, schema: Schema, gate: ShapesGate, stand_in: StandIn
):
    async with serving(tmp_path, schema, gate, model_url=stand_in.url) as (services, client):
        schemas = text_schemas(services.settings, "full", services.schema)
        async with connecting(services.model, lambda: schemas), asyncio.timeout(120):
            await eventually(lambda: len(stand_in.requests) >= 4)
        warmed = [request["response_format"]["value"] for request in stand_in.requests]
        assert (await client.post("/extractions", json={"text": COLUMBIA})).status_code == 200
        asked = stand_in.requests[len(warmed) :]
        assert [request["response_format"]["value"] for request in asked] == [warmed[0]] * len(asked)
        assert list(schemas) == warmed[:1]


async def test_a_model_server_that_is_down_does_not_keep_the_server_from_its_work(
    tmp_path: Path, schema: Schema, gate: ShapesGate
):
    url = f"http://127.0.0.1:{free_port()}"
    async with serving(tmp_path, schema, gate, model_url=url) as (services, client):
        async with connecting(services.model), asyncio.timeout(120):
            await eventually(lambda: model_state(services.model).get("problem") is not None)
            health = await client.get("/healthz")
        assert health.status_code == 200
        assert health.json()["model_state"]["schema"] == "unknown"
        assert url not in health.text
        assert "cannot be reached" in (await client.get("/models")).json()["state"]["problem"]


async def test_the_key_of_the_model_server_is_shown_nowhere(
    tmp_path: Path, schema: Schema, gate: ShapesGate, stand_in: StandIn, caplog: pytest.LogCaptureFixture
):
    stand_in.kind, stand_in.api_key = "vllm", "another"  # quotes the key, as TGI does not
    settings = {"model_url": stand_in.url, "model_api_key": "sesame-0451"}
    caplog.set_level("DEBUG")
    async with serving(tmp_path, schema, gate, **settings) as (_, client):
        answers = [
            await client.post("/extractions", json={"text": COLUMBIA}),
            await client.post("/models/probe", json={}),
            await client.get("/models"),
            await client.get("/healthz"),
            await client.get("/metrics"),
        ]
        assert answers[0].status_code == 502
        assert "***" in answers[0].text
        assert not any("sesame-0451" in answer.text for answer in answers)
    assert "sesame-0451" not in caplog.text


async def test_a_probe_reports_how_fast_the_model_is(
    tmp_path: Path, schema: Schema, gate: ShapesGate, stand_in: StandIn
):
    async with serving(tmp_path, schema, gate, model_url=stand_in.url) as (_, client):
        reported = (await client.post("/models/probe", json={})).json()
        assert reported["probe"]["error"] is None
        assert reported["probe"]["model"] == MODEL
        assert reported["probe"]["log_probabilities"] is True
        assert reported["probe"]["tokens_per_second"] > 0
        assert reported["usage"]["calls"] == 1


def test_the_command_reports_what_the_model_server_is(tmp_path: Path, stand_in: StandIn):
    reported = CliRunner().invoke(
        command_line(), ["models", "--data", str(tmp_path), "--model-url", stand_in.url, "--json"]
    )
    assert reported.exit_code == 0, reported.output
    answer = json.loads(reported.stdout)
    assert answer["state"]["kind"] == "text-generation-inference"
    assert answer["state"]["schema"] == "honoured"
    shown = CliRunner().invoke(
        command_line(), ["models", "--data", str(tmp_path), "--model-url", stand_in.url]
    )
    assert MODEL in shown.stdout
    assert "honoured" in shown.stdout


def test_the_command_says_when_the_adapter_is_not_there(
    tmp_path: Path, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("URBANKG_MODEL_NAME", "urban")
    reported = CliRunner().invoke(
        command_line(), ["models", "--data", str(tmp_path), "--model-url", stand_in.url]
    )
    assert reported.exit_code != 0
    assert "does not offer 'urban'" in reported.output

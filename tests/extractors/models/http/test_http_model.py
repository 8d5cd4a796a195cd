"""The HTTP adapter against a strict stand-in for text-generation-inference and its relatives."""

from __future__ import annotations

import asyncio

import pytest

from extractors.errors import ModelRequestRefused, ModelUnavailable
from extractors.models.accounting import account
from extractors.models.http.endpoint import RetryPolicy
from extractors.models.http.http_model import HttpModel
from extractors.models.http.servers import ServerKind
from extractors.models.opening import open_model
from tests.support.asking import ASK, PATIENT, QUICK, SCHEMA, ask, until
from tests.support.tgi_stand_in import MODEL, StandIn, free_port, running


async def test_a_reply_carries_text_costs_and_log_probabilities(server: StandIn, model: HttpModel) -> None:
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert reply.text == '{"triples":[]}'
    assert reply.finish_reason == "stop"
    assert reply.prompt_tokens == 11
    assert reply.completion_tokens == len(reply.tokens)
    assert "".join(token.text for token in reply.tokens) == reply.text
    assert reply.model == MODEL
    assert reply.adapter is None
    assert reply.seconds > 0


async def test_a_request_has_the_schema_and_max_tokens(server: StandIn, model: HttpModel) -> None:
    await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    request = server.requests[0]
    assert request["response_format"] == {"type": "json", "value": SCHEMA}
    assert request["max_tokens"] == 50
    assert request["temperature"] == 0.0
    assert request["messages"][1] == {"role": "user", "content": "Relations: is a\nText: Hi."}


async def test_without_a_schema_text_comes_back_as_it_is(server: StandIn, model: HttpModel) -> None:
    server.answer = "Faithful."
    reply = await model.complete(ASK, schema=None, max_tokens=50)
    assert reply.text == "Faithful."
    assert "response_format" not in server.requests[0]


async def test_tgi_is_recognized_once_and_by_its_info_page(server: StandIn, model: HttpModel) -> None:
    await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert (await model.server()).kind is ServerKind.TGI
    assert server.probes.count("/info") == 1


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llamacpp"])
async def test_its_relatives_are_recognized_by_who_owns_the_models(
    server: StandIn, model: HttpModel, kind: str
) -> None:
    server.kind = kind
    assert (await model.server()).kind == kind
    assert model.name == MODEL


async def test_an_unknown_server_is_not_asked_for_log_probabilities(
    server: StandIn, model: HttpModel
) -> None:
    server.kind = "somebody"
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert (await model.server()).kind is ServerKind.OTHER
    assert "logprobs" not in server.requests[0]
    assert reply.tokens == ()


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
async def test_the_url_may_come_with_or_without_v1(server: StandIn, tail: str) -> None:
    model = HttpModel(server.url + tail, retry=QUICK, timeouts=PATIENT)
    assert (await model.complete(ASK, schema=SCHEMA, max_tokens=50)).text
    await model.close()


async def test_the_api_key_is_sent_and_never_shown(server: StandIn, model: HttpModel) -> None:
    server.kind, server.api_key = "vllm", "sesame"
    with pytest.raises(ModelRequestRefused, match="API key"):
        await ask(model)
    keyed = HttpModel(server.url, api_key="sesame", timeouts=PATIENT)
    assert await ask(keyed)
    server.api_key = "changed"
    with pytest.raises(ModelRequestRefused, match=r"Incorrect key Bearer \*\*\*") as refusal:
        await ask(keyed)
    assert "sesame" not in str(refusal.value)
    assert "sesame" not in str(keyed.state())
    await keyed.close()


async def test_a_password_in_the_url_is_never_shown(server: StandIn) -> None:
    url = server.url.replace("http://", "http://anna:secret@")
    model = HttpModel(url, timeouts=PATIENT)
    assert "secret" not in model.name
    assert await ask(model)
    assert server.headers[-1]["authorization"].startswith("Basic ")
    assert "secret" not in str(model.state())
    await model.close()


async def test_a_local_server_is_reached_past_the_proxy_of_the_environment(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    model = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    assert await ask(model)
    await model.close()


async def test_no_more_requests_run_at_once_than_the_server_takes(server: StandIn) -> None:
    server.limit = 2
    model = HttpModel(server.url, concurrency=8, retry=QUICK, timeouts=PATIENT)
    await model.start()
    server.held = 1
    calls = [asyncio.create_task(ask(model)) for _ in range(8)]
    await until(lambda: server.at_once == 2 and model.state()["waiting"] == 6)
    server.gate.set()
    await asyncio.gather(*calls)
    assert server.most_at_once == 2
    await model.close()


async def test_one_text_does_not_wait_for_all_the_texts_of_a_job(server: StandIn) -> None:
    server.limit = 1
    model = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    await model.start()
    server.held = 1
    done: list[str] = []

    async def work(who: str, texts: int) -> None:
        async def one() -> None:
            await ask(model)
            done.append(who)

        with account():
            await asyncio.gather(*(one() for _ in range(texts)))

    job = asyncio.create_task(work("job", 6))
    await until(lambda: model.state()["waiting"] == 5)
    person = asyncio.create_task(work("person", 1))
    await until(lambda: model.state()["waiting"] == 6)
    server.gate.set()
    await asyncio.gather(job, person)
    assert done.index("person") <= 2
    await model.close()


async def test_after_a_restart_as_another_the_server_is_recognized_again() -> None:
    port = free_port()
    model = HttpModel(f"http://127.0.0.1:{port}", retry=RetryPolicy(attempts=1), timeouts=PATIENT)
    with running(StandIn(), port) as first:
        await ask(model)
        assert len(first.canaries) == 1
    with pytest.raises(ModelUnavailable):
        await ask(model)
    with running(StandIn(kind="vllm", version="0.11"), port) as second:
        await ask(model)
        assert len(second.canaries) == 1
        assert (await model.server()).kind is ServerKind.VLLM
        assert (await model.server()).version == "0.11"
    await model.close()


async def test_the_same_server_after_a_restart_is_not_tried_out_again() -> None:
    port = free_port()
    model = HttpModel(f"http://127.0.0.1:{port}", retry=RetryPolicy(attempts=1), timeouts=PATIENT)
    with running(StandIn(), port):
        await ask(model)
    with pytest.raises(ModelUnavailable):
        await ask(model)
    with running(StandIn(), port) as again:
        await ask(model)
        assert again.probes.count("/info") == 1
        assert again.canaries == []
    await model.close()


async def test_now_and_then_the_server_is_asked_again_who_it_is(server: StandIn) -> None:
    now = 0.0
    model = HttpModel(server.url, timeouts=PATIENT, clock=lambda: now)
    await ask(model)
    now = 1000.0
    await ask(model)
    assert server.probes.count("/info") == 2
    assert len(server.canaries) == 1
    await model.close()


async def test_limits_and_versions_are_reported(server: StandIn, model: HttpModel) -> None:
    await model.start()
    state = model.state()
    assert state["kind"] == "text-generation-inference"
    assert state["version"] == "3.3.7"
    assert state["max_total_tokens"] == 4096
    assert state["server_concurrency"] == 128
    assert state["concurrency"] == 8
    assert state["circuit"] == "closed"


def test_a_configured_url_opens_the_http_model(server: StandIn) -> None:
    for profile in ("full", "compact"):
        model = open_model(server.url, prompts=profile)
        assert isinstance(model, HttpModel)
        assert model.prompt_profile == profile
        asyncio.run(model.close())

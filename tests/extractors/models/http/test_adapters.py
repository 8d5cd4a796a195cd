"""LoRA adapters that a server has or has not, and how the HTTP adapter finds out."""

from __future__ import annotations

import logging

import pytest

from extractors.errors import ModelUnavailable
from extractors.models.http.http_model import HttpModel
from tests.support.asking import ASK, PATIENT, QUICK, SCHEMA, ask
from tests.support.tgi_stand_in import MODEL, StandIn


async def test_a_model_that_the_server_does_not_list_is_refused(server: StandIn) -> None:
    server.kind = "vllm"
    model = HttpModel(server.url, model="urban", retry=QUICK, timeouts=PATIENT)
    with pytest.raises(ModelUnavailable, match=f"does not offer 'urban'; it offers {MODEL}"):
        await ask(model)
    await model.close()


async def test_an_adapter_that_tgi_answers_for_with_its_base_model_is_refused(server: StandIn) -> None:
    model = HttpModel(server.url, model="urban", retry=QUICK, timeouts=PATIENT)
    with pytest.raises(ModelUnavailable, match="does not offer 'urban'"):
        await ask(model)
    assert len(server.samples) == 3
    assert server.requests == []
    await model.close()


async def test_an_adapter_that_tgi_does_not_list_is_recognized_by_its_answers(server: StandIn) -> None:
    server.unlisted = ("urban",)
    model = HttpModel(server.url, model="urban", retry=QUICK, timeouts=PATIENT)
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert server.requests[0]["model"] == "urban"
    assert (reply.model, reply.adapter) == (MODEL, "urban")
    assert model.state()["adapter"] == "in force"
    await model.close()


async def test_answers_that_change_by_themselves_tell_nothing_of_an_adapter(
    server: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    server.steady = False
    model = HttpModel(server.url, model="urban", retry=QUICK, timeouts=PATIENT)
    with caplog.at_level(logging.WARNING):
        await ask(model)
    assert model.state()["adapter"] == "unsure"
    assert "urban" in caplog.text
    await model.close()


@pytest.mark.parametrize(("kind", "asked"), [("vllm", "urban"), ("sglang", f"{MODEL}:urban")])
async def test_a_listed_adapter_is_asked_for_and_named_in_the_reply(
    server: StandIn, kind: str, asked: str
) -> None:
    server.kind, server.adapters = kind, ("urban",)
    model = HttpModel(server.url, model="urban", retry=QUICK, timeouts=PATIENT)
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert server.requests[0]["model"] == asked
    assert (reply.model, reply.adapter) == (MODEL, "urban")
    assert server.samples == []
    await model.close()


async def test_the_adapters_of_llama_cpp_are_in_force_whatever_is_asked_for(server: StandIn) -> None:
    server.kind, server.unlisted = "llamacpp", ("urban",)
    model = HttpModel(server.url, timeouts=PATIENT)
    assert (await model.complete(ASK, schema=SCHEMA, max_tokens=50)).adapter == "urban"
    await model.close()

"""The HTTP adapter against a strict stand-in for text-generation-inference."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelTimeout, ModelUnavailable
from extractors.models import Message, RetryPolicy, ServerKind, open_model
from extractors.models.tgi import HttpModel
from tests.extractors.tgi_stand_in import MODEL, StandIn, free_port, running

ASK = [Message("system", "Extract facts from the text."), Message("user", "Relations: is a\nText: Hi.")]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"triples": {"type": "array", "items": {"type": "string"}}},
    "required": ["triples"],
}
QUICK = RetryPolicy(first_seconds=0.01)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with running(StandIn()) as stand_in:
        yield stand_in


@pytest.fixture
async def model(server: StandIn) -> AsyncIterator[HttpModel]:
    model = HttpModel(server.url, retry=QUICK, timeout_seconds=5)
    yield model
    await model.close()


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


async def test_a_request_has_both_schema_keys_and_max_tokens(server: StandIn, model: HttpModel) -> None:
    await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    request = server.requests[0]
    assert request["response_format"]["value"] == SCHEMA
    assert request["response_format"]["json_schema"] == {"name": "reply", "schema": SCHEMA, "strict": True}
    assert request["max_tokens"] == 50
    assert request["temperature"] == 0.0
    assert request["messages"][1] == {"role": "user", "content": "Relations: is a\nText: Hi."}


async def test_without_a_schema_text_comes_back_as_it_is(server: StandIn, model: HttpModel) -> None:
    server.answer = "Faithful."
    reply = await model.complete(ASK, schema=None, max_tokens=50)
    assert reply.text == "Faithful."
    assert "response_format" not in server.requests[0]


async def test_tgi_is_recognised_once_and_by_its_info_page(server: StandIn, model: HttpModel) -> None:
    await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert (await model.server()).kind is ServerKind.TGI
    assert server.probes.count("/info") == 1


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llamacpp"])
async def test_its_relatives_are_recognised_by_who_owns_the_models(
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
    model = HttpModel(server.url + tail, retry=QUICK)
    assert (await model.complete(ASK, schema=SCHEMA, max_tokens=50)).text
    await model.close()


@pytest.mark.parametrize("trouble", ["overloaded", "unavailable", "generation"])
async def test_a_passing_trouble_is_tried_again(server: StandIn, model: HttpModel, trouble: str) -> None:
    server.troubles = [trouble]
    assert (await model.complete(ASK, schema=SCHEMA, max_tokens=50)).text == '{"triples":[]}'
    assert len(server.requests) == 2


async def test_a_server_that_stays_overloaded_is_unavailable(server: StandIn, model: HttpModel) -> None:
    server.troubles = ["overloaded"] * 9
    with pytest.raises(ModelUnavailable, match="overloaded"):
        await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert len(server.requests) == QUICK.attempts


async def test_a_failed_generation_is_tried_only_once_more(server: StandIn, model: HttpModel) -> None:
    server.troubles = ["generation"] * 9
    with pytest.raises(ModelReplyError, match="424"):
        await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert len(server.requests) == 2


async def test_a_refused_schema_is_told_and_not_tried_again(server: StandIn, model: HttpModel) -> None:
    bad = {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    with pytest.raises(ModelRequestRefused, match="422") as refusal:
        await model.complete(ASK, schema=bad, max_tokens=50)
    assert refusal.value.status == 422
    assert len(server.requests) == 1


async def test_a_schema_that_refers_to_itself_never_reaches_the_server(
    server: StandIn, model: HttpModel
) -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#/$defs/n"}}}
    schema = {**tree, "$defs": {"n": tree}}
    with pytest.raises(ModelRequestRefused, match="refers to itself"):
        await model.complete(ASK, schema=schema, max_tokens=50)
    assert server.requests == []


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("truncated", "cut off"),
        ("broken json", "not JSON"),
        ("empty", "empty"),
        ("no finish", "finish_reason"),
        ("web page", "not JSON"),
        ("error inside 200", "Input validation error"),
    ],
)
async def test_a_reply_that_cannot_be_used_is_an_error_with_its_words(
    server: StandIn, model: HttpModel, trouble: str, words: str
) -> None:
    server.answer = '{"triples":["Lyon"]}'
    server.troubles = [trouble]
    with pytest.raises(ModelReplyError, match=words) as error:
        await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert error.value.reply == "" or error.value.reply[:1] in "{<"
    assert len(server.requests) == 1


async def test_an_incomplete_generation_is_unavailable(server: StandIn, model: HttpModel) -> None:
    server.troubles = ["incomplete"]
    with pytest.raises(ModelUnavailable, match="500"):
        await model.complete(ASK, schema=SCHEMA, max_tokens=50)


async def test_a_slow_server_times_out(server: StandIn) -> None:
    server.seconds = 1.0
    model = HttpModel(server.url, retry=QUICK, timeout_seconds=0.3)
    with pytest.raises(ModelTimeout, match=r"0\.3 s"):
        await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    await model.close()


async def test_a_server_that_is_down_is_unavailable() -> None:
    model = HttpModel(f"http://127.0.0.1:{free_port()}", retry=QUICK)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    await model.close()


async def test_the_api_key_is_sent_and_its_lack_is_told(server: StandIn, model: HttpModel) -> None:
    server.api_key = "sesame"
    with pytest.raises(ModelRequestRefused, match="API key"):
        await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    keyed = HttpModel(server.url, api_key="sesame")
    assert (await keyed.complete(ASK, schema=SCHEMA, max_tokens=50)).text
    await keyed.close()


async def test_an_adapter_that_the_server_does_not_list_is_refused(server: StandIn) -> None:
    model = HttpModel(server.url, model="urban", retry=QUICK)
    with pytest.raises(ModelUnavailable, match="does not offer 'urban'"):
        await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    await model.close()


async def test_a_listed_adapter_is_asked_for_and_named_in_the_reply(server: StandIn) -> None:
    server.adapters = ("urban",)
    model = HttpModel(server.url, model="urban", retry=QUICK)
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert server.requests[0]["model"] == "urban"
    assert reply.adapter == "urban"
    await model.close()


async def test_no_more_requests_run_at_once_than_the_server_takes(server: StandIn) -> None:
    server.limit, server.seconds = 2, 0.05
    model = HttpModel(server.url, concurrency=8, retry=QUICK)
    await asyncio.gather(*(model.complete(ASK, schema=SCHEMA, max_tokens=50) for _ in range(8)))
    assert server.most_at_once == 2
    await model.close()


def test_a_configured_url_opens_the_http_model(server: StandIn) -> None:
    model = open_model(server.url)
    assert isinstance(model, HttpModel)
    assert model.prompt_profile == "full"
    asyncio.run(model.close())

"""The HTTP adapter against a strict stand-in for text-generation-inference and its relatives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelTimeout, ModelUnavailable
from extractors.models import Message, RetryPolicy, ServerKind, Timeouts, open_model
from extractors.models.accounting import account
from extractors.models.circuit import Circuit
from extractors.models.tgi import HttpModel
from tests.extractors.tgi_stand_in import MODEL, StandIn, free_port, running

ASK = [Message("system", "Extract facts from the text."), Message("user", "Relations: is a\nText: Hi.")]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"triples": {"type": "array", "items": {"type": "string"}}},
    "required": ["triples"],
}
QUICK = RetryPolicy(first_seconds=0.01)
PATIENT = Timeouts(whole=300, connect=120, first_token=120, between_tokens=120)


@pytest.fixture
def server() -> Iterator[StandIn]:
    with running(StandIn()) as stand_in:
        yield stand_in


@pytest.fixture
async def model(server: StandIn) -> AsyncIterator[HttpModel]:
    model = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    yield model
    await model.close()


async def ask(model: HttpModel, schema: dict[str, Any] | None = SCHEMA) -> str:
    return (await model.complete(ASK, schema=schema, max_tokens=50)).text


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what will happen; the test's own patience is a minute."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


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
    model = HttpModel(server.url + tail, retry=QUICK, timeouts=PATIENT)
    assert (await model.complete(ASK, schema=SCHEMA, max_tokens=50)).text
    await model.close()


@pytest.mark.parametrize("trouble", ["overloaded", "unavailable", "generation"])
async def test_a_passing_trouble_is_tried_again(server: StandIn, model: HttpModel, trouble: str) -> None:
    server.troubles = [trouble]
    assert (await model.complete(ASK, schema=SCHEMA, max_tokens=50)).text == '{"triples":[]}'
    assert len(server.requests) == 2


@pytest.mark.parametrize("trouble", ["error in stream", "overload in stream", "dropped"])
async def test_a_passing_trouble_inside_a_stream_is_tried_again(
    server: StandIn, model: HttpModel, trouble: str
) -> None:
    server.troubles = [trouble]
    assert await ask(model) == '{"triples":[]}'
    assert len(server.requests) == 2


async def test_a_server_that_stays_overloaded_is_unavailable(server: StandIn, model: HttpModel) -> None:
    server.troubles = ["overloaded"] * 9
    with pytest.raises(ModelUnavailable, match="overloaded") as failure:
        await ask(model)
    assert len(server.requests) == QUICK.attempts
    assert failure.value.attempts == QUICK.attempts
    assert failure.value.overloaded


async def test_the_pause_that_an_overloaded_server_asks_for_is_kept(server: StandIn) -> None:
    asked: list[float | None] = []

    class Noting(RetryPolicy):
        def wait(self, status: int | None, attempt: int, asked_seconds: float | None = None) -> float | None:
            asked.append(asked_seconds)
            return super().wait(status, attempt)

    server.troubles, server.retry_after = ["overloaded"], "7"
    model = HttpModel(server.url, retry=Noting(first_seconds=0.01), timeouts=PATIENT)
    assert await ask(model)
    assert asked == [7.0]
    await model.close()


async def test_a_failed_generation_is_tried_only_once_more(server: StandIn, model: HttpModel) -> None:
    server.troubles = ["generation"] * 9
    with pytest.raises(ModelReplyError, match="424"):
        await ask(model)
    assert len(server.requests) == 2


async def test_a_refusal_inside_a_stream_is_not_tried_again(server: StandIn, model: HttpModel) -> None:
    server.troubles = ["chat error in stream"]
    with pytest.raises(ModelRequestRefused, match="422") as refusal:
        await ask(model)
    assert refusal.value.status == 422
    assert len(server.requests) == 1


async def test_a_failure_inside_a_stream_is_unavailable(server: StandIn, model: HttpModel) -> None:
    server.kind = "vllm"
    server.troubles = ["vllm error in stream"]
    with pytest.raises(ModelUnavailable, match="engine died"):
        await ask(model)


async def test_a_refused_request_is_told_and_not_tried_again(server: StandIn, model: HttpModel) -> None:
    with pytest.raises(ModelRequestRefused, match=r"422.*max_new_tokens") as refusal:
        await model.complete(ASK, schema=SCHEMA, max_tokens=5000)
    assert refusal.value.status == 422
    assert len(server.requests) == 1


async def test_a_body_over_two_megabytes_is_refused(server: StandIn, model: HttpModel) -> None:
    with pytest.raises(ModelRequestRefused, match="413"):
        await model.complete([Message("user", "tram" * 600_000)], schema=None, max_tokens=50)


TREE = {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {"a": {"type": ["string", "null"]}}}, "list of types"),
        ({**TREE, "$defs": {"tree": TREE}}, "refers to itself"),
    ],
)
async def test_a_schema_that_some_server_would_choke_on_never_reaches_one(
    server: StandIn, model: HttpModel, schema: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModelRequestRefused, match=words):
        await ask(model, schema)
    assert server.requests == []


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("truncated", "cut off"),
        ("empty", "empty"),
        ("no finish", "finish_reason"),
        ("web page", "not JSON"),
        ("error inside 200", "Something went wrong"),
        ("garbled", "no JSON"),
    ],
)
async def test_a_reply_that_cannot_be_used_is_an_error_with_its_words(
    server: StandIn, model: HttpModel, trouble: str, words: str
) -> None:
    server.answer = '{"triples":["Lyon"]}'
    server.troubles = [trouble]
    with pytest.raises(ModelReplyError, match=words) as error:
        await ask(model)
    assert error.value.reply == "" or error.value.reply[:1] in "{<"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        ("white space", "white space"),
        ("off the schema", "no key|lacks"),
        ("broken json", "after the end|where"),
    ],
)
async def test_a_hopeless_reply_is_given_up_while_it_comes(
    server: StandIn, model: HttpModel, trouble: str, words: str
) -> None:
    server.answer = '{"triples":["Lyon"]}'
    server.troubles = [trouble]
    closed = {**SCHEMA, "additionalProperties": False}
    with pytest.raises(ModelReplyError, match=words) as error:
        await model.complete(ASK, schema=closed, max_tokens=4000)
    assert error.value.completion_tokens > 0
    assert len(error.value.reply) < 1000


async def test_white_space_after_a_whole_reply_does_not_cost_it(server: StandIn, model: HttpModel) -> None:
    server.answer = '{"triples":["Lyon"]}'
    server.troubles = ["white space after"]
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=4000)
    assert reply.text.strip() == server.answer
    assert reply.finish_reason == "stop"


async def test_a_server_that_does_not_stream_is_read_all_the_same(server: StandIn, model: HttpModel) -> None:
    server.streams = False
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert reply.text == '{"triples":[]}'
    assert reply.prompt_tokens == 11


async def test_an_incomplete_generation_is_unavailable(server: StandIn, model: HttpModel) -> None:
    server.troubles = ["incomplete"]
    with pytest.raises(ModelUnavailable, match="500"):
        await ask(model)


async def test_a_server_that_says_nothing_times_out(server: StandIn) -> None:
    server.held = 1
    model = HttpModel(server.url, retry=QUICK, timeouts=Timeouts(first_token=0.3))
    with pytest.raises(ModelTimeout, match=r"did not answer within 0\.3 s"):
        await ask(model)
    await model.close()


async def test_a_server_that_falls_silent_in_a_reply_times_out(server: StandIn) -> None:
    patient = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    await patient.start()
    server.troubles = ["silence"]
    model = HttpModel(
        server.url, retry=QUICK, timeouts=Timeouts(first_token=120, between_tokens=0.5, whole=300)
    )
    with pytest.raises(ModelTimeout, match=r"in the middle of its reply for 0\.5 s"):
        await ask(model)
    await model.close()
    await patient.close()


async def test_a_call_has_a_time_for_the_whole(server: StandIn) -> None:
    server.held = 1
    model = HttpModel(server.url, retry=QUICK, timeouts=Timeouts(whole=0.3, first_token=120))
    with pytest.raises(ModelTimeout, match=r"did not finish within 0\.3 s"):
        await ask(model)
    await model.close()


async def test_a_cancelled_call_ends_its_request(server: StandIn, model: HttpModel) -> None:
    await model.start()
    server.troubles = ["silence"]
    call = asyncio.create_task(ask(model))
    await until(lambda: server.at_once == 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: server.at_once == 0)
    assert server.abandoned == 1
    assert model.state().in_flight == 0


async def test_a_server_that_is_down_is_unavailable() -> None:
    model = HttpModel(f"http://127.0.0.1:{free_port()}", retry=QUICK)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await ask(model)
    await model.close()


async def test_after_failures_in_a_row_a_call_is_refused_at_once_until_the_trial(server: StandIn) -> None:
    now = 0.0
    circuit = Circuit(failures=2, rest_seconds=15, clock=lambda: now)
    model = HttpModel(server.url, retry=RetryPolicy(attempts=1), timeouts=PATIENT, circuit=circuit)
    server.troubles = ["incomplete"] * 2
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="500"):
            await ask(model)
    with pytest.raises(ModelUnavailable, match=r"2 times in a row .* in 15 s"):
        await ask(model)
    assert len(server.requests) == 2
    assert model.state().circuit == "open"
    now = 16.0
    assert await ask(model) == '{"triples":[]}'
    assert model.state().circuit == "closed"
    await model.close()


async def test_the_api_key_is_sent_and_never_told(server: StandIn, model: HttpModel) -> None:
    server.api_key = "sesame"
    with pytest.raises(ModelRequestRefused, match="API key"):
        await ask(model)
    keyed = HttpModel(server.url, api_key="sesame", timeouts=PATIENT)
    assert await ask(keyed)
    server.api_key = "changed"
    with pytest.raises(ModelRequestRefused, match=r"Incorrect key Bearer \*\*\*") as refusal:
        await ask(keyed)
    assert "sesame" not in str(refusal.value)
    assert "sesame" not in str(keyed.state().json())
    await keyed.close()


async def test_a_password_in_the_url_is_never_told(server: StandIn) -> None:
    url = server.url.replace("http://", "http://anna:secret@")
    model = HttpModel(url, timeouts=PATIENT)
    assert "secret" not in model.name
    assert await ask(model)
    assert server.headers[-1]["authorization"].startswith("Basic ")
    assert "secret" not in str(model.state().json())
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


async def test_an_adapter_that_tgi_does_not_list_is_told_by_its_answers(server: StandIn) -> None:
    server.unlisted = ("urban",)
    model = HttpModel(server.url, model="urban", retry=QUICK, timeouts=PATIENT)
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert server.requests[0]["model"] == "urban"
    assert (reply.model, reply.adapter) == (MODEL, "urban")
    assert model.state().json()["adapter"] == "in force"
    await model.close()


async def test_answers_that_change_by_themselves_tell_nothing_of_an_adapter(
    server: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    server.steady = False
    model = HttpModel(server.url, model="urban", retry=QUICK, timeouts=PATIENT)
    with caplog.at_level(logging.WARNING):
        await ask(model)
    assert model.state().json()["adapter"] == "unsure"
    assert "urban" in caplog.text
    await model.close()


@pytest.mark.parametrize("kind", ["tgi", "vllm"])
async def test_a_listed_adapter_is_asked_for_and_named_in_the_reply(server: StandIn, kind: str) -> None:
    server.kind, server.adapters = kind, ("urban",)
    model = HttpModel(server.url, model="urban", retry=QUICK, timeouts=PATIENT)
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert server.requests[0]["model"] == "urban"
    assert (reply.model, reply.adapter) == (MODEL, "urban")
    assert server.samples == []
    await model.close()


async def test_the_adapters_of_llama_cpp_are_in_force_whatever_is_asked_for(server: StandIn) -> None:
    server.kind, server.unlisted = "llamacpp", ("urban",)
    model = HttpModel(server.url, timeouts=PATIENT)
    assert (await model.complete(ASK, schema=SCHEMA, max_tokens=50)).adapter == "urban"
    await model.close()


async def test_no_more_requests_run_at_once_than_the_server_takes(server: StandIn) -> None:
    server.limit = 2
    model = HttpModel(server.url, concurrency=8, retry=QUICK, timeouts=PATIENT)
    await model.start()
    server.held = 1
    calls = [asyncio.create_task(ask(model)) for _ in range(8)]
    await until(lambda: server.at_once == 2 and model.state().waiting == 6)
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
    await until(lambda: model.state().waiting == 5)
    person = asyncio.create_task(work("person", 1))
    await until(lambda: model.state().waiting == 6)
    server.gate.set()
    await asyncio.gather(job, person)
    assert done.index("person") <= 2
    await model.close()


async def test_a_server_that_drops_schemas_gets_them_in_words_and_is_warned_of_once(
    server: StandIn, model: HttpModel, caplog: pytest.LogCaptureFixture
) -> None:
    server.heeds = False
    server.answer = 'Here you are:\n```json\n{"triples": ["Lyon"]}\n```'
    with caplog.at_level(logging.WARNING):
        assert await ask(model) == '{"triples": ["Lyon"]}'
        assert await ask(model) == '{"triples": ["Lyon"]}'
    assert caplog.text.count("ignores JSON schemas") == 1
    assert len(server.canaries) == 1
    assert '"triples"' in server.requests[0]["messages"][-1]["content"]
    assert model.state().json()["schema"] == "dropped"


async def test_what_such_a_server_says_is_checked_against_the_schema(
    server: StandIn, model: HttpModel
) -> None:
    server.heeds = False
    server.answer = 'Sure! {"facts": ["Lyon"]}'
    with pytest.raises(ModelReplyError, match="lacks triples"):
        await ask(model)


async def test_a_server_that_refuses_the_key_for_tgi_gets_the_other_alone(server: StandIn) -> None:
    server.kind = "picky"
    model = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    assert await ask(model) == '{"triples":[]}'
    assert "value" not in server.requests[-1]["response_format"]
    assert model.state().json()["schema"] == "honoured"
    await model.close()


async def test_a_server_that_refuses_schemas_is_not_sent_any(server: StandIn) -> None:
    server.kind = "schemaless"
    model = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    assert await ask(model) == '{"triples":[]}'
    assert "response_format" not in server.requests[-1]
    assert model.state().json()["schema"] == "refused"
    await model.close()


async def test_after_a_restart_as_another_the_server_is_recognised_again() -> None:
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


async def test_schemas_can_be_compiled_before_they_are_needed(server: StandIn, model: HttpModel) -> None:
    await model.start([SCHEMA])
    assert server.requests[0]["max_tokens"] == 1
    assert server.requests[0]["response_format"]["value"] == SCHEMA


async def test_limits_and_versions_are_told(server: StandIn, model: HttpModel) -> None:
    await model.start()
    state = model.state().json()
    assert state["kind"] == "text-generation-inference"
    assert state["version"] == "3.3.7"
    assert state["max_total_tokens"] == 4096
    assert state["server_concurrency"] == 128
    assert state["concurrency"] == 8
    assert state["circuit"] == "closed"


def test_a_configured_url_opens_the_http_model(server: StandIn) -> None:
    for profile in ("full", "compact"):
        model = open_model(server.url, prompt_profile=profile)
        assert isinstance(model, HttpModel)
        assert model.prompt_profile == profile
        asyncio.run(model.close())

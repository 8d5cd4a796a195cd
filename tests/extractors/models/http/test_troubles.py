"""What goes wrong with a model server: tried again, given up or reported, and never waited for in vain."""

from __future__ import annotations

import asyncio

import pytest

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelTimeout, ModelUnavailable
from extractors.models.chat import Message
from extractors.models.http.endpoint import Circuit, Endpoint, RetryPolicy, Timeouts
from extractors.models.http.http_model import HttpModel
from tests.support.asking import ASK, PATIENT, QUICK, SCHEMA, ask, until
from tests.support.tgi_stand_in import StandIn, free_port


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

    server.troubles, server.retry_after = ["unavailable"], "7"
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


async def test_a_refused_request_is_reported_and_not_tried_again(server: StandIn, model: HttpModel) -> None:
    with pytest.raises(ModelRequestRefused, match=r"422.*max_new_tokens") as refusal:
        await model.complete([Message("user", "tram " * 4000)], schema=SCHEMA, max_tokens=500)
    assert refusal.value.status == 422
    assert refusal.value.too_long
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("words", "too_long"),
    [
        ("Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 ...", True),
        ("Input validation error: `inputs` must have less than 3000 tokens. Given: 3500", True),
        ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", True),
        ("The decoder prompt (length 9000) is longer than the maximum model length of 8192.", True),
        ("The input (9000 tokens) is longer than the model's context length (8192 tokens).", True),
        ("the request exceeds the available context size. try increasing it", True),
        ("Input validation error: `max_new_tokens` must be strictly positive", False),
        ("Input validation error: grammar is not valid: Grammar must have a 'properties' field", False),
    ],
)
async def test_a_prompt_that_is_too_long_is_known_by_the_words_of_each_server(
    words: str, too_long: bool
) -> None:
    endpoint = Endpoint("http://127.0.0.1:9", api_key=None, timeouts=Timeouts())
    refusal = endpoint._failure(422, words)
    assert isinstance(refusal, ModelRequestRefused)
    assert refusal.too_long is too_long
    await endpoint.close()


async def test_a_body_over_two_megabytes_is_refused(server: StandIn, model: HttpModel) -> None:
    with pytest.raises(ModelRequestRefused, match="413"):
        await model.complete([Message("user", "tram" * 600_000)], schema=None, max_tokens=50)


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


async def test_a_reply_that_goes_on_with_white_space_is_given_up_while_it_comes(
    server: StandIn, model: HttpModel
) -> None:
    server.answer = '{"triples":["Lyon"]}'
    server.troubles = ["white space"]
    with pytest.raises(ModelReplyError, match="white space") as error:
        await model.complete(ASK, schema=SCHEMA, max_tokens=4000)
    assert 200 < error.value.completion_tokens < 250
    assert len(error.value.reply) < 250


@pytest.mark.parametrize(
    ("trouble", "words"),
    [("off the schema", "'triples' is a required property"), ("broken json", "it is not JSON")],
)
async def test_a_finished_reply_is_checked_against_the_schema(
    server: StandIn, model: HttpModel, trouble: str, words: str
) -> None:
    server.answer = '{"triples":["Lyon"]}'
    server.troubles = [trouble]
    with pytest.raises(ModelReplyError, match=words) as error:
        await model.complete(ASK, schema=SCHEMA, max_tokens=4000)
    assert error.value.completion_tokens > 0
    assert len(server.canaries) == 1
    assert await ask(model)
    assert len(server.canaries) == 2  # whether it follows schemas is tested anew


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


async def test_an_answer_that_cannot_be_unpacked_is_a_failure_of_the_server(
    server: StandIn, model: HttpModel
) -> None:
    server.troubles = ["broken gzip"] * 9
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await ask(model)


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
    assert model.state()["in_flight"] == 0


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
    assert model.state()["circuit"] == "open"
    now = 16.0
    assert await ask(model) == '{"triples":[]}'
    assert model.state()["circuit"] == "closed"
    await model.close()

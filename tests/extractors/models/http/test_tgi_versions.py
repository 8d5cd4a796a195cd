"""What the client sends, before the structs of TGI 2.4, 3.0, 3.2 and 3.3, and what those versions answer."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest

from extractors.errors import ModelError, ModelReplyError, ModelRequestRefused, ModelUnavailable
from extractors.models.chat import BlankField, BlankForm, Message
from extractors.models.http.endpoint import RetryPolicy, Timeouts
from extractors.models.http.http_model import HttpModel
from tests.support.asking import ASK, PATIENT, QUICK, SCHEMA, ask
from tests.support.tgi_rules import VERSIONS, Refusal, chat_refusal, generate_refusal
from tests.support.tgi_stand_in import MODEL, StandIn, free_port, running

JSON = "application/json"
FORM = BlankForm("Text: The mill opened in 1921.\n", (BlankField("opened", "root ::= .*"),), 0.2, 8)


@pytest.fixture(params=VERSIONS)
def tgi(request: pytest.FixtureRequest) -> Iterator[StandIn]:
    writes = {"opened": (0.9, " mill | 1921")}
    with running(StandIn(version=f"{request.param}.1", writes=writes, unlisted=("urban",))) as stand_in:
        yield stand_in


def opened(tgi: StandIn, **settings: Any) -> HttpModel:
    return HttpModel(tgi.url, **{"retry": QUICK, "timeouts": PATIENT, **settings})


async def test_everything_that_the_client_sends_is_taken(tgi: StandIn) -> None:
    for name in (None, "urban", MODEL):
        model = opened(tgi, model=name)
        await model.start([SCHEMA])
        for schema in (None, SCHEMA):
            for temperature in (0.0, 0.7):
                await model.complete(ASK, schema=schema, max_tokens=50, temperature=temperature)
        await model.fill(FORM)
        assert model.state()["schema"] == "honoured"
        assert model.state()["adapter"] == ("in force" if name == "urban" else "none")
        await model.close()
    assert tgi.refused == []
    assert {body["parameters"]["adapter_id"] for body in tgi.completions} == {MODEL, "urban"}
    assert all(body["logprobs"] for body in tgi.requests)


@pytest.mark.parametrize("zips", [False, True])
@pytest.mark.parametrize("streams", [True, False])
async def test_a_reply_comes_through_streamed_or_not_packed_or_not(
    tgi: StandIn, streams: bool, zips: bool
) -> None:
    tgi.streams, tgi.zips = streams, zips
    tgi.answer = '{"triples":["Łódź\u2028Ⅱ"]}'
    model = opened(tgi)
    reply = await model.complete(ASK, schema=SCHEMA, max_tokens=50)
    assert reply.text == tgi.answer
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, len(reply.tokens))
    assert "".join(token.text for token in reply.tokens) == reply.text
    await model.close()


async def test_requests_share_a_connection(tgi: StandIn) -> None:
    model = opened(tgi)
    for _ in range(4):
        await ask(model)
    assert len(set(tgi.callers)) == 1
    await model.close()


@pytest.mark.parametrize(
    ("trouble", "attempts", "error", "words"),
    [
        ("overloaded", QUICK.attempts, ModelUnavailable, "429"),
        ("generation", 2, ModelReplyError, "424"),
        ("incomplete", 1, ModelUnavailable, "500"),
    ],
)
async def test_an_error_inside_a_stream_is_taken_for_what_it_is(
    tgi: StandIn, trouble: str, attempts: int, error: type[ModelError], words: str
) -> None:
    """2.4 leaves it out of the stream, so that it is asked for without one; 3 gives it the status 422."""
    asked = 2 * attempts if tgi.rules == "2.4" else attempts
    tgi.troubles = [trouble] * asked
    model = opened(tgi)
    with pytest.raises(error, match=words) as failure:
        await ask(model)
    assert failure.value.attempts == attempts
    assert len(tgi.requests) == asked
    assert await ask(model)
    await model.close()


async def test_a_text_that_is_too_long_is_known_by_its_error_and_not_sent_again(tgi: StandIn) -> None:
    model = opened(tgi)
    with pytest.raises(ModelRequestRefused, match=r"422.*`inputs` tokens") as refusal:
        await model.complete([Message("user", "tram " * 4500)], schema=SCHEMA, max_tokens=50)
    assert refusal.value.too_long
    assert refusal.value.attempts == 1
    await model.close()


async def test_an_adapter_that_is_not_loaded_is_refused_in_every_version(tgi: StandIn) -> None:
    model = opened(tgi, model="rural")
    with pytest.raises(ModelUnavailable, match="does not offer 'rural'"):
        await ask(model)
    assert tgi.refused == []
    await model.close()


@pytest.mark.parametrize("trouble", ["dropped", "silence", "no finish", "garbled", "nested"])
async def test_a_broken_stream_is_never_a_reply(tgi: StandIn, trouble: str) -> None:
    patient = opened(tgi)
    await patient.start()
    await patient.close()
    tgi.troubles = [trouble] * 9
    limits = Timeouts(whole=300, connect=120, first_token=120, between_tokens=0.5)
    model = opened(tgi, timeouts=limits, retry=RetryPolicy(attempts=1))
    with pytest.raises(ModelError):
        await ask(model)
    await model.close()


WRONG_SHAPES: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    # What the client sent until 2026-11, and to whom it means something.
    ({"type": "json_schema", "value": SCHEMA}, VERSIONS),
    ({"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}}, VERSIONS),
    (
        {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}, "value": SCHEMA},
        VERSIONS,
    ),
    ({"type": "json_schema", "value": {"name": "reply", "schema": SCHEMA}}, ("2.4", "3.0", "3.2")),
    ({"type": "json_object"}, VERSIONS),
    ({"type": "json"}, VERSIONS),
    ({"type": "text"}, VERSIONS),
    ({"type": "regex", "value": SCHEMA}, VERSIONS),
    ({"value": SCHEMA}, VERSIONS),
    ({"type": "json", "value": [SCHEMA]}, VERSIONS),
    ({"type": "json", "value": {"type": "string"}}, VERSIONS),
    ({"type": "json", "value": {"properties": {"a": {"type": ["string", "null"]}}}}, ("3.0", "3.2", "3.3")),
    ({"type": "json", "value": SCHEMA}, ()),
    ({"type": "json_object", "value": SCHEMA}, ()),
]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("shape", "refusing"), WRONG_SHAPES, ids=str)
def test_the_rules_refuse_the_shapes_that_the_structs_refuse(
    shape: dict[str, Any], refusing: tuple[str, ...], version: str
) -> None:
    chat = {"model": "tgi", "messages": [{"role": "user", "content": "Hi."}], "response_format": shape}
    form = {"inputs": "Hi.", "parameters": {"grammar": shape}}
    for found in (
        chat_refusal(json.dumps(chat).encode(), JSON, version),
        generate_refusal(json.dumps(form).encode(), JSON, version),
    ):
        assert isinstance(found, Refusal) is (version in refusing)
        if isinstance(found, Refusal):
            assert found.status == 422


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "missing field `messages`"),
        ({"messages": [{"content": "x"}]}, r"messages\[0\]: missing field `role`"),
        ({"messages": [], "max_tokens": -1}, "max_tokens: invalid type: integer `-1`, expected u32"),
        ({"messages": [], "max_tokens": 5.0}, "max_tokens: invalid type: floating point `5.0`, expected u32"),
        ({"messages": [], "stream": None}, "stream: invalid type: null, expected a boolean"),
        ({"messages": [], "stop": "x"}, "stop: invalid type: string"),
        ({"messages": [], "response_format": {"type": "json_schema", "value": {}}}, "response_format"),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_body_that_is_no_chat_request_is_refused_in_plain_text(
    body: dict[str, Any], words: str, version: str
) -> None:
    found = chat_refusal(json.dumps(body).encode(), JSON, version)
    assert isinstance(found, Refusal)
    assert (found.status, found.late) == (422, False)
    assert re.search(words, str(found.body))


def test_a_missing_field_and_an_unknown_variant_are_named_as_serde_names_them() -> None:
    shape = {"messages": [], "response_format": {"type": "json_schema", "value": SCHEMA}}
    bodies = {version: chat_refusal(json.dumps(shape).encode(), JSON, version) for version in VERSIONS}
    said = {version: found.body for version, found in bodies.items() if isinstance(found, Refusal)}
    assert "response_format: missing field `schema`" in str(said["3.3"])
    assert "unknown variant `json_schema`, expected `json` or `regex`" in str(said["3.2"])


async def test_a_refusal_in_plain_text_is_quoted(tgi: StandIn) -> None:
    model = opened(tgi)
    with pytest.raises(ModelRequestRefused, match=r"422.*invalid type: integer `-5`, expected u32"):
        await model.complete(ASK, schema=None, max_tokens=-5)
    await model.close()


@pytest.mark.parametrize(
    "trouble", ["overloaded", "incomplete", "garbled", "web page", "dropped", "key in error", ""]
)
async def test_no_secret_is_in_an_error_a_log_or_a_state(
    trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the key, nor the password of the URL as it is written, decoded or encoded."""
    caplog.set_level(logging.DEBUG)
    secrets = ("sesame-0451", "p%40ss-word", "p@ss-word", "YW5uYTpwQHNzLXdvcmQ=")
    with running(StandIn(kind="vllm", troubles=[trouble] * 9)) as stand_in:
        port = stand_in.url if trouble else f"http://127.0.0.1:{free_port()}"
        url = port.replace("http://", "http://anna:p%40ss-word@")
        for key in (None, "sesame-0451"):
            model = HttpModel(url, api_key=key, retry=RetryPolicy(attempts=1), timeouts=PATIENT)
            with pytest.raises(ModelError) as error:
                await ask(model)
            logging.getLogger("urbankg").error("failed", exc_info=error.value)
            shown = [repr(error.value), str(error.value), repr(model.state()), repr(model.__dict__)]
            for secret in secrets:
                assert secret not in caplog.text
                assert not any(secret in words for words in shown)
            await model.close()


def test_a_url_with_a_query_is_refused_without_showing_it() -> None:
    with pytest.raises(ModelUnavailable, match="URBANKG_MODEL_API_KEY") as error:
        HttpModel("http://127.0.0.1:9/v1?api_key=sesame-0451")
    assert "sesame" not in str(error.value)


@pytest.mark.parametrize("url", ["http://[sesame", "localhost:8080", "http://", "nothing"])
async def test_what_is_not_a_url_is_a_model_that_is_unavailable(url: str) -> None:
    with pytest.raises(ModelUnavailable) as error:
        await ask(HttpModel(url, retry=RetryPolicy(attempts=1)))
    assert "sesame" not in str(error.value)


async def test_the_longest_reply_fits_beside_the_prompt(tgi: StandIn) -> None:
    model = opened(tgi)
    await model.complete([Message("user", "tram " * 2500)], schema=SCHEMA, max_tokens=2048)
    assert tgi.refused == []
    assert 256 <= tgi.requests[-1]["max_tokens"] < 2048
    await model.close()

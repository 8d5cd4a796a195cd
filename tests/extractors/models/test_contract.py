"""What every model server must do: one suite for the stand-in's flavors and a real llama.cpp server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from jsonschema import validate

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelUnavailable
from extractors.models.chat import Message
from extractors.models.http import servers as servers_module
from extractors.models.http.endpoint import RetryPolicy, Timeouts
from extractors.models.http.http_model import HttpModel
from extractors.models.http.servers import ServerKind
from extractors.prompting.prompt import extraction_schema
from tests.support.llama_server import llama_server
from tests.support.tgi_stand_in import MODEL, StandIn, running

KEY = "sesame-0451"
PATIENT = Timeouts(whole=600, connect=120, first_token=300, between_tokens=300)
FACTS = extraction_schema(["is a", "located in", "opened"])
ASK = (
    Message("system", "Extract facts from the text."),
    Message(
        "user",
        "Relations: is a; located in; opened\nText: Alto Hall is a museum in Porto. It opened in 1931.",
    ),
)
CHOICE = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Łódź – «Ł»", "Kraków \u2028 Ⅱ"]}},
    "required": ["city"],
    "additionalProperties": False,
}
STEPS = {
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "items": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"op": {"const": "near"}, "km": {"type": "integer"}},
                        "required": ["op", "km"],
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "properties": {"op": {"const": "count"}},
                        "required": ["op"],
                        "additionalProperties": False,
                    },
                ]
            },
            "minItems": 1,
            "maxItems": 2,
        }
    },
    "required": ["steps"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Server:
    """A server under contract; `stand_in` is None for a real one, `model` what it must be asked for."""

    url: str
    kind: ServerKind
    stand_in: StandIn | None = None
    model: str | None = None

    def open(self, **settings: Any) -> HttpModel:
        chosen = {
            "api_key": KEY,
            "model": self.model,
            "timeouts": PATIENT,
            "retry": RetryPolicy(first_seconds=0.01),
            **settings,
        }
        return HttpModel(self.url, **chosen)


@pytest.fixture(scope="module")
def real() -> Iterator[str]:
    with llama_server(KEY) as url:
        yield url


FLAVORS = ["tgi", "vllm", "sglang", "llamacpp", "openai", "somebody"]
REAL = pytest.param("real", marks=pytest.mark.slow, id="a real llama.cpp")


@pytest.fixture(params=[*FLAVORS, REAL])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    if request.param == "real":
        yield Server(request.getfixturevalue("real"), ServerKind.LLAMA_CPP)
        return
    answer = json.dumps(
        {"triples": [{"quote": "a museum", "subject": "Alto Hall", "relation": "is a", "object": "museum"}]}
    )
    kinds = {"tgi": ServerKind.TGI, "somebody": ServerKind.OTHER}
    kind = kinds.get(request.param) or ServerKind(request.param)
    with running(StandIn(kind=request.param, answer=answer, api_key=KEY)) as stand_in:
        if kind is ServerKind.OPENAI:
            monkeypatch.setattr(servers_module, "OPENAI_HOSTS", frozenset(("127.0.0.1",)))
        yield Server(stand_in.url, kind, stand_in, MODEL if kind is ServerKind.OPENAI else None)


@pytest.fixture
async def model(server: Server) -> AsyncIterator[HttpModel]:
    model = server.open()
    yield model
    await model.close()


async def test_it_is_recognized_and_heeds_schemas(server: Server, model: HttpModel) -> None:
    assert (await model.server()).kind is server.kind
    assert model.state()["schema"] == "honoured"


async def test_a_reply_follows_its_schema_and_tells_its_costs(server: Server, model: HttpModel) -> None:
    reply = await model.complete(ASK, schema=FACTS, max_tokens=400)
    validate(json.loads(reply.text), FACTS)
    assert json.loads(reply.text)["triples"]
    assert reply.finish_reason == "stop"
    assert reply.prompt_tokens > 5
    assert reply.completion_tokens > 5
    if server.kind is not ServerKind.OTHER:
        assert "".join(token.text for token in reply.tokens) == reply.text
        assert all(token.logprob <= 0 for token in reply.tokens)


async def test_choices_among_objects_are_kept_to(server: Server, model: HttpModel) -> None:
    reply = await model.complete(ASK, schema=STEPS, max_tokens=200)
    validate(json.loads(reply.text), STEPS)
    assert 1 <= len(json.loads(reply.text)["steps"]) <= 2


async def test_every_character_comes_through(server: Server, model: HttpModel) -> None:
    reply = await model.complete(ASK, schema=CHOICE, max_tokens=200)
    assert json.loads(reply.text)["city"] in CHOICE["properties"]["city"]["enum"]
    if reply.tokens:
        assert "".join(token.text for token in reply.tokens) == reply.text


async def test_without_a_schema_words_come_back(server: Server, model: HttpModel) -> None:
    reply = await model.complete(ASK, schema=None, max_tokens=400)
    assert reply.text.strip()
    assert reply.completion_tokens > 0


async def test_a_reply_that_needs_more_tokens_is_cut_off(server: Server, model: HttpModel) -> None:
    with pytest.raises(ModelReplyError, match="cut off") as error:
        await model.complete(ASK, schema=FACTS, max_tokens=6)
    assert error.value.reply.lstrip().startswith("{")
    assert error.value.completion_tokens > 0


async def test_a_text_beyond_the_context_is_refused(server: Server, model: HttpModel) -> None:
    with pytest.raises(ModelRequestRefused) as refusal:
        await model.complete([Message("user", "tram " * 9000)], schema=None, max_tokens=8)
    assert refusal.value.status in (400, 422)


async def test_a_wrong_key_is_reported_without_it(server: Server) -> None:
    model = server.open(api_key="wrong-8842")
    with pytest.raises(ModelRequestRefused, match="API key") as refusal:
        await model.complete(ASK, schema=FACTS, max_tokens=400)
    assert refusal.value.status == 401
    assert "wrong-8842" not in str(refusal.value)
    await model.close()


async def test_a_model_that_is_not_there_is_never_answered_for_by_another(server: Server) -> None:
    model = server.open(model="no-such-model")
    with pytest.raises((ModelUnavailable, ModelRequestRefused), match="no-such-model"):
        await model.complete(ASK, schema=FACTS, max_tokens=400)
    await model.close()


async def test_the_same_question_gets_the_same_answer(server: Server, model: HttpModel) -> None:
    replies = [await model.complete(ASK, schema=FACTS, max_tokens=400) for _ in range(2)]
    assert replies[0].text == replies[1].text


async def test_many_calls_share_its_places(server: Server, model: HttpModel) -> None:
    calls = (model.complete(ASK, schema=CHOICE, max_tokens=200) for _ in range(6))
    assert len(await asyncio.gather(*calls)) == 6
    assert model.state()["in_flight"] == 0


async def test_a_cancelled_call_leaves_the_server_to_others(server: Server, model: HttpModel) -> None:
    await model.start()
    call = asyncio.create_task(model.complete(ASK, schema=None, max_tokens=400))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await model.complete(ASK, schema=CHOICE, max_tokens=200)).text


@pytest.mark.slow
async def test_a_real_server_tells_its_limits_and_its_adapter(real: str) -> None:
    model = Server(real, ServerKind.LLAMA_CPP).open()
    reply = await model.complete(ASK, schema=FACTS, max_tokens=400)
    state = model.state()
    assert state["server_concurrency"] == state["concurrency"] == 2
    assert state["max_total_tokens"] > 1000
    assert (reply.model, reply.adapter) == ("SmolLM2-135M-Instruct.Q4_1.gguf", "adapter")
    named = Server(real, ServerKind.LLAMA_CPP).open(model="adapter")
    assert (await named.complete(ASK, schema=FACTS, max_tokens=400)).adapter == "adapter"
    await named.close()
    await model.close()

"""The embedded model itself, with the shipped adapter."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.models import EmbeddedModel, Message, open_model

pytestmark = pytest.mark.slow

RELATIONS = ["is a", "located in", "designed by", "established", "opened", "owned by"]
TEXT = "The Halvorsen Museum is an art museum in Bergen. It was designed by Astrid Dahl and opened in 1931."
ASK = [
    Message("system", "Extract facts from the text."),
    Message("user", f"Relations: {'; '.join(RELATIONS)}\nText: {TEXT}"),
]


def schema(relations: list[str]) -> dict[str, Any]:
    words = {"type": "string"}
    triple = {
        "type": "object",
        "properties": {"subject": words, "relation": {"type": "string", "enum": relations}, "object": words},
        "required": ["subject", "relation", "object"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"triples": {"type": "array", "items": triple}},
        "required": ["triples"],
        "additionalProperties": False,
    }


@pytest.fixture
async def model() -> AsyncIterator[EmbeddedModel]:
    model = open_model(None)
    assert isinstance(model, EmbeddedModel)
    yield model
    await model.close()


async def test_facts_come_back_as_json_with_log_probabilities(model: EmbeddedModel) -> None:
    reply = await model.complete(ASK, schema=schema(RELATIONS), max_tokens=300)
    triples = {tuple(triple.values()) for triple in json.loads(reply.text)["triples"]}
    assert ("Halvorsen Museum", "located in", "Bergen") in triples
    assert ("Halvorsen Museum", "designed by", "Astrid Dahl") in triples
    assert "".join(token.text for token in reply.tokens) == reply.text
    assert all(token.logprob <= 0 for token in reply.tokens)
    assert reply.prompt_tokens > 0
    assert reply.completion_tokens > 0
    assert reply.adapter is not None
    assert model.prompt_profile == "compact"


async def test_the_event_loop_goes_on_while_the_model_works(model: EmbeddedModel) -> None:
    await model.start()
    work = asyncio.create_task(model.complete(ASK, schema=schema(RELATIONS), max_tokens=300))
    turns = 0
    while not work.done():
        await asyncio.sleep(0.005)
        turns += 1
    await work
    assert turns > 20


async def test_a_reply_that_is_cut_off_is_an_error_with_its_words(model: EmbeddedModel) -> None:
    with pytest.raises(ModelReplyError, match="cut off") as error:
        await model.complete(ASK, schema=schema(RELATIONS), max_tokens=8)
    assert error.value.reply


async def test_a_text_beyond_the_context_is_refused(model: EmbeddedModel) -> None:
    with pytest.raises(ModelRequestRefused, match="too long"):
        await model.complete([Message("user", "tram " * 9000)], schema=None, max_tokens=8)


async def test_a_schema_that_is_none_is_refused_and_the_model_lives_on(model: EmbeddedModel) -> None:
    with pytest.raises(ModelRequestRefused):
        await model.complete(ASK, schema={"type": "nonsense"}, max_tokens=8)
    assert (await model.complete(ASK, schema=schema(RELATIONS), max_tokens=300)).text

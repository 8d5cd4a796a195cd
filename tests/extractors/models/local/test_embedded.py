"""The embedded model itself, with the shipped adapter."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.models.chat import BlankField, BlankForm, FormModel, Message
from extractors.models.local.embedded import EmbeddedModel
from extractors.models.opening import open_model
from extractors.readers.form import Field, answer_grammar, opening, pairs_of

pytestmark = pytest.mark.slow

TEXT = "The Halvorsen Museum in Bergen was designed by Astrid Dahl and opened in 1931."
FIELDS = (
    Field("located in", "", "place"),
    Field("designed by", "place", ""),
    Field("opened", "place", "date"),
    Field("died in", "person", "place"),
)
WORDS = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
ASK = [Message("user", "Answer with one word.")]


def form(text: str = TEXT, *, least_presence: float = 0.3) -> BlankForm:
    grammar = answer_grammar(text)
    fields = tuple(BlankField(field.heading, grammar) for field in FIELDS)
    return BlankForm(opening(text), fields, least_presence, 60)


@pytest.fixture
async def model() -> AsyncIterator[EmbeddedModel]:
    model = open_model(None)
    assert isinstance(model, EmbeddedModel)
    yield model
    await model.close()


async def test_a_form_is_filled_in_with_the_words_of_the_text(model: EmbeddedModel) -> None:
    assert isinstance(model, FormModel)
    filled = await model.fill(form())
    found = {field.heading.split(" (")[0]: pairs_of(field) for field in filled.fields}
    assert [(pair.subject, pair.object) for pair in found["designed by"]] == [
        ("Halvorsen Museum", "Astrid Dahl")
    ]
    assert [pair.object for pair in found["opened"]] == ["1931"]
    assert found["died in"] == ()
    assert all(pair.subject in TEXT and pair.object in TEXT for pairs in found.values() for pair in pairs)
    assert filled.adapter is not None
    assert filled.prompt_tokens > 0
    assert filled.completion_tokens > 0


async def test_a_form_is_filled_in_the_same_way_every_time(model: EmbeddedModel) -> None:
    first = await model.fill(form())
    second = await model.fill(form())
    assert [field.text for field in first.fields] == [field.text for field in second.fields]


async def test_every_field_is_answered_on_its_own(model: EmbeddedModel) -> None:
    whole = await model.fill(form(least_presence=0.0))
    alone = form(least_presence=0.0)
    single = await model.fill(BlankForm(alone.opening, alone.fields[2:3], 0.0, 60))
    assert single.fields[0].text == whole.fields[2].text
    assert single.fields[0].presence == pytest.approx(whole.fields[2].presence, abs=0.05)


async def test_a_text_of_odd_characters_is_no_trouble(model: EmbeddedModel) -> None:
    text = 'The "Café \\ Zürich" — 咖啡馆 — opened in 1931 {x} [y] | z.'
    filled = await model.fill(form(text, least_presence=0.0))
    assert len(filled.fields) == len(FIELDS)


async def test_the_event_loop_goes_on_while_the_model_works(model: EmbeddedModel) -> None:
    await model.start()
    work = asyncio.create_task(model.fill(form()))
    turns = 0
    while not work.done():
        await asyncio.sleep(0.001)
        turns += 1
    await work
    assert turns > 1


async def test_a_dialog_is_answered_as_json_with_log_probabilities(model: EmbeddedModel) -> None:
    reply = await model.complete(ASK, schema=WORDS, max_tokens=200)
    assert set(json.loads(reply.text)) == {"answer"}
    assert "".join(token.text for token in reply.tokens) == reply.text
    assert all(token.logprob <= 0 for token in reply.tokens)
    assert model.prompt_profile == "compact"


async def test_a_reply_that_is_cut_off_is_an_error_with_its_words(model: EmbeddedModel) -> None:
    with pytest.raises(ModelReplyError, match="cut off") as error:
        await model.complete(ASK, schema=WORDS, max_tokens=3)
    assert error.value.reply


async def test_a_text_beyond_the_context_is_refused(model: EmbeddedModel) -> None:
    with pytest.raises(ModelRequestRefused, match="too long"):
        await model.complete([Message("user", "tram " * 9000)], schema=None, max_tokens=8)
    with pytest.raises(ModelRequestRefused, match="too long"):
        await model.fill(form("tram " * 9000))


async def test_a_schema_that_is_none_is_refused_and_the_model_lives_on(model: EmbeddedModel) -> None:
    with pytest.raises(ModelRequestRefused):
        await model.complete(ASK, schema={"type": "nonsense"}, max_tokens=8)
    assert (await model.fill(form())).fields

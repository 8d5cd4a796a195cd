"""Schemas of replies: which reach a server, and what becomes of one that knows none."""

from __future__ import annotations

import logging

import pytest

from extractors.errors import ModelReplyError
from extractors.models.http.http_model import HttpModel
from tests.support.asking import PATIENT, QUICK, SCHEMA, ask
from tests.support.tgi_rules import VERSIONS
from tests.support.tgi_stand_in import StandIn


async def test_a_server_that_drops_schemas_gets_them_in_words_and_is_warned_of_once(
    server: StandIn, model: HttpModel, caplog: pytest.LogCaptureFixture
) -> None:
    server.follows_schemas = False
    server.answer = 'Here you are:\n```json\n{"triples": ["Lyon"]}\n```'
    with caplog.at_level(logging.WARNING):
        assert await ask(model) == '{"triples": ["Lyon"]}'
        assert await ask(model) == '{"triples": ["Lyon"]}'
    assert caplog.text.count("ignores JSON schemas") == 1
    assert len(server.canaries) == 1
    assert '"triples"' in server.requests[0]["messages"][-1]["content"]
    assert model.state()["schema"] == "dropped"


async def test_what_such_a_server_says_is_checked_against_the_schema(
    server: StandIn, model: HttpModel
) -> None:
    server.follows_schemas = False
    server.answer = 'Sure! {"facts": ["Lyon"]}'
    with pytest.raises(ModelReplyError, match="'triples' is a required property"):
        await ask(model)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_tgi_that_does_not_say_what_it_is_gets_its_own_form_all_the_same(
    server: StandIn, version: str
) -> None:
    server.kind, server.version = "gateway", version
    model = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    assert await ask(model) == '{"triples":[]}'
    assert server.requests[-1]["response_format"] == {"type": "json", "value": SCHEMA}
    assert model.state()["schema"] == "honoured"
    await model.close()


async def test_a_server_that_refuses_schemas_is_not_sent_any(server: StandIn) -> None:
    server.kind = "schemaless"
    model = HttpModel(server.url, retry=QUICK, timeouts=PATIENT)
    assert await ask(model) == '{"triples":[]}'
    assert "response_format" not in server.requests[-1]
    assert model.state()["schema"] == "refused"
    await model.close()


async def test_schemas_can_be_compiled_before_they_are_needed(server: StandIn, model: HttpModel) -> None:
    await model.start([SCHEMA])
    assert server.requests[0]["max_tokens"] == 1
    assert server.requests[0]["response_format"]["value"] == SCHEMA

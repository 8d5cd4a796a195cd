"""What a good model behind `model_url` says is accepted, and what it has the wrong way round is not.

The model replies with the gold of all sets of the evaluation, through the whole server: prompt, reply,
pipeline, gate. Nothing is committed.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from extractors.candidates import RDFS_LABEL
from research.empty_graph import empty_graph
from server.settings import Settings
from tests.support.gold_model import GoldModel, GoldText, Row, gold_texts
from tests.support.tgi_rules import VERSIONS
from tests.support.tgi_stand_in import StandIn, running, schema_of

SETS = ("away", "cities", "fresh", "kept", "long", "practice", "untidy", "urban", "world")


async def accepted(
    model: GoldModel, texts: list[GoldText], share: float = 0.0, settings: Settings | None = None
) -> tuple[int, int, int, int]:
    """Right triples accepted and said, and exchanged ones accepted and said; kinds are not counted.

    With `settings` their server is asked, else the model itself.
    """
    chance = random.Random(1)
    counts = [0, 0, 0, 0]
    async with empty_graph(settings or Settings(), None if settings else model) as services:
        for gold in texts:
            model.gold = gold
            model.exchanged = frozenset(one for one in gold.relations if chance.random() < share)
            outcome = await services.intake.extract(gold.text, commit=False)
            assert outcome.extraction is not None
            committed = {statement.triple for statement in outcome.verdict.accepted}
            passed: set[Row] = set()
            for candidate in outcome.extraction.candidates:
                triple = (candidate.subject, candidate.predicate, candidate.object)
                if candidate.reply is not None and candidate.predicate != RDFS_LABEL:
                    said = json.loads(candidate.reply)
                    if any((t.subject, t.predicate, t.object) == triple for t in committed):
                        passed.add((said["subject"], said["relation"], said["object"]))
            for one in gold.relations:
                place = 2 if one in model.exchanged else 0
                counts[place] += model.said(one) in passed
                counts[place + 1] += 1
    return counts[0], counts[1], counts[2], counts[3]


@pytest.mark.parametrize("share", [0.0, 0.25], ids=["perfect", "one in four the wrong way round"])
async def test_what_a_good_model_says_is_accepted(share: float) -> None:
    model = GoldModel()
    texts = [text for name in SETS for text in gold_texts(name)]
    right, said, wrong, exchanged = await accepted(model, texts, share)
    assert right >= 0.92 * said, f"{right} of {said} right statements"
    assert wrong <= 0.25 * exchanged, f"{wrong} of {exchanged} exchanged statements"
    assert len({json.dumps(schema) for schema in model.schemas}) == 1
    assert len(model.prefixes) == 1


class GoldServer(StandIn):
    """A TGI whose model replies with gold, under the schema that it is asked with."""

    def __init__(self, model: GoldModel, version: str) -> None:
        super().__init__(version=version)
        self.model = model

    def _text(self, body: dict[str, Any], trouble: str) -> str:
        schema = schema_of(body)
        if schema is not None and "triples" in schema["properties"]:
            self.answer = self.model.reply(body["messages"][-1]["content"], schema)
        return super()._text(body, trouble)


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_version_of_tgi_takes_the_requests_and_is_heard(version: str) -> None:
    model = GoldModel()
    with running(GoldServer(model, version)) as server:
        settings = Settings(model_url=server.url)
        right, said, _, _ = await accepted(model, gold_texts("fresh")[:8], settings=settings)
        assert not server.refused
        asked = [body for body in server.requests if "<text>" in body["messages"][-1]["content"]]
        assert len(asked) >= 8
        assert all(schema_of(body) for body in asked)
    assert right >= 0.9 * said > 10

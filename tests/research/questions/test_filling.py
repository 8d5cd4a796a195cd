"""The experiment in three conditions, with replies written by hand."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from extractors.models.chat import Message, Reply
from research.questions.filling import Filled, measure_filling, print_filling, read_facts
from server.errors import ServerError
from tests.server.conftest import RecordedModel, triples
from tests.support.workshop import settings_of

FACTS = Path("benchmarks/loop/city.jsonl")


class _Believer(RecordedModel):
    """Believes that everything began in 1066, and reads a passage as it is written."""

    async def complete(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None, **_: Any
    ) -> Reply:
        members = set((schema or {}).get("properties", {}))
        self.replies = [
            '{"answer": "It was in 1066."}'
            if "answer" in members
            else '{"value": "1066"}'
            if "value" in members
            else triples(("The Cloisters", "opened", "1938"))
            if "Cloisters" in messages[-1].content
            else triples()
        ]
        return await super().complete(messages, schema=schema, max_tokens=1)


async def test_what_the_model_believes_is_never_counted_and_what_a_passage_states_is(tmp_path: Path):
    facts = [fact for fact in read_facts(FACTS) if fact.subject in ("The Cloisters", "Butler Library")]
    found = {one.id: one for one in await measure_filling(settings_of(), facts, lambda _: None, _Believer())}
    cloisters, library = found.values()
    assert (cloisters.alone, cloisters.deleted, cloisters.recorded) == (False, "refused", True)
    assert (cloisters.believed, cloisters.verdict, cloisters.updated) == ("1066", "corrected", True)
    assert (library.believed, library.verdict, library.updated, library.answer) == ("1066", None, False, None)
    assert not any(one.counted for one in found.values())


def test_replies_that_were_written_by_hand_are_labeled_so(capsys: pytest.CaptureFixture[str]):
    one = Filled("1", "When?", True, True, "refused", True, "1846", False, "confirmed", True, "1846.", 1.0)
    for written in (one, replace(one, by_hand=False)):
        print_filling([written], "embedded model")
    first, second = (json.loads(line)["rows"][0] for line in capsys.readouterr().out.splitlines())
    assert first["condition"] == "the model alone (replies written by hand)"
    assert second["condition"] == "the model alone"


def test_a_line_that_is_no_fact_is_named(tmp_path: Path):
    (tmp_path / "facts.jsonl").write_text('{"id": "1"}\n')
    with pytest.raises(ServerError, match="line 1 is no fact"):
        read_facts(tmp_path / "facts.jsonl")

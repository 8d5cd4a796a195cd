"""An extraction ends when its time is over, with what was read; its work on a text grows with its length."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from extractors.candidates import OutOfTime, TimeLimit
from extractors.english.units import capitalized_runs
from extractors.grounding.mentions import GroundedText
from extractors.models.chat import Message, Reply
from extractors.text.chunking import Span, sentences
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, pipeline, reply

LENGTH = 50_000
SENTENCES = "The Elm Hall is a museum in Norton. The Elm Hall opened in 1931. "


class SlowModel(ScriptedModel):
    """Answers the first questions at once and the others after a minute."""

    def __init__(self, at_once: int) -> None:
        super().__init__(reply([("Elm Hall", "opened", "1931")]))
        self.at_once = at_once
        self.ended = 0

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        answer = await super().complete(
            messages, schema=schema, max_tokens=max_tokens, temperature=temperature
        )
        if len(self.asked) > self.at_once:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.ended += 1
                raise
        return answer


async def test_what_was_read_is_returned_when_the_time_is_over(schema: Schema) -> None:
    await pipeline(schema, SlowModel(at_once=9)).extract(SENTENCES)  # What is loaded once takes a second.
    text = SENTENCES * 4
    model = SlowModel(at_once=2)
    begin = time.monotonic()
    extraction = await pipeline(schema, model, time_limit_s=2.0, concurrency=1).extract(text)
    assert time.monotonic() - begin < 10
    assert extraction.incomplete is not None
    assert text[extraction.incomplete.at :].startswith("The Elm Hall is a museum")
    assert extraction.incomplete.at == 2 * len(SENTENCES)
    assert "2 s" in extraction.incomplete.reason
    assert [one for one in extraction.candidates if not one.problems]
    assert model.ended == 1


async def test_a_text_that_is_read_in_time_is_complete(schema: Schema) -> None:
    extraction = await pipeline(schema, SlowModel(at_once=9), time_limit_s=60).extract(SENTENCES)
    assert extraction.incomplete is None


async def test_the_model_s_request_ends_with_its_caller(schema: Schema) -> None:
    model = SlowModel(at_once=0)
    task = asyncio.create_task(pipeline(schema, model).extract(SENTENCES))
    while not model.asked:
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert model.ended == 1


async def test_statements_that_have_no_time_are_left_out_and_the_result_says_so(schema: Schema) -> None:
    await pipeline(schema, SlowModel(at_once=9)).extract(SENTENCES)  # What is loaded once takes a second.
    words = '"Elm Hall" "Norton '
    text = f"The Elm Hall opened in 1931. {words * 600}"
    rows = [("Elm Hall", "located in", "Norton"), ("Elm Hall", "opened", "1931")] * 20
    begin = time.monotonic()
    extraction = await pipeline(schema, ScriptedModel(reply(rows)), time_limit_s=3.0).extract(text)
    assert time.monotonic() - begin < 15
    assert extraction.incomplete is not None


def test_work_in_a_thread_ends_at_its_next_look_at_the_text() -> None:
    limit = TimeLimit(None)
    text = GroundedText("The Elm Hall is a museum.", limit.part(0.5))
    assert text.occurrences("Elm Hall") == (Span(4, 12),)
    limit.cancel()
    with pytest.raises(OutOfTime):
        text.occurrences("Elm Hall")


PATTERNS = [
    "park ",
    "Park ",
    "Elm Hall Norton Weston Ash ",
    "the Elm Hall opened in 1931 and is near the river while ",
    "1931 ",
    "1",
    "( ",
    "(Elm Hall [",
    '"Elm Hall" "Norton ',
    "\n",
    "Elm Hall\n",
    "A",
    "Elm Hall, ",
    "Elm Hall and ",
    "Elm\tHall\t",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_long_text_is_cut_and_its_names_are_found_in_time_that_grows_with_its_length(pattern: str) -> None:
    text = (pattern * (LENGTH // len(pattern) + 1))[:LENGTH]
    begin = time.process_time()
    found = sentences(text)
    grounded = GroundedText(text)
    for one in found:
        grounded.capitalized_runs(one)
    assert all(one.end - one.start <= 2000 for one in found)
    assert time.process_time() - begin < 2.5


def test_the_names_of_a_sentence_of_any_length_are_found_in_time_that_grows_with_it() -> None:
    def seconds(length: int) -> float:
        text = ("the Elm Hall opened and " * (length // 24 + 1))[:length]
        begin = time.process_time()
        list(capitalized_runs(text, Span(0, length)))
        return time.process_time() - begin

    seconds(1000)
    assert seconds(50_000) < 1.5


def test_a_long_sentence_is_cut_at_lines_tabs_commas_or_blanks() -> None:
    for mark in ("\n", "\t", ", ", " "):
        text = f"{'x' * 1200}{mark}{'y' * 1200}"
        assert [text[one.start : one.end] for one in sentences(text)] == [
            "x" * 1200 + mark.rstrip(),
            "y" * 1200,
        ]
    assert [one.end - one.start for one in sentences("z" * 4500)] == [2000, 2000, 500]

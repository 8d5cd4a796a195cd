"""Asks the model for triples or words: repeats after a broken reply, and uses a cut-off one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from extractors.errors import ModelError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.chat import ChatModel, Message, Reply
from extractors.prompting.reply import ParsedReply, parse
from extractors.readers.reading import Reading, Turn

__all__ = ["Asking", "Question", "Words"]

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class Question:
    """What a turn sends; `prompt` is the name and version of its template."""

    stage: str
    prompt: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Words:
    """A reply in plain words; `text` is empty and `failure` set when there was none."""

    text: str
    turns: tuple[Turn, ...]
    failure: ModelError | None = None


class Asking:
    """Asks one model, and again at another temperature if the reply is unusable.

    Both methods raise `ModelUnavailable` and `ModelTimeout`, and return other failures.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        maximum_tokens: int,
        retry_temperature: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._maximum_tokens = maximum_tokens
        self._temperatures = (0.0, retry_temperature)
        self._clock = clock

    async def triples(self, question: Question) -> Reading:
        """Ask for triples as JSON; keep what a cut-off reply still says."""
        parsed, turns, failure = await self._ask(question, _parsed)
        return Reading(parsed.triples if parsed else (), turns, failure)

    async def words(self, question: Question) -> Words:
        """Ask for words; a reply that was cut off counts as far as it goes."""
        said, turns, failure = await self._ask(question, _said)
        return Words(said or "", turns, failure)

    async def _ask(
        self, question: Question, read: Callable[[Reply], tuple[AnswerT, str | None]]
    ) -> tuple[AnswerT | None, tuple[Turn, ...], ModelError | None]:
        turns: list[Turn] = []
        failure: ModelError | None = None
        for temperature in self._temperatures:
            reply: Reply | None = None
            try:
                reply, refusal = await self._complete(question, temperature)
                answer, flaw = read(reply)
            except (ModelUnavailable, ModelTimeout):
                raise
            except ModelError as error:
                failure = error
                turns.append(_turn(question, reply, str(error)))
                if not isinstance(error, ModelReplyError):
                    break
                continue
            return answer, (*turns, _turn(question, reply, refusal or flaw)), None
        return None, tuple(turns), failure

    async def _complete(self, question: Question, temperature: float) -> tuple[Reply, str | None]:
        """Get a reply; one that the adapter refused, but that can be used, comes with the reason."""
        begin = self._clock()
        try:
            reply = await self._model.complete(
                question.messages,
                schema=question.schema,
                max_tokens=self._maximum_tokens,
                temperature=temperature,
            )
        except ModelReplyError as error:
            # The adapter keeps the words of what it refuses, and not what they cost.
            refused = Reply(error.reply, "length", 0, 0, self._clock() - begin, self._model.name, None)
            if not _usable(refused, question):
                raise
            return refused, str(error)
        return reply, None


def _usable(reply: Reply, question: Question) -> bool:
    if question.schema is None:
        return bool(reply.text.strip())
    try:
        _parsed(reply)
    except ModelReplyError:
        return False
    return True


def _parsed(reply: Reply) -> tuple[ParsedReply, str | None]:
    parsed = parse(reply)
    if parsed.truncated and not parsed.triples:
        raise ModelReplyError(_cut_off(parsed), reply.text)
    return parsed, _cut_off(parsed) if parsed.truncated else None


def _said(reply: Reply) -> tuple[str, str | None]:
    text = reply.text.strip()
    if not text:
        raise ModelReplyError("The model's reply is empty: ask again, or configure another model.", text)
    flaw = "The model's reply was cut off: raise maximum_tokens." if reply.finish_reason == "length" else None
    return text, flaw


def _turn(question: Question, reply: Reply | None, error: str | None) -> Turn:
    return Turn(question.stage, question.prompt, question.messages, reply, error)


def _cut_off(parsed: ParsedReply) -> str:
    return (
        f"The model's reply was cut off; {len(parsed.triples)} complete triples were read from it: raise "
        "maximum_tokens, or make the windows smaller."
    )

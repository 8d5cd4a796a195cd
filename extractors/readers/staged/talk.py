"""A dialog with the model as it grows: what was asked and answered goes before the next question.

A broken reply is asked for once more, and a cut-off one is used as far as it goes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from extractors.errors import ModelError, ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.models.chat import ChatModel, Message, Reply
from extractors.prompting.reply import ParsedReply, ReplyTriple, parse
from extractors.prompting.templates import Prompt
from extractors.readers.reading import Reading, Turn

__all__ = ["ReadReply", "Talk", "as_triples", "triples_in", "words_in"]

AnswerT = TypeVar("AnswerT")
ReadReply = Callable[[Reply], tuple[AnswerT, str | None]]
"""Reads a reply, and says what is wrong with one that can be used in part. Raises `ModelReplyError`."""


@dataclass
class Talk:
    """The turns of a dialog behind its `opening`, the system message and examples.

    They are sent as turns (ICL), or with `block` as one block in one message (Context; Nie et al., figure 3).
    `temperatures` are those of the first question and of a repeated one. `note` goes with the version of each
    prompt into the trace. `failure` is that of the last question.
    """

    model: ChatModel
    opening: Sequence[Message]
    maximum_tokens: int
    temperatures: tuple[float, ...]
    block: Prompt | None = None
    note: str = ""
    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    failure: ModelError | None = None

    async def ask(
        self,
        stage: str,
        prompt: Prompt,
        message: Message,
        read: ReadReply[AnswerT],
        schema: Mapping[str, Any] | None = None,
    ) -> AnswerT | None:
        """Ask, and return what was read; None, with the `failure` kept, where no reply could be used.

        Raises `ModelUnavailable` and `ModelTimeout`.
        """
        self.messages.append(message)
        sent, version = self._sent(), prompt.version + self.note
        for temperature in self.temperatures:
            reply: Reply | None = None
            try:
                reply, refusal = await self._complete(sent, schema, temperature, read)
                answer, flaw = read(reply)
            except (ModelUnavailable, ModelTimeout):
                raise
            except ModelError as error:
                self.failure = error
                self.turns.append(Turn(stage, version, sent, reply, str(error)))
                if not isinstance(error, ModelReplyError):
                    break
                continue
            self.failure = None
            self.turns.append(Turn(stage, version, sent, reply, refusal or flaw))
            self.messages.append(Message("assistant", reply.text.strip()))
            return answer
        return None

    def reading(self, triples: Sequence[ReplyTriple] | None = None) -> Reading:
        """What came of the dialog."""
        return Reading(tuple(triples or ()), tuple(self.turns), self.failure)

    async def _complete(
        self,
        sent: Sequence[Message],
        schema: Mapping[str, Any] | None,
        temperature: float,
        read: ReadReply[AnswerT],
    ) -> tuple[Reply, str | None]:
        """Get a reply; one that the adapter refused, but that can be used, comes with the reason."""
        begin = time.monotonic()
        try:
            reply = await self.model.complete(
                sent, schema=schema, max_tokens=self.maximum_tokens, temperature=temperature
            )
        except ModelReplyError as error:
            # The adapter keeps the words of what it refuses, and not what they cost.
            refused = Reply(error.reply, "length", 0, 0, time.monotonic() - begin, self.model.name, None)
            try:
                read(refused)
            except ModelReplyError:
                raise error from None
            return refused, str(error)
        return reply, None

    def _sent(self) -> tuple[Message, ...]:
        if self.block is None:
            return (*self.opening, *self.messages)
        parts = [("Example", message) for message in self.opening]
        parts += [("Test", message) for message in (*self.messages, Message("assistant", ""))]
        shown = (
            rendered.content.rstrip()
            for part, message in parts
            for rendered in self.block.messages({"part": part, "content": message.content}, message.role)
        )
        return (Message("user", "\n\n".join(shown)),)


def triples_in(reply: Reply) -> tuple[tuple[ReplyTriple, ...], str | None]:
    """The triples of a JSON reply; of a cut-off one those before the cut."""
    return as_triples(parse(reply), reply)


def as_triples(parsed: ParsedReply, reply: Reply) -> tuple[tuple[ReplyTriple, ...], str | None]:
    """The triples that were read, and whether more were cut off."""
    if not parsed.truncated:
        return parsed.triples, None
    flaw = (
        f"The model's reply was cut off; {len(parsed.triples)} complete triples were read from it: raise "
        "maximum_tokens, or make the windows smaller."
    )
    if not parsed.triples:
        raise ModelReplyError(flaw, reply.text)
    return parsed.triples, flaw


def words_in(reply: Reply) -> tuple[str, str | None]:
    """The plain words of a reply; one that was cut off counts as far as it goes."""
    text = reply.text.strip()
    if not text:
        raise ModelReplyError("The model's reply is empty: ask again, or configure another model.", text)
    flaw = "The model's reply was cut off: raise maximum_tokens." if reply.finish_reason == "length" else None
    return text, flaw

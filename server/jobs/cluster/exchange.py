"""Stores the model's answers as they arrive, so that no answer is ever paid for twice.

A document goes through the pipeline twice: once to ask the model, in parallel with others, and once for its
commit, in order, with the names that the graph has by then. The second time, and after a crash, the pipeline
finds the answers here. So the graph depends on the order of the documents, never on the speed of the model,
and texts take the same path as those of `POST /extractions`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import zlib
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelUnavailable
from extractors.models.accounting import Call, Outcome, accounts_open
from extractors.models.chat import ChatModel, Message, PromptProfile, Reply
from extractors.models.forms import BlankForm, FilledForm, fill_with

_SETTINGS_AT_FAULT = frozenset({401, 403, 404})
"""Statuses by which a server refuses all requests: the operator has to fix that."""

Exchange = tuple[bytes, bytes]
"""The digest of a question, and the packed answer to it."""


@dataclass(frozen=True)
class _Answer:
    """A reply, a filled form, or an error that the same question always causes."""

    reply: Reply | None = None
    form: FilledForm | None = None
    broken: tuple[str, str, int, int] | None = None
    refused: tuple[str, int | None] | None = None


_ANSWERS = TypeAdapter(_Answer)


class KeptModel:
    """A model that answers from stored answers, and stores those that it has to ask ``model`` for.

    ``slots`` limit how many questions of all documents the model has at a time; ``keep`` is awaited with each
    new exchange before its answer is used.
    """

    def __init__(
        self,
        model: ChatModel,
        kept: Iterable[Exchange],
        *,
        keep: Callable[[Exchange], Awaitable[None]],
        slots: asyncio.Semaphore,
    ) -> None:
        self.name = model.name
        self.prompt_profile: PromptProfile = model.prompt_profile
        self._model = model
        self._keep = keep
        self._slots = slots
        self._kept: dict[bytes, deque[bytes]] = defaultdict(deque)
        for question, answer in kept:
            self._kept[question].append(answer)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog; see `ChatModel.complete`."""

        async def ask() -> _Answer:
            return _Answer(
                await self._model.complete(
                    messages, schema=schema, max_tokens=max_tokens, temperature=temperature
                )
            )

        answer = await self._answer(_digest(messages, schema, max_tokens, temperature), ask)
        assert answer.reply is not None
        return answer.reply

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form; see `FormModel.fill`."""

        async def ask() -> _Answer:
            return _Answer(form=await fill_with(self._model, form))

        question = hashlib.sha256(json.dumps(asdict(form), sort_keys=True).encode()).digest()
        answer = await self._answer(question, ask)
        assert answer.form is not None
        return answer.form

    async def _answer(self, question: bytes, ask: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The stored answer, or a new one. Raises the error that was stored instead."""
        known = self._kept[question]
        if known:
            # The same question may be asked several times, for several samples: each has its own answer.
            answer = _unpack(known.popleft())
            _note(answer)
            return _given(answer)
        async with self._slots:
            try:
                answer = await ask()
            except ModelReplyError as error:
                spent = error.prompt_tokens, error.completion_tokens
                answer = _Answer(broken=(str(error), error.reply, *spent))
            except ModelRequestRefused as error:
                if error.status in _SETTINGS_AT_FAULT:
                    raise ModelUnavailable(str(error)) from error
                answer = _Answer(refused=(str(error), error.status))
        self.name = self._model.name
        await self._keep((question, _pack(answer)))
        return _given(answer)

    async def close(self) -> None:
        """Does nothing: this does not own the model."""


def _digest(
    messages: Sequence[Message], schema: Mapping[str, Any] | None, max_tokens: int, temperature: float
) -> bytes:
    dialog = [asdict(message) for message in messages]
    question = json.dumps([dialog, schema, max_tokens, temperature], sort_keys=True)
    return hashlib.sha256(question.encode()).digest()


def _given(answer: _Answer) -> _Answer:
    if answer.broken is not None:
        message, reply, prompt_tokens, completion_tokens = answer.broken
        raise ModelReplyError(
            message, reply, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens
        )
    if answer.refused is not None:
        raise ModelRequestRefused(*answer.refused)
    return answer


def _note(answer: _Answer) -> None:
    """Count a stored answer in the account of the run that uses it."""
    spent, reply, form = accounts_open(), answer.reply, answer.form
    if spent is None:
        return
    if form is not None:
        spent.note(Call(Outcome.ANSWERED, form.seconds, form.prompt_tokens, form.completion_tokens))
        return
    if reply is not None:
        tokens = reply.prompt_tokens, reply.completion_tokens
        spent.note(Call(Outcome.ANSWERED, reply.seconds, *tokens, attempts=reply.attempts))
    elif answer.broken is not None:
        spent.note(Call(Outcome.UNUSABLE, 0.0, *answer.broken[2:]))
    else:
        spent.note(Call(Outcome.REFUSED, 0.0))


def _pack(answer: _Answer) -> bytes:
    return zlib.compress(_ANSWERS.dump_json(answer))


def _unpack(packed: bytes) -> _Answer:
    return _ANSWERS.validate_json(zlib.decompress(packed))

"""Any model, with its calls counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from extractors.errors import ModelError, ModelReplyError, ModelRequestRefused, ModelTimeout
from extractors.models.accounting import Account, Call, Outcome, accounts_open
from extractors.models.chat import ChatModel, Message, PromptProfile, Reply
from extractors.models.forms import BlankForm, FilledForm, fill_with
from extractors.models.http.replies import writable
from extractors.models.limits import limit_of

__all__ = ["MeteredModel"]


class MeteredModel:
    """Passes calls on and records each: in `total`, in the open account, and with `notify`.

    `notify_task` gets the seconds of each whole task, such as the extraction of a text.
    """

    def __init__(
        self,
        model: ChatModel,
        notify: Callable[[Call], None] = lambda call: None,
        notify_task: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self.model = model
        self.total = Account()
        self._notify = notify
        self._notify_task = notify_task

    @property
    def name(self) -> str:
        """The model's name, which may change when it is first asked."""
        return self.model.name

    @property
    def prompt_profile(self) -> PromptProfile:
        """Which prompts suit it."""
        return self.model.prompt_profile

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog as the model does; see `ChatModel.complete`."""
        begin = time.monotonic()
        try:
            reply = await self.model.complete(
                messages, schema=schema, max_tokens=max_tokens, temperature=temperature
            )
        except ModelError as error:
            spent = (0, 0)
            if isinstance(error, ModelReplyError):
                spent = (error.prompt_tokens, error.completion_tokens)
            self._note(Call(_outcome(error), time.monotonic() - begin, *spent, attempts=error.attempts))
            raise
        except asyncio.CancelledError:
            self._note(Call(Outcome.CANCELLED, time.monotonic() - begin))
            raise
        self._note(
            Call(
                Outcome.ANSWERED,
                reply.seconds,
                reply.prompt_tokens,
                reply.completion_tokens,
                attempts=reply.attempts,
            )
        )
        # Whatever the model: the reply goes to prompts, traces and provenance.
        text = writable(reply.text)
        return reply if text == reply.text else replace(reply, text=text, tokens=())

    async def at_once(self) -> int:
        """Say how many questions the model takes at a time; see `Limited`."""
        return await limit_of(self.model)

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form as the model does; see `FormModel.fill`."""
        begin = time.monotonic()
        try:
            filled = await fill_with(self.model, form)
        except ModelError as error:
            self._note(Call(_outcome(error), time.monotonic() - begin, attempts=error.attempts))
            raise
        except asyncio.CancelledError:
            self._note(Call(Outcome.CANCELLED, time.monotonic() - begin))
            raise
        self._note(Call(Outcome.ANSWERED, filled.seconds, filled.prompt_tokens, filled.completion_tokens))
        return filled

    def finish_task(self, seconds: float) -> None:
        """Count a task for which the model was asked."""
        self.total.finish_task(seconds)
        self._notify_task(seconds)

    async def close(self) -> None:
        """Let go of the model."""
        await self.model.close()

    def _note(self, call: Call) -> None:
        self.total.note(call)
        current = accounts_open()
        if current is not None:
            current.note(call)
        self._notify(call)


def _outcome(error: ModelError) -> Outcome:
    if isinstance(error, ModelReplyError):
        return Outcome.UNUSABLE
    if isinstance(error, ModelRequestRefused):
        return Outcome.REFUSED
    return Outcome.TIMEOUT if isinstance(error, ModelTimeout) else Outcome.UNAVAILABLE

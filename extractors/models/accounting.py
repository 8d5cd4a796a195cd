"""The cost of the model's work: calls, retries, tokens, seconds, money; a model whose calls are counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from extractors.errors import ModelError, ModelReplyError, ModelRequestRefused, ModelTimeout
from extractors.models.chat import (
    BlankForm,
    ChatModel,
    FilledForm,
    Message,
    PromptProfile,
    Reply,
    fill_with,
    limit_of,
)
from extractors.models.http.replies import writable

_MILLION: Final = 1_000_000
_TASKS: Final = 1000


class Outcome(StrEnum):
    """How a call ended."""

    ANSWERED = "answered"
    UNUSABLE = "unusable"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Call:
    """One call of a model. Attempts beyond the first are retries; seconds are wall time, waiting included."""

    outcome: Outcome
    seconds: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 1


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in and out; None where nobody has said so."""

    input_per_million: float | None = None
    output_per_million: float | None = None
    currency: str = "USD"

    @property
    def known(self) -> bool:
        """Whether there is any price."""
        return self.input_per_million is not None or self.output_per_million is not None

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What so many tokens cost, or None without prices."""
        if not self.known:
            return None
        spent = prompt_tokens * (self.input_per_million or 0.0)
        return (spent + completion_tokens * (self.output_per_million or 0.0)) / _MILLION


@dataclass
class Account:
    """The calls of one run, or of a process, added up; `tasks` are the runs it is made of."""

    calls: int = 0
    failed: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_seconds: float = 0.0
    tasks: int = 0
    task_seconds: float = 0.0
    _above: Account | None = field(default=None, repr=False)

    def note(self, call: Call) -> None:
        """Add a call here and in the accounts around this one."""
        self.calls += 1
        self.failed += call.outcome is not Outcome.ANSWERED
        self.retries += call.attempts - 1
        self.prompt_tokens += call.prompt_tokens
        self.completion_tokens += call.completion_tokens
        self.model_seconds += call.seconds
        if self._above is not None:
            self._above.note(call)

    def finish_task(self, seconds: float) -> None:
        """Count a run that took so long."""
        self.tasks += 1
        self.task_seconds += seconds

    def json(self, prices: Prices) -> dict[str, Any]:
        """The sums, and the cost of 1,000 such tasks (UrbanKGent, section 5.4); money where prices are set.

        `model_seconds` adds up calls that may have run side by side.
        """
        cost = prices.cost(self.prompt_tokens, self.completion_tokens)
        found: dict[str, Any] = {
            "calls": self.calls,
            "failed": self.failed,
            "retries": self.retries,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "model_seconds": round(self.model_seconds, 3),
            "cost": _money(cost, prices),
        }
        if self.tasks:
            share = _TASKS / self.tasks
            found["per_1000_tasks"] = {
                "seconds": round(self.task_seconds * share, 1),
                "prompt_tokens": round(self.prompt_tokens * share),
                "completion_tokens": round(self.completion_tokens * share),
                "cost": _money(None if cost is None else cost * share, prices),
            }
        return found


_CURRENT: ContextVar[Account | None] = ContextVar("account", default=None)


@contextmanager
def account() -> Iterator[Account]:
    """Open an account: every call made in the block, and in the tasks that it starts, is noted there.

    The account is also the party as which a model server's places are shared out (`Slots`).
    """
    opened = Account(_above=_CURRENT.get())
    token = _CURRENT.set(opened)
    try:
        yield opened
    finally:
        _CURRENT.reset(token)


def accounts_open() -> Account | None:
    """The account that calls are noted in here, if there is one."""
    return _CURRENT.get()


def party() -> int | None:
    """The party of this call: the outermost account, so that a job is one party."""
    current = _CURRENT.get()
    while current is not None and current._above is not None:
        current = current._above
    return None if current is None else id(current)


def _money(amount: float | None, prices: Prices) -> dict[str, Any] | None:
    return None if amount is None else {"amount": round(amount, 6), "currency": prices.currency}


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

"""What the model's work costs: calls, retries, tokens, seconds and money; per run and for the process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

__all__ = ["Account", "Call", "Outcome", "Prices", "account", "accounts_open", "party"]

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

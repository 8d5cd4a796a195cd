"""What one question may cost: time to compute, time of queries, and an end when its client leaves.

What computes calls `Budget.check` or `tick` often enough, so that it stops within milliseconds. Outside of a
question that a server answers, as in research and tests, there is no budget and nothing is stopped.
"""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from sparql.ask.errors import QuestionTooInvolved

COMPUTING_S: Final = 1.0
QUERYING_S: Final = 8.0
_EVERY: Final = 16
"""Reading the clock takes as long as a small step of the work."""


class Budget:
    """The seconds that a question may still compute and query; used by one thread, stopped by any."""

    def __init__(self, computing_s: float = COMPUTING_S, querying_s: float = QUERYING_S) -> None:
        self._computing_s, self._querying_s = computing_s, querying_s
        self._computing_left_s, self.querying_left_s = computing_s, querying_s
        self._until: float | None = None
        self._calls = 0
        self._stopped = False

    @classmethod
    def endless(cls) -> Budget:
        """No limit; it can be stopped."""
        return cls(float("inf"), float("inf"))

    def stop(self) -> None:
        """End what computes: nobody waits for it."""
        self._stopped = True

    @contextmanager
    def computing(self, at_most_s: float = float("inf")) -> Iterator[None]:
        """Count and limit the time of the block, which must not wait for anything."""
        before, started = self._until, time.perf_counter()
        self._until = min(started + min(at_most_s, self._computing_left_s), before or float("inf"))
        try:
            self.check()
            yield
        finally:
            self._until = before
            if before is None:
                self._computing_left_s -= time.perf_counter() - started

    @contextmanager
    def querying(self) -> Iterator[float]:
        """Count the time of one query; gives the seconds that it may take. Raises `QuestionTooInvolved`."""
        if self.querying_left_s <= 0:
            raise self.queries_too_slow()
        started = time.perf_counter()
        try:
            yield self.querying_left_s
        finally:
            self.querying_left_s -= time.perf_counter() - started

    def queries_too_slow(self) -> QuestionTooInvolved:
        """The error of a question whose queries used up their time."""
        return QuestionTooInvolved(
            f"its queries took longer than {self._querying_s:g} s. Name a place or a distance that narrows "
            "it, or ask for its parts one by one."
        )

    def tick(self) -> None:
        """Check now and then."""
        self._calls += 1
        if self._calls >= _EVERY:
            self.check()

    def check(self) -> None:
        """Raises `QuestionTooInvolved` when the time is over, `CancelledError` when the work was stopped."""
        self._calls = 0
        if self._stopped:
            raise CancelledError
        if self._until is not None and time.perf_counter() > self._until:
            raise QuestionTooInvolved(
                f"its words can be read in more ways than fit into {self._computing_s:g} s. Ask in a shorter "
                "sentence, or for its parts one by one."
            )


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def budgeted(budget: Budget) -> Iterator[None]:
    """Have what the block calls, and the tasks that it starts, keep to a budget."""
    token = _budget.set(budget)
    try:
        yield
    finally:
        _budget.reset(token)


def current_budget() -> Budget:
    """The budget of the question under way; an endless one outside of questions."""
    return _budget.get() or Budget.endless()

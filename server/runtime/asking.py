"""Answers questions beside the event loop: on a thread with a loop of its own, each within its budget.

Linking, planning and wording are pure Python and would keep everybody else waiting. Queries and calls of the
model go back to the loop of the caller, which owns the readers and the connections.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sparql.ask.budget import Budget, budgeted, current_budget
from sparql.ask.errors import QuestionsRefused
from sparql.model.errors import QueryTimeout
from sparql.storage.gil_yield import short_switch_interval
from sparql.workers.fair_queue import CLIENT

if TYPE_CHECKING:
    # A server starts before anybody asks.
    from sparql.ask.linking.summary import DataSummary, RunQuery
    from sparql.ask.service import Asker, AskResult, Watch
    from sparql.workers.query import QueryService

T = TypeVar("T")
_MOST_AT_ONCE: Final = 64
_MOST_OF_CLIENT: Final = 16
_LAST_S: Final = 0.2
_MANY: Final = "Too many questions are asked at the same time; ask again in a few seconds."
_LEAVING: Final = "The server is shutting down and answers no more questions; ask again later."
_home: ContextVar[asyncio.AbstractEventLoop] = ContextVar("home")
"""The loop that waits for the question under way."""


class AskingThread:
    """One thread with an event loop; both are made at the first question."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: dict[Budget, str] = {}
        self._closed = False

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]], budget: Budget) -> T:
        """The outcome of work under a budget. Canceling the wait ends the work at once, also in a loop.

        Raises `QuestionsRefused`.
        """
        if self._closed:
            raise QuestionsRefused(_LEAVING)
        client = CLIENT.get()
        own = sum(other == client for other in self._under_way.values())
        if own >= _MOST_OF_CLIENT or len(self._under_way) >= _MOST_AT_ONCE:
            raise QuestionsRefused(_MANY)
        token = _home.set(asyncio.get_running_loop())
        self._under_way[budget] = client
        try:
            with short_switch_interval():
                done = asyncio.run_coroutine_threadsafe(_within(budget, work), self._started())
                return await asyncio.wrap_future(done)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._closed and task is not None and not task.cancelling():
                raise QuestionsRefused(_LEAVING) from None
            raise
        finally:
            budget.stop()
            del self._under_way[budget]
            _home.reset(token)

    def close(self) -> None:
        """End what computes, and the thread with it."""
        self._closed = True
        for budget in tuple(self._under_way):
            budget.stop()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(_end, self._loop)

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            # A daemon: the end of the process waits for no question.
            threading.Thread(target=_run, args=(self._loop,), name="asking", daemon=True).start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _end(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.call_later(_LAST_S, loop.stop)


async def _within(budget: Budget, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    with budgeted(budget):
        return await work()


async def at_home(work: Coroutine[Any, Any, T]) -> T:
    """The outcome of work that runs on the loop of the caller."""
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _home.get()))


def query_of_caller(readers: QueryService) -> RunQuery:
    """Runs queries by readers that belong to the loop of the caller, within the budget."""

    async def query(text: str) -> Mapping[str, Any]:
        budget = current_budget()
        with budget.querying() as left_s:
            limit_s = left_s if left_s < float("inf") else None
            try:
                return await at_home(readers.solutions(text, timeout_s=limit_s))
            except QueryTimeout as error:
                if limit_s is None:
                    raise
                raise budget.queries_too_slow() from error

    return query


class ThreadedAsker:
    """An `Asker` as the server calls it: from any loop, without making that loop wait."""

    def __init__(self, asker: Asker, thread: AskingThread) -> None:
        self._asker = asker
        self._thread = thread

    @property
    def summary(self) -> DataSummary:
        """The summary of the data."""
        return self._asker.summary

    async def prepare(self) -> None:
        """See `Asker.prepare`."""
        await self._thread.run(self._asker.prepare, Budget.endless())

    async def ask(
        self, question: str, *, context: str = "", history: Sequence[str] = (), watch: Watch | None = None
    ) -> AskResult:
        """See `Asker.ask`. Raises `QuestionTooInvolved` with the budget used up, and `QuestionsRefused`."""
        loop = asyncio.get_running_loop()

        def note(step: dict[str, str]) -> None:
            if watch is not None:
                loop.call_soon_threadsafe(watch, step)

        def work() -> Coroutine[Any, Any, AskResult]:
            return self._asker.ask(question, context=context, history=history, watch=note)

        return await self._thread.run(work, Budget())

    async def run(self, *, plan: Any = None, sparql: str | None = None) -> AskResult:
        """See `Asker.run`; a query of the client's own has the time of any query."""
        budget = Budget() if sparql is None else Budget.endless()
        return await self._thread.run(lambda: self._asker.run(plan=plan, sparql=sparql), budget)

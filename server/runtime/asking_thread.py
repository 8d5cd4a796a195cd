"""The thread on which questions are answered, with an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from sparql.ask.budget import Budget, budgeted
from sparql.ask.errors import QuestionsRefused
from sparql.storage.gil_yield import short_switch_interval
from sparql.workers.fair_queue import CLIENT

__all__ = ["AskingThread", "at_home"]

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
        own = sum(one == client for one in self._under_way.values())
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

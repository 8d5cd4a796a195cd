"""Background work: long tasks one after the other on a thread, and coroutines that run during a block."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any

_log = logging.getLogger("urbankg.background")


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None] | None) -> AsyncIterator[None]:
    """Run a coroutine, if there is one, while the block runs, and cancel it at the end."""
    task = asyncio.create_task(work) if work is not None else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


class Background:
    """Runs tasks in the order of their submission. A waiting task is not submitted a second time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "background")
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._closing = threading.Event()
        self._waiting: list[str] = []
        self._running: str | None = None
        self._last: Future[None] | None = None

    def start(self, name: str, work: Callable[[], object]) -> None:
        """Run this after the earlier tasks. Errors are logged."""
        with self._lock:
            if name in self._waiting:
                return
            self._waiting.append(name)
            try:
                self._last = self._pool.submit(self._run, name, work)
            except RuntimeError:
                # The server is stopping.
                self._waiting.remove(name)
                return
        self._last.add_done_callback(lambda done: self._log_error(name, done))

    @property
    def under_way(self) -> tuple[str, ...]:
        """The names of the running and the waiting tasks."""
        with self._lock:
            return ((self._running,) if self._running else ()) + tuple(self._waiting)

    @property
    def closing(self) -> bool:
        """Whether the server is stopping."""
        return self._closing.is_set()

    def finish(self, timeout_s: float | None = None) -> None:
        """Return when all tasks so far are done. Raises TimeoutError."""
        last = self._last
        if last is not None:
            last.exception(timeout_s)

    def close(self) -> None:
        """Accept no more tasks and drop the waiting ones. The running one should check `closing`."""
        self._closing.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def wait_until_idle(self, timeout_s: float) -> None:
        """Return when no task runs any more, or after the timeout. To be called after `close`."""
        with self._idle:
            self._idle.wait_for(lambda: self._running is None, timeout_s)

    def _run(self, name: str, work: Callable[[], object]) -> None:
        with self._lock:
            self._waiting.remove(name)
            self._running = name
        try:
            work()
        finally:
            with self._idle:
                self._running = None
                self._idle.notify_all()

    def _log_error(self, name: str, done: Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            _log.error("%s could not be finished: %s", name, error)

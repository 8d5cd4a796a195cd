"""Work that no request waits for: long pieces one after the other on a thread, and tasks beside a block."""

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
    """Let this run while the block does, and end it with the block; None: nothing."""
    task = asyncio.create_task(work) if work is not None else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


class Background:
    """Does work in the order in which it was given. A piece that waits is not given a second time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "background")
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._waiting: list[str] = []
        self._running: str | None = None
        self._last: Future[None] | None = None

    def start(self, name: str, work: Callable[[], object]) -> None:
        """Do this when what was given before is done; what goes wrong is in the log."""
        with self._lock:
            if name in self._waiting:
                return
            self._waiting.append(name)
            try:
                self._last = self._pool.submit(self._run, name, work)
            except RuntimeError:
                # The server ends.
                self._waiting.remove(name)
                return
        self._last.add_done_callback(lambda done: self._tell(name, done))

    @property
    def under_way(self) -> tuple[str, ...]:
        """What is being done and what waits."""
        with self._lock:
            return ((self._running,) if self._running else ()) + tuple(self._waiting)

    @property
    def closing(self) -> bool:
        """Whether the server ends."""
        return self._closing.is_set()

    def finish(self, timeout_s: float | None = None) -> None:
        """Return when all that was given so far is done. Raises TimeoutError."""
        last = self._last
        if last is not None:
            last.exception(timeout_s)

    def close(self) -> None:
        """Take nothing more, do not begin what waits, and let what is under way give up if it asks."""
        self._closing.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, name: str, work: Callable[[], object]) -> None:
        with self._lock:
            self._waiting.remove(name)
            self._running = name
        try:
            work()
        finally:
            with self._lock:
                self._running = None

    def _tell(self, name: str, done: Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            _log.error("%s could not be finished: %s", name, error)

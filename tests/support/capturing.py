"""Workers on an event loop of their own thread, for tests that capture updates and wait for the outcome."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers.pool import WorkerPool
from sparql.workers.workers import PoolSettings


class Capturing:
    """A pool of one worker on a store, and beside it the worker that captures updates."""

    def __init__(self, store: EmbeddedStore, memory_limit_bytes: int = 2**31) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        assert store.folder is not None
        self._checkpoints = store.folder / "checkpoints"
        self.pool = WorkerPool(store, PoolSettings(workers=1, memory_limit_bytes=memory_limit_bytes))
        self.capture = self.pool.capture
        self._run(self.pool.start())

    @property
    def pid(self) -> int | None:
        """The process that captures, if there is one."""
        worker = self.pool._workers._capturing
        return None if worker is None else worker.pid

    def copies(self) -> list[Path]:
        """The folders of copies of the store."""
        return [*self._checkpoints.glob("*-of-*/*")]

    def close(self) -> None:
        self._run(self.pool.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

"""Which checkpoint a query reads: always one as new as the last write acknowledged before it.

Refreshes are coalesced: however many queries wait for a newer checkpoint, one is made. A checkpoint goes
back to its source when it is no longer the newest and no reader uses it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from sparql.errors import ReaderLost


class Checkpoint(Protocol):
    """A frozen copy of the store: a directory that opens read-only, and the revision it holds."""

    @property
    def path(self) -> Path: ...

    @property
    def revision(self) -> int: ...


class CheckpointSource(Protocol):
    """Whoever owns the store. All three may be called from any thread.

    ``revision`` is that of the last committed write and cheap; ``acquire`` may block for tens of
    milliseconds and gives a checkpoint at least as new as ``revision()`` was when it was called.
    """

    def revision(self) -> int: ...

    def acquire(self) -> Checkpoint: ...

    def release(self, checkpoint: Checkpoint) -> None: ...


class Lease:
    """A checkpoint in use; ``users`` counts the holders of it."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.path = str(checkpoint.path)
        self.revision = checkpoint.revision
        self.checkpoint = checkpoint
        self.users = 1


class CheckpointKeeper:
    """Hands out leases on the newest checkpoint and gives old ones back.

    ``on_refresh`` is called on the event loop when a newer checkpoint has become the newest.
    """

    def __init__(self, source: CheckpointSource, on_refresh: Callable[[], None]) -> None:
        self._source = source
        self._on_refresh = on_refresh
        self._refresh: asyncio.Task[None] | None = None
        self._releases: set[asyncio.Future[None]] = set()
        # Threads of its own: those of the loop may all be waiting for a writer that waits for a reader.
        self._threads = ThreadPoolExecutor(2, "checkpoints")
        self.newest: Lease | None = None

    async def lease(self) -> Lease:
        """A lease on a checkpoint that holds every write acknowledged before this call.

        The caller gives it back by ``drop``. Raises ReaderLost when no checkpoint can be made.
        """
        needed = self._source.revision()
        while self.newest is None or self.newest.revision < needed:
            if self._refresh is None:
                self._refresh = asyncio.create_task(self._make_newest())
            try:
                await asyncio.shield(self._refresh)
            except OSError as error:
                raise ReaderLost(
                    f"No checkpoint of the store can be made: {error}. Check the disk's space."
                ) from error
        self.newest.users += 1
        return self.newest

    def drop(self, lease: Lease) -> None:
        """Give a lease back."""
        lease.users -= 1
        if lease.users == 0:
            loop = asyncio.get_running_loop()
            given_back = loop.run_in_executor(self._threads, self._source.release, lease.checkpoint)
            self._releases.add(given_back)
            given_back.add_done_callback(self._releases.discard)

    async def close(self) -> None:
        """Give everything back; no lease may be in use any more."""
        if self._refresh is not None:
            await asyncio.wait([self._refresh])
        if self.newest is not None:
            self.drop(self.newest)
            self.newest = None
        while self._releases:
            await asyncio.wait(self._releases)
        self._threads.shutdown()

    async def _make_newest(self) -> None:
        try:
            loop = asyncio.get_running_loop()
            made = Lease(await loop.run_in_executor(self._threads, self._source.acquire))
        finally:
            self._refresh = None
        previous, self.newest = self.newest, made
        if previous is not None:
            self.drop(previous)
        self._on_refresh()

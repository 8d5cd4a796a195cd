"""Chooses the checkpoint for workers: one from which they can follow the commits to the newest revision.

A worker that needs a newer revision than that of its checkpoint makes a copy and follows commit by commit
(``store_copy``), which takes a millisecond instead of tens for a new checkpoint. A new one is made in
parallel after many commits, since every copy writes them to the disk again; and at once where the commits in
between are unknown (a bulk load). Refreshes are shared: however many queries wait for a newer checkpoint, one
is made. A checkpoint is released when it is no longer the newest and no worker uses it.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from glob import escape, glob
from time import monotonic
from typing import Protocol

from sparql.model.errors import ReaderLost, StoreUnwritable
from sparql.storage.checkpoint_folder import Checkpoint
from sparql.workers.store_copy import LEAST_GROWTH, MOST_QUADS, CommitLog, copies_folder, disk_bytes

_BYTES_A_QUAD = 600
_FEWEST_QUADS = 500
_BYTES_A_COPY = 2**19
"""What the engine writes for a copy itself."""
_LOOK_EVERY_S = 1.0
_REST_S = 60.0
_TRY_AGAIN_S = 1.0


class CheckpointSource(Protocol):
    """The store. All of it may be called from any thread.

    ``revision`` is that of the last committed write and cheap; ``acquire`` may block for tens of milliseconds
    and returns a checkpoint at least as new as ``revision()`` at the time of the call. It raises
    StoreUnwritable and OSError. With a source that reports no commits, every newer revision needs a
    checkpoint.
    """

    def revision(self) -> int: ...

    def acquire(self) -> Checkpoint: ...

    def release(self, checkpoint: Checkpoint) -> None: ...

    def follow(self, follower: CommitLog) -> None:
        """Report every commit from now on, in order, before `revision` returns its number."""
        ...


class Lease:
    """A checkpoint in use; ``users`` counts the holders of it."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.path = str(checkpoint.path)
        self.revision = checkpoint.revision
        self.checkpoint = checkpoint
        self.users = 1


class CheckpointKeeper:
    """Lends the newest checkpoint and releases old ones.

    ``on_refresh`` is called on the event loop when there is a newer checkpoint. At most ``copies`` copies
    follow at a time; together they should take less disk space than half of the store.
    """

    def __init__(self, source: CheckpointSource, on_refresh: Callable[[], None], copies: int) -> None:
        self._source = source
        self._copies = copies
        self._on_refresh = on_refresh
        self._refresh: asyncio.Task[None] | None = None
        self._under_way: set[asyncio.Future[None]] = set()
        # Its own threads: those of the loop may all be waiting for a writer that waits for a worker.
        self._threads = ThreadPoolExecutor(2, "checkpoints")
        self.newest: Lease | None = None
        self.log = CommitLog()
        source.follow(self.log)
        self._renewed_at = _FEWEST_QUADS
        self.most_growth = LEAST_GROWTH
        """The bytes that all copies together may take on the disk beside their checkpoint."""
        self._looked = self._resting_until = 0.0
        self._refused: tuple[int, float] | None = None
        self.problem: Exception = OSError()
        """Why the last copy or checkpoint could not be made."""

    def revision(self) -> int:
        """The revision of the last commit."""
        return self._source.revision()

    async def lease(self, needed: int) -> Lease:
        """A checkpoint of the needed revision, or one from which the log leads there.

        An older one where none can be made. The caller returns it with ``drop``. Raises ReaderLost when there
        is none at all.
        """
        await self._until(lambda: self._leads_to(needed), needed)
        self._look_after_copies()
        return self._lend_newest()

    async def at_least(self, needed: int) -> Lease:
        """The same, of at least the needed revision itself."""
        await self._until(lambda: self.newest is not None and self.newest.revision >= needed, needed)
        return self._lend_newest()

    def is_refused(self, needed: int) -> bool:
        """Whether the disk was too full for this revision a moment ago."""
        return (
            self._refused is not None
            and self._refused[0] == needed
            and monotonic() - self._refused[1] < _TRY_AGAIN_S
        )

    def note_refusal(self, needed: int, problem: Exception) -> None:
        """The disk was too full for a copy or a checkpoint of this revision."""
        self._refused, self.problem = (needed, monotonic()), problem

    def drop(self, lease: Lease) -> None:
        """Give a lease back."""
        lease.users -= 1
        if lease.users == 0:
            self._in_thread(self._source.release, lease.checkpoint)

    def delete_copies(self, lease: Lease, pid: int) -> None:
        """Delete the copies of a process that did not do so itself."""
        self._in_thread(shutil.rmtree, copies_folder(lease.path, pid), True)

    async def close(self) -> None:
        """Release everything; no lease may be in use any more."""
        if self._refresh is not None:
            await asyncio.wait([self._refresh])
        if self.newest is not None:
            self.drop(self.newest)
            self.newest = None
        while self._under_way:
            await asyncio.wait(self._under_way)
        self._threads.shutdown()

    def _lend_newest(self) -> Lease:
        assert self.newest is not None
        self.newest.users += 1
        return self.newest

    def _leads_to(self, needed: int) -> bool:
        if self.newest is None:
            return False
        if self.newest.revision >= needed:
            return True
        return monotonic() >= self._resting_until and self.log.after(self.newest.revision, needed) is not None

    async def _until(self, reached: Callable[[], bool], needed: int) -> None:
        """Make checkpoints until one is sufficient; an older one must do where none can be made."""
        while not reached():
            if self.newest is not None and self.is_refused(needed):
                return
            try:
                await asyncio.shield(self._renewing())
            except (OSError, StoreUnwritable) as error:
                self.note_refusal(needed, error)
                if self.newest is None:
                    raise ReaderLost(
                        f"No checkpoint of the store can be made: {error}. Check the disk's space."
                    ) from error
                return

    def _renewing(self) -> asyncio.Task[None]:
        if self._refresh is None:
            self._refresh = asyncio.create_task(self._make_newest())
        return self._refresh

    async def _make_newest(self) -> None:
        try:
            made, size = await asyncio.get_running_loop().run_in_executor(self._threads, self._acquire)
        finally:
            self._refresh = None
        previous, self.newest = self.newest, made
        share = size // 4 // self._copies // _BYTES_A_QUAD
        self._renewed_at = min(MOST_QUADS // 2, max(_FEWEST_QUADS, share))
        self.most_growth = self._copies * _BYTES_A_COPY + max(LEAST_GROWTH, size // 2)
        if previous is not None:
            self.drop(previous)
        self._on_refresh()

    def _acquire(self) -> tuple[Lease, int]:
        lease = Lease(self._source.acquire())
        return lease, disk_bytes(lease.path, own=False)

    def _look_after_copies(self) -> None:
        """Replace copies after many commits, and avoid copies while they grow by themselves.

        The engine compacts a large store after a bulk load, and would do the same in every copy.
        """
        newest = self.newest
        if newest is None or self._refresh is not None or self.is_refused(self.revision()):
            return
        if self.log.quads_after(newest.revision) > self._renewed_at:
            self._renewing().add_done_callback(_note_failure)
        elif monotonic() - self._looked > _LOOK_EVERY_S:
            self._looked = monotonic()
            self._in_thread(self._watch_growth, newest.path, self.most_growth)

    def _watch_growth(self, path: str, most: int) -> None:
        if sum(disk_bytes(copy, own=True) for copy in glob(f"{escape(path)}-of-*/*")) > most:
            self._resting_until = monotonic() + _REST_S

    def _in_thread(self, work: Callable[..., None], *arguments: object) -> None:
        done = asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)
        self._under_way.add(done)
        done.add_done_callback(self._under_way.discard)


def _note_failure(task: asyncio.Task[None]) -> None:
    # Nobody waits for it: the next query that needs one tries again.
    if not task.cancelled():
        task.exception()

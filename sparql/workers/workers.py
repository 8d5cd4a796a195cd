"""The worker processes: assigns them to queries, and replaces those that died.

A query takes a free worker, or waits in a bounded queue, in which clients take turns. At its deadline its
worker is killed and replaced; the same happens when its answer is no longer wanted and it does not stop by
itself. One more worker, outside the queue, works out the changes of updates: it has a copy of the store that
it may write to, and starts with the first update that needs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from sparql.model.answer_warnings import behind, warn
from sparql.model.errors import QueryTimeout, ReaderLost, SparqlError, TooManyQueries
from sparql.workers.checkpoints import CheckpointKeeper, CheckpointSource, Lease
from sparql.workers.fair_queue import FairQueue
from sparql.workers.frames import FrameKind
from sparql.workers.process import WorkerProcess
from sparql.workers.query import PoolStatistics

_STOP_GRACE_S = 0.2
_RESTART_DELAYS_S = (0.0, 0.5, 1.0, 2.0)
_LAST_RESTART_DELAY_S = 5.0


@dataclass(frozen=True)
class PoolSettings:
    """Sizes and limits of the pool.

    ``workers`` processes (30 MB each when idle, 55 with the extra `allocator`), of which one client holds
    ``most_each`` at a time (None: all), ``queue_limit`` queries that may wait for one, ``timeout_s`` for
    queries that set none, ``memory_limit_bytes`` for one process, ``retry_after_s`` for rejected queries.
    """

    workers: int = 4
    most_each: int | None = None
    queue_limit: int = 256
    timeout_s: float = 30.0
    memory_limit_bytes: int = 2 * 2**30
    retry_after_s: float = 1.0


class Workers:
    """The workers of one pool; belongs to one event loop. `keeper` holds the checkpoints that they read."""

    def __init__(self, source: CheckpointSource, settings: PoolSettings, statistics: PoolStatistics) -> None:
        self._settings = settings
        self._statistics = statistics
        self.keeper = CheckpointKeeper(source, self._drop_stale, settings.workers + 1)
        self._processes: set[WorkerProcess] = set()
        self._queue: FairQueue[WorkerProcess] = FairQueue(
            settings.most_each or settings.workers, settings.queue_limit, self._refusal
        )
        self._capturing: WorkerProcess | None = None
        self._captures = False
        """Whether that one is at work."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    async def start(self) -> None:
        """Start all workers; returns when they are ready. Raises ReaderLost when one does not start."""
        workers = await asyncio.gather(
            *(self._start_process() for _ in range(self._settings.workers)), return_exceptions=True
        )
        for worker in workers:
            if isinstance(worker, WorkerProcess):
                self._queue.give_back(worker)
        failures = [error for error in workers if isinstance(error, BaseException)]
        if failures:
            await self.close()
            raise failures[0]
        self._spawn_task(self._prepare())

    async def _prepare(self) -> None:
        """Make a checkpoint before one is needed: later the disk may be full."""
        with suppress(ReaderLost):
            self.keeper.drop(await self.keeper.lease(self.keeper.revision()))

    async def close(self) -> None:
        """End all workers and release their checkpoints; running queries fail."""
        self._closing = True
        self._queue.fail_all(ReaderLost("The server is shutting down; try again later."))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in list(self._processes):
            worker.kill(None)
            await self._remove_worker(worker)
        await self.keeper.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that answer queries."""
        return tuple(worker.pid for worker in self._processes if worker is not self._capturing)

    @property
    def waiting(self) -> int:
        """How many queries wait for a worker."""
        return self._queue.waiting

    async def take(self, deadline: float) -> WorkerProcess:
        """A worker for the client of this task, once there is one.

        Raises TooManyQueries when too many wait, or none is free by the deadline (time of the loop).
        """
        if self._closing:
            raise ReaderLost("The server is shutting down; try again later.")
        try:
            async with asyncio.timeout_at(deadline):
                while not (worker := await self._queue.take()).alive:
                    self.give_back(worker)
                return worker
        except TimeoutError:
            raise self._refusal() from None

    def _refusal(self) -> TooManyQueries:
        self._statistics.turned_away += 1
        return TooManyQueries(self._settings.retry_after_s)

    @asynccontextmanager
    async def capturing(self) -> AsyncIterator[WorkerProcess]:
        """The worker for updates, for one at a time; started if it does not run. Raises ReaderLost."""
        if self._closing:
            raise ReaderLost("The server is shutting down; try again later.")
        if self._capturing is not None and not self._capturing.alive:
            await self._end_capturing()
        worker = self._capturing = self._capturing or await self._start_process()
        self._captures = True
        try:
            yield worker
        except SparqlError:
            raise
        except BaseException:
            worker.kill(None)
            raise
        finally:
            self._captures = False
            if worker.alive:
                self._drop_if_stale(worker)
            else:
                await self._end_capturing()

    async def _end_capturing(self) -> None:
        worker, self._capturing = self._capturing, None
        if worker is not None:
            await self._remove_worker(worker)

    async def refresh(self, worker: WorkerProcess, *, writable: bool = False) -> None:
        """Have a worker read a revision that includes every write acknowledged before this call.

        With `writable` on a copy of its own. Where the disk has no space for that, it reads what it has, and
        the answer gets a warning. Raises ReaderLost, and EOFError when the worker ends.
        """
        needed = self.keeper.revision()
        lease = await self.keeper.lease(needed)
        if worker.lease is lease:
            self.keeper.drop(lease)
        else:
            self._change(worker, lease)
        if not await self._follow(worker, needed, writable=writable):
            newer = await self.keeper.at_least(needed)
            if newer.revision >= needed:
                self._change(worker, newer)
                await self._follow(worker, needed, writable=writable)
            else:
                self.keeper.note_refusal(needed, self.keeper.problem)
                self.keeper.drop(newer)
        if worker.revision < needed:
            warn(behind(worker.revision, needed))

    async def _follow(self, worker: WorkerProcess, needed: int, *, writable: bool) -> bool:
        """Let a worker follow the commits to a revision; False where only a newer checkpoint helps."""
        lacks_copy = writable and (worker.needs_copy or not worker.has_copy)
        if not lacks_copy and (worker.revision >= needed or self.keeper.is_refused(needed)):
            return True
        lease, from_checkpoint = worker.lease, worker.needs_copy or not worker.has_copy
        assert lease is not None
        commits = self.keeper.log.after(lease.revision if from_checkpoint else worker.revision, needed)
        if commits is None:
            return False
        problem = await worker.follow(lease, commits, from_checkpoint=from_checkpoint)
        if problem:
            self.keeper.problem = OSError(problem)
        return not problem

    def _change(self, worker: WorkerProcess, lease: Lease | None) -> None:
        """Replace the lease of a worker, which closes what it reads."""
        if worker.lease is not None and worker.alive:
            worker.close_store()
        previous, worker.lease = worker.lease, lease
        worker.has_copy = worker.needs_copy = False
        if lease is not None:
            worker.revision = lease.revision
        if previous is not None:
            self.keeper.drop(previous)

    def _drop_stale(self) -> None:
        """Have idle workers give back the checkpoints that are no longer the newest."""
        for worker in self._queue.idle:
            self._drop_if_stale(worker)
        if self._capturing is not None and not self._captures:
            self._drop_if_stale(self._capturing)

    def _drop_if_stale(self, worker: WorkerProcess) -> None:
        if worker.lease is not None and worker.lease is not self.keeper.newest is not None:
            self._change(worker, None)

    def expire(self, worker: WorkerProcess, timeout_s: float) -> None:
        """The deadline of a worker's query has passed."""
        self._statistics.kills += 1
        worker.kill(QueryTimeout(timeout_s))
        # At once, since a client that stopped reading its answer would never give the worker back.
        self.give_back(worker)

    def give_back(self, worker: WorkerProcess) -> None:
        """A worker is free again, or dead and to be replaced."""
        if worker is self._capturing:
            return
        if worker.alive:
            self._drop_if_stale(worker)
            self._queue.give_back(worker)
            return
        self._queue.discard(worker)
        if not worker.replaced:
            worker.replaced = True
            self._spawn_task(self._replace(worker))

    def retire(self, worker: WorkerProcess) -> None:
        """The current work of a worker is no longer wanted."""
        if worker.alive:
            self._spawn_task(self._stop(worker))
        else:
            self.give_back(worker)

    async def _stop(self, worker: WorkerProcess) -> None:
        """End a query that nobody waits for, by request or else by force."""
        worker.stop_query()
        try:
            async with asyncio.timeout(_STOP_GRACE_S):
                while (await worker.frames.next())[0] in (FrameKind.HEAD, FrameKind.DATA):
                    pass
        except (TimeoutError, EOFError):
            self._statistics.kills += 1
            worker.kill(None)
        self.give_back(worker)

    async def _replace(self, dead: WorkerProcess) -> None:
        await self._remove_worker(dead)
        for delay in chain(_RESTART_DELAYS_S, repeat(_LAST_RESTART_DELAY_S)):
            await asyncio.sleep(delay)
            with suppress(ReaderLost):
                self._queue.give_back(await self._start_process())
                return

    async def _start_process(self) -> WorkerProcess:
        worker = await WorkerProcess.start(self._settings.memory_limit_bytes)
        self._processes.add(worker)
        return worker

    async def _remove_worker(self, worker: WorkerProcess) -> None:
        await worker.end()
        self._processes.discard(worker)
        if worker.lease is not None:
            self.keeper.delete_copies(worker.lease, worker.pid)
        self._change(worker, None)

    def _spawn_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

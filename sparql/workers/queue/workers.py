"""The worker processes: assigns them to queries, and replaces those that died.

A query takes a free worker, or waits in a bounded queue, in which clients take turns. At its deadline its
worker is killed and replaced; the same happens when its answer is no longer wanted and it does not stop by
itself. One additional worker, the express, is for short queries: it is used while all others are busy.
Another one, the spare, is started when one client holds all workers but the express while another client
waits, and ended when it is idle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from sparql.model.answer_warnings import behind, warn
from sparql.model.errors import QueryTimeout, ReaderLost, TooManyQueries
from sparql.workers.checkpoints import CheckpointKeeper, CheckpointSource, Lease
from sparql.workers.processes.frames import FrameKind
from sparql.workers.processes.launching import Launched, launch
from sparql.workers.processes.process import WorkerProcess
from sparql.workers.queue.client import CLIENT
from sparql.workers.queue.fair_queue import FairQueue, was_given
from sparql.workers.queue.sharing import Sharing

_STOP_GRACE_S = 0.2
_EXPRESS_AFTER_S = 2.0
_SPARE_KEPT_S = 10.0
_RESTART_DELAYS_S = (0.0, 0.5, 1.0, 2.0)
_LAST_RESTART_DELAY_S = 5.0


@dataclass(frozen=True)
class PoolSettings:
    """Sizes and limits of the pool.

    ``workers`` processes (30 MB each when idle, 55 with the extra `allocator`), ``queue_limit`` queries that
    may wait for one, ``timeout_s`` for queries that set none, ``memory_limit_bytes`` for one process,
    ``retry_after_s`` for rejected queries. ``express``: one additional process for short queries, started a
    little later than the others, or when a query first has to wait. No client gets more than ``workers``
    processes beside it; while one client has as many and others wait, there is one more process.
    """

    workers: int = 4
    queue_limit: int = 256
    timeout_s: float = 30.0
    memory_limit_bytes: int = 2 * 2**30
    retry_after_s: float = 1.0
    express: bool = False


@dataclass
class PoolStatistics:
    """Counters since the start of the pool."""

    queries: int = 0
    kills: int = 0
    turned_away: int = 0


class Workers:
    """The workers of one pool; belongs to one event loop. `keeper` holds the checkpoints that they read."""

    def __init__(self, source: CheckpointSource, settings: PoolSettings, statistics: PoolStatistics) -> None:
        self._settings = settings
        self._statistics = statistics
        self.keeper = CheckpointKeeper(source, self._drop_stale, settings.workers + settings.express)
        self._processes: set[WorkerProcess] = set()
        self._sharing: Sharing[WorkerProcess] = Sharing(
            settings.workers, FairQueue(settings.queue_limit, self._refusal)
        )
        self._express_begun = False
        self._spare_begun = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._launched: list[Launched] = []
        self._closing = False

    def launch(self, starting: list[Launched] | None = None) -> None:
        """Begin to start the workers without waiting; `start` waits for them.

        Processes in `starting` that have these limits are taken over and removed from that list.
        """
        while starting and len(self._launched) < self._settings.workers:
            self._launched.append(starting.pop())
        while len(self._launched) < self._settings.workers:
            self._launched.append(launch(self._settings.memory_limit_bytes))

    async def start(self) -> None:
        """Start all workers; returns when they are ready. Raises ReaderLost when one does not start."""
        try:
            self.launch()
        except ReaderLost:
            await self.close()
            raise
        launched, self._launched = self._launched, []
        limit = self._settings.memory_limit_bytes
        workers = await asyncio.gather(
            *(WorkerProcess.start(limit, one) for one in launched), return_exceptions=True
        )
        failures = [one for one in workers if isinstance(one, BaseException)]
        for one in workers:
            if isinstance(one, WorkerProcess):
                self._admit(one)
        if failures:
            await self.close()
            raise failures[0]
        self._spawn_task(self._prepare())
        if self._settings.express:
            self._spawn_task(self._start_express_later())

    async def _prepare(self) -> None:
        """Make a checkpoint before one is needed: later the disk may be full."""
        with suppress(ReaderLost):
            self.keeper.drop(await self.keeper.lease(self.keeper.revision()))

    async def close(self) -> None:
        """End all workers and release their checkpoints; running queries fail."""
        self._closing = True
        self._sharing.queue.fail_all(ReaderLost("The server is shutting down; try again later."))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for launched in self._launched:
            launched.terminate()
        for worker in list(self._processes):
            worker.kill(None)
            await self._remove_worker(worker)
        await self.keeper.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers."""
        return tuple(worker.pid for worker in self._processes)

    @property
    def waiting(self) -> int:
        """How many queries wait for a worker."""
        return len(self._sharing.queue)

    async def take(
        self, deadline: float, *, avoid_express: bool = False, again: bool = False
    ) -> WorkerProcess:
        """A worker for the client of this task, once there is one; not the express if `avoid_express`.

        Work that starts `again` on another worker precedes other work of its client. Raises TooManyQueries
        when too many wait, or none is free by the deadline (time of the loop).
        """
        if self._closing:
            raise ReaderLost("The server is shutting down; try again later.")
        client = CLIENT.get()
        self._sharing.access.asks(client)
        while (worker := self._sharing.take_idle(client, avoid_express)) is not None:
            if worker.alive:
                return worker
            self.give_back(worker)
        waiting = self._sharing.queue.add(client, avoid_express=avoid_express, first=again)
        if self._settings.express and not self._express_begun:
            self._spawn_task(self._start_express())
        self._start_spare_if_needed()
        try:
            async with asyncio.timeout_at(deadline):
                return await waiting.given
        except BaseException as error:
            self._sharing.queue.leave(waiting)
            if was_given(waiting):
                # It was assigned just when the wait ended.
                self.give_back(waiting.given.result())
            if isinstance(error, TimeoutError):
                raise self._refusal() from None
            raise

    def took_too_long(self, client: str) -> None:
        """A query of a client took too long on the express."""
        pause = self._sharing.access.took_too_long(client)
        asyncio.get_running_loop().call_later(pause, self._dispatch)

    def _dispatch(self) -> None:
        """Give idle workers to those that wait."""
        if self._closing:
            return
        idle = self._sharing.idle
        for worker in [one for one in idle if not one.alive]:
            idle.remove(worker)
            self._replace_once(worker)
        self._sharing.deal()
        self._start_spare_if_needed()

    def _start_spare_if_needed(self) -> None:
        if self._spare_begun or self._closing or not self._sharing.queue:
            return
        if self._sharing.one_client_has_all(self._processes):
            self._spare_begun = True
            self._spawn_task(self._start_spare())

    async def _start_spare(self) -> None:
        try:
            spare = await WorkerProcess.start(self._settings.memory_limit_bytes)
        except ReaderLost:
            self._spare_begun = False
            return
        self._admit(spare)
        while True:
            await asyncio.sleep(_SPARE_KEPT_S)
            unused = [one for one in self._sharing.idle if not self.is_express(one)]
            if unused:
                self._sharing.idle.remove(unused[0])
                self._spare_begun = False
                await self._remove_worker(unused[0])
                return

    async def _start_express_later(self) -> None:
        await asyncio.sleep(_EXPRESS_AFTER_S)
        await self._start_express()

    async def _start_express(self) -> None:
        if self._express_begun:
            return
        self._express_begun = True
        try:
            express = await WorkerProcess.start(self._settings.memory_limit_bytes)
        except ReaderLost:
            self._express_begun = False
            return
        self._sharing.express = express
        self._admit(express)

    def _refusal(self) -> TooManyQueries:
        self._statistics.turned_away += 1
        return TooManyQueries(self._settings.retry_after_s)

    async def refresh(self, worker: WorkerProcess) -> None:
        """Have a worker read a revision that includes every write acknowledged before this call.

        Where the disk has no space for that, it reads what it has, and the answer gets a warning. Raises
        ReaderLost, and EOFError when the worker ends.
        """
        needed = self.keeper.revision()
        lease = await self.keeper.lease(needed)
        if worker.lease is lease:
            self.keeper.drop(lease)
        else:
            self._change(worker, lease)
        if worker.revision < needed and not self.keeper.is_refused(needed):
            await self._follow(worker, needed)
        if worker.revision < needed:
            warn(behind(worker.revision, needed))

    async def _follow(self, worker: WorkerProcess, needed: int) -> None:
        """Let a worker follow the commits to a revision; where it cannot, give it a checkpoint of that
        revision.
        """
        lease, from_checkpoint = worker.lease, worker.refused
        assert lease is not None
        commits = self.keeper.log.after(lease.revision if from_checkpoint else worker.revision, needed)
        if commits:
            problem = await worker.follow(lease, commits, from_checkpoint=from_checkpoint)
            worker.refused = bool(problem)
            if not problem:
                return
        newer = await self.keeper.at_least(needed)
        if newer.revision >= needed:
            self._change(worker, newer)
        else:
            self.keeper.note_refusal(needed)
            self.keeper.drop(newer)

    def _change(self, worker: WorkerProcess, lease: Lease) -> None:
        """Replace the lease of a worker, if it has one."""
        if worker.lease is not None:
            worker.close_store()
        self.lend(worker, lease)

    def lend(self, worker: WorkerProcess, lease: Lease | None) -> None:
        """Replace the lease of a worker."""
        previous, worker.lease = worker.lease, lease
        worker.refused = False
        if lease is not None:
            worker.revision = lease.revision
        if previous is not None:
            self.keeper.drop(previous)

    def expire(self, worker: WorkerProcess, timeout_s: float) -> None:
        """The deadline of a worker's query has passed."""
        self._statistics.kills += 1
        worker.kill(QueryTimeout(timeout_s))
        # At once, since a client that stopped reading its answer would never give the worker back.
        self.give_back(worker)

    def give_back(self, worker: WorkerProcess) -> None:
        """A worker is free again, or dead and to be replaced."""
        self._sharing.held.pop(worker, None)
        if not worker.alive:
            self._replace_once(worker)
        else:
            newest = self.keeper.newest
            if worker.lease is not None and newest is not None and worker.lease is not newest:
                worker.close_store()
                self.lend(worker, None)
            self._sharing.idle.append(worker)
        self._dispatch()

    def _replace_once(self, worker: WorkerProcess) -> None:
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
            try:
                worker = await WorkerProcess.start(self._settings.memory_limit_bytes)
            except ReaderLost:
                continue
            if self.is_express(dead):
                self._sharing.express = worker
            self._admit(worker)
            return

    async def _remove_worker(self, worker: WorkerProcess) -> None:
        await worker.end()
        self._processes.discard(worker)
        if worker.lease is not None:
            self.keeper.delete_copies(worker.lease, worker.pid)
        self.lend(worker, None)

    def _admit(self, worker: WorkerProcess) -> None:
        self._processes.add(worker)
        self.give_back(worker)

    def _drop_stale(self) -> None:
        for worker in self._sharing.idle:
            if worker.lease is not None and worker.lease is not self.keeper.newest:
                worker.close_store()
                self.lend(worker, None)

    def _spawn_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def is_express(self, worker: WorkerProcess) -> bool:
        """Whether this one is the express now."""
        return self._sharing.is_express(worker)

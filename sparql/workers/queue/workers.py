"""The reader processes: who gets one when, and another one in the place of one that is dead.

Work takes a free reader, or waits in a bounded queue, in which clients take turns. At its deadline its reader
is killed and another one started in its place; the same happens when nobody wants its answer and it does not
stop by itself. One reader more, the express, is for what is short: it is taken while all others are busy. Yet
another one, the spare, is started when one client holds all readers but the express while another client
waits, and ended when it has nothing to do.
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
from sparql.workers.processes.process import ReaderProcess
from sparql.workers.queue.client import CLIENT
from sparql.workers.queue.fair_queue import FairQueue, was_given
from sparql.workers.queue.sharing import Sharing

_STOP_GRACE_S = 0.2
_EXPRESS_AFTER_S = 2.0
_SPARE_KEPT_S = 10.0
_RESTART_DELAYS_S = (0.0, 0.5, 1.0, 2.0)
_LAST_RESTART_DELAY_S = 5.0


@dataclass(frozen=True)
class ReaderSettings:
    """Sizes and limits of the pool.

    ``readers`` processes (30 MB each when idle, 55 with the extra `allocator`), ``queue_limit`` queries that
    may wait for one, ``timeout_s`` for queries that name none, ``memory_limit_bytes`` for one process,
    ``retry_after_s`` for the rejected.
    ``express``: one process more for short queries, started a little later than the others, or when a query
    first has to wait. No client gets more than ``readers`` processes beside it; while one client has as many
    and others wait, there is one process more.
    """

    readers: int = 4
    queue_limit: int = 256
    timeout_s: float = 30.0
    memory_limit_bytes: int = 2 * 2**30
    retry_after_s: float = 1.0
    express: bool = False


@dataclass
class ReaderStatistics:
    """What the pool has done since its start."""

    queries: int = 0
    kills: int = 0
    turned_away: int = 0


class Staff:
    """The readers of one pool; belongs to one event loop. `keeper` has the checkpoints that they read."""

    def __init__(
        self, source: CheckpointSource, settings: ReaderSettings, statistics: ReaderStatistics
    ) -> None:
        self._settings = settings
        self._statistics = statistics
        self.keeper = CheckpointKeeper(source, self._drop_stale, settings.readers + settings.express)
        self._readers: set[ReaderProcess] = set()
        self._sharing: Sharing[ReaderProcess] = Sharing(
            settings.readers, FairQueue(settings.queue_limit, self._refusal)
        )
        self._express_begun = False
        self._spare_begun = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._launched: list[Launched] = []
        self._closing = False

    def launch(self, starting: list[Launched] | None = None) -> None:
        """Let the readers begin to start while the caller does something else; `start` waits for them.

        What the caller has begun to start with these limits is taken off its list.
        """
        while starting and len(self._launched) < self._settings.readers:
            self._launched.append(starting.pop())
        while len(self._launched) < self._settings.readers:
            self._launched.append(launch(self._settings.memory_limit_bytes))

    async def start(self) -> None:
        """Start all readers; returns when they are ready. Raises ReaderLost when none comes up."""
        try:
            self.launch()
        except ReaderLost:
            await self.close()
            raise
        launched, self._launched = self._launched, []
        limit = self._settings.memory_limit_bytes
        readers = await asyncio.gather(
            *(ReaderProcess.start(limit, one) for one in launched), return_exceptions=True
        )
        failures = [one for one in readers if isinstance(one, BaseException)]
        for one in readers:
            if isinstance(one, ReaderProcess):
                self._admit(one)
        if failures:
            await self.close()
            raise failures[0]
        self._spawn_task(self._prepare())
        if self._settings.express:
            self._spawn_task(self._start_express_later())

    async def _prepare(self) -> None:
        """Have a checkpoint before one is needed: later the disk may be full."""
        with suppress(ReaderLost):
            self.keeper.drop(await self.keeper.lease(self.keeper.revision()))

    async def close(self) -> None:
        """End all readers and give their checkpoints back; queries under way are told."""
        self._closing = True
        self._sharing.queue.fail_all(ReaderLost("The server is shutting down; try again later."))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for launched in self._launched:
            launched.give_up()
        for reader in list(self._readers):
            reader.kill(None)
            await self._bury(reader)
        await self.keeper.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the readers."""
        return tuple(reader.pid for reader in self._readers)

    @property
    def waiting(self) -> int:
        """How many queries wait for a reader."""
        return len(self._sharing.queue)

    async def take(self, deadline: float, *, patient: bool = False, again: bool = False) -> ReaderProcess:
        """A reader for the client of this task, as soon as there is one; `patient` work takes no express.

        Work that had one and starts `again` goes before other work of its client. Raises TooManyQueries when
        too many wait, or none is free by the deadline (time of the loop).
        """
        if self._closing:
            raise ReaderLost("The server is shutting down; try again later.")
        client = CLIENT.get()
        self._sharing.access.asks(client)
        while (reader := self._sharing.take_idle(client, patient)) is not None:
            if reader.alive:
                return reader
            self.give_back(reader)
        waiting = self._sharing.queue.add(client, patient=patient, first=again)
        if self._settings.express and not self._express_begun:
            self._spawn_task(self._start_express())
        self._start_spare_if_needed()
        try:
            async with asyncio.timeout_at(deadline):
                return await waiting.given
        except BaseException as error:
            self._sharing.queue.leave(waiting)
            if was_given(waiting):
                # It came in the very moment in which nobody waited for it any more.
                self.give_back(waiting.given.result())
            if isinstance(error, TimeoutError):
                raise self._refusal() from None
            raise

    def outstayed(self, client: str) -> None:
        """A query of a client took too long on the express."""
        pause = self._sharing.access.outstayed(client)
        asyncio.get_running_loop().call_later(pause, self._dispatch)

    def _dispatch(self) -> None:
        """Give idle readers to those that wait."""
        if self._closing:
            return
        idle = self._sharing.idle
        for reader in [one for one in idle if not one.alive]:
            idle.remove(reader)
            self._replace_once(reader)
        self._sharing.deal()
        self._start_spare_if_needed()

    def _start_spare_if_needed(self) -> None:
        if self._spare_begun or self._closing or not self._sharing.queue:
            return
        if self._sharing.one_client_has_all(self._readers):
            self._spare_begun = True
            self._spawn_task(self._start_spare())

    async def _start_spare(self) -> None:
        try:
            spare = await ReaderProcess.start(self._settings.memory_limit_bytes)
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
                await self._bury(unused[0])
                return

    async def _start_express_later(self) -> None:
        await asyncio.sleep(_EXPRESS_AFTER_S)
        await self._start_express()

    async def _start_express(self) -> None:
        if self._express_begun:
            return
        self._express_begun = True
        try:
            express = await ReaderProcess.start(self._settings.memory_limit_bytes)
        except ReaderLost:
            self._express_begun = False
            return
        self._sharing.express = express
        self._admit(express)

    def _refusal(self) -> TooManyQueries:
        self._statistics.turned_away += 1
        return TooManyQueries(self._settings.retry_after_s)

    async def refresh(self, reader: ReaderProcess) -> None:
        """Have a reader read what holds every write acknowledged before this call.

        Where the disk has no room for that, it reads what there is, and a warning goes out with the answer.
        Raises ReaderLost, and EOFError when the reader ends.
        """
        needed = self.keeper.revision()
        lease = await self.keeper.lease(needed)
        if reader.lease is lease:
            self.keeper.drop(lease)
        else:
            self._change(reader, lease)
        if reader.revision < needed and not self.keeper.is_refused(needed):
            await self._follow(reader, needed)
        if reader.revision < needed:
            warn(behind(reader.revision, needed))

    async def _follow(self, reader: ReaderProcess, needed: int) -> None:
        """Let a reader follow the commits to a revision; where it cannot, give it a checkpoint of that."""
        lease, afresh = reader.lease, reader.refused
        assert lease is not None
        commits = self.keeper.log.after(lease.revision if afresh else reader.revision, needed)
        if commits:
            problem = await reader.follow(lease, commits, afresh=afresh)
            reader.refused = bool(problem)
            if not problem:
                return
        newer = await self.keeper.at_least(needed)
        if newer.revision >= needed:
            self._change(reader, newer)
        else:
            self.keeper.note_refusal(needed)
            self.keeper.drop(newer)

    def _change(self, reader: ReaderProcess, lease: Lease) -> None:
        """Let a reader have this lease in place of the one it has, if it has one."""
        if reader.lease is not None:
            reader.close_store()
        self.lend(reader, lease)

    def lend(self, reader: ReaderProcess, lease: Lease | None) -> None:
        """Let a reader have this lease in place of the one it has."""
        previous, reader.lease = reader.lease, lease
        reader.refused = False
        if lease is not None:
            reader.revision = lease.revision
        if previous is not None:
            self.keeper.drop(previous)

    def expire(self, reader: ReaderProcess, timeout_s: float) -> None:
        """The deadline of what a reader does has come."""
        self._statistics.kills += 1
        reader.kill(QueryTimeout(timeout_s))
        # Now, since whoever takes the answer may have stopped reading and would never give the reader back.
        self.give_back(reader)

    def give_back(self, reader: ReaderProcess) -> None:
        """A reader is free again, or dead and to be replaced."""
        self._sharing.held.pop(reader, None)
        if not reader.alive:
            self._replace_once(reader)
        else:
            newest = self.keeper.newest
            if reader.lease is not None and newest is not None and reader.lease is not newest:
                reader.close_store()
                self.lend(reader, None)
            self._sharing.idle.append(reader)
        self._dispatch()

    def _replace_once(self, reader: ReaderProcess) -> None:
        if not reader.replaced:
            reader.replaced = True
            self._spawn_task(self._replace(reader))

    def retire(self, reader: ReaderProcess) -> None:
        """Nobody wants what a reader does now."""
        if reader.alive:
            self._spawn_task(self._stop(reader))
        else:
            self.give_back(reader)

    async def _stop(self, reader: ReaderProcess) -> None:
        """Bring a reader to the end of a query that nobody waits for, by asking and else by force."""
        reader.stop_query()
        try:
            async with asyncio.timeout(_STOP_GRACE_S):
                while (await reader.frames.next())[0] in (FrameKind.HEAD, FrameKind.DATA):
                    pass
        except (TimeoutError, EOFError):
            self._statistics.kills += 1
            reader.kill(None)
        self.give_back(reader)

    async def _replace(self, dead: ReaderProcess) -> None:
        await self._bury(dead)
        for delay in chain(_RESTART_DELAYS_S, repeat(_LAST_RESTART_DELAY_S)):
            await asyncio.sleep(delay)
            try:
                reader = await ReaderProcess.start(self._settings.memory_limit_bytes)
            except ReaderLost:
                continue
            if self.is_express(dead):
                self._sharing.express = reader
            self._admit(reader)
            return

    async def _bury(self, reader: ReaderProcess) -> None:
        await reader.end()
        self._readers.discard(reader)
        if reader.lease is not None:
            self.keeper.delete_copies(reader.lease, reader.pid)
        self.lend(reader, None)

    def _admit(self, reader: ReaderProcess) -> None:
        self._readers.add(reader)
        self.give_back(reader)

    def _drop_stale(self) -> None:
        for reader in self._sharing.idle:
            if reader.lease is not None and reader.lease is not self.keeper.newest:
                reader.close_store()
                self.lend(reader, None)

    def _spawn_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def is_express(self, reader: ReaderProcess) -> bool:
        """Whether this one is the express now."""
        return self._sharing.is_express(reader)

"""The pool of reader processes: admission, deadlines, replacement.

A query takes a free reader, or waits in a bounded queue. At its deadline its reader is killed and another
one started in its place; the same happens when a client leaves and the reader does not stop by itself.

One reader more, the express, takes queries while all others are busy, so that short ones never wait for long
ones. Its answers must be whole within a moment; a query that takes longer is stopped there, and starts again
on one of the others. Nothing of its answer has been handed on by then. Queries of its form (the text without
names and values) do not take the express for the next minute.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any, Self

from pyoxigraph import NamedNode

from sparql.errors import MalformedRequest, QueryTimeout, ReaderLost, SparqlError, TooManyQueries
from sparql.formats import BY_NAME, GRAPH_FORMATS, RESULT_FORMATS, Format
from sparql.readers.checkpoints import CheckpointKeeper, CheckpointSource, Lease
from sparql.readers.forms import LongForms
from sparql.readers.frames import FrameKind
from sparql.readers.process import Launched, ReaderProcess, launch
from sparql.readers.result import Answer, Preparation, QueryRequest, QueryResult, error_of
from sparql.rewriting.probes import Probe, Row, rows_of
from sparql.syntax import Kind, facts_of
from sparql.vocabulary import GRAPH

_STOP_GRACE_S = 0.2
_EXPRESS_S = 0.25
_EXPRESS_AFTER_S = 2.0
_RESTART_DELAYS_S = (0.0, 0.5, 1.0, 2.0)
_LAST_RESTART_DELAY_S = 5.0


@dataclass(frozen=True)
class ReaderSettings:
    """Sizes and limits of the pool.

    ``readers`` processes (25 MB each when idle), ``queue_limit`` queries that may wait for one, ``timeout_s``
    for queries that name none, ``memory_limit_bytes`` for one process, ``retry_after_s`` for the rejected.
    ``express``: one process more for short queries, started a little later than the others, or when a query
    first has to wait.
    """

    readers: int = 4
    queue_limit: int = 64
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


class _Outstayed(Exception):
    """The express reader is wanted for others."""


class ReaderPool:
    """Runs queries in reader processes on checkpoints of ``source``.

    Belongs to one event loop: ``async with ReaderPool(source) as pool``, or ``start`` and ``close``.
    """

    def __init__(self, source: CheckpointSource, settings: ReaderSettings | None = None) -> None:
        self.settings = settings or ReaderSettings()
        self.statistics = ReaderStatistics()
        self.prepare: Callable[[str], Preparation | None] = lambda text: None
        """How `solutions` has its queries rewritten."""
        self._source = source
        self._keeper = CheckpointKeeper(source, self._drop_stale)
        self._readers: set[ReaderProcess] = set()
        self._idle: list[ReaderProcess] = []
        # Those that wait, and whether they may not take the express.
        self._queue: deque[tuple[asyncio.Future[ReaderProcess], bool]] = deque()
        self._express: ReaderProcess | None = None
        self._express_begun = False
        self._long = LongForms(time.monotonic)
        self._tasks: set[asyncio.Task[None]] = set()
        self._launched: list[Launched] = []
        self._closing = False

    def launch(self) -> None:
        """Let the readers begin to start while the caller does something else; `start` waits for them."""
        while len(self._launched) < self.settings.readers:
            self._launched.append(launch(self.settings.memory_limit_bytes))

    async def start(self) -> None:
        """Start all readers; returns when they are ready. Raises ReaderLost when none comes up."""
        try:
            self.launch()
        except ReaderLost:
            await self.close()
            raise
        launched, self._launched = self._launched, []
        limit = self.settings.memory_limit_bytes
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
        if self.settings.express:
            self._spawn_task(self._start_express_later())

    async def close(self) -> None:
        """End all readers and give their checkpoints back; queries under way are told."""
        self._closing = True
        for waiting, _ in self._queue:
            if not waiting.done():
                waiting.set_exception(ReaderLost("The server is shutting down; try again later."))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for launched in self._launched:
            launched.give_up()
        for reader in list(self._readers):
            reader.kill(None)
            await self._bury(reader)
        await self._keeper.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the readers."""
        return tuple(reader.pid for reader in self._readers)

    @property
    def waiting(self) -> int:
        """How many queries wait for a reader."""
        return len(self._queue)

    @property
    def knows_every_change(self) -> bool:
        """Nobody else writes to the store, so its revision stands for its content."""
        return True

    def revision(self) -> int:
        """The revision that a query started now would see at least."""
        return self._source.revision()

    @asynccontextmanager
    async def query(self, request: QueryRequest) -> AsyncIterator[QueryResult]:
        """Run a query; inside the block its head is known and its body can be iterated.

        Raises RequestError and ReadError (see ``sparql.errors``) on entry and while iterating.
        """
        result = await self.open_query(request)
        try:
            yield result
        finally:
            self.close_query(result)

    async def open_query(self, request: QueryRequest) -> QueryResult:
        """As ``query``, for callers that cannot hold a block open; ``close_query`` must follow."""
        answer, head = await self._ask(FrameKind.QUERY, _members(request), request.timeout_s, request)
        return QueryResult(answer, BY_NAME[head["format"]], tuple(head.get("unknown_functions", ())))

    async def prepared(self, request: QueryRequest) -> tuple[str, int]:
        """The text that the query would run as, and the revision that it would read, without running it."""
        timeout_s = request.timeout_s or self.settings.timeout_s
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        reader = await self._take(deadline)
        killer = loop.call_at(deadline, self._expire, reader, timeout_s)
        try:
            lease = await self._keeper.lease()
            self._replace_lease(reader, lease)
            members = await self._rewritten(reader, lease, _members(request), request)
        except EOFError:
            self._give_back(reader)
            raise await reader.cause_of_end() from None
        except SparqlError:
            self._give_back(reader)
            raise
        except BaseException:
            self._retire(reader)
            raise
        finally:
            killer.cancel()
        self._give_back(reader)
        return members["text"], lease.revision

    async def open_dump(
        self,
        graph: NamedNode | None,
        format_: Format,
        *,
        prefixes: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> QueryResult:
        """A graph as a whole (None: the default graph) as ``open_query`` gives an answer.

        Raises GraphUnknown for a named graph that does not exist; those of the system always do.
        """
        members = {
            "graph": None if graph is None else graph.value,
            "exists": graph is not None and graph.value.startswith(GRAPH.iri),
            "format": format_.name,
            "prefixes": dict(prefixes or {}),
        }
        answer, head = await self._ask(FrameKind.DUMP, members, timeout_s)
        return QueryResult(answer, BY_NAME[head["format"]])

    def close_query(self, result: QueryResult) -> None:
        """Done with an answer, whole or not; never blocks, so that it can run while a task is cancelled."""
        self._finish(result.answer)

    async def _ask(
        self,
        kind: FrameKind,
        members: dict[str, Any],
        timeout_s: float | None,
        request: QueryRequest | None = None,
    ) -> tuple[Answer, dict[str, Any]]:
        """Hand work to a reader and wait for the head of its answer; ``_finish`` must follow."""
        timeout_s = timeout_s or self.settings.timeout_s
        deadline = asyncio.get_running_loop().time() + timeout_s
        text = members.get("text", "")
        patient = text in self._long
        try:
            return await self._ask_one(kind, members, timeout_s, deadline, request, patient=patient)
        except _Outstayed:
            self._long.note(text)
            return await self._ask_one(kind, members, timeout_s, deadline, request, patient=True)

    async def _ask_one(
        self,
        kind: FrameKind,
        members: dict[str, Any],
        timeout_s: float,
        deadline: float,
        request: QueryRequest | None,
        *,
        patient: bool = False,
    ) -> tuple[Answer, dict[str, Any]]:
        reader = await self._take(deadline, patient=patient)
        loop = asyncio.get_running_loop()
        if loop.time() >= deadline:
            # It has not been asked anything yet, so there is nothing to kill it for.
            self._give_back(reader)
            raise QueryTimeout(timeout_s)
        killer = loop.call_at(deadline, self._expire, reader, timeout_s)
        try:
            lease = await self._keeper.lease()
            self._replace_lease(reader, lease)
            as_sent = members
            if request is not None and request.preparation is not None:
                members = await self._rewritten(reader, lease, members, request)
            if not reader.alive:
                # The deadline came first.
                raise EOFError
            outlet = None if request is None or reader is self._express else request.outlet
            told_of = {"path": lease.path, "patience_s": None if outlet is None else outlet.patience_s}
            reader.send(kind, {**members, **told_of})
            self.statistics.queries += 1
            if reader is self._express:
                await self._wait_for_whole(reader)
            told, payload = await reader.frames.next()
            if told is FrameKind.ERROR and members is not as_sent and _may_run_as_sent(request):
                # Its errors should tell of the text that was sent.
                reader.send(kind, {**as_sent, **told_of})
                told, payload = await reader.frames.next()
        except EOFError:
            killer.cancel()
            self._give_back(reader)
            raise await reader.cause_of_end() from None
        except SparqlError:
            # Nothing was sent, or its end has come: the reader is free.
            killer.cancel()
            self._give_back(reader)
            raise
        except BaseException:
            # Cancelled, or no checkpoint, or to be run elsewhere: what the reader does now is of no use.
            killer.cancel()
            self._retire(reader)
            raise
        answer = Answer(reader, lease.revision, killer, outlet)
        if told is not FrameKind.HEAD:
            answer.finished = True
            self._finish(answer)
            raise error_of(told, payload)
        return answer, payload

    async def _wait_for_whole(self, reader: ReaderProcess) -> None:
        """Until all of an answer is here. Raises _Outstayed, unless the reader is no longer the express."""
        try:
            async with asyncio.timeout(_EXPRESS_S):
                await reader.frames.whole()
        except TimeoutError:
            if reader is self._express:
                self.statistics.kills += 1
                reader.kill(None)
                raise _Outstayed from None

    async def _rewritten(
        self, reader: ReaderProcess, lease: Lease, members: dict[str, Any], request: QueryRequest
    ) -> dict[str, Any]:
        """The members with the text that the query's preparation makes for this checkpoint.

        Raises _Outstayed as `_wait_for_whole` does.
        """
        if request.preparation is None:
            return members

        async def ask(probe: Probe) -> list[Row]:
            dataset: dict[str, Any] = {"default_graphs": [], "named_graphs": []} if probe.whole else {}
            asked = {**members, **dataset, "text": probe.text, "result_format": "json", "path": lease.path}
            reader.send(FrameKind.QUERY, asked)
            chunks = []
            while (frame := await reader.frames.next())[0] in (FrameKind.HEAD, FrameKind.DATA):
                if frame[0] is FrameKind.DATA:
                    chunks.append(frame[1])
            if frame[0] is not FrameKind.END:
                raise error_of(*frame)
            return rows_of(json.loads(b"".join(chunks)))

        try:
            async with asyncio.timeout(_EXPRESS_S if reader is self._express else None):
                text = await request.preparation.apply(lease.revision, ask)
        except TimeoutError:
            self.statistics.kills += 1
            reader.kill(None)
            raise _Outstayed from None
        if text == members["text"]:
            return members
        if request.preparation.optional and members["text"] == request.text:
            # Candidates only: it names the same graphs, and reading a long text for them takes long.
            return {**members, "text": text}
        return _members(replace(request, text=text))

    def _finish(self, answer: Answer) -> None:
        answer.killer.cancel()
        if answer.finished:
            self._give_back(answer.reader)
        else:
            self._retire(answer.reader)

    async def solutions(self, text: str, timeout_s: float | None = None) -> dict[str, Any]:
        """The parsed SPARQL 1.1 JSON results of a SELECT or ASK."""
        form = facts_of(text).form
        if form is not None and form.gives_graph:
            raise MalformedRequest("A SELECT or ASK is needed here; a graph has no solutions.")
        request = QueryRequest(text, BY_NAME["json"], timeout_s=timeout_s, preparation=self.prepare(text))
        async with self.query(request) as result:
            parsed: dict[str, Any] = json.loads(b"".join([chunk async for chunk in result]))
        return parsed

    async def _take(self, deadline: float, *, patient: bool = False) -> ReaderProcess:
        if self._closing:
            raise ReaderLost("The server is shutting down; try again later.")
        while (reader := self._idle_reader(patient)) is not None:
            self._idle.remove(reader)
            if reader.alive:
                return reader
            self._give_back(reader)
        if len(self._queue) >= self.settings.queue_limit and not patient:
            self._turn_away()
        if self.settings.express and not self._express_begun:
            self._spawn_task(self._start_express())
        turn: asyncio.Future[ReaderProcess] = asyncio.get_running_loop().create_future()
        self._queue.append((turn, patient))
        try:
            async with asyncio.timeout_at(deadline):
                return await turn
        except TimeoutError:
            self._turn_away()
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._give_back(turn.result())
            raise
        finally:
            if (turn, patient) in self._queue:
                self._queue.remove((turn, patient))
        raise AssertionError("unreachable")

    def _idle_reader(self, patient: bool) -> ReaderProcess | None:
        """The idle reader that was used last; the express only where there is no other."""
        for reader in reversed(self._idle):
            if reader is not self._express:
                return reader
        return None if patient or not self._idle else self._idle[-1]

    async def _start_express_later(self) -> None:
        await asyncio.sleep(_EXPRESS_AFTER_S)
        await self._start_express()

    async def _start_express(self) -> None:
        if self._express_begun:
            return
        self._express_begun = True
        try:
            self._express = await ReaderProcess.start(self.settings.memory_limit_bytes)
        except ReaderLost:
            self._express_begun = False
            return
        self._admit(self._express)

    def _turn_away(self) -> None:
        self.statistics.turned_away += 1
        raise TooManyQueries(self.settings.retry_after_s)

    def _replace_lease(self, reader: ReaderProcess, lease: Lease | None) -> None:
        previous, reader.lease = reader.lease, lease
        if previous is not None:
            self._keeper.drop(previous)

    def _expire(self, reader: ReaderProcess, timeout_s: float) -> None:
        self.statistics.kills += 1
        reader.kill(QueryTimeout(timeout_s))
        # Now, since whoever takes the answer may have stopped reading and would never give the reader back.
        self._give_back(reader)

    def _give_back(self, reader: ReaderProcess) -> None:
        """A reader is free again, or dead and to be replaced."""
        if not reader.alive:
            if not reader.replaced:
                reader.replaced = True
                self._spawn_task(self._replace(reader))
            return
        newest = self._keeper.newest
        if reader.lease is not None and newest is not None and reader.lease is not newest:
            reader.close_store()
            self._replace_lease(reader, None)
        for turn, patient in self._queue:
            if not turn.done() and not (patient and reader is self._express):
                turn.set_result(reader)
                return
        if self._express is not None and self._express not in self._idle:
            # The express may keep what it runs; this one is free for short queries in its stead.
            self._express = reader
        self._idle.append(reader)

    def _retire(self, reader: ReaderProcess) -> None:
        if reader.alive:
            self._spawn_task(self._stop(reader))
        else:
            self._give_back(reader)

    async def _stop(self, reader: ReaderProcess) -> None:
        """Bring a reader to the end of a query that nobody waits for, by asking and else by force."""
        reader.stop_query()
        try:
            async with asyncio.timeout(_STOP_GRACE_S):
                while (await reader.frames.next())[0] in (FrameKind.HEAD, FrameKind.DATA, FrameKind.OFFER):
                    pass
        except (TimeoutError, EOFError):
            self.statistics.kills += 1
            reader.kill(None)
        self._give_back(reader)

    async def _replace(self, dead: ReaderProcess) -> None:
        await self._bury(dead)
        for delay in chain(_RESTART_DELAYS_S, repeat(_LAST_RESTART_DELAY_S)):
            await asyncio.sleep(delay)
            try:
                reader = await ReaderProcess.start(self.settings.memory_limit_bytes)
            except ReaderLost:
                continue
            if self._express is dead:
                self._express = reader
            self._admit(reader)
            return

    async def _bury(self, reader: ReaderProcess) -> None:
        await reader.end()
        self._readers.discard(reader)
        self._replace_lease(reader, None)

    def _admit(self, reader: ReaderProcess) -> None:
        self._readers.add(reader)
        self._give_back(reader)

    def _drop_stale(self) -> None:
        for reader in self._idle:
            if reader.lease is not None and reader.lease is not self._keeper.newest:
                reader.close_store()
                self._replace_lease(reader, None)

    def _spawn_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _may_run_as_sent(request: QueryRequest | None) -> bool:
    return request is not None and request.preparation is not None and request.preparation.optional


def _members(request: QueryRequest) -> dict[str, Any]:
    """What a reader needs to know of a request. Raises for texts that must not reach it."""
    facts = facts_of(request.text)
    facts.refuse_remote_access()
    if facts.kind is Kind.UPDATE:
        raise MalformedRequest("This is an update, not a query; send it as an update.")
    graph_format, result_format = GRAPH_FORMATS[0], RESULT_FORMATS[0]
    if request.format in GRAPH_FORMATS:
        graph_format = request.format
    elif request.format is not None:
        result_format = request.format
    return {
        "text": request.text,
        "base": request.base,
        "result_format": result_format.name,
        "graph_format": graph_format.name,
        "default_graphs": [graph.value for graph in request.default_graphs],
        "named_graphs": [graph.value for graph in request.named_graphs],
        "system_graphs": GRAPH.iri,
        "hide_system_graphs": facts.graph_variable and not facts.dataset_clause,
        "named_in_text": [iri for iri in facts.iris if iri.startswith(GRAPH.iri)],
    }

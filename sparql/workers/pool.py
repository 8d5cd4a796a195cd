"""The pool of worker processes: queries, dumps and the changes of updates, each with a deadline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pyoxigraph import NamedNode, RdfFormat, parse

from sparql.model.errors import MalformedRequest, QueryTimeout, ReaderLost, SparqlError, StoreUnwritable
from sparql.model.vocabulary import GRAPH
from sparql.protocol.formats import BY_NAME, Format
from sparql.rewriting.steps import Probe, Row, rows_of
from sparql.storage.database import unwritable
from sparql.syntax.request_facts import facts_of
from sparql.workers.checkpoints import CheckpointSource
from sparql.workers.frames import FrameKind
from sparql.workers.process import WorkerProcess
from sparql.workers.query import PoolStatistics, Preparation, QueryRequest, error_of, members_of
from sparql.workers.workers import PoolSettings, Workers
from sparql.writing.update_account import QuadDelta


class QueryResult:
    """An answer in progress: its head is known, its body arrives in chunks of at most 64 KB, iterated once.

    When something fails after the head the iteration raises, so one that ends is complete. ``revision`` is
    that of the store that the query read; ``unknown_functions`` are the IRIs of called functions that do not
    exist here. ``killer`` is the timer that ends the worker at the deadline.
    """

    def __init__(self, worker: WorkerProcess, killer: asyncio.TimerHandle, head: Mapping[str, Any]) -> None:
        self.worker = worker
        self.killer = killer
        self.revision = worker.revision
        self.format = BY_NAME[head["format"]]
        self.unknown_functions: tuple[str, ...] = tuple(head.get("unknown_functions", ()))
        self.finished = False

    @property
    def media_type(self) -> str:
        """The media type of the body, without parameters."""
        return self.format.media_type

    def whole(self) -> bytes | None:
        """The body, if all of it has arrived; None while more is to come. Ends the iteration."""
        chunks = self.worker.frames.take_finished()
        if chunks is None:
            return None
        self.finished = True
        return b"".join(chunks)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while not self.finished:
            try:
                kind, payload = await self.worker.frames.next()
            except EOFError:
                raise await self.worker.cause_of_end() from None
            if kind is FrameKind.DATA:
                yield payload
            else:
                self.finished = True
                if kind is not FrameKind.END:
                    raise error_of(kind, payload)


class WorkerPool:
    """Runs queries in worker processes on checkpoints of ``source``, and works out the changes of updates.

    Belongs to one event loop: ``async with WorkerPool(source) as pool``, or ``start`` and ``close``.
    """

    def __init__(self, source: CheckpointSource, settings: PoolSettings | None = None) -> None:
        self.settings = settings or PoolSettings()
        self.statistics = PoolStatistics()
        self.prepare: Callable[[str], Preparation | None] = lambda text: None
        """Prepares queries that `solutions` runs."""
        self._source = source
        self._workers = Workers(source, self.settings, self.statistics)
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Start all workers; returns when they are ready. Raises ReaderLost when one does not start."""
        self._loop = asyncio.get_running_loop()
        await self._workers.start()

    async def close(self) -> None:
        """End all workers and release their checkpoints; running queries fail."""
        await self._workers.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that answer queries."""
        return self._workers.pids

    @property
    def waiting(self) -> int:
        """How many queries wait for a worker."""
        return self._workers.waiting

    @property
    def knows_every_change(self) -> bool:
        """Nobody else writes to the store, so its revision identifies its content."""
        return True

    def revision(self) -> int:
        """The minimum revision that a query started now would see."""
        return self._source.revision()

    @asynccontextmanager
    async def query(self, request: QueryRequest) -> AsyncIterator[QueryResult]:
        """Run a query; inside the block its head is known and its body can be iterated.

        Raises RequestError and ReadError (see ``sparql.model.errors``) on entry and while iterating.
        """
        result = await self.open_query(request)
        try:
            yield result
        finally:
            self.close_query(result)

    async def open_query(self, request: QueryRequest) -> QueryResult:
        """Like ``query``, for callers that cannot use a block; ``close_query`` must follow."""
        return await self._ask(FrameKind.QUERY, members_of(request), request.timeout_s, request)

    async def prepared(self, request: QueryRequest) -> tuple[str, int]:
        """The prepared text of the query, and the revision that it would read, without running it."""
        timeout_s = request.timeout_s or self.settings.timeout_s
        async with self._worker(timeout_s) as (worker, killer, deadline):
            members = await self._rewritten(worker, members_of(request), request, timeout_s, deadline)
        killer.cancel()
        self._workers.give_back(worker)
        return members["text"], worker.revision

    async def open_dump(
        self,
        graph: NamedNode | None,
        format_: Format,
        *,
        prefixes: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> QueryResult:
        """A whole graph (None: the default graph) as ``open_query`` gives an answer.

        Raises GraphUnknown for a named graph that does not exist; system graphs always exist.
        """
        members = {
            "graph": None if graph is None else graph.value,
            "exists": graph is not None and graph.value.startswith(GRAPH.iri),
            "format": format_.name,
            "prefixes": dict(prefixes or {}),
        }
        return await self._ask(FrameKind.DUMP, members, timeout_s)

    def close_query(self, result: QueryResult) -> None:
        """Finish an answer, complete or not; never blocks, so it can run while a task is canceled."""
        result.killer.cancel()
        if result.finished:
            self._workers.give_back(result.worker)
        else:
            self._workers.retire(result.worker)

    @asynccontextmanager
    async def _worker(
        self, timeout_s: float
    ) -> AsyncIterator[tuple[WorkerProcess, asyncio.TimerHandle, float]]:
        """A worker on an up-to-date checkpoint, its timer and the deadline; where the block fails, it is
        free again.

        Raises TooManyQueries, QueryTimeout and ReaderLost.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        worker = await self._workers.take(deadline)
        if loop.time() >= deadline:
            # It has received nothing yet, so there is no reason to kill it.
            self._workers.give_back(worker)
            raise QueryTimeout(timeout_s)
        killer = loop.call_at(deadline, self._workers.expire, worker, timeout_s)
        try:
            await self._workers.refresh(worker)
            yield worker, killer, deadline
        except BaseException as error:
            killer.cancel()
            if not isinstance(error, EOFError | SparqlError):
                # Canceled, or no checkpoint: what this worker does is no longer wanted.
                self._workers.retire(worker)
                raise
            # Nothing was sent, or its end has arrived: the worker is free, or has ended.
            self._workers.give_back(worker)
            if isinstance(error, EOFError):
                raise await worker.cause_of_end() from None
            raise

    async def _ask(
        self,
        kind: FrameKind,
        members: dict[str, Any],
        timeout_s: float | None,
        request: QueryRequest | None = None,
    ) -> QueryResult:
        """Give work to a worker and wait for the head of its answer; ``close_query`` must follow."""
        timeout_s = timeout_s or self.settings.timeout_s
        async with self._worker(timeout_s) as (worker, killer, deadline):
            as_sent = members
            preparation = None if request is None else request.preparation
            if request is not None and preparation is not None:
                members = await self._rewritten(worker, members, request, timeout_s, deadline)
            if not worker.alive:
                # The deadline passed first.
                raise EOFError
            worker.send(kind, {**members, "path": worker.path})
            self.statistics.queries += 1
            answered, payload = await worker.frames.next()
            optional = preparation is not None and preparation.optional
            if answered is FrameKind.ERROR and members is not as_sent and optional:
                # Errors should refer to the text as the client sent it.
                worker.send(kind, {**as_sent, "path": worker.path})
                answered, payload = await worker.frames.next()
            if answered is not FrameKind.HEAD:
                raise error_of(answered, payload)
        return QueryResult(worker, killer, payload)

    async def _rewritten(
        self,
        worker: WorkerProcess,
        members: dict[str, Any],
        request: QueryRequest,
        timeout_s: float,
        deadline: float,
    ) -> dict[str, Any]:
        """The members with the prepared text for this checkpoint.

        Raises QueryTimeout, and EOFError when the worker was killed.
        """
        if request.preparation is None:
            return members

        async def ask(probe: Probe) -> list[Row]:
            if not worker.alive:
                # The deadline passed while the probe was thought of.
                raise EOFError
            worker.send(
                FrameKind.QUERY, {**members, "text": probe.text, "result_format": "json", "path": worker.path}
            )
            _, data = await _whole_answer(worker)
            return rows_of(json.loads(data))

        left_s = deadline - asyncio.get_running_loop().time()
        text = await request.preparation.apply(worker.revision, ask, timeout_s=timeout_s, left_s=left_s)
        if text == members["text"]:
            return members
        if request.preparation.optional and members["text"] == request.text:
            # Only candidates: it names the same graphs, and scanning a long text for them is slow.
            return {**members, "text": text, "sent": request.text}
        return {**members_of(replace(request, text=text)), "sent": request.text}

    async def solutions(self, text: str, timeout_s: float | None = None) -> dict[str, Any]:
        """The parsed SPARQL 1.1 JSON results of a SELECT or ASK."""
        form = facts_of(text).form
        if form is not None and form.gives_graph:
            raise MalformedRequest("This needs a SELECT or ASK; a graph has no solutions.")
        request = QueryRequest(text, BY_NAME["json"], timeout_s=timeout_s, preparation=self.prepare(text))
        async with self.query(request) as result:
            parsed: dict[str, Any] = json.loads(b"".join([chunk async for chunk in result]))
        return parsed

    def capture(
        self,
        text: str,
        using: Sequence[NamedNode] = (),
        using_named: Sequence[NamedNode] = (),
        timeout_s: float = 30.0,
        base: str | None = None,
    ) -> QuadDelta:
        """What an update would change in the store as it is now, worked out by a worker on a copy of it.

        Blocks: to be called on a thread of its own, by one at a time, while nobody writes. Raises
        RequestError, ReadError and WriteError.
        """
        if self._loop is None:
            raise ReaderLost("The workers have not been started.")
        members = {
            "text": text,
            "using": [graph.value for graph in using],
            "using_named": [graph.value for graph in using_named],
            "base": base,
        }
        work = self._capture(members, timeout_s)
        head, body = asyncio.run_coroutine_threadsafe(work, self._loop).result()
        split = head["removals_bytes"]
        return QuadDelta(
            additions=frozenset(parse(body[split:], format=RdfFormat.N_QUADS)),
            removals=frozenset(parse(body[:split], format=RdfFormat.N_QUADS)),
            graphs_created=frozenset(NamedNode(iri) for iri in head["graphs_created"]),
            graphs_dropped=frozenset(NamedNode(iri) for iri in head["graphs_dropped"]),
        )

    async def _capture(self, members: dict[str, Any], timeout_s: float) -> tuple[dict[str, Any], bytes]:
        keeper = self._workers.keeper
        async with self._workers.capturing() as worker:
            killer = asyncio.get_running_loop().call_later(timeout_s, self._workers.expire, worker, timeout_s)
            try:
                await self._workers.refresh(worker, writable=True)
                if worker.needs_copy or not worker.has_copy or worker.revision < keeper.revision():
                    problem = keeper.problem
                    if isinstance(problem, StoreUnwritable):
                        raise problem
                    raise unwritable(Path(worker.path).parent, OSError(str(problem)))
                worker.send(FrameKind.CAPTURE, members)
                head, body = await _whole_answer(worker)
                # Updates of several operations write to it and revert that, whatever their result.
                worker.needs_copy = head["copy_bytes"] > keeper.most_growth // 2
            except StoreUnwritable:
                # The copy may be partly written.
                worker.needs_copy = True
                raise
            except EOFError:
                raise await worker.cause_of_end() from None
            finally:
                killer.cancel()
        return head, body


async def _whole_answer(worker: WorkerProcess) -> tuple[dict[str, Any], bytes]:
    """Head and body of the answer to what was sent. Raises its error, and EOFError when the worker ends."""
    head: dict[str, Any] = {}
    chunks: list[bytes] = []
    while (frame := await worker.frames.next())[0] is not FrameKind.END:
        kind, payload = frame
        if kind is FrameKind.HEAD:
            head = payload
        elif kind is FrameKind.DATA:
            chunks.append(payload)
        else:
            raise error_of(kind, payload)
    return head, b"".join(chunks)

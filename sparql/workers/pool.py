"""The pool of worker processes: queries and dumps, each with a deadline.

One worker, the express (see `queue.workers`), takes queries while all others are busy, so that short ones
never wait for long ones. Its answers must be complete within a moment; a longer query is stopped there and
starts again on another worker. Nothing of its answer has been sent by then. Queries of the same form (the
text without names and values) do not use the express for the next minute.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, Self

from pyoxigraph import NamedNode

from sparql.model.errors import MalformedRequest, QueryTimeout, SparqlError
from sparql.model.vocabulary import GRAPH
from sparql.protocol.formats import BY_NAME, Format
from sparql.rewriting.meaning.probes import Probe, Row, rows_of
from sparql.syntax.request_facts import facts_of
from sparql.workers.checkpoints import CheckpointSource
from sparql.workers.members import members_of
from sparql.workers.processes.frames import FrameKind
from sparql.workers.processes.launching import Launched
from sparql.workers.processes.process import WorkerProcess
from sparql.workers.queue.client import CLIENT
from sparql.workers.queue.slow_forms import SlowForms
from sparql.workers.queue.workers import PoolSettings, PoolStatistics, Workers
from sparql.workers.result import Answer, Preparation, QueryRequest, QueryResult, error_of

_EXPRESS_S = 0.25


class _TookTooLong(Exception):
    """The express worker is needed for other queries."""


class WorkerPool:
    """Runs queries in worker processes on checkpoints of ``source``.

    Belongs to one event loop: ``async with WorkerPool(source) as pool``, or ``start`` and ``close``.
    """

    def __init__(self, source: CheckpointSource, settings: PoolSettings | None = None) -> None:
        self.settings = settings or PoolSettings()
        self.statistics = PoolStatistics()
        self.prepare: Callable[[str], Preparation | None] = lambda text: None
        """Prepares queries that `solutions` runs."""
        self._source = source
        self._workers = Workers(source, self.settings, self.statistics)
        self._long = SlowForms(time.monotonic)

    def launch(self, starting: list[Launched] | None = None) -> None:
        """Begin to start the workers without waiting; `start` waits for them.

        Processes in `starting` that have these limits are taken over and removed from that list.
        """
        self._workers.launch(starting)

    async def start(self) -> None:
        """Start all workers; returns when they are ready. Raises ReaderLost when one does not start."""
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
        """The process ids of the workers."""
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
        answer, head = await self._ask(FrameKind.QUERY, members_of(request), request.timeout_s, request)
        return QueryResult(answer, BY_NAME[head["format"]], tuple(head.get("unknown_functions", ())))

    async def prepared(self, request: QueryRequest) -> tuple[str, int]:
        """The prepared text of the query, and the revision that it would read, without running it."""
        timeout_s = request.timeout_s or self.settings.timeout_s
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        # Its questions to the worker may take too long for the express.
        worker = await self._workers.take(deadline, avoid_express=True)
        killer = loop.call_at(deadline, self._workers.expire, worker, timeout_s)
        try:
            await self._workers.refresh(worker)
            members = await self._rewritten(worker, members_of(request), request, timeout_s, deadline)
        except EOFError:
            self._workers.give_back(worker)
            raise await worker.cause_of_end() from None
        except SparqlError:
            self._workers.give_back(worker)
            raise
        except BaseException:
            self._workers.retire(worker)
            raise
        finally:
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
        answer, head = await self._ask(FrameKind.DUMP, members, timeout_s)
        return QueryResult(answer, BY_NAME[head["format"]])

    def close_query(self, result: QueryResult) -> None:
        """Finish an answer, complete or not; never blocks, so it can run while a task is canceled."""
        self._finish(result.answer)

    async def _ask(
        self,
        kind: FrameKind,
        members: dict[str, Any],
        timeout_s: float | None,
        request: QueryRequest | None = None,
    ) -> tuple[Answer, dict[str, Any]]:
        """Give work to a worker and wait for the head of its answer; ``_finish`` must follow."""
        timeout_s = timeout_s or self.settings.timeout_s
        deadline = asyncio.get_running_loop().time() + timeout_s
        text, client = members.get("text", ""), CLIENT.get()
        avoid_express = self._long.known(client, text)
        try:
            return await self._ask_one(
                kind, members, timeout_s, deadline, request, avoid_express=avoid_express
            )
        except _TookTooLong:
            self._long.note(client, text)
            self._workers.took_too_long(client)
            return await self._ask_one(
                kind, members, timeout_s, deadline, request, avoid_express=True, again=True
            )

    async def _ask_one(
        self,
        kind: FrameKind,
        members: dict[str, Any],
        timeout_s: float,
        deadline: float,
        request: QueryRequest | None,
        *,
        avoid_express: bool = False,
        again: bool = False,
    ) -> tuple[Answer, dict[str, Any]]:
        worker = await self._workers.take(deadline, avoid_express=avoid_express, again=again)
        loop = asyncio.get_running_loop()
        if loop.time() >= deadline:
            # It has received nothing yet, so there is no reason to kill it.
            self._workers.give_back(worker)
            raise QueryTimeout(timeout_s)
        killer = loop.call_at(deadline, self._workers.expire, worker, timeout_s)
        try:
            await self._workers.refresh(worker)
            as_sent = members
            if request is not None and request.preparation is not None:
                members = await self._rewritten(worker, members, request, timeout_s, deadline)
            if not worker.alive:
                # The deadline passed first.
                raise EOFError
            worker.send(kind, {**members, "path": worker.path})
            self.statistics.queries += 1
            if self._workers.is_express(worker):
                await self._wait_for_whole(worker)
            answered, payload = await worker.frames.next()
            if answered is FrameKind.ERROR and members is not as_sent and _may_run_as_sent(request):
                # Errors should refer to the text as the client sent it.
                worker.send(kind, {**as_sent, "path": worker.path})
                answered, payload = await worker.frames.next()
        except EOFError:
            killer.cancel()
            self._workers.give_back(worker)
            raise await worker.cause_of_end() from None
        except SparqlError:
            # Nothing was sent, or its end has arrived: the worker is free.
            killer.cancel()
            self._workers.give_back(worker)
            raise
        except BaseException:
            # Canceled, no checkpoint, or to be run on another worker: this worker's result is of no use.
            killer.cancel()
            self._workers.retire(worker)
            raise
        answer = Answer(worker, worker.revision, killer)
        if answered is not FrameKind.HEAD:
            answer.finished = True
            self._finish(answer)
            raise error_of(answered, payload)
        return answer, payload

    async def _wait_for_whole(self, worker: WorkerProcess) -> None:
        """Wait for the complete answer. Raises _TookTooLong if this worker is still the express."""
        whole = False
        with suppress(TimeoutError):
            async with asyncio.timeout(_EXPRESS_S):
                whole = await worker.frames.whole()
        if not whole and self._workers.is_express(worker):
            self.statistics.kills += 1
            worker.kill(None)
            raise _TookTooLong

    async def _rewritten(
        self,
        worker: WorkerProcess,
        members: dict[str, Any],
        request: QueryRequest,
        timeout_s: float,
        deadline: float,
    ) -> dict[str, Any]:
        """The members with the prepared text for this checkpoint.

        Raises QueryTimeout, EOFError when the worker was killed, and _TookTooLong like `_wait_for_whole`.
        """
        if request.preparation is None:
            return members

        async def ask(probe: Probe) -> list[Row]:
            if not worker.alive:
                # The deadline passed while the probe was thought of.
                raise EOFError
            asked = {**members, "text": probe.text, "result_format": "json", "path": worker.path}
            worker.send(FrameKind.QUERY, asked)
            chunks = []
            while (frame := await worker.frames.next())[0] in (FrameKind.HEAD, FrameKind.DATA):
                if frame[0] is FrameKind.DATA:
                    chunks.append(frame[1])
            if frame[0] is not FrameKind.END:
                raise error_of(*frame)
            return rows_of(json.loads(b"".join(chunks)))

        try:
            async with asyncio.timeout(_EXPRESS_S if self._workers.is_express(worker) else None):
                left_s = deadline - asyncio.get_running_loop().time()
                text = await request.preparation.apply(
                    worker.revision, ask, timeout_s=timeout_s, left_s=left_s
                )
        except TimeoutError:
            self.statistics.kills += 1
            worker.kill(None)
            raise _TookTooLong from None
        if text == members["text"]:
            return members
        if request.preparation.optional and members["text"] == request.text:
            # Only candidates: it names the same graphs, and scanning a long text for them is slow.
            return {**members, "text": text, "sent": request.text}
        return {**members_of(replace(request, text=text)), "sent": request.text}

    def _finish(self, answer: Answer) -> None:
        answer.killer.cancel()
        if answer.finished:
            self._workers.give_back(answer.worker)
        else:
            self._workers.retire(answer.worker)

    async def solutions(self, text: str, timeout_s: float | None = None) -> dict[str, Any]:
        """The parsed SPARQL 1.1 JSON results of a SELECT or ASK."""
        form = facts_of(text).form
        if form is not None and form.gives_graph:
            raise MalformedRequest("This needs a SELECT or ASK; a graph has no solutions.")
        request = QueryRequest(text, BY_NAME["json"], timeout_s=timeout_s, preparation=self.prepare(text))
        async with self.query(request) as result:
            parsed: dict[str, Any] = json.loads(b"".join([chunk async for chunk in result]))
        return parsed


def _may_run_as_sent(request: QueryRequest | None) -> bool:
    return request is not None and request.preparation is not None and request.preparation.optional

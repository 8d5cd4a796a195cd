"""The pool of reader processes: queries and dumps, each with a deadline.

The express (see `staff`) takes queries while all other readers are busy, so that short ones never wait for
long ones. Its answers must be whole within a moment; a query that takes longer is stopped there, and starts
again on one of the others. Nothing of its answer has been handed on by then. Queries of its form (the text
without names and values) do not take the express for the next minute.
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
from sparql.workers.processes.process import ReaderProcess
from sparql.workers.queue.client import CLIENT
from sparql.workers.queue.slow_forms import LongForms
from sparql.workers.queue.workers import ReaderSettings, ReaderStatistics, Staff
from sparql.workers.result import Answer, Preparation, QueryRequest, QueryResult, error_of

_EXPRESS_S = 0.25


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
        self._staff = Staff(source, self.settings, self.statistics)
        self._long = LongForms(time.monotonic)

    def launch(self, starting: list[Launched] | None = None) -> None:
        """Let the readers begin to start while the caller does something else; `start` waits for them.

        What the caller has begun to start with these limits is taken off its list.
        """
        self._staff.launch(starting)

    async def start(self) -> None:
        """Start all readers; returns when they are ready. Raises ReaderLost when none comes up."""
        await self._staff.start()

    async def close(self) -> None:
        """End all readers and give their checkpoints back; queries under way are told."""
        await self._staff.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the readers."""
        return self._staff.pids

    @property
    def waiting(self) -> int:
        """How many queries wait for a reader."""
        return self._staff.waiting

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

        Raises RequestError and ReadError (see ``sparql.model.errors``) on entry and while iterating.
        """
        result = await self.open_query(request)
        try:
            yield result
        finally:
            self.close_query(result)

    async def open_query(self, request: QueryRequest) -> QueryResult:
        """As ``query``, for callers that cannot hold a block open; ``close_query`` must follow."""
        answer, head = await self._ask(FrameKind.QUERY, members_of(request), request.timeout_s, request)
        return QueryResult(answer, BY_NAME[head["format"]], tuple(head.get("unknown_functions", ())))

    async def prepared(self, request: QueryRequest) -> tuple[str, int]:
        """The text that the query would run as, and the revision that it would read, without running it."""
        timeout_s = request.timeout_s or self.settings.timeout_s
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        # What it asks the reader may take longer than the express has time for.
        reader = await self._staff.take(deadline, patient=True)
        killer = loop.call_at(deadline, self._staff.expire, reader, timeout_s)
        try:
            await self._staff.refresh(reader)
            members = await self._rewritten(reader, members_of(request), request)
        except EOFError:
            self._staff.give_back(reader)
            raise await reader.cause_of_end() from None
        except SparqlError:
            self._staff.give_back(reader)
            raise
        except BaseException:
            self._staff.retire(reader)
            raise
        finally:
            killer.cancel()
        self._staff.give_back(reader)
        return members["text"], reader.revision

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
        text, client = members.get("text", ""), CLIENT.get()
        patient = self._long.known(client, text)
        try:
            return await self._ask_one(kind, members, timeout_s, deadline, request, patient=patient)
        except _Outstayed:
            self._long.note(client, text)
            self._staff.outstayed(client)
            return await self._ask_one(kind, members, timeout_s, deadline, request, patient=True, again=True)

    async def _ask_one(
        self,
        kind: FrameKind,
        members: dict[str, Any],
        timeout_s: float,
        deadline: float,
        request: QueryRequest | None,
        *,
        patient: bool = False,
        again: bool = False,
    ) -> tuple[Answer, dict[str, Any]]:
        reader = await self._staff.take(deadline, patient=patient, again=again)
        loop = asyncio.get_running_loop()
        if loop.time() >= deadline:
            # It has not been asked anything yet, so there is nothing to kill it for.
            self._staff.give_back(reader)
            raise QueryTimeout(timeout_s)
        killer = loop.call_at(deadline, self._staff.expire, reader, timeout_s)
        try:
            await self._staff.refresh(reader)
            as_sent = members
            if request is not None and request.preparation is not None:
                members = await self._rewritten(reader, members, request)
            if not reader.alive:
                # The deadline came first.
                raise EOFError
            reader.send(kind, {**members, "path": reader.path})
            self.statistics.queries += 1
            if self._staff.is_express(reader):
                await self._wait_for_whole(reader)
            told, payload = await reader.frames.next()
            if told is FrameKind.ERROR and members is not as_sent and _may_run_as_sent(request):
                # Its errors should tell of the text that was sent.
                reader.send(kind, {**as_sent, "path": reader.path})
                told, payload = await reader.frames.next()
        except EOFError:
            killer.cancel()
            self._staff.give_back(reader)
            raise await reader.cause_of_end() from None
        except SparqlError:
            # Nothing was sent, or its end has come: the reader is free.
            killer.cancel()
            self._staff.give_back(reader)
            raise
        except BaseException:
            # Cancelled, or no checkpoint, or to be run elsewhere: what the reader does now is of no use.
            killer.cancel()
            self._staff.retire(reader)
            raise
        answer = Answer(reader, reader.revision, killer)
        if told is not FrameKind.HEAD:
            answer.finished = True
            self._finish(answer)
            raise error_of(told, payload)
        return answer, payload

    async def _wait_for_whole(self, reader: ReaderProcess) -> None:
        """Until all of an answer is here. Raises _Outstayed, unless the reader is no longer the express."""
        whole = False
        with suppress(TimeoutError):
            async with asyncio.timeout(_EXPRESS_S):
                whole = await reader.frames.whole()
        if not whole and self._staff.is_express(reader):
            self.statistics.kills += 1
            reader.kill(None)
            raise _Outstayed

    async def _rewritten(
        self, reader: ReaderProcess, members: dict[str, Any], request: QueryRequest
    ) -> dict[str, Any]:
        """The members with the text that the query's preparation makes for this checkpoint.

        Raises _Outstayed as `_wait_for_whole` does.
        """
        if request.preparation is None:
            return members

        async def ask(probe: Probe) -> list[Row]:
            dataset: dict[str, Any] = {"default_graphs": [], "named_graphs": []} if probe.whole else {}
            asked = {**members, **dataset, "text": probe.text, "result_format": "json", "path": reader.path}
            reader.send(FrameKind.QUERY, asked)
            chunks = []
            while (frame := await reader.frames.next())[0] in (FrameKind.HEAD, FrameKind.DATA):
                if frame[0] is FrameKind.DATA:
                    chunks.append(frame[1])
            if frame[0] is not FrameKind.END:
                raise error_of(*frame)
            return rows_of(json.loads(b"".join(chunks)))

        try:
            async with asyncio.timeout(_EXPRESS_S if self._staff.is_express(reader) else None):
                text = await request.preparation.apply(reader.revision, ask)
        except TimeoutError:
            self.statistics.kills += 1
            reader.kill(None)
            raise _Outstayed from None
        if text == members["text"]:
            return members
        if request.preparation.optional and members["text"] == request.text:
            # Candidates only: it names the same graphs, and reading a long text for them takes long.
            return {**members, "text": text, "sent": request.text}
        return {**members_of(replace(request, text=text)), "sent": request.text}

    def _finish(self, answer: Answer) -> None:
        answer.killer.cancel()
        if answer.finished:
            self._staff.give_back(answer.reader)
        else:
            self._staff.retire(answer.reader)

    async def solutions(self, text: str, timeout_s: float | None = None) -> dict[str, Any]:
        """The parsed SPARQL 1.1 JSON results of a SELECT or ASK."""
        form = facts_of(text).form
        if form is not None and form.gives_graph:
            raise MalformedRequest("A SELECT or ASK is needed here; a graph has no solutions.")
        request = QueryRequest(text, BY_NAME["json"], timeout_s=timeout_s, preparation=self.prepare(text))
        async with self.query(request) as result:
            parsed: dict[str, Any] = json.loads(b"".join([chunk async for chunk in result]))
        return parsed


def _may_run_as_sent(request: QueryRequest | None) -> bool:
    return request is not None and request.preparation is not None and request.preparation.optional

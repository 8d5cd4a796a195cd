"""Passes queries on to a remote store, with the interface of the worker pool.

At the deadline, or when the client leaves, the connection is closed, so that the store can stop; Virtuoso,
which does not notice, receives the time limit in the request. Queries that name a graph of the local store
are answered there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

import httpx
from pyoxigraph import NamedNode

from sparql.model.errors import (
    GraphUnknown,
    MalformedRequest,
    QueryTimeout,
    ReaderLost,
    RemoteUnreachable,
    RemoteUnsupported,
    SparqlError,
    TooManyQueries,
)
from sparql.model.vocabulary import GRAPH
from sparql.protocol.formats import BY_NAME, GRAPH_FORMATS, RESULT_FORMATS, Format
from sparql.remote.capabilities import (
    Terms,
    called_functions,
    reads_beside,
    with_kept_apart,
    without_system_graphs,
)
from sparql.remote.endpoint import CONNECT_TIMEOUT_S, JSON_RESULTS, check_whole, query_form, refused
from sparql.remote.store import LOCAL_IRIS, RemoteStore
from sparql.remote.streaming import Bridge, Conversion, Outflow, Sink, pieces
from sparql.syntax.request_facts import Kind, facts_of
from sparql.workers.fair_queue import FairQueue
from sparql.workers.pool import WorkerPool
from sparql.workers.query import PoolStatistics, QueryRequest, StreamedResult
from sparql.workers.workers import PoolSettings

_AT_ONCE = 16
Convert = Callable[[Iterator[bytes], IO[bytes]], None]


@dataclass(frozen=True)
class _Passed:
    """A query as sent to the store."""

    text: str
    accept: str
    default_graphs: tuple[NamedNode, ...]
    named_graphs: tuple[NamedNode, ...]


class RemoteResult:
    """An answer in progress."""

    def __init__(self, format_: Format, revision: int) -> None:
        self.format = format_
        self.revision = revision
        self.unknown_functions: tuple[str, ...] = ()
        """The remote store reports unknown functions by its own errors."""
        self.outflow = Outflow()
        self.task: asyncio.Task[None] | None = None

    def whole(self) -> bytes | None:
        """The body, if all of it has arrived."""
        return self.outflow.whole()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self.outflow)


class RemoteQueryService:
    """Answers queries from a remote store; `beside` answers those about the local graphs."""

    def __init__(self, store: RemoteStore, beside: WorkerPool, settings: PoolSettings) -> None:
        self.settings = settings
        self.statistics = PoolStatistics()
        self._store = store
        self._beside = beside
        self._terms = Terms(store.address.query_url, store.capabilities.kept_apart)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "remote queries")
        # A client never has all places.
        self._places = FairQueue(_AT_ONCE - 1, settings.queue_limit, self._refusal, range(_AT_ONCE))
        self._running: set[asyncio.Task[None]] = set()
        self._client: httpx.AsyncClient | None = None

    async def start(self) -> None:
        """Open the connections. Raises ReaderLost."""
        self._client = httpx.AsyncClient(
            auth=self._store.address.authentication(),
            timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=_AT_ONCE),
            trust_env=False,
        )
        await self._beside.start()

    async def close(self) -> None:
        """Stop running queries and close the connections."""
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
        await self._beside.close()
        self._threads.shutdown()

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that read the local store."""
        return self._beside.pids

    @property
    def waiting(self) -> int:
        """How many queries wait for their turn."""
        return self._places.waiting

    @property
    def knows_every_change(self) -> bool:
        """Others may write to the store, so its revision does not identify its content."""
        return False

    def revision(self) -> int:
        """The last commit of this server."""
        return self._store.revision()

    @asynccontextmanager
    async def query(self, request: QueryRequest) -> AsyncIterator[StreamedResult]:
        """Run a query; inside the block its body can be iterated."""
        result = await self.open_query(request)
        try:
            yield result
        finally:
            self.close_query(result)

    async def prepared(self, request: QueryRequest) -> tuple[str, int]:
        """The query text for the store."""
        loop = asyncio.get_running_loop()
        timeout_s = request.timeout_s or self.settings.timeout_s
        passed = await loop.run_in_executor(self._threads, self._passed, request, timeout_s)
        return passed.text, self.revision()

    async def open_query(self, request: QueryRequest) -> StreamedResult:
        """Pass a query on; returns when its answer begins. Raises RequestError, ReadError, RemoteError."""
        facts = facts_of(request.text)
        facts.refuse_remote_access()
        if facts.kind is Kind.UPDATE:
            raise MalformedRequest("This is an update, not a query; send it as an update.")
        if request.preparation is not None and not request.preparation.optional:
            raise RemoteUnsupported(
                self._store.address.query_url,
                "the parameters derived and rewrite, and urbankg:textMatch; leave them out",
            )
        asked = {graph.value for graph in (*request.default_graphs, *request.named_graphs)}
        if LOCAL_IRIS & (facts.iris | asked):
            if not (asked or facts.dataset_clause) and reads_beside(request.text, LOCAL_IRIS):
                raise RemoteUnsupported(
                    self._store.address.query_url,
                    "a query over its own graph and one kept beside it (provenance, review, proposals, "
                    "state). Ask for each in a query of its own, and join the answers by VALUES",
                )
            return await self._beside.open_query(request)
        graph = facts.form is not None and facts.form.gives_graph
        offers = GRAPH_FORMATS if graph else RESULT_FORMATS
        format_ = request.format if request.format in offers else offers[0]
        assert format_ is not None
        timeout_s = request.timeout_s or self.settings.timeout_s
        conversion = Conversion(self._store.address.query_url, self._store.capabilities, format_)

        def convert(source: Iterator[bytes], output: IO[bytes]) -> None:
            conversion.run(facts.form, source, output)

        loop = asyncio.get_running_loop()
        # It may have to ask which named graphs there are.
        passed = await loop.run_in_executor(self._threads, self._passed, request, timeout_s)
        return await self._open(passed, convert, format_, timeout_s)

    async def open_dump(
        self,
        graph: NamedNode | None,
        format_: Format,
        *,
        prefixes: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> StreamedResult:
        """A whole graph (None: the default graph). Raises GraphUnknown for an empty one."""
        if graph is not None and graph.value in LOCAL_IRIS:
            return await self._beside.open_dump(graph, format_, prefixes=prefixes, timeout_s=timeout_s)
        if graph is not None and not graph.value.startswith(GRAPH.iri):
            # Bypasses the cache of a commit in progress.
            look = self._store.graph.until(timeout_s or self.settings.timeout_s)
            if not await asyncio.to_thread(look.contains_named_graph, graph):
                raise GraphUnknown(graph.value)
        name = graph or self._store.address.default_graph
        pattern = "?s ?p ?o" if name is None else f"GRAPH {name} {{ ?s ?p ?o }}"
        conversion = Conversion(self._store.address.query_url, self._store.capabilities, format_)

        def convert(source: Iterator[bytes], output: IO[bytes]) -> None:
            conversion.rows_as_graph(source, output, dict(prefixes or {}))

        passed = _Passed(f"SELECT ?s ?p ?o WHERE {{ {pattern} }}", JSON_RESULTS, (), ())
        return await self._open(passed, convert, format_, timeout_s or self.settings.timeout_s)

    def close_query(self, result: Any) -> None:
        """Finish an answer, complete or not; an open connection is closed."""
        if not isinstance(result, RemoteResult):
            self._beside.close_query(result)
        elif result.task is not None:
            result.task.cancel()

    async def solutions(self, text: str, timeout_s: float | None = None) -> dict[str, Any]:
        """The parsed SPARQL 1.1 JSON results of a SELECT or ASK."""
        async with self.query(QueryRequest(text, BY_NAME["json"], timeout_s=timeout_s)) as result:
            parsed: dict[str, Any] = json.loads(b"".join([chunk async for chunk in result]))
        return parsed

    def _passed(self, request: QueryRequest, timeout_s: float) -> _Passed:
        """The text and the dataset: our default graph, and clients' graphs only."""
        facts = facts_of(request.text)
        graph = facts.form is not None and facts.form.gives_graph
        text = with_kept_apart(request.text, self._terms, request.base)
        default, named = request.default_graphs, request.named_graphs
        if not (default or named or facts.dataset_clause):
            if facts.graph_variable:
                text = without_system_graphs(text)
            own = self._store.address.default_graph
            if own is not None:
                default = (own,)
                if "graph" in text.lower():
                    system = [NamedNode(iri) for iri in sorted(facts.iris) if iri.startswith(GRAPH.iri)]
                    named = self._store.graph.until(timeout_s).visible_graphs(system)
        if request.base is not None and facts.base is None:
            text = f"BASE <{request.base}> {text}"
        accept = "application/n-triples, text/plain;q=0.5" if graph else JSON_RESULTS
        return _Passed(text, accept, default, named)

    async def _open(
        self, passed: _Passed, convert: Convert, format_: Format, timeout_s: float
    ) -> StreamedResult:
        if self._client is None:
            raise ReaderLost("The server is shutting down; try again later.")
        result = RemoteResult(format_, self.revision())
        result.task = asyncio.create_task(self._run(passed, convert, result, timeout_s))
        self._running.add(result.task)
        result.task.add_done_callback(self._running.discard)
        self.statistics.queries += 1
        try:
            await result.outflow.begun()
        except BaseException:
            self.close_query(result)
            raise
        return result

    def _refusal(self) -> TooManyQueries:
        self.statistics.turned_away += 1
        return TooManyQueries(self.settings.retry_after_s)

    async def _run(self, passed: _Passed, convert: Convert, result: RemoteResult, timeout_s: float) -> None:
        """Fetch and convert until the end, the deadline, or the client's leaving."""
        error: SparqlError | None = ReaderLost("The query was stopped; try again later.")
        try:
            async with asyncio.timeout(timeout_s):
                place = await self._places.take()
                try:
                    await self._fetch(passed, convert, result, timeout_s)
                finally:
                    self._places.give_back(place)
            error = None
        except TimeoutError:
            self.statistics.kills += 1
            error = QueryTimeout(timeout_s)
        except SparqlError as found:
            error = found
        except httpx.HTTPError as found:
            error = RemoteUnreachable(self._store.address.query_url, str(found) or type(found).__name__)
        finally:
            result.outflow.end(error)

    async def _fetch(self, passed: _Passed, convert: Convert, result: RemoteResult, timeout_s: float) -> None:
        assert self._client is not None
        url = self._store.address.query_url
        form = query_form(passed.text, passed.default_graphs, passed.named_graphs)
        if self._store.capabilities.virtuoso:
            form["timeout"] = str(max(1000, round(timeout_s * 1000)))
        async with self._client.stream("POST", url, data=form, headers={"Accept": passed.accept}) as response:
            if not response.is_success:
                await response.aread()
                raise _failure(url, response, passed.text)
            try:
                check_whole(url, response.headers)
            except SparqlError:
                if response.headers.get("x-sql-state") == "S1TAT":
                    raise QueryTimeout(timeout_s) from None
                raise
            bridge = Bridge(asyncio.get_running_loop())
            sink = Sink(bridge, result.outflow)
            chunks = response.aiter_bytes(65536)

            def work() -> None:
                # The engine accepts any object with a write method.
                convert(pieces(bridge, chunks), cast("IO[bytes]", sink))
                sink.finish()

            working = asyncio.get_running_loop().run_in_executor(self._threads, work)
            try:
                await asyncio.shield(working)
            finally:
                bridge.stop()
                # The thread reads from the response, so it must end first.
                while not working.done():
                    await asyncio.wait((working,))
                # Retrieved, so that asyncio does not report it as ignored when this task was canceled.
                working.exception()


def _failure(url: str, response: httpx.Response, text: str) -> SparqlError:
    """A 400 concerns the query, all else the store."""
    error = refused(url, response.status_code, response.text)
    functions = called_functions(text)
    if functions:
        return RemoteUnsupported(
            url,
            f"this query, perhaps for its functions (<{'>, <'.join(functions)}>): there only those of the "
            f"store can be called. It answers: {error.reply}",
        )
    if response.status_code == 400:
        return MalformedRequest(f"The store refuses the query: {error.reply}")
    return error

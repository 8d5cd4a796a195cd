"""Answers of a remote store on their way to a client: parsed, repaired, checked, and serialized again.

Stores deviate from the standard (Virtuoso's CSV, TSV and ASK), and some end a broken answer as if it were
complete; so everything is parsed, in one thread, since the engine's results belong to the thread that made
them. Bytes pass between the event loop and that thread in both directions, with small buffers.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from itertools import chain
from typing import IO, Any, TypeVar, cast

from pyoxigraph import (
    DefaultGraph,
    NamedNode,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
    serialize,
)

from sparql.model.errors import RemoteIncomplete, SparqlError
from sparql.protocol.formats import Format
from sparql.remote.capabilities import StoreCapabilities, result_repair, triple_repair
from sparql.remote.endpoint import as_file
from sparql.remote.store import RemoteStore
from sparql.syntax.request_facts import QueryForm

T = TypeVar("T")
_CHUNK = 64 * 1024
_FIRST_CHUNK = 4 * 1024
_WAITING_CHUNKS = 4


class Stopped(Exception):
    """The answer is no longer wanted."""


class Bridge:
    """Lets one thread wait for coroutines of the loop, until `stop`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: Future[Any] | None = None
        self._stopped = False

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Called by the thread: the result of `work` on the loop. Raises Stopped."""
        if self._stopped:
            work.close()
            raise Stopped
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._waiting = future
        if self._stopped:
            future.cancel()
        try:
            return future.result()
        except CancelledError:
            raise Stopped from None

    def stop(self) -> None:
        """Called on the loop: ends any wait of the thread."""
        self._stopped = True
        if self._waiting is not None:
            self._waiting.cancel()


def pieces(bridge: Bridge, source: AsyncIterator[bytes]) -> Iterator[bytes]:
    """Called by the thread: the pieces of an asynchronous source."""

    async def following() -> bytes | None:
        return await anext(source, None)

    while (piece := bridge.wait_for(following())) is not None:
        yield piece


class Outflow:
    """The output of the thread for the client; ends with `end`."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self._taken = asyncio.Event()
        self.ended = False
        self.error: SparqlError | None = None

    async def put(self, chunk: bytes) -> None:
        """Pass on a chunk; waits while many are not taken yet."""
        while len(self._chunks) >= _WAITING_CHUNKS:
            self._taken.clear()
            await self._taken.wait()
        self._chunks.append(chunk)
        self._changed.set()

    def end(self, error: SparqlError | None = None) -> None:
        """No more follows; with an error, the output is incomplete."""
        if not self.ended:
            self.ended, self.error = True, error
            self._changed.set()

    async def begun(self) -> None:
        """Return when there is a chunk, or the end. Raises an error that occurred before the first chunk."""
        while not self._chunks and not self.ended:
            self._changed.clear()
            await self._changed.wait()
        if not self._chunks and self.error is not None:
            raise self.error

    def whole(self) -> bytes | None:
        """Everything, if the output is complete."""
        if not self.ended or self.error is not None:
            return None
        chunks = b"".join(self._chunks)
        self._chunks.clear()
        return chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            while self._chunks:
                yield self._chunks.popleft()
                self._taken.set()
            if self.ended:
                if self.error is not None:
                    raise self.error
                return
            self._changed.clear()
            await self._changed.wait()


class Sink:
    """The file that the serializer writes to, in the thread."""

    def __init__(self, bridge: Bridge, outflow: Outflow) -> None:
        self._bridge = bridge
        self._outflow = outflow
        self._parts: list[bytes] = []
        self._size = 0
        self._threshold = _FIRST_CHUNK

    def write(self, data: bytes) -> int:
        """Accept bytes of the answer. Raises Stopped."""
        self._parts.append(bytes(data))
        self._size += len(data)
        if self._size >= self._threshold:
            self.finish()
            self._threshold = _CHUNK
        return len(data)

    def flush(self) -> None:
        """Does nothing: chunks are sent by size, the last one by `finish`."""

    def finish(self) -> None:
        """Send the rest."""
        if self._parts:
            data, self._parts, self._size = b"".join(self._parts), [], 0
            self._bridge.wait_for(self._outflow.put(data))


_TRUE = ("1", "true")


class Conversion:
    """Answers of the store at `url`, with its `capabilities`, in `format_`."""

    def __init__(self, url: str, capabilities: StoreCapabilities, format_: Format) -> None:
        self._url = url
        self._capabilities = capabilities
        self._format = format_

    def run(self, form: QueryForm | None, pieces: Iterator[bytes], output: IO[bytes]) -> None:
        """Convert the answer to a query of this form. Raises RemoteIncomplete."""
        try:
            if form is not None and form.gives_graph:
                self._graph(pieces, output)
            elif form is QueryForm.ASK:
                self._truth(b"".join(pieces), output)
            else:
                self._table(pieces, output)
        except (SyntaxError, ValueError, KeyError) as error:
            raise RemoteIncomplete(
                self._url, f"it is broken or not the requested format ({error})"
            ) from error

    def rows_as_graph(
        self, pieces: Iterator[bytes], output: IO[bytes], prefixes: dict[str, str] | None
    ) -> None:
        """Write the triples from a SELECT of ?s ?p ?o. Raises RemoteIncomplete."""
        assert isinstance(self._format.engine, RdfFormat)
        try:
            rows = self._solutions(pieces)
            triples = (_triple(row["s"], row["p"], row["o"]) for row in rows)
            serialize(triples, output, format=self._format.engine, prefixes=prefixes)
        except (SyntaxError, ValueError) as error:
            raise RemoteIncomplete(self._url, f"it is broken ({error})") from error

    def _table(self, pieces: Iterator[bytes], output: IO[bytes]) -> None:
        assert isinstance(self._format.engine, QueryResultsFormat)
        self._solutions(pieces).serialize(output, format=self._format.engine)

    def _solutions(self, pieces: Iterator[bytes]) -> QuerySolutions:
        repaired = as_file(result_repair(self._capabilities)(pieces))
        return cast("QuerySolutions", parse_query_results(repaired, format=QueryResultsFormat.JSON))

    def _truth(self, answer: bytes, output: IO[bytes]) -> None:
        assert isinstance(self._format.engine, QueryResultsFormat)
        members = json.loads(answer)
        if "boolean" in members:
            truth = bool(members["boolean"])
        else:
            # Virtuoso 7 answers with a row that holds 1 or 0.
            rows = members["results"]["bindings"]
            truth = any(term["value"] in _TRUE for row in rows for term in row.values())
        text = json.dumps({"head": {}, "boolean": truth})
        result = parse_query_results(text, format=QueryResultsFormat.JSON)
        result.serialize(output, format=self._format.engine)

    def _graph(self, pieces: Iterator[bytes], output: IO[bytes]) -> None:
        assert isinstance(self._format.engine, RdfFormat)
        repaired = as_file(triple_repair(self._capabilities)(pieces))
        quads = parse(repaired, format=RdfFormat.N_TRIPLES)
        serialize(self._counted(quad.triple for quad in quads), output, format=self._format.engine)

    def _counted(self, triples: Iterator[Triple]) -> Iterator[Triple]:
        """A store that truncates tables truncates graphs too, without saying so."""
        limit = self._capabilities.row_limit
        for count, triple in enumerate(triples, 1):
            if limit is not None and count >= limit:
                raise RemoteIncomplete(
                    self._url,
                    f"the store truncates answers at {limit} rows; raise its limit or narrow the query",
                )
            yield triple


def _triple(subject: object, predicate: object, object_: object) -> Triple:
    assert isinstance(predicate, NamedNode)
    return Triple(subject, predicate, object_)  # type: ignore[arg-type]


_PATIENCE_S = 3600.0


async def dump_dataset(store: RemoteStore, format_: Format) -> AsyncIterator[bytes]:
    """In pieces, graph by graph; one graph at a time is in memory. Raises RemoteError."""
    assert isinstance(format_.engine, RdfFormat)
    engine = format_.engine
    bridge, outflow = Bridge(asyncio.get_running_loop()), Outflow()
    sink = Sink(bridge, outflow)
    graph = store.graph.until(_PATIENCE_S)

    def work() -> None:
        graphs = (DefaultGraph(), *graph.client_graphs())
        quads = chain.from_iterable(graph.quads_for_pattern(None, None, None, one) for one in graphs)
        # The engine accepts any object with a write method.
        serialize(quads, cast("IO[bytes]", sink), format=engine)
        sink.finish()

    async def run() -> None:
        try:
            await asyncio.to_thread(work)
        except Stopped:
            return
        finally:
            outflow.end()

    running = asyncio.create_task(run())
    try:
        async for piece in outflow:
            yield piece
        await running
    finally:
        bridge.stop()
        await asyncio.wait((running,))

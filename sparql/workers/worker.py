"""A worker process: runs one query at a time on a read-only checkpoint and streams the answer.

Started as ``python -m sparql.workers.worker DATA_FD CONTROL_FD MEMORY_LIMIT_BYTES``. Queries arrive over the
data socket and answers are sent over it. The control pipe brings the numbers of queries to stop; its end
means that the parent is gone. A query is evaluated, serialized and dropped in one thread, because the
engine's results belong to the thread that made them. A query that takes long gets a lower priority than
others; its thread ends with it, and the next query runs in a new one.

An update's changes are worked out on the worker's copy of the store. What it writes to the copy on the way is
reverted, so the copy always equals a revision of the store.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import shutil
import socket
import sys
import threading
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any

import pyoxigraph
from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    NamedNode,
    QueryBoolean,
    QuerySolutions,
    QueryTriples,
    RdfFormat,
)

from sparql.model.errors import GraphUnknown, SparqlError
from sparql.protocol.formats import BY_NAME, Format
from sparql.storage.dump import check_triple_terms, triple_term_unwritable
from sparql.syntax.problems import tolerating
from sparql.syntax.request_facts import as_in, with_columns
from sparql.workers.frames import HEADER_SIZE, FrameKind, pack, pack_json, unpack_header
from sparql.workers.functions import FUNCTION_IRIS, Functions, load_aggregates, load_functions
from sparql.workers.limits import die_with_parent, forbid_network
from sparql.workers.sending import CHUNK, QueryMonitor, QueryStopped, Sink
from sparql.workers.store_copy import CopyBehind, StoreCopy, copies_folder, copy_of, disk_bytes
from sparql.workers.whole_graph import whole_graph

_IDLE_BEFORE_WARMING_S = 2.0
_IN_MEMORY = 2**20
# Parsers recurse for each nesting level of a text. This is address space; memory is taken when used.
_THREAD_STACK_BYTES = 16 * 2**20


class Worker:
    """The open checkpoint, and the operations on it."""

    def __init__(self, connection: socket.socket, monitor: QueryMonitor) -> None:
        self._connection = connection
        self._monitor = monitor
        self._store: pyoxigraph.Store | None = None
        self._path = ""
        self._copy: StoreCopy | None = None
        self._copies = 0
        self._graphs: list[NamedNode | BlankNode] | None = None
        self._functions: Functions | None = None
        self._aggregates: Functions = {}
        self._warmed = False
        self._received = bytearray()

    def greet(self) -> None:
        """Report that it is ready for queries."""
        self._connection.sendall(pack(FrameKind.READY))

    def serve(self) -> bool:
        """Answer queries until the parent closes the connection; True if the thread was slowed down."""
        try:
            while (frame := self._next_frame()) is not None:
                kind, payload = frame
                if kind is FrameKind.CLOSE:
                    self._close()
                    continue
                if kind is not FrameKind.CAPTURE:
                    # All writers wait for an update.
                    self._monitor.begin()
                if kind is FrameKind.FEED:
                    self._follow(json.loads(payload))
                else:
                    self._answer(kind, json.loads(payload))
                if self._monitor.end():
                    return True
        except (BrokenPipeError, ConnectionResetError):
            pass
        return False

    def _next_frame(self) -> tuple[FrameKind, bytes] | None:
        if (
            not self._warmed
            and not self._received
            and not select.select((self._connection,), (), (), _IDLE_BEFORE_WARMING_S)[0]
        ):
            self._warmed = True
            threading.Thread(target=load_functions, daemon=True).start()
        header = self._receive(HEADER_SIZE)
        if header is None:
            return None
        kind, length = unpack_header(header)
        payload = self._receive(length)
        return None if payload is None else (kind, payload)

    def _receive(self, length: int) -> bytes | None:
        """The requested number of bytes; further ones are kept. None at the end of the connection."""
        received = self._received
        while len(received) < length:
            piece = self._connection.recv(CHUNK)
            if not piece:
                return None
            received += piece
        data = bytes(received[:length])
        del received[:length]
        return data

    def _answer(self, kind: FrameKind, request: dict[str, Any]) -> None:
        try:
            if kind is FrameKind.DUMP:
                self._dump(request)
            elif kind is FrameKind.CAPTURE:
                self._capture(request)
            else:
                self._run(request)
        except SparqlError as error:
            self._refuse(error)
        except SyntaxError as error:
            self._refuse(self._syntax_problem(kind, request, error))
        except QueryStopped:
            self._report("stopped", "")
        except (ValueError, OSError, RuntimeError) as error:
            self._report("failed", str(error))

    def _syntax_problem(self, kind: FrameKind, request: dict[str, Any], error: SyntaxError) -> SparqlError:
        """The error with its position in the text as sent, if another text was run."""
        # Imported here, since it is rarely needed.
        from sparql.syntax.problems import syntax_problem

        text, sent = request["text"], request.get("sent")
        if sent is not None:
            try:
                # Read and discard.
                pyoxigraph.Store().query(
                    sent, base_iri=request["base"], custom_aggregate_functions=self._aggregates
                )
            except SyntaxError as own:
                text, error = sent, own
            except (ValueError, OSError, RuntimeError):
                pass
        return syntax_problem("update" if kind is FrameKind.CAPTURE else "query", str(error), text)

    def _refuse(self, error: SparqlError) -> None:
        self._connection.sendall(pack(FrameKind.REFUSED, pickle.dumps(error)))

    def _report(self, type_: str, message: str) -> None:
        self._connection.sendall(pack_json(FrameKind.ERROR, {"type": type_, "message": message}))

    def _run(self, request: dict[str, Any]) -> None:
        store = self._open(request["path"])
        graph = None if request["default_graphs"] or request["named_graphs"] else whole_graph(request["text"])
        if graph is not None:
            self._write_out(store, graph, BY_NAME[request["graph_format"]], request)
            return
        known, dataset = self._functions_for(request["text"]), self._dataset(store, request)
        results, unknown = tolerating(
            lambda functions: self._query(store, request, functions, dataset), known
        )
        triples = isinstance(results, QueryTriples)
        format_ = BY_NAME[request["graph_format"] if triples else request["result_format"]]
        facts = {"unknown_functions": [iri.value for iri in unknown]} if unknown else {}
        sink = self._sink(request, format_, facts)
        if format_.holds_triple_terms:
            _serialize(results, sink, format_, request["prefixes"])
        else:
            assert isinstance(results, QueryTriples)
            self._serialize_whole(results, sink, format_)
        sink.finish()

    def _serialize_whole(self, results: QueryTriples, sink: Sink, format_: Format) -> None:
        """Write the whole answer aside before its first byte is sent: any triple may hold a triple term.

        Raises TripleTermUnwritable.
        """
        with SpooledTemporaryFile(_IN_MEMORY) as aside:
            held = _Stoppable(aside, sink)
            try:
                _serialize(results, held, format_, None)
            except OSError as error:
                if "RDF 1.2" in str(error):
                    raise triple_term_unwritable(format_) from error
                raise
            aside.seek(0)
            while piece := aside.read(CHUNK):
                sink.write(piece)

    def _query(
        self,
        store: pyoxigraph.Store,
        request: dict[str, Any],
        functions: Functions | None,
        dataset: dict[str, Any],
    ) -> pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean | pyoxigraph.QueryTriples:
        given: dict[str, Any] = {
            "base_iri": request["base"],
            "custom_functions": functions,
            "custom_aggregate_functions": self._aggregates,
        }

        def columns() -> list[str]:
            # An empty store answers at once.
            found = pyoxigraph.Store().query(request["text"], **given)
            assert isinstance(found, QuerySolutions)
            return as_in(
                request.get("sent") or request["text"], (variable.value for variable in found.variables)
            )

        return store.query(with_columns(request["text"], columns), **given, **dataset)

    def _sink(self, request: dict[str, Any], format_: Format, facts: dict[str, Any] | None = None) -> Sink:
        head = pack_json(FrameKind.HEAD, {"format": format_.name, **(facts or {})})
        return Sink(self._connection, self._monitor, request["number"], head)

    def _dump(self, request: dict[str, Any]) -> None:
        """Send a whole graph."""
        store = self._open(request["path"])
        name = request["graph"]
        graph = DefaultGraph() if name is None else NamedNode(name)
        if isinstance(graph, NamedNode) and not request["exists"] and not store.contains_named_graph(graph):
            raise GraphUnknown(graph.value)
        self._write_out(store, graph, BY_NAME[request["format"]], request)

    def _write_out(
        self,
        store: pyoxigraph.Store,
        graph: DefaultGraph | NamedNode,
        format_: Format,
        request: dict[str, Any],
    ) -> None:
        """Send a graph without the memory that CONSTRUCT needs to find duplicates."""
        assert isinstance(format_.engine, RdfFormat)
        check_triple_terms(store, format_, [graph])
        prefixes = request.get("prefixes")
        sink = self._sink(request, format_)
        # The engine accepts any object with a write method.
        store.dump(sink, format=format_.engine, from_graph=graph, prefixes=prefixes)  # type: ignore[arg-type]
        sink.finish()

    def _capture(self, request: dict[str, Any]) -> None:
        """Send the changes of an update: its removals and then its additions as N-Quads."""
        # Imported here: workers that answer queries do without.
        from sparql.storage.database import unwritable
        from sparql.writing.updates import capture

        copy = self._copy
        assert copy is not None
        assert copy.store is not None
        try:
            delta = capture(
                copy.store,
                request["text"],
                using=[NamedNode(iri) for iri in request["using"]],
                using_named=[NamedNode(iri) for iri in request["using_named"]],
                base=request["base"],
                functions=self._functions_for(request["text"]),
                aggregates=self._aggregates,
                writable=True,
                buffer=copy.buffer,
            )
        except OSError as error:
            raise unwritable(Path(self._path).parent, error) from error
        removals = pyoxigraph.serialize(delta.removals, format=RdfFormat.N_QUADS) or b""
        head = {
            "removals_bytes": len(removals),
            "graphs_created": [graph.value for graph in delta.graphs_created],
            "graphs_dropped": [graph.value for graph in delta.graphs_dropped],
            "copy_bytes": disk_bytes(copy.path, own=True),
        }
        sink = Sink(self._connection, self._monitor, request["number"], pack_json(FrameKind.HEAD, head))
        sink.write(removals)
        sink.write(pyoxigraph.serialize(delta.additions, format=RdfFormat.N_QUADS) or b"")
        sink.finish()

    def _open(self, path: str) -> pyoxigraph.Store:
        if self._store is None or path != self._path:
            self._close()
            self._store, self._path = pyoxigraph.Store.read_only(path), path
        return self._store

    def _close(self) -> None:
        """Close the checkpoint and the copy that was made of it."""
        self._store, self._path, self._graphs = None, "", None
        if self._copy is not None:
            self._copy.delete()
            shutil.rmtree(os.path.dirname(self._copy.path), ignore_errors=True)
            self._copy = None

    def _follow(self, asked: dict[str, Any]) -> None:
        """Bring what is read to the last of the commits, as far as the disk allows, and report the revision.

        The commits follow a checkpoint when `from_checkpoint`, else the current copy. A copy that can no
        longer follow is replaced by a new one, or kept where there is no space for that.
        """
        path, problem = asked["path"], ""
        if self._path != path:
            self._close()
        try:
            if self._copy is None or asked["from_checkpoint"]:
                self._copies += 1
                made = copy_of(
                    path,
                    asked["revision"],
                    os.path.join(copies_folder(path, os.getpid()), str(self._copies)),
                    asked["commits"],
                )
                self._store, self._path, self._graphs = made.store, path, None
                if self._copy is not None:
                    self._copy.delete()
                self._copy = made
            else:
                self._graphs = None
                for commit in asked["commits"]:
                    self._copy.follow(commit)
        except (OSError, CopyBehind) as error:
            problem = str(error) or "a commit is missing"
        revision = asked["revision"] if self._copy is None else self._copy.revision
        self._connection.sendall(pack_json(FrameKind.REVISION, {"revision": revision, "problem": problem}))

    def _dataset(self, store: pyoxigraph.Store, request: dict[str, Any]) -> dict[str, Any]:
        default, named = request["default_graphs"], request["named_graphs"]
        if default or named:
            return {
                "default_graph": [NamedNode(iri) for iri in default],
                "named_graphs": [NamedNode(iri) for iri in named],
            }
        system = request["system_graphs"]
        if not request["hide_system_graphs"]:
            return {}
        if self._graphs is None:
            self._graphs = [
                graph
                for graph in store.named_graphs()
                if not (isinstance(graph, NamedNode) and graph.value.startswith(system))
            ]
        return {"named_graphs": [*self._graphs, *(NamedNode(iri) for iri in request["named_in_text"])]}

    def _functions_for(self, text: str) -> Functions | None:
        # A call needs the function's IRI; only BASE could keep its beginning out of the text.
        if not any(part in text for part in FUNCTION_IRIS) and "base" not in text.lower():
            return None
        if self._functions is None:
            self._functions, self._aggregates = load_functions(), load_aggregates()
        return self._functions


class _Stoppable:
    """A file that the serializer writes to until the answer is no longer wanted."""

    def __init__(self, file: IO[bytes], sink: Sink) -> None:
        self._file = file
        self._sink = sink

    def write(self, data: bytes) -> int:
        """Write on. Raises QueryStopped."""
        self._sink.raise_if_stopped()
        return self._file.write(data)

    def flush(self) -> None:
        """Does nothing: it is read again here."""


def _serialize(
    results: QuerySolutions | QueryBoolean | QueryTriples,
    output: Sink | _Stoppable,
    format_: Format,
    prefixes: dict[str, str] | None,
) -> None:
    # The engine accepts any object with a write method.
    if isinstance(results, QueryTriples) and prefixes:
        assert isinstance(format_.engine, RdfFormat)
        pyoxigraph.serialize(results, output, format=format_.engine, prefixes=prefixes)  # type: ignore[arg-type]
    else:
        results.serialize(output, format=format_.engine)  # type: ignore[arg-type]


def main(arguments: list[str]) -> int:
    """Run a worker on the given file descriptors."""
    data, control, memory_limit_bytes = (int(argument) for argument in arguments)
    die_with_parent()
    forbid_network()
    monitor = QueryMonitor(control, memory_limit_bytes)
    monitor.start()
    threading.stack_size(_THREAD_STACK_BYTES)
    with socket.socket(fileno=data) as connection:
        worker = Worker(connection, monitor)
        try:
            worker.greet()
        except BrokenPipeError:
            return 0  # The server ended before it needed this worker.
        while (slowed := _serve_in_thread(worker)) is True:
            pass
    return 0 if slowed is False else 1


def _serve_in_thread(worker: Worker) -> bool | None:
    """The result of the worker's `serve` in a new thread; None when it fails."""
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(worker.serve()))
    thread.start()
    thread.join()
    return found[0] if found else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

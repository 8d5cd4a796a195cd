"""A process that finds out what updates would change, on a clone of the store that it may write to.

Started as ``python -m sparql.readers.capture_worker DATA_FD CONTROL_FD MEMORY_LIMIT_BYTES``. The clone
follows the store: FEED frames bring what each commit changed, and are not answered. A CAPTURE names the clone
and the revision that it must be at; the answer is as any reader's: HEAD, DATA and END, or ERROR or REFUSED.
What an update writes to the clone on its way is taken back, so the clone is always the store as it is.
"""

from __future__ import annotations

import json
import shutil
import socket
import sys
import threading
from typing import Any

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat, parse

from sparql.arenas import share_arenas
from sparql.errors import SparqlError
from sparql.readers.frames import FrameKind, pack_json
from sparql.readers.limits import die_with_parent, forbid_network
from sparql.readers.worker import THREAD_STACK_BYTES, Sink, Watch, Worker, run_in_thread
from sparql.syntax import syntax_problem
from sparql.updates import capture
from sparql.write_buffer import WriteBuffer

_BUFFERED_BYTES = 4 * 2**20
"""Beyond this, a clone is given up for a new one: the engine keeps in memory what was written, and
what it read from files that are no more."""


class CaptureWorker(Worker):
    """The clone, and the updates carried out on it."""

    _revision = 0
    _buffer: WriteBuffer | None = None
    _worn = False

    def serve(self) -> bool:
        """Take commits in and capture updates until the parent closes the connection."""
        try:
            while (frame := self._next_frame()) is not None:
                kind, payload = frame
                if kind is FrameKind.CLOSE:
                    self._let_go()
                elif kind is FrameKind.FEED:
                    self._follow(json.loads(payload))
                else:
                    self._answer(kind, json.loads(payload))
                if self._worn:
                    self._let_go()
        except (BrokenPipeError, ConnectionResetError):
            pass
        return False

    def _let_go(self) -> None:
        """Close the clone and delete it: only here is it known when its files are no longer written."""
        path, self._store, self._path, self._buffer = self._path, None, "", None
        self._worn = False
        if path:
            shutil.rmtree(path, ignore_errors=True)

    def _wear(self) -> None:
        """Much was written to the clone: the next update is tried on a new one."""
        self._worn = True

    def _follow(self, commit: dict[str, Any]) -> None:
        """Bring the clone to the next revision; one that cannot follow is let go of."""
        clone = self._store
        if clone is None or commit["revision"] != self._revision + 1:
            self._let_go()
            return
        try:
            for graph in commit["graphs_dropped"]:
                clone.remove_graph(NamedNode(graph))
            for graph in commit["graphs_created"]:
                clone.add_graph(NamedNode(graph))
            for quad in parse(commit["removals"], format=RdfFormat.N_QUADS):
                clone.remove(quad)
            clone.extend(parse(commit["additions"], format=RdfFormat.N_QUADS))
            assert self._buffer is not None
            written = commit["removals"].count("\n") + commit["additions"].count("\n")
            self._buffer.wrote(written, len(commit["additions"]))
        except (OSError, SyntaxError, ValueError):
            self._let_go()
            return
        self._revision = commit["revision"]

    def _answer(self, kind: FrameKind, request: dict[str, Any]) -> None:
        try:
            self._capture(request)
        except SparqlError as error:
            self._refuse(error)
        except SyntaxError as error:
            self._refuse(syntax_problem("update", str(error), request["text"]))
        except (ValueError, RuntimeError) as error:
            self._tell("failed", str(error))
        except OSError as error:
            # The clone may be half written.
            self._let_go()
            self._tell("failed", str(error))

    def _capture(self, request: dict[str, Any]) -> None:
        """Send the delta of an update: its removals and then its additions as N-Quads."""
        if request["fresh"]:
            self._let_go()
            self._store, self._path = pyoxigraph.Store(request["path"]), request["path"]
            self._buffer = WriteBuffer(self._wear, _BUFFERED_BYTES)
            self._revision = request["revision"]
        if self._store is None or self._path != request["path"] or self._revision != request["revision"]:
            self._let_go()
            self._tell("stale", "")
            return
        delta = capture(
            self._store,
            request["text"],
            using=[NamedNode(iri) for iri in request["using"]],
            using_named=[NamedNode(iri) for iri in request["using_named"]],
            base=request["base"],
            functions=self._functions_for(request["text"]),
            aggregates=self._aggregates,
            writable=True,
            buffer=self._buffer,
        )
        removals = pyoxigraph.serialize(delta.removals, format=RdfFormat.N_QUADS) or b""
        head = {
            "removals_bytes": len(removals),
            "graphs_created": [graph.value for graph in delta.graphs_created],
            "graphs_dropped": [graph.value for graph in delta.graphs_dropped],
        }
        sink = Sink(self._connection, self._watch, -1, pack_json(FrameKind.HEAD, head))
        sink.write(removals)
        sink.write(pyoxigraph.serialize(delta.additions, format=RdfFormat.N_QUADS) or b"")
        sink.finish()


def main(arguments: list[str]) -> int:
    """Run a worker on the given file descriptors."""
    data, control, memory_limit_bytes = (int(argument) for argument in arguments)
    share_arenas()
    die_with_parent()
    forbid_network()
    watch = Watch(control, memory_limit_bytes)
    watch.start()
    threading.stack_size(THREAD_STACK_BYTES)
    with socket.socket(fileno=data) as connection:
        worker = CaptureWorker(connection, watch)
        worker.greet()
        return 0 if run_in_thread(worker) is False else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

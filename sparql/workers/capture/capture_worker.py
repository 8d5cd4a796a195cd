"""A process that computes the changes of updates, on a writable clone of the store.

Started as ``python -m sparql.workers.capture.capture_worker DATA_FD CONTROL_FD MEMORY_LIMIT_BYTES``. The
clone follows the store: FEED frames contain the changes of each commit and are not answered. A CAPTURE names
the clone and the revision that it must have; the answer is like any worker's: HEAD, DATA and END, or ERROR or
REFUSED. Temporary writes of an update to the clone are reverted, so the clone always equals the store.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat

from sparql.model.errors import SparqlError
from sparql.storage.disk_space import is_full, unwritable
from sparql.syntax.request_facts import syntax_problem
from sparql.workers.capture.store_copy import CopyBehind, StoreCopy
from sparql.workers.processes.arenas import share_arenas
from sparql.workers.processes.frames import FrameKind, pack_json
from sparql.workers.processes.limits import die_with_parent, forbid_network
from sparql.workers.sending import QueryMonitor, Sink
from sparql.workers.worker import THREAD_STACK_BYTES, Worker, run_in_thread
from sparql.writing.updates import capture


class CaptureWorker(Worker):
    """The clone, and the updates carried out on it."""

    def serve(self) -> bool:
        """Apply commits and capture updates until the parent closes the connection."""
        try:
            while (frame := self._next_frame()) is not None:
                kind, payload = frame
                if kind is FrameKind.CLOSE:
                    self._let_go()
                elif kind is FrameKind.FEED:
                    self._follow_one(json.loads(payload))
                else:
                    self._answer(kind, json.loads(payload))
        except (BrokenPipeError, ConnectionResetError):
            pass
        return False

    def _let_go(self) -> None:
        """Close the clone and delete it: only this process knows when its files are no longer written."""
        clone, self._copy, self._store = self._copy, None, None
        if clone is not None:
            clone.delete()

    def _follow_one(self, commit: dict[str, Any]) -> None:
        """Bring the clone to the next revision; one that cannot follow is deleted."""
        try:
            if self._copy is not None:
                self._copy.follow(commit)
        except (OSError, SyntaxError, ValueError, CopyBehind):
            self._let_go()

    def _answer(self, kind: FrameKind, request: dict[str, Any]) -> None:
        try:
            self._capture(request)
        except SparqlError as error:
            self._refuse(error)
        except SyntaxError as error:
            self._refuse(syntax_problem("update", str(error), request["text"]))
        except (ValueError, RuntimeError) as error:
            self._report("failed", str(error))
        except OSError as error:
            # The clone may be partly written.
            self._let_go()
            if is_full(error):
                self._refuse(unwritable(Path(request["path"]).parent, error))
            else:
                self._report("failed", str(error))

    def _capture(self, request: dict[str, Any]) -> None:
        """Send the changes of an update: its removals and then its additions as N-Quads."""
        if request["fresh"]:
            self._let_go()
            self._copy = StoreCopy(request["path"], request["revision"])
            self._store = self._copy.store
        clone = self._copy
        if (
            clone is None
            or self._store is None
            or clone.path != request["path"]
            or clone.revision != request["revision"]
        ):
            self._let_go()
            self._report("stale", "")
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
            buffer=clone.buffer,
        )
        removals = pyoxigraph.serialize(delta.removals, format=RdfFormat.N_QUADS) or b""
        head = {
            "removals_bytes": len(removals),
            "graphs_created": [graph.value for graph in delta.graphs_created],
            "graphs_dropped": [graph.value for graph in delta.graphs_dropped],
        }
        sink = Sink(self._connection, self._monitor, -1, pack_json(FrameKind.HEAD, head))
        sink.write(removals)
        sink.write(pyoxigraph.serialize(delta.additions, format=RdfFormat.N_QUADS) or b"")
        sink.finish()


def main(arguments: list[str]) -> int:
    """Run a worker on the given file descriptors."""
    data, control, memory_limit_bytes = (int(argument) for argument in arguments)
    share_arenas()
    die_with_parent()
    forbid_network()
    monitor = QueryMonitor(control, memory_limit_bytes)
    monitor.start()
    threading.stack_size(THREAD_STACK_BYTES)
    with socket.socket(fileno=data) as connection:
        worker = CaptureWorker(connection, monitor)
        worker.greet()
        return 0 if run_in_thread(worker) is False else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

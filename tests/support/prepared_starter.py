"""The process that others are forked from: `python -m tests.support.prepared_starter SOCKET_FD`.

It imports what `urbankg` needs, once, and then forks for each request. It opens no store and starts no
thread, so that a child is as a new process that has just imported its modules.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module

from tests.support.prepared_processes import LARGEST_REQUEST, Request

# What commands and the start of a server import inside of functions.
MODULES = (
    "numpy",
    "rich.console",
    "rich.table",
    "shapely",
    "curation.review.review_queue",
    "extractors.pipeline",
    "server.curation.proposing",
    "server.http.app",
    "server.http.reporting.problem_map",
    "server.intake.intake",
    "server.intake.resolution.resolving",
    "server.runtime.early_start",
    "server.runtime.serving",
    "shapes.engine.queries",
    "shapes.gate.plan_cache",
    "sparql.ask.service",
    "sparql.inference.materialized",
    "sparql.spatial.relations",
    "sparql.workers.result",
    "sparql.writing.bulk",
)


def prepare() -> None:
    """Import it all, and the modules of all commands."""
    gc.disable()
    from server.cli.app import COMMANDS

    for name in [*MODULES, *(place.partition(":")[0] for place in COMMANDS.values())]:
        import_module(name)
    gc.freeze()
    gc.enable()


def requested(control: socket.socket) -> Request | None:
    """In a child: what it was forked for. In this process: None, when the other end is closed."""
    with selectors.PollSelector() as waiting:
        waiting.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is not control:
                    waiting.unregister(key.fileobj)
                    _report_end(key.fd, *key.data)
                    continue
                content, descriptors, _, _ = socket.recv_fds(control, LARGEST_REQUEST, 4)
                if not content:
                    return None
                client = socket.socket(fileno=descriptors[0])
                pid = os.fork()
                if pid == 0:
                    client.close()
                    for other in waiting.get_map().values():
                        os.close(other.fd) if other.fileobj is not control else control.close()
                        if other.data:
                            other.data[1].close()
                    return Request.read(content, descriptors[1:])
                for descriptor in descriptors[1:]:
                    os.close(descriptor)
                client.sendall(f"{pid}\n".encode())
                waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, client))


def _report_end(descriptor: int, pid: int, client: socket.socket) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(descriptor)
    with client, suppress(OSError):  # The client may be gone.
        client.sendall(f"{code}\n".encode())


def main() -> None:
    # Ctrl-C ends the tests, which then close the socket.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare()
    request = requested(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        request.enter()
        from server.cli.entry import main as urbankg

        urbankg()


if __name__ == "__main__":
    main()

"""The process that others are forked from: `python -m tests.support.prepared_starter SOCKET_FD`.

It imports what `urbankg` needs, once, and then forks for each request. It opens no store and starts no
thread, so that a child is as a new process that has just imported its modules. The readers of the children
are forked, too, from a process that this one starts, and so is GDAL.
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
from unittest.mock import MagicMock

from tests.support import prepared_gdal, prepared_readers
from tests.support.known_endpoints import remember_endpoints
from tests.support.prepared_processes import LARGEST_REQUEST, Request

# What commands and the start of a server import inside of functions.
MODULES = (
    "anyio._backends._asyncio",
    "h11",
    "httpcore",
    "numpy",
    "pydantic.v1",
    "rdflib.plugins.stores.memory",
    "regex",
    "rich.console",
    "rich.table",
    "shapely",
    "uvicorn.lifespan.on",
    "uvicorn.loops.uvloop",
    "curation.merging.merging",
    "curation.place_conflicts",
    "curation.review",
    "extractors.completion.completer",
    "extractors.grounding.geocoder",
    "extractors.grounding.geocoder",
    "extractors.models.http.http_model",
    "extractors.pipeline",
    "server.cli.entry",
    "server.curation.proposing",
    "server.app",
    "server.problem_map",
    "server.intake.candidates",
    "server.intake.intake",
    "server.intake.plain_dialogue",
    "server.intake.resolution.agreeing",
    "server.intake.resolution.geocoding",
    "server.intake.resolution.namesakes",
    "server.intake.resolution.resolving",
    "server.jobs.cluster",
    "server.jobs.extracting",
    "server.jobs.extracting",
    "server.jobs.worker",
    "server.jobs.worker",
    "server.runtime.serving",
    "shapes.authoring.generating",
    "shapes.engine.compiled_engine",
    "shapes.engine.queries",
    "shapes.engine.reference",
    "shapes.gate.full_validation",
    "shapes.gate.gate",
    "shapes.gate.gate",
    "shapes.gate.opening",
    "shapes.gate.what_if",
    "shapes.loading",
    "shapes.model",
    "sparql.ask.service",
    "sparql.inference.materialized",
    "sparql.rewriting.geometry_state",
    "sparql.rewriting.patterns",
    "sparql.rewriting.text_match",
    "sparql.rewriting.acceleration",
    "sparql.spatial.relations",
    "sparql.workers.query",
    "sparql.writing.bulk",
    "sparql.writing.updates",
)


def prepare() -> None:
    """Import it all, and the modules of all commands."""
    gc.disable()
    from server.cli.app import COMMANDS

    for name in [*MODULES, *(place.partition(":")[0] for place in COMMANDS.values())]:
        import_module(name)
    _read_endpoints()
    gc.freeze()
    gc.enable()


def _read_endpoints() -> None:
    """Have the framework find out about the endpoints, which every server makes anew."""
    from server.app import create_app
    from tests.support.workshop import settings_of

    remember_endpoints()
    create_app(MagicMock(settings=settings_of()))


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
    prepared_readers.begin_forking()
    prepared_gdal.begin_forking()
    request = requested(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        request.enter()
        from server.cli.entry import main as urbankg

        urbankg()


if __name__ == "__main__":
    main()

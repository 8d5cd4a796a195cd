"""Readers that need not import their modules: forked from one process, which has them.

Tests start some two thousand readers, each of which imports for .05 s of processor time, and for .25 s more
where it calls a function or is idle. `tests/sparql/workers/test_launching.py` starts one as a server does.
"""

from __future__ import annotations

import os
import socket

from sparql.workers import process as launching
from sparql.workers.forking import ForkedProcess, Forking

start_anew = launching.start
_FORKING = Forking(environment=launching.worker_environment(*launching.LIBRARIES))


def fork_readers() -> None:
    """Fork all readers that this process starts."""
    launching.start = _forked


def begin_forking() -> None:
    """Start the process that forks them; also those of processes that are forked from this one."""
    fork_readers()
    ours, theirs = socket.socketpair()
    control, other = os.pipe()
    reader = _forked(theirs.fileno(), control, 0)
    reader.kill()
    reader.wait()
    for end in (ours, theirs):
        end.close()
    for descriptor in (control, other):
        os.close(descriptor)


def _forked(data: int, control: int, memory_limit_bytes: int) -> ForkedProcess:
    return _FORKING.start(
        launching.WORKER, [data, control], [str(memory_limit_bytes)], imports=["geo.functions"]
    )

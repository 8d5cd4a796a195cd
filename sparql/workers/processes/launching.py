"""Starts worker processes without waiting: most of a start takes place in the new process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from sparql.model.errors import ReaderLost

_Socket = socket.socket
WORKER = "sparql.workers.worker"
# Large memory pages where the system offers them (glibc 2.35 and later; others ignore it): the engine's
# lookups are scattered in memory, and a query of a few milliseconds takes a twentieth less time.
_LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "MIMALLOC_ALLOW_LARGE_OS_PAGES": "1"}
# Where the package cmeel-mimalloc (the extra `allocator`) puts its library. The engine allocates and frees
# memory for every value that it reads: with this allocator a query takes a sixth less time.
_ALLOCATOR = Path("cmeel.prefix", "lib", "libmimalloc.so")
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("platlib", "purelib"))


class Process(Protocol):
    """What is needed of a running process."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self) -> int: ...


@dataclass(frozen=True)
class Launched:
    """A worker that is starting, and our ends of its socket and its control pipe."""

    process: Process
    socket: _Socket
    control: int

    def terminate(self) -> None:
        """End it before it was used."""
        self.process.kill()
        self.process.wait()
        self.socket.close()
        os.close(self.control)


def launch(memory_limit_bytes: int) -> Launched:
    """Begin to start a worker. Raises ReaderLost when the system cannot create a process.

    It ends when the calling *thread* does: the kernel signals that, not the end of the process.
    """
    ours, theirs = socket.socketpair()
    control_read, control_write = os.pipe()
    try:
        process = start(theirs.fileno(), control_read, memory_limit_bytes)
    except OSError as error:
        ours.close()
        os.close(control_write)
        raise ReaderLost(f"A worker process cannot be started: {error}.") from error
    finally:
        theirs.close()
        os.close(control_read)
    return Launched(process, ours, control_write)


def start(data: int, control: int, memory_limit_bytes: int) -> Process:
    """The process of a worker with these file descriptors."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", WORKER, str(data), str(control), str(memory_limit_bytes)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(data, control),
        env={**worker_environment(*LIBRARIES), **os.environ},
    )


@cache
def worker_environment(*libraries: str) -> Mapping[str, str]:
    """The environment variables of a worker, unless the server's own environment sets them.

    `libraries` are the folders that packages are installed into.
    """
    if sys.platform != "linux":
        return {}
    for folder in libraries:
        allocator = Path(folder, _ALLOCATOR)
        if allocator.is_file() and _can_be_preloaded(allocator):
            return {**_LARGE_PAGES, "LD_PRELOAD": str(allocator)}
    return _LARGE_PAGES


def _can_be_preloaded(library: Path) -> bool:
    """Whether a process starts with the library: slim images lack what it needs in turn (libatomic)."""
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    try:
        done = subprocess.run(["true"], env=environment, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return False
    return done.returncode == 0


@contextmanager
def launched(number: int, memory_limit_bytes: int) -> Iterator[list[Launched]]:
    """Starts so many workers; those still on the list at the end are terminated."""
    starting: list[Launched] = []
    try:
        while len(starting) < number:
            starting.append(launch(memory_limit_bytes))
        yield starting
    finally:
        for one in starting:
            one.terminate()

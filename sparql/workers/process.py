"""The server's end of one worker process: starting it, talking to it, ending it."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import socket
import subprocess
import sys
import sysconfig
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from sparql.model.errors import QueryMemoryExceeded, ReaderLost, SparqlError
from sparql.workers.checkpoints import Lease
from sparql.workers.frames import HEADER_SIZE, FrameKind, pack, pack_json, unpack_header
from sparql.workers.limits import MEMORY_EXIT_STATUS
from sparql.workers.store_copy import LoggedCommit

WORKER = "sparql.workers.worker"
# Large memory pages where the system offers them (glibc 2.35 and later; others ignore it): the engine's
# lookups are scattered in memory, and a query of a few milliseconds takes a twentieth less time.
_LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "MIMALLOC_ALLOW_LARGE_OS_PAGES": "1"}
# Where the package cmeel-mimalloc (the extra `allocator`) puts its library. The engine allocates and frees
# memory for every value that it reads: with this allocator a query takes a sixth less time.
_ALLOCATOR = Path("cmeel.prefix", "lib", "libmimalloc.so")
LIBRARIES = tuple(sysconfig.get_path(name) for name in ("platlib", "purelib"))
_BUFFERED_BYTES = 256 * 1024
_START_TIMEOUT_S = 60.0
_DYING_POLL_S = 0.002


class Process(Protocol):
    """What is needed of a running process."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def kill(self) -> None: ...
    def wait(self) -> int: ...


class FrameReader(asyncio.Protocol):
    """Frames as they arrive from the socket; the worker is paused while many bytes wait here.

    Counted is the payload of frames that arrived and were not taken yet, of every kind.
    """

    def __init__(self) -> None:
        self._received = bytearray()
        # Kind, payload, and its size in the socket.
        self._frames: deque[tuple[FrameKind, Any, int]] = deque()
        self._waiting = 0
        self._paused = False
        self._arrival: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport | None = None
        self.closed = False
        self.on_closed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        offset, end = 0, len(received)
        while end - offset >= HEADER_SIZE:
            kind, length = unpack_header(received, offset)
            if end - offset - HEADER_SIZE < length:
                break
            offset += HEADER_SIZE
            self._frames.append((kind, _payload(kind, bytes(received[offset : offset + length])), length))
            self._waiting += length
            offset += length
        if offset:
            del received[:offset]
        self._pause_or_resume()
        if self._frames:
            self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self.closed = True
        self.on_closed.set()
        self._wake()

    async def next(self) -> tuple[FrameKind, Any]:
        """The next frame: bytes for DATA, a parsed object for HEAD and ERROR. Raises EOFError at the end."""
        while not self._frames:
            if self.closed:
                raise EOFError
            self._arrival = asyncio.get_running_loop().create_future()
            await self._arrival
        return self._take()

    def break_off(self) -> None:
        """Expect no more frames; those that have arrived can still be taken."""
        self.closed = True
        self._wake()

    def take_finished(self) -> list[bytes] | None:
        """All DATA up to END, if END has arrived; otherwise None, taking nothing."""
        if not self._frames or self._frames[-1][0] is not FrameKind.END:
            return None
        chunks = []
        while self._frames:
            kind, payload = self._take()
            if kind is FrameKind.DATA:
                chunks.append(payload)
        return chunks

    def _take(self) -> tuple[FrameKind, Any]:
        kind, payload, length = self._frames.popleft()
        self._waiting -= length
        self._pause_or_resume()
        return kind, payload

    def _pause_or_resume(self) -> None:
        if self._transport is None or self.closed:
            return
        if not self._paused and self._waiting > _BUFFERED_BYTES:
            self._paused = True
            self._transport.pause_reading()
        elif self._paused and self._waiting <= _BUFFERED_BYTES // 2:
            self._paused = False
            self._transport.resume_reading()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)


class WorkerProcess:
    """One worker process and the checkpoint it has open."""

    def __init__(
        self,
        process: Process,
        transport: asyncio.Transport,
        frames: FrameReader,
        control: int,
        memory_limit_bytes: int,
    ) -> None:
        self._process = process
        self._transport = transport
        self._control = control
        self._memory_limit_bytes = memory_limit_bytes
        self._number = 0
        self._reason: SparqlError | None = None
        self.frames = frames
        self.lease: Lease | None = None
        self.revision = 0
        """The revision that it reads: that of its checkpoint, or of the copy that follows the store."""
        self.has_copy = False
        """Whether it reads, and may write to, a copy of its own instead of the checkpoint."""
        self.needs_copy = False
        """Whether its copy failed to follow or has grown, so that it must make a new one."""
        self.replaced = False
        """Whether another process has been started in its place."""

    @classmethod
    async def start(cls, memory_limit_bytes: int) -> WorkerProcess:
        """Start a worker and wait until it is ready. Raises ReaderLost when it does not start.

        It ends when the calling *thread* does: the kernel signals that, not the end of the process.
        """
        ours, theirs = socket.socketpair()
        control_read, control = os.pipe()
        try:
            process = start(theirs.fileno(), control_read, memory_limit_bytes)
        except OSError as error:
            ours.close()
            os.close(control)
            raise ReaderLost(f"A worker process cannot be started: {error}.") from error
        finally:
            theirs.close()
            os.close(control_read)
        transport: asyncio.Transport | None = None
        try:
            ours.setblocking(False)
            loop = asyncio.get_running_loop()
            transport, frames = await loop.create_unix_connection(FrameReader, sock=ours)
            async with asyncio.timeout(_START_TIMEOUT_S):
                await frames.next()
        except BaseException as error:
            process.kill()
            process.wait()
            (transport or ours).close()
            os.close(control)
            if isinstance(error, EOFError | TimeoutError):
                raise ReaderLost("A worker process ended before it was ready; see the log.") from error
            raise
        return cls(process, transport, frames, control, memory_limit_bytes)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can take a query."""
        return not self.frames.closed and self._reason is None

    @property
    def path(self) -> str:
        """The folder of its checkpoint."""
        assert self.lease is not None
        return self.lease.path

    def send(self, kind: FrameKind, members: dict[str, Any]) -> None:
        """Send a QUERY or CAPTURE; the answer arrives in ``frames``."""
        self._number += 1
        self._transport.write(pack_json(kind, {**members, "number": self._number}))

    async def follow(self, lease: Lease, commits: Sequence[LoggedCommit], *, from_checkpoint: bool) -> str:
        """Bring what the worker reads to the last of the commits, on a copy; returns the problem, if any.

        The commits follow the checkpoint when `from_checkpoint`, else the current copy. Raises EOFError.
        """
        about = json.dumps(
            {"path": lease.path, "revision": lease.revision, "from_checkpoint": from_checkpoint}
        ).encode()
        body = b'%b, "commits": [%b]}' % (about[:-1], b",".join(commit.written() for commit in commits))
        self._transport.write(pack(FrameKind.FEED, body))
        _, reached = await self.frames.next()
        self.revision = reached["revision"]
        problem: str = reached["problem"]
        self.has_copy = self.has_copy or not problem
        self.needs_copy = bool(problem)
        return problem

    def close_store(self) -> None:
        """Have the worker close its checkpoint."""
        self._transport.write(pack(FrameKind.CLOSE))

    def stop_query(self) -> None:
        """Ask the worker to stop at the next row it writes, which it may never reach."""
        with suppress(BrokenPipeError):
            os.write(self._control, self._number.to_bytes(8, "big"))

    def kill(self, reason: SparqlError | None) -> None:
        """End the process at once; waiting for its frames raises ``reason``."""
        self._reason = self._reason or reason or ReaderLost("The server is shutting down; try again later.")
        if self._process.poll() is None:
            self._process.kill()
        # It closes its socket only when its memory is freed, which nobody needs to wait for.
        self.frames.break_off()

    async def cause_of_end(self) -> SparqlError:
        """The reason for the end of the process."""
        if self._reason is not None:
            return self._reason
        status = await self._exit_status()
        if status == MEMORY_EXIT_STATUS:
            return QueryMemoryExceeded(self._memory_limit_bytes)
        return ReaderLost(f"The worker process ended with status {status} during the query; try again.")

    async def end(self) -> None:
        """End the process and everything that belongs to it."""
        if self._process.poll() is None:
            self._process.kill()
        await self._exit_status()
        self._transport.close()
        await self.frames.on_closed.wait()
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    async def _exit_status(self) -> int:
        # The process is dying: its memory is being freed. No thread is needed to wait for that.
        while (status := self._process.poll()) is None:
            await asyncio.sleep(_DYING_POLL_S)
        return status


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


def _payload(kind: FrameKind, data: bytes) -> Any:
    if kind is FrameKind.DATA:
        return data
    if kind is FrameKind.REFUSED:
        return pickle.loads(data)
    return json.loads(data) if data else None

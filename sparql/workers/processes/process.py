"""The server's end of one reader process: starting it, talking to it, ending it."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import subprocess
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

from sparql.model.errors import QueryMemoryExceeded, ReaderLost, SparqlError
from sparql.workers.capture.commit_log import LoggedCommit
from sparql.workers.checkpoints import Lease
from sparql.workers.processes.frames import HEADER_SIZE, FrameKind, pack, pack_json, unpack_header
from sparql.workers.processes.launching import Launched, launch
from sparql.workers.processes.limits import MEMORY_EXIT_STATUS

_BUFFERED_BYTES = 256 * 1024
_WHOLE_BYTES = 8 * 2**20
_LAST_FRAMES = (FrameKind.END, FrameKind.ERROR, FrameKind.REFUSED)
_START_TIMEOUT_S = 60.0
_DYING_POLL_S = 0.002


class FrameReader(asyncio.Protocol):
    """Frames as they come in from the socket; the reader is held back while many bytes wait here.

    What waits is the payload of the frames that came in and were not taken yet, of every kind.
    """

    def __init__(self) -> None:
        self._received = bytearray()
        # Kind, payload, and the bytes that it had in the socket.
        self._frames: deque[tuple[FrameKind, Any, int]] = deque()
        self._waiting = 0
        self._most_waiting = _BUFFERED_BYTES
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

    async def whole(self) -> bool:
        """Whether all frames of an answer are here, or no more will come; False when they are too many.

        So much that it would otherwise hold the reader back may wait here meanwhile.
        """
        self._most_waiting = _WHOLE_BYTES
        self._pause_or_resume()
        try:
            while not self.closed and not (self._frames and self._frames[-1][0] in _LAST_FRAMES):
                if self._waiting > _WHOLE_BYTES:
                    return False
                self._arrival = asyncio.get_running_loop().create_future()
                await self._arrival
            return True
        finally:
            self._most_waiting = _BUFFERED_BYTES
            self._pause_or_resume()

    def break_off(self) -> None:
        """Expect no more frames; those that are here can still be taken."""
        self.closed = True
        self._wake()

    def take_finished(self) -> list[bytes] | None:
        """All DATA up to END, if END has arrived; None, taking nothing, otherwise."""
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
        if not self._paused and self._waiting > self._most_waiting:
            self._paused = True
            self._transport.pause_reading()
        elif self._paused and self._waiting <= self._most_waiting // 2:
            self._paused = False
            self._transport.resume_reading()

    def _wake(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)


class ReaderProcess:
    """One worker process and the checkpoint it has open."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
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
        self.refused = False
        """Whether its copy failed to follow, so that it takes a new one to do so."""
        self.replaced = False
        """Whether another one has been started in its place."""

    @classmethod
    async def start(cls, memory_limit_bytes: int, launched: Launched | None = None) -> ReaderProcess:
        """Start a worker, or take one that is starting, and wait until it is ready.

        Raises ReaderLost when it does not come up.
        """
        launched = launched or launch(memory_limit_bytes)
        ours = launched.socket
        transport: asyncio.Transport | None = None
        try:
            ours.setblocking(False)
            loop = asyncio.get_running_loop()
            transport, frames = await loop.create_unix_connection(FrameReader, sock=ours)
            async with asyncio.timeout(_START_TIMEOUT_S):
                await frames.next()
        except BaseException as error:
            launched.process.kill()
            launched.process.wait()
            (transport or ours).close()
            os.close(launched.control)
            if isinstance(error, EOFError | TimeoutError):
                raise ReaderLost("A reader process ended before it was ready; see the log.") from error
            raise
        return cls(launched.process, transport, frames, launched.control, memory_limit_bytes)

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
        """Hand over a QUERY or CAPTURE; its frames come in through ``frames``."""
        self._number += 1
        self._transport.write(pack_json(kind, {**members, "number": self._number}))

    async def follow(self, lease: Lease, commits: Sequence[LoggedCommit], *, afresh: bool) -> str:
        """Bring what the worker reads to the last of the commits, and note where it is; what prevented that.

        The commits follow on the checkpoint when `afresh`, else on what the worker holds. Raises EOFError.
        """
        about = json.dumps({"path": lease.path, "revision": lease.revision, "afresh": afresh}).encode()
        body = b'%b, "commits": [%b]}' % (about[:-1], b",".join(one.written() for one in commits))
        self._transport.write(pack(FrameKind.FEED, body))
        _, reached = await self.frames.next()
        self.revision = reached["revision"]
        problem: str = reached["problem"]
        return problem

    def close_store(self) -> None:
        """Have the worker let go of its checkpoint."""
        self._transport.write(pack(FrameKind.CLOSE))

    def stop_query(self) -> None:
        """Ask the worker to stop at the next row it writes; it may never get there."""
        with suppress(BrokenPipeError):
            os.write(self._control, self._number.to_bytes(8, "big"))

    def kill(self, reason: SparqlError | None) -> None:
        """End the process at once; whoever waits for its frames is told ``reason``."""
        self._reason = self._reason or reason or ReaderLost("The server is shutting down; try again later.")
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
        # It closes its socket only when its memory is given back, for which nobody need wait.
        self.frames.break_off()

    async def cause_of_end(self) -> SparqlError:
        """Why the process is gone, or going."""
        if self._reason is not None:
            return self._reason
        status = await self._exit_status()
        if status == MEMORY_EXIT_STATUS:
            return QueryMemoryExceeded(self._memory_limit_bytes)
        return ReaderLost(f"The reader process ended with status {status} during the query; try again.")

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
        # The process is dying: its memory is being given back. No thread is needed to see it go.
        while (status := self._process.poll()) is None:
            await asyncio.sleep(_DYING_POLL_S)
        return status


def _payload(kind: FrameKind, data: bytes) -> Any:
    if kind is FrameKind.DATA:
        return data
    if kind is FrameKind.REFUSED:
        return pickle.loads(data)
    return json.loads(data) if data else None

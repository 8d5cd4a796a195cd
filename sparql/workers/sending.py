"""How an answer leaves a worker: in chunks, until it is stopped or exceeds a limit."""

from __future__ import annotations

import os
import select
import socket
import threading
import time

from sparql.workers.frames import FrameKind, pack
from sparql.workers.limits import MEMORY_EXIT_STATUS, OwnMemory, slow_down

_FIRST_CHUNK = 4 * 1024
CHUNK = 64 * 1024
_WATCH_INTERVAL_S = 0.05
_LONG_S = 0.1


class QueryStopped(Exception):
    """The answer is no longer wanted."""


class QueryMonitor(threading.Thread):
    """Watches, beside the query, for stop requests, the end of the parent, and the memory and time limits."""

    def __init__(self, control: int, memory_limit_bytes: int) -> None:
        super().__init__(daemon=True)
        self._control = control
        self._memory_limit_bytes = memory_limit_bytes
        self._begun: tuple[float, int] | None = None
        self._slowed = False
        self.stopped = 0

    def begin(self) -> None:
        """The calling thread begins to answer."""
        self._begun = (time.monotonic(), threading.get_native_id())

    def end(self) -> bool:
        """The calling thread has finished; returns whether its priority was lowered."""
        self._begun = None
        slowed, self._slowed = self._slowed, False
        return slowed

    def run(self) -> None:
        memory = OwnMemory()
        poll = select.poll()
        poll.register(self._control, select.POLLIN | select.POLLHUP)
        while True:
            if poll.poll(_WATCH_INTERVAL_S * 1000):
                numbers = os.read(self._control, 4096)
                if not numbers:
                    os._exit(0)
                self.stopped = int.from_bytes(numbers[-8:], "big")
            if memory.read_bytes() > self._memory_limit_bytes:
                os._exit(MEMORY_EXIT_STATUS)
            begun = self._begun
            if begun is not None and not self._slowed and time.monotonic() - begun[0] > _LONG_S:
                self._slowed = True
                slow_down(begun[1])


class Sink:
    """The file that the serializer writes to: collects bytes into chunks and sends them.

    The head is sent with the first chunk, so that an error before it is reported in its place.
    """

    def __init__(
        self,
        connection: socket.socket,
        monitor: QueryMonitor,
        number: int,
        head: bytes,
    ) -> None:
        self._connection = connection
        self._monitor = monitor
        self._number = number
        self._head = head
        self._parts: list[bytes] = []
        self._size = 0
        self._threshold = _FIRST_CHUNK

    def write(self, data: bytes) -> int:
        """Accept bytes of the answer; raises QueryStopped when it is no longer wanted."""
        self.raise_if_stopped()
        self._parts.append(bytes(data))
        self._size += len(data)
        if self._size >= self._threshold:
            self._pass_on()
        return len(data)

    def raise_if_stopped(self) -> None:
        """Raises QueryStopped when the answer is no longer wanted."""
        if self._monitor.stopped == self._number:
            raise QueryStopped

    def flush(self) -> None:
        """Does nothing: chunks are sent by size, the last one by ``finish``."""

    def finish(self) -> None:
        """Send the rest and mark the answer as complete."""
        self._connection.sendall(self._gathered() + pack(FrameKind.END))

    def _pass_on(self) -> None:
        self._connection.sendall(self._gathered())
        self._threshold = CHUNK

    def _gathered(self) -> bytes:
        data = b"".join(self._parts)
        message, self._head = self._head, b""
        for start in range(0, len(data), CHUNK):
            message += pack(FrameKind.DATA, data[start : start + CHUNK])
        self._parts, self._size = [], 0
        return message

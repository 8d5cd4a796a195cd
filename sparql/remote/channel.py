"""Bytes between the event loop and a thread that converts them, in both directions, with small buffers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from sparql.model.errors import SparqlError

T = TypeVar("T")
_CHUNK = 64 * 1024
_FIRST_CHUNK = 4 * 1024
_WAITING_CHUNKS = 4


class Stopped(Exception):
    """The answer is no longer wanted."""


class Bridge:
    """Lets one thread wait for coroutines of the loop, until `stop`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: Future[Any] | None = None
        self._stopped = False

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Called by the thread: the result of `work` on the loop. Raises Stopped."""
        if self._stopped:
            work.close()
            raise Stopped
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._waiting = future
        if self._stopped:
            future.cancel()
        try:
            return future.result()
        except CancelledError:
            raise Stopped from None

    def stop(self) -> None:
        """Called on the loop: ends any wait of the thread."""
        self._stopped = True
        if self._waiting is not None:
            self._waiting.cancel()


def pieces(bridge: Bridge, source: AsyncIterator[bytes]) -> Iterator[bytes]:
    """Called by the thread: the pieces of an asynchronous source."""

    async def following() -> bytes | None:
        return await anext(source, None)

    while (piece := bridge.wait_for(following())) is not None:
        yield piece


class Outflow:
    """The output of the thread for the client; ends with `end`."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self._taken = asyncio.Event()
        self.ended = False
        self.error: SparqlError | None = None

    async def put(self, chunk: bytes) -> None:
        """Pass on a chunk; waits while many are not taken yet."""
        while len(self._chunks) >= _WAITING_CHUNKS:
            self._taken.clear()
            await self._taken.wait()
        self._chunks.append(chunk)
        self._changed.set()

    def end(self, error: SparqlError | None = None) -> None:
        """No more follows; with an error, the output is incomplete."""
        if not self.ended:
            self.ended, self.error = True, error
            self._changed.set()

    async def begun(self) -> None:
        """Return when there is a chunk, or the end. Raises an error that occurred before the first chunk."""
        while not self._chunks and not self.ended:
            self._changed.clear()
            await self._changed.wait()
        if not self._chunks and self.error is not None:
            raise self.error

    def whole(self) -> bytes | None:
        """Everything, if the output is complete."""
        if not self.ended or self.error is not None:
            return None
        chunks = b"".join(self._chunks)
        self._chunks.clear()
        return chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            while self._chunks:
                yield self._chunks.popleft()
                self._taken.set()
            if self.ended:
                if self.error is not None:
                    raise self.error
                return
            self._changed.clear()
            await self._changed.wait()


class Sink:
    """The file that the serializer writes to, in the thread."""

    def __init__(self, bridge: Bridge, outflow: Outflow) -> None:
        self._bridge = bridge
        self._outflow = outflow
        self._parts: list[bytes] = []
        self._size = 0
        self._threshold = _FIRST_CHUNK

    def write(self, data: bytes) -> int:
        """Accept bytes of the answer. Raises Stopped."""
        self._parts.append(bytes(data))
        self._size += len(data)
        if self._size >= self._threshold:
            self.finish()
            self._threshold = _CHUNK
        return len(data)

    def flush(self) -> None:
        """Does nothing: chunks are sent by size, the last one by `finish`."""

    def finish(self) -> None:
        """Send the rest."""
        if self._parts:
            data, self._parts, self._size = b"".join(self._parts), [], 0
            self._bridge.wait_for(self._outflow.put(data))

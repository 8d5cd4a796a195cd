"""Server-sent events (HTML, 9.2): how one is written, and how a stream waits for the next one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from server.runtime.request_logging import Draining

__all__ = ["RETRY", "STILL_HERE", "Waiting", "event", "waiting"]

RETRY = b"retry: 2000\n\n"
"""First of all: milliseconds after which a client that lost the stream comes back."""

STILL_HERE = b": still here\n\n"
"""A comment now and then, so that nobody between takes the connection for dead."""

_HEARTBEAT_S = 15.0


def event(name: str, data: bytes, identifier: int | None = None) -> bytes:
    """An event of one line of data."""
    head = b"" if identifier is None else b"id: %d\n" % identifier
    return head + b"event: %s\ndata: %s\n\n" % (name.encode(), data)


class Waiting:
    """Waits for news, and for the server's end."""

    def __init__(self, ready: asyncio.Event, leaving: asyncio.Task[None]) -> None:
        self._ready = ready
        self._leaving = leaving

    @property
    def over(self) -> bool:
        """Whether the server ends, and every stream with it."""
        return self._leaving.done()

    def look_now(self) -> None:
        """What comes after this is news; to be called before looking at what there is."""
        self._ready.clear()

    async def news(self) -> bool:
        """Wait for news or the end; False when neither came for a while."""
        ready = asyncio.create_task(self._ready.wait())
        try:
            done, _ = await asyncio.wait(
                (ready, self._leaving), timeout=_HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ready.cancel()
        return bool(done)


@asynccontextmanager
async def waiting(
    listen: Callable[[Callable[[], None]], Callable[[], None]], draining: Draining
) -> AsyncIterator[Waiting]:
    """Listen while the block runs.

    `listen` is given what to call, from any thread, when there is news; what it returns ends that.
    """
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    stop_listening = listen(lambda: _set_from_thread(loop, ready))
    leaving = asyncio.create_task(draining.wait())
    try:
        yield Waiting(ready, leaving)
    finally:
        stop_listening()
        leaving.cancel()


def _set_from_thread(loop: asyncio.AbstractEventLoop, ready: asyncio.Event) -> None:
    loop.call_soon_threadsafe(ready.set)

"""An ASGI application that is built on a thread, while others are served already."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from starlette.types import ASGIApp, Receive, Scope, Send


class BuiltLater:
    """Builds an application on `begin`, or for the first request; requests wait until it is there."""

    def __init__(self, build: Callable[[], ASGIApp]) -> None:
        self._build = build
        self._lock = Lock()
        self._built: Future[ASGIApp] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on. Raises what kept the application from being built."""
        built = self.begin()
        app = built.result() if built.done() else await asyncio.wrap_future(built)
        await app(scope, receive, send)

    async def settled(self) -> None:
        """Return when it is built or could not be; at once if that never began. It begins no more."""
        with self._lock:
            if self._built is None:
                self._built = Future()
                self._built.cancel()
        await asyncio.wait([asyncio.wrap_future(self._built)])

    def begin(self) -> Future[ASGIApp]:
        """Build, if that has not begun; returns at once."""
        with self._lock:
            if self._built is None:
                thread = ThreadPoolExecutor(1, "framework")
                self._built = thread.submit(self._build)
                thread.shutdown(wait=False)
            return self._built

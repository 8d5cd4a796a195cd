"""Query results as HTTP responses: sent as they come, broken off on failure, stopped when nobody reads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sparql.workers.query import QueryService, StreamedResult

T = TypeVar("T")
_UNWATCHED_S = 0.05


class ClientLeft(ClientDisconnect):
    """The client closed its connection; there is nobody to answer."""


class ResultResponse(Response):
    """The body of a query result in chunks.

    An error after the first byte leaves the response unfinished, so that the server breaks the connection:
    a client never takes a part for the whole. The query is let go of in every case. ``pieces`` are sent
    instead of the result itself where they are made of it.
    """

    def __init__(
        self,
        readers: QueryService,
        result: StreamedResult,
        headers: Mapping[str, str],
        pieces: AsyncIterator[bytes] | None = None,
    ) -> None:
        super().__init__(None, 200, dict(headers))
        self._readers = readers
        self._result = result
        self._pieces = pieces
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(until_gone(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
        finally:
            for task in (sending, leaving):
                task.cancel()
            self._readers.close_query(self._result)

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for chunk in self._result if self._pieces is None else self._pieces:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The outcome of ``work``; cancels it and raises ClientLeft when the client leaves first.

    The request's body must have been read.
    """
    loop = asyncio.get_running_loop()
    own = asyncio.current_task()
    assert own is not None
    leaving: asyncio.Task[None] | None = None
    left = False

    def leave(watched: asyncio.Task[None]) -> None:
        nonlocal left
        if not watched.cancelled():
            left = True
            own.cancel()

    def watch() -> None:
        # Only now: most work is done before anybody could leave.
        nonlocal leaving
        leaving = loop.create_task(until_gone(request.receive))
        leaving.add_done_callback(leave)

    timer = loop.call_later(_UNWATCHED_S, watch)
    try:
        return await work
    except asyncio.CancelledError:
        if left and own.uncancel() == 0:
            raise ClientLeft from None
        raise
    finally:
        timer.cancel()
        if leaving is not None:
            leaving.remove_done_callback(leave)
            leaving.cancel()


async def while_wanted(request: Request, work: Callable[..., T], limiter: CapacityLimiter | None = None) -> T:
    """The outcome of ``work`` on a thread, which asks ``wanted``: no longer when the client has left.

    Requests beyond what ``limiter`` lets run wait without a thread; without one, those of all requests are
    used. Raises ClientLeft. The request's body must have been read.
    """
    left = threading.Event()
    run = partial(work, wanted=lambda: not left.is_set())
    try:
        return await while_connected(request, to_thread.run_sync(run, limiter=limiter))
    finally:
        left.set()


async def until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

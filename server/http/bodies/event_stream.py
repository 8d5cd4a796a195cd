"""Server-sent events (HTML, 9.2): how one is written, and how a stream waits for the next one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.http.bodies.streaming import ClientLeft, until_gone, while_connected
from server.http.idempotency.kept_replies import KEY
from server.http.reporting.problems import ProblemMap
from sparql.model.errors import NotAcceptable
from sparql.protocol.formats import MediaType, choose

if TYPE_CHECKING:
    from server.http.request_logging import Draining


EVENTS: Final = "text/event-stream"
EVENT_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_OFFERS: Final = (MediaType("application/json"), MediaType(EVENTS))
_REFUSED: Final = 400
_CLIENT_CLOSED_REQUEST: Final = 499
Note = Callable[[Mapping[str, Any]], None]
"""Sends a step of the work to the client; to be called on the event loop."""

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


async def in_steps(request: Request, work: Callable[[Note], Coroutine[Any, Any, Response]]) -> Response:
    """The response of `work`, or a stream of its steps where the client asks for `text/event-stream`.

    A client that leaves ends the work, but not with an `Idempotency-Key`: it may come back for the reply.
    """
    try:
        offer = choose(request.headers.get("accept"), _OFFERS)
    except NotAcceptable:
        offer = _OFFERS[0]
    if offer.media_type != EVENTS:
        answered = work(lambda step: None)
        if KEY in request.headers:
            return await answered
        try:
            return await while_connected(request, answered)
        except ClientLeft:
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
    return _StepStream(work, request.app.state.problems, request)


def events_form(described: str, answers: Mapping[str, str | None]) -> dict[str, Any]:
    """What the OpenAPI description says of a stream: the schema of each of its events (HTML, 9.2.6).

    `answers` names the model of the JSON data of each kind of event; None where it has no model.
    """
    kinds = [
        {
            "type": "object",
            "properties": {
                "event": {"type": "string", "const": name},
                "data": {
                    "type": "string",
                    "contentMediaType": "application/json",
                    **({} if model is None else {"contentSchema": {"$ref": f"#/components/schemas/{model}"}}),
                },
                "id": {"type": "string", "description": "The number to come back with, in Last-Event-ID."},
            },
            "required": ["event", "data"],
        }
        for name, model in answers.items()
    ]
    return {EVENTS: {"schema": {"description": described, "anyOf": kinds}}}


def step_events(what: str, answer: str | None = None) -> dict[int | str, dict[str, Any]]:
    """What the OpenAPI description says of a stream of steps; `answer` is the model of the last event."""
    described = (
        f"Events: `step` for each {what}; the last one is `answer`, with the whole JSON "
        "answer, or `problem`, with a problem document."
    )
    kinds = {"step": None, "answer": answer, "problem": "Problem"}
    return {200: {"content": events_form(described, kinds)}}


class _StepStream(Response):
    """The steps of work as events, then its answer or its problem."""

    media_type = EVENTS

    def __init__(
        self, work: Callable[[Note], Coroutine[Any, Any, Response]], problems: ProblemMap, request: Request
    ) -> None:
        super().__init__(None, 200, EVENT_HEADERS)
        del self.headers["content-length"]
        self._work = work
        self._problems = problems
        self._path = request.url.path
        self._repeatable = KEY in request.headers
        self._events: asyncio.Queue[bytes] = asyncio.Queue()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        working = asyncio.create_task(self._problems.settle(self._work(self._note), self._path))
        sending = asyncio.create_task(self._send_all(working, send))
        leaving = asyncio.create_task(until_gone(receive))
        ends = (sending,) if self._repeatable else (sending, leaving)
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
        finally:
            for task in (working, sending, leaving):
                task.cancel()
            await asyncio.gather(working, sending, leaving, return_exceptions=True)

    def _note(self, step: Mapping[str, Any]) -> None:
        self._events.put_nowait(event("step", json.dumps(step, ensure_ascii=False).encode()))

    async def _send_all(self, working: asyncio.Task[tuple[Response, Exception | None]], send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        while not (working.done() and self._events.empty()):
            await send({"type": "http.response.body", "body": await self._next(working), "more_body": True})
        response, unexpected = working.result()
        name = "problem" if response.status_code >= _REFUSED else "answer"
        last = event(name, bytes(response.body))
        await send({"type": "http.response.body", "body": last, "more_body": False})
        if unexpected is not None:
            raise unexpected

    async def _next(self, working: asyncio.Task[Any]) -> bytes:
        """The next events; a comment when there was none for a while, nothing at the end."""
        following = asyncio.create_task(self._events.get())
        try:
            await asyncio.wait(
                (following, working), timeout=_HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED
            )
            if following.done():
                return following.result()
            return b"" if working.done() else STILL_HERE
        finally:
            following.cancel()

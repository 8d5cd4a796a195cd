"""The change feed: `/changes` as lines of JSON (what was) and as server-sent events (what comes)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends, Header, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from server.errors import TooManyListeners
from server.http.access.guard import Guard
from server.http.access.keys import Scope
from server.http.bodies.event_stream import RETRY, STILL_HERE, event, events_form, waiting
from server.http.pages import Needed
from server.http.request_logging import Draining
from sparql.model.errors import ChangesForgotten
from sparql.protocol.formats import MediaType, choose
from sparql.storage.change_log import ChangeLog, ChangeReader

_LINES = MediaType("application/x-ndjson", ("application/jsonl", "application/json"))
_EVENTS = MediaType("text/event-stream")
_MOST_LISTENERS = 64
_HEADERS = {"Cache-Control": "no-store", "Vary": "Accept", "X-Accel-Buffering": "no"}
_FORMS = {
    _LINES.media_type: {"schema": {"type": "string"}},
    **events_form(
        "A commit, with its revision as `id`; `forgotten` where the log has no more what was asked for.",
        {"change": None, "forgotten": None},
    ),
}


class ChangeServices(Protocol):
    """The services this route uses."""

    @property
    def changes(self) -> ChangeLog: ...

    @property
    def draining(self) -> Draining: ...

    @property
    def guard(self) -> Guard: ...


def router(services: ChangeServices, *needs: Needed) -> APIRouter:
    """The route of the change feed."""
    feed = Feed(services.changes, services.draining)
    routes = APIRouter(tags=["changes"], dependencies=[*needs, Depends(services.guard.requires(Scope.READ))])

    @routes.get(
        "/changes", response_class=Response, responses={200: {"content": _FORMS, "description": "Changes"}}
    )
    async def get_changes(
        request: Request,
        since: Annotated[
            int | None, Query(ge=0, le=2**53, description="Only what came after this revision.")
        ] = None,
        last_event_id: Annotated[int | None, Header(ge=0, le=2**53)] = None,
    ) -> Response:
        """What was changed, revision by revision, as lines of JSON; as events, also what is to come."""
        return feed.answer(request.headers.get("accept"), since, last_event_id)

    @routes.head("/changes", include_in_schema=False)
    async def head_changes(request: Request) -> Response:
        """The headers alone: the events themselves would never end."""
        kind = choose(request.headers.get("accept"), (_LINES, _EVENTS))
        response = Response(headers=_HEADERS, media_type=kind.media_type)
        del response.headers["content-length"]
        return response

    return routes


class Feed:
    """Answers from the log; slow clients cost no memory, since each reads the log at its own pace."""

    def __init__(self, log: ChangeLog, draining: Draining) -> None:
        self._log = log
        self._draining = draining
        self._listeners = 0
        # A thread of its own: those of the loop may all be waiting for the writer.
        self._thread = ThreadPoolExecutor(1, "changes")

    def answer(self, accept: str | None, since: int | None, last_event: int | None) -> Response:
        """Raises NotAcceptable, ChangesForgotten, MalformedRequest and TooManyListeners."""
        kind: Any = choose(accept, (_LINES, _EVENTS))
        if kind is _LINES:
            reader = self._log.reader(self._log.oldest - 1 if since is None else since)
            body = self._lines(reader, self._log.newest)
        else:
            known = since if last_event is None else last_event
            if self._listeners >= _MOST_LISTENERS:
                raise TooManyListeners(_MOST_LISTENERS)
            body = self._events(self._log.reader(self._log.newest if known is None else known))
        return StreamingResponse(body, headers=_HEADERS, media_type=kind.media_type)

    async def _lines(self, reader: ChangeReader, newest: int) -> AsyncIterator[bytes]:
        """The log up to where it was when it was asked for."""
        while reader.revision < newest and (lines := await self._next(reader)):
            yield b"".join(lines)

    async def _events(self, reader: ChangeReader) -> AsyncIterator[bytes]:
        """Server-sent events (HTML, 9.2): the revision as the identifier, a comment now and then."""
        self._listeners += 1
        try:
            async with waiting(self._log.listen, self._draining) as waits:
                yield RETRY
                while not waits.over:
                    waits.look_now()
                    try:
                        lines = await self._next(reader)
                    except ChangesForgotten as error:
                        yield event("forgotten", json.dumps({"oldest": error.oldest}).encode())
                        return
                    if lines:
                        yield b"".join(event("change", line.rstrip(), _revision(line)) for line in lines)
                    elif not await waits.news():
                        yield STILL_HERE
        finally:
            self._listeners -= 1

    async def _next(self, reader: ChangeReader) -> Sequence[bytes]:
        return await asyncio.get_running_loop().run_in_executor(self._thread, reader.next_lines)


def _revision(line: bytes) -> int:
    return int(json.loads(line)["revision"])

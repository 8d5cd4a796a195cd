"""POST requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): carried out once.

A repeat gets the first reply. The key is entered in a database before the request may write, and the commit
of what it writes carries a mark of it (`sparql.model.request_mark`). So a crash between the commit and the
keeping of the reply leaves an entry without a reply and a mark that says which revision the request became.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pyoxigraph import Quad
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import IdempotencyKeyReused, IdempotencyKeyUnusable, ReplyLost, RequestUnderWay
from server.http.bodies.event_stream import EVENTS
from server.http.idempotency.kept_replies import KEY, KeptReplies, KeptReply, KnownRequest
from server.http.reporting.problems import ProblemMap
from sparql.model.request_mark import RequestMark, marked_revision, marking, marks
from sparql.protocol.requests import DIRECT_QUERY

if TYPE_CHECKING:
    from server.services import Services

REPLAYED: Final = "Idempotency-Replayed"
LONGEST_KEY: Final = 255
_LARGEST_REPLY: Final = 2**20
_READ_AHEAD: Final = 2**16
_USABLE = re.compile(rf"[!-~]{{1,{LONGEST_KEY}}}")
_READING: Final = frozenset(("/query", "/check", "/impact", "/ask/run", "/models/probe"))
"""POST requests that write nothing: a key changes nothing about them."""
_RESUMED: Final = frozenset(("/loads", "/sources", "/relations", "/backup", "/optimize"))
"""Requests of many commits or of none: after a crash they are carried out again, which adds nothing twice."""
_NOT_KEPT: Final = frozenset(("date", "connection", "transfer-encoding", "content-length"))
_REFUSED: Final = 400
_JUDGED: Final = 422
_CREDENTIALS: Final = ("authorization", "x-api-key", "origin")


class IdempotentPosts:
    """ASGI middleware: keeps the replies to POST requests with a key, and answers repeats."""

    def __init__(self, app: ASGIApp, services: Services, problems: ProblemMap) -> None:
        self._app = app
        self._services = services
        self._problems = problems
        self._under_way: set[tuple[str, str]] = set()
        # Marks in the graph whose replies are kept: the next marked commit removes them.
        self._finished: deque[Quad] = deque()

    @cached_property
    def _kept(self) -> KeptReplies:
        kept = KeptReplies(self._services.settings.data)
        self._services.closing.callback(kept.close)
        waiting = kept.unanswered()
        self._finished.extend(
            quad for mark, quad in marks(self._services.store).items() if mark not in waiting
        )
        return kept

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what has no key or writes nothing."""
        headers = Headers(scope=scope) if scope["type"] == "http" and scope["method"] == "POST" else None
        if headers is None or KEY not in headers or _only_reads(scope["path"], headers):
            await self._app(scope, receive, send)
            return
        response, unexpected = await self._problems.settle(
            self._taken(scope, receive, send, headers), scope["path"]
        )
        if not isinstance(response, _Sent):
            await response(scope, receive, send)
        if unexpected is not None:
            raise unexpected

    async def _taken(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> Response:
        keys = headers.getlist(KEY)
        if len(keys) > 1 or _USABLE.fullmatch(keys[0]) is None:
            raise IdempotencyKeyUnusable(LONGEST_KEY)
        request = _Keyed(_digest(*(headers.get(name, "") for name in _CREDENTIALS)), keys[0], scope)
        if request.name in self._under_way:
            raise RequestUnderWay
        self._under_way.add(request.name)
        try:
            known = await asyncio.to_thread(lambda: self._kept.find(*request.name))
            if known is not None:
                answer = await self._answer_known(request, known, receive)
                if answer is not None:
                    return answer
            return await self._carry_out(request, known, receive, send)
        finally:
            self._under_way.discard(request.name)

    async def _answer_known(self, request: _Keyed, known: KnownRequest, receive: Receive) -> Response | None:
        """The reply to a repeat; None where the first request was ended before it wrote anything."""
        # A key that was revoked meanwhile reads no reply either.
        self._services.guard.access(Request(request.scope))
        if known.address != request.address:
            raise IdempotencyKeyReused("method, address or content type")
        revision = None
        if known.reply is None:
            revision = await asyncio.to_thread(marked_revision, self._services.store, known.mark)
            if revision is None or request.path in _RESUMED:
                return None
        await request.read(receive)
        if known.body != request.digest:
            raise IdempotencyKeyReused("body")
        if known.reply is None:
            assert revision is not None
            return _recovered(request, revision)
        if known.reply.body is None:
            raise ReplyLost(None, "was too large to be kept")
        response = Response(known.reply.body, known.reply.status)
        for name, value in known.reply.headers:
            response.headers[name] = value
        response.headers[REPLAYED] = "true"
        return response

    async def _carry_out(
        self, request: _Keyed, known: KnownRequest | None, receive: Receive, send: Send
    ) -> Response:
        mark = RequestMark("", finished=self._take_finished)
        recorder = _Recorder(send, lambda reply: self._end(request, mark, reply))

        async def begin() -> None:
            mark.identifier = await asyncio.to_thread(
                lambda: self._kept.begin(
                    *request.name,
                    address=request.address,
                    body=request.digest,
                    # The same identifier: a job that it made before the crash is found by it.
                    mark=None if known is None else known.mark,
                )
            )

        # A short body is read, and entered, before anything can be written: not every route reads it.
        waiting = deque([await request.next(receive, begin)])
        size = 0
        while waiting[-1].get("more_body", False) and size <= _READ_AHEAD:
            size += len(waiting[-1].get("body", b""))
            waiting.append(await request.next(receive, begin))

        async def received() -> Message:
            return waiting.popleft() if waiting else await request.next(receive, begin)

        # As the client might repeat it without the header, the reply is kept without a coding.
        plain = [(name, value) for name, value in request.scope["headers"] if name != b"accept-encoding"]
        with marking(mark):
            await self._app({**request.scope, "headers": plain}, received, recorder)
        return _Sent()

    async def _end(self, request: _Keyed, mark: RequestMark, reply: KeptReply) -> None:
        """Keep a reply before its end is sent; forget a request that did nothing."""
        if not request.digest:
            return
        if mark.only_reads:
            await asyncio.to_thread(lambda: self._kept.forget(*request.name))
        elif (reply.status < _REFUSED or reply.status == _JUDGED) and not _ends_in_problem(reply):
            await asyncio.to_thread(lambda: self._kept.keep(*request.name, reply))
            if mark.revision is not None:
                self._finished.append(mark.quad(mark.revision))
        elif mark.revision is None:
            await asyncio.to_thread(lambda: self._kept.forget(*request.name))

    def _take_finished(self) -> Collection[Quad]:
        return [self._finished.popleft() for _ in range(len(self._finished))]


class _Keyed:
    """One request: who sent it with which key, and digests of its address and, once it is read, its body."""

    def __init__(self, client: str, key: str, scope: Scope) -> None:
        self.name = (client, key)
        self.scope = scope
        self.path: str = scope["path"]
        kind = Headers(scope=scope).get("content-type", "")
        self.address = _digest(self.path, scope["query_string"].decode("latin-1"), kind)
        self.digest = ""
        self._hash = hashlib.sha256()

    async def next(self, receive: Receive, on_end: Callable[[], Awaitable[None]] | None = None) -> Message:
        """The next message of the body; `on_end` is awaited before the last one is handed over."""
        message = await receive()
        if message["type"] == "http.request" and not self.digest:
            self._hash.update(message.get("body", b""))
            if not message.get("more_body", False):
                self.digest = self._hash.hexdigest()
                if on_end is not None:
                    await on_end()
        return message

    async def read(self, receive: Receive) -> None:
        """Read the rest of the body."""
        while not self.digest:
            if (await self.next(receive))["type"] == "http.disconnect":
                raise ClientDisconnect


class _Recorder:
    """Sends a reply on and remembers it, up to its largest size; `on_end` is awaited before its end is sent.

    A reply in one piece is sent after that as a whole.
    """

    def __init__(self, send: Send, on_end: Callable[[KeptReply], Awaitable[None]]) -> None:
        self._send = send
        self._on_end = on_end
        self._start: Message | None = None
        self._status = 0
        self._headers: tuple[tuple[str, str], ...] = ()
        self._body: bytearray | None = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            self._status = message["status"]
            self._headers = tuple(
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in message["headers"]
                if name.decode("latin-1").lower() not in _NOT_KEPT
            )
            return
        if message["type"] == "http.response.body":
            if self._body is not None:
                self._body += message.get("body", b"")
                if len(self._body) > _LARGEST_REPLY:
                    self._body = None
            if not message.get("more_body", False):
                body = None if self._body is None else bytes(self._body)
                await self._on_end(KeptReply(self._status, self._headers, body))
            if self._start is not None:
                await self._send(self._start)
                self._start = None
        await self._send(message)


def _ends_in_problem(reply: KeptReply) -> bool:
    """Whether a stream of events ends with a problem: its status was sent before."""
    events = any(name.lower() == "content-type" and EVENTS in value for name, value in reply.headers)
    return events and b"event: problem\n" in (reply.body or b"")


class _Sent(Response):
    """Stands for a reply that the application has sent."""


def _recovered(request: _Keyed, revision: int) -> Response:
    """The reply to a request that was committed before a crash, as far as it follows from its revision."""
    query = request.scope["query_string"]
    headers = {REPLAYED: "recovered"}
    if b"partial" not in query:
        if request.path in ("/update", "/sparql"):
            return JSONResponse({"revision": revision, "warnings": []}, headers=headers)
        if request.path.startswith("/store") and (query or request.path.rstrip("/") != "/store"):
            return Response(status_code=204, headers=headers)
    raise ReplyLost(revision, "was lost when the server was stopped")


def _only_reads(path: str, headers: Headers) -> bool:
    return path in _READING or (
        path == "/sparql" and headers.get("content-type", "").partition(";")[0].strip() == DIRECT_QUERY
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

"""The short path of the simplest updates: a POST of INSERT DATA or DELETE DATA, taken before the application.

Judging and committing such an update takes less time than the layers of the application (routes, middleware,
admission). The lane submits it to the same queue as all other updates and answers when it is done. Refusals
and errors are left to the application, which gets the outcome. The lane takes only requests for which those
layers would do nothing else: writes that need no key, from no web page (`Origin`), with no parameter but the
update.
"""

from __future__ import annotations

import asyncio
import re
from time import perf_counter
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import ServerError
from server.http.access.guard import is_proxied
from server.http.short.short_answer import short_answer
from server.http.version import API_HEADER
from server.reader_language import reading
from server.runtime.telemetry.logs import new_identifier
from server.writes.updating import OUTCOME, Update, update_json
from sparql.model.change import Verdict
from sparql.protocol.requests import DIRECT_UPDATE, FORM, ProtocolRequest
from sparql.syntax.request_facts import Kind
from sparql.writing.group import Outcome

if TYPE_CHECKING:
    from server.runtime.context import Services

_ROUTES: Final = ("/update", "/sparql")
_LONGEST: Final = 16_384
_PASSED_ON = frozenset(
    b"authorization x-api-key origin transfer-encoding content-encoding expect upgrade x-request-id "
    b"idempotency-key".split()
)
# One pair of braces: no other operation beside it, and nothing nested.
_PLAIN = re.compile(
    r"\s*(?:PREFIX\s+[^\s:<>{}#]*:\s*<[^<>{}\s]*>\s*)*(?:INSERT|DELETE)\s+DATA\s*\{[^{}]*\}\s*;?\s*\Z",
    re.IGNORECASE,
)
_FIELD: Final = b"update="
_DIRECT: Final = DIRECT_UPDATE.encode()
_KINDS: Final = frozenset((_DIRECT, FORM.encode()))


class UpdateLane:
    """ASGI middleware: carries out plain updates, and passes on everything else."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        settings = services.settings
        self._app = app
        self._updates = services.updates
        self._guard = services.guard
        self._limits = services.admission.limits
        self._draining = services.draining
        self._timeout_s = min(settings.query_timeout_s, settings.query_timeout_max_s)
        self._base = settings.base_url.rstrip("/") + "/sparql"
        self._log = services.answers
        requests = services.metrics.requests
        self._seconds = {route: requests.labels("POST", route, "200") for route in _ROUTES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        began = perf_counter()
        kind = None
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] in _ROUTES:
            kind = self._kind_of(scope)
        if kind is None:
            await self._app(scope, receive, send)
            return
        messages = [await receive()]
        while messages[-1].get("more_body", False):
            messages.append(await receive())
        text = _text_of(kind, messages)
        if text is not None and self._takes(text):
            outcome = await self._carry_out(text)
            if isinstance(outcome, Verdict) and not outcome.rejected:
                await self._done(scope, outcome, began)(scope, receive, send)
                return
            scope.setdefault("state", {})[OUTCOME] = outcome
        await self._app(scope, _again(messages, receive), send)

    def _kind_of(self, scope: Scope) -> bytes | None:
        """The content type of a request whose body may be taken."""
        if scope["query_string"] or self._draining.begun:
            return None
        headers = scope["headers"]
        length, kind = b"", b""
        for name, value in headers:
            if name in _PASSED_ON:
                return None
            if name == b"host":
                if not self._guard.hosts.knows(value):
                    return None
            elif name == b"content-length":
                length = value
            elif name == b"content-type":
                # Of two, neither is taken.
                kind = value if not kind else b"?"
        if not length.isdigit() or int(length) > _LONGEST or kind not in _KINDS:
            return None
        return None if is_proxied(headers) else kind

    def _takes(self, text: str) -> bool:
        """Whether an update is plain, and a program that sends it itself may write."""
        if self._draining.begun or not self._guard.writes_are_open(()) or _PLAIN.match(text) is None:
            return False
        try:
            self._limits.check(text, Kind.UPDATE)
        except ServerError:
            return False
        return True

    async def _carry_out(self, text: str) -> Outcome | BaseException:
        future: asyncio.Future[Outcome | BaseException] = asyncio.get_running_loop().create_future()

        def finish(outcome: Outcome | BaseException) -> None:
            if not future.done():
                future.set_result(outcome)

        self._updates.enqueue(Update(ProtocolRequest(Kind.UPDATE, text), self._timeout_s, self._base, finish))
        return await future

    def _done(self, scope: Scope, verdict: Verdict, began: float) -> ASGIApp:
        vary = b"Accept-Encoding, Origin"
        if verdict.warnings or verdict.hubs:
            with reading(scope):
                body = bytes(JSONResponse(update_json(verdict, partial=False)).body)
            vary += b", Accept-Language"
        else:
            revision = "null" if verdict.revision is None else verdict.revision
            body = b'{"revision":%b,"warnings":[]}' % str(revision).encode()
        identifier = new_identifier()
        headers = [
            (b"content-length", b"%d" % len(body)),
            (b"content-type", b"application/json"),
            (b"vary", vary),
            (b"x-request-id", identifier.encode("ascii")),
            API_HEADER,
        ]
        route, seconds = scope["path"], perf_counter() - began
        self._seconds[route].observe(seconds)
        self._log.note(identifier, "POST", route, 200, seconds)
        return short_answer(headers, body)


def _again(messages: list[Message], receive: Receive) -> Receive:
    """What was received already, then the rest."""
    waiting = iter(messages)

    async def receive_again() -> Message:
        message = next(waiting, None)
        return await receive() if message is None else message

    return receive_again


def _text_of(kind: bytes, messages: list[Message]) -> str | None:
    """The update in a body; None where the application is to read it, or the client has left."""
    if messages[-1]["type"] != "http.request":
        return None
    body = b"".join(message.get("body", b"") for message in messages)
    if kind == _DIRECT:
        given = body
    elif body.startswith(_FIELD) and b"&" not in body:
        given = unquote_to_bytes(body[len(_FIELD) :].replace(b"+", b" "))
    else:
        return None
    try:
        return given.decode("utf-8")
    except UnicodeDecodeError:
        return None

"""The short way of the simplest updates: a POST of INSERT DATA or DELETE DATA, taken where its bytes arrive.

Judging and committing such an update takes less time than its way through the application (tasks, routes,
middleware). The lane hands it to the same queue as all other updates, and tells what came of it in the words
of the application, which also answers whatever is more than "done". It takes only requests for which that way
would do nothing else: writes that need no key, from no web page (`Origin`), with no parameter but the update.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Final

from starlette.responses import JSONResponse

from server.errors import ServerError
from server.http.access.guard import is_proxied
from server.http.percent import field_value
from server.http.short.repeats import Head, Headers
from server.runtime.logs import new_identifier
from server.writes.updating import Update, update_json
from sparql.model.change import Verdict
from sparql.protocol.requests import DIRECT_UPDATE, FORM, ProtocolRequest
from sparql.syntax.request_facts import Kind
from sparql.writing.group import Outcome

if TYPE_CHECKING:
    from server.runtime.context import Services

Answer = Callable[["list[bytes] | Outcome | BaseException"], None]
"""Given head (without the server's own headers) and body, or what the application is to tell."""

_TARGETS: Final = (b"/update", b"/sparql")
_LONGEST: Final = 16_384
_REMEMBERED_S: Final = 0.02
"""A first key closes writes so much later: whether there is one takes longer to ask than all the rest."""
_PASSED_ON = frozenset(
    b"authorization x-api-key origin transfer-encoding content-encoding expect upgrade x-request-id".split()
)
# One pair of braces: no other operation beside it, and nothing nested.
_PLAIN = re.compile(
    r"\s*(?:PREFIX\s+[^\s:<>{}#]*:\s*<[^<>{}\s]*>\s*)*(?:INSERT|DELETE)\s+DATA\s*\{[^{}]*\}\s*;?\s*\Z",
    re.IGNORECASE,
)
_FIELD: Final = b"update="
_DIRECT: Final = DIRECT_UPDATE.encode()
_KINDS: Final = frozenset((_DIRECT, FORM.encode()))
_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\ncontent-type: application/json\r\n"
    b"vary: Accept-Encoding, Origin\r\nx-request-id: %b\r\n"
)


class UpdateLane:
    """Called by the connection itself, with the target and the headers (names in lower case) of a POST."""

    def __init__(self, services: Services) -> None:
        settings = services.settings
        self._updates = services.updates
        self._guard = services.guard
        self._limits = services.admission.limits
        self._draining = services.draining
        self._limited = settings.requests_per_second > 0
        self._timeout_s = min(settings.query_timeout_s, settings.query_timeout_max_s)
        self._base = settings.base_url.rstrip("/") + "/sparql"
        self._open_until = 0.0
        self._log = services.answers
        requests = services.metrics.requests
        self._routes = {target: target.decode() for target in _TARGETS}
        self._seconds = {target: requests.labels("POST", target.decode(), "200") for target in _TARGETS}

    def head_of(self, target: bytes, headers: Headers) -> Head | None:
        """What a head says, if the body may be worth waiting for."""
        if target not in _TARGETS or self._limited or self._draining.begun:
            return None
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
        if is_proxied(headers):
            return None
        return Head(target, int(length), kind) if self._writes_are_open() else None

    def _writes_are_open(self) -> bool:
        """Whether a program that sends its request itself, to a name of the server, may write."""
        now = monotonic()
        if now < self._open_until:
            return True
        open_now = self._guard.writes_are_open(())
        self._open_until = now + _REMEMBERED_S if open_now else now
        return open_now

    def take(self, head: Head, body: bytes, answer: Answer) -> bool:
        """Take an update, and call `answer` when it is over; False when the application is to take it."""
        began = perf_counter()
        if self._draining.begun or not self._writes_are_open():
            return False
        text = _text_of(head.kind, body)
        if text is None or _PLAIN.match(text) is None:
            return False
        try:
            self._limits.check(text, Kind.UPDATE)
        except ServerError:
            return False

        def tell(outcome: Outcome | BaseException) -> None:
            if isinstance(outcome, Verdict) and not outcome.rejected:
                answer(self._done(head.target, outcome, began))
            else:
                answer(outcome)

        self._updates.enqueue(Update(ProtocolRequest(Kind.UPDATE, text), self._timeout_s, self._base, tell))
        return True

    def _done(self, target: bytes, verdict: Verdict, began: float) -> list[bytes]:
        if verdict.warnings or verdict.hubs:
            body = bytes(JSONResponse(update_json(verdict, partial=False)).body)
        else:
            revision = "null" if verdict.revision is None else verdict.revision
            body = b'{"revision":%b,"warnings":[]}' % str(revision).encode()
        identifier = new_identifier()
        head = _HEAD % (len(body), identifier.encode())
        seconds = perf_counter() - began
        self._seconds[target].observe(seconds)
        self._log.note(identifier, "POST", self._routes[target], 200, seconds)
        return [head, body]


def _text_of(kind: bytes, body: bytes) -> str | None:
    """The update in a body; None where the application is to look into it."""
    if kind == _DIRECT:
        given = body
    elif body.startswith(_FIELD) and b"&" not in body:
        given = field_value(body[len(_FIELD) :])
    else:
        return None
    try:
        return given.decode("utf-8")
    except UnicodeDecodeError:
        return None

"""The short way of the simplest SPARQL requests: lookups and plain updates, answered before the application.

The store answers a lookup in a tenth of a millisecond, and judging and committing INSERT DATA takes hardly
more; the layers of the application take several times as long. Only requests for which those layers would do
nothing else are answered here: they need no key, come from no web page (`Origin`), are unconditional, and
have no parameter but the query or update and its format. Answers and headers are those of the application.
An update that is refused is left to the application, which gets the outcome.
"""

from __future__ import annotations

import asyncio
import re
from functools import lru_cache
from time import perf_counter
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import ServerError
from server.http.bodies.content_coding import SMALLEST, Compression
from server.http.validators import EntityTag
from server.http.version import API_HEADER
from server.monitoring.logs import new_identifier
from server.reader_language import reading
from server.services import Services
from server.writes.updating import OUTCOME, Update, update_json
from sparql.model.change import Verdict
from sparql.model.errors import RequestError
from sparql.protocol.formats import FEATURE_FORMAT, RESULT_FORMATS, Format, choose, first_known
from sparql.protocol.requests import DIRECT_QUERY, DIRECT_UPDATE, FORM, ProtocolRequest, read_request
from sparql.rewriting.lookups import Lookups
from sparql.storage.embedded_store import EmbeddedStore
from sparql.syntax.request_facts import Kind
from sparql.writing.group import Outcome

_ROUTES: Final = {Kind.QUERY: ("/sparql", "/query"), Kind.UPDATE: ("/sparql", "/update")}
_PATHS: Final = frozenset(path for paths in _ROUTES.values() for path in paths)
_LONGEST: Final = 16_384
_PASSED_ON: Final = frozenset(
    b"authorization x-api-key origin if-none-match transfer-encoding content-encoding expect upgrade "
    b"x-request-id idempotency-key".split()
)
_ONCE: Final = frozenset((b"accept", b"content-type", b"host"))
_FIELDS: Final = {b"query=": Kind.QUERY, b"update=": Kind.UPDATE}
_DIRECT: Final = {DIRECT_QUERY.encode(): Kind.QUERY, DIRECT_UPDATE.encode(): Kind.UPDATE}
# A property that nothing states: the rewriter answers it.
_REWRITTEN: Final = "textMatch"
# One pair of braces: no other operation beside it, and nothing nested.
_PLAIN = re.compile(
    r"\s*(?:PREFIX\s+[^\s:<>{}#]*:\s*<[^<>{}\s]*>\s*)*(?:INSERT|DELETE)\s+DATA\s*\{[^{}]*\}\s*;?\s*\Z",
    re.IGNORECASE,
)

_RawHeaders = list[tuple[bytes, bytes]]
_Answer = tuple[_RawHeaders, bytes]
_Fields = dict[bytes, bytes]
"""The header fields of a request that may be answered here."""


class ShortWay:
    """ASGI middleware: answers lookups in the embedded store and plain updates, and passes on all else."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        settings = services.settings
        self._app = app
        self._base = settings.base_url.rstrip("/") + "/sparql"
        store = services.store
        self._store = store
        self._lookups = Lookups(lambda: store.graph, self._base) if isinstance(store, EmbeddedStore) else None
        self._rewriter = services.rewriter
        self._updates = services.updates
        self._guard = services.guard
        self._limits = services.admission.limits
        self._draining = services.draining
        self._timeout_s = min(settings.query_timeout_s, settings.query_timeout_max_s)
        # Requests that are counted for a rate limit all go to the application.
        self._is_limited = settings.requests_per_second > 0
        self._log = services.answers
        self._seconds = services.metrics.requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        began = perf_counter()
        fields = self._fields_of(scope) if scope["type"] == "http" else None
        if fields is None:
            await self._app(scope, receive, send)
            return
        body = b""
        if scope["method"] == "POST":
            messages = [await receive()]
            while messages[-1].get("more_body", False):
                messages.append(await receive())
            if messages[-1]["type"] == "http.request":
                body = b"".join(message.get("body", b"") for message in messages)
            receive = _again(messages, receive)
        found = _read(scope, fields, body)
        answer = None
        if found is not None and scope["path"] in _ROUTES[found.kind] and not self._draining.begun:
            if found.kind is Kind.QUERY:
                answer = self._look_up(scope, fields, found)
            elif self._takes(scope, fields, found.text):
                answer = await self._carry_out(scope, found)
        if answer is None:
            await self._app(scope, receive, send)
            return
        headers, content = answer
        identifier = new_identifier()
        headers += [
            (b"content-length", b"%d" % len(content)),
            (b"x-request-id", identifier.encode("ascii")),
            API_HEADER,
        ]
        seconds = perf_counter() - began
        self._seconds.labels(scope["method"], scope["path"], "200").observe(seconds)
        self._log.note(identifier, scope["method"], scope["path"], 200, seconds)
        await _sent(headers, content)(scope, receive, send)

    def _fields_of(self, scope: Scope) -> _Fields | None:
        if scope["path"] not in _PATHS or scope["method"] not in ("GET", "POST"):
            return None
        if self._is_limited or self._draining.begun or b"ukg_" in scope["query_string"]:
            return None
        known: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            if name in _PASSED_ON or (name in known and name in _ONCE):
                return None
            known[name] = value
        length = known.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > (_LONGEST if scope["method"] == "POST" else 0):
            return None
        is_ours = b"host" not in known or self._guard.hosts.accepts(known[b"host"])
        return known if is_ours else None

    def _look_up(self, scope: Scope, fields: _Fields, found: ProtocolRequest) -> _Answer | None:
        """The answer to a lookup; None for other queries, and where reading takes a key."""
        text, format_ = found.text, _format_for(fields.get(b"accept"), found.formats)
        if self._lookups is None or format_ is None or not self._guard.reads_are_open(scope["headers"]):
            return None
        if _REWRITTEN in text or self._rewriter.may_warn(text):
            return None
        revision = self._store.revision()
        body = self._lookups.answer(text, format_)
        if body is None:
            return None
        return [
            (b"content-type", format_.content_type.encode("ascii")),
            (b"vary", b"Accept, Accept-Encoding, Origin"),
            (b"cache-control", b"no-cache"),
            (b"etag", EntityTag(text, format_).at(revision).encode("ascii")),
        ], body

    def _takes(self, scope: Scope, fields: _Fields, text: str) -> bool:
        """Whether an update is plain, and a program that sends it without a key may write."""
        known = b"host" not in fields or self._guard.hosts.knows(fields[b"host"])
        if not known or not self._guard.writes_are_open(scope["headers"]) or _PLAIN.match(text) is None:
            return False
        try:
            self._limits.check(text, Kind.UPDATE)
        except ServerError:
            return False
        return True

    async def _carry_out(self, scope: Scope, found: ProtocolRequest) -> _Answer | None:
        """The answer to an update; None where it was refused or failed."""
        future: asyncio.Future[Outcome | BaseException] = asyncio.get_running_loop().create_future()

        def finish(outcome: Outcome | BaseException) -> None:
            if not future.done():
                future.set_result(outcome)

        self._updates.enqueue(Update(found, self._timeout_s, self._base, finish))
        outcome = await future
        if not isinstance(outcome, Verdict) or outcome.rejected:
            scope.setdefault("state", {})[OUTCOME] = outcome
            return None
        vary = b"Accept-Encoding, Origin"
        if outcome.warnings:
            with reading(scope):
                body = bytes(JSONResponse(update_json(outcome, partial=False)).body)
            vary += b", Accept-Language"
        else:
            revision = "null" if outcome.revision is None else outcome.revision
            body = b'{"revision":%b,"warnings":[]}' % str(revision).encode()
        return [(b"content-type", b"application/json"), (b"vary", vary)], body


def _read(scope: Scope, fields: _Fields, body: bytes) -> ProtocolRequest | None:
    """The query or update; None where the application is to answer, or to report what is wrong."""
    try:
        if scope["method"] == "GET":
            return _read_query_string(scope["query_string"])
        if scope["query_string"]:
            return None
        media_type = fields.get(b"content-type", b"")
        kind = _DIRECT.get(media_type)
        if media_type == FORM.encode() and b"&" not in body:
            name, equals, value = body.partition(b"=")
            kind, body = _FIELDS.get(name + equals), unquote_to_bytes(value.replace(b"+", b" "))
        return None if kind is None else ProtocolRequest(kind, body.decode("utf-8"))
    except (UnicodeDecodeError, RequestError):
        return None


def _read_query_string(given: bytes) -> ProtocolRequest | None:
    if given.startswith(b"query=") and b"&" not in given:
        text = unquote_to_bytes(given[len(b"query=") :].replace(b"+", b" ")).decode("utf-8")
        return ProtocolRequest(Kind.QUERY, text)
    found = read_request("GET", given.decode("latin-1"), None, b"")
    if found is None or found != ProtocolRequest(Kind.QUERY, found.text, formats=found.formats):
        return None
    return found


@lru_cache(maxsize=256)
def _format_for(accept: bytes | None, names: tuple[str, ...]) -> Format | None:
    """None where the application is to choose, and to say how."""
    offers = (*RESULT_FORMATS, FEATURE_FORMAT)
    try:
        if any(names):
            found = first_known(names, offers)
        else:
            found = choose(None if accept is None else accept.decode("latin-1"), offers)
        return None if found is FEATURE_FORMAT else found
    except RequestError:
        return None


def _again(messages: list[Message], receive: Receive) -> Receive:
    """What was received already, then the rest."""
    waiting = iter(messages)

    async def receive_again() -> Message:
        message = next(waiting, None)
        return await receive() if message is None else message

    return receive_again


def _sent(headers: _RawHeaders, body: bytes) -> ASGIApp:
    """Sends an answer of status 200, compressed where the client accepts it and it is worthwhile."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return Compression(answer) if len(body) >= SMALLEST else answer

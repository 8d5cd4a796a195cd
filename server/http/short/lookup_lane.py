"""The short path of the simplest queries: a GET that is a lookup is answered before the application.

The store answers a lookup in a tenth of a millisecond; the layers of the application (admission, rewriting,
readers) take several times as long. The lane takes only requests for which those layers would do nothing
else: reads that need no key, no rate limit, no web page (`Origin`), unconditional, with no parameter but the
query and its format. Answers and headers are those of the application.
"""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.entity_tags import EntityTag
from server.http.short.short_answer import short_answer
from server.http.version import API_HEADER
from server.runtime.telemetry.logs import new_identifier
from sparql.model.errors import RequestError
from sparql.protocol.formats import FEATURE_FORMAT, RESULT_FORMATS, Format
from sparql.protocol.negotiation import choose, first_known
from sparql.protocol.requests import ProtocolRequest, read_request
from sparql.rewriting.lookups import Lookups
from sparql.storage.embedded_store import EmbeddedStore
from sparql.syntax.request_facts import Kind

if TYPE_CHECKING:
    from server.runtime.context import Services

_ROUTES: Final = ("/sparql", "/query")
_QUERY: Final = b"query="
_PASSED_ON = frozenset(
    b"authorization x-api-key origin if-none-match content-length transfer-encoding expect upgrade "
    b"x-request-id".split()
)
# A property that nothing states: the rewriter answers it.
_REWRITTEN = "textMatch"


class LookupLane:
    """ASGI middleware: answers lookups in the embedded store, and passes on everything else."""

    def __init__(self, app: ASGIApp, services: Services, store: EmbeddedStore) -> None:
        self._app = app
        self._lookups = Lookups(lambda: store.graph, f"{services.settings.base_url}/sparql")
        self._rewriter = services.rewriter
        self._store = store
        self._guard = services.guard
        self._draining = services.draining
        self._log = services.answers
        requests = services.metrics.requests
        self._seconds = {route: requests.labels("GET", route, "200") for route in _ROUTES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        served: ASGIApp = self._app
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in _ROUTES:
            served = self._answer(scope) or served
        await served(scope, receive, send)

    def _answer(self, scope: Scope) -> ASGIApp | None:
        """The answer; None when the application is to answer."""
        began = perf_counter()
        headers, given = scope["headers"], scope["query_string"]
        if b"ukg_" in given or self._draining.begun or not self._guard.reads_are_open(headers):
            return None
        accept = None
        for name, value in headers:
            if name in _PASSED_ON or (name == b"accept" and accept is not None):
                return None
            if name == b"host" and not self._guard.hosts.accepts(value):
                return None
            if name == b"accept":
                accept = value
        found = _read(given)
        format_ = None if found is None else _format_for(accept, found.formats)
        if found is None or format_ is None:
            return None
        text = found.text
        if _REWRITTEN in text or self._rewriter.may_warn(text):
            return None
        revision = self._store.revision()
        body = self._lookups.answer(text, format_)
        if body is None:
            return None
        identifier = new_identifier()
        raw = [
            *_fixed_headers(format_),
            (b"etag", EntityTag(text, format_).at(revision).encode("ascii")),
            (b"content-length", b"%d" % len(body)),
            (b"x-request-id", identifier.encode("ascii")),
            API_HEADER,
        ]
        seconds = perf_counter() - began
        self._seconds[scope["path"]].observe(seconds)
        self._log.note(identifier, "GET", scope["path"], 200, seconds)
        return short_answer(raw, body)


def _read(given: bytes) -> ProtocolRequest | None:
    """The query; None where the application is to answer, or to report what is wrong."""
    try:
        if given.startswith(_QUERY) and b"&" not in given:
            text = unquote_to_bytes(given[len(_QUERY) :].replace(b"+", b" ")).decode("utf-8")
            return ProtocolRequest(Kind.QUERY, text)
        found = read_request("GET", given.decode("latin-1"), None, b"")
    except (UnicodeDecodeError, RequestError):
        return None
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


@lru_cache(maxsize=8)
def _fixed_headers(format_: Format) -> tuple[tuple[bytes, bytes], ...]:
    return (
        (b"content-type", format_.content_type.encode("ascii")),
        (b"vary", b"Accept, Accept-Encoding, Origin"),
        (b"cache-control", b"no-cache"),
    )

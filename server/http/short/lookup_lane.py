"""The short way of the simplest requests: a GET that is a lookup is answered where its bytes arrive.

For a lookup that the store answers in a tenth of a millisecond, the way through the application (tasks,
routes, middleware) takes several times as long as the answer; and so it is with the few features that are in
a place or nearest to it, which the index of geometries knows. The lane takes only requests for which that
way would do nothing else: reads that need no key, no limit on the rate, from no web page (`Origin`),
unconditional, with no parameter but the query. They are counted and logged as all others are, the lines a
moment later and together.
"""

from __future__ import annotations

from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING

from server.http.percent import field_value
from server.http.routes.graph.sparql import EntityTag, is_varying
from server.runtime.logs import new_identifier
from sparql.model.errors import RequestError
from sparql.model.options import Options
from sparql.protocol.formats import RESULT_FORMATS, Format
from sparql.protocol.negotiation import choose
from sparql.rewriting.lookups import Lookups
from sparql.rewriting.rewriter import IndexAnswer
from sparql.storage.embedded_store import EmbeddedStore

if TYPE_CHECKING:
    from server.runtime.context import Services

_TARGETS = {b"/sparql?query=": "/sparql", b"/query?query=": "/query"}
_PASSED_ON = frozenset(
    b"authorization x-api-key origin if-none-match content-length transfer-encoding expect upgrade "
    b"x-request-id".split()
)
# A property that nothing states: the rewriter answers it.
_REWRITTEN = "textMatch"
_SMALLEST_COMPRESSED = 1000
_AS_USUAL = Options()


def lookup_lane(services: Services) -> LookupLane | None:
    """The lane, where the graph is in this process to look into."""
    store = services.store
    return LookupLane(services, store) if isinstance(store, EmbeddedStore) else None


class LookupLane:
    """Called with the target and the headers (names in lower case) of a GET, by the connection itself."""

    def __init__(self, services: Services, store: EmbeddedStore) -> None:
        self._base = f"{services.settings.base_url}/sparql"
        self._lookups = Lookups(lambda: store.graph, self._base)
        self._rewriter = services.rewriter
        self._store = store
        self._guard = services.guard
        self._draining = services.draining
        self._limited = services.settings.requests_per_second > 0
        self._log = services.answers
        requests = services.metrics.requests
        self._seconds = {route: requests.labels("GET", route, "200") for route in _TARGETS.values()}

    def __call__(self, target: bytes, headers: list[tuple[bytes, bytes]]) -> list[bytes] | None:
        """Head and body of the answer, or None when the application is to answer."""
        began = perf_counter()
        start = target.find(b"=") + 1
        route = _TARGETS.get(target[:start])
        if route is None or self._limited or self._draining.begun or not self._guard.reads_are_open(headers):
            return None
        given = target[start:]
        if b"&" in given or b"ukg_" in given or b"#" in given:
            return None
        accept, zipped = None, False
        for name, value in headers:
            if name in _PASSED_ON or (name == b"accept" and accept is not None):
                return None
            if name == b"host" and not self._guard.hosts.accepts(value):
                return None
            if name == b"accept":
                accept = value
            elif name == b"accept-encoding":
                zipped = value.strip() != b"identity"
        format_ = _format_for(accept)
        text = _text_of(given)
        if format_ is None or text is None or _REWRITTEN in text:
            return None
        revision = self._store.revision()
        body = None if self._rewriter.may_warn(text) else self._lookups.answer(text, format_)
        if body is None and not zipped and (whole := self._by_place(text, format_)) is not None:
            body, revision = whole.body, whole.revision
        if body is None or (zipped and len(body) >= _SMALLEST_COMPRESSED):
            return None
        identifier = new_identifier()
        head = (
            f"{_head(format_)}etag: {EntityTag(text, format_).at(revision)}\r\n"
            f"content-length: {len(body)}\r\nx-request-id: {identifier}\r\n"
        )
        seconds = perf_counter() - began
        self._seconds[route].observe(seconds)
        self._log.note(identifier, "GET", route, 200, seconds)
        return [head.encode("ascii"), body]

    def _by_place(self, text: str, format_: Format) -> IndexAnswer | None:
        """What the index of geometries knows at once."""
        preparation = self._rewriter.preparation(text, _AS_USUAL, base=self._base)
        if preparation is None or is_varying(text):
            return None
        return self._rewriter.quick_index_answer(preparation, format_)


def _text_of(given: bytes) -> str | None:
    """The value of a form field; None when it is no UTF-8, which the application explains."""
    try:
        return field_value(given).decode("utf-8")
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=256)
def _format_for(accept: bytes | None) -> Format | None:
    try:
        return choose(None if accept is None else accept.decode("latin-1"), RESULT_FORMATS)
    except RequestError:
        return None


@lru_cache(maxsize=8)
def _head(format_: Format) -> str:
    return (
        f"HTTP/1.1 200 OK\r\ncontent-type: {format_.content_type}\r\n"
        "vary: Accept, Accept-Encoding, Origin\r\ncache-control: no-cache\r\n"
    )

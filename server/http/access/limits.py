"""What one client may ask for: length and depth of a text, requests in a time."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from pyoxigraph import RdfFormat
from starlette.types import ASGIApp, Receive, Scope, Send

from server.errors import NestedTooDeep, TextTooComplex, TooLong
from server.http.access.clients import Clients
from server.http.reporting.problems import problem_response
from server.settings import Settings
from sparql.syntax.nesting import rdf_depth, size_of
from sparql.syntax.request_facts import Kind

_MOST_CLIENTS = 10_000
_NEVER_LIMITED = frozenset({"/healthz", "/readyz"})


class TextLimits:
    """The limits of SPARQL texts and RDF bodies, checked before any parser sees them."""

    def __init__(self, settings: Settings) -> None:
        self._longest = {Kind.QUERY: settings.max_query_chars, Kind.UPDATE: settings.max_update_chars}
        self._depth = settings.max_query_depth
        self._operators = settings.max_query_operators

    def check(self, text: str, kind: Kind) -> None:
        """Raises `TooLong` (413), `NestedTooDeep` and `TextTooComplex` (400)."""
        if len(text) > self._longest[kind]:
            raise TooLong(kind.value, self._longest[kind])
        size = size_of(text, depth_limit=self._depth, operator_limit=self._operators)
        if size.depth > self._depth:
            raise NestedTooDeep(self._depth)
        if size.operators > self._operators:
            raise TextTooComplex(self._operators)

    def check_rdf(self, data: bytes, format_: RdfFormat) -> None:
        """Raises `NestedTooDeep`."""
        if rdf_depth(data, format_) > self._depth:
            raise NestedTooDeep(self._depth)


class RateLimit:
    """ASGI middleware: a bucket of requests for each client, refilled at a constant rate.

    A client may send `rate` requests per second on the long run, and a second's worth (at least one) at
    once. `clients` names it: by a key only if that is valid, so wrong keys do not evade the limit.
    """

    def __init__(
        self, app: ASGIApp, rate: float, clients: Clients, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._clients = clients
        self._rate = rate
        self._most = max(1.0, rate)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 429 with Retry-After (RFC 6585, 4)."""
        wait = 0.0
        if scope["type"] == "http" and self._rate > 0 and scope["path"] not in _NEVER_LIMITED:
            wait = self._take(self._clients.name_of(scope))
        answer = self._app if wait <= 0 else _too_many(wait)
        await answer(scope, receive, send)

    def _take(self, client: str) -> float:
        """Take one request from the client's bucket; how many seconds until there is one, else 0."""
        now = self._clock()
        left, seen = self._buckets.pop(client, (self._most, now))
        left = min(self._most, left + (now - seen) * self._rate)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate
        self._buckets[client] = (left if wait else left - 1, now)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return wait


def _too_many(wait_s: float) -> ASGIApp:
    return problem_response(
        429,
        "Too many requests",
        "This client sends more requests than the server takes; wait as long as Retry-After says.",
        headers={"Retry-After": str(math.ceil(wait_s))},
    )

"""What a SPARQL request passes before it runs: guard, limits of its text, fetches from other hosts."""

from __future__ import annotations

import asyncio
import io
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, TYPE_CHECKING, cast

import pyoxigraph
from pyoxigraph import DefaultGraph, RdfFormat, Triple
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from server.errors import NestedTooDeep, TextTooComplex, TooLong
from server.http.access.clients import Clients
from server.http.access.guard import Guard
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import media_type, read_body
from server.http.reporting.problems import problem_response
from server.settings import Settings
from sparql.model.errors import FetchFailed, FetchRefused, PayloadProblem, RemoteAccessRefused
from sparql.protocol.formats import GRAPH_FORMATS
from sparql.protocol.requests import DIRECT_UPDATE, FORM, ProtocolRequest
from sparql.syntax.nesting import size_of
from sparql.syntax.request_facts import Kind, facts_of

if TYPE_CHECKING:
    from server.data.remote_access import RemoteAccess


_MOST_CLIENTS = 10_000
_NEVER_LIMITED = frozenset({"/healthz", "/readyz"})


LONGEST_QUERY = 200_000
"""Characters of a query."""
DEEPEST = 100
"""How deep brackets may nest: parsers call themselves for each level."""
MOST_OPERATORS = 2000
"""UNION, OPTIONAL, FILTER, ||, / and others: the engine calls itself for each."""


class TextLimits:
    """The limits of SPARQL texts, checked before any parser sees them."""

    def __init__(self, settings: Settings) -> None:
        self._longest = {Kind.QUERY: LONGEST_QUERY, Kind.UPDATE: settings.max_update_chars}
        self._depth = DEEPEST
        self._operators = MOST_OPERATORS

    def check(self, text: str, kind: Kind) -> None:
        """Raises `TooLong` (413), `NestedTooDeep` and `TextTooComplex` (400)."""
        if len(text) > self._longest[kind]:
            raise TooLong(kind.value, self._longest[kind])
        size = size_of(text, depth_limit=self._depth, operator_limit=self._operators)
        if size.depth > self._depth:
            raise NestedTooDeep(self._depth)
        if size.operators > self._operators:
            raise TextTooComplex(self._operators)


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

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
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


_RESULTS = "application/sparql-results+json"
_GRAPHS = ", ".join(one.media_type for one in GRAPH_FORMATS)
BYTES_PER_CHARACTER = 4
# What servers send for files whose type they do not know.
_VAGUE = frozenset({"", "text/plain", "application/octet-stream"})


class Admission:
    """Admits requests to the SPARQL endpoint, or says why not."""

    def __init__(self, settings: Settings, guard: Guard, remote: RemoteAccess | None = None) -> None:
        self._guard = guard
        self.limits = TextLimits(settings)
        self._most_bytes = settings.max_update_chars * BYTES_PER_CHARACTER
        self._settings = settings
        self._given_remote = remote

    @cached_property
    def _remote(self) -> RemoteAccess:
        """The path to other hosts, which few requests take."""
        if self._given_remote is not None:
            return self._given_remote
        from server.data.remote_access import RemoteAccess, hosts_of

        return RemoteAccess(
            hosts_of(self._settings.remote_hosts),
            max_bytes=self._settings.remote_max_bytes,
        )

    async def body(self, request: Request) -> bytes:
        """The body, once the client may send one: what it is decides which scope that takes.

        Raises the guard's errors and `BodyTooLarge`.
        """
        kind = media_type(request)
        if request.scope["path"] == "/update" or kind == DIRECT_UPDATE:
            await self._guard.check(request, Scope.WRITE)
        elif request.method == "POST" and kind == FORM:
            # A form may hold a query or an update; `admit` sees which.
            await self._guard.check(request, Scope.READ, Scope.WRITE)
        else:
            await self._guard.check(request, Scope.READ)
        return await read_body(request, self._most_bytes)

    async def admit(
        self, request: Request, found: ProtocolRequest, *, base: str, timeout_s: float
    ) -> ProtocolRequest:
        """The request as it may run. Raises the guard's errors, those of `TextLimits`, and fetch errors."""
        await self._guard.check(request, Scope.WRITE if found.kind is Kind.UPDATE else Scope.READ)
        self.limits.check(found.text, found.kind)
        facts = facts_of(found.text)
        if not (facts.services or facts.loads):
            return found
        from sparql.protocol.federation import localize

        guarded = _GuardedSources(self._remote, timeout_s)
        localized = await localize(found.text, guarded if self._remote.hosts else _NoSources(), base)
        return replace(found, text=localized.text, warnings=localized.passed_over)


class _NoSources:
    """No other host is to be reached."""

    async def results(self, endpoint: str, query: str) -> bytes:
        raise RemoteAccessRefused("SERVICE", f"<{endpoint}>")

    async def triples(self, document: str) -> Sequence[Triple]:
        raise RemoteAccessRefused("LOAD", f"<{document}>")


@dataclass(frozen=True)
class _GuardedSources:
    """Other hosts, as SERVICE and LOAD see them."""

    remote: RemoteAccess
    timeout_s: float

    async def results(self, endpoint: str, query: str) -> bytes:
        found = await self.remote.fetch(endpoint, _RESULTS, form={"query": query}, timeout_s=self.timeout_s)
        return found.content

    async def triples(self, document: str) -> Sequence[Triple]:
        found = await self.remote.fetch(document, _GRAPHS, timeout_s=self.timeout_s)
        by_type, by_name = RdfFormat.from_media_type(found.media_type), _by_name(found.url)
        format_ = (by_name or by_type) if found.media_type in _VAGUE else (by_type or by_name)
        if format_ is None:
            raise FetchFailed(document, f"'{found.media_type}' is no RDF format")
        return await asyncio.to_thread(_parse, found.content, format_, found.url)


def _by_name(url: str) -> RdfFormat | None:
    return RdfFormat.from_extension(url.partition("?")[0].partition("#")[0].rpartition(".")[2])


def _parse(content: bytes, format_: RdfFormat, url: str) -> list[Triple]:
    from sparql.syntax.nesting import ShallowFile

    try:
        guarded = cast("IO[bytes]", ShallowFile(io.BytesIO(content), format_))
        quads = list(pyoxigraph.parse(guarded, format=format_, base_iri=url, rename_blank_nodes=True))
    except PayloadProblem as error:
        raise FetchFailed(url, f"its RDF cannot be taken ({error})") from error
    except (SyntaxError, ValueError, MemoryError) as error:
        raise FetchFailed(url, f"its RDF cannot be read ({error})") from error
    if any(not isinstance(quad.graph_name, DefaultGraph) for quad in quads):
        raise FetchRefused(url, "it holds named graphs, and LOAD takes one graph")
    return [quad.triple for quad in quads]

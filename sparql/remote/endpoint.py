"""The address of a remote store, and the writer's connection: queries may be repeated, updates are sent once.

Blocking; for the writer's thread. Queries of clients use `sparql.remote.query_service`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, cast

import httpx
from pyoxigraph import NamedNode, QueryBoolean, QueryResultsFormat, parse_query_results

from sparql.model.errors import QueryTimeout, RemoteIncomplete, RemoteRefused, RemoteUnreachable
from sparql.model.source import Term


@dataclass(frozen=True)
class RemoteAddress:
    """The addresses of a SPARQL 1.1 store (query, update, and optionally its graph store) and credentials.

    `default_graph` names the graph that serves as the default graph in stores that have none, or whose
    default graph is the union of all (Virtuoso, GraphDB). `timeout_s` is for one request of the writer.
    """

    query_url: str
    update_url: str
    graph_url: str | None = None
    user: str | None = None
    password: str | None = None
    token: str | None = None
    digest: bool = False
    default_graph: NamedNode | None = None
    timeout_s: float = 60.0

    def authentication(self) -> httpx.Auth | None:
        """Bearer with a token, else Basic or Digest with a user, else nothing."""
        if self.token is not None:
            return _Bearer(self.token)
        if self.user is None:
            return None
        password = self.password or ""
        return httpx.DigestAuth(self.user, password) if self.digest else httpx.BasicAuth(self.user, password)


class _Bearer(httpx.Auth):
    """RFC 6750, 2.1."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request


ATTEMPTS = 3
_PAUSE_S = 0.2
_NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
CONNECT_TIMEOUT_S = 10.0
_REASON_CHARACTERS = 1000
JSON_RESULTS = "application/sparql-results+json"
Row = dict[str, Term]
Repair = Callable[[Iterator[bytes]], Iterator[bytes]]


class ConnectionLost(Exception):
    """The connection ended after an update was sent, before the response."""


class Endpoint:
    """Queries and updates as SPARQL 1.1 Protocol requests; `repair` corrects results of the store."""

    def __init__(self, address: RemoteAddress, transport: httpx.BaseTransport | None = None) -> None:
        self.address = address
        self.server = ""
        self.repair: Repair = iter
        self._local = threading.local()
        self._client = httpx.Client(
            auth=address.authentication(),
            timeout=httpx.Timeout(address.timeout_s, connect=CONNECT_TIMEOUT_S),
            transport=transport,
            # Ignore environment settings (proxies, netrc), which are not for this store.
            trust_env=False,
        )

    @contextmanager
    def deadline(self, moment: float | None) -> Iterator[None]:
        """Queries of this thread end at `moment` (of `time.monotonic`): QueryTimeout."""
        before = getattr(self._local, "deadline", None)
        self._local.deadline = moment
        try:
            yield
        finally:
            self._local.deadline = before

    def solutions(
        self,
        text: str,
        default_graphs: Sequence[NamedNode] = (),
        named_graphs: Sequence[NamedNode] = (),
    ) -> list[Row]:
        """All solutions of a SELECT.

        Raises RemoteUnreachable, RemoteRefused, RemoteIncomplete and QueryTimeout.
        """
        url = self.address.query_url
        form = query_form(text, default_graphs, named_graphs)
        for attempt in range(ATTEMPTS):
            try:
                with self._client.stream(
                    "POST", url, data=form, headers={"Accept": JSON_RESULTS}, timeout=self._timeout()
                ) as response:
                    self.server = response.headers.get("server", self.server)
                    if not response.is_success:
                        response.read()
                        raise refused(url, response.status_code, response.text)
                    check_whole(url, response.headers)
                    return _read_solutions(as_file(self.repair(response.iter_bytes(65536))))
            except httpx.TimeoutException as error:
                self._timeout()
                if attempt == ATTEMPTS - 1 or not isinstance(error, httpx.ConnectTimeout):
                    raise RemoteUnreachable(url, "it did not answer in time") from error
            except httpx.HTTPError as error:
                if attempt == ATTEMPTS - 1:
                    raise RemoteUnreachable(url, _reason(error)) from error
            except SyntaxError as error:
                raise RemoteIncomplete(url, f"it is not a SPARQL result ({error})") from error
            time.sleep(_PAUSE_S * 2**attempt)
        raise AssertionError("unreachable")

    def limit_of(self, text: str) -> int | None:
        """The number of rows at which the store truncates the answer to a query; None when it does not."""
        try:
            self.solutions(text)
        except RemoteIncomplete as error:
            return getattr(error, "row_limit", None)
        except RemoteRefused:
            return None
        return None

    def update(self, text: str) -> None:
        """Send an update once; only a failed connection is tried again.

        Raises RemoteUnreachable (nothing was sent), RemoteRefused and ConnectionLost.
        """
        headers = {"Content-Type": "application/sparql-update; charset=utf-8", "Accept": "*/*"}
        try:
            response = self._post(self.address.update_url, text.encode(), headers, _NOT_CONNECTED)
        except httpx.HTTPError as error:
            raise ConnectionLost(_reason(error)) from error
        self.server = response.headers.get("server", self.server)

    def add_to_graph(self, graph: NamedNode, n_triples: bytes) -> None:
        """Add triples without blank nodes to a graph, by the graph store protocol; may be repeated.

        Raises RemoteUnreachable and RemoteRefused.
        """
        assert self.address.graph_url is not None
        url = httpx.URL(self.address.graph_url).copy_merge_params({"graph": graph.value})
        self._post(str(url), n_triples, {"Content-Type": "application/n-triples"}, (httpx.HTTPError,))

    def _post(
        self, url: str, content: bytes, headers: dict[str, str], repeated: tuple[type[Exception], ...]
    ) -> httpx.Response:
        """Send it, after errors of some types again. Raises other errors as they are."""
        for attempt in range(ATTEMPTS):
            try:
                response = self._client.post(url, content=content, headers=headers)
            except repeated as error:
                if attempt == ATTEMPTS - 1:
                    raise RemoteUnreachable(url, _reason(error)) from error
                time.sleep(_PAUSE_S * 2**attempt)
            else:
                if not response.is_success:
                    raise refused(url, response.status_code, response.text)
                return response
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _timeout(self) -> httpx.Timeout:
        """The time until the deadline. Raises QueryTimeout when there is none."""
        moment = getattr(self._local, "deadline", None)
        if moment is None:
            return self._client.timeout
        left = moment - time.monotonic()
        if left <= 0:
            raise QueryTimeout(self.address.timeout_s)
        return httpx.Timeout(left)


def query_form(
    text: str, default_graphs: Sequence[NamedNode], named_graphs: Sequence[NamedNode]
) -> dict[str, str | list[str]]:
    """A query as a form for POST (SPARQL 1.1 Protocol, 2.1.2)."""
    form: dict[str, str | list[str]] = {"query": text}
    if default_graphs:
        form["default-graph-uri"] = [graph.value for graph in default_graphs]
    if named_graphs:
        form["named-graph-uri"] = [graph.value for graph in named_graphs]
    return form


def check_whole(url: str, headers: httpx.Headers) -> None:
    """Raises RemoteIncomplete when the store reports a truncated answer, as Virtuoso does."""
    limit = headers.get("x-sparql-maxrows")
    if limit is not None:
        error = RemoteIncomplete(url, f"it was truncated after {limit} rows; raise ResultSetMaxRows there")
        error.row_limit = int(limit) if limit.isdigit() else None
        raise error
    if headers.get("x-sql-state") == "S1TAT":
        raise RemoteIncomplete(url, "the store stopped at its time limit and sent a part; narrow the query")


def refused(url: str, status: int, reply: str) -> RemoteRefused:
    """The error for an error response, with the store's message but without the request that it repeats."""
    words = " ".join(reply.partition("SPARQL query:")[0].split())
    return RemoteRefused(url, status, words[:_REASON_CHARACTERS] or "no reason given")


class _File:
    """Pieces of bytes as a file that is read once."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def read(self, size: int = -1) -> bytes:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._left = piece
        taken, self._left = self._left[:size], self._left[size:]
        return taken


def as_file(pieces: Iterator[bytes]) -> IO[bytes]:
    """The file-like object that the engine's parsers read from."""
    return cast("IO[bytes]", _File(pieces))


def _read_solutions(file: IO[bytes]) -> list[Row]:
    found = parse_query_results(file, format=QueryResultsFormat.JSON)
    assert not isinstance(found, QueryBoolean)
    names = [variable.value for variable in found.variables]
    return [{name: term for name in names if (term := row[name]) is not None} for row in found]


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__

"""A query as the workers take it, its streamed answer, and what routes need of a query service."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyoxigraph import NamedNode

from sparql.model.errors import (
    MalformedRequest,
    QueryFailed,
    ReadError,
    SparqlError,
    StoreDamaged,
    reports_damage,
)
from sparql.model.vocabulary import GRAPH
from sparql.protocol.formats import GRAPH_FORMATS, RESULT_FORMATS, WITH_PREFIXES, Format
from sparql.rewriting.steps import Probe, Row
from sparql.syntax.problems import unknown_function
from sparql.syntax.request_facts import Kind, facts_of
from sparql.workers.frames import FrameKind
from sparql.writing.update_account import QuadDelta

_UNKNOWN_FUNCTION = re.compile(r"custom (?:aggregate )?function <([^>]*)> is not supported")


class Preparation(Protocol):
    """Rewrites a query for the revision that it will read (see ``sparql.rewriting``)."""

    @property
    def optional(self) -> bool:
        """Whether the answer would be the same without it."""
        ...

    async def apply(
        self,
        revision: int,
        ask: Callable[[Probe], Awaitable[list[Row]]],
        *,
        timeout_s: float,
        left_s: float,
    ) -> str: ...


@dataclass(frozen=True)
class QueryRequest:
    """One query. Without a ``format``, JSON or Turtle, depending on the query's form.

    ``default_graphs`` and ``named_graphs`` replace the dataset of the text (SPARQL 1.1 Protocol, 2.1.4).
    ``timeout_s`` counts from the call and includes waiting for a worker; None uses the pool's own. ``base``
    resolves relative IRIs where the text has no BASE (SPARQL 1.1 Query, 4.1.1.2). A ``preparation`` rewrites
    the text once the checkpoint is known. ``prefixes`` shorten the IRIs of Turtle and TriG.
    """

    text: str
    format: Format | None = None
    default_graphs: tuple[NamedNode, ...] = ()
    named_graphs: tuple[NamedNode, ...] = ()
    timeout_s: float | None = None
    base: str | None = None
    preparation: Preparation | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)


@dataclass
class PoolStatistics:
    """Counters since the start of the pool."""

    queries: int = 0
    kills: int = 0
    turned_away: int = 0


class StreamedResult(Protocol):
    """An answer in progress: its head is known, its body arrives in chunks."""

    @property
    def format(self) -> Format: ...

    @property
    def revision(self) -> int: ...

    @property
    def unknown_functions(self) -> tuple[str, ...]:
        """The IRIs of functions that the query calls and the query service does not know."""
        ...

    def whole(self) -> bytes | None:
        """The body, if all of it has arrived; None while more is to come. Ends the iteration."""
        ...

    def __aiter__(self) -> AsyncIterator[bytes]: ...


class QueryService(Protocol):
    """Answers queries, each with a deadline; see `sparql.workers.pool.WorkerPool`."""

    @property
    def statistics(self) -> PoolStatistics: ...

    @property
    def pids(self) -> tuple[int, ...]: ...

    @property
    def waiting(self) -> int: ...

    @property
    def knows_every_change(self) -> bool:
        """Whether the revision changes with every change to the graph, so that it identifies the content."""
        ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def revision(self) -> int: ...

    def query(self, request: QueryRequest) -> AbstractAsyncContextManager[StreamedResult]: ...

    async def prepared(self, request: QueryRequest) -> tuple[str, int]:
        """The prepared text of the query, and the revision that it would read."""
        ...

    async def open_query(self, request: QueryRequest) -> StreamedResult: ...

    async def open_dump(
        self,
        graph: NamedNode | None,
        format_: Format,
        *,
        prefixes: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> StreamedResult: ...

    def close_query(self, result: Any) -> None:
        """Finish an answer of `open_query` or `open_dump` of the same object."""
        ...

    async def solutions(self, text: str, timeout_s: float | None = None) -> dict[str, Any]: ...


class Capturer(Protocol):
    """Computes the changes of an update that evaluates patterns."""

    def capture(
        self,
        text: str,
        using: Sequence[NamedNode] = (),
        using_named: Sequence[NamedNode] = (),
        timeout_s: float = 30.0,
        base: str | None = None,
    ) -> QuadDelta: ...


def members_of(request: QueryRequest) -> dict[str, Any]:
    """Everything that a worker needs to know about a request. Raises for texts that must not reach it."""
    facts = facts_of(request.text)
    facts.refuse_remote_access()
    if facts.kind is Kind.UPDATE:
        raise MalformedRequest("This is an update, not a query; send it as an update.")
    graph_format, result_format = GRAPH_FORMATS[0], RESULT_FORMATS[0]
    if request.format in GRAPH_FORMATS:
        graph_format = request.format
    elif request.format is not None:
        result_format = request.format
    gives_graph = facts.form is not None and facts.form.gives_graph
    shortens = gives_graph and graph_format.name in WITH_PREFIXES
    return {
        "text": request.text,
        "base": request.base,
        "result_format": result_format.name,
        "graph_format": graph_format.name,
        "prefixes": dict(request.prefixes) if shortens else {},
        "default_graphs": [graph.value for graph in request.default_graphs],
        "named_graphs": [graph.value for graph in request.named_graphs],
        "system_graphs": GRAPH.iri,
        "hide_system_graphs": facts.graph_variable and not facts.dataset_clause,
        "named_in_text": [iri for iri in facts.iris if iri.startswith(GRAPH.iri)],
    }


def error_of(kind: FrameKind, payload: Any) -> SparqlError:
    """The error that an ERROR or REFUSED frame contains."""
    if kind is FrameKind.REFUSED:
        assert isinstance(payload, SparqlError)
        return payload
    match payload["type"]:
        case "stopped":
            return ReadError("The query was stopped because its answer is no longer wanted.")
        case _:
            if unknown := _UNKNOWN_FUNCTION.search(payload["message"]):
                return unknown_function(unknown[1])
            if reports_damage(payload["message"]):
                return StoreDamaged(payload["message"])
            return QueryFailed(f"The query could not be evaluated: {payload['message']}.")

"""A query as the workers take it, and its streamed answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyoxigraph import NamedNode

from sparql.model.errors import QueryFailed, ReadError, SparqlError
from sparql.model.store_errors import StoreDamaged, reports_damage
from sparql.protocol.formats import Format
from sparql.rewriting.meaning.probes import Probe, Row
from sparql.syntax.unknown_functions import unknown_function
from sparql.workers.processes.frames import FrameKind
from sparql.workers.processes.process import WorkerProcess


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


class Answer:
    """The answer that a worker is sending: chunks of at most 64 KB, to be iterated once.

    When something fails after the head the iteration raises, so one that ends is complete. ``killer`` is the
    timer that ends the worker at the deadline.
    """

    def __init__(self, worker: WorkerProcess, revision: int, killer: asyncio.TimerHandle) -> None:
        self.worker = worker
        self.revision = revision
        self.killer = killer
        self.finished = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while not self.finished:
            try:
                kind, payload = await self.worker.frames.next()
            except EOFError:
                raise await self.worker.cause_of_end() from None
            if kind is FrameKind.DATA:
                yield payload
            else:
                self.finished = True
                if kind is not FrameKind.END:
                    raise error_of(kind, payload)


class QueryResult:
    """An answer in progress: its head is known, its body arrives in chunks; see ``Answer``.

    ``unknown_functions`` are the IRIs of called functions that do not exist here.
    """

    def __init__(self, answer: Answer, format_: Format, unknown_functions: tuple[str, ...] = ()) -> None:
        self.answer = answer
        self.format = format_
        self.unknown_functions = unknown_functions

    @property
    def revision(self) -> int:
        """The revision of the store that the query read."""
        return self.answer.revision

    @property
    def media_type(self) -> str:
        """The media type of the body, without parameters."""
        return self.format.media_type

    def whole(self) -> bytes | None:
        """The body, if all of it has arrived; None while more is to come. Ends the iteration."""
        chunks = self.answer.worker.frames.take_finished()
        if chunks is None:
            return None
        self.answer.finished = True
        return b"".join(chunks)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self.answer)


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


_UNKNOWN_FUNCTION = re.compile(r"custom (?:aggregate )?function <([^>]*)> is not supported")

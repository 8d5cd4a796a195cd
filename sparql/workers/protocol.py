"""What routes need of a query service: the pool of workers, or a remote store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

from pyoxigraph import NamedNode

from sparql.protocol.formats import Format

if TYPE_CHECKING:
    from sparql.workers.queue.workers import PoolStatistics
    from sparql.workers.result import QueryRequest


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

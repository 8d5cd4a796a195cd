"""What routes need of whoever answers queries: the pool of workers, or a remote store."""

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
    """An answer under way: its head is known, its body comes in chunks."""

    @property
    def format(self) -> Format: ...

    @property
    def revision(self) -> int: ...

    @property
    def unknown_functions(self) -> tuple[str, ...]:
        """The IRIs of functions that the query calls and whoever answers it does not know."""
        ...

    def whole(self) -> bytes | None:
        """The body, if all of it has arrived already; None while more is to come. Ends the iteration."""
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
        """Whether the revision tells of every change to the graph, so that it can stand for the content."""
        ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def revision(self) -> int: ...

    def query(self, request: QueryRequest) -> AbstractAsyncContextManager[StreamedResult]: ...

    async def prepared(self, request: QueryRequest) -> tuple[str, int]:
        """The text that the query would run as, and the revision that it would read."""
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
        """Done with an answer that `open_query` or `open_dump` of the same object gave."""
        ...

    async def solutions(self, text: str, timeout_s: float | None = None) -> dict[str, Any]: ...

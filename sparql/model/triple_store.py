"""The store Protocol, implemented by the embedded and the remote store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from sparql.model.source import Term, TripleSource

GraphName = NamedNode | BlankNode | DefaultGraph


class Readable(Protocol):
    """A dataset as read by the capture of an update; `pyoxigraph.Store` is one."""

    def query(
        self,
        query: str,
        /,
        *,
        custom_functions: dict[NamedNode, Callable[..., Any]] | None = None,
        custom_aggregate_functions: dict[NamedNode, Callable[..., Any]] | None = None,
        default_graph: Any = None,
        named_graphs: Any = None,
    ) -> Any: ...

    def backup(self, target_directory: str, /) -> None:
        """Copy the files. Raises RuntimeError where there are none, our error where a copy is impossible."""
        ...

    def quads_for_pattern(
        self, subject: Any, predicate: Any, object_: Any, graph_name: Any = None, /
    ) -> Iterator[Quad]: ...

    def __contains__(self, quad: Any, /) -> bool: ...

    def contains_named_graph(self, graph_name: Any, /) -> bool: ...

    def named_graphs(self) -> Iterator[NamedNode | BlankNode]: ...


class CommittedQuads(Protocol):
    """What a commit changed."""

    @property
    def additions(self) -> Collection[Quad]: ...

    @property
    def removals(self) -> Collection[Quad]: ...


class LateCommit(CommittedQuads, Protocol):
    """A commit that turned out to have been applied after its writer had given up on it."""


class QuadFollower(Protocol):
    """Receives what every commit changed, in order, before the commit is acknowledged."""

    def committed(self, commit: CommittedQuads, since: int, /) -> None:
        """The store changed by exactly these quads; its revision was `since` before."""

    def lost_track(self) -> None:
        """The store was changed without a report of the individual quads."""


class LocalStore(Protocol):
    """A database on this machine: the graph itself, or what is kept beside a remote store."""

    @property
    def folder(self) -> Path | None: ...

    @property
    def graph(self) -> Readable: ...

    @property
    def syncs(self) -> int:
        """How many syncs `Durability.GROUP` has made."""
        ...

    def revision(self) -> int: ...

    def write_out(self) -> None:
        """Write buffered data to the files, which frees its memory. Raises `StoreUnwritable`."""
        ...

    def follow(self, follower: QuadFollower) -> None:
        """Report each commit to a follower from now on."""
        ...


class TripleStore(TripleSource, Protocol):
    """A store with one writer. `match` reads the default graph."""

    @property
    def folder(self) -> Path | None:
        """The folder for files of this server; None in memory."""
        ...

    @property
    def graph(self) -> Readable:
        """The dataset that updates are captured on."""
        ...

    @property
    def local(self) -> LocalStore:
        """The store whose files are on this machine: this one, or the one beside a remote store."""
        ...

    @property
    def bulk_pending(self) -> bool: ...

    def revision(self) -> int: ...

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: GraphName | None = None,
    ) -> Iterator[Quad]: ...

    def named(self, graph: NamedNode) -> TripleSource: ...

    def contains(self, quad: Quad) -> bool: ...

    def has_graph(self, graph: NamedNode) -> bool: ...

    def remember_reads(self) -> AbstractContextManager[None]:
        """Nobody else writes while the block runs, so reads may be cached."""
        ...

    def prefetch(self, triples: Sequence[Triple]) -> None:
        """These will be read one by one; fetching them together may be faster."""
        ...

    def late_commit(self) -> LateCommit | None:
        """Settle a commit whose result was unknown; returns it if it was applied after all."""
        ...

    def commit(
        self,
        additions: Collection[Quad],
        removals: Collection[Quad] = (),
        *,
        origin: str = "system",
        graphs_created: Collection[NamedNode] = (),
        graphs_dropped: Collection[NamedNode] = (),
    ) -> int: ...

    def settle(self, revision: int | None = None) -> None: ...

    def begin_bulk(self) -> None: ...

    def bulk_add(self, quads: Iterable[Quad]) -> None: ...

    def end_bulk(self, removals: Collection[Quad] = ()) -> int: ...

    def probe(self) -> None: ...

    def optimize(self) -> None: ...

    def close(self) -> None: ...

"""Groups commits into one write: reads through the group show pending commits, the store does not yet.

With many small changes most of the cost of a commit does not depend on its content: the transaction, the
revision's stamp, the write to the journal, the sync. A `Group` wraps the store while the writer judges
several changes, each on the graph as those before it leave it, and then writes all in one step. Each keeps
its own revision and its own entry in the journal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from sparql.model.change import Verdict
from sparql.model.errors import SparqlError, StoreUnwritable
from sparql.model.source import Term, TripleIndex, TripleSource
from sparql.model.vocabulary import DEFAULT
from sparql.storage.change_log import Commit
from sparql.storage.embedded_store import EmbeddedStore

Outcome = Verdict | SparqlError
"""The outcome of a change: its verdict, or why it could not be carried out."""


class Group:
    """A store and its pending commits. For the writer's thread only.

    `outcomes` are those of the changes so far; they become valid when their commits are written.
    """

    def __init__(self, store: EmbeddedStore, outcomes: list[Outcome]) -> None:
        self.outcomes = outcomes
        self._written = len(outcomes)
        self._store = store
        self._waiting: list[Commit] = []
        # For every quad of a pending commit, whether it exists after all of them.
        self._pending_state: dict[Quad, bool] = {}
        # Cached answers of the store for other quads: nobody else writes to it meanwhile.
        self._stored: dict[Quad, bool] = {}
        self._shown: dict[NamedNode | DefaultGraph, TripleIndex] = {}
        # Additions not in `_shown` yet: nothing has been looked up since.
        self._unseen: list[Quad] = []

    def contains(self, quad: Quad) -> bool:
        exists = self._pending_state.get(quad)
        if exists is None:
            exists = self._stored.get(quad)
        if exists is None:
            exists = self._stored[quad] = self._store.contains(quad)
        return exists

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the default graph that match the pattern; `None` is a wildcard."""
        return self.match_in(DEFAULT, subject, predicate, object_)

    def match_in(
        self,
        graph: NamedNode | DefaultGraph,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
    ) -> Iterator[Triple]:
        """Triples of one graph that match the pattern."""
        self._show()
        shown = self._shown.get(graph)
        if shown is not None:
            yield from shown.match(subject, predicate, object_)
        for quad in self._store.match_quads(subject, predicate, object_, graph):
            # Triples of the group were yielded already.
            if not self._pending_state or quad not in self._pending_state:
                yield quad.triple

    def named(self, graph: NamedNode) -> TripleSource:
        """One named graph as a source of triples."""
        return _NamedGraph(self, graph)

    def prefetch(self, triples: Sequence[Triple]) -> None:
        """Nothing to prefetch: reads are local."""

    def commit(
        self,
        additions: Collection[Quad],
        removals: Collection[Quad] = (),
        *,
        origin: str = "system",
        graphs_created: Collection[NamedNode] = (),
        graphs_dropped: Collection[NamedNode] = (),
    ) -> int:
        """Add a commit that waits for `flush`; returns its revision. It creates and drops no graphs."""
        assert not graphs_created
        assert not graphs_dropped
        self._show()
        kept = dict.fromkeys(additions)
        added = [quad for quad in kept if not self.contains(quad)]
        removed = [quad for quad in dict.fromkeys(removals) if quad not in kept and self.contains(quad)]
        for quad in removed:
            self._pending_state[quad] = False
            shown = self._shown.get(_graph_of(quad))
            if shown is not None:
                shown.discard(quad.triple)
        for quad in added:
            self._pending_state[quad] = True
        self._unseen += added
        return self._wait(origin, added, removed)

    def add_new(self, quads: Collection[Quad], *, origin: str) -> None:
        """The same for quads that `contains` has reported as missing, each given once."""
        self._pending_state.update(dict.fromkeys(quads, True))
        self._unseen += quads
        self._wait(origin, quads, ())

    @property
    def next_revision(self) -> int:
        """The revision of the next commit."""
        return self._store.revision() + len(self._waiting) + 1

    def _wait(self, origin: str, added: Collection[Quad], removed: Collection[Quad]) -> int:
        revision = self.next_revision
        self._waiting.append(Commit(revision, origin, added, removed))
        return revision

    def _show(self) -> None:
        for quad in self._unseen:
            self._shown.setdefault(_graph_of(quad), TripleIndex()).add(quad.triple)
        self._unseen = []

    def flush(self) -> list[Commit]:
        """Write the pending commits and return them.

        Raises `StoreUnwritable` on failure, which then is the outcome of all changes since the last flush.
        """
        waiting, self._waiting = self._waiting, []
        self._pending_state, self._stored, self._shown, self._unseen = {}, {}, {}, []
        try:
            if waiting:
                self._store.commit_all(waiting)
        except StoreUnwritable as error:
            self.outcomes[self._written :] = [error] * (len(self.outcomes) - self._written)
            raise
        finally:
            self._written = len(self.outcomes)
        return waiting


class _NamedGraph:
    """A named graph as seen through the group."""

    def __init__(self, group: Group, graph: NamedNode) -> None:
        self._group = group
        self._graph = graph

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        return self._group.match_in(self._graph, subject, predicate, object_)


def _graph_of(quad: Quad) -> NamedNode | DefaultGraph:
    graph = quad.graph_name
    assert isinstance(graph, NamedNode | DefaultGraph)
    return graph

"""Commits that are gathered and done together: what is read here shows them, the store does not yet.

Under a load of small changes most of what a commit costs is the same whatever it holds: the transaction, the
stamp of the revision, the write to the journal, the sync. A `Group` stands before the store while the writer
judges one change after another, each on the graph as those before it leave it, and then all are one step.
Each keeps its own revision and its own entry in the journal.
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
"""What came of a change: its verdict, or why it could not be carried out."""


class Group:
    """A store and the commits that are waiting for it. For one thread, that of the writer.

    `outcomes` are those of the changes so far; they hold once what they rest on is written.
    """

    def __init__(self, store: EmbeddedStore, outcomes: list[Outcome]) -> None:
        self.outcomes = outcomes
        self._written = len(outcomes)
        self._store = store
        self._waiting: list[Commit] = []
        # Of every quad that a waiting commit speaks of, whether it stands after all of them.
        self._standing: dict[Quad, bool] = {}
        # What the store has said of others: nobody else writes to it meanwhile.
        self._stored: dict[Quad, bool] = {}
        self._shown: dict[NamedNode | DefaultGraph, TripleIndex] = {}
        # What came and is not in `_shown` yet: nobody has looked for anything since.
        self._unseen: list[Quad] = []

    def contains(self, quad: Quad) -> bool:
        stands = self._standing.get(quad)
        if stands is None:
            stands = self._stored.get(quad)
        if stands is None:
            stands = self._stored[quad] = self._store.contains(quad)
        return stands

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the default graph that fit the pattern; `None` is a wildcard."""
        return self.match_in(DEFAULT, subject, predicate, object_)

    def match_in(
        self,
        graph: NamedNode | DefaultGraph,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
    ) -> Iterator[Triple]:
        """Triples of one graph that fit the pattern."""
        self._show()
        shown = self._shown.get(graph)
        if shown is not None:
            yield from shown.match(subject, predicate, object_)
        for quad in self._store.match_quads(subject, predicate, object_, graph):
            # What stands by the group was shown already.
            if not self._standing or quad not in self._standing:
                yield quad.triple

    def named(self, graph: NamedNode) -> TripleSource:
        """One named graph as a source of triples."""
        return _NamedGraph(self, graph)

    def prefetch(self, triples: Sequence[Triple]) -> None:
        """Nothing to fetch beforehand."""

    def commit(
        self,
        additions: Collection[Quad],
        removals: Collection[Quad] = (),
        *,
        origin: str = "system",
        graphs_created: Collection[NamedNode] = (),
        graphs_dropped: Collection[NamedNode] = (),
    ) -> int:
        """Let a commit wait for `flush`; the revision that it will have. Graphs as such do not come or go."""
        assert not graphs_created
        assert not graphs_dropped
        self._show()
        kept = dict.fromkeys(additions)
        come = [quad for quad in kept if not self.contains(quad)]
        gone = [quad for quad in dict.fromkeys(removals) if quad not in kept and self.contains(quad)]
        for quad in gone:
            self._standing[quad] = False
            shown = self._shown.get(_graph_of(quad))
            if shown is not None:
                shown.discard(quad.triple)
        for quad in come:
            self._standing[quad] = True
        self._unseen += come
        return self._wait(origin, come, gone)

    def add_new(self, quads: Collection[Quad], *, origin: str) -> None:
        """The same for quads of which `contains` has said that they are not there, each told once."""
        self._standing.update(dict.fromkeys(quads, True))
        self._unseen += quads
        self._wait(origin, quads, ())

    @property
    def next_revision(self) -> int:
        """What the next commit will have."""
        return self._store.revision() + len(self._waiting) + 1

    def _wait(self, origin: str, come: Collection[Quad], gone: Collection[Quad]) -> int:
        revision = self.next_revision
        self._waiting.append(Commit(revision, origin, come, gone))
        return revision

    def _show(self) -> None:
        for quad in self._unseen:
            self._shown.setdefault(_graph_of(quad), TripleIndex()).add(quad.triple)
        self._unseen = []

    def flush(self) -> list[Commit]:
        """Write what waits, and tell what that was.

        Raises `StoreUnwritable` when that fails, which then is what came of all changes since the last time.
        """
        waiting, self._waiting = self._waiting, []
        self._standing, self._stored, self._shown, self._unseen = {}, {}, {}, []
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
    """A named graph as the group shows it."""

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

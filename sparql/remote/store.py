"""The graph in a remote SPARQL 1.1 store, with a local store for what such a store cannot hold.

Remote: the default graph, clients' named graphs, the graphs of origins (asserted, extracted, derived,
ontology) and the marker of the last commit. Local: provenance and review (RDF 1.2 triple terms), the state
and the revision. A commit is saved on the disk, applied remotely in one guarded update, then committed
locally; an unknown result is settled by reading the marker.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from sparql.model.errors import (
    ProtectedGraph,
    RemoteConflict,
    RemoteError,
    RemoteUndecided,
    RemoteUnreachable,
    RemoteUnsupported,
)
from sparql.model.request_mark import current_mark
from sparql.model.source import GraphReading, Term
from sparql.model.vocabulary import GRAPH, HELD, PROPOSALS, PROVENANCE, REVIEW, STATE
from sparql.remote.capabilities import STAGING, StoreCapabilities, Terms, find_capabilities, result_repair
from sparql.remote.commits import CommitMarker, Delta, PendingCommit, PendingFile, new_commit
from sparql.remote.endpoint import ConnectionLost, Endpoint, RemoteAddress
from sparql.remote.graph import RemoteGraph
from sparql.storage.change_log import ChangeLog, Commit
from sparql.storage.database import unwritable
from sparql.storage.embedded_store import EmbeddedStore
from sparql.syntax.request_facts import facts_of
from sparql.writing.update_account import QuadDelta
from sparql.writing.updates import capture

LOCAL_GRAPHS = (PROVENANCE, REVIEW, PROPOSALS, HELD, STATE)
LOCAL_IRIS = frozenset(graph.value for graph in LOCAL_GRAPHS)
_log = logging.getLogger("urbankg.store")
_SETTLING_PAUSES_S = (0.2, 0.5, 1.0, 2.0)


class RemoteStore(GraphReading):
    """The single writer's view of the store at `address`; `local` is the local store, in a folder.

    After an update whose response was lost, the store is asked for its state after each of
    `settling_pauses_s`. Known `capabilities` are not tested again. Raises RemoteError when the store cannot
    be reached or does not accept updates.
    """

    def __init__(
        self,
        address: RemoteAddress,
        local: EmbeddedStore,
        *,
        transport: httpx.BaseTransport | None = None,
        settling_pauses_s: Sequence[float] = _SETTLING_PAUSES_S,
        capabilities: StoreCapabilities | None = None,
    ) -> None:
        assert local.folder is not None
        self.address = address
        self.local = local
        self.journal: ChangeLog | None = None
        self.endpoint = Endpoint(address, transport)
        self.capabilities = capabilities or find_capabilities(self.endpoint)
        self.endpoint.repair = result_repair(self.capabilities)
        self._terms = Terms(address.query_url, self.capabilities.kept_apart)
        self.graph = RemoteGraph(self.endpoint, self._terms, address.default_graph)
        self._pending = PendingFile(local.folder)
        self._sweep()
        self._marker = CommitMarker(self.endpoint, address, local, settling_pauses_s)
        self._marker.begin(undecided=self._pending.read() is not None)

    @property
    def folder(self) -> Path:
        """The folder of the local store."""
        assert self.local.folder is not None
        return self.local.folder

    @property
    def bulk_pending(self) -> bool:
        """Whether a bulk load began and did not end."""
        return self.local.bulk_pending

    def revision(self) -> int:
        """The number of this server's last commit; other writers' changes do not count."""
        return self.local.revision()

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that match the pattern, of one graph or (None) of all."""
        if graph in LOCAL_GRAPHS:
            return self.local.match_quads(subject, predicate, object_, graph)
        return self.graph.quads_for_pattern(subject, predicate, object_, graph)

    def contains(self, quad: Quad) -> bool:
        if quad.graph_name in LOCAL_GRAPHS:
            return self.local.contains(quad)
        return quad in self.graph

    def has_graph(self, graph: NamedNode) -> bool:
        """Whether a named graph contains anything; remote stores may not support empty ones."""
        if graph in LOCAL_GRAPHS:
            return self.local.has_graph(graph)
        return self.graph.contains_named_graph(graph)

    def remember_reads(self) -> AbstractContextManager[None]:
        """Answers are cached while the block runs."""
        return self.graph.remember_reads()

    def prefetch(self, triples: Sequence[Triple]) -> None:
        """Fetch together what `contains` will need for these."""
        self.graph.prefetch(triples)

    def commit(
        self,
        additions: Collection[Quad],
        removals: Collection[Quad] = (),
        *,
        origin: str = "system",
        graphs_created: Collection[NamedNode] = (),
        graphs_dropped: Collection[NamedNode] = (),
    ) -> int:
        """Apply exactly these quads remotely, in one operation, and locally, and return the new revision.

        Graphs exist only with their quads: empty ones are not kept. Raises RemoteUnreachable, RemoteRefused,
        RemoteUnsupported and RemoteConflict when nothing was changed, and RemoteUndecided when that is
        unknown.
        """
        if (mark := current_mark()) is not None:
            additions, removals = mark.added(additions, removals, self.revision() + 1)
        kept = set(additions)
        removed = [quad for quad in removals if quad not in kept]
        added = list(dict.fromkeys(additions))
        pending = PendingCommit(
            self._marker.commit,
            new_commit(),
            origin,
            _where(added, local=False),
            _where(removed, local=False),
            _where(added, local=True),
            _where(removed, local=True),
        )
        if not pending.additions and not pending.removals:
            return self._commit_here(pending)
        self._check(pending)
        delta = self._delta(pending.after)
        try:
            delta.take(pending.additions, pending.removals)
            return self._carry_out(pending, delta)
        finally:
            delta.clear()

    def settle(self, revision: int | None = None) -> None:
        """Wait for the local disk, as the setting durability requires."""
        self.local.settle(revision)

    def late_commit(self) -> PendingCommit | None:
        """Settle a commit whose result was unknown: complete it if it was applied, else prevent it.

        Raises RemoteUnreachable, RemoteUndecided or RemoteConflict while that is impossible.
        """
        pending = self._pending.read()
        if pending is None:
            return None
        held = self._marker.held()
        if held == pending.before:
            held = self._marker.rule_out(pending)
        if held == pending.after:
            self._commit_here(pending, late=True)
            self._pending.forget()
            _log.warning("A commit whose result was unknown had been applied; it is completed now.")
            return pending
        if held is not None and held == self._marker.commit:
            self._pending.forget()
            _log.warning("A commit whose result was unknown had not been applied; it is dropped.")
            return None
        raise RemoteConflict(self.address.query_url)

    def begin_bulk(self) -> None:
        """Record locally that a bulk load has begun."""
        with self._noted(
            PendingCommit(self._marker.commit, self._marker.commit, "asserted", (), (), (), (), False)
        ):
            self.local.begin_bulk()

    def bulk_add(self, quads: Iterable[Quad]) -> None:
        """Add any number of quads, all or none: staged as they arrive, then moved in one operation."""
        pending = PendingCommit(self._marker.commit, new_commit(), "asserted", (), (), (), (), complete=False)
        delta = self._delta(pending.after)
        try:
            delta.add(quad for quad in quads if quad.graph_name not in LOCAL_GRAPHS)
            self._carry_out(pending, delta)
        finally:
            delta.clear()

    def end_bulk(self, removals: Collection[Quad] = ()) -> int:
        """Commit the end of the bulk load together with these removals; the new revision."""
        if removals:
            self.commit((), removals)
        with self._noted(
            PendingCommit(self._marker.commit, self._marker.commit, "asserted", (), (), (), (), False)
        ):
            return self.local.end_bulk()

    def probe(self) -> None:
        """Check that both stores work and no other server writes to the remote one. Raises StoreError."""
        self.local.probe()
        if self._pending.read() is not None:
            raise RemoteUndecided(self.address.update_url, "the next write checks its result")
        if self._marker.held() != self._marker.commit:
            raise RemoteConflict(self.address.query_url)

    def optimize(self) -> None:
        """Compact the local store's files; the remote store compacts its own."""
        self.local.optimize()

    def close(self) -> None:
        """Close both stores."""
        self.endpoint.close()
        self.local.close()

    def _sweep(self) -> None:
        """Drop the staging graphs that an earlier server left after a crash."""
        rows = self.endpoint.solutions(
            "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } "
            f'FILTER(STRSTARTS(STR(?g), "{GRAPH.iri}{STAGING}")) }}'
        )
        for row in rows:
            try:
                self.endpoint.update(f"DROP SILENT GRAPH {row['g']}")
            except ConnectionLost as error:
                raise RemoteUnreachable(self.address.update_url, str(error)) from error

    def _check(self, pending: PendingCommit) -> None:
        """Our default graph cannot be written to by its name, bypassing the gate."""
        name = self.address.default_graph
        for quad in (*pending.additions, *pending.removals):
            if name is not None and quad.graph_name == name:
                raise ProtectedGraph(name)

    def _delta(self, commit: NamedNode) -> Delta:
        return Delta(self.endpoint, self._terms, self.capabilities, self.address.default_graph, commit)

    def _carry_out(self, pending: PendingCommit, delta: Delta) -> int:
        try:
            self._pending.write(pending)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        with self._noted(pending):
            try:
                self._marker.apply(delta.text(pending.before, pending.after), pending)
            except RemoteUndecided:
                raise
            except RemoteError:
                self._pending.forget()
                raise
            self._marker.commit = pending.after
            revision = self.local.commit(
                [*pending.local_additions, self._marker.stamp(pending.after)],
                [*pending.local_removals, self._marker.stamp(pending.before)],
            )
        self._pending.forget()
        return revision

    def _commit_here(self, pending: PendingCommit, *, late: bool = False) -> int:
        """Commit the local part; the remote part is applied or empty."""
        there = bool(pending.additions or pending.removals) or not pending.complete
        stamps = (
            ([self._marker.stamp(pending.after)], [self._marker.stamp(pending.before)]) if there else ([], [])
        )
        with self._noted(pending, late=late):
            revision = self.local.commit(
                [*pending.local_additions, *stamps[0]], [*pending.local_removals, *stamps[1]]
            )
        if there:
            self._marker.commit = pending.after
        return revision

    @contextmanager
    def _noted(self, pending: PendingCommit, *, late: bool = False) -> Iterator[None]:
        """The journal's entry, with only the real changes; for a `late` commit these are no longer known."""
        if self.journal is None:
            yield
            return
        additions = (*pending.additions, *pending.local_additions)
        removals = (*pending.removals, *pending.local_removals)
        if not late:
            self.prefetch([quad.triple for quad in pending.additions])
            additions = tuple(quad for quad in additions if not self.contains(quad))
            removals = tuple(quad for quad in removals if self.contains(quad))
        entry = Commit(self.revision() + 1, pending.origin, additions, removals, complete=pending.complete)
        with self.journal.writing(entry):
            yield


def _where(quads: Iterable[Quad], *, local: bool) -> list[Quad]:
    """The quads that are kept locally (`local`), or remotely."""
    return [quad for quad in quads if (quad.graph_name in LOCAL_GRAPHS) is local]


class RemoteCapturer:
    """Captures updates in the calling thread, with a deadline for the store's answers."""

    def __init__(self, store: RemoteStore) -> None:
        self._store = store

    def capture(
        self,
        text: str,
        using: Sequence[NamedNode] = (),
        using_named: Sequence[NamedNode] = (),
        timeout_s: float = 30.0,
        base: str | None = None,
    ) -> QuadDelta:
        """The delta. Raises RequestError, ReadError, WriteError and RemoteError."""
        if LOCAL_IRIS & facts_of(text).iris:
            raise RemoteUnsupported(
                self._store.address.query_url,
                "an update that reads a system graph, which is kept in the local store",
            )
        graph = self._store.graph.until(timeout_s)
        return capture(graph, text, using=using, using_named=using_named, base=base)

    def close(self) -> None:
        """Does nothing."""

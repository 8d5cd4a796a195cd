"""The embedded store: one Oxigraph database in a folder, one writer, checkpoints for worker processes.

Layout: the default graph holds everything that was accepted; system graphs beside it record where each triple
came from (`sparql.model.vocabulary`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Protocol, cast

import pyoxigraph
from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QuerySolutions,
    RdfFormat,
    Triple,
)

from sparql.model.errors import DiskFull, StoreUnwritable
from sparql.model.request_mark import current_mark
from sparql.model.source import GraphReading, Term
from sparql.model.triple_store import LateCommit
from sparql.model.vocabulary import RDFS, STATE, UKG
from sparql.storage.change_log import ChangeLog, Commit, Follower, is_system
from sparql.storage.checkpoint_folder import Checkpoint, CheckpointFolder
from sparql.storage.database import (
    LEAST_SPACE,
    WriteBuffer,
    check_format,
    has_space,
    is_full,
    literal_characters,
    mark_format,
    open_again,
    open_database,
    revision_quad,
    stored_revision,
    unwritable,
    write_exactly,
)
from sparql.storage.durability import Durability, GroupSync, LogFiles

_CLASSES = 10_000
"""The number of classes whose direct superclasses are cached."""


class DatabaseReading(GraphReading):
    """The triples of an Oxigraph database, which lies in `folder` or (None) in memory."""

    def __init__(self, graph: pyoxigraph.Store, folder: Path | None) -> None:
        self.graph = graph
        self.folder = folder
        self.forget_classes()

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the default graph that match the pattern; `None` is a wildcard."""
        if predicate != RDFS.subClassOf or subject is None or object_ is not None:
            return super().match(subject, predicate, object_)
        # Every change reads this and hardly any changes it. A change replaces the dictionary, so results that
        # were read before it go to the old one.
        known = self._superclasses
        above = known.get(subject)
        if above is None:
            above = tuple(super().match(subject, predicate, None))
            if len(known) < _CLASSES:
                known[subject] = above
        return iter(above)

    def forget_classes(self) -> None:
        """The subclass axioms changed."""
        self._superclasses: dict[Term, tuple[Triple, ...]] = {}

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that match the pattern, of one graph or (None) of all."""
        if isinstance(subject, Literal | Triple):
            return iter(())
        return iter(self.graph.quads_for_pattern(subject, predicate, object_, graph))

    def values_of(self, predicate: NamedNode) -> Iterator[Term]:
        """The objects of all triples with a predicate; on disk each once, at a third of the cost."""
        # Sorted by object as they are there, REDUCED leaves out all repetitions.
        solutions = self.graph.query(f"SELECT REDUCED ?o {{ ?s {predicate} ?o }}")
        assert isinstance(solutions, QuerySolutions)
        return (solution[0] for solution in solutions)

    def subjects_of(self, predicate: NamedNode, value: Term) -> Iterator[Term]:
        """The subjects of all triples with a predicate and an object, at a third of the cost of `match`."""
        solutions = self.graph.query(f"SELECT ?s {{ ?s {predicate} {value} }}")
        assert isinstance(solutions, QuerySolutions)
        return (solution[0] for solution in solutions)

    @property
    def is_ordered(self) -> bool:
        """Whether quads of one graph are sorted by subject, and those with a given predicate by object.

        On disk the engine reads them from an index in that order, in memory from an unsorted list.
        """
        return self.folder is not None

    def contains(self, quad: Quad) -> bool:
        return quad in self.graph

    def has_graph(self, graph: NamedNode) -> bool:
        """Whether the named graph exists, even if empty."""
        return self.graph.contains_named_graph(graph)


_STORE = UKG.store
_PENDING = Quad(_STORE, UKG.bulkLoadPending, Literal(True), STATE)
_BUFFERED_BYTES = 8 * 2**20
"""When the engine buffers more than this, the buffer is written to its files."""
_PROBE = Quad(_STORE, UKG.probe, Literal(True), STATE)


class ReadableLines(Protocol):
    """What is needed of a file of lines."""

    def read(self, size: int = -1, /) -> bytes:
        """Up to so many bytes; none at the end."""


class EmbeddedStore(DatabaseReading):
    """An Oxigraph database in `folder`, or in memory when `folder` is None (then without checkpoints).

    `durability` says when a commit is acknowledged; with GROUP, call `settle` after it. Raises `StoreLocked`
    when another process holds the folder and `StoreUnreadable` when its files cannot be opened.
    """

    def __init__(self, folder: Path | None = None, *, durability: Durability = Durability.NONE) -> None:
        self.durability = Durability.NONE if folder is None else durability
        self._lock = threading.RLock()
        self._full = False
        """Whether the engine refuses writes because the disk was full."""
        self._buffer = WriteBuffer(self.write_out, _BUFFERED_BYTES)
        if folder is not None:
            check_format(folder)
        graph, self._revision = (pyoxigraph.Store(), 0) if folder is None else open_database(folder / "graph")
        super().__init__(graph, folder)
        if folder is not None:
            mark_format(folder)
            self._checkpoints = CheckpointFolder(folder / "checkpoints", self._copy_to)
        self._stamped = revision_quad(self._revision)
        self.journal: ChangeLog | None = None
        """Records each commit before it is done."""
        self._followers: list[Follower] = []
        self.before_commit: Callable[[int, Iterable[Quad], Iterable[Quad]], None] | None = None
        """Called with the revision, additions and removals of each commit before it is done."""
        self._log = LogFiles((folder or Path()) / "graph")
        self.group = GroupSync(self._log.sync, self.revision)

    def revision(self) -> int:
        """The number of the last committed change; it only increases."""
        return self._revision

    @property
    def local(self) -> EmbeddedStore:
        """This store itself."""
        return self

    @property
    def syncs(self) -> int:
        """How many syncs `Durability.GROUP` has made."""
        return self.group.syncs

    def remember_reads(self) -> AbstractContextManager[None]:
        """Nothing to remember: reading again is cheap."""
        return nullcontext()

    def prefetch(self, triples: Sequence[Triple]) -> None:
        """Nothing to prefetch: reads are local."""

    def late_commit(self) -> LateCommit | None:
        """None: the result of a commit is always known here."""
        return None

    def commit(
        self,
        additions: Collection[Quad],
        removals: Collection[Quad] = (),
        *,
        origin: str = "system",
        graphs_created: Collection[NamedNode] = (),
        graphs_dropped: Collection[NamedNode] = (),
    ) -> int:
        """Apply exactly these quads in one atomic step and return the new revision.

        Quads both removed and added stay. Graphs are created and dropped explicitly, which matters for empty
        ones; a dropped graph loses all its quads. `origin` is for the journal. A crash leaves either all of
        it or none. Raises `StoreUnwritable` when the disk refuses it.
        """
        with self._lock:
            revision = self._revision + 1
            if (mark := current_mark()) is not None:
                additions, removals = mark.added(additions, removals, revision)
            kept = set(additions) if removals else ()
            removed = [quad for quad in removals if quad not in kept]
            entry = Commit(revision, origin, additions, removed, graphs_created, graphs_dropped)
            self._carry_out(entry, self._noted(entry))
            return revision

    def commit_all(self, commits: Sequence[Commit]) -> None:
        """Apply consecutive commits in one atomic step: a crash leaves all of them or none.

        Each lists only what it really changes after those before it, and creates and drops no graph. Their
        revisions follow that of the store. Raises `StoreUnwritable`, and then nothing was applied.
        """
        with self._lock:
            assert commits[0].revision == self._revision + 1
            additions, removals = _together(commits)
            whole = Commit(commits[-1].revision, commits[-1].origin, additions, removals)
            noted = nullcontext() if self.journal is None else self.journal.writing(*commits)
            self._carry_out(whole, noted)

    def _carry_out(self, whole: Commit, noted: AbstractContextManager[None]) -> None:
        """Apply a commit under the store's lock and report it to the followers."""
        stamp = revision_quad(whole.revision)
        if self.before_commit is not None:
            self.before_commit(whole.revision, whole.additions, whole.removals)
        with noted:
            try:
                self._apply(
                    [*whole.additions, stamp], whole.removals, whole.graphs_created, whole.graphs_dropped
                )
            finally:
                if any(quad.predicate == RDFS.subClassOf for quad in (*whole.additions, *whole.removals)):
                    self.forget_classes()
        older, self._stamped = self._stamped, stamp
        if self._followers:
            reported = replace(whole, additions=[*whole.additions, stamp], removals=[*whole.removals, older])
            for follower in self._followers:
                follower.committed(reported, self._revision)
        self._revision = whole.revision
        # The newest stamp counts, so removing the older one needs no atomicity.
        with suppress(OSError):
            self.graph.remove(older)
        if self.durability is Durability.COMMIT:
            self._log.sync()
        # If the disk refuses this, the next write fails; this one is done.
        with suppress(StoreUnwritable):
            self._buffer.wrote(
                len(whole.additions) + len(whole.removals), literal_characters(whole.additions)
            )

    def _apply(
        self,
        additions: Collection[Quad],
        removals: Collection[Quad],
        created: Collection[NamedNode],
        dropped: Collection[NamedNode],
    ) -> None:
        """One transaction of the engine."""
        self._reopen_if_full()
        try:
            write_exactly(self.graph, additions, removals, created, dropped)
        except OSError as error:
            self._note_full_disk(error)
            # It may have refused this because of an earlier failure, for example of a checkpoint.
            self._reopen_if_full()
            with self._engine():
                write_exactly(self.graph, additions, removals, created, dropped)

    def _noted(self, commit: Commit) -> AbstractContextManager[None]:
        """The journal's entry for a commit, with only the quads that it really changes.

        Additions to system graphs are only counted, so there is no check whether they existed.
        """
        if self.journal is None:
            return nullcontext()
        given = dict.fromkeys(commit.additions)
        listed = [quad for quad in given if not is_system(quad)]
        entry = replace(
            commit,
            additions=[quad for quad in listed if quad not in self.graph],
            removals=[quad for quad in commit.removals if quad in self.graph],
            complete=_PENDING not in commit.additions and _PENDING not in commit.removals,
            system=len(given) - len(listed),
        )
        return self.journal.writing(entry)

    def settle(self, revision: int | None = None) -> None:
        """Return when this revision (or the last) may be acknowledged. Raises `StoreUnwritable`.

        Waits only with durability GROUP; call it without any lock, so that others can commit meanwhile.
        """
        if self.durability is Durability.GROUP:
            self.group.wait(self._revision if revision is None else revision)

    def begin_bulk(self) -> None:
        """Record on the disk that a bulk load has begun; `bulk_pending` until `end_bulk`."""
        self.commit([_PENDING])
        self._sync_always()

    def bulk_add(self, quads: Iterable[Quad]) -> None:
        """Add quads at the speed of the bulk loader, all or none; reads continue meanwhile.

        The caller must exclude other writers. Errors of the iterable are passed on.
        """
        self._add_in_bulk(lambda: self.graph.bulk_extend(quads))

    def bulk_read(self, file: ReadableLines) -> None:
        """The same for quads in N-Quads, which must be well-formed. Errors of the file come through."""
        self._add_in_bulk(
            lambda: self.graph.bulk_load(
                input=cast("IO[bytes]", file), format=RdfFormat.N_QUADS, lenient=True
            )
        )

    def _add_in_bulk(self, add: Callable[[], None]) -> None:
        self._reopen_if_full()
        try:
            with self._engine():
                add()
        finally:
            self.forget_classes()
            for follower in self._followers:
                follower.lost_track()

    def end_bulk(self, removals: Collection[Quad] = ()) -> int:
        """Commit the end of the bulk load together with these removals; the new revision."""
        revision = self.commit((), [*removals, _PENDING])
        self._sync_always()
        return revision

    def _sync_always(self) -> None:
        # The bulk loader's files are on the disk at once; the marks around them must be, too.
        if self.folder is not None:
            self._log.sync()

    @property
    def bulk_pending(self) -> bool:
        """Whether a bulk load began and did not end."""
        return _PENDING in self.graph

    def probe(self) -> None:
        """Write and remove a quad, without a revision. Raises `StoreUnwritable`."""
        with self._lock:
            self._reopen_if_full()
            with self._engine():
                self.graph.add(_PROBE)
                self.graph.remove(_PROBE)

    def acquire(self) -> Checkpoint:
        """A checkpoint at least as new as every change acknowledged before this call.

        Blocks for about 20 ms when a new one is needed. Call `release` after its use.
        """
        with self._lock:
            return self._checkpoints.acquire(self._revision)

    def follow(self, follower: Follower) -> None:
        """Report each commit to a follower from now on."""
        with self._lock:
            self._followers.append(follower)

    def release(self, checkpoint: Checkpoint) -> None:
        """End the use of a checkpoint: deleted when nobody uses it and it is no longer the newest."""
        with self._lock:
            self._checkpoints.release(checkpoint)

    def _copy_to(self, path: Path) -> None:
        """A copy of the store made of hard links."""
        self._reopen_if_full()
        with self._engine():
            self.graph.backup(str(path))
            self._buffer.emptied()

    def optimize(self) -> None:
        """Compact the database's files; reads and writes continue, more slowly. Raises `StoreUnwritable`."""
        with self._engine():
            self.graph.optimize()

    def write_out(self) -> None:
        """Write the database's buffers to its files, which frees their memory. Raises `StoreUnwritable`."""
        if self.folder is None:
            return
        with self._engine():
            self.graph.flush()

    def _note_full_disk(self, error: OSError) -> None:
        """Remember that the disk is full; raises our error for any other failure."""
        if not is_full(error):
            raise unwritable(self.folder or Path(), error) from error
        self._full = True

    @contextmanager
    def _engine(self) -> Iterator[None]:
        """Raises engine errors of a write as our own."""
        try:
            yield
        except OSError as error:
            self._full = self._full or is_full(error)
            raise unwritable(self.folder or Path(), error) from error

    def _reopen_if_full(self) -> None:
        """Reopen the database if the disk was full and has space again; called under the store's lock.

        After a failed write the engine refuses all writes, even with space. Raises DiskFull while there is
        none.
        """
        if not self._full or self.folder is None:
            return
        logged = sum(file.stat().st_size for file in (self.folder / "graph").glob("*.log"))
        if not has_space(self.folder, 2 * logged + LEAST_SPACE):
            raise DiskFull(self.folder, "too little space to open the database for writing")
        with self._engine():
            # Serves reads meanwhile. It holds no lock, so that the database can be opened beside it.
            self.graph = pyoxigraph.Store.read_only(str(self.folder / "graph"))
            self.graph = open_again(self.folder / "graph")
        if stored_revision(self.graph) != self._revision:
            raise StoreUnwritable(self.folder, "the last write stored is not the last one acknowledged")
        self._full = False

    def close(self) -> None:
        """Flush and release the folder's lock."""
        with self._lock:
            if self.folder is not None:
                # What is not flushed is in the log.
                with suppress(OSError):
                    self.graph.flush()
            # pyoxigraph has no close: the lock ends with the last reference.
            self.graph = pyoxigraph.Store()
            self.forget_classes()


def _together(commits: Sequence[Commit]) -> tuple[list[Quad], list[Quad]]:
    """The net additions and removals of consecutive commits."""
    if not any(commit.removals for commit in commits):
        return [quad for commit in commits for quad in commit.additions], []
    present: dict[Quad, bool] = {}
    for commit in commits:
        present.update(dict.fromkeys(commit.removals, False))
        present.update(dict.fromkeys(commit.additions, True))
    return [q for q, is_present in present.items() if is_present], [
        q for q, is_present in present.items() if not is_present
    ]

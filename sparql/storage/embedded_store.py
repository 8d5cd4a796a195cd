"""The embedded store: one Oxigraph database in a folder, one writer, checkpoints for worker processes.

Layout: the default graph holds everything that was accepted; system graphs beside it record where each triple
came from (`sparql.model.vocabulary`). The revision is a quad of the state graph, committed with the data, so
a restart knows exactly what was acknowledged.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
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

from sparql.model.errors import DiskFull, StoreLocked, StoreUnreadable, StoreUnwritable
from sparql.model.graph_reading import GraphReading
from sparql.model.request_mark import current_mark
from sparql.model.source import Term
from sparql.model.triple_store import LateCommit
from sparql.model.vocabulary import RDFS, STATE, UKG, XSD
from sparql.storage.change_log import ChangeLog, Commit, is_system
from sparql.storage.database_files import check_files
from sparql.storage.disk_room import LEAST_ROOM, has_room, is_full, unwritable
from sparql.storage.durability import Durability, GroupSync, LogFiles
from sparql.storage.exact_update import write_exactly
from sparql.storage.folder_format import check_format, mark_format
from sparql.storage.write_buffer import WriteBuffer, literal_characters

_STORE = UKG.store
_REVISION = UKG.revision
_PENDING = Quad(_STORE, UKG.bulkLoadPending, Literal(True), STATE)
_CLASSES = 10_000
"""The number of classes whose direct superclasses are cached."""
_BUFFERED_BYTES = 8 * 2**20
"""When the engine buffers more than this, the buffer is written to its files."""
_PROBE = Quad(_STORE, UKG.probe, Literal(True), STATE)


@dataclass(frozen=True)
class Checkpoint:
    """A frozen copy of the store in a folder of hard links, openable read-only."""

    path: Path
    revision: int


class ReadableLines(Protocol):
    """What is needed of a file of lines."""

    def read(self, size: int = -1, /) -> bytes:
        """Up to so many bytes; none at the end."""


class Observer(Protocol):
    """Something kept in step with the default graph, for example the label index.

    `rebuild` is called at the start with quads of the default graph, `apply` after each commit, under the
    writer's lock.
    """

    @property
    def predicates(self) -> Collection[NamedNode]:
        """The predicates it reads: it is rebuilt from the quads with these alone."""

    def expect_rebuild(self) -> None:
        """A rebuild follows; what is applied before its end is applied again on top of it."""

    def rebuild(self, quads: Iterable[Quad]) -> None: ...

    def apply(self, additions: Iterable[Quad], removals: Iterable[Quad]) -> None: ...


class Follower(Protocol):
    """Receives every commit, in order, before the next may start and before `revision` returns it."""

    def committed(self, commit: Commit, since: int) -> None:
        """The store went from revision `since` to that of the commit by exactly these quads."""

    def lost_track(self) -> None:
        """The store was changed without a report of the individual quads."""


class EmbeddedStore(GraphReading):
    """An Oxigraph database in `folder`, or in memory when `folder` is None (then without checkpoints).

    `durability` says when a commit is acknowledged; with GROUP, call `settle` after it. Raises `StoreLocked`
    when another process holds the folder and `StoreUnreadable` when its files cannot be opened.
    """

    def __init__(self, folder: Path | None = None, *, durability: Durability = Durability.NONE) -> None:
        self.folder = folder
        self.durability = Durability.NONE if folder is None else durability
        self._lock = threading.RLock()
        self._checkpoint: Checkpoint | None = None
        self._users: dict[Path, int] = {}
        self._made = 0
        self._full = False
        """Whether the engine refuses writes because the disk was full."""
        self._forget_classes()
        self._buffer = WriteBuffer(self.write_out, _BUFFERED_BYTES)
        if folder is None:
            self.graph, self._revision = pyoxigraph.Store(), 0
        else:
            self._checkpoints = folder / "checkpoints"
            check_format(folder)
            self.graph, self._revision = _open(folder / "graph")
            mark_format(folder)
            _empty(self._checkpoints)
        self._stamped = _stamp(self._revision)
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

    def _forget_classes(self) -> None:
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

    @property
    def local(self) -> EmbeddedStore:
        """This store itself."""
        return self

    @property
    def syncs(self) -> int:
        """How many syncs `Durability.GROUP` has made."""
        return self.group.syncs

    def has_graph(self, graph: NamedNode) -> bool:
        """Whether the named graph exists, even if empty."""
        return self.graph.contains_named_graph(graph)

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
        stamp = _stamp(whole.revision)
        if self.before_commit is not None:
            self.before_commit(whole.revision, whole.additions, whole.removals)
        with noted:
            try:
                self._apply(
                    [*whole.additions, stamp], whole.removals, whole.graphs_created, whole.graphs_dropped
                )
            finally:
                if any(quad.predicate == RDFS.subClassOf for quad in (*whole.additions, *whole.removals)):
                    self._forget_classes()
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
            self._forget_classes()
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
        """Lend a checkpoint at least as new as every change acknowledged before this call.

        Blocks for about 20 ms when a new one is needed. Give it back with `release`.
        """
        with self._lock:
            current = self._checkpoint
            if current is None or current.revision != self._revision:
                path = self._backup(f"{self._revision}-")
                self._checkpoint = Checkpoint(path, self._revision)
                if current is not None:
                    self._drop_if_unused(current.path)
                current = self._checkpoint
            self._users[current.path] = self._users.get(current.path, 0) + 1
            return current

    def clone(self) -> Checkpoint:
        """A writable copy of the current store, which the caller must delete."""
        with self._lock:
            return Checkpoint(self._backup("clone-"), self._revision)

    def _backup(self, name: str) -> Path:
        """A copy of the store made of hard links. Raises StoreUnwritable, and then leaves nothing."""
        self._reopen_if_full()
        self._made += 1
        path = self._checkpoints / f"{name}{self._made}"
        try:
            with self._engine():
                self.graph.backup(str(path))
                self._buffer.emptied()
        except StoreUnwritable:
            shutil.rmtree(path, ignore_errors=True)
            shutil.rmtree(f"{path}.tmp", ignore_errors=True)
            raise
        return path

    def follow(self, follower: Follower) -> None:
        """Report each commit to a follower from now on."""
        with self._lock:
            self._followers.append(follower)

    def release(self, checkpoint: Checkpoint) -> None:
        """Give back a checkpoint; its files are deleted when it is unused and no longer the newest."""
        with self._lock:
            self._users[checkpoint.path] -= 1
            self._drop_if_unused(checkpoint.path)

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
        logged = sum(one.stat().st_size for one in (self.folder / "graph").glob("*.log"))
        if not has_room(self.folder, 2 * logged + LEAST_ROOM):
            raise DiskFull(self.folder, "too little space to open the database for writing")
        with self._engine():
            # Serves reads meanwhile. It holds no lock, so that the database can be opened beside it.
            self.graph = pyoxigraph.Store.read_only(str(self.folder / "graph"))
            self.graph = pyoxigraph.Store(str(self.folder / "graph"))
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
            # pyoxigraph has no close: the lock goes with the last reference.
            self.graph = pyoxigraph.Store()
            self._forget_classes()

    def _drop_if_unused(self, path: Path) -> None:
        newest = self._checkpoint is not None and self._checkpoint.path == path
        if not newest and self._users.get(path, 0) <= 0:
            self._users.pop(path, None)
            shutil.rmtree(path, ignore_errors=True)


def _together(commits: Sequence[Commit]) -> tuple[list[Quad], list[Quad]]:
    """The net additions and removals of consecutive commits."""
    if not any(one.removals for one in commits):
        return [quad for one in commits for quad in one.additions], []
    present: dict[Quad, bool] = {}
    for one in commits:
        present.update(dict.fromkeys(one.removals, False))
        present.update(dict.fromkeys(one.additions, True))
    return [q for q, is_present in present.items() if is_present], [
        q for q, is_present in present.items() if not is_present
    ]


def stored_revision(graph: pyoxigraph.Store) -> int:
    """The revision of the last commit that a database holds; 0 for a new one."""
    stamps = graph.quads_for_pattern(_STORE, _REVISION, None, STATE)
    return max((int(quad.object.value) for quad in stamps if isinstance(quad.object, Literal)), default=0)


def _stamp(revision: int) -> Quad:
    return Quad(_STORE, _REVISION, Literal(str(revision), datatype=XSD.integer), STATE)


def _open(path: Path) -> tuple[pyoxigraph.Store, int]:
    """The database and its revision."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_files(path)
        graph = pyoxigraph.Store(str(path))
        return graph, stored_revision(graph)
    except (OSError, RuntimeError) as error:
        # The engine raises RuntimeError where a file does not hold what was written to it.
        if "lock" in str(error).lower():
            raise StoreLocked(path.parent) from error
        if is_full(error):
            raise unwritable(path.parent, error) from error
        raise StoreUnreadable(path.parent, str(error)) from error


def _empty(folder: Path) -> None:
    """Replace a folder and what an earlier run left there by an empty one."""
    try:
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)
        else:
            folder.unlink(missing_ok=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreUnreadable(folder.parent, str(error)) from error

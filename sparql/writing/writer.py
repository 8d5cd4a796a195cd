"""The one write path: everything that changes the graph goes through here, one change at a time.

lock -> what really changes -> derive -> gate -> one atomic commit of exactly what was judged ->
indexes -> new revision. What is judged is what is committed.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from time import perf_counter
from typing import TypeVar

from pyoxigraph import Quad, Triple

from sparql.inference.materialised import COMPLETE, STALE, Inferences, forget
from sparql.model.change import Change, Delta, Deriver, Gate, Verdict
from sparql.model.errors import SparqlError, StoreClosing, StoreUnwritable
from sparql.model.literals import InvalidGeometry
from sparql.model.support import refuse_system_graphs
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DEFAULT
from sparql.storage.embedded_store import Observer, ReadableLines
from sparql.writing.concurrent_changes import Watch
from sparql.writing.derived_changes import Consequences
from sparql.writing.group import Group, Outcome
from sparql.writing.judged_commit import JudgedCommits
from sparql.writing.ontology_graph import OntologyGraph
from sparql.writing.rederivation import Rederivation

Result = TypeVar("Result")


class Writer:
    """Serialises changes, judges them and commits them.

    `gate` may be None: then only malformed literals are refused, as on every route. With `inferences` what
    follows by the axioms in the graph is kept in it; without, what was kept goes at the start.
    """

    def __init__(
        self,
        store: TripleStore,
        *,
        gate: Gate | None = None,
        deriver: Deriver | None = None,
        inferences: Inferences | None = None,
        observers: Sequence[Observer] = (),
        invalid_geometry: InvalidGeometry = "repair",
    ) -> None:
        self._store = store
        self._consequences = Consequences(store, deriver, inferences)
        self._commits = JudgedCommits(
            self._consequences, gate, invalid_geometry, notify=self._notify, flush=self._flush
        )
        self._rederivation = Rederivation(self._consequences)
        self._ontology = OntologyGraph(self._consequences)
        self._observers = tuple(observers)
        self._lock = threading.Lock()
        self._closed = False
        self._held = False
        self._watches: list[Watch] = []
        self.on_verdicts: Callable[[Sequence[Verdict], float], None] = lambda verdicts, seconds: None
        """Told of the verdicts of a commit and the seconds from the lock to the acknowledgement."""

    @property
    def gate(self) -> Gate | None:
        """What judges; put another one in its place only while nobody writes."""
        return self._commits.gate

    @gate.setter
    def gate(self, gate: Gate | None) -> None:
        self._commits.gate = gate

    @property
    def invalid_geometry(self) -> InvalidGeometry:
        """What is done with geometries that can be read and are not valid."""
        return self._commits.invalid_geometry

    def derive(self, added: Collection[Triple], removed: Collection[Triple]) -> Delta:
        """What is derived from this change; asked again for the same change, the plan stands.

        For those who build a change under the writer's lock (`commit_built`).
        """
        return self._consequences.derive(added, removed)

    def tell_inference(self, told: Callable[[int, int], None]) -> None:
        """While all is inferred anew, tell how many triples were followed and how many inferred so far."""
        self._rederivation.on_inference = told

    def start(self) -> None:
        """Build what is kept beside the graph (indexes) from the graph itself."""
        with self._lock:
            self._build_indexes()

    def hold(self) -> None:
        """Let every change wait until `release`, from whichever thread: what judges it is being opened."""
        self._lock.acquire()
        self._held = True

    def release(
        self,
        *,
        gate: Gate | None = None,
        deriver: Deriver | None = None,
        inferences: Inferences | None = None,
    ) -> None:
        """After `hold`: take what judges and derives, and let changes through.

        Raises `StoreClosing` when it was abandoned meanwhile.
        """
        if not self._held:
            raise StoreClosing
        self.gate = gate
        self._consequences.deriver, self._consequences.inferences = deriver, inferences
        self._build_indexes()
        self._held = False
        self._lock.release()

    def follow(self, observers: Sequence[Observer]) -> None:
        """Keep these in step with the graph from now on.

        They are built by this thread, from the graph as it is now, while changes go on; what is committed
        meanwhile comes on top.
        """
        with self._lock:
            self._observers = tuple(observers)
            readings = []
            for observer in self._observers:
                observer.expect_rebuild()
                readings.append(self._read_for(observer))
        for observer, quads in zip(self._observers, readings, strict=True):
            observer.rebuild(quads)

    def abandon(self) -> None:
        """After `hold`, when something could not be opened: changes raise `StoreClosing` from now on."""
        self._closed = True
        if self._held:
            self._held = False
            self._lock.release()

    def _build_indexes(self) -> None:
        self._store.late_commit()
        if self._store.bulk_pending:
            self._rederivation.finish_bulk()
            self._rebuild_observers()
            return
        if self._consequences.deriver is not None:
            self._consequences.deriver.rebuild(self._store)
        self._rederivation.settle()
        self._rebuild_observers()

    def commit(self, change: Change) -> Verdict:
        """Judge a change and write what conforms, atomically.

        Without `change.partial` nothing is written if anything is refused. The record of a refused
        batch (its review items) is written also when nothing of it was accepted.
        Raises `ProtectedGraph` and `ProtectedTriple` for writes that no client may make.
        """
        return self.commit_built(lambda: change)

    def commit_built(self, build: Callable[[], Change], *, settle: bool = True) -> Verdict:
        """The same for a change that is made from the graph as it is: nobody writes in between.

        Without `settle`, call that before the verdict is acknowledged.
        """
        with self._lock:
            self._refuse_if_closed()
            started = perf_counter()
            self._take_in_late()
            with self._store.steady():
                change = build()
                refuse_system_graphs(change)
                try:
                    verdict = self._commits.commit(change)
                finally:
                    self._consequences.forget()
        if settle and verdict.revision is not None:
            self._store.settle(verdict.revision)
        self.on_verdicts((verdict,), perf_counter() - started)
        return verdict

    def commit_group(
        self,
        builds: Sequence[Callable[[], Change]],
        outcomes: list[Outcome],
        recorded: Callable[[Change], Change] = lambda change: change,
    ) -> None:
        """The same for several changes in turn, each on the graph as those before it leave it.

        What came of each goes to `outcomes`; that one is refused or fails is no matter to others. They are
        written together where that can be, each with a revision of its own, and none is seen before all are.
        `settle` before any is acknowledged. Each is built when its turn comes, from nothing that waits.
        `recorded` adds the record of what is refused or doubted to a change of which something may be.
        """
        with self._lock:
            self._refuse_if_closed()
            started = perf_counter()
            self._take_in_late()
            first = len(outcomes)
            group = self._gather(outcomes)
            try:
                for build in builds:
                    outcome = self._commit_next(build, group, recorded)
                    outcomes.append(outcome)
                    if isinstance(outcome, Verdict) and outcome.warnings:
                        # What the next ones are warned of may depend on it.
                        self._write(group)
            finally:
                self._write(group)
                self._consequences.view = self._store
        verdicts = [outcome for outcome in outcomes[first:] if isinstance(outcome, Verdict)]
        self.on_verdicts(verdicts, perf_counter() - started)

    def _gather(self, outcomes: list[Outcome]) -> Group | None:
        """A group before the store, where its commits can be written together."""
        embedded = self._store.embedded
        if embedded is not self._store or self._consequences.inferences is not None:
            return None
        return Group(embedded, outcomes)

    def _commit_next(
        self, build: Callable[[], Change], group: Group | None, recorded: Callable[[Change], Change]
    ) -> Outcome:
        """Commit a change to the group, or, where it needs the store itself, after what was gathered."""
        self._consequences.view = self._store
        try:
            with self._store.steady():
                change = build()
                plain = None if group is None else self._commits.state_plainly(change, group)
                if plain is not None:
                    return plain
                change = recorded(change)
                if group is not None and not self._commits.stands_alone(change):
                    self._consequences.view = group
                else:
                    self._write(group)
                refuse_system_graphs(change)
                return self._commits.commit(change)
        except SparqlError as error:
            return error
        finally:
            self._consequences.forget()

    def _write(self, group: Group | None) -> None:
        """Write what a group has gathered; if that fails, the outcomes tell."""
        with suppress(StoreUnwritable):
            self._flush(group)

    def _flush(self, group: Group | None) -> None:
        commits = [] if group is None else group.flush()
        if any(commit.removals for commit in commits):
            for commit in commits:
                self._notify(commit.additions, commit.removals)
        else:
            self._notify([quad for commit in commits for quad in commit.additions], ())

    def settle(self, revision: int) -> None:
        """Return when what was committed without it may be acknowledged. Raises `StoreUnwritable`."""
        self._store.settle(revision)

    def bulk(self, quads: Iterable[Quad]) -> int:
        """Add quads past the gate at the speed of the bulk loader, all or none; the new revision.

        Then derives and rebuilds the indexes. After a crash in between, `start` does that.
        `sparql.writing.bulk` is how to call it: nothing is checked here.
        """
        return self._bulk(lambda: self._store.bulk_add(quads))

    def bulk_lines(self, file: ReadableLines) -> int:
        """The same for N-Quads that the engine parses, into an embedded store."""
        return self._bulk(lambda: self._store.embedded.bulk_read(file))

    def _bulk(self, add: Callable[[], None]) -> int:
        with self._lock:
            self._refuse_if_closed()
            self._take_in_late()
            complete = self._consequences.inferences is not None and self._consequences.inferences.complete
            if complete:
                self._store.commit([STALE], [COMPLETE])
            self._store.begin_bulk()
            self._store.settle()
            try:
                add()
            except BaseException:
                # Nothing was added, so nothing follows from it.
                self._store.end_bulk([STALE] if complete else ())
                if complete:
                    self._store.commit([COMPLETE])
                raise
            revision = self._rederivation.finish_bulk(grown=complete)
            self._rebuild_observers()
        self._store.settle(revision)
        return revision

    def rederive(
        self,
        additions: Iterable[Collection[Triple]],
        removals: Iterable[Collection[Triple]],
        marks: tuple[Collection[Quad], Collection[Quad]] = ((), ()),
    ) -> int:
        """Add and remove derived triples that were worked out elsewhere, for the graph as a whole.

        Both come in portions, and memory follows their size: the bulk loader keeps up to a million quads.
        Nobody may have written since they were worked out. After an error or a crash in between, `start`
        derives anew, or this does what is left when it is called again. `marks` are quads that come and go
        with the end of it.
        """
        with self._lock:
            self._refuse_if_closed()
            begun = self._store.bulk_pending
            self._store.begin_bulk()
            self._store.settle()
            try:
                for portion in additions:
                    self._store.bulk_add(
                        quad for triple in portion for quad in self._rederivation.derived_quads(triple)
                    )
                    begun = True
            except BaseException:
                if not begun:
                    # Nothing was added; else the mark stays, for the relations are neither old nor new.
                    self._store.end_bulk()
                raise
            for portion in removals:
                self._store.commit((), self._rederivation.underived_quads(portion), origin="derived")
                self._store.embedded.write_out()
            forget(self._store)
            come, go = marks
            if come:
                self._store.commit(come)
            revision = self._store.end_bulk(go)
            self._rebuild_observers()
        self._store.settle(revision)
        return revision

    def infer_anew(self) -> int | None:
        """Bring all inferences in line with the setting; the new revision, or None if they are so already.

        Others wait to write meanwhile, and readers see inferences that are not complete.
        """
        with self._lock:
            self._refuse_if_closed()
            self._take_in_late()
            if not self._rederivation.settle():
                return None
            self._rebuild_observers()
        self._store.settle()
        return self._store.revision()

    @property
    def inferring(self) -> str:
        """`none`, `complete`, or `stale` where all is to be inferred anew."""
        if self._consequences.inferences is None:
            return "none"
        return "complete" if self._consequences.inferences.complete else "stale"

    @contextmanager
    def watched(self) -> Iterator[Watch]:
        """Note what is committed meanwhile, for one who reads the graph while others write."""
        watch = Watch()
        with self._lock:
            self._watches.append(watch)
        try:
            yield watch
        finally:
            self._watches.remove(watch)

    def _rebuild_observers(self) -> None:
        for watch in self._watches:
            watch.lost = True
        for observer in self._observers:
            observer.rebuild(self._read_for(observer))

    def _read_for(self, observer: Observer) -> Iterator[Quad]:
        """What an observer is rebuilt from, as it is now, however much later it is read; in one thread."""
        found = [self._store.match_quads(None, one, None, DEFAULT) for one in observer.predicates]
        return chain.from_iterable(found)

    def exclusively(self, work: Callable[[], Result]) -> Result:
        """Run something while nobody writes: a backup of the graph and of what is beside it."""
        with self._lock:
            return work()

    def close(self) -> None:
        """Return when the change under way is committed; later ones raise `StoreClosing`."""
        with self._lock:
            self._closed = True

    def _take_in_late(self) -> None:
        """Bring the indexes in line with a commit that was given up and had been applied after all."""
        late = self._store.late_commit()
        if late is None:
            return
        if self._consequences.deriver is not None:
            self._consequences.deriver.rebuild(self._store)
        self._notify(late.additions, late.removals)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreClosing

    def write_system(self, additions: Collection[Quad], removals: Collection[Quad] = ()) -> int:
        """Commit quads of system graphs (review decisions, the run log) without judging them."""
        with self._lock:
            self._refuse_if_closed()
            self._take_in_late()
            revision = self._store.commit(additions, removals)
        self._store.settle(revision)
        return revision

    def replace_ontology(
        self,
        triples: Collection[Triple],
        *,
        record: Callable[[int], Collection[Quad]] = lambda revision: (),
        then: Callable[[], None] = lambda: None,
    ) -> int | None:
        """Make the ontology graph hold exactly these triples; the new revision, or None if it does.

        `record` makes system quads for the same commit from the revision it will have. `then` is called
        before anybody else writes: what is judged by the new ontology and shapes has them before it.
        """
        with self._lock:
            self._refuse_if_closed()
            self._take_in_late()
            with self._store.steady():
                replaced = self._ontology.replace(triples, record(self._store.revision() + 1))
            if replaced is not None:
                self._notify(replaced[1], replaced[2])
            then()
        if replaced is None:
            return None
        self._store.settle(replaced[0])
        return replaced[0]

    def _notify(self, additions: Collection[Quad], removals: Collection[Quad]) -> None:
        added = [quad for quad in additions if quad.graph_name == DEFAULT]
        gone = [quad for quad in removals if quad.graph_name == DEFAULT]
        if added or gone:
            for observer in self._observers:
                observer.apply(added, gone)
            for watch in self._watches:
                watch.note(added, gone)

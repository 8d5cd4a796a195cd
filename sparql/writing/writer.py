"""The one write path: everything that changes the graph goes through here, one change at a time.

lock -> what really changes -> derive -> gate -> one atomic commit of exactly what was judged -> indexes ->
new revision. What is judged is what is committed.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from pyoxigraph import Quad, Triple

from sparql.inference.materialized import Inferences, forget
from sparql.model.change import Change, Delta, Deriver, Gate, Verdict, refuse_system_graphs
from sparql.model.errors import SparqlError, StoreClosing, StoreUnwritable
from sparql.model.literals import InvalidGeometry
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DEFAULT
from sparql.storage.change_log import Observer
from sparql.storage.embedded_store import EmbeddedStore, ReadableLines
from sparql.writing.derivation import DerivedChanges, OntologyGraph, Rederivation, Substitution
from sparql.writing.group import Group, Outcome
from sparql.writing.judged_commit import JudgedCommits

if TYPE_CHECKING:
    from sparql.inference.chase import DerivationRules


class Followers:
    """Everything that is notified of a commit. Called under the writer's lock."""

    def __init__(self, store: TripleStore, observers: Sequence[Observer]) -> None:
        self._store = store
        self._observers = tuple(observers)

    def begin(self, observers: Sequence[Observer]) -> list[tuple[Observer, Iterator[Quad]]]:
        """Follow with these from now on; each is to be rebuilt from the snapshot that comes with it."""
        self._observers = tuple(observers)
        for observer in self._observers:
            observer.expect_rebuild()
        return [(observer, self._read_for(observer)) for observer in self._observers]

    def rebuild(self) -> None:
        """Rebuild the indexes from the graph."""
        for observer in self._observers:
            observer.rebuild(self._read_for(observer))

    def notify(self, additions: Collection[Quad], removals: Collection[Quad]) -> None:
        """Report a commit."""
        added = [quad for quad in additions if quad.graph_name == DEFAULT]
        removed = [quad for quad in removals if quad.graph_name == DEFAULT]
        if added or removed:
            for observer in self._observers:
                observer.apply(added, removed)

    def _read_for(self, observer: Observer) -> Iterator[Quad]:
        """A snapshot of what an observer is rebuilt from; to be read in one thread."""
        found = [self._store.match_quads(None, one, None, DEFAULT) for one in observer.predicates]
        return chain.from_iterable(found)


Result = TypeVar("Result")


class Writer:
    """Serializes changes, judges them and commits them.

    `gate` may be None: then only malformed literals are refused, as on every route. With `inferences` the
    conclusions of the axioms are stored in the graph; without, stored ones are removed at the start.
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
        self._followers = Followers(store, observers)
        self._derived = DerivedChanges(store, deriver, inferences)
        self._commits = JudgedCommits(
            self._derived, gate, invalid_geometry, notify=self._followers.notify, flush=self._flush
        )
        self._rederivation = Rederivation(self._derived)
        self._ontology = OntologyGraph(self._derived)
        self._lock = threading.Lock()
        self._closed = False
        self._held = False
        self.on_verdicts: Callable[[Sequence[Verdict], float], None] = lambda verdicts, seconds: None
        """Called with the verdicts of a commit and the seconds from the lock to the acknowledgment."""

    @property
    def gate(self) -> Gate | None:
        """The gate; replace it only while nobody writes."""
        return self._commits.gate

    @gate.setter
    def gate(self, gate: Gate | None) -> None:
        self._commits.gate = gate

    @property
    def invalid_geometry(self) -> InvalidGeometry:
        """How geometries that can be read but are not valid are treated."""
        return self._commits.invalid_geometry

    def derive(self, added: Collection[Triple], removed: Collection[Triple]) -> Delta:
        """What is derived from this change; the plan is reused for the same change.

        For code that builds a change under the writer's lock (`commit_built`).
        """
        return self._derived.derive(added, removed)

    def report_inference(self, on_progress: Callable[[int, int], None]) -> None:
        """Report, while everything is inferred again, how many triples were followed and inferred so far."""
        self._rederivation.on_inference = on_progress

    def start(self) -> None:
        """Build the indexes beside the graph from the graph itself."""
        with self._lock:
            self._build_indexes()

    def hold(self) -> None:
        """Make every change wait until `release`, from any thread, while the gate is being opened."""
        self._lock.acquire()
        self._held = True

    def release(
        self,
        *,
        gate: Gate | None = None,
        deriver: Deriver | None = None,
        inferences: Inferences | None = None,
    ) -> None:
        """After `hold`: set gate, deriver and inferences, and let changes through.

        Raises `StoreClosing` when it was abandoned meanwhile.
        """
        if not self._held:
            raise StoreClosing
        self.gate = gate
        self._derived.deriver, self._derived.inferences = deriver, inferences
        self._build_indexes()
        self._held = False
        self._lock.release()

    def follow(self, observers: Sequence[Observer]) -> None:
        """Keep these in step with the graph from now on.

        They are built by this thread, from the graph as it is now, while changes continue; later commits are
        applied on top.
        """
        with self._lock:
            readings = self._followers.begin(observers)
        for observer, quads in readings:
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
        else:
            if self._derived.deriver is not None:
                self._derived.deriver.rebuild(self._store)
            self._rederivation.settle()
        self._followers.rebuild()

    def commit(self, change: Change) -> Verdict:
        """Judge a change and write the conforming part, atomically.

        Without `change.partial` nothing is written if anything is refused. The record of a refused batch (its
        review items) is written even when nothing of it was accepted. Raises `ProtectedGraph` and
        `ProtectedTriple` for writes that no client may make.
        """
        return self.commit_built(lambda: change)

    def commit_built(self, build: Callable[[], Change], *, settle: bool = True) -> Verdict:
        """The same for a change that is built from the current graph: nobody writes in between.

        Without `settle`, call that before the verdict is acknowledged.
        """
        with self._writing():
            started = perf_counter()
            with self._store.remember_reads():
                change = build()
                refuse_system_graphs(change)
                try:
                    verdict = self._commits.commit(change)
                finally:
                    self._derived.forget()
        if settle and verdict.revision is not None:
            self._store.settle(verdict.revision)
        if not change.dry_run:
            self.on_verdicts((verdict,), perf_counter() - started)
        return verdict

    def commit_group(
        self,
        builds: Sequence[Callable[[], Change]],
        outcomes: list[Outcome],
        recorded: Callable[[Change], Change] = lambda change: change,
    ) -> None:
        """The same for several changes in turn, each on the graph as those before it leave it.

        The outcome of each is added to `outcomes`; a refused or failed change does not affect the others.
        They are written together where possible, each with its own revision, and none is visible before all
        are. Call `settle` before acknowledging any. Each is built when its turn comes and must not wait.
        `recorded` adds a record to a change that may have refused or doubtful statements.
        """
        with self._writing():
            started = perf_counter()
            first = len(outcomes)
            group = self._gather(outcomes)
            try:
                for build in builds:
                    outcome = self._commit_next(build, group, recorded)
                    outcomes.append(outcome)
                    if isinstance(outcome, Verdict) and outcome.warnings:
                        # The warnings of the next changes may depend on it.
                        self._write(group)
            finally:
                self._write(group)
                self._derived.view = self._store
        verdicts = [outcome for outcome in outcomes[first:] if isinstance(outcome, Verdict)]
        self.on_verdicts(verdicts, perf_counter() - started)

    def _gather(self, outcomes: list[Outcome]) -> Group | None:
        """A group around the store, if its commits can be written together."""
        if not isinstance(self._store, EmbeddedStore) or self._derived.inferences is not None:
            return None
        return Group(self._store, outcomes)

    def _commit_next(
        self, build: Callable[[], Change], group: Group | None, recorded: Callable[[Change], Change]
    ) -> Outcome:
        """Commit a change to the group, or, where it needs the store itself, after the pending ones."""
        self._derived.view = self._store
        try:
            with self._store.remember_reads():
                change = build()
                plain = None if group is None else self._commits.insert_without_validation(change, group)
                if plain is not None:
                    return plain
                change = recorded(change)
                if group is not None and not self._commits.stands_alone(change):
                    self._derived.view = group
                else:
                    self._write(group)
                refuse_system_graphs(change)
                return self._commits.commit(change)
        except SparqlError as error:
            return error
        finally:
            self._derived.forget()

    def _write(self, group: Group | None) -> None:
        """Write the pending commits of a group; a failure is recorded in the outcomes."""
        with suppress(StoreUnwritable):
            self._flush(group)

    def _flush(self, group: Group | None) -> None:
        commits = [] if group is None else group.flush()
        if any(commit.removals for commit in commits):
            for commit in commits:
                self._followers.notify(commit.additions, commit.removals)
        else:
            self._followers.notify([quad for commit in commits for quad in commit.additions], ())

    def settle(self, revision: int) -> None:
        """Return when an unsettled commit may be acknowledged. Raises `StoreUnwritable`."""
        self._store.settle(revision)

    def bulk(self, quads: Iterable[Quad]) -> int:
        """Add quads without the gate at the speed of the bulk loader, all or none; the new revision.

        Then derives and rebuilds the indexes. After a crash in between, `start` does that. Call it through
        `sparql.writing.bulk`: nothing is checked here.
        """
        return self._bulk(lambda: self._store.bulk_add(quads))

    def bulk_lines(self, file: ReadableLines) -> int:
        """The same for N-Quads that the engine parses, into an embedded store."""
        store = self._store
        assert isinstance(store, EmbeddedStore)
        return self._bulk(lambda: store.bulk_read(file))

    def _bulk(self, add: Callable[[], None]) -> int:
        with self._writing():
            revision = self._rederivation.bulk(add)
            self._followers.rebuild()
        self._store.settle(revision)
        return revision

    def rederive(
        self,
        additions: Iterable[Collection[Triple]],
        removals: Iterable[Collection[Triple]],
        marks: tuple[Collection[Quad], Collection[Quad]] = ((), ()),
    ) -> int:
        """Add and remove derived triples that were worked out elsewhere, for the whole graph.

        Both are given in portions, and memory use follows their size: the bulk loader keeps up to a million
        quads. Nobody may have written since they were worked out. After an error or a crash in between,
        `start` derives again, or a second call completes the work. `marks` are quads to add and remove at the
        end.
        """
        with self._lock:
            self._refuse_if_closed()
            revision = self._rederivation.replace_derived(additions, removals, marks)
            self._followers.rebuild()
        self._store.settle(revision)
        return revision

    def infer_anew(self) -> int | None:
        """Bring all inferences in line with the setting; the new revision, or None if they already are.

        Other writers wait meanwhile, and queries see incomplete inferences.
        """
        with self._writing():
            if not self._rederivation.settle():
                return None
            self._followers.rebuild()
        self._store.settle()
        return self._store.revision()

    def use_rules(self, more: "DerivationRules | None") -> None:
        """Follow other rules than before; all is to be inferred again where they are others.

        To be called in `then` of `replace_ontology`, or before changes are let through.
        """
        inferences = self._derived.inferences
        if inferences is not None and inferences.use(more):
            forget(self._store)

    @property
    def rules_problem(self) -> str:
        """Why the rules of the shapes are not followed; empty where they are, or there are none."""
        return "" if self._derived.inferences is None else self._derived.inferences.problem

    @property
    def inferring(self) -> str:
        """`none`, `complete`, or `stale` where everything is to be inferred again."""
        if self._derived.inferences is None:
            return "none"
        return "complete" if self._derived.inferences.complete else "stale"

    def exclusively(self, work: Callable[[], Result]) -> Result:
        """Run something while nobody writes: a backup of the graph and of the files beside it."""
        with self._lock:
            return work()

    def close(self) -> None:
        """Return when the current change is committed; later ones raise `StoreClosing`."""
        with self._lock:
            self._closed = True

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The lock, with the indexes up to the last commit. Raises `StoreClosing`."""
        with self._lock:
            self._refuse_if_closed()
            self._apply_late_commit()
            yield

    def _apply_late_commit(self) -> None:
        """Apply a commit to the indexes that was given up but had been applied after all."""
        late = self._store.late_commit()
        if late is None:
            return
        if self._derived.deriver is not None:
            self._derived.deriver.rebuild(self._store)
        self._followers.notify(late.additions, late.removals)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreClosing

    def write_system(self, additions: Collection[Quad], removals: Collection[Quad] = ()) -> int:
        """Commit quads of system graphs (review decisions, the run log) without judging them."""
        with self._writing():
            revision = self._store.commit(additions, removals)
        self._store.settle(revision)
        return revision

    def replace_ontology(
        self,
        triples: Collection[Triple],
        *,
        record: Callable[[int], Collection[Quad]] = lambda revision: (),
        then: Callable[[], None] = lambda: None,
        substitute: Callable[[], Substitution] = Substitution,
    ) -> int | None:
        """Make the ontology graph hold exactly these triples; the new revision, or None if it already does.

        `record` makes system quads for the same commit from its future revision, and `substitute` what
        changes in statements with it. `then` is called before any other write: so the next change is judged
        by the new ontology and shapes.
        """
        with self._writing():
            with self._store.remember_reads():
                record_quads = record(self._store.revision() + 1)
                replaced = self._ontology.replace(triples, record_quads, substitute())
            if replaced is not None:
                self._followers.notify(replaced[1], replaced[2])
            then()
        if replaced is None:
            return None
        self._store.settle(replaced[0])
        return replaced[0]

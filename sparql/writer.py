"""The one write path: everything that changes the graph goes through here, one change at a time.

lock -> what really changes -> derive -> gate -> one atomic commit of exactly what was judged ->
indexes -> new revision. What is judged is what is committed.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from time import perf_counter
from typing import TypeVar

from pyoxigraph import NamedNode, Quad, Triple

from sparql.change import (
    NOTHING,
    Change,
    Delta,
    Deriver,
    Gate,
    Origin,
    Rejection,
    Selection,
    Statement,
    Verdict,
)
from sparql.errors import (
    InferenceTooLarge,
    ProtectedTriple,
    SparqlError,
    StoreClosing,
    StoreUnwritable,
    TooMuchDepends,
)
from sparql.group import Group, Outcome
from sparql.inference.materialised import (
    COMPLETE,
    STALE,
    Inferences,
    disown_stated,
    forget,
    log_progress,
    mark,
    remove_all,
)
from sparql.literals import InvalidGeometry, literal_violations, sort_out
from sparql.relation_basis import marks
from sparql.source import KnownAbsent
from sparql.store import Observer
from sparql.support import (
    is_supported,
    only_asserted,
    quad_of,
    refuse_system_graphs,
    unsupported,
    withdrawn,
    withdrawn_quads,
)
from sparql.triple_store import TripleStore
from sparql.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, INFERRED, ONTOLOGY

Result = TypeVar("Result")
_ORIGINS = (EXTRACTED, DERIVED, ONTOLOGY, ASSERTED)


@dataclass(frozen=True)
class _Plan:
    """What follows from a change: relations of geometries, inferences by axioms, and both together."""

    derived: Delta = field(default_factory=Delta)
    inferred: Delta = field(default_factory=Delta)
    whole: Delta = field(default_factory=Delta)


class Watch:
    """What came and went in the default graph since somebody began to look; to be read under the lock.

    `lost` tells that it changed in a way that is not told triple by triple.
    """

    def __init__(self) -> None:
        self.lost = False
        self.came: set[Triple] = set()
        self.went: set[Triple] = set()

    def note(self, added: Iterable[Quad], gone: Iterable[Quad]) -> None:
        """One commit more. What came and went again is in both: either may matter to what was read."""
        self.came.update(quad.triple for quad in added)
        self.went.update(quad.triple for quad in gone)


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
        self._view: TripleStore | Group = store
        """What a change is judged on and committed to: the store, or the group that is gathered before it."""
        self._before: KnownAbsent | None = None
        """The view while a change is judged: what is not there is asked for once."""
        self.gate = gate
        self._deriver = deriver
        self._inferences = inferences
        # Until the start has looked, there may be inferences of an earlier server.
        self._origins: tuple[NamedNode, ...] = (*_ORIGINS, INFERRED)
        self._leaving: frozenset[Triple] = frozenset()
        self._told_inferred: frozenset[Triple] = frozenset()
        self._observers = tuple(observers)
        self.invalid_geometry: InvalidGeometry = invalid_geometry
        self._lock = threading.Lock()
        self._planned: tuple[tuple[frozenset[Triple], frozenset[Triple]], _Plan] | None = None
        self._closed = False
        self._held = False
        self._watches: list[Watch] = []
        self.on_verdicts: Callable[[Sequence[Verdict], float], None] = lambda verdicts, seconds: None
        """Told of the verdicts of a commit and the seconds from the lock to the acknowledgement."""
        self.on_inference: Callable[[int, int], None] = log_progress
        """Told, while all is inferred anew, how many triples were followed and how many inferred so far."""

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
        self.gate, self._deriver, self._inferences = gate, deriver, inferences
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
            self._finish_bulk()
            return
        if self._deriver is not None:
            self._deriver.rebuild(self._store)
        self._settle_inferences()
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
                    verdict = self._commit(change)
                finally:
                    self._forget_plan()
        if settle and verdict.revision is not None:
            self._store.settle(verdict.revision)
        self.on_verdicts((verdict,), perf_counter() - started)
        return verdict

    def commit_group(self, builds: Sequence[Callable[[], Change]], outcomes: list[Outcome]) -> None:
        """The same for several changes in turn, each on the graph as those before it leave it.

        What came of each goes to `outcomes`; that one is refused or fails is no matter to others. They are
        written together where that can be, each with a revision of its own, and none is seen before all are.
        `settle` before any is acknowledged. Each is built when its turn comes, from nothing that waits.
        """
        with self._lock:
            self._refuse_if_closed()
            started = perf_counter()
            self._take_in_late()
            first = len(outcomes)
            group = self._gather(outcomes)
            try:
                for build in builds:
                    outcome = self._commit_next(build, group)
                    outcomes.append(outcome)
                    if isinstance(outcome, Verdict) and outcome.warnings:
                        # What the next ones are warned of may depend on it.
                        self._write(group)
            finally:
                self._write(group)
                self._view = self._store
        verdicts = [outcome for outcome in outcomes[first:] if isinstance(outcome, Verdict)]
        self.on_verdicts(verdicts, perf_counter() - started)

    def _gather(self, outcomes: list[Outcome]) -> Group | None:
        """A group before the store, where its commits can be written together."""
        embedded = self._store.embedded
        if embedded is not self._store or self._inferences is not None:
            return None
        return Group(embedded, outcomes)

    def _commit_next(self, build: Callable[[], Change], group: Group | None) -> Outcome:
        """Commit a change to the group, or, where it needs the store itself, after what was gathered."""
        self._view = self._store
        try:
            with self._store.steady():
                change = build()
                plain = None if group is None else self._state_plainly(change, group)
                if plain is not None:
                    return plain
                if group is not None and not self._stands_alone(change):
                    self._view = group
                else:
                    self._write(group)
                refuse_system_graphs(change)
                return self._commit(change)
        except SparqlError as error:
            return error
        finally:
            self._forget_plan()

    def _state_plainly(self, change: Change, group: Group) -> Verdict | None:
        """Commit a change to the group of which nobody has anything to say; None if it is no such change.

        What it states is new, no shape speaks of it and nothing follows from it. The long way would come to
        the same; this is what costs most when small updates come in a stream.
        """
        if not (change.additions and change.only_states):
            return None
        derives_from = None if self._deriver is None else self._deriver.derives_from
        quads = []
        for statement in change.additions:
            triple = statement.triple
            if (derives_from is not None and derives_from(triple)) or literal_violations(triple):
                return None
            quads.append(statement.quad)
        triples = [statement.triple for statement in change.additions]
        if self.gate is not None and not change.judged and self.gate.concerns(triples):
            return None
        if any(map(group.contains, quads)) or len(set(quads)) < len(quads):
            return None
        verdict = Verdict(change.additions, (), (), NOTHING, NOTHING, group.next_revision)
        if change.record is not None:
            quads += change.record(verdict)
        if change.retract is not None and [*change.retract(verdict)]:
            return None
        group.add_new(quads, origin=change.origin)
        return verdict

    def _stands_alone(self, change: Change) -> bool:
        """Whether it must not wait: graphs come or go with it, or the index of geometries changes."""
        if change.graphs_created or change.graphs_dropped:
            return True
        derives_from = None if self._deriver is None else self._deriver.derives_from
        return derives_from is not None and (
            any(derives_from(one.triple) for one in change.additions)
            or any(derives_from(triple) for triple in change.removals)
        )

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

        Then derives and rebuilds the indexes. After a crash in between, `start` does that. `sparql.bulk`
        is how to call it: nothing is checked here.
        """
        with self._lock:
            self._refuse_if_closed()
            self._take_in_late()
            complete = self._inferences is not None and self._inferences.complete
            if complete:
                self._store.commit([STALE], [COMPLETE])
            self._store.begin_bulk()
            self._store.settle()
            try:
                self._store.bulk_add(quads)
            except BaseException:
                # Nothing was added, so nothing follows from it.
                self._store.end_bulk([STALE] if complete else ())
                if complete:
                    self._store.commit([COMPLETE])
                raise
            revision = self._finish_bulk(grown=complete)
        self._store.settle(revision)
        return revision

    def rederive(self, additions: Iterable[Triple], removals: Iterable[Collection[Triple]]) -> int:
        """Add and remove derived triples that were worked out elsewhere, for the graph as a whole.

        Removals come in portions. Nobody may have written since they were worked out. After a crash in
        between, `start` derives anew.
        """
        with self._lock:
            self._refuse_if_closed()
            self._store.begin_bulk()
            self._store.settle()
            try:
                self._store.bulk_add(quad for triple in additions for quad in self._derived_quads(triple))
            except BaseException:
                self._store.end_bulk()
                raise
            for portion in removals:
                self._store.commit((), self._underived_quads(portion), origin="derived")
            forget(self._store)
            revision = self._store.end_bulk()
            self._rebuild_observers()
        self._store.settle(revision)
        return revision

    def _derived_quads(self, triple: Triple) -> list[Quad]:
        stated = [quad_of(triple, ASSERTED)] if only_asserted(self._view, triple, self._origins) else []
        return [*stated, quad_of(triple, DERIVED), quad_of(triple, DEFAULT)]

    def _underived_quads(self, triples: Collection[Triple]) -> list[Quad]:
        gone = [quad_of(triple, DERIVED) for triple in triples]
        return gone + [
            quad_of(t, DEFAULT) for t in triples if not is_supported(self._view, t, besides=DERIVED)
        ]

    def _finish_bulk(self, *, grown: bool = False) -> int:
        """Derive from the graph as a whole, rebuild the indexes, commit that the bulk load is over.

        `grown` tells that the inferences were complete, and statements have only been added since.
        """
        gone = self._derive_whole()
        if self._inferences is not None or mark(self._store) is not None:
            if gone:
                self._store.commit((), gone, origin="derived")
            self._infer_whole(keep=grown and not gone)
            gone = []
        revision = self._store.end_bulk(gone)
        self._rebuild_observers()
        return revision

    def _derive_whole(self) -> list[Quad]:
        """Add all that is derived from the graph and not there; the quads that are to go."""
        if self._deriver is None:
            return marks(self._store)
        derived = self._deriver.catch_up(self._store, self._store.named(DERIVED))
        come, go = self._deriver.marked(self._store, whole=True)
        self._store.bulk_add(
            chain(come, (quad for t in derived.additions for quad in self._derived_quads(t)))
        )
        return go + self._underived_quads(derived.removals)

    def infer_anew(self) -> int | None:
        """Bring all inferences in line with the setting; the new revision, or None if they are so already.

        Others wait to write meanwhile, and readers see inferences that are not complete.
        """
        with self._lock:
            self._refuse_if_closed()
            self._take_in_late()
            if not self._settle_inferences():
                return None
            self._rebuild_observers()
        self._store.settle()
        return self._store.revision()

    @property
    def inferring(self) -> str:
        """`none`, `complete`, or `stale` where all is to be inferred anew."""
        if self._inferences is None:
            return "none"
        return "complete" if self._inferences.complete else "stale"

    def _settle_inferences(self) -> bool:
        """Infer anew where that is wanted and not done, or remove what is not wanted; whether it was so."""
        found = mark(self._store)
        if found == (None if self._inferences is None else COMPLETE):
            self._origins = _ORIGINS if self._inferences is None else (*_ORIGINS, INFERRED)
            return False
        self._store.begin_bulk()
        self._store.settle()
        self._infer_whole(keep=False)
        self._store.end_bulk()
        return True

    def _infer_whole(self, *, keep: bool) -> None:
        """Make the inferences what follows from all that is stated; `keep` those that are there."""
        geometries = self._infers_geometries()
        if keep:
            disown_stated(self._store)
        else:
            self._store.commit([STALE], [COMPLETE])
            remove_all(self._store)
        if self._inferences is not None:
            self._inferences.infer_all(self.on_inference)
            geometries = geometries or self._infers_geometries()
        if geometries:
            # Relations rest on them, and axioms may speak of relations.
            self._store.commit((), self._derive_whole(), origin="derived")
            if self._inferences is not None:
                self._inferences.infer_all(self.on_inference)
        self._store.commit([] if self._inferences is None else [COMPLETE], [STALE])
        self._origins = _ORIGINS if self._inferences is None else (*_ORIGINS, INFERRED)

    def _infers_geometries(self) -> bool:
        """Whether any triple that relations are derived from is only inferred."""
        deriver = self._deriver
        inferred = self._store.match_quads(None, None, None, INFERRED)
        return deriver is not None and any(deriver.derives_from(quad.triple) for quad in inferred)

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
        if self._deriver is not None:
            self._deriver.rebuild(self._store)
        self._notify(late.additions, late.removals)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreClosing

    def _commit(self, change: Change) -> Verdict:
        self._view.expect([*(one.triple for one in change.additions), *change.removals])
        self._told_inferred = frozenset()
        if self._inferences is not None:
            self._leaving = withdrawn(change)
        additions, known = self._split_known(change.additions)
        only_states = change.only_states
        removals = frozenset[Triple]()
        if not only_states:
            removals = self._effective_removals(change) | unsupported(self._view, change)
        sound, malformed, repaired = sort_out(additions, self.invalid_geometry)
        if malformed and not change.partial:
            return self._finish(change, (), tuple(malformed), (), removals=frozenset(), known=())
        try:
            accepted, rejected, warnings, hubs = self._judge(sound, removals, change)
        except TooMuchDepends as found:
            if change.hold is None:
                raise
            self._forget_plan()
            return Verdict(held=found, revision=self._view.commit([*change.hold(found)]))
        if (
            only_states
            and not (malformed or repaired or rejected or warnings or hubs)
            and not self._may_follow(change)
        ):
            return self._state(change, accepted, known)
        warnings = (*warnings, *(one for one in repaired if one.statement in accepted))
        refused = (*change.refused, *malformed, *rejected)
        if refused and not change.partial:
            accepted, removals, known = (), frozenset(), ()
        removals -= {rejection.statement.triple for rejection in rejected}
        return self._finish(change, accepted, refused, warnings, removals=removals, known=known, hubs=hubs)

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
                revision = self._replace_ontology(triples, record(self._store.revision() + 1))
            then()
        if revision is not None:
            self._store.settle(revision)
        return revision

    def _replace_ontology(self, triples: Collection[Triple], record: Collection[Quad]) -> int | None:
        stored = {quad.triple for quad in self._store.match_quads(None, None, None, ONTOLOGY)}
        new = set(triples)
        added, gone = new - stored, stored - new
        if not added and not gone and not record:
            return None
        self._store.expect([*added, *gone])
        orphans = [t for t in gone if not is_supported(self._view, t, besides=ONTOLOGY)]
        additions = [quad_of(t, ONTOLOGY) for t in added]
        additions += [quad_of(t, ASSERTED) for t in added if only_asserted(self._view, t, self._origins)]
        additions += [quad_of(t, DEFAULT) for t in added]
        removals = [quad_of(t, ONTOLOGY) for t in gone] + [quad_of(t, DEFAULT) for t in orphans]
        if self._inferences is not None or mark(self._store) is not None:
            come, go = self._follow_ontology(frozenset(added), frozenset(orphans))
            additions += come
            removals = [quad for quad in (*removals, *go) if quad not in {*additions}]
        revision = self._store.commit([*additions, *record], removals, origin="ontology")
        if self._planned is not None and self._deriver is not None:
            self._deriver.keep()
        self._planned = None
        self._notify(additions, removals)
        return revision

    def _follow_ontology(
        self, added: frozenset[Triple], orphans: frozenset[Triple]
    ) -> tuple[list[Quad], list[Quad]]:
        """The quads that come and go with what is inferred from a changed ontology.

        Where too much follows to be worked out while others wait, or nobody infers here, the inferences
        are marked as stale.
        """
        self._leaving = frozenset()
        try:
            if self._inferences is not None and self._inferences.complete:
                new = frozenset(t for t in added if not self._is_stated(t))
                return self._followed(self._plan(new, orphans), stated=frozenset())
        except InferenceTooLarge:
            self._forget_plan()
        return [STALE], [COMPLETE]

    def _judge(
        self, additions: tuple[Statement, ...], removals: frozenset[Triple], change: Change
    ) -> Selection:
        if self.gate is None or change.judged or not (additions or removals):
            return Selection(additions)
        self._before = before = KnownAbsent(self._view)
        try:
            return self.gate.select(
                before,
                additions,
                removals,
                self.derive,
                partial=change.partial,
                source=change.source or str(change.origin),
                reach=change.reach,
                survey=change.survey,
            )
        finally:
            self._before = None

    def derive(self, added: Collection[Triple], removed: Collection[Triple]) -> Delta:
        """What is derived from this change; asked again for the same change, the plan stands.

        For the writer and for those who build a change under its lock (`commit_built`).
        """
        return self._plan(added, removed).whole

    def _plan(self, added: Collection[Triple], removed: Collection[Triple]) -> _Plan:
        if self._deriver is None and self._inferences is None:
            return _Plan()
        if self._deriver is not None and self._inferences is None:
            # What is derived depends on these alone, so a plan outlives what the gate takes out of a change.
            derives_from = self._deriver.derives_from
            added, removed = [*filter(derives_from, added)], [*filter(derives_from, removed)]
        wanted = (frozenset(added), frozenset(removed))
        if self._planned is None or self._planned[0] != wanted:
            self._forget_plan()
            self._planned = (wanted, self._planned_anew(*wanted))
        return self._planned[1]

    def _planned_anew(self, added: frozenset[Triple], removed: frozenset[Triple]) -> _Plan:
        if self._inferences is None:
            derived = self._derived(added, removed)
            return _Plan(derived, whole=derived)
        inferred = self._inferences.plan(added, removed - added)
        come = added | inferred.additions
        derived = self._derived(come, (removed | inferred.removals) - come)
        if derived.additions or derived.removals:
            # Axioms may speak of relations. That geometries are inferred from relations is not looked for.
            come = added | derived.additions
            loose = frozenset(triple for triple in derived.removals if not self._stays(triple))
            inferred = self._inferences.plan(come, (removed | loose) - come)
        come = derived.additions | inferred.additions
        return _Plan(derived, inferred, Delta(come, (derived.removals | inferred.removals) - come))

    def _derived(self, added: frozenset[Triple], removed: frozenset[Triple]) -> Delta:
        deriver = self._deriver
        if deriver is None or not any(map(deriver.derives_from, chain(added, removed))):
            return Delta()
        return deriver.plan(self._before or self._view, self._view.named(DERIVED), added, removed)

    def _stays(self, triple: Triple) -> bool:
        """Whether a triple is stated by other origins than derivation, after the change under way."""
        origins = (ASSERTED, ONTOLOGY) if triple in self._leaving else (ASSERTED, ONTOLOGY, EXTRACTED)
        return any(self._view.contains(quad_of(triple, graph)) for graph in origins)

    def _is_stated(self, triple: Triple) -> bool:
        """Whether the graph holds it, and not only because it follows."""
        return self._view.contains(quad_of(triple, DEFAULT)) and not (
            self._inferences is not None and self._inferences.is_inferred(triple)
        )

    def _forget_plan(self) -> None:
        if self._planned is not None and self._deriver is not None:
            self._deriver.undo()
        self._planned = None

    def _finish(
        self,
        change: Change,
        accepted: tuple[Statement, ...],
        rejected: tuple[Rejection, ...],
        warnings: tuple[Rejection, ...],
        *,
        removals: frozenset[Triple],
        known: tuple[Statement, ...],
        hubs: frozenset[Triple] = frozenset(),
    ) -> Verdict:
        refused_whole = bool(rejected) and not change.partial
        added = [statement.triple for statement in accepted]
        plan = self._plan(added, removals)
        accepted_triples = {statement.triple for statement in (*accepted, *known)}
        doubts = tuple(one for one in change.doubts if one.statement.triple in accepted_triples)
        verdict = Verdict(
            (*accepted, *known), rejected, (*warnings, *doubts), plan.derived, plan.inferred, hubs=hubs
        )
        if self._inferences is not None and not refused_whole and (added or removals or not rejected):
            self._refuse_what_follows(plan.inferred)
        if change.dry_run:
            return verdict
        additions, gone = self._quads(change.origin, added, known, removals, plan)
        if not refused_whole:
            additions += change.graph_additions
            gone += self._there(change.graph_removals)
            gone += withdrawn_quads(self._view, change, plan.derived)
        if change.record is not None:
            if isinstance(self._view, Group) and (verdict.warnings or (verdict.rejected and change.partial)):
                # What it records may rest on what is recorded already, which it reads from the store.
                self._flush(self._view)
            additions += change.record(verdict)
        if change.retract is not None:
            gone += (quad for quad in change.retract(verdict) if self._view.contains(quad))
        if self._inferences is not None:
            # What is no longer stated but follows comes and goes at once: it stays.
            kept = set(additions)
            gone = [quad for quad in gone if quad not in kept]
        created, dropped = change.graphs_created, change.graphs_dropped
        if refused_whole:
            created = dropped = frozenset()
        revision = None
        if additions or gone or created or dropped:
            revision = self._view.commit(
                additions, gone, origin=change.origin, graphs_created=created, graphs_dropped=dropped
            )
        if self._deriver is not None:
            self._deriver.keep()
        self._planned = None
        if not isinstance(self._view, Group):
            self._notify(additions, gone)
        return replace(verdict, revision=revision)

    def _may_follow(self, change: Change) -> bool:
        """Whether anything may follow from what a change states."""
        if self._inferences is not None:
            return True
        derives_from = None if self._deriver is None else self._deriver.derives_from
        return derives_from is not None and any(derives_from(one.triple) for one in change.additions)

    def _state(
        self, change: Change, accepted: tuple[Statement, ...], known: tuple[Statement, ...]
    ) -> Verdict:
        """What `_finish` does for a change that only states, when nothing is to be told of it but that."""
        additions = [quad_of(statement.triple, DEFAULT) for statement in accepted]
        additions += [
            quad_of(one.triple, ASSERTED)
            for one in known
            if not only_asserted(self._view, one.triple, self._origins)
        ]
        gone: list[Quad] = []
        told = (*accepted, *known)
        if change.record is not None or change.retract is not None:
            verdict = Verdict(told, (), (), NOTHING, NOTHING)
            if change.record is not None:
                additions += change.record(verdict)
            if change.retract is not None:
                gone += (quad for quad in change.retract(verdict) if self._view.contains(quad))
        revision = None
        if additions or gone:
            revision = self._view.commit(additions, gone, origin=change.origin)
            if not isinstance(self._view, Group):
                self._notify(additions, gone)
        return Verdict(told, (), (), NOTHING, NOTHING, revision)

    def _there(self, quads: Collection[Quad]) -> Iterable[Quad]:
        """Those that are there, where asking costs nothing: what follows from a text may not be."""
        if self._store.embedded is not self._store:
            return quads
        return (quad for quad in quads if self._view.contains(quad))

    def _quads(
        self,
        origin: Origin,
        added: Sequence[Triple],
        known: Sequence[Statement],
        removals: frozenset[Triple],
        plan: _Plan,
    ) -> tuple[list[Quad], list[Quad]]:
        self._view.expect([*plan.derived.additions, *plan.derived.removals])
        additions = [quad_of(triple, DEFAULT) for triple in added]
        if origin is Origin.EXTRACTED:
            additions += [quad_of(triple, EXTRACTED) for triple in added]
            for triple in (statement.triple for statement in known):
                additions += (
                    [quad_of(triple, ASSERTED)] if only_asserted(self._view, triple, self._origins) else []
                )
                additions.append(quad_of(triple, EXTRACTED))
        else:
            for triple in (statement.triple for statement in known):
                if not only_asserted(self._view, triple, self._origins):
                    additions.append(quad_of(triple, ASSERTED))
        # What is stated in the very change that derives it was stated all the same.
        stated = frozenset(added) if origin is Origin.ASSERTED else frozenset[Triple]()
        gone = [quad_of(triple, graph) for triple in removals for graph in (DEFAULT, ASSERTED, EXTRACTED)]
        come, go = self._followed(plan, stated)
        return additions + come, [quad for quad in (*gone, *go) if self._view.contains(quad)]

    def _followed(self, plan: _Plan, stated: frozenset[Triple]) -> tuple[list[Quad], list[Quad]]:
        """The quads that come and go with what follows from a change; `stated` came with it."""
        additions: list[Quad] = []
        gone: list[Quad] = []
        for triple in plan.derived.additions:
            if triple in stated or only_asserted(self._view, triple, self._origins):
                additions.append(quad_of(triple, ASSERTED))
            additions += [quad_of(triple, DERIVED), quad_of(triple, DEFAULT)]
        for triple in plan.derived.removals:
            gone.append(quad_of(triple, DERIVED))
            if not is_supported(self._view, triple, besides=DERIVED):
                gone.append(quad_of(triple, DEFAULT))
        if self._deriver is not None:
            come, go = self._deriver.marked(self._store)
            additions += come
            gone += go
        for triple in plan.inferred.additions:
            additions += [quad_of(triple, INFERRED), quad_of(triple, DEFAULT)]
        for triple in plan.inferred.removals:
            gone += [quad_of(triple, INFERRED), quad_of(triple, DEFAULT)]
        return additions, gone

    def _refuse_what_follows(self, inferred: Delta) -> None:
        """Refuse to remove what would follow all the same. Raises `ProtectedTriple`."""
        for triple in self._told_inferred:
            if triple not in inferred.removals:
                raise ProtectedTriple(triple, INFERRED)

    def _split_known(
        self, additions: tuple[Statement, ...]
    ) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
        """New statements, and those the graph already holds (which only gain support)."""
        best: dict[Triple, Statement] = {}
        for statement in additions:
            earlier = best.get(statement.triple)
            if earlier is None or (statement.confidence or 0) > (earlier.confidence or 0):
                best[statement.triple] = statement
        new: list[Statement] = []
        known: list[Statement] = []
        for triple, statement in best.items():
            held = self._view.contains(quad_of(triple, DEFAULT))
            if held and self._inferences is not None:
                # What only followed is new as a statement.
                held = not self._inferences.is_inferred(triple)
            (known if held else new).append(statement)
        return tuple(new), tuple(known)

    def _effective_removals(self, change: Change) -> frozenset[Triple]:
        added = {statement.triple for statement in change.additions}
        removals = frozenset(
            triple
            for triple in change.removals
            if triple not in added and self._view.contains(quad_of(triple, DEFAULT))
        )
        for triple in removals:
            for graph in (DERIVED, ONTOLOGY):
                if self._view.contains(quad_of(triple, graph)):
                    raise ProtectedTriple(triple, graph)
        if self._inferences is None:
            return removals
        # What only follows goes with that which it follows from, or the change is refused later.
        self._told_inferred = frozenset(t for t in removals if self._inferences.is_inferred(t))
        return removals - self._told_inferred

    def _notify(self, additions: Collection[Quad], removals: Collection[Quad]) -> None:
        added = [quad for quad in additions if quad.graph_name == DEFAULT]
        gone = [quad for quad in removals if quad.graph_name == DEFAULT]
        if added or gone:
            for observer in self._observers:
                observer.apply(added, gone)
            for watch in self._watches:
                watch.note(added, gone)

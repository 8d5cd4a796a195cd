"""Judges and commits one change: new statements, the gate's decision, the quads to add and remove."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from pyoxigraph import Quad, Triple

from sparql.model.change import (
    NOTHING,
    Change,
    Gate,
    Origin,
    Rejection,
    Selection,
    Statement,
    Verdict,
    only_asserted,
    quad_of,
    unsupported,
    withdrawn,
    withdrawn_quads,
)
from sparql.model.errors import ProtectedTriple
from sparql.model.literals import InvalidGeometry, literal_violations, sort_out
from sparql.model.source import KnownAbsent
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, INFERRED, ONTOLOGY
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.derivation import DerivedChanges, Plan
from sparql.writing.group import Group


class JudgedCommits:
    """Carries out changes on the view of `derived_changes`; for the writer, under its lock.

    `notify` receives the quads of each commit to the store itself, `flush` writes a group before something is
    read from the store.
    """

    def __init__(
        self,
        derived_changes: DerivedChanges,
        gate: Gate | None,
        invalid_geometry: InvalidGeometry,
        *,
        notify: Callable[[Collection[Quad], Collection[Quad]], None],
        flush: Callable[[Group], None],
    ) -> None:
        self._derived = derived_changes
        self.gate = gate
        self.invalid_geometry: InvalidGeometry = invalid_geometry
        self._notify = notify
        self._flush = flush
        # Requested removals of derived statements: these are only removed with what they follow from.
        self._requested_inferred: frozenset[Triple] = frozenset()
        self._requested_derived: frozenset[Triple] = frozenset()

    def commit(self, change: Change) -> Verdict:
        """Judge a change on the view and commit the conforming part. Raises `ProtectedTriple`."""
        self._derived.view.prefetch([*(one.triple for one in change.additions), *change.removals])
        self._requested_inferred = self._requested_derived = frozenset()
        if self._derived.inferences is not None:
            self._derived.leaving = withdrawn(change)
        additions, known = self._split_known(change.additions)
        only_states = change.only_states
        removals = frozenset[Triple]()
        if not only_states:
            removals = self._effective_removals(change) | unsupported(self._derived.view, change)
        sound, malformed, repaired = sort_out(additions, self.invalid_geometry)
        if malformed and not change.partial:
            return self._finish(change, (), tuple(malformed), (), removals=frozenset(), known=())
        selection, replaced = self._judge_replacements(sound, removals, change)
        accepted, rejected, warnings = selection
        if (
            only_states
            and not (malformed or repaired or rejected or warnings)
            and not self._derived.may_follow(change)
        ):
            return self._state(change, accepted, known)
        removals |= {old for _, old in replaced}
        warnings = (*warnings, *(one for one in repaired if one.statement in accepted))
        refused = (*change.refused, *malformed, *rejected)
        if refused and not change.partial:
            accepted, removals, known = (), frozenset(), ()
        removals -= {rejection.statement.triple for rejection in rejected}
        return self._finish(
            change, accepted, refused, warnings, removals=removals, known=known, replaced=replaced
        )

    def insert_without_validation(self, change: Change, group: Group) -> Verdict | None:
        """Commit a change to the group that needs no judging; None if it is no such change.

        Its statements are new, no shape concerns them and nothing follows from them. The complete path would
        have the same result, but dominates the cost of a stream of small updates.
        """
        if not (change.additions and change.only_states):
            return None
        derives_from = None if self._derived.deriver is None else self._derived.deriver.derives_from
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
        verdict = Verdict.of_stated(change.additions, group.next_revision)
        recorded = [] if change.record is None else [*change.record(verdict)]
        if change.retract is not None and [*change.retract(verdict)]:
            return None
        if recorded:
            group.commit([*quads, *recorded], origin=change.origin)
        else:
            group.add_new(quads, origin=change.origin)
        return verdict

    def stands_alone(self, change: Change) -> bool:
        """Whether it must be written at once: it creates or drops graphs, or changes the geometry index."""
        if change.graphs_created or change.graphs_dropped:
            return True
        derives_from = None if self._derived.deriver is None else self._derived.deriver.derives_from
        return derives_from is not None and (
            any(derives_from(one.triple) for one in change.additions)
            or any(derives_from(triple) for triple in change.removals)
        )

    def _judge_replacements(
        self, additions: tuple[Statement, ...], removals: frozenset[Triple], change: Change
    ) -> tuple[Selection, frozenset[tuple[Triple, Triple]]]:
        """What is selected, and which replacements take place: what is refused leaves the old triple."""
        contains = self._derived.view.contains
        replaced = frozenset(pair for pair in change.replaces if contains(quad_of(pair[1], DEFAULT)))
        while True:
            selection = self._judge(additions, removals | {old for _, old in replaced}, change)
            accepted = {statement.triple for statement in selection.accepted}
            kept = frozenset(pair for pair in replaced if pair[0] in accepted)
            if kept == replaced:
                return selection, kept
            self._derived.forget()
            replaced = kept

    def _judge(
        self, additions: tuple[Statement, ...], removals: frozenset[Triple], change: Change
    ) -> Selection:
        if self.gate is None or change.judged or not (additions or removals):
            return Selection(additions)
        self._derived.before = before = KnownAbsent(self._derived.view)
        return self.gate.select(
            before,
            additions,
            removals,
            self._derived.derive,
            partial=change.partial,
            source=change.source or str(change.origin),
        )

    def _finish(
        self,
        change: Change,
        accepted: tuple[Statement, ...],
        rejected: tuple[Rejection, ...],
        warnings: tuple[Rejection, ...],
        *,
        removals: frozenset[Triple],
        known: tuple[Statement, ...],
        replaced: frozenset[tuple[Triple, Triple]] = frozenset(),
    ) -> Verdict:
        refused_whole = bool(rejected) and not change.partial
        added = [statement.triple for statement in accepted]
        plan = self._derived.plan(added, removals)
        accepted_triples = {statement.triple for statement in (*accepted, *known)}
        doubts = tuple(one for one in change.doubts if one.statement.triple in accepted_triples)
        verdict = Verdict(
            (*accepted, *known),
            rejected,
            (*warnings, *doubts),
            plan.derived,
            plan.inferred,
            replaced=replaced,
        )
        if not refused_whole and (added or removals or not rejected):
            self._refuse_what_follows(plan, removals)
        if change.dry_run:
            return verdict
        additions, removed = self._quads(change.origin, accepted, known, removals, plan)
        if not refused_whole:
            additions += change.graph_additions
            removed += self._there(change.graph_removals)
            removed += withdrawn_quads(self._derived.view, change, plan.derived)
        if change.record is not None:
            if isinstance(self._derived.view, Group) and (
                verdict.warnings or (verdict.rejected and change.partial)
            ):
                # The record may depend on earlier records, which it reads from the store.
                self._flush(self._derived.view)
            additions += change.record(verdict)
        if change.retract is not None:
            removed += (quad for quad in change.retract(verdict) if self._derived.view.contains(quad))
        if self._derived.inferences is not None:
            # A statement that is no longer asserted but still follows stays.
            kept = set(additions)
            removed = [quad for quad in removed if quad not in kept]
        created, dropped = change.graphs_created, change.graphs_dropped
        if refused_whole:
            created = dropped = frozenset()
        revision = None
        if additions or removed or created or dropped:
            revision = self._derived.view.commit(
                additions, removed, origin=change.origin, graphs_created=created, graphs_dropped=dropped
            )
        self._derived.keep()
        if not isinstance(self._derived.view, Group):
            self._notify(additions, removed)
        return replace(verdict, revision=revision)

    def _state(
        self, change: Change, accepted: tuple[Statement, ...], known: tuple[Statement, ...]
    ) -> Verdict:
        """Like `_finish`, for a change that only adds statements and has nothing else to report."""
        additions = [statement.quad for statement in accepted]
        additions += [
            quad_of(one.triple, ASSERTED)
            for one in known
            if not only_asserted(self._derived.view, one.triple, self._derived.origins)
        ]
        removed: list[Quad] = []
        accepted_and_known = (*accepted, *known)
        if change.record is not None or change.retract is not None:
            verdict = Verdict(accepted_and_known, (), (), NOTHING, NOTHING)
            if change.record is not None:
                additions += change.record(verdict)
            if change.retract is not None:
                removed += (quad for quad in change.retract(verdict) if self._derived.view.contains(quad))
        revision = None
        if additions or removed:
            revision = self._derived.view.commit(additions, removed, origin=change.origin)
            if not isinstance(self._derived.view, Group):
                self._notify(additions, removed)
        return Verdict(accepted_and_known, (), (), NOTHING, NOTHING, revision)

    def _there(self, quads: Collection[Quad]) -> Iterable[Quad]:
        """The quads that exist, where checking is cheap: what follows from a text may not exist."""
        if not isinstance(self._derived.store, EmbeddedStore):
            return quads
        return (quad for quad in quads if self._derived.view.contains(quad))

    def _quads(
        self,
        origin: Origin,
        accepted: Sequence[Statement],
        known: Sequence[Statement],
        removals: frozenset[Triple],
        plan: Plan,
    ) -> tuple[list[Quad], list[Quad]]:
        self._derived.view.prefetch([*plan.derived.additions, *plan.derived.removals])
        additions = [statement.quad for statement in accepted]
        added = [statement.triple for statement in accepted]
        if origin is Origin.EXTRACTED:
            additions += [quad_of(triple, EXTRACTED) for triple in added]
            for triple in (statement.triple for statement in known):
                additions += (
                    [quad_of(triple, ASSERTED)]
                    if only_asserted(self._derived.view, triple, self._derived.origins)
                    else []
                )
                additions.append(quad_of(triple, EXTRACTED))
        else:
            for triple in (statement.triple for statement in known):
                if not only_asserted(self._derived.view, triple, self._derived.origins):
                    additions.append(quad_of(triple, ASSERTED))
        # A triple stated in the same change that derives it counts as stated.
        stated = frozenset(added) if origin is Origin.ASSERTED else frozenset[Triple]()
        removed = [quad_of(triple, graph) for triple in removals for graph in (DEFAULT, ASSERTED, EXTRACTED)]
        following_added, following_removed = self._derived.followed(plan, stated)
        return additions + following_added, [
            quad for quad in (*removed, *following_removed) if self._derived.view.contains(quad)
        ]

    def _refuse_what_follows(self, plan: Plan, removals: frozenset[Triple]) -> None:
        """Refuse to remove what would still follow. Raises `ProtectedTriple`.

        A relation of a feature that gets another geometry in the same change may be derived again.
        """
        for triple in self._requested_inferred:
            if triple not in plan.inferred.removals:
                raise ProtectedTriple(triple, INFERRED)
        left = self._requested_derived - plan.derived.removals
        if not left:
            return
        deriver = self._derived.deriver
        moved = {t.subject for t in removals if deriver is not None and deriver.derives_from(t)}
        for triple in left:
            if not moved & {triple.subject, triple.object}:
                raise ProtectedTriple(triple, DERIVED)

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
        contains = self._derived.view.contains
        for triple, statement in best.items():
            held = contains(statement.quad)
            if held and self._derived.inferences is not None:
                # An inference that is now stated is new as a statement.
                held = not self._derived.inferences.is_inferred(triple)
            (known if held else new).append(statement)
        return tuple(new), tuple(known)

    def _effective_removals(self, change: Change) -> frozenset[Triple]:
        added = {statement.triple for statement in change.additions}
        removals = frozenset(
            triple
            for triple in change.removals
            if triple not in added and self._derived.view.contains(quad_of(triple, DEFAULT))
        )
        # An inference is removed with its premises, or the change is refused later.
        self._requested_derived = frozenset(t for t in removals if self._only_derived(t))
        removals -= self._requested_derived
        if self._derived.inferences is None:
            return removals
        self._requested_inferred = frozenset(t for t in removals if self._derived.inferences.is_inferred(t))
        return removals - self._requested_inferred

    def _only_derived(self, triple: Triple) -> bool:
        """Whether a triple is a merely derived relation. Raises `ProtectedTriple` for what must stay."""
        contains = self._derived.view.contains
        if contains(quad_of(triple, ONTOLOGY)):
            raise ProtectedTriple(triple, ONTOLOGY)
        if not contains(quad_of(triple, DERIVED)):
            return False
        if any(contains(quad_of(triple, graph)) for graph in (ASSERTED, EXTRACTED)):
            raise ProtectedTriple(triple, DERIVED)
        return True

"""What follows from a change: relations of geometries, inferences by axioms, and their quads."""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain

from pyoxigraph import NamedNode, Quad, Triple

from sparql.inference.materialized import Inferences, inferred_quads, kept_in
from sparql.model.change import Change, Delta, Deriver, is_supported, only_asserted, quad_of
from sparql.model.source import KnownAbsent
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, INFERRED, ONTOLOGY
from sparql.writing.group import Group

ORIGINS = (EXTRACTED, DERIVED, ONTOLOGY, ASSERTED)


@dataclass(frozen=True)
class Plan:
    """What follows from a change: relations of geometries, inferences by axioms, and both together.

    `memberships`, in classes without a name, are kept beside the graph.
    """

    derived: Delta = field(default_factory=Delta)
    inferred: Delta = field(default_factory=Delta)
    whole: Delta = field(default_factory=Delta)
    memberships: Delta = field(default_factory=Delta)


class DerivedChanges:
    """Works out what follows from a change; for the writer, under its lock.

    `view` is what a change is judged on and committed to: the store, or the group of pending commits.
    `origins` are the graphs that may record the origin of a triple. `leaving` are triples that no text
    supports after the current change, `before` is the view as the gate read it for that. There is one plan at
    a time, until it is kept or discarded.
    """

    def __init__(self, store: TripleStore, deriver: Deriver | None, inferences: Inferences | None) -> None:
        self.store = store
        self.view: TripleStore | Group = store
        self.deriver = deriver
        self.inferences = inferences
        # Until the start has checked, there may be inferences of an earlier server.
        self.origins: tuple[NamedNode, ...] = (*ORIGINS, INFERRED)
        self.leaving: frozenset[Triple] = frozenset()
        self.before: KnownAbsent | None = None
        self._planned: tuple[tuple[frozenset[Triple], frozenset[Triple]], Plan] | None = None

    def derive(self, added: Collection[Triple], removed: Collection[Triple]) -> Delta:
        """What is derived from this change; the plan is reused for the same change.

        For the writer and for code that builds a change under its lock (`Writer.commit_built`).
        """
        return self.plan(added, removed).whole

    def plan(self, added: Collection[Triple], removed: Collection[Triple]) -> Plan:
        """What follows from these additions and removals."""
        if self.deriver is None and self.inferences is None:
            return Plan()
        if self.deriver is not None and self.inferences is None:
            # Only these affect what is derived, so a plan stays valid when the gate removes other statements.
            derives_from = self.deriver.derives_from
            added, removed = [*filter(derives_from, added)], [*filter(derives_from, removed)]
        wanted = (frozenset(added), frozenset(removed))
        if self._planned is None or self._planned[0] != wanted:
            self._forget_plan()
            self._planned = (wanted, self._planned_anew(*wanted))
        return self._planned[1]

    def plan_relations(self, added: frozenset[Triple], removed: frozenset[Triple]) -> Plan:
        """The same without inferences, for a change after which everything is inferred again."""
        self._forget_plan()
        derived = self._derived(added, removed - added)
        plan = Plan(derived, whole=derived)
        self._planned = ((added, removed), plan)
        return plan

    def _planned_anew(self, added: frozenset[Triple], removed: frozenset[Triple]) -> Plan:
        if self.inferences is None:
            derived = self._derived(added, removed)
            return Plan(derived, whole=derived)
        inferred = self.inferences.plan(added, removed - added)
        all_added = added | _visible(inferred.additions)
        derived = self._derived(all_added, (removed | _visible(inferred.removals)) - all_added)
        if derived.additions or derived.removals:
            # Axioms may concern relations. Geometries inferred from relations are not considered.
            all_added = added | derived.additions
            loose = frozenset(triple for triple in derived.removals if not self._stays(triple))
            inferred = self.inferences.plan(all_added, (removed | loose) - all_added)
        seen = Delta(_visible(inferred.additions), _visible(inferred.removals))
        all_added = derived.additions | seen.additions
        whole = Delta(all_added, (derived.removals | seen.removals) - all_added)
        unseen = Delta(inferred.additions - seen.additions, inferred.removals - seen.removals)
        return Plan(derived, seen, whole, unseen)

    def _derived(self, added: frozenset[Triple], removed: frozenset[Triple]) -> Delta:
        deriver = self.deriver
        if deriver is None or not any(map(deriver.derives_from, chain(added, removed))):
            return Delta()
        return deriver.plan(self.before or self.view, self.view.named(DERIVED), added, removed)

    def _stays(self, triple: Triple) -> bool:
        """Whether a triple is stated by origins other than derivation, after the current change."""
        origins = (ASSERTED, ONTOLOGY) if triple in self.leaving else (ASSERTED, ONTOLOGY, EXTRACTED)
        return any(self.view.contains(quad_of(triple, graph)) for graph in origins)

    def _was_asserted(self, triple: Triple) -> bool:
        """Whether it existed before the change, and only because it was asserted."""
        if self.before is not None and self.before.lacks(triple):
            return False
        return only_asserted(self.view, triple, self.origins)

    def is_stated(self, triple: Triple) -> bool:
        """Whether the graph holds it, and not only as an inference."""
        return self.view.contains(quad_of(triple, DEFAULT)) and not (
            self.inferences is not None and self.inferences.is_inferred(triple)
        )

    def forget(self) -> None:
        """The change is over; discard its plan, if there is one."""
        self._forget_plan()
        self.before = None

    def _forget_plan(self) -> None:
        if self._planned is not None and self.deriver is not None:
            self.deriver.undo()
        self._planned = None

    def keep(self) -> None:
        """The plan was committed."""
        if self.deriver is not None:
            self.deriver.keep()
        self._planned = self.before = None

    def may_follow(self, change: Change) -> bool:
        """Whether anything may follow from the statements of a change."""
        if self.inferences is not None:
            return True
        derives_from = None if self.deriver is None else self.deriver.derives_from
        return derives_from is not None and any(derives_from(one.triple) for one in change.additions)

    def followed(self, plan: Plan, stated: frozenset[Triple]) -> tuple[list[Quad], list[Quad]]:
        """The quads to add and remove with what follows from a change; `stated` was added with it."""
        additions: list[Quad] = []
        removals: list[Quad] = []
        for triple in plan.derived.additions:
            if triple in stated or self._was_asserted(triple):
                additions.append(quad_of(triple, ASSERTED))
            additions += [quad_of(triple, DERIVED), quad_of(triple, DEFAULT)]
        for triple in plan.derived.removals:
            removals.append(quad_of(triple, DERIVED))
            if not is_supported(self.view, triple, besides=DERIVED):
                removals.append(quad_of(triple, DEFAULT))
        if self.deriver is not None:
            added_marks, removed_marks = self.deriver.marked(self.store)
            additions += added_marks
            removals += removed_marks
        for one in (plan.inferred, plan.memberships):
            additions += [quad for triple in one.additions for quad in inferred_quads(triple)]
            removals += [quad for triple in one.removals for quad in inferred_quads(triple)]
        return additions, removals


def _visible(triples: frozenset[Triple]) -> frozenset[Triple]:
    """Those of the inferences that are in the default graph."""
    return frozenset(triple for triple in triples if kept_in(triple) == INFERRED)

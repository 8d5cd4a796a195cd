"""What follows from a change and from the whole graph: relations of geometries, inferences, their quads."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain

from pyoxigraph import NamedNode, Quad, RdfFormat, Triple, serialize

from sparql.inference.materialized import (
    STALE,
    Inferences,
    disown_stated,
    forget,
    inferred_quads,
    kept_in,
    log_progress,
    mark,
    remove_all,
)
from sparql.model.change import Change, Delta, Deriver, is_supported, only_asserted, quad_of
from sparql.model.errors import InferenceTooLarge
from sparql.model.geometry import marks
from sparql.model.source import KnownAbsent
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, INFERRED, ONTOLOGY, REPLACED
from sparql.storage.embedded_store import EmbeddedStore
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


@dataclass(frozen=True)
class Substitution:
    """What the commit of an ontology changes in statements, in quads of all graphs; nothing of it is judged.

    `statements` are how many it changes.
    """

    additions: tuple[Quad, ...] = ()
    removals: tuple[Quad, ...] = ()
    statements: int = 0

    @property
    def put(self) -> frozenset[Triple]:
        """The triples that it adds to the default graph."""
        return frozenset(quad.triple for quad in self.additions if quad.graph_name == DEFAULT)

    @property
    def taken(self) -> frozenset[Triple]:
        """The triples that it removes from the default graph."""
        return frozenset(quad.triple for quad in self.removals if quad.graph_name == DEFAULT)


class OntologyGraph:
    """For the writer, under its lock."""

    def __init__(self, derived_changes: DerivedChanges) -> None:
        self._derived = derived_changes

    def replace(
        self, triples: Collection[Triple], record: Collection[Quad], swap: Substitution
    ) -> tuple[int, list[Quad], list[Quad]] | None:
        """Commit exactly these triples, with a record and what changes in statements.

        Returns the revision, the additions and the removals.
        """
        extra = (*record, *swap.additions, *swap.removals)
        if not extra and self._holds(triples):
            return None
        stored = {quad.triple for quad in self._derived.store.match_quads(None, None, None, ONTOLOGY)}
        new = set(triples)
        added, removed = new - stored, stored - new
        if not added and not removed and not extra:
            return None
        self._derived.store.prefetch([*added, *removed])
        orphans = [t for t in removed if not is_supported(self._derived.view, t, besides=ONTOLOGY)]
        additions = [quad_of(t, ONTOLOGY) for t in added]
        additions += [
            quad_of(t, ASSERTED) for t in added if only_asserted(self._derived.view, t, self._derived.origins)
        ]
        additions += [quad_of(t, DEFAULT) for t in added]
        additions += swap.additions
        removals = [quad_of(t, ONTOLOGY) for t in removed] + [quad_of(t, DEFAULT) for t in orphans]
        removals += swap.removals
        inferring = self._derived.inferences is not None or mark(self._derived.store) is not None
        if inferring or swap.put or swap.taken:
            followed_added, followed_removed = self._follow(frozenset(added), frozenset(orphans), swap)
            additions += followed_added
            removals += followed_removed
        kept = {*additions}
        removals = [quad for quad in removals if quad not in kept]
        revision = self._derived.store.commit([*additions, *record], removals, origin="ontology")
        self._derived.keep()
        return revision, additions, removals

    def _holds(self, triples: Collection[Triple]) -> bool:
        """Whether it holds exactly these triples; compared as text, which takes half of the time."""
        store = self._derived.store
        if not isinstance(store, EmbeddedStore):
            return False
        stored = store.graph.dump(format=RdfFormat.N_TRIPLES, from_graph=ONTOLOGY)
        new = serialize(triples, format=RdfFormat.N_TRIPLES)
        assert stored is not None
        assert new is not None
        return {*stored.split(b"\n")} == {*new.split(b"\n")}

    def _follow(
        self, added: frozenset[Triple], orphans: frozenset[Triple], swap: Substitution
    ) -> tuple[list[Quad], list[Quad]]:
        """The quads to add and remove with what follows from a changed ontology and changed statements.

        If too much is inferred to work it out while others wait, or inference is off, the inferences are
        marked as stale; relations of geometries are always worked out.
        """
        derived = self._derived
        derived.leaving = swap.taken
        new = frozenset(t for t in (*added, *swap.put) if not derived.is_stated(t))
        gone = orphans | swap.taken
        if derived.inferences is not None and derived.inferences.complete:
            try:
                return derived.followed(derived.plan(new, gone), stated=swap.put)
            except InferenceTooLarge:
                derived.forget()
        additions, removals = derived.followed(derived.plan_relations(swap.put, swap.taken), stated=swap.put)
        # What is stated now is no longer only inferred, or it would be removed with the inferences.
        removals += [q for t in swap.put if derived.view.contains(q := quad_of(t, INFERRED))]
        marked = mark(derived.store)
        if derived.inferences is None and marked is None:
            return additions, removals
        return [*additions, STALE], [*removals, *([] if marked in (None, STALE) else [marked])]


class Rederivation:
    """Derives and infers again; for the writer, under its lock.

    `on_inference` receives, during complete inference, the numbers of triples followed and inferred so far.
    """

    def __init__(self, derived_changes: DerivedChanges) -> None:
        self._derived = derived_changes
        self.on_inference: Callable[[int, int], None] = log_progress

    def finish_bulk(self, *, grown: bool = False) -> int:
        """Derive from the whole graph and commit the end of the bulk load; the new revision.

        `grown` means that the inferences were complete, and statements have only been added since.
        """
        if self._remove_replaced():
            grown = False
        removals = self._derive_whole()
        if self._derived.inferences is not None or mark(self._derived.store) is not None:
            if removals:
                self._derived.store.commit((), removals, origin="derived")
            inferences = self._derived.inferences
            keep = grown and not removals and (inferences is None or inferences.only_grow)
            self._infer_whole(keep=keep)
            removals = []
        return self._derived.store.end_bulk(removals)

    def _remove_replaced(self) -> bool:
        """Remove what the load replaces, except what the ontology states; whether there was anything."""
        store = self._derived.store
        recorded = list(store.match_quads(None, None, None, REPLACED))
        stated = (DEFAULT, ASSERTED, EXTRACTED)
        removals = [
            quad
            for one in recorded
            if not store.contains(quad_of(one.triple, ONTOLOGY))
            for quad in (quad_of(one.triple, graph) for graph in stated)
            if store.contains(quad)
        ]
        if recorded:
            store.commit((), [*removals, *recorded], origin="load")
        return bool(recorded)

    def _derive_whole(self) -> list[Quad]:
        """Add everything that is derived from the graph and missing; the quads to remove."""
        if self._derived.deriver is None:
            return marks(self._derived.store)
        derived = self._derived.deriver.catch_up(self._derived.store, self._derived.store.named(DERIVED))
        added_marks, removed_marks = self._derived.deriver.marked(self._derived.store, whole=True)
        self._derived.store.bulk_add(
            chain(added_marks, (quad for t in derived.additions for quad in self.derived_quads(t)))
        )
        return removed_marks + self.underived_quads(derived.removals)

    def derived_quads(self, triple: Triple) -> list[Quad]:
        """The quads to add for a derived triple."""
        stated = (
            [quad_of(triple, ASSERTED)]
            if only_asserted(self._derived.view, triple, self._derived.origins)
            else []
        )
        return [*stated, quad_of(triple, DERIVED), quad_of(triple, DEFAULT)]

    def underived_quads(self, triples: Collection[Triple]) -> list[Quad]:
        """The quads to remove for triples that are no longer derived."""
        removals = [quad_of(triple, DERIVED) for triple in triples]
        return removals + [
            quad_of(t, DEFAULT) for t in triples if not is_supported(self._derived.view, t, besides=DERIVED)
        ]

    def settle(self) -> bool:
        """Infer again where that is wanted and not done, or remove unwanted inferences; whether it did
        anything.
        """
        found = mark(self._derived.store)
        if found == (None if self._derived.inferences is None else self._derived.inferences.mark):
            self._derived.origins = ORIGINS if self._derived.inferences is None else (*ORIGINS, INFERRED)
            return False
        self._derived.store.begin_bulk()
        self._derived.store.settle()
        self._infer_whole(keep=False)
        self._derived.store.end_bulk()
        return True

    def _infer_whole(self, *, keep: bool) -> None:
        """Replace the inferences by what follows from all statements; `keep` the existing ones."""
        geometries = self._infers_geometries()
        if keep:
            disown_stated(self._derived.store)
        else:
            forget(self._derived.store)
            remove_all(self._derived.store)
        if self._derived.inferences is not None:
            self._derived.inferences.infer_all(self.on_inference)
            geometries = geometries or self._infers_geometries()
        if geometries:
            # Relations depend on them, and axioms may concern relations.
            self._derived.store.commit((), self._derive_whole(), origin="derived")
            if self._derived.inferences is not None:
                self._derived.inferences.infer_all(self.on_inference)
        inferences = self._derived.inferences
        self._derived.store.commit([] if inferences is None else [inferences.mark], [STALE])
        self._derived.origins = ORIGINS if self._derived.inferences is None else (*ORIGINS, INFERRED)

    def _infers_geometries(self) -> bool:
        """Whether any triple that relations are derived from is only inferred."""
        deriver = self._derived.deriver
        inferred = self._derived.store.match_quads(None, None, None, INFERRED)
        return deriver is not None and any(deriver.derives_from(quad.triple) for quad in inferred)

    def bulk(self, add: Callable[[], None]) -> int:
        """Add quads by the bulk loader, all or none, and derive what follows from them; the new revision."""
        inferences = self._derived.inferences
        complete = inferences.mark if inferences is not None and inferences.complete else None
        forget(self._derived.store)
        self._derived.store.begin_bulk()
        self._derived.store.settle()
        try:
            add()
        except BaseException:
            # Nothing was added, so nothing follows from it.
            self._derived.store.end_bulk([STALE] if complete is not None else ())
            if complete is not None:
                self._derived.store.commit([complete])
            raise
        return self.finish_bulk(grown=complete is not None)

    def replace_derived(
        self,
        additions: Iterable[Collection[Triple]],
        removals: Iterable[Collection[Triple]],
        changed_marks: tuple[Collection[Quad], Collection[Quad]],
    ) -> int:
        """Add and remove derived triples, given in portions; the new revision."""
        begun = self._derived.store.bulk_pending
        self._derived.store.begin_bulk()
        self._derived.store.settle()
        try:
            for portion in additions:
                self._derived.store.bulk_add(
                    quad for triple in portion for quad in self.derived_quads(triple)
                )
                begun = True
        except BaseException:
            if not begun:
                # Nothing was added; else the mark stays, since the relations are neither old nor new.
                self._derived.store.end_bulk()
            raise
        for portion in removals:
            self._derived.store.commit((), self.underived_quads(portion), origin="derived")
            self._derived.store.local.write_out()
        forget(self._derived.store)
        added_marks, removed_marks = changed_marks
        if added_marks:
            self._derived.store.commit(added_marks)
        return self._derived.store.end_bulk(removed_marks)

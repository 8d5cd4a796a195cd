"""Derives everything that follows from the whole graph again: after bulk loads and at the start."""

from collections.abc import Callable, Collection, Iterable
from itertools import chain

from pyoxigraph import Quad, Triple

from sparql.inference.materialized import STALE, disown_stated, forget, log_progress, mark, remove_all
from sparql.model.change import is_supported, only_asserted, quad_of
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, INFERRED, ONTOLOGY, REPLACED
from sparql.spatial.relation_basis import marks
from sparql.writing.derived_changes import ORIGINS, DerivedChanges


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

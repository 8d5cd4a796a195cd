"""The graph that holds the ontology, and what follows from changes of its axioms."""

from collections.abc import Collection

from pyoxigraph import Quad, RdfFormat, Triple, serialize

from sparql.inference.materialized import COMPLETE, STALE, mark
from sparql.model.errors import InferenceTooLarge
from sparql.model.support import is_supported, only_asserted, quad_of
from sparql.model.vocabulary import ASSERTED, DEFAULT, ONTOLOGY
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.derived_changes import DerivedChanges


class OntologyGraph:
    """For the writer, under its lock."""

    def __init__(self, derived_changes: DerivedChanges) -> None:
        self._derived = derived_changes

    def replace(
        self, triples: Collection[Triple], record: Collection[Quad]
    ) -> tuple[int, list[Quad], list[Quad]] | None:
        """Commit exactly these triples, with a record; the revision, the additions and the removals."""
        if not record and self._holds(triples):
            return None
        stored = {quad.triple for quad in self._derived.store.match_quads(None, None, None, ONTOLOGY)}
        new = set(triples)
        added, removed = new - stored, stored - new
        if not added and not removed and not record:
            return None
        self._derived.store.prefetch([*added, *removed])
        orphans = [t for t in removed if not is_supported(self._derived.view, t, besides=ONTOLOGY)]
        additions = [quad_of(t, ONTOLOGY) for t in added]
        additions += [
            quad_of(t, ASSERTED) for t in added if only_asserted(self._derived.view, t, self._derived.origins)
        ]
        additions += [quad_of(t, DEFAULT) for t in added]
        removals = [quad_of(t, ONTOLOGY) for t in removed] + [quad_of(t, DEFAULT) for t in orphans]
        if self._derived.inferences is not None or mark(self._derived.store) is not None:
            inferred_added, inferred_removed = self._follow_ontology(frozenset(added), frozenset(orphans))
            additions += inferred_added
            removals = [quad for quad in (*removals, *inferred_removed) if quad not in {*additions}]
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

    def _follow_ontology(
        self, added: frozenset[Triple], orphans: frozenset[Triple]
    ) -> tuple[list[Quad], list[Quad]]:
        """The quads to add and remove with the inferences from a changed ontology.

        If too much follows to work it out while others wait, or inference is off, the inferences are marked
        as stale.
        """
        self._derived.leaving = frozenset()
        try:
            if self._derived.inferences is not None and self._derived.inferences.complete:
                new = frozenset(t for t in added if not self._derived.is_stated(t))
                return self._derived.followed(self._derived.plan(new, orphans), stated=frozenset())
        except InferenceTooLarge:
            self._derived.forget()
        return [STALE], [COMPLETE]

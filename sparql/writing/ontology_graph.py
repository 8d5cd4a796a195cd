"""The graph that holds the ontology, and what follows from changes of its axioms."""

from collections.abc import Collection
from dataclasses import dataclass

from pyoxigraph import Quad, RdfFormat, Triple, serialize

from sparql.inference.materialized import STALE, mark
from sparql.model.change import is_supported, only_asserted, quad_of
from sparql.model.errors import InferenceTooLarge
from sparql.model.vocabulary import ASSERTED, DEFAULT, INFERRED, ONTOLOGY
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.derived_changes import DerivedChanges


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

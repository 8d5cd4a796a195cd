"""Merges two entities that are one, in one commit, and can split them again exactly.

A merge rewrites every statement about the other entity to the kept one: in the graph, through the gate, and
in the records of origin, the evidence and the review queue. What it deleted and added is stored with the
merge, so that a split can restore the former state.
"""

from collections.abc import Callable

from pyoxigraph import NamedNode, Quad

from curation.merging.entity_merge import EntityMerge
from curation.merging.entity_split import EntitySplit
from curation.merging.merge_record import Merge, Merged, MergeRecords
from curation.review.review_queue import ReviewQueue
from curation.review.reviewer import Reviewer
from shapes.errors import EntityUnknown, MergeRefused
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import ONTOLOGY
from sparql.writing.writer import Writer

Obstacle = Callable[[NamedNode, NamedNode], str | None]
"""Why two entities cannot be one, as text; None when they can."""
Written = Callable[[NamedNode], str]
"""An IRI as messages show it: in Turtle."""


class Merging:
    """Merges and splits entities; every call is one commit."""

    def __init__(
        self,
        store: TripleStore,
        writer: Writer,
        review: ReviewQueue,
        *,
        obstacle: Obstacle,
        written: Written = str,
    ) -> None:
        self._store = store
        self._writer = writer
        self._review = review
        self._obstacle = obstacle
        self._written = written
        self._records = MergeRecords(store)

    def merge(
        self,
        keep: NamedNode,
        other: NamedNode,
        by: Reviewer,
        *,
        reason: str | None = None,
        drop_conflicts: bool = False,
    ) -> Merged:
        """Make two entities one. If statements of the other do not conform, the merge is refused, or with
        `drop_conflicts` they are left out.

        Raises `EntityUnknown`, and `MergeRefused` where classes, distance or owl:differentFrom forbid it.
        """
        act = self._merge(keep, other, by, reason, partial=drop_conflicts)
        return act.outcome(self._writer.commit_built(act.build))

    def split(self, merge: NamedNode, by: Reviewer, *, reason: str | None = None) -> Merged:
        """Undo a merge: each entity has what it had before. Later statements stay where they are.

        Raises `MergeUnknown` and `MergeSettled`.
        """

        def rewriting(merge: Merge) -> Callable[[Quad], Quad]:
            return self._merge(merge.kept, merge.merged, by, None).rewritten

        act = EntitySplit(self._store, merge, by, reason, rewriting=rewriting, written=self._written)
        return act.outcome(self._writer.commit_built(act.build))

    def all(self) -> list[Merge]:
        """Every merge, newest first."""
        return self._records.all()

    def get(self, iri: NamedNode) -> Merge:
        """One merge. Raises `MergeUnknown`."""
        return self._records.get(iri)

    def check(self, keep: NamedNode, other: NamedNode) -> None:
        """Raises `EntityUnknown` and `MergeRefused`."""
        named = self._written(keep), self._written(other)
        for iri in (keep, other):
            if not any(True for _ in self._store.match(iri, None, None)):
                raise EntityUnknown(self._written(iri))
            if any(True for _ in self._store.match_quads(iri, None, None, ONTOLOGY)):
                raise MergeRefused(*named, f"{self._written(iri)} is a term of the ontology")
        if keep == other:
            raise MergeRefused(*named, "they are the same IRI")
        reason = self._obstacle(keep, other)
        if reason is not None:
            raise MergeRefused(*named, reason)

    def _merge(
        self, keep: NamedNode, other: NamedNode, by: Reviewer, reason: str | None, *, partial: bool = False
    ) -> EntityMerge:
        return EntityMerge(
            self._store, self._review, keep, other, by, reason, partial=partial, check=self.check
        )

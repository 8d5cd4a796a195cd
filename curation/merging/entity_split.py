"""Undoes a merge: each entity has what it had before, and later statements stay where they are."""

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, Quad

from curation.merging.merge_record import Merge, Merged, MergeRecords, said
from curation.review.reviewer import Reviewer, agent_quads
from shapes.errors import MergeSettled
from sparql.model.change import Change, Statement, Verdict
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DEFAULT, EXTRACTED, PROV, RDF, RDFS, RECORD, UKG, XSD
from sparql.provenance.evidence import EvidenceReader, Piece


class EntitySplit:
    """One split in progress.

    `rewriting` gives, for a merge, the function from a quad to the one that replaced it.
    """

    def __init__(
        self,
        store: TripleStore,
        merge: NamedNode,
        by: Reviewer,
        reason: str | None,
        *,
        rewriting: Callable[[Merge], Callable[[Quad], Quad]],
        written: Callable[[NamedNode], str],
    ) -> None:
        self._store = store
        self._records = MergeRecords(store)
        self._evidence = EvidenceReader(store)
        self._rewriting = rewriting
        self._written = written
        self._merge = merge
        self._by = by
        self._reason = reason
        self._iri = RECORD.term("split/" + uuid.uuid4().hex)
        self._back: list[Quad] = []
        self._away: list[Quad] = []
        self._count = 0

    def build(self) -> Change:
        """Called under the writer's lock."""
        merge = self._records.get(self._merge)
        name = merge.identifier
        if merge.split is not None:
            raise MergeSettled(name, f"it was split at {merge.split}")
        for later in self._records.all():
            if later.split is None and later.at > merge.at and later.merged in (merge.kept, merge.merged):
                merged = self._written(later.merged)
                raise MergeSettled(name, f"{merged} was merged since; split that first")
        took, put, left = (self._records.quads(self._merge, part) for part in (UKG.took, UKG.put, UKG.left))
        # Statements deleted since the merge (because a document was removed, say) stay deleted.
        rewritten = self._rewriting(merge)
        alive = [quad for quad in took if self._store.contains(rewritten(quad))]
        alive += left
        self._back = [quad for quad in alive if not self._store.contains(quad)]
        self._away = [quad for quad in put if self._store.contains(quad) and not self._is_needed(quad, put)]
        additions = [quad.triple for quad in self._back if quad.graph_name == DEFAULT]
        removals = [quad.triple for quad in self._away if quad.graph_name == DEFAULT]
        self._count = len(additions)
        return Change(
            additions=tuple(Statement(triple) for triple in additions),
            removals=frozenset(removals),
            record=self._record,
            retract=self._retract,
        )

    def outcome(self, verdict: Verdict) -> Merged:
        """The outcome to report."""
        refused = bool(verdict.rejected)
        return Merged(
            None if refused else self._merge,
            0 if refused else self._count,
            (),
            verdict.rejected,
            verdict.revision,
        )

    def _record(self, verdict: Verdict) -> Iterator[Quad]:
        if verdict.rejected:
            return
        yield from (quad for quad in self._back if quad.graph_name != DEFAULT)
        now = Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
        yield said(self._iri, RDF.type, PROV.Activity)
        yield said(self._iri, RDF.type, UKG.Split)
        yield said(self._iri, PROV.used, self._merge)
        yield said(self._iri, PROV.endedAtTime, now)
        if self._reason:
            yield said(self._iri, RDFS.comment, Literal(self._reason))
        yield from agent_quads(self._by, self._iri)
        yield said(self._merge, UKG.splitBy, self._iri)
        yield said(self._merge, UKG.splitAt, now)

    def _retract(self, verdict: Verdict) -> Iterator[Quad]:
        if verdict.rejected:
            return
        yield from (quad for quad in self._away if quad.graph_name != DEFAULT)
        merge = self._records.get(self._merge)
        yield said(merge.merged, PROV.alternateOf, merge.kept)

    def _is_needed(self, quad: Quad, put: list[Quad]) -> bool:
        """Whether a text added after the merge says it too."""
        if quad.graph_name not in (DEFAULT, EXTRACTED):
            return False
        rewritten = {
            Piece(one.subject, quad.triple)
            for one in put
            if one.predicate == RDF.reifies
            and one.object == quad.triple
            and isinstance(one.subject, NamedNode)
        }
        return bool(self._evidence.about(quad.triple) - rewritten)

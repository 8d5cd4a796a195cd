"""Moves one entity's statements to another: in the graph, its origins, the evidence and the review queue."""

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Triple

from curation.merging.merge_record import PREFIX, Merged, in_graph, said, written
from curation.review.review_item import State
from curation.review.review_queue import ReviewQueue
from curation.review.reviewer import Reviewer, agent_quads
from sparql.model.change import Change, Statement, Verdict
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import (
    ASSERTED,
    DEFAULT,
    DERIVED,
    EXTRACTED,
    INFERRED,
    ONTOLOGY,
    PROV,
    PROVENANCE,
    RDF,
    RDFS,
    REVIEW,
    SKOS,
    UKG,
    XSD,
)
from sparql.provenance.evidence import EvidenceReader

_LINKS = (UKG.subject, UKG.object)


class EntityMerge:
    """One merge in progress; `check` raises what forbids it.

    With `partial`, statements of the other entity that do not conform are left out.
    """

    def __init__(
        self,
        store: TripleStore,
        review: ReviewQueue,
        keep: NamedNode,
        other: NamedNode,
        by: Reviewer,
        reason: str | None,
        *,
        partial: bool,
        check: Callable[[NamedNode, NamedNode], None],
    ) -> None:
        self._store = store
        self._review = review
        self._evidence = EvidenceReader(store)
        self._check = check
        self._keep = keep
        self._other = other
        self._by = by
        self._reason = reason
        self._partial = partial
        self._iri = NamedNode(PREFIX + uuid.uuid4().hex)
        self._taken: list[Quad] = []
        self._put: list[Quad] = []
        self._moved: dict[Triple, Triple] = {}
        self._dropped: tuple[Triple, ...] = ()

    def build(self) -> Change:
        """Called under the writer's lock."""
        self._check(self._keep, self._other)
        kept = (DERIVED, INFERRED, ONTOLOGY)
        own = [t for t in self._about(DEFAULT) if not any(self._held(t, graph) for graph in kept)]
        self._moved = {triple: self._renamed(triple) for triple in own}
        new = {t for t in self._moved.values() if not self._is_void(t) and not self._is_stated(t)}
        return Change(
            additions=tuple(Statement(triple) for triple in sorted(new, key=str)),
            removals=frozenset(own),
            partial=self._partial,
            record=self._record,
            retract=self._retract,
        )

    def outcome(self, verdict: Verdict) -> Merged:
        """The outcome to report."""
        refused = bool(verdict.rejected) and not self._partial
        return Merged(
            None if refused else self._iri,
            0 if refused else len(self._moved),
            self._dropped,
            verdict.rejected if refused else (),
            verdict.revision,
        )

    def rewritten(self, quad: Quad) -> Quad:
        """What replaces a quad about the other entity after the merge."""
        graph = quad.graph_name
        if graph not in (PROVENANCE, REVIEW):
            return in_graph(graph, self._renamed(quad.triple))
        if isinstance(quad.object, Triple):
            return Quad(quad.subject, quad.predicate, self._renamed(quad.object), graph)
        if quad.predicate == UKG.status:
            return Quad(quad.subject, quad.predicate, State.SUPERSEDED.node, graph)
        return Quad(quad.subject, quad.predicate, self._keep, graph)

    def _record(self, verdict: Verdict) -> Iterator[Quad]:
        if verdict.rejected and not self._partial:
            return
        lost = {rejection.statement.triple for rejection in verdict.rejected}
        self._dropped = tuple(sorted(lost, key=str))
        self._rewrite_origins(lost)
        self._rewrite_records(lost)
        # A split must not delete what existed before the merge.
        put = [quad for quad in dict.fromkeys(self._put) if not self._store.contains(quad)]
        yield from put
        now = Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
        yield said(self._iri, RDF.type, PROV.Activity)
        yield said(self._iri, RDF.type, UKG.Merge)
        yield said(self._iri, UKG.kept, self._keep)
        yield said(self._iri, UKG.merged, self._other)
        yield said(self._other, PROV.alternateOf, self._keep)
        yield said(self._iri, PROV.startedAtTime, now)
        yield said(self._iri, PROV.endedAtTime, now)
        if self._reason:
            yield said(self._iri, RDFS.comment, Literal(self._reason))
        yield from agent_quads(self._by, self._iri)
        without = {old for old, new in self._moved.items() if new in lost or self._is_void(new)}
        added = {in_graph(DEFAULT, new) for old, new in self._moved.items() if old not in without}
        taken = [*self._taken, *(in_graph(DEFAULT, triple) for triple in self._moved)]
        dropped = {q for q in taken if q.triple in without and q.graph_name not in (PROVENANCE, REVIEW)}
        yield said(self._iri, UKG.took, Literal(written(q for q in taken if q not in dropped)))
        yield said(self._iri, UKG.left, Literal(written(dropped)))
        fresh = (quad for quad in added if not self._is_stated(quad.triple))
        yield said(self._iri, UKG.put, Literal(written([*put, *fresh])))

    def _retract(self, verdict: Verdict) -> Iterator[Quad]:
        if verdict.rejected and not self._partial:
            return
        yield from (quad for quad in self._taken if quad.graph_name not in (ASSERTED, EXTRACTED))

    def _rewrite_origins(self, lost: set[Triple]) -> None:
        """Each rewritten statement has the origins of those that it replaces."""
        origins: dict[Triple, set[NamedNode]] = {}
        for old, new in self._moved.items():
            self._taken += [in_graph(g, old) for g in (ASSERTED, EXTRACTED) if self._held(old, g)]
            if new in lost or self._is_void(new):
                continue
            origins.setdefault(new, self._origins(new)).update(self._origins(old))
        for new, graphs in origins.items():
            if graphs != {ASSERTED}:
                self._put += [in_graph(graph, new) for graph in graphs if graph in (ASSERTED, EXTRACTED)]

    def _origins(self, triple: Triple) -> set[NamedNode]:
        """The origins of a triple; without a recorded one, it was asserted."""
        if not self._is_stated(triple):
            return set()
        return {g for g in (ASSERTED, EXTRACTED, DERIVED, ONTOLOGY) if self._held(triple, g)} or {ASSERTED}

    def _is_stated(self, triple: Triple) -> bool:
        """Whether the graph holds a triple that does not only follow from others."""
        return self._held(triple, DEFAULT) and not self._held(triple, INFERRED)

    def _rewrite_records(self, lost: set[Triple]) -> None:
        """Rewrite the evidence and the review items to the kept entity."""
        for graph in (PROVENANCE, REVIEW):
            for old in self._reified(graph):
                if self._renamed(old) in lost:
                    continue
                for quad in self._store.match_quads(None, RDF.reifies, old, graph):
                    self._swap(quad)
        for predicate in _LINKS:
            for quad in self._store.match_quads(None, predicate, self._other, REVIEW):
                self._swap(quad)
        self._settle_duplicates()

    def _settle_duplicates(self) -> None:
        """Settle the review items that ask whether the two are one."""
        review = self._review
        for item in review.about(self._other) | review.about(self._keep):
            if review.state(item) is not State.OPEN:
                continue
            found = review.get(item)
            pair = {self._keep, self._other}
            if found.violations and all(
                v.component == UKG.PossibleDuplicate and {v.focus, v.value} == pair for v in found.violations
            ):
                self._swap(Quad(item, UKG.status, State.OPEN.node, REVIEW))

    def _swap(self, old: Quad) -> None:
        self._taken.append(old)
        self._put.append(self.rewritten(old))

    def _reified(self, graph: NamedNode) -> set[Triple]:
        """The triples about the other entity that a system graph mentions."""
        if graph == REVIEW:
            return {self._review.get(item).triple for item in self._review.about(self._other)}
        return {t for t in self._about(DEFAULT) if any(self._evidence.about(t))}

    def _about(self, graph: NamedNode | DefaultGraph) -> Iterator[Triple]:
        seen: set[Triple] = set()
        for subject, value in ((self._other, None), (None, self._other)):
            for quad in self._store.match_quads(subject, None, value, graph):
                if quad.triple not in seen:
                    seen.add(quad.triple)
                    yield quad.triple

    def _renamed(self, triple: Triple) -> Triple:
        subject = self._keep if triple.subject == self._other else triple.subject
        value: Term = self._keep if triple.object == self._other else triple.object
        predicate = triple.predicate
        if triple.subject == self._other and predicate == RDFS.label:
            labels = {t.object for t in self._store.match(self._keep, RDFS.label, None)}
            # The kept entity keeps its name; the other's becomes an alternative.
            predicate = SKOS.altLabel if labels and value not in labels else predicate
        return Triple(subject, predicate, value)

    def _is_void(self, triple: Triple) -> bool:
        """Whether it now relates the entity to itself, which no statement meant."""
        return triple.subject == triple.object == self._keep

    def _held(self, triple: Triple, graph: NamedNode | DefaultGraph) -> bool:
        return self._store.contains(in_graph(graph, triple))

"""Merges two entities that are one, in one commit, and can split them again exactly.

A merge rewrites every statement about the other entity to the kept one: in the graph, through the gate, and
in the records of origin, the evidence and the review queue. What it deleted and added is stored with the
merge in the provenance graph; a split restores what each entity had, and later statements stay where they
are.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pyoxigraph
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple

from curation.review.review_item import Reviewer, State, agent_quads
from curation.review.review_queue import ReviewQueue
from shapes.errors import EntityUnknown, MergeRefused, MergeSettled, MergeUnknown
from sparql.model.change import Change, Rejection, Statement, Verdict
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
    RECORD,
    REVIEW,
    SKOS,
    UKG,
    XSD,
)
from sparql.provenance.records import EvidenceReader, Piece, first
from sparql.writing.writer import Writer

PREFIX = RECORD.term("merge/").value


@dataclass(frozen=True)
class Merge:
    """A recorded merge; `split` is when it was undone, as xsd:dateTime."""

    iri: NamedNode
    kept: NamedNode
    merged: NamedNode
    at: str
    by: str
    reason: str | None
    split: str | None

    @property
    def identifier(self) -> str:
        """Its name for clients."""
        return self.iri.value.removeprefix(PREFIX)


@dataclass(frozen=True)
class Merged:
    """The outcome of a merge or a split; `merge` is None when the gate refused it.

    `dropped` are statements of the other entity that contradict the kept one's, left out on request.
    """

    merge: NamedNode | None
    statements: int
    dropped: tuple[Triple, ...]
    rejected: tuple[Rejection, ...]
    revision: int | None


class MergeRecords:
    """Reads merges from a store."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store
        self._evidence = EvidenceReader(store)

    def all(self) -> list[Merge]:
        """Every merge, newest first."""
        quads = self._store.match_quads(None, RDF.type, UKG.Merge, PROVENANCE)
        found = [self.get(quad.subject) for quad in quads if isinstance(quad.subject, NamedNode)]
        return sorted(found, key=lambda merge: (merge.at, merge.iri.value), reverse=True)

    def get(self, iri: NamedNode) -> Merge:
        """One merge. Raises `MergeUnknown`."""
        values = self._evidence.values(iri)
        kept, merged = first(values, UKG.kept), first(values, UKG.merged)
        if not isinstance(kept, NamedNode) or not isinstance(merged, NamedNode):
            raise MergeUnknown(iri.value.removeprefix(PREFIX))
        agent = first(values, PROV.wasAssociatedWith)
        return Merge(
            iri,
            kept,
            merged,
            at=self._evidence.text(iri, PROV.endedAtTime) or "",
            by=(self._evidence.text(agent, RDFS.label) if isinstance(agent, NamedNode) else None) or "",
            reason=self._evidence.text(iri, RDFS.comment),
            split=self._evidence.text(iri, UKG.splitAt),
        )

    def quads(self, merge: NamedNode, predicate: NamedNode) -> list[Quad]:
        """What a merge deleted, added or left."""
        text = self._evidence.text(merge, predicate) or ""
        return list(pyoxigraph.parse(text.encode(), format=RdfFormat.N_QUADS))


def named_merge(identifier: str) -> NamedNode:
    """The merge with an identifier or IRI. Raises `MergeUnknown`."""
    try:
        return NamedNode(identifier if identifier.startswith(PREFIX) else PREFIX + identifier)
    except ValueError as error:
        raise MergeUnknown(identifier) from error


def written(quads: Iterable[Quad]) -> str:
    """Quads as N-Quads, in stable order."""
    written = pyoxigraph.serialize(sorted(quads, key=str), format=RdfFormat.N_QUADS)
    assert written is not None
    return written.decode()


def in_graph(graph: NamedNode | DefaultGraph | Term, triple: Triple) -> Quad:
    """The triple in a graph that was read from a quad."""
    return Quad(triple.subject, triple.predicate, triple.object, graph)  # type: ignore[arg-type]


def said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal | Triple) -> Quad:
    """A quad of the provenance graph."""
    return Quad(subject, predicate, value, PROVENANCE)


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

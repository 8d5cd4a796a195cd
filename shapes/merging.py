"""Two entities that turned out to be one: merged in one commit, and split again exactly.

A merge rewrites every statement about the other entity to the one that is kept: in the graph, through the
gate, and with the same names in the records of origin, in the evidence and in the review queue. What it took
and what it put there is kept with the merge, so that a split can put things back as they were.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pyoxigraph
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple

from shapes.decisions import Reviewer, agent_quads
from shapes.errors import EntityUnknown, MergeRefused, MergeSettled, MergeUnknown
from shapes.review import ReviewQueue
from shapes.review_item import State
from sparql.change import Change, Rejection, Statement, Verdict
from sparql.evidence import EvidenceReader, first
from sparql.provenance import RECORD
from sparql.source import Term
from sparql.triple_store import TripleStore
from sparql.vocabulary import (
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
from sparql.writer import Writer

PREFIX = RECORD.term("merge/").value
_LINKS = (UKG.subject, UKG.object)


@dataclass(frozen=True)
class Merge:
    """A merge as it is recorded; `split` is when it was taken back, as xsd:dateTime."""

    iri: NamedNode
    kept: NamedNode
    merged: NamedNode
    at: str
    by: str
    reason: str | None
    split: str | None

    @property
    def identifier(self) -> str:
        """The name under which clients ask for it."""
        return self.iri.value.removeprefix(PREFIX)


@dataclass(frozen=True)
class Merged:
    """What became of a merge or a split; `merge` is None when the gate refused it.

    `dropped` are statements of the other entity that the kept one's contradict, left out on demand.
    """

    merge: NamedNode | None
    statements: int
    dropped: tuple[Triple, ...]
    rejected: tuple[Rejection, ...]
    revision: int | None


Obstacle = Callable[[NamedNode, NamedNode], str | None]
"""Why two entities cannot be one, in words; None when nothing speaks against it."""


class Merging:
    """Merges and splits entities; every call is one commit."""

    def __init__(
        self,
        store: TripleStore,
        writer: Writer,
        review: ReviewQueue,
        *,
        obstacle: Obstacle,
    ) -> None:
        self._store = store
        self._writer = writer
        self._review = review
        self._obstacle = obstacle
        self._evidence = EvidenceReader(store)

    def merge(
        self,
        keep: NamedNode,
        other: NamedNode,
        by: Reviewer,
        *,
        reason: str | None = None,
        drop_conflicts: bool = False,
    ) -> Merged:
        """Make two entities one. What does not conform of the other is refused, or with `drop_conflicts`
        left out.

        Raises `EntityUnknown`, and `MergeRefused` where classes, distance or owl:differentFrom forbid it.
        """
        act = _Merge(self, keep, other, by, reason, partial=drop_conflicts)
        return act.told(self._writer.commit_built(act.build))

    def split(self, merge: NamedNode, by: Reviewer, *, reason: str | None = None) -> Merged:
        """Take a merge back: each entity has what it had. What was said since then stays where it is.

        Raises `MergeUnknown` and `MergeSettled`.
        """
        act = _Split(self, merge, by, reason)
        return act.told(self._writer.commit_built(act.build))

    def all(self) -> list[Merge]:
        """Every merge, the last one first."""
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

    def check(self, keep: NamedNode, other: NamedNode) -> None:
        """Raises `EntityUnknown` and `MergeRefused`."""
        for iri in (keep, other):
            if not any(True for _ in self._store.match(iri, None, None)):
                raise EntityUnknown(iri.value)
            if any(True for _ in self._store.match_quads(iri, None, None, ONTOLOGY)):
                raise MergeRefused(keep.value, other.value, f"<{iri.value}> is a term of the ontology")
        if keep == other:
            raise MergeRefused(keep.value, other.value, "they are one and the same IRI")
        reason = self._obstacle(keep, other)
        if reason is not None:
            raise MergeRefused(keep.value, other.value, reason)


class _Merge:
    """One merge while it is being carried out."""

    def __init__(
        self,
        room: Merging,
        keep: NamedNode,
        other: NamedNode,
        by: Reviewer,
        reason: str | None,
        *,
        partial: bool,
    ) -> None:
        self._room = room
        self._store = room._store
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
        self._room.check(self._keep, self._other)
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

    def told(self, verdict: Verdict) -> Merged:
        """What to tell of it."""
        refused = bool(verdict.rejected) and not self._partial
        return Merged(
            None if refused else self._iri,
            0 if refused else len(self._moved),
            self._dropped,
            verdict.rejected if refused else (),
            verdict.revision,
        )

    def rewritten(self, quad: Quad) -> Quad:
        """What stands in the place of a quad about the other entity once they are merged."""
        graph = quad.graph_name
        if graph not in (PROVENANCE, REVIEW):
            return _in(graph, self._renamed(quad.triple))
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
        # In a split, what was there before the merge is not taken away again.
        put = [quad for quad in dict.fromkeys(self._put) if not self._store.contains(quad)]
        yield from put
        now = Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
        yield _said(self._iri, RDF.type, PROV.Activity)
        yield _said(self._iri, RDF.type, UKG.Merge)
        yield _said(self._iri, UKG.kept, self._keep)
        yield _said(self._iri, UKG.merged, self._other)
        yield _said(self._other, PROV.alternateOf, self._keep)
        yield _said(self._iri, PROV.startedAtTime, now)
        yield _said(self._iri, PROV.endedAtTime, now)
        if self._reason:
            yield _said(self._iri, RDFS.comment, Literal(self._reason))
        yield from agent_quads(self._by, self._iri)
        without = {old for old, new in self._moved.items() if new in lost or self._is_void(new)}
        added = {_in(DEFAULT, new) for old, new in self._moved.items() if old not in without}
        taken = [*self._taken, *(_in(DEFAULT, triple) for triple in self._moved)]
        dropped = {q for q in taken if q.triple in without and q.graph_name not in (PROVENANCE, REVIEW)}
        yield _said(self._iri, UKG.took, Literal(_written(q for q in taken if q not in dropped)))
        yield _said(self._iri, UKG.left, Literal(_written(dropped)))
        fresh = (quad for quad in added if not self._is_stated(quad.triple))
        yield _said(self._iri, UKG.put, Literal(_written([*put, *fresh])))

    def _retract(self, verdict: Verdict) -> Iterator[Quad]:
        if verdict.rejected and not self._partial:
            return
        yield from (quad for quad in self._taken if quad.graph_name not in (ASSERTED, EXTRACTED))

    def _rewrite_origins(self, lost: set[Triple]) -> None:
        """Each rewritten statement has the origins of those that it stands for."""
        origins: dict[Triple, set[NamedNode]] = {}
        for old, new in self._moved.items():
            self._taken += [_in(g, old) for g in (ASSERTED, EXTRACTED) if self._held(old, g)]
            if new in lost or self._is_void(new):
                continue
            origins.setdefault(new, self._origins(new)).update(self._origins(old))
        for new, graphs in origins.items():
            if graphs != {ASSERTED}:
                self._put += [_in(graph, new) for graph in graphs if graph in (ASSERTED, EXTRACTED)]

    def _origins(self, triple: Triple) -> set[NamedNode]:
        """The origins of a triple; where no graph tells of one, it was asserted."""
        if not self._is_stated(triple):
            return set()
        return {g for g in (ASSERTED, EXTRACTED, DERIVED, ONTOLOGY) if self._held(triple, g)} or {ASSERTED}

    def _is_stated(self, triple: Triple) -> bool:
        """Whether the graph holds a triple, and not only because it follows from others."""
        return self._held(triple, DEFAULT) and not self._held(triple, INFERRED)

    def _rewrite_records(self, lost: set[Triple]) -> None:
        """The evidence and the review items speak of the kept entity from now on."""
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
        """Nobody need be asked any longer whether the two are one."""
        review = self._room._review
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
        """The triples about the other entity that a system graph speaks of."""
        if graph == REVIEW:
            review = self._room._review
            return {review.get(item).triple for item in review.about(self._other)}
        return {t for t in self._about(DEFAULT) if any(self._room._evidence.about(t))}

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
            # The kept entity keeps its name; the other's becomes another name of it.
            predicate = SKOS.altLabel if labels and value not in labels else predicate
        return Triple(subject, predicate, value)

    def _is_void(self, triple: Triple) -> bool:
        """Whether it came to relate the entity to itself, which no statement meant."""
        return triple.subject == triple.object == self._keep

    def _held(self, triple: Triple, graph: NamedNode | DefaultGraph) -> bool:
        return self._store.contains(_in(graph, triple))


class _Split:
    """One split while it is being carried out."""

    def __init__(self, room: Merging, merge: NamedNode, by: Reviewer, reason: str | None) -> None:
        self._room = room
        self._store = room._store
        self._merge = merge
        self._by = by
        self._reason = reason
        self._iri = RECORD.term("split/" + uuid.uuid4().hex)
        self._back: list[Quad] = []
        self._away: list[Quad] = []
        self._count = 0

    def build(self) -> Change:
        """Called under the writer's lock."""
        merge = self._room.get(self._merge)
        name = merge.identifier
        if merge.split is not None:
            raise MergeSettled(name, f"it was split at {merge.split}")
        for later in self._room.all():
            if later.split is None and later.at > merge.at and later.merged in (merge.kept, merge.merged):
                raise MergeSettled(name, f"<{later.merged.value}> was merged since; split that first")
        took, put = self._read(UKG.took), self._read(UKG.put)
        act = _Merge(self._room, merge.kept, merge.merged, self._by, None, partial=False)
        # What left the graph since the merge (its document was removed, say) does not come back.
        alive = [quad for quad in took if self._store.contains(act.rewritten(quad))]
        alive += self._read(UKG.left)
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

    def told(self, verdict: Verdict) -> Merged:
        """What to tell of it."""
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
        yield _said(self._iri, RDF.type, PROV.Activity)
        yield _said(self._iri, RDF.type, UKG.Split)
        yield _said(self._iri, PROV.used, self._merge)
        yield _said(self._iri, PROV.endedAtTime, now)
        if self._reason:
            yield _said(self._iri, RDFS.comment, Literal(self._reason))
        yield from agent_quads(self._by, self._iri)
        yield _said(self._merge, UKG.splitBy, self._iri)
        yield _said(self._merge, UKG.splitAt, now)

    def _retract(self, verdict: Verdict) -> Iterator[Quad]:
        if verdict.rejected:
            return
        yield from (quad for quad in self._away if quad.graph_name != DEFAULT)
        merge = self._room.get(self._merge)
        yield _said(merge.merged, PROV.alternateOf, merge.kept)

    def _is_needed(self, quad: Quad, put: list[Quad]) -> bool:
        """Whether a text that came after the merge says it too."""
        if quad.graph_name not in (DEFAULT, EXTRACTED):
            return False
        rewritten = {one.subject for one in put if one.predicate == RDF.reifies and one.object == quad.triple}
        return bool(self._room._evidence.about(quad.triple) - rewritten)

    def _read(self, predicate: NamedNode) -> list[Quad]:
        text = self._room._evidence.text(self._merge, predicate) or ""
        return list(pyoxigraph.parse(text.encode(), format=RdfFormat.N_QUADS))


def named_merge(identifier: str) -> NamedNode:
    """The merge that a client names by its identifier or its whole IRI. Raises `MergeUnknown`."""
    try:
        return NamedNode(identifier if identifier.startswith(PREFIX) else PREFIX + identifier)
    except ValueError as error:
        raise MergeUnknown(identifier) from error


def _written(quads: Iterable[Quad]) -> str:
    """Quads as N-Quads, in stable order."""
    written = pyoxigraph.serialize(sorted(quads, key=str), format=RdfFormat.N_QUADS)
    assert written is not None
    return written.decode()


def _in(graph: NamedNode | DefaultGraph | Term, triple: Triple) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, graph)  # type: ignore[arg-type]


def _said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal | Triple) -> Quad:
    return Quad(subject, predicate, value, PROVENANCE)

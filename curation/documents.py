"""Documents: which statements each supports, and removing one with everything that only it supported.

A statement is deleted with its last origin. Then others may lose their basis: "Bowne Hall opened in 1990"
conforms only as long as some text says what Bowne Hall is. Those are judged again without the withdrawn
evidence; what no longer conforms waits in review, and what was refused only because of a withdrawn statement
is tried again.
"""

import uuid
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from curation.proposals import Proposals
from curation.review.review_item import Reviewer, ReviewItem, RunOrigin, State, agent_quads
from curation.review.review_queue import ReviewQueue
from shapes.errors import DocumentRemoved, DocumentUnknown
from sparql.model.change import Change, Delta, Origin, Rejection, Selection, Statement, Verdict, quad_of
from sparql.model.source import Overlay, Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import (
    ASSERTED,
    DCTERMS,
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
    SH,
    UKG,
    XSD,
)
from sparql.provenance.records import Evidence, EvidenceReader, Piece, evidence_quads, first
from sparql.writing.writer import Writer

_QUOTING = (UKG.quote, UKG.reply, UKG.start, UKG.end)


@dataclass(frozen=True)
class RunFacts:
    """The record of a run: times as xsd:dateTime, and what made and judged its statements."""

    iri: NamedNode
    started: str
    ended: str
    model: str | None
    adapter: str | None
    prompt_version: str | None
    ontology_version: str | None
    shapes_version: str | None
    ontologies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Supported:
    """A statement supported by a document. `others` counts supporting runs over other documents."""

    evidence: Evidence
    others: int


@dataclass(frozen=True)
class StoredDocument:
    """A document with its runs, oldest first; `text` is None where only a source was named."""

    iri: NamedNode
    text: str | None
    source: str | None
    runs: tuple[RunFacts, ...]

    @property
    def identifier(self) -> str:
        """Its name for clients."""
        return self.iri.value.removeprefix(PREFIX)


@dataclass(frozen=True)
class Removal:
    """The outcome of removing a document; the triples are those of the graph.

    `fallen` are statements of other texts that no longer conform and were moved to review, `revived` those
    that were refused because of this document and are in the graph now. `relations` counts deleted derived
    triples, `inferences` deleted inferences.
    """

    iri: NamedNode
    removed: tuple[Triple, ...]
    kept: int
    fallen: tuple[Triple, ...]
    revived: tuple[Triple, ...]
    relations: int
    inferences: int
    revision: int | None


PREFIX = RECORD.term("document/").value


class Documents:
    """Reads documents from the provenance graph, and removes them through the writer."""

    def __init__(self, store: TripleStore, writer: Writer, review: ReviewQueue) -> None:
        self._store = store
        self._writer = writer
        self._review = review
        self._evidence = EvidenceReader(store)
        self._withdrawals = Withdrawals(store, writer, review)
        self._proposals = Proposals(store, writer)

    def find(self, *, source: str | None = None, text: str | None = None) -> list[NamedNode]:
        """Documents, newest first; `source` must be equal, `text` be contained."""
        named = self._subjects(RDF.type, UKG.Document)
        if source is not None:
            named = [
                iri
                for iri in self._subjects(DCTERMS.source, Literal(source))
                if self._store.contains(Quad(iri, RDF.type, UKG.Document, PROVENANCE))
            ]
        if text is not None:
            folded = text.casefold()
            named = [iri for iri in named if any(folded in t.casefold() for t in self._texts(iri, UKG.text))]
        return sorted(named, key=lambda iri: (self._last_posted(iri), iri.value), reverse=True)

    def get(self, iri: NamedNode) -> StoredDocument:
        """One document. Raises `DocumentUnknown` and `DocumentRemoved`."""
        self._check(iri)
        runs = sorted((self._run(run) for run in self._evidence.runs_over(iri)), key=lambda run: run.started)
        return StoredDocument(
            iri, self._evidence.text(iri, UKG.text), self._evidence.text(iri, DCTERMS.source), tuple(runs)
        )

    def supported(self, iri: NamedNode) -> list[Supported]:
        """The statements of the graph that a document supports, in the order of its text."""
        own = self._pieces(iri)
        read = (self._evidence.read(piece) for piece in sorted(own, key=lambda piece: piece.reifier.value))
        found = list({one.triple: one for one in read if one is not None}.values())
        found.sort(key=lambda one: (one.support.start is None, one.support.start or 0, str(one.triple)))
        return [Supported(one, len(self._evidence.about(one.triple) - own)) for one in found]

    def waiting(self, iri: NamedNode) -> list[ReviewItem]:
        """The review items from a document, in the order of its text."""
        items = [self._review.get(item) for item in self._review.of_document(iri)]
        return sorted(items, key=lambda item: (item.support.start or 0, str(item.triple)))

    def counts(self, iri: NamedNode) -> tuple[int, int]:
        """How many statements in the graph a document supports, and how many wait for review."""
        triples = {piece.triple for piece in self._pieces(iri)}
        items = self._review.of_document(iri)
        return len(triples), sum(self._review.state(item) is State.OPEN for item in items)

    def remove(self, iri: NamedNode, by: Reviewer, *, reason: str | None = None) -> Removal:
        """Remove a document: what only it supported is deleted, with everything that follows from it.

        Its text, runs and undecided review items are deleted too; that it existed, and who removed what and
        when, stays as provenance. Raises `DocumentUnknown` and `DocumentRemoved`.
        """
        act = _Removing(self, iri, by, reason)
        return act.outcome(self._writer.commit_built(act.build))

    def _check(self, iri: NamedNode) -> None:
        if self._store.contains(Quad(iri, RDF.type, UKG.Document, PROVENANCE)):
            return
        name = iri.value.removeprefix(PREFIX)
        records = [
            (self._evidence.text(quad.object, PROV.endedAtTime) or "", quad.object)
            for quad in self._store.match_quads(iri, PROV.wasInvalidatedBy, None, PROVENANCE)
            if isinstance(quad.object, NamedNode)
        ]
        if not records:
            raise DocumentUnknown(name)
        at, activity = max(records, key=lambda pair: pair[0])
        agent = first(self._evidence.values(activity), PROV.wasAssociatedWith)
        by = self._evidence.text(agent, RDFS.label) if isinstance(agent, NamedNode) else None
        raise DocumentRemoved(name, at, by or "", self._evidence.text(activity, RDFS.comment))

    def _run(self, run: NamedNode) -> RunFacts:
        values = self._evidence.values(run)

        def text(predicate: NamedNode) -> str | None:
            found = first(values, predicate)
            return found.value if isinstance(found, Literal) else None

        return RunFacts(
            run,
            text(PROV.startedAtTime) or "",
            text(PROV.endedAtTime) or "",
            text(UKG.model),
            text(UKG.adapter),
            text(UKG.promptVersion),
            text(UKG.ontologyVersion),
            text(UKG.shapesVersion),
            tuple(sorted(o.value for o in values.get(UKG.ontology, ()) if isinstance(o, NamedNode))),
        )

    def _pieces(self, iri: NamedNode) -> set[Piece]:
        return {piece for run in self._evidence.runs_over(iri) for piece in self._evidence.of_run(run)}

    def _texts(self, iri: NamedNode, predicate: NamedNode) -> set[str]:
        quads = self._store.match_quads(iri, predicate, None, PROVENANCE)
        return {quad.object.value for quad in quads if isinstance(quad.object, Literal)}

    def _last_posted(self, iri: NamedNode) -> str:
        """When the last run over a document began, as xsd:dateTime; empty for one without runs."""
        runs = self._evidence.runs_over(iri)
        return max((text for run in runs for text in self._texts(run, PROV.startedAtTime)), default="")

    def _subjects(self, predicate: NamedNode, value: NamedNode | Literal) -> list[NamedNode]:
        quads = self._store.match_quads(None, predicate, value, PROVENANCE)
        return [quad.subject for quad in quads if isinstance(quad.subject, NamedNode)]


class _Removing:
    """One removal in progress."""

    def __init__(self, documents: Documents, iri: NamedNode, by: Reviewer, reason: str | None) -> None:
        self._documents = documents
        self._iri = iri
        self._by = by
        self._reason = reason
        self._activity = RECORD.term("removal/" + uuid.uuid4().hex)
        self._items: list[ReviewItem] = []
        self._runs: set[NamedNode] = set()
        self._planned = Withdrawal()
        self._triples: set[Triple] = set()
        self._gone: tuple[Triple, ...] = ()

    def build(self) -> Change:
        """Called under the writer's lock."""
        documents = self._documents
        documents._check(self._iri)
        pieces = documents._pieces(self._iri)
        self._runs = documents._evidence.runs_over(self._iri)
        self._items = documents.waiting(self._iri)
        self._triples = {piece.triple for piece in pieces}
        self._planned = documents._withdrawals.plan(pieces, ignoring=[item.iri for item in self._items])
        change = self._planned.change
        self._gone = tuple(sorted(self._planned.removed, key=str))
        return Change(
            additions=change.additions,
            withdrawals=change.withdrawals,
            origin=change.origin,
            partial=True,
            judged=True,
            record=self._record,
            retract=self._retract,
        )

    def outcome(self, verdict: Verdict) -> Removal:
        """The outcome to report."""
        return Removal(
            iri=self._activity,
            removed=self._gone,
            kept=len(self._triples) - len(self._gone),
            fallen=tuple(rejection.statement.triple for rejection, _ in self._planned.fallen),
            revived=tuple(dict.fromkeys(item.triple for item in self._planned.revived)),
            relations=len(verdict.derived.removals),
            inferences=len(verdict.inferred.removals),
            revision=verdict.revision,
        )

    def _record(self, verdict: Verdict) -> Iterator[Quad]:
        """The removal as provenance (PROV-O, 3.2: invalidation)."""
        now = Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
        yield _said(self._activity, RDF.type, PROV.Activity)
        yield _said(self._activity, RDF.type, UKG.Removal)
        yield _said(self._activity, PROV.startedAtTime, now)
        yield _said(self._activity, PROV.endedAtTime, now)
        if self._reason:
            yield _said(self._activity, RDFS.comment, Literal(self._reason))
        yield from agent_quads(self._by, self._activity)
        yield _said(self._iri, PROV.wasInvalidatedBy, self._activity)
        yield _said(self._iri, PROV.invalidatedAtTime, now)
        for triple in self._gone:
            yield _said(self._activity, UKG.removed, triple)
        yield from self._documents._withdrawals.record(self._planned)

    def _retract(self, verdict: Verdict) -> Iterator[Quad]:
        documents = self._documents
        yield from documents._withdrawals.retract(self._planned)
        yield Quad(self._iri, RDF.type, UKG.Document, PROVENANCE)
        yield from documents._store.match_quads(self._iri, UKG.text, None, PROVENANCE)
        for run in self._runs:
            yield from documents._evidence.quads(run)
            yield from documents._review.seen_in(run)
        yield from documents._proposals.of_document(self._iri)
        for item in self._items:
            quads = documents._review.quads(item.iri)
            if item.state in (State.OPEN, State.SUPERSEDED):
                yield from quads
            else:
                # Decisions of people stay, without the words of the text.
                yield from (quad for quad in quads if quad.predicate in _QUOTING)


def named_document(identifier: str) -> NamedNode:
    """The document with an identifier or IRI. Raises `DocumentUnknown`."""
    try:
        return NamedNode(identifier if identifier.startswith(PREFIX) else PREFIX + identifier)
    except ValueError as error:
        raise DocumentUnknown(identifier) from error


def _said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal | Triple) -> Quad:
    return Quad(subject, predicate, value, PROVENANCE)


@dataclass(frozen=True)
class Withdrawal:
    """What is deleted with a set of evidence, computed for the current graph.

    `evidence` is to be withdrawn. `triples` are no longer supported by any text; of those, `removed` are
    deleted from the graph, having no other origin.
    `fallen` are statements of other texts that no longer conform, with the evidence they had. `revived`
    are review items whose statement conforms now.
    """

    evidence: frozenset[Piece] = frozenset()
    triples: frozenset[Triple] = frozenset()
    removed: frozenset[Triple] = frozenset()
    fallen: tuple[tuple[Rejection, tuple[Evidence, ...]], ...] = ()
    revived: tuple[ReviewItem, ...] = ()

    @property
    def change(self) -> Change:
        """The change of the graph, without records; it has been judged."""
        return Change(
            additions=tuple(item.statement for item in self.revived),
            withdrawals=self.triples | {rejection.statement.triple for rejection, _ in self.fallen},
            origin=Origin.EXTRACTED,
            partial=True,
            judged=True,
        )


class Withdrawals:
    """Plans withdrawals. Call with the writer's lock held, inside `Writer.commit_built`."""

    def __init__(self, store: TripleStore, writer: Writer, review: ReviewQueue) -> None:
        self._store = store
        self._writer = writer
        self._review = review
        self._evidence = EvidenceReader(store)

    def plan(
        self,
        evidence: Collection[Piece],
        *,
        ignoring: Collection[NamedNode] = (),
        deleted: Collection[Triple] = (),
    ) -> Withdrawal:
        """What is deleted with this evidence; `ignoring` are review items that are deleted as well.

        `deleted` are statements that are deleted whatever supports them.
        """
        gone = frozenset(evidence)
        triples = {piece.triple for piece in gone}
        unsupported = frozenset(t for t in triples if self._evidence.about(t) <= gone)
        removed = frozenset(triple for triple in unsupported if self._rests_on_texts(triple)).union(deleted)
        fallen = self._fallen(removed, gone)
        out = removed | {rejection.statement.triple for rejection, _ in fallen}
        revived = self._revived(out, frozenset(ignoring))
        return Withdrawal(gone, unsupported, removed, tuple(fallen), tuple(revived))

    def record(self, planned: Withdrawal) -> Iterator[Quad]:
        """The system quads to add: review items of fallen statements, evidence of revived ones."""
        for rejection, supports in planned.fallen:
            for one in supports:
                yield from self._review.note(rejection, self.origin(one.run), one.support, names={})
        for item in planned.revived:
            yield Quad(item.iri, UKG.status, State.SUPERSEDED.node, REVIEW)
            for run in self._review.occurrences(item.iri):
                yield from evidence_quads(run, item.triple, item.support)

    def retract(self, planned: Withdrawal) -> Iterator[Quad]:
        """The system quads to delete: the evidence, and that of fallen statements."""
        of_fallen = {one.piece for _, supports in planned.fallen for one in supports}
        yield from self._evidence.leaving(planned.evidence | of_fallen)
        for rejection, supports in planned.fallen:
            for one in supports:
                yield from self._review.forget_reasons(rejection, self.origin(one.run))
        for item in planned.revived:
            yield Quad(item.iri, UKG.status, State.OPEN.node, REVIEW)

    def origin(self, run: NamedNode) -> RunOrigin:
        """The origin of the statements of a run."""
        return RunOrigin(run, self._evidence.document_of(run), self._evidence.source_of(run))

    def _fallen(
        self, removed: Collection[Triple], gone: frozenset[Piece]
    ) -> list[tuple[Rejection, tuple[Evidence, ...]]]:
        """The statements of other texts that no longer conform, and then those that depend on them.

        Only nodes that come to violate a shape are followed, not everything linked to deleted statements.
        Evidence that is deleted anyway does not count: nothing of a removed text waits for review.
        """
        out = set(removed)
        fallen: list[tuple[Rejection, tuple[Evidence, ...]]] = []
        while out:
            nearby = {
                triple
                for node in self._newly_wrong(out)
                for triple in self._extracted_about(node)
                if triple not in out and self._rests_on_texts(triple)
            }
            if not nearby:
                break
            statements = tuple(self._statement(triple) for triple in sorted(nearby, key=str))
            rejected = self._judge(statements, out | nearby, frozenset()).rejected
            if rejected:
                # Statements that do not conform in the current graph do not fall because of this withdrawal.
                known = self._judge(statements, nearby, frozenset()).rejected
                wrong = {rejection.statement.triple for rejection in known}
                rejected = tuple(one for one in rejected if one.statement.triple not in wrong)
            if not rejected:
                break
            out |= {rejection.statement.triple for rejection in rejected}
            for rejection in rejected:
                found = (self._evidence.read(one) for one in self._evidence.about(rejection.statement.triple))
                left = tuple(one for one in found if one is not None and one.piece not in gone)
                fallen.append((rejection, left))
        return fallen

    def _newly_wrong(self, out: Collection[Triple]) -> set[NamedNode | BlankNode]:
        """The nodes that violate a shape without these triples, and the offending values."""
        gate = self._writer.gate
        if gate is None:
            return set()
        gone = frozenset(out)
        rejected = gate.select(self._store, (), gone, self._writer.derive, partial=False).rejected
        violations = (violation for rejection in rejected for violation in rejection.violations)
        nodes = {node for violation in violations for node in (violation.focus, violation.value)}
        return {node for node in nodes if isinstance(node, NamedNode | BlankNode)}

    def _revived(self, removed: Collection[Triple], ignoring: frozenset[NamedNode]) -> list[ReviewItem]:
        """Items refused by a shape that conform after the deletion; earlier texts first."""
        if self._writer.gate is None:
            return []
        around = {
            item for node in _nodes(removed) for item in self._review.with_violations_about(node)
        } - ignoring
        items = [self._review.get(iri) for iri in around if self._review.state(iri) is State.OPEN]
        items = [item for item in items if not item.accepted and _is_of_shapes(item)]
        items.sort(key=lambda item: (item.created, item.iri.value))
        batches: dict[NamedNode | str | None, list[ReviewItem]] = {}
        for item in items:
            batches.setdefault(item.document or item.source, []).append(item)
        out, come = frozenset(removed), frozenset[Triple]()
        revived: list[ReviewItem] = []
        for batch in batches.values():
            statements = {item.triple: item.statement for item in batch}
            fresh = tuple(s for t, s in statements.items() if t not in come and t not in out)
            accepted = self._judge(fresh, out, come).accepted
            taken = {statement.triple for statement in accepted}
            come |= taken
            revived += [item for item in batch if item.triple in come]
        return revived

    def _judge(
        self, statements: tuple[Statement, ...], out: Collection[Triple], come: frozenset[Triple]
    ) -> Selection:
        """The statements that conform in the graph with some triples deleted and others added."""
        gate = self._writer.gate
        assert gate is not None

        derived = self._writer.derive(come, frozenset(out))

        def derive(added: Collection[Triple], removed: Collection[Triple]) -> Delta:
            held = {triple for triple in added if triple in out}
            new = (set(added) - held) | come
            whole = self._writer.derive(frozenset(new), (frozenset(out) - held) | frozenset(removed))
            return Delta(
                whole.additions - derived.additions | derived.removals - whole.removals,
                whole.removals - derived.removals | derived.additions - whole.additions,
            )

        # Consequences of deleted triples are deleted too: they must not count as older violations.
        before = Overlay(self._store, come | derived.additions, frozenset(out) | derived.removals)
        return gate.select(before, statements, frozenset(), derive, partial=True)

    def _statement(self, triple: Triple) -> Statement:
        """The statement with the highest confidence of its evidence."""
        found = (self._evidence.read(piece) for piece in self._evidence.about(triple))
        sure = [one.support.confidence for one in found if one and one.support.confidence is not None]
        return Statement(triple, max(sure, default=None))

    def _extracted_about(self, node: NamedNode | BlankNode) -> Iterable[Triple]:
        for quad in self._store.match_quads(node, None, None, EXTRACTED):
            yield quad.triple
        for quad in self._store.match_quads(None, None, node, EXTRACTED):
            if quad.predicate != RDF.type:
                yield quad.triple

    def is_asserted(self, triple: Triple) -> bool:
        """Whether a client or a file stated a triple of the graph, so that it can be deleted as such."""
        if not self._is_in(triple, DEFAULT) or self._is_in(triple, DERIVED, ONTOLOGY, INFERRED):
            return False
        return self._is_in(triple, ASSERTED) or not self._is_in(triple, EXTRACTED)

    def _rests_on_texts(self, triple: Triple) -> bool:
        """Whether only texts support a triple."""
        return self._is_in(triple, EXTRACTED) and not self._is_in(triple, ASSERTED, DERIVED, ONTOLOGY)

    def _is_in(self, triple: Triple, *graphs: DefaultGraph | NamedNode) -> bool:
        return any(self._store.contains(quad_of(triple, graph)) for graph in graphs)


def _nodes(triples: Iterable[Triple]) -> set[NamedNode | BlankNode]:
    """The subjects and objects of triples, except classes."""
    found: set[Term] = set()
    for triple in triples:
        found.add(triple.subject)
        if triple.predicate != RDF.type:
            found.add(triple.object)
    return {node for node in found if isinstance(node, NamedNode | BlankNode)}


def _is_of_shapes(item: ReviewItem) -> bool:
    """Whether only shapes refused it; faults found by extraction itself do not depend on the graph."""
    return bool(item.violations) and all(v.component in SH for v in item.violations)

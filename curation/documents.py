"""Documents: which statements each supports, and removing one with everything that only it supported."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.proposals import Proposals
from curation.review.review_item import ReviewItem, State
from curation.review.review_queue import ReviewQueue
from curation.review.reviewer import Reviewer, agent_quads
from curation.withdrawal import Withdrawal, Withdrawals
from shapes.errors import DocumentRemoved, DocumentUnknown
from sparql.model.change import Change, Verdict
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, PROV, PROVENANCE, RDF, RDFS, RECORD, UKG, XSD
from sparql.provenance.evidence import Evidence, EvidenceReader, Piece, first
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

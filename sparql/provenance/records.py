"""Where every statement comes from, as RDF beside the graph: PROV-O and RDF 1.2 reifiers, written and read.

A document and a run are stored once, with the facts that all their statements share. A reifier holds the
evidence of a statement: the span, the quote, the confidence; statements of a run with the same evidence share
one (a reifier may have several, RDF 1.2 Concepts, 1.5). All of it is committed together with the statements,
so there is nothing to reconcile after a crash.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Quad, Triple

from sparql.model.change import Verdict
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, PROV, PROVENANCE, RDF, RECORD, UKG, XSD

_MOST_SHARING = 64
"""At most so many statements share a reifier: a read of one of them skips the others."""


@dataclass(frozen=True)
class Support:
    """The evidence of one statement in one document; offsets in code points, end exclusive."""

    start: int | None = None
    end: int | None = None
    quote: str | None = None
    confidence: float | None = None
    reply: str | None = None
    stated: str | None = None
    """The text's claim about the place of the subject: within, contains, touches or apart."""
    computed: NamedNode | None = None
    """The RCC8 property (GeoSPARQL 1.1, 8.5) that holds between the geometries."""
    distance_m: float | None = None
    inferred: tuple[str, ...] = ()
    """Which ends ("subject", "object") do not occur in the document."""
    geocoded: str | None = None
    """The source of the geometry: the IRI of a feature, or a file and a position in it."""


@dataclass(frozen=True)
class Document:
    """A text as posted, or a source known by its name alone.

    Equal texts are the same document; so are statements without a text that name the same source.
    """

    text: str | None
    source: str | None = None

    @property
    def iri(self) -> NamedNode:
        parts = ("source", self.source or "") if self.text is None else (self.text,)
        return RECORD.term("document/" + digest(*parts))


@dataclass(frozen=True)
class Run:
    """One act that proposed statements: an extraction by a model, or a client's submission."""

    identifier: str
    started: datetime
    ended: datetime
    document: Document | None = None
    source: str | None = None
    facts: Mapping[NamedNode, str] = field(default_factory=dict)
    """What all its statements share: model, adapter, prompt, ontology and shapes versions, trace."""
    ontologies: tuple[NamedNode, ...] = ()
    """The owl:versionIRI of the ontologies that its statements were judged by."""

    @property
    def iri(self) -> NamedNode:
        return RECORD.term("run/" + self.identifier)


def run_quads(run: Run) -> Iterator[Quad]:
    """The run and its document."""
    yield _quad(run.iri, RDF.type, PROV.Activity)
    yield _quad(run.iri, PROV.startedAtTime, _time(run.started))
    yield _quad(run.iri, PROV.endedAtTime, _time(run.ended))
    for predicate, value in run.facts.items():
        yield _quad(run.iri, predicate, Literal(value))
    for ontology in run.ontologies:
        yield _quad(run.iri, UKG.ontology, ontology)
    if run.source is not None:
        yield _quad(run.iri, DCTERMS.source, Literal(run.source))
    if run.document is not None:
        document = run.document
        yield _quad(run.iri, PROV.used, document.iri)
        yield _quad(document.iri, RDF.type, PROV.Entity)
        yield _quad(document.iri, RDF.type, UKG.Document)
        if document.text is not None:
            yield _quad(document.iri, UKG.text, Literal(document.text))
        if document.source is not None:
            yield _quad(document.iri, DCTERMS.source, Literal(document.source))


def evidence_iri(run: NamedNode, triple: Triple) -> NamedNode:
    """The reifier of a statement in a run; always the same for the same arguments."""
    return RECORD.term("evidence/" + digest(run.value.rpartition("/")[2], str(triple)))


def evidence_quads(run: NamedNode, triple: Triple, support: Support) -> Iterator[Quad]:
    """The reifier (RDF 1.2 Concepts, 1.5) that says which run made a statement, and from which words."""
    reifier = evidence_iri(run, triple)
    yield _quad(reifier, RDF.reifies, triple)
    yield _quad(reifier, PROV.wasGeneratedBy, run)
    for predicate, value in support_terms(support):
        yield _quad(reifier, predicate, value)


def shared_evidence(run: NamedNode, supports: Iterable[tuple[Triple, Support]]) -> Iterator[Quad]:
    """The reifiers of a run's statements, one for all with the same evidence."""
    alike: dict[Support, list[Triple]] = {}
    for triple, support in supports:
        alike.setdefault(support, []).append(triple)
    for support, triples in alike.items():
        facts = [(PROV.wasGeneratedBy, run), *support_terms(support)]
        written = [f"{predicate} {value}" for predicate, value in facts]
        for first in range(0, len(triples), _MOST_SHARING):
            reifier = RECORD.term("evidence/" + digest(*written, str(first)))
            for predicate, value in facts:
                yield _quad(reifier, predicate, value)
            for triple in triples[first : first + _MOST_SHARING]:
                yield _quad(reifier, RDF.reifies, triple)


def support_terms(support: Support) -> Iterator[tuple[NamedNode, NamedNode | Literal]]:
    """A support as properties, for a reifier or a review item."""
    if support.start is not None and support.end is not None and support.quote is not None:
        yield UKG.start, Literal(str(support.start), datatype=XSD.integer)
        yield UKG.end, Literal(str(support.end), datatype=XSD.integer)
        yield UKG.quote, Literal(support.quote)
    if support.confidence is not None:
        yield UKG.confidence, Literal(f"{support.confidence:.4f}", datatype=XSD.decimal)
    if support.reply is not None:
        yield UKG.reply, Literal(support.reply)
    if support.stated is not None and support.computed is not None:
        yield UKG.statedRelation, Literal(support.stated)
        yield UKG.computedRelation, support.computed
    if support.distance_m is not None:
        yield UKG.distanceInMetres, Literal(f"{support.distance_m:.1f}", datatype=XSD.decimal)
    if support.geocoded is not None:
        yield UKG.geocodedFrom, Literal(support.geocoded)
    for end in support.inferred:
        yield UKG.inferred, Literal(end)


@dataclass(frozen=True)
class RunRecord:
    """Writes a run's provenance and review items in the same commit as its statements."""

    run: Run
    supports: Mapping[Triple, Support]
    review: Callable[[Verdict, Run, Mapping[Triple, Support]], Iterable[Quad]]
    outdated: Callable[[Verdict, Run], Iterable[Quad]] = lambda verdict, run: ()
    """Gives the quads of review items that the verdict makes obsolete; see `retract`."""
    more: Callable[[Verdict], Iterable[Quad]] = lambda verdict: ()
    """Gives what else is kept with the run: words that the ontology does not know."""

    def __call__(self, verdict: Verdict) -> Iterator[Quad]:
        yield from run_quads(self.run)
        supports = self.supports
        yield from shared_evidence(
            self.run.iri,
            (
                (one.triple, supports.get(one.triple) or Support(confidence=one.confidence))
                for one in verdict.accepted
            ),
        )
        yield from self.review(verdict, self.run, self.supports)
        yield from self.more(verdict)

    def retract(self, verdict: Verdict) -> Iterable[Quad]:
        """The system quads to remove in that commit."""
        return self.outdated(verdict, self.run)


def _quad(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal | Triple) -> Quad:
    return Quad(subject, predicate, value, PROVENANCE)


def _time(moment: datetime) -> Literal:
    return Literal(moment.isoformat(), datatype=XSD.dateTime)


def digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:20]


_SUPPORT = (
    *(UKG.start, UKG.end, UKG.quote, UKG.confidence, UKG.reply),
    *(UKG.statedRelation, UKG.distanceInMetres),
)
_SOURCE = DCTERMS.source
_ENDS = ("subject", "object")


class Piece(NamedTuple):
    """The statements of a reifier. Statements of a run with the same evidence share a reifier."""

    reifier: NamedNode
    triple: Triple


@dataclass(frozen=True)
class Evidence:
    """One statement of one run, with the quoted words.

    `decision` is the review decision that accepted the statement, if it was not the gate alone.
    """

    piece: Piece
    run: NamedNode
    support: Support
    decision: NamedNode | None = None

    @property
    def triple(self) -> Triple:
        """The statement."""
        return self.piece.triple


class EvidenceReader:
    """Lookups in the provenance graph of a store."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store

    def about(self, triple: Triple) -> set[Piece]:
        """The evidence of a statement: one piece for each run that made it."""
        return {Piece(reifier, triple) for reifier in self._subjects(RDF.reifies, triple)}

    def of_run(self, run: NamedNode) -> set[Piece]:
        """The evidence of all statements of a run that the gate or a person accepted."""
        return self._pieces(self._subjects(PROV.wasGeneratedBy, run))

    def of_item(self, item: NamedNode) -> set[Piece]:
        """The evidence of what a person accepted by deciding on this review item."""
        return self._pieces(self._subjects(UKG.reviewItem, item))

    def run_of(self, reifier: NamedNode) -> NamedNode | None:
        """The run that a reifier belongs to."""
        return next(
            (t for t in self._objects(reifier, PROV.wasGeneratedBy) if isinstance(t, NamedNode)), None
        )

    def runs_over(self, document: NamedNode) -> set[NamedNode]:
        """The runs that read a document."""
        return {run for run in self._subjects(PROV.used, document) if not self._is_decision(run)}

    def document_of(self, run: NamedNode) -> NamedNode | None:
        """The document of a run."""
        for term in self._objects(run, PROV.used):
            if isinstance(term, NamedNode):
                return term
        return None

    def source_of(self, run: NamedNode) -> str | None:
        """The client's name for the source of a run's statements."""
        return self.text(run, _SOURCE)

    def read(self, piece: Piece) -> Evidence | None:
        """One piece of evidence; None when it has no run."""
        values = self.values(piece.reifier)
        run = first(values, PROV.wasGeneratedBy)
        if not isinstance(run, NamedNode):
            return None
        decision = first(values, UKG.decision)
        return Evidence(
            piece,
            run,
            support_of(values),
            decision if isinstance(decision, NamedNode) else None,
        )

    def values(self, subject: NamedNode) -> dict[NamedNode, list[Term]]:
        """All properties of one subject in the provenance graph."""
        values: dict[NamedNode, list[Term]] = {}
        for quad in self.quads(subject):
            values.setdefault(quad.predicate, []).append(quad.object)
        return values

    def quads(self, subject: NamedNode) -> Iterator[Quad]:
        """The same as quads, to remove them."""
        return self._store.match_quads(subject, None, None, PROVENANCE)

    def leaving(self, pieces: Iterable[Piece]) -> Iterator[Quad]:
        """The quads to remove with these pieces; a reifier without further statements is removed entirely."""
        going: dict[NamedNode, set[Triple]] = {}
        for piece in pieces:
            going.setdefault(piece.reifier, set()).add(piece.triple)
        for reifier, triples in going.items():
            quads = list(self.quads(reifier))
            stays = any(quad.predicate == RDF.reifies and quad.object not in triples for quad in quads)
            for quad in quads:
                if not stays or (quad.predicate == RDF.reifies and quad.object in triples):
                    yield quad

    def text(self, subject: NamedNode, predicate: NamedNode) -> str | None:
        """The first literal value of a property."""
        return next((t.value for t in self._objects(subject, predicate) if isinstance(t, Literal)), None)

    def _is_decision(self, activity: NamedNode) -> bool:
        return self._store.contains(Quad(activity, RDF.type, UKG.Decision, PROVENANCE))

    def _pieces(self, reifiers: Iterable[NamedNode]) -> set[Piece]:
        return {
            Piece(reifier, term)
            for reifier in reifiers
            for term in self._objects(reifier, RDF.reifies)
            if isinstance(term, Triple)
        }

    def _subjects(self, predicate: NamedNode, value: Term) -> set[NamedNode]:
        quads = self._store.match_quads(None, predicate, value, PROVENANCE)
        return {quad.subject for quad in quads if isinstance(quad.subject, NamedNode)}

    def _objects(self, subject: NamedNode, predicate: NamedNode) -> Iterator[Term]:
        for quad in self._store.match_quads(subject, predicate, None, PROVENANCE):
            yield quad.object


def replacement_quads(
    evidence: EvidenceReader, run: NamedNode, replaced: Iterable[tuple[Triple, Triple]]
) -> Iterator[Quad]:
    """The quads to add where a run replaced triples: their evidence supports the new ones."""
    for new, old in replaced:
        yield Quad(run, UKG.replaced, old, PROVENANCE)
        for piece in evidence.about(old):
            yield Quad(piece.reifier, RDF.reifies, new, PROVENANCE)


def replaced_quads(evidence: EvidenceReader, replaced: Iterable[tuple[Triple, Triple]]) -> Iterator[Quad]:
    """The quads to remove: the evidence no longer supports the old triples."""
    for _, old in replaced:
        for piece in evidence.about(old):
            yield Quad(piece.reifier, RDF.reifies, old, PROVENANCE)


def support_of(values: dict[NamedNode, list[Term]]) -> Support:
    """A support read from the properties of a reifier or a review item."""

    def text(predicate: NamedNode) -> str | None:
        found = first(values, predicate)
        return found.value if isinstance(found, Literal) else None

    start, end, quote, confidence, reply, stated, distance = (text(predicate) for predicate in _SUPPORT)
    computed = first(values, UKG.computedRelation)
    return Support(
        start=None if start is None else int(start),
        end=None if end is None else int(end),
        quote=quote,
        confidence=None if confidence is None else float(confidence),
        reply=reply,
        stated=stated,
        computed=computed if isinstance(computed, NamedNode) else None,
        distance_m=None if distance is None else float(distance),
        geocoded=text(UKG.geocodedFrom),
        inferred=tuple(end for end in _ENDS if Literal(end) in values.get(UKG.inferred, ())),
    )


def first(values: dict[NamedNode, list[Term]], predicate: NamedNode) -> Term | None:
    """The first value of a property, or None."""
    found = values.get(predicate)
    return found[0] if found else None

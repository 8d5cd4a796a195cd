"""Where every statement comes from, as RDF beside the graph: PROV-O and RDF 1.2 reifiers.

A document and a run are stored once, with the facts that all their statements share. A reifier holds the
evidence of a statement: the span, the quote, the confidence; statements of a run with the same evidence share
one (a reifier may have several, RDF 1.2 Concepts, 1.5). All of it is committed together with the statements,
so there is nothing to reconcile after a crash.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pyoxigraph import Literal, NamedNode, Quad, Triple

from sparql.model.change import Verdict
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

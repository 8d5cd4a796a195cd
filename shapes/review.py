"""The review queue: what the gate refused or warned of, waiting for a person.

Items are RDF in a system graph of their own, written in the same commit as the rest of their batch.
The same statement with the same reasons from the same document is one item, however often it comes:
a person is not asked twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from shapes.errors import ReviewItemUnknown
from sparql.change import Rejection, Verdict, Violation
from sparql.provenance import RECORD, Run, Support, digest, support_terms
from sparql.source import Term
from sparql.store import EmbeddedStore
from sparql.vocabulary import DCTERMS, PROV, RDF, REVIEW, SH, UKG, XSD

OPEN = UKG.Open
_SUPPORT = (UKG.start, UKG.end, UKG.quote, UKG.confidence, UKG.reply)


@dataclass(frozen=True)
class ReviewItem:
    """One statement in the queue, with everything a person needs to decide."""

    iri: NamedNode
    triple: Triple
    violations: tuple[Violation, ...]
    support: Support
    status: NamedNode
    created: str
    run: NamedNode | None
    document: NamedNode | None
    source: str | None
    accepted: bool
    """True for a warning: the statement is in the graph and queued as well."""


class ReviewQueue:
    """Reads and writes the review graph of a store."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store

    def record(self, verdict: Verdict, run: Run, supports: Mapping[Triple, Support]) -> Iterator[Quad]:
        """The quads of every new item of a verdict."""
        now = datetime.now(UTC)
        for accepted, rejections in ((False, verdict.rejected), (True, verdict.warnings)):
            for rejection in rejections:
                iri = _item_iri(rejection, run)
                if not self._exists(iri):
                    support = supports.get(rejection.statement.triple, Support())
                    yield from _item_quads(iri, rejection, run, support, accepted=accepted, now=now)

    def count(self, status: NamedNode | None = OPEN) -> int:
        """How many items have this status (None: any)."""
        return sum(1 for _ in self._store.match_quads(None, UKG.status, status, REVIEW))

    def page(self, *, status: NamedNode | None = OPEN, offset: int = 0, limit: int = 50) -> list[ReviewItem]:
        """Items of a status, newest first."""
        irises = [q.subject for q in self._store.match_quads(None, UKG.status, status, REVIEW)]
        dated = [
            (self._value(iri, DCTERMS.created), iri.value) for iri in irises if isinstance(iri, NamedNode)
        ]
        dated.sort(reverse=True)
        return [self.get(NamedNode(iri)) for _, iri in dated[offset : offset + limit]]

    def get(self, iri: NamedNode) -> ReviewItem:
        """One item. Raises `ReviewItemUnknown`."""
        values: dict[NamedNode, list[Term]] = {}
        for quad in self._store.match_quads(iri, None, None, REVIEW):
            values.setdefault(quad.predicate, []).append(quad.object)
        triples = [term for term in values.get(RDF.reifies, ()) if isinstance(term, Triple)]
        if not triples:
            raise ReviewItemUnknown(iri.value)

        def text(predicate: NamedNode) -> str | None:
            found = values.get(predicate)
            return found[0].value if found and not isinstance(found[0], Triple) else None

        def node(predicate: NamedNode) -> NamedNode | None:
            found = values.get(predicate)
            return found[0] if found and isinstance(found[0], NamedNode) else None

        start, end, quote, confidence, reply = (text(predicate) for predicate in _SUPPORT)
        violations = sorted(
            (self._violation(term) for term in values.get(UKG.violation, ()) if isinstance(term, NamedNode)),
            key=lambda violation: violation.message,
        )
        return ReviewItem(
            iri=iri,
            triple=triples[0],
            violations=tuple(violations),
            support=Support(
                start=None if start is None else int(start),
                end=None if end is None else int(end),
                quote=quote,
                confidence=None if confidence is None else float(confidence),
                reply=reply,
            ),
            status=node(UKG.status) or OPEN,
            created=text(DCTERMS.created) or "",
            run=node(PROV.wasGeneratedBy),
            document=node(PROV.wasDerivedFrom),
            source=text(DCTERMS.source),
            accepted=text(UKG.accepted) == "true",
        )

    def _violation(self, iri: NamedNode) -> Violation:
        values = {quad.predicate: quad.object for quad in self._store.match_quads(iri, None, None, REVIEW)}
        message, path = values.get(SH.resultMessage), values.get(SH.resultPath)
        component, shape, severity = (
            values.get(p) for p in (SH.sourceConstraintComponent, SH.sourceShape, SH.resultSeverity)
        )
        return Violation(
            focus=values[SH.focusNode],
            message=message.value if isinstance(message, Literal) else "",
            component=component if isinstance(component, NamedNode) else UKG.Unknown,
            shape=shape if isinstance(shape, NamedNode | BlankNode) else None,
            path=path.value if isinstance(path, Literal | NamedNode) else None,
            value=values.get(SH.value),
            severity=severity if isinstance(severity, NamedNode) else SH.Violation,
        )

    def _exists(self, iri: NamedNode) -> bool:
        return any(True for _ in self._store.match_quads(iri, RDF.reifies, None, REVIEW))

    def _value(self, iri: NamedNode, predicate: NamedNode) -> str:
        found = next(iter(self._store.match_quads(iri, predicate, None, REVIEW)), None)
        return found.object.value if found and isinstance(found.object, Literal) else ""


def _item_iri(rejection: Rejection, run: Run) -> NamedNode:
    document = run.document.iri.value if run.document is not None else (run.source or "")
    reasons = sorted(f"{v.focus} {v.component} {v.shape} {v.path} {v.value}" for v in rejection.violations)
    return RECORD.term("review/" + digest(document, str(rejection.statement.triple), *reasons))


def _item_quads(
    iri: NamedNode, rejection: Rejection, run: Run, support: Support, *, accepted: bool, now: datetime
) -> Iterator[Quad]:
    def quad(subject: NamedNode, predicate: NamedNode, value: Term) -> Quad:
        return Quad(subject, predicate, value, REVIEW)

    yield quad(iri, RDF.type, UKG.ReviewItem)
    yield quad(iri, RDF.reifies, rejection.statement.triple)
    yield quad(iri, UKG.status, OPEN)
    yield quad(iri, UKG.accepted, Literal("true" if accepted else "false", datatype=XSD.boolean))
    yield quad(iri, DCTERMS.created, Literal(now.isoformat(), datatype=XSD.dateTime))
    yield quad(iri, PROV.wasGeneratedBy, run.iri)
    if run.document is not None:
        yield quad(iri, PROV.wasDerivedFrom, run.document.iri)
    if run.source is not None:
        yield quad(iri, DCTERMS.source, Literal(run.source))
    for predicate, value in support_terms(support):
        yield quad(iri, predicate, value)
    for number, violation in enumerate(rejection.violations):
        node = NamedNode(f"{iri.value}/{number}")
        yield quad(iri, UKG.violation, node)
        yield quad(node, RDF.type, SH.ValidationResult)
        yield quad(node, SH.focusNode, violation.focus)
        yield quad(node, SH.resultMessage, Literal(violation.message))
        yield quad(node, SH.resultSeverity, violation.severity)
        yield quad(node, SH.sourceConstraintComponent, violation.component)
        if violation.shape is not None:
            yield quad(node, SH.sourceShape, violation.shape)
        if violation.path is not None:
            yield quad(node, SH.resultPath, Literal(violation.path))
        if violation.value is not None:
            yield quad(node, SH.value, violation.value)

"""One item of the review queue, and its form as RDF in the review graph."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from sparql.model.change import Rejection, Violation
from sparql.model.source import Term
from sparql.model.vocabulary import DCTERMS, PROV, RDF, REVIEW, SH, UKG, XSD
from sparql.provenance.records import RECORD, Run, Support, digest, support_terms


class State(StrEnum):
    """Where an item stands. Superseded: the statement came again and conformed, so nobody need decide."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"

    @property
    def node(self) -> NamedNode:
        """The term that the review graph says it with."""
        return UKG.term(self.value.capitalize())

    @classmethod
    def of(cls, node: Term | None) -> "State":
        """The state that a term stands for; open when there is none."""
        return next((state for state in cls if state.node == node), cls.OPEN)


@dataclass(frozen=True)
class Whence:
    """Where a statement came from: the run, and the document or the source that it read."""

    run: NamedNode
    document: NamedNode | None = None
    source: str | None = None

    @classmethod
    def of(cls, run: Run) -> "Whence":
        """The same of a run that is being recorded."""
        return cls(run.iri, None if run.document is None else run.document.iri, run.source)


@dataclass(frozen=True)
class Decided:
    """What a person decided about an item, and why; `at` is an xsd:dateTime."""

    iri: NamedNode
    outcome: str
    by: str
    at: str
    reason: str | None


@dataclass(frozen=True)
class ReviewItem:
    """One statement in the queue, with everything a person needs to decide.

    `accepted` tells that the statement is in the graph: it was only warned of, or a person let it in.
    `seen` counts the runs that made it. The names are those that the text gives to its ends.
    """

    iri: NamedNode
    triple: Triple
    violations: tuple[Violation, ...]
    support: Support
    state: State
    created: str
    run: NamedNode | None
    document: NamedNode | None
    source: str | None
    accepted: bool
    seen: int = 1
    subject_name: str | None = None
    object_name: str | None = None
    decisions: tuple[Decided, ...] = ()

    @property
    def identifier(self) -> str:
        """The name under which clients ask for it."""
        return self.iri.value.removeprefix(PREFIX)

    @property
    def whence(self) -> Whence:
        """Where it came from."""
        return Whence(self.run or self.iri, self.document, self.source)


PREFIX = RECORD.term("review/").value


def item_iri(triple: Triple, whence: Whence) -> NamedNode:
    """One name for one statement of one text (or source), however often and why ever it is refused."""
    place = whence.document.value if whence.document is not None else (whence.source or "")
    return NamedNode(PREFIX + digest(place, str(triple)))


def item_quads(
    rejection: Rejection,
    whence: Whence,
    support: Support,
    *,
    names: dict[Term, str],
    created: datetime,
) -> Iterator[Quad]:
    """A new open item."""
    triple = rejection.statement.triple
    iri = item_iri(triple, whence)
    yield quad(iri, RDF.type, UKG.ReviewItem)
    yield quad(iri, RDF.reifies, triple)
    yield quad(iri, UKG.subject, triple.subject)
    yield quad(iri, UKG.predicate, triple.predicate)
    if isinstance(triple.object, NamedNode | BlankNode):
        yield quad(iri, UKG.object, triple.object)
    for predicate, node in ((UKG.subjectName, triple.subject), (UKG.objectName, triple.object)):
        if node in names:
            yield quad(iri, predicate, Literal(names[node]))
    yield quad(iri, UKG.status, State.OPEN.node)
    yield quad(iri, DCTERMS.created, Literal(created.isoformat(), datatype=XSD.dateTime))
    yield quad(iri, PROV.wasGeneratedBy, whence.run)
    yield quad(iri, UKG.occurrence, whence.run)
    if whence.document is not None:
        yield quad(iri, PROV.wasDerivedFrom, whence.document)
    if whence.source is not None:
        yield quad(iri, DCTERMS.source, Literal(whence.source))
    for predicate, value in support_terms(support):
        yield quad(iri, predicate, value)
    yield from violation_quads(iri, rejection.violations)


def violation_quads(item: NamedNode, violations: tuple[Violation, ...]) -> Iterator[Quad]:
    """What is wrong with an item's statement, in the terms of a validation result (SHACL, 3.6.2)."""
    for number, violation in enumerate(violations):
        node = NamedNode(f"{item.value}/{number}")
        yield quad(item, UKG.violation, node)
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


def quad(subject: NamedNode, predicate: NamedNode, value: Term) -> Quad:
    """A quad of the review graph."""
    return Quad(subject, predicate, value, REVIEW)

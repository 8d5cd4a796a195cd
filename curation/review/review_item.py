"""One item of the review queue as RDF in the review graph, and the people who decide about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from sparql.model.change import Rejection, Statement, Violation
from sparql.model.source import Term
from sparql.model.vocabulary import DCTERMS, PROV, PROVENANCE, RDF, RDFS, RECORD, REVIEW, SH, UKG, XSD
from sparql.provenance.records import Run, Support, digest, support_terms


@dataclass(frozen=True)
class Reviewer:
    """Who decides: a person's name, and the request's key, if any."""

    name: str
    key: str | None = None


def agent_quads(by: Reviewer, activity: NamedNode) -> Iterator[Quad]:
    """Who carried out an activity (PROV-O, 3.3), and with which key."""
    person = agent(by.name)
    yield _said(activity, PROV.wasAssociatedWith, person)
    yield _said(person, RDF.type, PROV.Agent)
    yield _said(person, RDFS.label, Literal(by.name))
    if by.key is not None and by.key != by.name:
        key = agent(by.key)
        yield _said(person, PROV.actedOnBehalfOf, key)
        yield _said(key, RDF.type, PROV.Agent)
        yield _said(key, RDFS.label, Literal(by.key))


def agent(name: str) -> NamedNode:
    """The agent of this name."""
    return RECORD.term("agent/" + digest(name))


def _said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal) -> Quad:
    return Quad(subject, predicate, value, PROVENANCE)


class State(StrEnum):
    """The state of an item. Superseded: the statement conformed when it was added again."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"

    @property
    def node(self) -> NamedNode:
        """Its term in the review graph."""
        return UKG.term(self.value.capitalize())

    @classmethod
    def of(cls, node: Term | None) -> "State":
        """The state of a term; open when there is none."""
        return next((state for state in cls if state.node == node), cls.OPEN)


@dataclass(frozen=True)
class RunOrigin:
    """The origin of a statement: the run, and the document or source that it read."""

    run: NamedNode
    document: NamedNode | None = None
    source: str | None = None

    @classmethod
    def of(cls, run: Run) -> "RunOrigin":
        """The origin of the statements of a run that is being recorded."""
        return cls(run.iri, None if run.document is None else run.document.iri, run.source)

    def same_text(self, other: "RunOrigin") -> bool:
        """Whether both are of one document, or of one run where there is none."""
        if self.document is not None or other.document is not None:
            return self.document == other.document
        return self.run == other.run


@dataclass(frozen=True)
class Decided:
    """A person's decision about an item, and the reason; `at` is an xsd:dateTime."""

    iri: NamedNode
    outcome: str
    by: str
    at: str
    reason: str | None


@dataclass(frozen=True)
class Comment:
    """What a person says about an item; `at` is an xsd:dateTime."""

    text: str
    by: str
    at: str


@dataclass(frozen=True)
class ReviewItem:
    """One statement in the queue, with everything a person needs to decide.

    `accepted`: the statement is in the graph, with a warning, or because a person accepted it.
    `seen` counts the runs that made it. The names are those that the text gives to subject and object.
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
    assignee: str | None = None
    comments: tuple[Comment, ...] = ()

    @property
    def identifier(self) -> str:
        """Its name for clients."""
        return self.iri.value.removeprefix(PREFIX)

    @property
    def statement(self) -> Statement:
        """What the item states, with the confidence of its evidence."""
        return self.stating(self.triple)

    def stating(self, triple: Triple) -> Statement:
        """A statement in place of the item's, with the same confidence."""
        return Statement(triple, self.support.confidence)

    @property
    def is_of_rules(self) -> bool:
        """Whether it waits because new rules refuse a statement of the graph, and not because of a text."""
        return self.run is not None and self.run.value.startswith(BY_RULES)

    @property
    def origin(self) -> RunOrigin:
        """Its origin."""
        return RunOrigin(self.run or self.iri, self.document, self.source)


PREFIX = RECORD.term("review/").value
BY_RULES = RECORD.term("rules/").value
"""The start of the runs of items that a switch of rules queues."""


def item_iri(triple: Triple, origin: RunOrigin) -> NamedNode:
    """The same IRI for the same statement of the same text (or source), for whatever reason it is refused."""
    place = origin.document.value if origin.document is not None else (origin.source or "")
    return NamedNode(PREFIX + digest(place, str(triple)))


def item_of(node: NamedNode) -> NamedNode:
    """The item that a node belongs to: the item itself, one of its violations or comments."""
    end = node.value.find("/", len(PREFIX)) if node.value.startswith(PREFIX) else -1
    return node if end < 0 else NamedNode(node.value[:end])


def item_quads(
    rejection: Rejection,
    origin: RunOrigin,
    support: Support,
    *,
    names: dict[Term, str],
    created: datetime,
) -> Iterator[Quad]:
    """A new open item."""
    triple = rejection.statement.triple
    iri = item_iri(triple, origin)
    yield review_quad(iri, RDF.type, UKG.ReviewItem)
    yield review_quad(iri, RDF.reifies, triple)
    yield review_quad(iri, UKG.subject, triple.subject)
    yield review_quad(iri, UKG.predicate, triple.predicate)
    if isinstance(triple.object, NamedNode | BlankNode):
        yield review_quad(iri, UKG.object, triple.object)
    for predicate, node in ((UKG.subjectName, triple.subject), (UKG.objectName, triple.object)):
        if node in names:
            yield review_quad(iri, predicate, Literal(names[node]))
    yield review_quad(iri, UKG.status, State.OPEN.node)
    yield review_quad(iri, DCTERMS.created, Literal(created.isoformat(), datatype=XSD.dateTime))
    yield review_quad(iri, PROV.wasGeneratedBy, origin.run)
    yield review_quad(iri, UKG.occurrence, origin.run)
    if origin.document is not None:
        yield review_quad(iri, PROV.wasDerivedFrom, origin.document)
    if origin.source is not None:
        yield review_quad(iri, DCTERMS.source, Literal(origin.source))
    for predicate, value in support_terms(support):
        yield review_quad(iri, predicate, value)
    yield from violation_quads(iri, rejection.violations)


def violation_quads(item: NamedNode, violations: tuple[Violation, ...], *, first: int = 0) -> Iterator[Quad]:
    """The violations of an item's statement, in the terms of a validation result (SHACL, 3.6.2).

    `first` is the number of the first of them, where the item has others.
    """
    for number, violation in enumerate(violations, first):
        node = NamedNode(f"{item.value}/{number}")
        yield review_quad(item, UKG.violation, node)
        yield review_quad(node, RDF.type, SH.ValidationResult)
        yield review_quad(node, SH.focusNode, violation.focus)
        yield review_quad(node, SH.resultMessage, Literal(violation.message))
        for language, text in violation.translations.items():
            yield review_quad(node, UKG.translation, Literal(text, language=language or None))
        if violation.translations:
            # One value, as searches read it.
            yield review_quad(node, UKG.messages, Literal("\n".join(violation.translations.values())))
        yield review_quad(node, SH.resultSeverity, violation.severity)
        yield review_quad(node, SH.sourceConstraintComponent, violation.component)
        if violation.shape is not None:
            yield review_quad(node, SH.sourceShape, violation.shape)
        if violation.path is not None:
            yield review_quad(node, SH.resultPath, Literal(violation.path))
        if violation.value is not None:
            yield review_quad(node, SH.value, violation.value)


def review_quad(subject: NamedNode, predicate: NamedNode, value: Term) -> Quad:
    """A quad of the review graph."""
    return Quad(subject, predicate, value, REVIEW)

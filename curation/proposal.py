"""A term that texts use and the ontology lacks, and its form as RDF in the proposals graph."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.review.review_item import Decided, RunOrigin, item_iri
from ontology.labels import singular
from ontology.labels import words as words_of
from sparql.model.source import Term
from sparql.model.vocabulary import DCTERMS, PROPOSALS, PROV, RDF, RECORD, UKG, XSD
from sparql.provenance.records import Support, digest, support_terms

PREFIX = RECORD.term("proposal/").value
_LEADING = frozenset("a an the is are was were be been being has have had".split())  # noqa: SIM905
_BEHIND_HEAD = frozenset("of in on at for by with from near that which who to along between".split())  # noqa: SIM905


class TermKind(StrEnum):
    """The kind of the missing term."""

    CLASS = "class"
    PROPERTY = "property"


class ProposalStatus(StrEnum):
    """The status of a proposal."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"

    @property
    def node(self) -> NamedNode:
        """Its term in the proposals graph."""
        return UKG.term(self.value.capitalize())

    @classmethod
    def of(cls, node: Term | None) -> "ProposalStatus":
        """The status of a term; open when there is none."""
        return next((one for one in cls if one.node == node), cls.OPEN)


@dataclass(frozen=True)
class Use:
    """One use of a word that the ontology lacks, as evidence for its meaning.

    `triple` is the statement that waits in the review queue. For a property, the classes of the ends or the
    datatype of the value; for a class, `subject_classes` are the other known classes of its instance.
    """

    kind: TermKind
    words: str
    triple: Triple
    subject_classes: tuple[NamedNode, ...] = ()
    object_classes: tuple[NamedNode, ...] = ()
    datatype: NamedNode | None = None
    subject_name: str = ""
    object_name: str = ""

    @property
    def proposal(self) -> NamedNode:
        """Its proposal."""
        return proposal_iri(self.kind, self.words)


@dataclass(frozen=True)
class Example:
    """A stored use, with its place in a document and the review item that waits for the term."""

    iri: NamedNode
    use: Use
    support: Support
    created: str
    document: NamedNode | None
    source: str | None
    item: NamedNode | None


@dataclass(frozen=True)
class TermProposal:
    """A word with all its uses; the classes and datatypes with their numbers of uses.

    `forms` are the words as written in texts, the most frequent first. `count` counts uses, each statement of
    each document once; `documents` counts documents or sources. `examples` are the newest.
    """

    iri: NamedNode
    kind: TermKind
    forms: tuple[str, ...]
    status: ProposalStatus
    accepted_as: NamedNode | None
    first_seen: str
    last_seen: str
    count: int
    documents: int
    definition: str
    subject_classes: Mapping[NamedNode, int] = field(default_factory=dict)
    object_classes: Mapping[NamedNode, int] = field(default_factory=dict)
    datatypes: Mapping[NamedNode, int] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    decisions: tuple[Decided, ...] = ()

    @property
    def words(self) -> str:
        """The most frequent form."""
        return self.forms[0]

    @property
    def identifier(self) -> str:
        """Its name for clients."""
        return self.iri.value.removeprefix(PREFIX)


def proposal_iri(kind: TermKind, words: str) -> NamedNode:
    """The same IRI for a word in any case, number, and with any article or auxiliary."""
    return NamedNode(PREFIX + digest(kind.value, canonical(kind, words)))


def canonical(kind: TermKind, words: str) -> str:
    """The common key of the forms of a word: "was rival of" and "rival of", "Halls" and "hall"."""
    found = words_of(words)
    while len(found) > 1 and found[0] in _LEADING:
        found = found[1:]
    if kind is TermKind.CLASS:
        end = next((place for place, one in enumerate(found) if place and one in _BEHIND_HEAD), len(found))
        found = [singular(one) for one in found[:end]]
    return " ".join(found) or words.casefold().strip()


def example_iri(use: Use, origin: RunOrigin) -> NamedNode:
    """The same IRI for the same statement of the same text, as for review items."""
    place = origin.document.value if origin.document is not None else (origin.source or "")
    return RECORD.term("example/" + digest(use.proposal.value, place, str(use.triple)))


def proposal_quads(use: Use, created: datetime) -> Iterator[Quad]:
    """A new open proposal."""
    iri = use.proposal
    yield quad(iri, RDF.type, UKG.Proposal)
    yield quad(iri, UKG.termKind, Literal(use.kind.value))
    yield quad(iri, UKG.status, ProposalStatus.OPEN.node)
    yield quad(iri, DCTERMS.created, moment(created))


def example_quads(use: Use, origin: RunOrigin, support: Support, created: datetime) -> Iterator[Quad]:
    """One use of the word."""
    iri = example_iri(use, origin)
    yield quad(iri, RDF.type, UKG.ProposalExample)
    yield quad(iri, UKG.proposal, use.proposal)
    yield quad(iri, UKG.words, Literal(use.words))
    yield quad(iri, RDF.reifies, use.triple)
    yield quad(iri, UKG.reviewItem, item_iri(use.triple, origin))
    yield quad(iri, DCTERMS.created, moment(created))
    yield quad(iri, PROV.wasGeneratedBy, origin.run)
    if origin.document is not None:
        yield quad(iri, PROV.wasDerivedFrom, origin.document)
    if origin.source is not None:
        yield quad(iri, DCTERMS.source, Literal(origin.source))
    for class_ in use.subject_classes:
        yield quad(iri, UKG.subjectClass, class_)
    for class_ in use.object_classes:
        yield quad(iri, UKG.objectClass, class_)
    if use.datatype is not None:
        yield quad(iri, UKG.datatype, use.datatype)
    for predicate, name in ((UKG.subjectName, use.subject_name), (UKG.objectName, use.object_name)):
        if name:
            yield quad(iri, predicate, Literal(name))
    for predicate, value in support_terms(support):
        yield quad(iri, predicate, value)


def moment(time: datetime) -> Literal:
    """A time as a literal."""
    return Literal(time.isoformat(), datatype=XSD.dateTime)


def quad(subject: NamedNode, predicate: NamedNode, value: Term) -> Quad:
    """A quad of the proposals graph."""
    return Quad(subject, predicate, value, PROPOSALS)

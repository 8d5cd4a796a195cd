"""A term that texts use and the ontology does not have, and its form as RDF in the proposals graph."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.review_item import Decided, Whence, item_iri
from ontology.labels import singular
from ontology.labels import words as words_of
from sparql.model.source import Term
from sparql.model.vocabulary import DCTERMS, PROPOSALS, PROV, RDF, UKG, XSD
from sparql.provenance.records import RECORD, Support, digest, support_terms

PREFIX = RECORD.term("proposal/").value
_LEADING = frozenset("a an the is are was were be been being has have had".split())  # noqa: SIM905
_BEHIND_HEAD = frozenset("of in on at for by with from near that which who to along between".split())  # noqa: SIM905


class TermKind(StrEnum):
    """What is missing."""

    CLASS = "class"
    PROPERTY = "property"


class Standing(StrEnum):
    """Where a proposal stands."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"

    @property
    def node(self) -> NamedNode:
        """The term that the proposals graph says it with."""
        return UKG.term(self.value.capitalize())

    @classmethod
    def of(cls, node: Term | None) -> "Standing":
        """The standing that a term stands for; open when there is none."""
        return next((one for one in cls if one.node == node), cls.OPEN)


@dataclass(frozen=True)
class Use:
    """One use of a word that the ontology does not know, with what it tells of the word.

    `triple` is the statement that waits in the review queue. Of a property, the classes of the ends or the
    datatype of the value; of a class, `subject_classes` are what its instance is known to be besides.
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
        """The proposal that it belongs to."""
        return proposal_iri(self.kind, self.words)


@dataclass(frozen=True)
class Example:
    """A use as it is kept: with its place in a document and the review item that waits for the term."""

    iri: NamedNode
    use: Use
    support: Support
    created: str
    document: NamedNode | None
    source: str | None
    item: NamedNode | None


@dataclass(frozen=True)
class TermProposal:
    """A word with all its uses; the classes and datatypes with how often each was seen.

    `forms` are the words as texts have them, the most frequent first. `count` counts uses, each statement of
    each document once; `documents` in how many documents or sources. `examples` are the newest.
    """

    iri: NamedNode
    kind: TermKind
    forms: tuple[str, ...]
    standing: Standing
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
        """The form that texts use most."""
        return self.forms[0]

    @property
    def identifier(self) -> str:
        """The name under which clients ask for it."""
        return self.iri.value.removeprefix(PREFIX)


def proposal_iri(kind: TermKind, words: str) -> NamedNode:
    """One name for one word, whatever its case, number, article or auxiliary."""
    return NamedNode(PREFIX + digest(kind.value, canonical(kind, words)))


def canonical(kind: TermKind, words: str) -> str:
    """The key under which forms of a word are one: "was rival of" and "rival of", "Halls" and "hall"."""
    found = words_of(words)
    while len(found) > 1 and found[0] in _LEADING:
        found = found[1:]
    if kind is TermKind.CLASS:
        end = next((place for place, one in enumerate(found) if place and one in _BEHIND_HEAD), len(found))
        found = [singular(one) for one in found[:end]]
    return " ".join(found) or words.casefold().strip()


def example_iri(use: Use, whence: Whence) -> NamedNode:
    """One name for one statement of one text, as review items have it."""
    place = whence.document.value if whence.document is not None else (whence.source or "")
    return RECORD.term("example/" + digest(use.proposal.value, place, str(use.triple)))


def proposal_quads(use: Use, created: datetime) -> Iterator[Quad]:
    """A new open proposal."""
    iri = use.proposal
    yield quad(iri, RDF.type, UKG.Proposal)
    yield quad(iri, UKG.termKind, Literal(use.kind.value))
    yield quad(iri, UKG.status, Standing.OPEN.node)
    yield quad(iri, DCTERMS.created, moment(created))


def example_quads(use: Use, whence: Whence, support: Support, created: datetime) -> Iterator[Quad]:
    """One use of the word."""
    iri = example_iri(use, whence)
    yield quad(iri, RDF.type, UKG.ProposalExample)
    yield quad(iri, UKG.proposal, use.proposal)
    yield quad(iri, UKG.words, Literal(use.words))
    yield quad(iri, RDF.reifies, use.triple)
    yield quad(iri, UKG.reviewItem, item_iri(use.triple, whence))
    yield quad(iri, DCTERMS.created, moment(created))
    yield quad(iri, PROV.wasGeneratedBy, whence.run)
    if whence.document is not None:
        yield quad(iri, PROV.wasDerivedFrom, whence.document)
    if whence.source is not None:
        yield quad(iri, DCTERMS.source, Literal(whence.source))
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
    """A time as the graph says it."""
    return Literal(time.isoformat(), datatype=XSD.dateTime)


def quad(subject: NamedNode, predicate: NamedNode, value: Term) -> Quad:
    """A quad of the proposals graph."""
    return Quad(subject, predicate, value, PROPOSALS)

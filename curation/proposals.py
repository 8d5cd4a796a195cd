"""Words that texts use and the ontology lacks, collected for the ontology engineers.

Each use is stored in the commit that puts its statement into the review queue. A word is one proposal over
all documents; an engineer dismisses it, or accepts it as a term of the ontology.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.review.review_item import Decided, Reviewer, RunOrigin, agent_quads, item_iri
from ontology import Schema
from ontology.labels import normalize, singular
from ontology.labels import words as words_of
from shapes.errors import ProposalDecided, ProposalUnknown, ReasonNeeded, TermNotDeclared
from sparql.model.change import Verdict
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, PROPOSALS, PROV, PROVENANCE, RDF, RDFS, RECORD, UKG, XSD
from sparql.provenance.records import EvidenceReader, Run, Support, digest, first, support_of, support_terms
from sparql.writing.writer import Writer

PREFIX = RECORD.term("proposal/").value
_LEADING = frozenset("a an the is are was were be been being has have had".split())
_BEHIND_HEAD = frozenset("of in on at for by with from near that which who to along between".split())


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


SHOWN_EXAMPLES = 10
Values = dict[NamedNode, list[Term]]


@dataclass(frozen=True)
class ProposalFilter:
    """Which proposals; all given parts must match. `text` is searched in words, names and quotes."""

    status: ProposalStatus | None = ProposalStatus.OPEN
    kind: TermKind | None = None
    text: str | None = None
    least: int = 1
    """How often the word must have been used."""


class Proposals:
    """Reads and decides proposals in a store, and computes what a verdict adds to them."""

    def __init__(self, store: TripleStore, writer: Writer) -> None:
        self._store = store
        self._writer = writer
        self._evidence = EvidenceReader(store)

    # What a commit adds. Both are called with the writer's lock held, before the commit.

    def record(
        self, verdict: Verdict, run: Run, uses: Collection[Use], supports: Mapping[Triple, Support]
    ) -> Iterator[Quad]:
        """The quads for the uses whose statements were refused."""
        now, origin = datetime.now(UTC), RunOrigin.of(run)
        started: set[NamedNode] = set()
        for use in _refused(verdict, uses):
            if use.proposal not in started and not self.exists(use.proposal):
                yield from proposal_quads(use, now)
            started.add(use.proposal)
            if not any(True for _ in self._quads(example_iri(use, origin))):
                yield from example_quads(use, origin, supports.get(use.triple, Support()), now)

    def of_document(self, document: NamedNode) -> Iterator[Quad]:
        """The quads to delete with a document: its uses, and open words that only it used."""
        examples = self._subjects(PROV.wasDerivedFrom, document)
        touched: set[NamedNode] = set()
        for example in examples:
            for one in self._quads(example):
                if one.predicate == UKG.proposal and isinstance(one.object, NamedNode):
                    touched.add(one.object)
                yield one
        for proposal in touched:
            left = self._subjects(UKG.proposal, proposal) - examples
            if not left and self.status(proposal) is ProposalStatus.OPEN:
                yield from self._quads(proposal)

    # Reading.

    def exists(self, proposal: NamedNode) -> bool:
        """Whether there is such a proposal."""
        return self._store.contains(quad(proposal, RDF.type, UKG.Proposal))

    def status(self, proposal: NamedNode) -> ProposalStatus:
        """The status of a proposal."""
        return ProposalStatus.of(
            next((q.object for q in self._quads(proposal) if q.predicate == UKG.status), None)
        )

    def meaning(self, kind: TermKind, words: str) -> NamedNode | None:
        """The term that a word was accepted as; None where it was not accepted."""
        quads = self._store.match_quads(proposal_iri(kind, words), UKG.acceptedAs, None, PROPOSALS)
        return next((one.object for one in quads if isinstance(one.object, NamedNode)), None)

    def find(self, wanted: ProposalFilter) -> list[NamedNode]:
        """The proposals that match a filter, the most used first."""
        used = Counter(q.object for q in self._store.match_quads(None, UKG.proposal, None, PROPOSALS))
        found = self._subjects(UKG.status, wanted.status.node if wanted.status else None)
        if wanted.kind is not None:
            found &= self._subjects(UKG.termKind, Literal(wanted.kind.value))
        found = {iri for iri in found if used[iri] >= wanted.least}
        if wanted.text:
            text = wanted.text.casefold()
            found = {iri for iri in found if any(text in one for one in self._texts(iri))}
        return sorted(found, key=lambda iri: (-used[iri], iri.value))

    def get(self, iri: NamedNode, *, examples: int = SHOWN_EXAMPLES) -> TermProposal:
        """One proposal. Raises `ProposalUnknown`."""
        values = self._values(iri)
        kind = first(values, UKG.termKind)
        if not isinstance(kind, Literal):
            raise ProposalUnknown(iri.value.removeprefix(PREFIX))
        uses = self.examples(iri)
        forms = [form for form, _ in Counter(one.use.words for one in uses).most_common()]
        accepted_as = first(values, UKG.acceptedAs)
        created = first(values, DCTERMS.created)
        dates = [one.created for one in uses]
        decisions = [self._decision(t) for t in values.get(UKG.decision, ()) if isinstance(t, NamedNode)]
        return TermProposal(
            iri=iri,
            kind=TermKind(kind.value),
            forms=tuple(forms) or (iri.value.removeprefix(PREFIX),),
            status=ProposalStatus.of(first(values, UKG.status)),
            accepted_as=accepted_as if isinstance(accepted_as, NamedNode) else None,
            first_seen=min(dates, default=created.value if isinstance(created, Literal) else ""),
            last_seen=max(dates, default=""),
            count=len(uses),
            documents=len({one.document or one.source for one in uses}),
            definition=_definition(uses),
            subject_classes=Counter(c for one in uses for c in one.use.subject_classes),
            object_classes=Counter(c for one in uses for c in one.use.object_classes),
            datatypes=Counter(one.use.datatype for one in uses if one.use.datatype is not None),
            examples=tuple(uses[:examples]),
            decisions=tuple(sorted(decisions, key=lambda decision: decision.at)),
        )

    def examples(self, proposal: NamedNode) -> list[Example]:
        """All uses of a word, the newest first."""
        kind = next((q.object for q in self._quads(proposal) if q.predicate == UKG.termKind), None)
        found = [self._example(iri, kind) for iri in self._subjects(UKG.proposal, proposal)]
        return sorted(
            (one for one in found if one), key=lambda one: (one.created, one.iri.value), reverse=True
        )

    def named_by(self, schema: Schema) -> dict[NamedNode, NamedNode]:
        """The open proposals whose word is now a label of a term of the ontology, with that term.

        Classes come first: an entity accepted with its kind can then be the end of a relation.
        """
        found: dict[NamedNode, NamedNode] = {}
        for iri in (i for kind in TermKind for i in self.find(ProposalFilter(kind=kind))):
            proposal = self.get(iri, examples=0)
            term = next((t for form in proposal.forms if (t := _term(schema, proposal.kind, form))), None)
            if term is not None:
                found[iri] = term
        return found

    # Decisions of engineers. Each is one commit.

    def accept(
        self, proposal: NamedNode, term: NamedNode, schema: Schema, by: Reviewer, *, reason: str | None = None
    ) -> None:
        """Accept the word as a term of the ontology.

        Raises `ProposalUnknown`, `ProposalDecided` and `TermNotDeclared`.
        """
        found = self._in(proposal, (ProposalStatus.OPEN,), "accept")
        declared = schema.classes if found.kind is TermKind.CLASS else schema.properties
        if term not in declared:
            raise TermNotDeclared(schema.written(term), found.kind.value)
        self._writer.write_system(*self.accepting(found, term, by, reason))

    def accepting(
        self, found: TermProposal, term: NamedNode, by: Reviewer, reason: str | None
    ) -> tuple[list[Quad], list[Quad]]:
        """The quads added and deleted when a proposal is accepted."""
        added, removed = self._decided(found, ProposalStatus.ACCEPTED, by, reason)
        return [*added, quad(found.iri, UKG.acceptedAs, term)], removed

    def dismiss(self, proposal: NamedNode, by: Reviewer, *, reason: str) -> None:
        """Decide that the ontology needs no such term. Also raises `ReasonNeeded`."""
        if not reason.strip():
            raise ReasonNeeded
        found = self._in(proposal, (ProposalStatus.OPEN,), "dismiss")
        self._writer.write_system(*self._decided(found, ProposalStatus.DISMISSED, by, reason))

    def reopen(self, proposal: NamedNode, by: Reviewer, *, reason: str | None = None) -> None:
        """Undo a decision. Statements that were accepted stay: they are decisions of their own."""
        found = self._in(proposal, (ProposalStatus.ACCEPTED, ProposalStatus.DISMISSED), "reopen")
        added, removed = self._decided(found, ProposalStatus.OPEN, by, reason)
        if found.accepted_as is not None:
            removed.append(quad(found.iri, UKG.acceptedAs, found.accepted_as))
        self._writer.write_system(added, removed)

    def _in(self, proposal: NamedNode, allowed: Collection[ProposalStatus], verb: str) -> TermProposal:
        found = self.get(proposal, examples=0)
        if found.status not in allowed:
            raise ProposalDecided(found.identifier, found.status.value, verb)
        return found

    def _decided(
        self, found: TermProposal, status: ProposalStatus, by: Reviewer, reason: str | None
    ) -> tuple[list[Quad], list[Quad]]:
        activity = RECORD.term("decision/" + uuid.uuid4().hex)
        now = Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
        facts: list[tuple[NamedNode, NamedNode | Literal]] = [
            (RDF.type, PROV.Activity),
            (RDF.type, UKG.Decision),
            (UKG.outcome, status.node),
            (PROV.startedAtTime, now),
            (PROV.endedAtTime, now),
            (PROV.used, found.iri),
        ]
        if reason and reason.strip():
            facts.append((RDFS.comment, Literal(reason.strip())))
        added = [Quad(activity, predicate, value, PROVENANCE) for predicate, value in facts]
        added += agent_quads(by, activity)
        added += [quad(found.iri, UKG.decision, activity), quad(found.iri, UKG.status, status.node)]
        return added, [quad(found.iri, UKG.status, found.status.node)]

    def _example(self, iri: NamedNode, kind: Term | None) -> Example | None:
        values = self._values(iri)
        triple, words = first(values, RDF.reifies), first(values, UKG.words)
        if not isinstance(triple, Triple) or not isinstance(words, Literal) or not isinstance(kind, Literal):
            return None
        document, item = first(values, PROV.wasDerivedFrom), first(values, UKG.reviewItem)
        datatype = first(values, UKG.datatype)
        use = Use(
            TermKind(kind.value),
            words.value,
            triple,
            _nodes(values.get(UKG.subjectClass, ())),
            _nodes(values.get(UKG.objectClass, ())),
            datatype if isinstance(datatype, NamedNode) else None,
            _text(values, UKG.subjectName) or "",
            _text(values, UKG.objectName) or "",
        )
        return Example(
            iri,
            use,
            support_of(values),
            _text(values, DCTERMS.created) or "",
            document if isinstance(document, NamedNode) else None,
            _text(values, DCTERMS.source),
            item if isinstance(item, NamedNode) else None,
        )

    def _decision(self, iri: NamedNode) -> Decided:
        values = self._evidence.values(iri)
        agent = first(values, PROV.wasAssociatedWith)
        name = self._evidence.text(agent, RDFS.label) if isinstance(agent, NamedNode) else None
        outcome = ProposalStatus.of(first(values, UKG.outcome)).value
        at, reason = _text(values, PROV.endedAtTime) or "", _text(values, RDFS.comment)
        return Decided(iri, outcome, name or "", at, reason)

    def _texts(self, proposal: NamedNode) -> Iterator[str]:
        for example in self._subjects(UKG.proposal, proposal):
            for one in self._quads(example):
                if isinstance(one.object, Literal):
                    yield one.object.value.casefold()

    def _values(self, iri: NamedNode) -> Values:
        values: Values = {}
        for one in self._quads(iri):
            values.setdefault(one.predicate, []).append(one.object)
        return values

    def _quads(self, iri: NamedNode) -> Iterator[Quad]:
        return self._store.match_quads(iri, None, None, PROPOSALS)

    def _subjects(self, predicate: NamedNode, value: Term | None) -> set[NamedNode]:
        quads = self._store.match_quads(None, predicate, value, PROPOSALS)
        return {one.subject for one in quads if isinstance(one.subject, NamedNode)}


def named_proposal(identifier: str) -> NamedNode:
    """The proposal with an identifier or IRI. Raises `ProposalUnknown`."""
    try:
        return NamedNode(identifier if identifier.startswith(PREFIX) else PREFIX + identifier)
    except ValueError as error:
        raise ProposalUnknown(identifier) from error


def _refused(verdict: Verdict, uses: Iterable[Use]) -> Iterator[Use]:
    rejected = {rejection.statement.triple for rejection in verdict.rejected}
    return (use for use in uses if use.triple in rejected)


def _term(schema: Schema, kind: TermKind, words: str) -> NamedNode | None:
    """The term of the ontology with exactly these words as a label."""
    found = schema.find_class(words) if kind is TermKind.CLASS else schema.find_property(words)
    if found is None:
        return None
    labels = (found.label, *found.alternative_labels)
    return found.iri if normalize(words) in {normalize(label) for label in labels} else None


def _definition(uses: Collection[Example]) -> str:
    """How texts use a word, for an engineer to write a definition from."""
    example = next((one for one in uses if one.support.quote), None)
    if example is None:
        return ""
    use, quote = example.use, " ".join((example.support.quote or "").split())
    if use.kind is TermKind.CLASS:
        return f'What texts call "{use.words}", as in "{quote}".'
    return f'Relates the subject to the object as in "{quote}".'


def _nodes(values: Iterable[Term]) -> tuple[NamedNode, ...]:
    return tuple(sorted((v for v in values if isinstance(v, NamedNode)), key=lambda node: node.value))


def _text(values: Values, predicate: NamedNode) -> str | None:
    found = first(values, predicate)
    return found.value if isinstance(found, Literal) else None

"""The review queue: statements that the gate refused or warned about, waiting for a person.

Items are RDF in a system graph of their own, written in the same commit as the rest of their batch.
The same statement from the same text is one item, however often it is extracted, and a statement that a
person rejected is not queued again from any source: such repetitions are only counted.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from curation.review.review_item import (
    PREFIX,
    Comment,
    Decided,
    Reviewer,
    ReviewItem,
    RunOrigin,
    State,
    item_iri,
    item_of,
    item_quads,
    review_quad,
    violation_quads,
)
from curation.review.review_search import Cause, ReviewFilter, ReviewSearch
from shapes.errors import ReviewItemUnknown
from sparql.model.change import Change, Rejection, Verdict, Violation, quad_of
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, DEFAULT, EXTRACTED, PROV, RDF, RDFS, REVIEW, SH, UKG, XSD
from sparql.provenance.records import EvidenceReader, Run, Support, first, support_of
from sparql.writing.writer import Writer


class ReviewQueue:
    """Reads the review graph of a store, and computes what a verdict changes in it.

    `many_changed` is called in a commit after which the next search would take long, and returns at once.
    """

    def __init__(self, store: TripleStore, many_changed: Callable[[], object] = lambda: None) -> None:
        self._store = store
        self._evidence = EvidenceReader(store)
        self.search = ReviewSearch(store, many_changed)

    # What a verdict adds and deletes. Both are called with the writer's lock held, before the commit.

    def record(
        self,
        verdict: Verdict,
        run: Run,
        supports: Mapping[Triple, Support],
        among: Collection[Triple] | None = None,
    ) -> Iterator[Quad]:
        """The quads of new items, and of new facts about existing items.

        `among` are those of its statements that have items (`with_items`), where known.
        """
        origin = RunOrigin.of(run)
        for item in self._settled(verdict, origin, among):
            yield review_quad(item, UKG.status, State.SUPERSEDED.node)
        rejections = (*verdict.rejected, *verdict.warnings)
        names = _names(verdict)
        for rejection in rejections:
            support = supports.get(rejection.statement.triple, Support())
            yield from self.note(rejection, origin, support, names=names)

    def outdated(self, verdict: Verdict, run: Run, among: Collection[Triple] | None = None) -> Iterator[Quad]:
        """The quads that these facts replace; `among` as in `record`."""
        origin = RunOrigin.of(run)
        for item in self._settled(verdict, origin, among):
            yield review_quad(item, UKG.status, State.OPEN.node)
        for rejection in (*verdict.rejected, *verdict.warnings):
            yield from self.forget_reasons(rejection, origin)

    def note(
        self, rejection: Rejection, origin: RunOrigin, support: Support, *, names: dict[Term, str]
    ) -> Iterator[Quad]:
        """The quads for one refusal or warning: a new item, or one more occurrence of a known one."""
        triple = rejection.statement.triple
        item = item_iri(triple, origin)
        if not self.exists(item):
            rejected = self.rejected_item(triple)
            if rejected is not None:
                yield review_quad(rejected, UKG.occurrence, origin.run)
                return
            yield from item_quads(rejection, origin, support, names=names, created=datetime.now(UTC))
            return
        yield review_quad(item, UKG.occurrence, origin.run)
        if self._is_undecided(item):
            yield review_quad(item, UKG.status, State.OPEN.node)
            yield from violation_quads(item, rejection.violations)

    def forget_reasons(self, rejection: Rejection, origin: RunOrigin) -> Iterator[Quad]:
        """The reasons of an undecided item, which are about to be replaced."""
        item = item_iri(rejection.statement.triple, origin)
        if self.exists(item) and self._is_undecided(item):
            yield review_quad(item, UKG.status, State.SUPERSEDED.node)
            yield from self.reasons_of(item)

    def reasons_of(self, item: NamedNode) -> Iterator[Quad]:
        """The quads with the violations of an item's statement."""
        for link in self._store.match_quads(item, UKG.violation, None, REVIEW):
            yield link
            if isinstance(link.object, NamedNode):
                yield from self._store.match_quads(link.object, None, None, REVIEW)

    # Reading.

    def exists(self, item: NamedNode) -> bool:
        """Whether there is such an item."""
        return any(True for _ in self._store.match_quads(item, RDF.reifies, None, REVIEW))

    def with_items(self, triples: Iterable[Triple]) -> frozenset[Triple]:
        """Those of these statements that have an item, from any text."""
        about: dict[Term, bool] = {}

        def has_one(triple: Triple) -> bool:
            subject = triple.subject
            if subject not in about:
                about[subject] = self._is_there(UKG.subject, subject)
            return about[subject] and self._is_there(RDF.reifies, triple)

        return frozenset(filter(has_one, triples))

    def is_stated(self, triple: Triple) -> bool:
        """Whether the graph holds a statement."""
        return self._store.contains(quad_of(triple, DEFAULT))

    def extracted(self, subject: NamedNode, predicate: NamedNode) -> list[Triple]:
        """What texts state about a subject with this property."""
        return [quad.triple for quad in self._store.match_quads(subject, predicate, None, EXTRACTED)]

    def example(self, cause: Cause) -> Violation | None:
        """The violation whose message is the example of a cause; None where its item is gone."""
        of_item = (one for item in self.items(cause.example) for one in item.violations)
        return next((one for one in of_item if one.message == cause.message), None)

    def state(self, item: NamedNode) -> State:
        """The state of an item."""
        quads = self._store.match_quads(item, UKG.status, None, REVIEW)
        return State.of(next((quad.object for quad in quads), None))

    def rejected_item(self, triple: Triple) -> NamedNode | None:
        """The item by which a person rejected this statement, if any."""
        for quad in self._store.match_quads(None, RDF.reifies, triple, REVIEW):
            if isinstance(quad.subject, NamedNode) and self.state(quad.subject) is State.REJECTED:
                return quad.subject
        return None

    def accepted_by_person(self, triple: Triple, origin: RunOrigin) -> bool:
        """Whether a person accepted this statement of this text."""
        item = item_iri(triple, origin)
        return self.exists(item) and self.state(item) is State.ACCEPTED

    def find(self, wanted: ReviewFilter) -> list[NamedNode]:
        """The items that match a filter, newest first."""
        return self.search.find(wanted)

    def about(self, entity: NamedNode | BlankNode) -> set[NamedNode]:
        """The items whose statement has an entity as subject or object."""
        return self.search.about(entity)

    def with_violations_about(self, node: NamedNode | BlankNode) -> set[NamedNode]:
        """The items with a violation about a node: as its focus, or as the offending value."""
        results = self._subjects(SH.focusNode, node) | self._subjects(SH.value, node)
        return {item_of(result) for result in results}

    def of_document(self, document: NamedNode) -> set[NamedNode]:
        """The items from a document."""
        return self._subjects(PROV.wasDerivedFrom, document)

    def items(self, iris: Iterable[NamedNode]) -> Iterator[ReviewItem]:
        """Those of these items that still exist: a withdrawn document takes its items with it."""
        for iri in iris:
            with suppress(ReviewItemUnknown):
                yield self.get(iri)

    def get(self, iri: NamedNode) -> ReviewItem:
        """One item. Raises `ReviewItemUnknown`."""
        values: dict[NamedNode, list[Term]] = {}
        for quad in self._store.match_quads(iri, None, None, REVIEW):
            values.setdefault(quad.predicate, []).append(quad.object)
        triple = first(values, RDF.reifies)
        if not isinstance(triple, Triple):
            raise ReviewItemUnknown(iri.value)
        run, document = first(values, PROV.wasGeneratedBy), first(values, PROV.wasDerivedFrom)
        violations = [self._violation(t) for t in values.get(UKG.violation, ()) if isinstance(t, NamedNode)]
        decisions = [self._decision(t) for t in values.get(UKG.decision, ()) if isinstance(t, NamedNode)]
        return ReviewItem(
            iri=iri,
            triple=triple,
            violations=tuple(sorted(violations, key=lambda violation: violation.message)),
            support=support_of(values),
            state=State.of(first(values, UKG.status)),
            created=_literal(values, DCTERMS.created) or "",
            run=run if isinstance(run, NamedNode) else None,
            document=document if isinstance(document, NamedNode) else None,
            source=_literal(values, DCTERMS.source),
            accepted=self.is_stated(triple),
            seen=max(1, len(values.get(UKG.occurrence, ()))),
            subject_name=_literal(values, UKG.subjectName),
            object_name=_literal(values, UKG.objectName),
            decisions=tuple(sorted(decisions, key=lambda decision: decision.at)),
            assignee=_literal(values, UKG.assignee),
            comments=tuple(sorted(self._comments(values.get(UKG.comment, ())), key=lambda one: one.at)),
        )

    def occurrences(self, item: NamedNode) -> set[NamedNode]:
        """The runs that made an item's statement."""
        quads = self._store.match_quads(item, UKG.occurrence, None, REVIEW)
        return {quad.object for quad in quads if isinstance(quad.object, NamedNode)}

    def seen_in(self, run: NamedNode) -> Iterator[Quad]:
        """The quads that count a run as an occurrence of some item."""
        return self._store.match_quads(None, UKG.occurrence, run, REVIEW)

    def quads(self, item: NamedNode) -> Iterator[Quad]:
        """All quads of an item, to delete it."""
        yield from self.reasons_of(item)
        for link in self._store.match_quads(item, UKG.comment, None, REVIEW):
            if isinstance(link.object, NamedNode):
                yield from self._store.match_quads(link.object, None, None, REVIEW)
        yield from self._store.match_quads(item, None, None, REVIEW)

    def _comments(self, nodes: Iterable[Term]) -> Iterator[Comment]:
        for node in nodes:
            if isinstance(node, NamedNode):
                parts = (RDFS.comment, DCTERMS.creator, DCTERMS.created)
                yield Comment(*(self._text(node, predicate) for predicate in parts))

    def _violation(self, iri: NamedNode) -> Violation:
        quads = list(self._store.match_quads(iri, None, None, REVIEW))
        values = {quad.predicate: quad.object for quad in quads}
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
            translations={
                quad.object.language or "": quad.object.value
                for quad in quads
                if quad.predicate == UKG.translation and isinstance(quad.object, Literal)
            },
        )

    def _decision(self, iri: NamedNode) -> Decided:
        values = self._evidence.values(iri)
        agent, outcome = first(values, PROV.wasAssociatedWith), first(values, UKG.outcome)
        name = self._evidence.text(agent, RDFS.label) if isinstance(agent, NamedNode) else None
        return Decided(
            iri=iri,
            outcome=State.of(outcome).value,
            by=name or "",
            at=_literal(values, PROV.endedAtTime) or "",
            reason=_literal(values, RDFS.comment),
        )

    def _is_undecided(self, item: NamedNode) -> bool:
        return self.state(item) in (State.OPEN, State.SUPERSEDED)

    def _settled(
        self, verdict: Verdict, origin: RunOrigin, among: Collection[Triple] | None
    ) -> Iterator[NamedNode]:
        """The open items whose statement now conforms."""
        warned = {warning.statement.triple for warning in verdict.warnings}
        for statement in verdict.accepted:
            if among is not None and statement.triple not in among:
                continue
            item = item_iri(statement.triple, origin)
            known = statement.triple not in warned and self.exists(item)
            if known and self.state(item) is State.OPEN and not self._was_warned(item):
                yield item

    def _was_warned(self, item: NamedNode) -> bool:
        """Whether an item waits although its statement is in the graph; such an item stays until decided."""
        severities = {quad.object for quad in self.reasons_of(item) if quad.predicate == SH.resultSeverity}
        return SH.Warning in severities

    def _subjects(self, predicate: NamedNode, value: Term | None) -> set[NamedNode]:
        quads = self._store.match_quads(None, predicate, value, REVIEW)
        return {quad.subject for quad in quads if isinstance(quad.subject, NamedNode)}

    def _is_there(self, predicate: NamedNode, value: Term) -> bool:
        return any(True for _ in self._store.match_quads(None, predicate, value, REVIEW))

    def _text(self, iri: NamedNode, predicate: NamedNode) -> str:
        found = next(iter(self._store.match_quads(iri, predicate, None, REVIEW)), None)
        return found.object.value if found and isinstance(found.object, Literal) else ""


def named_item(identifier: str) -> NamedNode:
    """The item with an identifier or IRI. Raises `ReviewItemUnknown`."""
    try:
        return NamedNode(identifier if identifier.startswith(PREFIX) else PREFIX + identifier)
    except ValueError as error:
        raise ReviewItemUnknown(identifier) from error


def _names(verdict: Verdict) -> dict[Term, str]:
    """The names that the statements of a batch give to their entities."""
    statements = [*verdict.accepted, *(rejection.statement for rejection in verdict.rejected)]
    return {
        statement.triple.subject: statement.triple.object.value
        for statement in statements
        if statement.triple.predicate == RDFS.label and isinstance(statement.triple.object, Literal)
    }


def _literal(values: dict[NamedNode, list[Term]], predicate: NamedNode) -> str | None:
    found = first(values, predicate)
    return found.value if isinstance(found, Literal) else None


class ReviewNotes:
    """Assigns items to people, and adds comments; every call is one commit. Raises `ReviewItemUnknown`."""

    def __init__(self, store: TripleStore, writer: Writer, review: ReviewQueue) -> None:
        self._store = store
        self._writer = writer
        self._review = review

    def assign(self, items: Sequence[NamedNode], assignee: str | None) -> None:
        """Assign items to a person, or to nobody."""
        old: list[Quad] = []

        def new() -> Iterator[Quad]:
            if assignee is not None:
                name = Literal(assignee)
                yield from (review_quad(item, UKG.assignee, name) for item in items)

        def build() -> Change:
            self._refuse_unknown(items)
            old.extend(q for item in items for q in self._store.match_quads(item, UKG.assignee, None, REVIEW))
            return Change(judged=True, record=lambda _: new(), retract=lambda _: old)

        self._writer.commit_built(build)

    def comment(self, item: NamedNode, text: str, by: Reviewer) -> NamedNode:
        """Add a comment to an item."""
        comment = NamedNode(f"{item.value}/comment/{uuid.uuid4().hex}")
        now = Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
        added = (
            review_quad(item, UKG.comment, comment),
            review_quad(comment, RDF.type, UKG.Comment),
            review_quad(comment, RDFS.comment, Literal(text)),
            review_quad(comment, DCTERMS.creator, Literal(by.name)),
            review_quad(comment, DCTERMS.created, now),
        )

        def build() -> Change:
            self._refuse_unknown([item])
            return Change(judged=True, record=lambda _: added)

        self._writer.commit_built(build)
        return comment

    def _refuse_unknown(self, items: Sequence[NamedNode]) -> None:
        for item in items:
            if not self._review.exists(item):
                raise ReviewItemUnknown(item.value)


_Key = tuple[object, ...]


class Exceptions:
    """Looks up who accepted a result of a validation, when and why."""

    def __init__(self, review: ReviewQueue) -> None:
        self._decisions = dict(_accepted(review))

    def of(self, violation: Violation) -> Decided | None:
        """The decision by which a person accepted what violates, if any."""
        return self._decisions.get(_key(violation))


def _accepted(review: ReviewQueue) -> Iterator[tuple[_Key, Decided]]:
    for item in review.items(review.find(ReviewFilter(state=State.ACCEPTED))):
        if item.decisions and item.accepted:
            for violation in item.violations:
                yield _key(violation), item.decisions[-1]


def _key(violation: Violation) -> _Key:
    """What a result is about; a shape without a name has another one at every reading."""
    shape = None if isinstance(violation.shape, BlankNode) else violation.shape
    return violation.focus, violation.component, shape, violation.path, violation.value

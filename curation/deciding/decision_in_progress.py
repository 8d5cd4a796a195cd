"""The decisions on review items as they are recorded, with what an undo needs to know.

A decision names its items. Where it took statements out of the graph, it also names the items that hold
them, each with the run whose evidence was withdrawn; where a statement was corrected, the statements accepted
in its place. Quotes are not copied: they are deleted with the item when its document is removed.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.documents import Withdrawal, Withdrawals
from curation.review.review_item import (
    BY_RULES,
    PREFIX,
    Reviewer,
    ReviewItem,
    State,
    agent,
    agent_quads,
    item_iri,
    review_quad,
)
from curation.review.review_queue import ReviewQueue
from ontology import Schema
from shapes.errors import DecisionSettled, DecisionUnknown, ReasonNeeded, ReviewItemDecided
from shapes.gate.known_terms import unknown_terms
from sparql.model.change import Change, Origin, Rejection, Statement, Verdict, Violation, quad_of
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import ASSERTED, PROV, PROVENANCE, RDF, RDFS, RECORD, REVIEW, UKG, XSD
from sparql.provenance.records import EvidenceReader, Piece, evidence_iri, evidence_quads

_PREFIX = RECORD.term("decision/").value


@dataclass(frozen=True)
class PastDecision:
    """A decision that was made; `outcome` is the state that its items then had, `at` an xsd:dateTime.

    `withdrawn` are items with the run whose evidence of them left the graph, `revived` items whose statements
    came into the graph because of it, `corrected` the statements accepted in place of an item's own.
    """

    iri: NamedNode
    outcome: State
    by: str
    at: str
    reason: str | None
    items: tuple[NamedNode, ...]
    withdrawn: tuple[tuple[NamedNode, NamedNode], ...] = ()
    revived: tuple[NamedNode, ...] = ()
    corrected: Mapping[NamedNode, tuple[Triple, ...]] | None = None

    @property
    def identifier(self) -> str:
        """Its name for clients."""
        return self.iri.value.removeprefix(_PREFIX)


class DecisionHistory:
    """Reads the decisions on review items in the provenance graph."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store

    def find(self) -> list[NamedNode]:
        """All decisions on review items, newest first."""
        decisions = {
            quad.subject
            for quad in self._store.match_quads(None, RDF.type, UKG.Decision, PROVENANCE)
            if isinstance(quad.subject, NamedNode) and self._items(quad.subject)
        }
        dated = sorted(
            ((self._text(one, PROV.endedAtTime) or "", one.value) for one in decisions), reverse=True
        )
        return [NamedNode(name) for _, name in dated]

    def get(self, iri: NamedNode) -> PastDecision:
        """One decision. Raises `DecisionUnknown`."""
        items = self._items(iri)
        if not items:
            raise DecisionUnknown(iri.value.removeprefix(_PREFIX))
        agent = next(iter(self._nodes(iri, PROV.wasAssociatedWith)), None)
        withdrawn = []
        for part in self._nodes(iri, UKG.withdrew):
            pairs = zip(self._nodes(part, UKG.item), self._nodes(part, UKG.occurrence), strict=False)
            withdrawn += list(pairs)
        corrected = {}
        for part in self._nodes(iri, UKG.corrected):
            stated = tuple(t for t in self._objects(part, UKG.statement) if isinstance(t, Triple))
            corrected.update(dict.fromkeys(self._nodes(part, UKG.item), stated))
        return PastDecision(
            iri,
            State.of(next(iter(self._objects(iri, UKG.outcome)), None)),
            (self._text(agent, RDFS.label) if agent else None) or "",
            self._text(iri, PROV.endedAtTime) or "",
            self._text(iri, RDFS.comment),
            items,
            tuple(withdrawn),
            tuple(self._nodes(iri, UKG.revived)),
            corrected,
        )

    def _items(self, decision: NamedNode) -> tuple[NamedNode, ...]:
        """The review items that a decision is about; none where it is about a proposal."""
        return tuple(one for one in self._nodes(decision, PROV.used) if one.value.startswith(PREFIX))

    def _objects(self, subject: NamedNode, predicate: NamedNode) -> Iterator[Term]:
        return (quad.object for quad in self._store.match_quads(subject, predicate, None, PROVENANCE))

    def _nodes(self, subject: NamedNode, predicate: NamedNode) -> list[NamedNode]:
        found = (term for term in self._objects(subject, predicate) if isinstance(term, NamedNode))
        return sorted(found, key=lambda node: node.value)

    def _text(self, subject: NamedNode, predicate: NamedNode) -> str | None:
        return next((t.value for t in self._objects(subject, predicate) if isinstance(t, Literal)), None)


def named_decision(identifier: str) -> NamedNode:
    """The decision with an identifier or IRI. Raises `DecisionUnknown`."""
    try:
        return NamedNode(identifier if identifier.startswith(_PREFIX) else _PREFIX + identifier)
    except ValueError as error:
        raise DecisionUnknown(identifier) from error


def effect_quads(
    decision: NamedNode,
    withdrawn: Iterable[tuple[NamedNode, NamedNode]],
    revived: Iterable[NamedNode],
    corrected: Mapping[NamedNode, Iterable[Triple]],
) -> Iterator[Quad]:
    """What a decision did beside settling its items, as `PastDecision` has it."""
    for number, (item, run) in enumerate(withdrawn):
        part = NamedNode(f"{decision.value}/withdrawn/{number}")
        yield Quad(decision, UKG.withdrew, part, PROVENANCE)
        yield Quad(part, UKG.item, item, PROVENANCE)
        yield Quad(part, UKG.occurrence, run, PROVENANCE)
    for item in revived:
        yield Quad(decision, UKG.revived, item, PROVENANCE)
    for number, (item, triples) in enumerate(corrected.items()):
        part = NamedNode(f"{decision.value}/corrected/{number}")
        yield Quad(decision, UKG.corrected, part, PROVENANCE)
        yield Quad(part, UKG.item, item, PROVENANCE)
        for triple in triples:
            yield Quad(part, UKG.statement, triple, PROVENANCE)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a decision; `refused` are items whose statement the gate still refuses.

    `unchanged` are items whose state does not allow the decision, with that state. `fallen` are statements
    of other texts moved to review because they no longer conform, `revived` those that conform again.
    `added` enter the graph, or get another source; `withdrawn` lose a source, and stay only with another one.
    """

    decision: NamedNode | None
    done: tuple[NamedNode, ...] = ()
    refused: Mapping[NamedNode, tuple[Violation, ...]] = field(default_factory=dict)
    unchanged: Mapping[NamedNode, State] = field(default_factory=dict)
    fallen: tuple[Triple, ...] = ()
    revived: tuple[Triple, ...] = ()
    revision: int | None = None
    added: tuple[Triple, ...] = ()
    withdrawn: tuple[Triple, ...] = ()


@dataclass(frozen=True)
class DecisionBasis:
    """What decisions are made on: the queue, the evidence, and the rules in force."""

    review: ReviewQueue
    evidence: EvidenceReader
    withdrawals: Withdrawals
    schema: Callable[[], Schema]
    shapes_version: Callable[[], str]

    def evidence_of(self, item: ReviewItem) -> set[Piece]:
        """The evidence by which an item's statement is in the graph."""
        runs = self.review.occurrences(item.iri)
        return {
            piece for piece in self.evidence.about(item.triple) if self.evidence.run_of(piece.reifier) in runs
        }


class DecisionInProgress:
    """One decision in progress."""

    def __init__(self, basis: DecisionBasis, outcome: State, by: Reviewer, reason: str | None) -> None:
        self.items: list[ReviewItem] = []
        self._basis = basis
        self._outcome = outcome
        self._by = by
        self._reason = reason.strip() if reason and reason.strip() else None
        self._iri = RECORD.term("decision/" + uuid.uuid4().hex)
        self._unchanged: dict[NamedNode, State] = {}
        self._proposed: dict[NamedNode, tuple[Statement, ...]] = {}
        self._planned = Withdrawal()
        self._withdrawn: list[tuple[NamedNode, NamedNode]] = []
        self._deleted: set[Triple] = set()
        self._restored: list[tuple[ReviewItem, NamedNode]] = []
        self._again: dict[NamedNode, ReviewItem] = {}
        self._done: tuple[NamedNode, ...] = ()

    def choose(self, names: Sequence[NamedNode], allowed: Collection[State], verb: str) -> None:
        """Read the items of the decision, leaving out those in a state that does not allow it."""
        self.items, self._unchanged, self._withdrawn = [], {}, []
        self._deleted = set()
        for name in dict.fromkeys(names):
            item = self._basis.review.get(name)
            if item.state in allowed:
                self.items.append(item)
            elif len(names) == 1:
                raise ReviewItemDecided(item.identifier, item.state.value, verb)
            else:
                self._unchanged[name] = item.state

    def refuse_silent_exceptions(self, corrected: bool) -> None:
        """Raises `ReasonNeeded` where a statement would stay against the rules in force without a reason."""
        if self._reason is None and not corrected and any(item.is_of_rules for item in self.items):
            raise ReasonNeeded("An exception to the rules in force")

    def choose_latest(self, past: PastDecision) -> None:
        """Read the items on which a decision is the last one. Raises `DecisionSettled`."""
        self.items, self._unchanged = [], {}
        for item in self._basis.review.items(past.items):
            if item.decisions and item.decisions[-1].iri == past.iri and item.state is past.outcome:
                self.items.append(item)
            else:
                self._unchanged[item.iri] = item.state
        if not self.items:
            raise DecisionSettled(past.identifier)

    def restoring(self, past: PastDecision) -> Change:
        """The change that takes back what a decision added, and adds again what it withdrew."""
        basis = self._basis
        evidence = {piece for item in self.items for piece in basis.evidence.of_item(item.iri)}
        for item in basis.review.items(past.revived):
            if item.state is State.SUPERSEDED:
                evidence |= basis.evidence_of(item)
                self._again[item.iri] = item
        chosen = {item.iri for item in self.items}
        for name, run in past.withdrawn:
            if not run.value.startswith(BY_RULES) and not any(basis.evidence.quads(run)):
                continue  # Its document was removed since.
            for item in basis.review.items([name]) if name not in self._unchanged else ():
                if item.iri in chosen or item.state is State.OPEN:
                    self._restored.append((item, run))
        if not self._restored:
            return self.withdrawing(evidence)
        # The gate judges both together: what is restored may be what others rest on.
        self._planned = Withdrawal(evidence=frozenset(evidence))
        self._proposed = {item.iri: (item.statement,) for item, _ in self._restored}
        gone = {piece.triple for piece in evidence}
        from_texts = any(not run.value.startswith(BY_RULES) for _, run in self._restored)
        return Change(
            additions=tuple({item.triple: item.statement for item, _ in self._restored}.values()),
            withdrawals=frozenset(t for t in gone if basis.evidence.about(t) <= evidence),
            origin=Origin.EXTRACTED if from_texts else Origin.ASSERTED,
            partial=True,
            # What new rules found in the graph was against them there, and is again.
            judged=all(item.is_of_rules for item, _ in self._restored),
            record=self._record_restored,
            retract=self._retract_restored,
        )

    def accepting(self, proposed: dict[NamedNode, tuple[Statement, ...]], *, whole: bool) -> Change:
        """The change that adds statements; with `whole`, all or nothing."""
        self._proposed = proposed
        statements = {s.triple: s for found in proposed.values() for s in found}
        refused = {triple: reasons for triple in statements if (reasons := self._unknown(triple))}
        corrected: set[Piece] = set()
        for item in self.items:
            if all(statement.triple != item.triple for statement in proposed[item.iri]):
                corrected |= self.evidence_leaving(item)
        self._planned = Withdrawal(evidence=frozenset(corrected))
        about = self._basis.evidence
        gone = {piece.triple for piece in corrected}
        return Change(
            additions=tuple(s for t, s in statements.items() if t not in refused),
            removals=frozenset(self._deleted),
            withdrawals=frozenset(t for t in gone if about.about(t) <= corrected),
            origin=Origin.EXTRACTED,
            partial=not whole,
            refused=tuple(Rejection(statements[t], reasons) for t, reasons in refused.items()),
            record=self._record_accepted,
            retract=self._retract_accepted,
        )

    def withdrawing(self, evidence: Iterable[Piece]) -> Change:
        """The change that withdraws evidence and settles all chosen items."""
        self._planned = self._basis.withdrawals.plan(
            set(evidence), ignoring=[item.iri for item in self.items], deleted=self._deleted
        )
        change = self._planned.change
        return Change(
            additions=change.additions,
            removals=frozenset(self._deleted),
            withdrawals=change.withdrawals,
            origin=change.origin,
            partial=True,
            judged=True,
            record=self._record_withdrawn,
            retract=self._retract_withdrawn,
        )

    def outcome(self, verdict: Verdict, change: Change) -> Outcome:
        """The outcome to report."""
        reasons = {rejection.statement.triple: rejection.violations for rejection in verdict.rejected}
        refused = {
            item: tuple(v for statement in statements for v in reasons.get(statement.triple, ()))
            for item, statements in self._proposed.items()
            if item not in self._done or self._restored
        }
        if self._restored or change.dry_run:
            refused = {item: violations for item, violations in refused.items() if violations}
        return Outcome(
            decision=self._iri if self._done else None,
            done=self._done,
            refused=refused,
            unchanged=self._unchanged,
            fallen=tuple(rejection.statement.triple for rejection, _ in self._planned.fallen),
            revived=tuple(item.triple for item in self._planned.revived),
            revision=verdict.revision,
            added=tuple(statement.triple for statement in verdict.accepted),
            withdrawn=tuple(sorted(change.withdrawals | change.removals, key=str)),
        )

    def _unknown(self, triple: Triple) -> tuple[Violation, ...]:
        schema = self._basis.schema()
        if triple.predicate == RDF.type and schema.classes and not isinstance(triple.object, NamedNode):
            return (
                Violation(
                    focus=triple.subject,
                    message=f"{triple.object} is not a class. Give the IRI of one in the ontology.",
                    component=UKG.UnknownTerm,
                    path=RDF.type.value,
                    value=triple.object,
                ),
            )
        return unknown_terms(schema, triple)

    def _record_accepted(self, verdict: Verdict) -> Iterator[Quad]:
        if verdict.rejected and len(self.items) == 1:
            return
        accepted = {statement.triple for statement in verdict.accepted}
        done = [i for i in self.items if all(s.triple in accepted for s in self._proposed[i.iri])]
        self._done = tuple(item.iri for item in done)
        yield from self._decision()
        for item in done:
            for statement in self._proposed[item.iri]:
                yield from self._evidence_of(item, statement)

    def _evidence_of(self, item: ReviewItem, statement: Statement) -> Iterator[Quad]:
        run = item.origin.run
        reifier = evidence_iri(run, statement.triple)
        yield from evidence_quads(run, statement.triple, item.support)
        # A statement that was in the graph already keeps its own evidence when the decision is undone.
        if statement.triple != item.triple or not item.accepted:
            yield Quad(reifier, UKG.reviewItem, item.iri, PROVENANCE)
        yield Quad(reifier, UKG.decision, self._iri, PROVENANCE)
        yield Quad(reifier, PROV.wasAttributedTo, agent(self._by.name), PROVENANCE)

    def _shared(self) -> set[Piece]:
        """Evidence that the decided statements share with others: each has its own from now on."""
        about = self._basis.evidence
        found: set[Piece] = set()
        for item in self.items:
            run = item.origin.run
            for statement in self._proposed[item.iri] if item.iri in self._done else ():
                own = Piece(evidence_iri(run, statement.triple), statement.triple)
                found |= {
                    one for one in about.about(statement.triple) - {own} if about.run_of(one.reifier) == run
                }
        return found

    def _retract_accepted(self, verdict: Verdict) -> Iterator[Quad]:
        if not self._done:
            return
        yield from self._old_states()
        yield from self._basis.evidence.leaving(self._planned.evidence | self._shared())

    def _record_restored(self, verdict: Verdict) -> Iterator[Quad]:
        self._done = tuple(item.iri for item in self.items)
        yield from self._decision()
        accepted = {statement.triple for statement in verdict.accepted}
        for item, run in self._restored:
            if item.triple in accepted:
                if run.value.startswith(BY_RULES):
                    yield quad_of(item.triple, ASSERTED)
                else:
                    yield from evidence_quads(run, item.triple, item.support)
                if item.iri not in self._done:
                    yield review_quad(item.iri, UKG.status, State.SUPERSEDED.node)
        for iri in self._again:
            yield review_quad(iri, UKG.status, State.OPEN.node)

    def _retract_restored(self, verdict: Verdict) -> Iterator[Quad]:
        yield from self._old_states()
        accepted = {statement.triple for statement in verdict.accepted}
        for item, _ in self._restored:
            if item.triple in accepted and item.iri not in self._done:
                yield review_quad(item.iri, UKG.status, State.OPEN.node)
        for iri in self._again:
            yield review_quad(iri, UKG.status, State.SUPERSEDED.node)
        yield from self._basis.evidence.leaving(self._planned.evidence)

    def evidence_leaving(self, item: ReviewItem) -> set[Piece]:
        """The evidence of an item that the decision withdraws; the undo needs to know of it.

        Where new rules found the statement in the graph, that is all of it, and the statement itself.
        """
        found = self._basis.evidence_of(item)
        if item.is_of_rules:
            found = self._basis.evidence.about(item.triple)
            if self._basis.withdrawals.is_asserted(item.triple):
                self._deleted.add(item.triple)
                self._withdrawn.append((item.iri, item.origin.run))
        runs = {self._basis.evidence.run_of(piece.reifier) for piece in found}
        self._withdrawn += [(item.iri, run) for run in sorted(filter(None, runs), key=str)]
        return found

    def _effects(self) -> Iterator[Quad]:
        """What an undo needs to know beside the items."""
        withdrawn = [one for one in self._withdrawn if one[0] in self._done]
        for rejection, supports in self._planned.fallen:
            for one in supports:
                origin = self._basis.withdrawals.origin(one.run)
                withdrawn.append((item_iri(rejection.statement.triple, origin), one.run))
        own = {item.iri: item.triple for item in self.items}
        corrected = {
            item: [statement.triple for statement in statements]
            for item, statements in self._proposed.items()
            if item in self._done and [s.triple for s in statements] != [own.get(item)]
        }
        yield from effect_quads(self._iri, withdrawn, (item.iri for item in self._planned.revived), corrected)

    def _record_withdrawn(self, verdict: Verdict) -> Iterator[Quad]:
        self._done = tuple(item.iri for item in self.items)
        yield from self._decision()
        for iri in self._again:
            yield review_quad(iri, UKG.status, State.OPEN.node)
        yield from self._basis.withdrawals.record(self._planned)

    def _retract_withdrawn(self, verdict: Verdict) -> Iterator[Quad]:
        yield from self._old_states()
        for iri in self._again:
            yield review_quad(iri, UKG.status, State.SUPERSEDED.node)
        yield from self._basis.withdrawals.retract(self._planned)

    def _old_states(self) -> Iterator[Quad]:
        for item in self.items:
            if item.iri in self._done:
                yield review_quad(item.iri, UKG.status, item.state.node)

    def _decision(self) -> Iterator[Quad]:
        """The decision and who made it, for the items that are done."""
        if not self._done:
            return
        now = Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
        yield _said(self._iri, RDF.type, PROV.Activity)
        yield _said(self._iri, RDF.type, UKG.Decision)
        yield _said(self._iri, UKG.outcome, self._outcome.node)
        yield _said(self._iri, PROV.startedAtTime, now)
        yield _said(self._iri, PROV.endedAtTime, now)
        yield _said(self._iri, UKG.ontologyVersion, Literal(self._basis.schema().version))
        for ontology in self._basis.schema().version_iris:
            yield _said(self._iri, UKG.ontology, ontology)
        yield _said(self._iri, UKG.shapesVersion, Literal(self._basis.shapes_version()))
        if self._reason is not None:
            yield _said(self._iri, RDFS.comment, Literal(self._reason))
        yield from agent_quads(self._by, self._iri)
        if self._outcome is not State.OPEN:
            yield from self._effects()
        for item in self._done:
            yield _said(self._iri, PROV.used, item)
            yield Quad(item, UKG.decision, self._iri, REVIEW)
            yield Quad(item, UKG.status, self._outcome.node, REVIEW)


def _statement(item: ReviewItem) -> Statement:
    return Statement(item.triple, item.support.confidence)


def _said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal) -> Quad:
    return Quad(subject, predicate, value, PROVENANCE)

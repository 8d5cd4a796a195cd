"""Decisions of people about review items, carried out through the writer.

Accepting sends the statement, as it is or corrected, through the gate again. A decision is provenance: who
made it, when, why, and by which ontology and shapes the statement was judged then. The graph, the item and
the decision change in one commit, so a crash leaves a decision entirely stored or not at all.
"""

import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.decision_history import DecisionHistory, PastDecision, effect_quads
from curation.review import ReviewQueue
from curation.review_item import BY_RULES, ReviewItem, State, item_iri, quad
from curation.withdrawal import Withdrawal, Withdrawals
from ontology import Schema
from shapes.errors import DecisionSettled, ReasonNeeded, ReviewItemDecided
from shapes.gate.known_terms import unknown_terms
from sparql.model.change import Change, Origin, Rejection, Statement, Verdict, Violation
from sparql.model.support import quad_of
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import ASSERTED, PROV, PROVENANCE, RDF, RDFS, RECORD, REVIEW, UKG, XSD
from sparql.provenance.evidence import EvidenceReader, Piece
from sparql.provenance.records import digest, evidence_iri, evidence_quads
from sparql.writing.writer import Writer


@dataclass(frozen=True)
class Reviewer:
    """Who decides: a person's name, and the request's key, if any."""

    name: str
    key: str | None = None


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


class Decisions:
    """Accepts, rejects and reopens review items; every call is one commit."""

    def __init__(
        self,
        store: TripleStore,
        writer: Writer,
        review: ReviewQueue,
        *,
        schema: Callable[[], Schema],
        shapes_version: Callable[[], str],
    ) -> None:
        self._store = store
        self._writer = writer
        self._review = review
        self._schema = schema
        self._shapes_version = shapes_version
        self._evidence = EvidenceReader(store)
        self._withdrawals = Withdrawals(store, writer, review)
        self._history = DecisionHistory(store)
        self._dry_run = False

    def trial(self) -> "Decisions":
        """The same decisions as dry runs: the outcome is what would happen, and nothing is written."""
        tried = copy(self)
        tried._dry_run = True
        return tried

    def _carry_out(self, act: "_Deciding", build: Callable[[], Change]) -> Outcome:
        built: list[Change] = []

        def change() -> Change:
            built.append(replace(build(), dry_run=self._dry_run))
            return built[-1]

        verdict = self._writer.commit_built(change)
        return act.outcome(verdict, built[-1])

    def accept(
        self,
        items: Sequence[NamedNode],
        by: Reviewer,
        *,
        reason: str | None = None,
        statements: Sequence[Statement] | None = None,
    ) -> Outcome:
        """Accept the statements of open items that the gate accepts.

        `statements` replace the statement of a single item: all of them conform, or nothing changes. Items
        are judged together, so that a name and its kind can be accepted at once. Raises `ReviewItemUnknown`
        and, for a single item, `ReviewItemDecided`.
        """
        act = _Deciding(self, State.ACCEPTED, by, reason)

        def build() -> Change:
            act.choose(items, (State.OPEN,), "accept")
            act.refuse_silent_exceptions(statements is not None)
            proposed = {
                item.iri: tuple(statements) if statements is not None else (_statement(item),)
                for item in act.items
            }
            return act.accepting(proposed, whole=statements is not None)

        return self._carry_out(act, build)

    def accept_as(
        self, proposed: Mapping[NamedNode, Sequence[Statement]], by: Reviewer, *, reason: str | None = None
    ) -> Outcome:
        """Accept open items, each with the statements given for it, as far as the gate accepts them.

        They are judged together; refused items stay open. Raises `ReviewItemUnknown` and, for a
        single item, `ReviewItemDecided`.
        """
        act = _Deciding(self, State.ACCEPTED, by, reason)

        def build() -> Change:
            act.choose(tuple(proposed), (State.OPEN,), "accept")
            return act.accepting({item.iri: tuple(proposed[item.iri]) for item in act.items}, whole=False)

        return self._carry_out(act, build)

    def reject(self, items: Sequence[NamedNode], by: Reviewer, *, reason: str) -> Outcome:
        """Reject the statements of open items; one that is in the graph is deleted from it.

        From then on the same statement is refused from every source, until the item is reopened. Raises
        `ReviewItemUnknown`, `ReasonNeeded` and, for a single item, `ReviewItemDecided`.
        """
        if not reason.strip():
            raise ReasonNeeded
        act = _Deciding(self, State.REJECTED, by, reason)

        def build() -> Change:
            act.choose(items, (State.OPEN,), "reject")
            return act.withdrawing([e for item in act.items for e in act._evidence_leaving(item)])

        return self._carry_out(act, build)

    def reopen(self, items: Sequence[NamedNode], by: Reviewer, *, reason: str | None = None) -> Outcome:
        """Undo decisions: the items are open again, and what accepting them added is deleted."""
        act = _Deciding(self, State.OPEN, by, reason)

        def build() -> Change:
            act.choose(items, (State.ACCEPTED, State.REJECTED), "reopen")
            accepted = [e for item in act.items for e in self._evidence.of_item(item.iri)]
            return act.withdrawing(accepted)

        return self._carry_out(act, build)

    def undo(self, decision: NamedNode, by: Reviewer, *, reason: str | None = None) -> tuple[Outcome, ...]:
        """Undo a decision on those of its items that were not decided again since; the others are unchanged.

        After an acceptance or rejection its items are open again, and the graph says of them what it said
        before, as far as the gate accepts that. Where the decision itself reopened items, they are accepted
        or rejected as they were before: two commits where there were both. Raises `DecisionUnknown` and
        `DecisionSettled`.
        """
        past = self._history.get(decision)
        if past.outcome is State.OPEN:
            return self._redo(past, by, reason)
        act = _Deciding(self, State.OPEN, by, reason)

        def build() -> Change:
            act.choose_latest(past)
            return act.restoring(past)

        return (self._carry_out(act, build),)

    def _redo(self, past: PastDecision, by: Reviewer, reason: str | None) -> tuple[Outcome, ...]:
        """Decide again as before a decision that reopened items."""
        earlier: dict[NamedNode, list[NamedNode]] = {}
        for item in self._review.items(past.items):
            before = [one.iri for one in item.decisions]
            if before[-1:] == [past.iri] and len(before) > 1:
                earlier.setdefault(before[-2], []).append(item.iri)
        if not earlier:
            raise DecisionSettled(past.identifier)
        proposed: dict[NamedNode, tuple[Statement, ...]] = {}
        rejected: dict[str, list[NamedNode]] = {}
        for iri, items in earlier.items():
            made = self._history.get(iri)
            for item in self._review.items(items):
                if made.outcome is State.ACCEPTED:
                    corrected = (made.corrected or {}).get(item.iri)
                    stated = tuple(Statement(triple, item.support.confidence) for triple in corrected or ())
                    proposed[item.iri] = stated or (_statement(item),)
                else:
                    rejected.setdefault(made.reason or f"as in {made.identifier}", []).append(item.iri)
        outcomes = [self.accept_as(proposed, by, reason=reason)] if proposed else []
        return (*outcomes, *(self.reject(items, by, reason=reason or why) for why, items in rejected.items()))

    def evidence_of(self, item: ReviewItem) -> set[Piece]:
        """The evidence by which an item's statement is in the graph."""
        runs = self._review.occurrences(item.iri)
        return {
            piece
            for piece in self._evidence.about(item.triple)
            if self._evidence.run_of(piece.reifier) in runs
        }


class _Deciding:
    """One decision in progress."""

    def __init__(self, parent: Decisions, outcome: State, by: Reviewer, reason: str | None) -> None:
        self.items: list[ReviewItem] = []
        self._parent = parent
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
            item = self._parent._review.get(name)
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
        for item in self._parent._review.items(past.items):
            if item.decisions and item.decisions[-1].iri == past.iri and item.state is past.outcome:
                self.items.append(item)
            else:
                self._unchanged[item.iri] = item.state
        if not self.items:
            raise DecisionSettled(past.identifier)

    def restoring(self, past: PastDecision) -> Change:
        """The change that takes back what a decision added, and adds again what it withdrew."""
        parent = self._parent
        review = parent._review
        evidence = {piece for item in self.items for piece in parent._evidence.of_item(item.iri)}
        for item in review.items(past.revived):
            if item.state is State.SUPERSEDED:
                evidence |= parent.evidence_of(item)
                self._again[item.iri] = item
        chosen = {item.iri for item in self.items}
        for name, run in past.withdrawn:
            if not run.value.startswith(BY_RULES) and not any(parent._evidence.quads(run)):
                continue  # Its document was removed since.
            for item in review.items([name]) if name not in self._unchanged else ():
                if item.iri in chosen or item.state is State.OPEN:
                    self._restored.append((item, run))
        if not self._restored:
            return self.withdrawing(evidence)
        # The gate judges both together: what is restored may be what others rest on.
        self._planned = Withdrawal(evidence=frozenset(evidence))
        self._proposed = {item.iri: (_statement(item),) for item, _ in self._restored}
        gone = {piece.triple for piece in evidence}
        from_texts = any(not run.value.startswith(BY_RULES) for _, run in self._restored)
        return Change(
            additions=tuple({item.triple: _statement(item) for item, _ in self._restored}.values()),
            withdrawals=frozenset(t for t in gone if parent._evidence.about(t) <= evidence),
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
                corrected |= self._evidence_leaving(item)
        self._planned = Withdrawal(evidence=frozenset(corrected))
        about = self._parent._evidence
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
        self._planned = self._parent._withdrawals.plan(
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
        schema = self._parent._schema()
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
        yield Quad(reifier, PROV.wasAttributedTo, _agent(self._by.name), PROVENANCE)

    def _shared(self) -> set[Piece]:
        """Evidence that the decided statements share with others: each has its own from now on."""
        about = self._parent._evidence
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
        yield from self._parent._evidence.leaving(self._planned.evidence | self._shared())

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
                    yield quad(item.iri, UKG.status, State.SUPERSEDED.node)
        for iri in self._again:
            yield quad(iri, UKG.status, State.OPEN.node)

    def _retract_restored(self, verdict: Verdict) -> Iterator[Quad]:
        yield from self._old_states()
        accepted = {statement.triple for statement in verdict.accepted}
        for item, _ in self._restored:
            if item.triple in accepted and item.iri not in self._done:
                yield quad(item.iri, UKG.status, State.OPEN.node)
        for iri in self._again:
            yield quad(iri, UKG.status, State.SUPERSEDED.node)
        yield from self._parent._evidence.leaving(self._planned.evidence)

    def _evidence_leaving(self, item: ReviewItem) -> set[Piece]:
        """The evidence of an item that the decision withdraws; the undo needs to know of it.

        Where new rules found the statement in the graph, that is all of it, and the statement itself.
        """
        found = self._parent.evidence_of(item)
        if item.is_of_rules:
            found = self._parent._evidence.about(item.triple)
            if self._parent._withdrawals.is_asserted(item.triple):
                self._deleted.add(item.triple)
                self._withdrawn.append((item.iri, item.origin.run))
        runs = {self._parent._evidence.run_of(piece.reifier) for piece in found}
        self._withdrawn += [(item.iri, run) for run in sorted(filter(None, runs), key=str)]
        return found

    def _effects(self) -> Iterator[Quad]:
        """What an undo needs to know beside the items."""
        withdrawn = [one for one in self._withdrawn if one[0] in self._done]
        for rejection, supports in self._planned.fallen:
            for one in supports:
                origin = self._parent._withdrawals.origin(one.run)
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
            yield quad(iri, UKG.status, State.OPEN.node)
        yield from self._parent._withdrawals.record(self._planned)

    def _retract_withdrawn(self, verdict: Verdict) -> Iterator[Quad]:
        yield from self._old_states()
        for iri in self._again:
            yield quad(iri, UKG.status, State.SUPERSEDED.node)
        yield from self._parent._withdrawals.retract(self._planned)

    def _old_states(self) -> Iterator[Quad]:
        for item in self.items:
            if item.iri in self._done:
                yield quad(item.iri, UKG.status, item.state.node)

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
        yield _said(self._iri, UKG.ontologyVersion, Literal(self._parent._schema().version))
        for ontology in self._parent._schema().version_iris:
            yield _said(self._iri, UKG.ontology, ontology)
        yield _said(self._iri, UKG.shapesVersion, Literal(self._parent._shapes_version()))
        if self._reason is not None:
            yield _said(self._iri, RDFS.comment, Literal(self._reason))
        yield from agent_quads(self._by, self._iri)
        if self._outcome is not State.OPEN:
            yield from self._effects()
        for item in self._done:
            yield _said(self._iri, PROV.used, item)
            yield Quad(item, UKG.decision, self._iri, REVIEW)
            yield Quad(item, UKG.status, self._outcome.node, REVIEW)


def agent_quads(by: Reviewer, activity: NamedNode) -> Iterator[Quad]:
    """Who carried out an activity (PROV-O, 3.3), and with which key."""
    agent = _agent(by.name)
    yield _said(activity, PROV.wasAssociatedWith, agent)
    yield _said(agent, RDF.type, PROV.Agent)
    yield _said(agent, RDFS.label, Literal(by.name))
    if by.key is not None and by.key != by.name:
        key = _agent(by.key)
        yield _said(agent, PROV.actedOnBehalfOf, key)
        yield _said(key, RDF.type, PROV.Agent)
        yield _said(key, RDFS.label, Literal(by.key))


def _agent(name: str) -> NamedNode:
    return RECORD.term("agent/" + digest(name))


def _statement(item: ReviewItem) -> Statement:
    return Statement(item.triple, item.support.confidence)


def _said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal) -> Quad:
    return Quad(subject, predicate, value, PROVENANCE)

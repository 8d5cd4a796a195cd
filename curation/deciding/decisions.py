"""Decisions of people about review items, carried out through the writer.

Accepting sends the statement, as it is or corrected, through the gate again. A decision is provenance: who
made it, when, why, and by which ontology and shapes the statement was judged then. The graph, the item and
the decision change in one commit, so a crash leaves a decision entirely stored or not at all.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from pyoxigraph import NamedNode

from curation.deciding.decision_in_progress import (
    DecisionBasis,
    DecisionHistory,
    DecisionInProgress,
    Outcome,
    PastDecision,
)
from curation.documents import Withdrawals
from curation.review.review_item import Reviewer, State
from curation.review.review_queue import ReviewQueue
from ontology import Schema
from shapes.errors import DecisionSettled, ReasonNeeded
from sparql.model.change import Change, Statement
from sparql.model.triple_store import TripleStore
from sparql.provenance.records import EvidenceReader
from sparql.writing.writer import Writer


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
        self._writer = writer
        withdrawals = Withdrawals(store, writer, review)
        self._basis = DecisionBasis(review, EvidenceReader(store), withdrawals, schema, shapes_version)
        self._history = DecisionHistory(store)
        self._dry_run = False

    def as_dry_run(self) -> "Decisions":
        """The same decisions as dry runs: the outcome is what would happen, and nothing is written."""
        tried = copy(self)
        tried._dry_run = True
        return tried

    def _carry_out(self, act: DecisionInProgress, build: Callable[[], Change]) -> Outcome:
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
        act = DecisionInProgress(self._basis, State.ACCEPTED, by, reason)

        def build() -> Change:
            act.choose(items, (State.OPEN,), "accept")
            act.refuse_silent_exceptions(statements is not None)
            proposed = {
                item.iri: tuple(statements) if statements is not None else (item.statement,)
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
        act = DecisionInProgress(self._basis, State.ACCEPTED, by, reason)

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
        act = DecisionInProgress(self._basis, State.REJECTED, by, reason)

        def build() -> Change:
            act.choose(items, (State.OPEN,), "reject")
            return act.withdrawing([e for item in act.items for e in act.evidence_leaving(item)])

        return self._carry_out(act, build)

    def reopen(self, items: Sequence[NamedNode], by: Reviewer, *, reason: str | None = None) -> Outcome:
        """Undo decisions: the items are open again, and what accepting them added is deleted."""
        act = DecisionInProgress(self._basis, State.OPEN, by, reason)

        def build() -> Change:
            act.choose(items, (State.ACCEPTED, State.REJECTED), "reopen")
            accepted = [e for item in act.items for e in self._basis.evidence.of_item(item.iri)]
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
        act = DecisionInProgress(self._basis, State.OPEN, by, reason)

        def build() -> Change:
            act.choose_latest(past)
            return act.restoring(past)

        return (self._carry_out(act, build),)

    def _redo(self, past: PastDecision, by: Reviewer, reason: str | None) -> tuple[Outcome, ...]:
        """Decide again as before a decision that reopened items."""
        earlier: dict[NamedNode, list[NamedNode]] = {}
        for item in self._basis.review.items(past.items):
            before = [one.iri for one in item.decisions]
            if before[-1:] == [past.iri] and len(before) > 1:
                earlier.setdefault(before[-2], []).append(item.iri)
        if not earlier:
            raise DecisionSettled(past.identifier)
        proposed: dict[NamedNode, tuple[Statement, ...]] = {}
        rejected: dict[str, list[NamedNode]] = {}
        for iri, items in earlier.items():
            made = self._history.get(iri)
            for item in self._basis.review.items(items):
                if made.outcome is State.ACCEPTED:
                    corrected = (made.corrected or {}).get(item.iri)
                    stated = tuple(item.stating(triple) for triple in corrected or ())
                    proposed[item.iri] = stated or (item.statement,)
                else:
                    rejected.setdefault(made.reason or f"as in {made.identifier}", []).append(item.iri)
        outcomes = [self.accept_as(proposed, by, reason=reason)] if proposed else []
        return (*outcomes, *(self.reject(items, by, reason=reason or why) for why, items in rejected.items()))

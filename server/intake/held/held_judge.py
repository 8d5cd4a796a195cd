"""Judges held batches while others write, and commits them in the order of their arrival.

Nothing of a batch is in the graph before. First its shapes are validated in the background while others
write. Then, under the writer's lock and in the batch's own commit, only what that found suspect and what was
written meanwhile is judged again. So a held batch is judged on the graph as it is when it is committed, as if
it had been sent then.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pyoxigraph import Quad

from server.errors import HeldSettled, HeldUnreadable, UnknownResource
from server.http.pages import page
from server.intake.batch import HeldEnding, Submission
from server.intake.held.held_store import HeldBatches, HeldState
from server.rules.ruleset import Ruleset
from sparql.model.change import BackgroundValidation, Change, Reach
from sparql.model.errors import SparqlError, StoreClosing, TooMuchDepends
from sparql.model.triple_store import TripleStore
from sparql.writing.concurrent_changes import ConcurrentChanges
from sparql.writing.writer import Writer

if TYPE_CHECKING:
    from server.intake.intake import Intake
    from server.intake.outcome import Outcome
    from shapes.gate.gate import ShapesGate

_SURVEYS = 6
"""After so many validations outdated by other writes, the batch is judged while others wait."""
_log = logging.getLogger("urbankg.held")


class HeldJudge:
    """Judges or withdraws held batches. Its methods block."""

    def __init__(
        self, store: TripleStore, writer: Writer, intake: Callable[[], Intake], rules: Callable[[], Ruleset]
    ) -> None:
        self.batches = HeldBatches(store)
        self._store = store
        self._writer = writer
        self._intake = intake
        self._rules = rules
        self._problems: dict[str, str] = {}

    def try_again(self) -> None:
        """Clear the recorded problems, since the batches are about to be judged again."""
        self._problems.clear()

    def describe(self, identifier: str) -> dict[str, Any]:
        """A batch as `GET /held/{id}` shows it; `problem` is why a waiting one could not be judged.

        Raises `UnknownResource`.
        """
        batch = self.batches.get(identifier)
        waits = batch.state is HeldState.WAITING
        return {**batch.json(), "problem": self._problems.get(identifier) if waits else None}

    def judge_waiting(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Judge and commit every waiting batch. One that is `stopped` in the middle keeps waiting."""
        for identifier in self.batches.find(HeldState.WAITING):
            if stopped():
                return
            self._problems.pop(identifier, None)
            try:
                self._judge(identifier, stopped)
            except (HeldSettled, UnknownResource):
                # A client withdrew it meanwhile.
                continue
            except StoreClosing:
                return
            except (SparqlError, HeldUnreadable) as error:
                self._problems[identifier] = str(error)
                _log.error("The held batch %s could not be judged and keeps waiting: %s", identifier, error)

    def page(self, status: str, offset: int, limit: int) -> dict[str, Any]:
        """A page of the batches of a status, or of `any`, as `GET /held` shows it."""
        found = self.batches.find(None if status == "any" else HeldState(status))
        return page("batches", found, offset, limit, self.describe)

    def withdraw(self, identifier: str) -> dict[str, Any]:
        """Withdraw a batch, and return it as `GET /held/{id}` does.

        Raises `UnknownResource`, and `HeldSettled` when it is judged already.
        """

        def build() -> Change:
            self._check(identifier)
            return Change(
                record=lambda verdict: self.batches.ended(identifier, HeldState.WITHDRAWN, None),
                retract=lambda verdict: self.batches.outdated(identifier),
            )

        self._writer.commit_built(build)
        self._problems.pop(identifier, None)
        return self.describe(identifier)

    def _judge(self, identifier: str, stopped: Callable[[], bool]) -> None:
        from shapes.gate.background_validation import validate_in_background

        submission = self.batches.submission(identifier)
        found: TooMuchDepends | None = None
        known: BackgroundValidation | None = None
        for _ in range(_SURVEYS):
            gate = self._rules().gate
            with self._writer.recording_changes() as watch:
                if found is not None:
                    known = validate_in_background(
                        gate, self._store, found.additions, found.shapes, earlier=known, stopped=stopped
                    )
                    if known is None:
                        return
                current = partial(self._current, known, gate, watch)
                try:
                    self._end(submission, Reach.BOUNDED, current)
                    return
                except TooMuchDepends as error:
                    found = error
        self._end(submission, Reach.UNLIMITED, lambda: None)

    def _end(
        self, submission: Submission, reach: Reach, current: Callable[[], BackgroundValidation | None]
    ) -> None:
        """Judge a batch, and commit it with its final state. Raises `HeldSettled` and `TooMuchDepends`."""
        identifier = submission.identifier

        def additions(outcome: Outcome) -> list[Quad]:
            state = HeldState.COMMITTED if outcome.verdict.accepted else HeldState.REFUSED
            answer = outcome.json()
            answer["revision"] = self._store.revision() + 1
            return self.batches.ended(identifier, state, answer)

        ending = HeldEnding(
            check=lambda: self._check(identifier),
            reach=reach,
            validated=current,
            additions=additions,
            removals=lambda: self.batches.outdated(identifier),
        )
        verdict = self._intake().settle(submission.fresh(), ending).verdict
        _log.info(
            "Judged the held batch %s: %d accepted, %d refused",
            identifier,
            len(verdict.accepted),
            len(verdict.rejected),
        )

    def _current(
        self, known: BackgroundValidation | None, gate: ShapesGate, watch: ConcurrentChanges
    ) -> BackgroundValidation | None:
        """A validation updated by what was committed since it began; under the writer's lock."""
        from shapes.gate.background_validation import brought_up_to_date

        if known is None or watch.lost or self._rules().gate is not gate:
            return None
        return brought_up_to_date(known, gate, self._store, watch.additions, watch.removals)

    def _check(self, identifier: str) -> None:
        """Under the writer's lock. Raises `UnknownResource`, and `HeldSettled`."""
        state = self.batches.get(identifier).state
        if state is not HeldState.WAITING:
            raise HeldSettled(identifier, state.value)

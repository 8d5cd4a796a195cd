"""What was let in although more depends on it than is judged with a change, judged beside requests.

The verdict says so with a warning (`ukg:NotJudged`), and its item in the review queue is the note that this
is to be done: it outlives a restart. What fails then goes to review, statement by statement; the note is
settled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from pyoxigraph import Quad

from server.rule_effects import RuleEffects
from server.rulebook import Rulebook
from sparql.change import Verdict, Violation
from sparql.source import Overlay, Term
from sparql.triple_store import TripleStore
from sparql.vocabulary import REVIEW, SH, UKG
from sparql.writer import Writer

if TYPE_CHECKING:
    from shapes.review import ReviewQueue
    from shapes.review_item import ReviewItem

_CHUNK = 2_000
"""So many focus nodes are judged between two looks whether the server ends."""
_MOST = 1_000
"""After so many violations of one shape no more are looked for; the log says so."""
_log = logging.getLogger("urbankg.hubs")


def leaves_unjudged(verdict: Verdict) -> bool:
    """Whether something was committed that is not judged in full."""
    return verdict.revision is not None and any(
        _is_note(violation) for warning in verdict.warnings for violation in warning.violations
    )


class HubJudge:
    """Judges in full what waits for it. Its methods block."""

    def __init__(
        self,
        store: TripleStore,
        writer: Writer,
        review: ReviewQueue,
        effects: RuleEffects,
        rules: Callable[[], Rulebook],
    ) -> None:
        self._store = store
        self._writer = writer
        self._review = review
        self._effects = effects
        self._rules = rules

    def judge_waiting(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Judge everything that is noted as not judged. What is `stopped` in the middle stays noted."""
        for iri in self._review.unjudged():
            item = self._review.get(iri)
            violations = self._judged(item, stopped)
            if violations is None:
                return
            self._settle(item, violations)

    def _judged(self, item: ReviewItem, stopped: Callable[[], bool]) -> list[Violation] | None:
        """What the statement newly breaks; None when stopped."""
        found: list[Violation] = []
        for note in item.violations:
            if _is_note(note) and note.shape is not None:
                new: list[Violation] = []
                for portion in self._portions(item, note.shape):
                    if stopped():
                        return None
                    new += portion
                    if len(new) > _MOST:
                        _log.warning("More than %d nodes fail %s; the others are not told", _MOST, note.shape)
                        break
                found += new[:_MOST]
        return found

    def _portions(self, item: ReviewItem, node: Term) -> Iterator[list[Violation]]:
        """The violations of a shape that were not there without the statement (or with it, if it went)."""
        from shapes.terms import to_oxigraph

        gate = self._rules().gate
        shape = next((one for one in gate.pairs.shapes.values() if to_oxigraph(one.node) == node), None)
        if shape is None:
            # The shape went with an edit, which judged its own effects.
            return
        there = item.accepted
        before = Overlay(self._store, () if there else [item.triple], [item.triple] if there else ())
        for chunk in _chunks(gate.pairs.targets(shape, self._store)):
            suspects = gate.suspects(self._store, {shape.name: set(chunk)})
            now = [one for one in gate.check(self._store, suspects) if one.severity != SH.Info]
            if not now:
                yield []
                continue
            failing = {one.focus for one in now if gate.pairs.is_target(before, shape.name, one.focus)}
            then = {_key(one) for one in gate.check(before, {shape.name: failing})} if failing else set()
            yield [one for one in now if _key(one) not in then]

    def _settle(self, item: ReviewItem, violations: list[Violation]) -> None:
        """Put before people what fails, and settle the note unless the item has other reasons."""
        from shapes.review_item import State, Whence

        whence = Whence(item.run or item.iri, item.document, "judged beside requests")
        additions = list(self._effects.flagged(violations, whence))
        removals = list(self._review.notes_of(item.iri))
        if all(_is_note(one) for one in item.violations):
            removals = [Quad(item.iri, UKG.status, State.OPEN.node, REVIEW)]
            additions.append(Quad(item.iri, UKG.status, State.SUPERSEDED.node, REVIEW))
        if self._review.state(item.iri) is not State.OPEN:
            # A person decided it meanwhile.
            return
        self._writer.write_system(additions, removals)
        _log.info("Judged in full: %s; %d violations", item.triple, len(violations))


def _is_note(violation: Violation) -> bool:
    return violation.component == UKG.NotJudged and violation.severity == SH.Warning


def _key(violation: Violation) -> tuple[object, ...]:
    return (violation.shape, violation.focus, violation.component, violation.path, violation.value)


def _chunks(nodes: Iterable[Term]) -> Iterator[list[Term]]:
    rest = iter(sorted(nodes, key=str))
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk

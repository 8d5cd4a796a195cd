"""What a dry run of an edit has to be sent: of two large sets of rules, only what differs.

An edit of a shapes file changes few of its shapes. Where the ontology stays, no other shape can fail or pass
by it, and unless a statement of the review queue was refused by one of them, no other is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from ontology import Schema
from shapes.authoring.impact import changed_shapes, queued_by
from shapes.authoring.impact_results import ComparedRules, Impact, QueuedStatement
from sparql.provenance.term_rewrites import LEAVE, Rewriting

__all__ = ["Comparison", "comparison"]


@dataclass(frozen=True)
class Comparison:
    """Both sides and the open items of the queue, or that part of them on which the impact depends."""

    before: ComparedRules
    after: ComparedRules
    queue: Sequence[QueuedStatement]
    waiting: int | None = None
    """How many statements wait, where the queue was left out."""

    def whole(self, steps: Iterator[Impact]) -> Iterator[Impact]:
        """The impact of the whole, from that of the parts."""
        for step in steps:
            yield step if self.waiting is None else replace(step, waiting=self.waiting)


def comparison(
    before: ComparedRules,
    after: ComparedRules,
    queue: Sequence[QueuedStatement] = (),
    rewriting: Rewriting = LEAVE,
) -> Comparison:
    """What `impact_in_steps` needs for the same result."""
    if before.schema is not after.schema or rewriting != LEAVE:
        return Comparison(before, after, queue)
    names = changed_shapes(before, after).keys()
    waiting = [item for item in queue if not item.accepted]
    if queued_by(waiting, after.schema, set(names), axioms=False):
        return Comparison(before, after, queue)
    return Comparison(_part(before, names), _part(after, names), (), len(waiting))


def _part(rules: ComparedRules, names: Collection[str]) -> ComparedRules:
    gate = rules.gate.part(names)
    return ComparedRules(Schema.empty(), gate.files, gate)

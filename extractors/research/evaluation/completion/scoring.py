"""Scores of relations against the computed ones, and of answering without looking, beside them.

In released pairs half of the relations are DC: whoever always answers DC scores as much, so that baseline
stands beside every score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from extractors.readers.costs import Cost
from extractors.research.evaluation.estimates import Estimate, estimate_json, ratio
from geo.relate.rcc8 import RCC5

__all__ = ["Answered", "Scores", "baselines", "score"]


@dataclass(frozen=True)
class Answered:
    """What was said of one pair; `relation` is None where no usable answer came."""

    truth: RCC5
    relation: RCC5 | None
    cost: Cost = field(default_factory=Cost)
    rounds: int = 0
    faithful: bool = False
    tools: int = 0
    error: str | None = None


@dataclass(frozen=True)
class Scores:
    """Of one way to answer. `five` takes IN either way round, `directed` also asks which place is inside.

    `found` counts for each relation the pairs that have it and those of them that were answered so.
    """

    name: str
    pairs: int
    five: Estimate | None
    directed: Estimate | None
    found: dict[RCC5, tuple[int, int]]
    said: Counter[str]
    failed: int = 0
    faithful: int = 0
    tools: int = 0
    cost: Cost = field(default_factory=Cost)

    def json(self) -> dict[str, Any]:
        """The scores as JSON."""
        return {
            "pairs": self.pairs,
            "five": estimate_json(self.five),
            "directed": estimate_json(self.directed),
            "relations": {
                relation.value: {"pairs": count, "right": right}
                for relation, (count, right) in self.found.items()
            },
            "answers": dict(self.said),
            "failed": self.failed,
            "faithful": self.faithful,
            "tool_calls": self.tools,
        }


def score(name: str, answers: Sequence[Answered], *, seed: int = 0) -> Scores:
    """Score the answers to the same pairs in the same order."""
    ones = [1.0] * len(answers)
    of_five = [float(_plain(one.relation) == _plain(one.truth)) for one in answers]
    directed = [float(one.relation is one.truth) for one in answers]
    found = {
        relation: (
            sum(one.truth is relation for one in answers),
            sum(one.truth is relation and one.relation is relation for one in answers),
        )
        for relation in RCC5
    }
    return Scores(
        name,
        len(answers),
        ratio(of_five, ones, seed=seed) if answers else None,
        ratio(directed, ones, seed=seed) if answers else None,
        found,
        Counter(one.relation.value if one.relation else "none" for one in answers),
        failed=sum(one.relation is None for one in answers),
        faithful=sum(one.faithful for one in answers),
        tools=sum(one.tools for one in answers),
        cost=sum((one.cost for one in answers), Cost()),
    )


def baselines(truths: Sequence[RCC5], *, seed: int = 0) -> list[Scores]:
    """What answering DC always scores, and the most frequent relation where that is another one."""
    most = Counter(truths).most_common(1)[0][0]
    always = list(dict.fromkeys((RCC5.DC, most)))
    return [
        score(f"always {one.value}", [Answered(truth, one) for truth in truths], seed=seed) for one in always
    ]


def _plain(relation: RCC5 | None) -> RCC5 | None:
    return RCC5.IN if relation is RCC5.INi else relation

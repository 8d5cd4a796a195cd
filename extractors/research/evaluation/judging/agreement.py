"""Several judges: their majority, and how far they agree (UrbanKGent, section 5.1.4 and appendix D)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import StatisticsError, correlation
from typing import Any

from extractors.research.evaluation.estimates import Estimate, estimate_json, ratio
from extractors.research.evaluation.judging.items import Judgment

__all__ = ["Agreement", "Summary", "agreement", "majority", "spearman", "summary"]


@dataclass(frozen=True)
class Summary:
    """What one judge holds: true and false claims, and how many of each a group (a text) has."""

    judge: str
    judged: int
    true: int
    false: int
    groups: int
    precision: Estimate | None

    def json(self) -> dict[str, Any]:
        """The summary as JSON."""
        groups = self.groups or 1
        return {
            "judge": self.judge,
            "judged": self.judged,
            "true": self.true,
            "false": self.false,
            "true_per_text": round(self.true / groups, 3),
            "false_per_text": round(self.false / groups, 3),
            "precision": estimate_json(self.precision),
        }


@dataclass(frozen=True)
class Agreement:
    """Two judges on what both have judged.

    `same` is the share of equal verdicts, `kappa` that share beyond chance (Cohen), `rank` Spearman's
    correlation of the numbers of true claims by group; None where there is too little to tell.
    """

    one: str
    other: str
    items: int
    groups: int
    same: float | None
    kappa: float | None
    rank: float | None

    def json(self) -> dict[str, Any]:
        """The agreement as JSON."""
        return {
            "judges": [self.one, self.other],
            "items": self.items,
            "groups": self.groups,
            "same": _rounded(self.same),
            "kappa": _rounded(self.kappa),
            "spearman": _rounded(self.rank),
        }


def majority(judgments: Iterable[Judgment], judge: str = "majority") -> list[Judgment]:
    """What most judges hold of each item; a tie is no judgment. The confidence is the share of votes."""
    votes: dict[str, list[Judgment]] = defaultdict(list)
    for one in judgments:
        votes[one.item.identifier].append(one)
    found = []
    for held in votes.values():
        true = sum(one.verdict for one in held)
        if 2 * true != len(held):
            verdict = 2 * true > len(held)
            share = (true if verdict else len(held) - true) / len(held)
            found.append(Judgment(held[0].item, verdict, judge, share))
    return found


def summary(judge: str, judgments: Sequence[Judgment], *, seed: int = 0) -> Summary:
    """Count true and false; the interval draws groups anew, since claims of one text hang together."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for one in judgments:
        groups[one.item.group].append(one.verdict)
    true = sum(map(sum, groups.values()))
    precision = None
    if groups:
        precision = ratio([sum(v) for v in groups.values()], [len(v) for v in groups.values()], seed=seed)
    return Summary(judge, len(judgments), true, len(judgments) - true, len(groups), precision)


def agreement(one: Sequence[Judgment], other: Sequence[Judgment]) -> Agreement:
    """Compare two judges on the items that both have judged."""
    first = {found.item.identifier: found for found in one}
    second = {found.item.identifier: found for found in other}
    shared = [name for name in first if name in second]
    pairs = [(first[name].verdict, second[name].verdict) for name in shared]
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name in shared:
        counts[first[name].item.group][0] += first[name].verdict
        counts[first[name].item.group][1] += second[name].verdict
    left, right = [pair[0] for pair in counts.values()], [pair[1] for pair in counts.values()]
    same = sum(a is b for a, b in pairs) / len(pairs) if pairs else None
    return Agreement(
        one[0].judge if one else "", other[0].judge if other else "",
        len(shared), len(counts), same, _kappa(pairs, same), spearman(left, right),
    )  # fmt: skip


def spearman(left: Sequence[float], right: Sequence[float]) -> float | None:
    """The rank correlation, ties having their mean rank; None for fewer than three, or all equal."""
    if len(left) < 3:
        return None
    try:
        return correlation(_ranks(left), _ranks(right))
    except StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    places: Mapping[float, list[int]] = defaultdict(list)
    for place, value in enumerate(sorted(values), 1):
        places[value].append(place)
    return [sum(places[value]) / len(places[value]) for value in values]


def _kappa(pairs: Sequence[tuple[bool, bool]], same: float | None) -> float | None:
    if same is None:
        return None
    a, b = (sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1))
    chance = a * b + (1 - a) * (1 - b)
    return None if chance == 1 else (same - chance) / (1 - chance)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)

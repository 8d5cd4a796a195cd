"""What the gate accepted, by relation: a threshold of confidence is a promise about each of them.

Of what is accepted with a confidence of at least `SURE`, three quarters are to be right, whatever the
relation is. Right is what the gold has, or what it allows beside that (`also`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from extractors.prompting.prompt import IS_A
from extractors.research.evaluation.rte import ScoredTriple, TextResult
from server.cli.output import print_report

__all__ = ["SURE", "RelationCounts", "by_relation", "counts_in", "print_by_relation"]

SURE: Final = 0.8
"""The confidence from which three quarters are promised to be right."""
_PROMISED: Final = 0.75
_FEWEST: Final = 4
"""So few statements of a relation say nothing of it."""


@dataclass(frozen=True)
class RelationCounts:
    """Accepted statements of one relation: all, those the gold has, those it allows; then the sure ones."""

    accepted: int = 0
    right: int = 0
    allowed: int = 0
    sure: int = 0
    sure_right: int = 0
    sure_allowed: int = 0

    def plus(self, one: ScoredTriple) -> RelationCounts:
        """These counts with one more accepted statement."""
        allowed = one.right or one.named
        sure = one.confidence is not None and one.confidence >= SURE
        return RelationCounts(
            self.accepted + 1,
            self.right + one.right,
            self.allowed + allowed,
            self.sure + sure,
            self.sure_right + (sure and one.right),
            self.sure_allowed + (sure and allowed),
        )

    @property
    def keeps_promise(self) -> bool | None:
        """Whether enough of the sure ones are right; None where they are too few to say."""
        return None if self.sure < _FEWEST else self.sure_allowed >= _PROMISED * self.sure


def by_relation(results: Iterable[TextResult]) -> Mapping[str, RelationCounts]:
    """Count the accepted relations, the most frequent first; kinds are counted apart (`Scores.kinds`)."""
    found: dict[str, RelationCounts] = defaultdict(RelationCounts)
    for result in results:
        for one in result.said:
            if one.accepted and one.words[1] != IS_A:
                found[one.told[1]] = found[one.told[1]].plus(one)
    return dict(sorted(found.items(), key=lambda item: (-item[1].accepted, item[0])))


def counts_in(report: Path) -> Mapping[str, RelationCounts]:
    """The counts of a run by its report, `urban.json`."""
    found = json.loads(report.read_text(encoding="utf-8"))["relations"]
    return {name: RelationCounts(**counts) for name, counts in found.items()}


def print_by_relation(found: Mapping[str, RelationCounts]) -> None:
    """A row for each relation that has enough sure statements, those that break the promise first."""
    rows = [(name, one) for name, one in found.items() if one.keeps_promise is not None]
    rows.sort(key=lambda row: row[1].keeps_promise is True)
    print_report(
        f"accepted relations with a confidence of at least {SURE}",
        ("relation", "sure", "right", "with what the gold allows", f"at least {_PROMISED}"),
        [
            (
                name,
                str(one.sure),
                str(one.sure_right),
                str(one.sure_allowed),
                "yes" if one.keeps_promise else "no",
            )
            for name, one in rows
        ],
    )

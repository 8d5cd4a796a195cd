"""The tables of all methods as one Markdown file, refused ones with their reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from extractors.models.accounting import Prices
from extractors.readers.costs import Cost
from extractors.research.evaluation.completion.scoring import Scores as CompletionScores
from extractors.research.evaluation.estimates import cell
from extractors.research.evaluation.scores import Scores

__all__ = ["MethodsReport", "Refused"]

_EXTRACTION: Final = (
    "row", "method", "texts", "precision", "with named kinds", "recall", "right / accepted / gold",
    "the model said: right / all", "OC", "types", "failed", "s a text", "tokens a text, in and out",
)  # fmt: skip
_COMPLETION: Final = (
    "row", "pairs", "right of five", "with direction", "no answer", "tools called", "s a pair",
    "tokens a pair, in and out",
)  # fmt: skip


@dataclass(frozen=True)
class Refused:
    """Why a method was not run: the model is known not to follow it."""

    reason: str


@dataclass
class MethodsReport:
    """What was measured so far; a title's rows are methods by the names of their rows.

    `model` and `drawn` say on which model and on which texts and pairs.
    """

    model: str
    drawn: str
    prices: Prices
    extraction: dict[str, dict[str, tuple[str, Scores | Refused]]] = field(default_factory=dict)
    completion: list[tuple[str, CompletionScores | Refused]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """The file."""
        self.reasons = []
        parts = [
            "# Methods compared",
            f"Model: {self.model}. {self.drawn}. Intervals are of 95 %, the texts or pairs drawn anew 1,000 "
            "times. Precision and recall are strict, of what the gate accepts; the column beside the "
            "precision counts kinds that a name says itself as right. OC: share of what the model said whose "
            "relation or kind the ontology has.",
        ]
        for title, rows in self.extraction.items():
            lines = [self._extraction_row(name, *row) for name, row in rows.items()]
            parts += [f"## {title[0].upper()}{title[1:]}", _table(_EXTRACTION, lines)]
        if self.completion:
            lines = [self._completion_row(name, row) for name, row in self.completion]
            parts += ["## Completion", _table(_COMPLETION, lines)]
        if self.reasons:
            parts += ["Refused:", "\n".join(f"{n}. {reason}" for n, reason in enumerate(self.reasons, 1))]
        return "\n\n".join(parts) + "\n"

    def _extraction_row(self, name: str, method: str, row: Scores | Refused) -> Sequence[str]:
        if isinstance(row, Refused):
            return (name, f"`{method}`", "", self._refused(row), *[""] * (len(_EXTRACTION) - 4))
        last = row.gate or row.pipeline
        return (
            name, f"`{method}`", str(row.texts),
            cell(last.precision), cell(last.supported), cell(last.recall),
            f"{last.right} / {last.told} / {last.gold}", f"{row.model.right} / {row.model.told}",
            "-" if row.conformance is None else f"{row.conformance:.3f}", str(row.relation_types),
            str(row.failed), *self._costs(row.cost, row.texts),
        )  # fmt: skip

    def _completion_row(self, name: str, row: CompletionScores | Refused) -> Sequence[str]:
        if isinstance(row, Refused):
            return (name, "", self._refused(row), *[""] * (len(_COMPLETION) - 3))
        return (
            name, str(row.pairs), cell(row.five), cell(row.directed), str(row.failed), str(row.tools),
            *self._costs(row.cost, row.pairs),
        )  # fmt: skip

    def _refused(self, row: Refused) -> str:
        """A number that leads to the reason, which several rows may have."""
        if row.reason not in self.reasons:
            self.reasons.append(row.reason)
        return f"refused ({self.reasons.index(row.reason) + 1})"

    def _costs(self, cost: Cost, tasks: int) -> tuple[str, str]:
        share = 1 / tasks if tasks else 0.0
        money = self.prices.cost(cost.prompt_tokens, cost.completion_tokens)
        paid = "" if money is None else f"; {money * share * 1000:.2f} {self.prices.currency} a thousand"
        tokens = f"{cost.prompt_tokens * share:.0f}, {cost.completion_tokens * share:.0f}{paid}"
        return f"{cost.seconds * share:.1f}", tokens


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(one.replace('|', chr(92) + '|') for one in line)} |" for line in lines)

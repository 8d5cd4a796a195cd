"""Scores of questions as a table, and outcomes as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from server.cli.output import print_report
from server.research.questions.scoring import Outcome, score

__all__ = ["print_scores", "write_outcomes"]


def print_scores(name: str, outcomes: Sequence[Outcome]) -> None:
    """Print the scores of a file of questions, and the exact answers by category."""
    found = score(outcomes)
    f1 = "-" if found.macro_f1 is None else f"{found.macro_f1:.3f}"
    measures = (
        ("exact, of answerable", f"{found.exact}/{found.answerable}"),
        ("macro F1 of answerable", f1),
        ("unanswerable refused", f"{found.refused}/{found.unanswerable}"),
        ("traps answered wrongly", f"{found.trapped}/{found.traps}"),
        ("false answers, of all", f"{found.false}/{len(outcomes)}"),
        ("groups of paraphrases answered alike", f"{found.alike}/{found.groups}"),
        (
            "refused, of answerable",
            f"{sum(o.refused for o in outcomes if o.question.query and not o.question.trap)}",
        ),
        ("p50 / p95", f"{found.p50_ms:.0f} ms / {found.p95_ms:.0f} ms"),
    )
    print_report(name, ("measure", "value"), measures)
    categories = []
    for category in dict.fromkeys(one.question.category for one in outcomes):
        of = [one for one in outcomes if one.question.category == category]
        counts = (sum(o.exact for o in of), sum(o.false for o in of), sum(o.refused for o in of), len(of))
        categories.append((category, *map(str, counts)))
    print_report(f"{name} by category", ("category", "exact", "false", "refused", "of"), categories)


def write_outcomes(path: Path, outcomes: Sequence[Outcome]) -> None:
    """Append each question with its answer, plan and score as a JSON line."""
    with path.open("a", encoding="utf-8") as file:
        for one in outcomes:
            result = one.result
            line = {
                "id": one.question.id,
                "question": one.question.text,
                "exact": one.exact,
                "f1": round(one.f1, 4),
                "answer": result.answer,
                "plan": [step["sentence"] for step in result.plan] if result.plan else None,
                "gaps": [gap["message"] for gap in result.gaps],
                "ms": round(one.seconds * 1000, 1),
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

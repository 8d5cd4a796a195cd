"""Reads judgments back: true and false, majority, agreement; and a model as one more judge."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from extractors.errors import EvaluationError
from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel
from extractors.research.evaluation.estimates import cell
from extractors.research.evaluation.expenses import expenses_json
from extractors.research.evaluation.judging.agreement import Agreement, Summary, agreement, majority, summary
from extractors.research.evaluation.judging.items import Judgment, items_of, read_judgments, write_table
from extractors.research.evaluation.judging.judge_model import JudgeModel
from server.cli.output import print_report
from server.research.report import progress_of, write_json


async def judge_tables(
    files: Sequence[Path],
    *,
    model: ChatModel | None,
    repeats: int,
    out: Path | None,
    seed: int,
    prices: Prices,
) -> dict[str, Any]:
    """Summaries of every judge and of their majority, agreement of each two, and the model's own judgment.

    Raises EvaluationError for a table that cannot be read, and for tables without judgments.
    """
    people = _by_judge([one for file in files for one in read_judgments(file)])
    judges = dict(people)
    if len(people) > 1:
        judges["majority"] = majority(one for held in people.values() for one in held)
    report: dict[str, Any] = {}
    if model is not None:
        items = list({item.identifier: item for file in files for item in items_of(file)}.values())
        with progress_of("judging", len(items)) as tell:
            judged = await JudgeModel(model, repeats=repeats).judge(items, tell=tell)
        name = f"model {model.name}"
        judges[name] = [Judgment(one.item, one.verdict, name, one.confidence) for one in judged.judgments]
        report["model"] = {"failed": judged.failed, **expenses_json(judged.cost, len(items), prices)}
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            write_table(out / "judged-by-model.csv", items, judged.judgments)
    if not any(judges.values()):
        raise EvaluationError(
            "Nothing is judged in these tables: fill in the column 'judgement', or judge by --model."
        )
    summaries = [summary(name, held, seed=seed) for name, held in judges.items()]
    compared = [agreement(a, b) for a, b in combinations(judges.values(), 2) if a and b]
    report["judges"] = [one.json() for one in summaries]
    report["agreement"] = [one.json() for one in compared]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / "judgments.json", report)
    print_judges(summaries, compared)
    return report


def _by_judge(judgments: Sequence[Judgment]) -> dict[str, list[Judgment]]:
    found: dict[str, list[Judgment]] = {}
    for one in judgments:
        found.setdefault(one.judge, []).append(one)
    return found


def print_judges(summaries: Sequence[Summary], compared: Sequence[Agreement]) -> None:
    """Print the judgments, and how far the judges agree."""
    columns = ("judge", "judged", "true", "false", "true a text", "false a text", "share true")
    rows = []
    for one in summaries:
        row = one.json()
        rows.append((
            one.judge, str(one.judged), str(one.true), str(one.false), str(row["true_per_text"]),
            str(row["false_per_text"]), cell(one.precision),
        ))  # fmt: skip
    print_report("judges", columns, rows)
    if compared:
        agreed = []
        for pair in compared:
            pairs = pair.json()
            numbers = (
                "-" if pairs[key] is None else f"{pairs[key]:.3f}" for key in ("same", "kappa", "spearman")
            )
            agreed.append((f"{pair.one} / {pair.other}", str(pair.items), *numbers))
        heads = ("judges", "claims", "same verdict", "kappa", "Spearman (true by text)")
        print_report("agreement", heads, agreed)

"""Scores of answers: exact, F1, false, refused; by category, with times."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from research.questions.asking import AskedQuestion, QuestionGraph
from server.cli.output import print_report
from sparql.ask.service import AskResult

Rows = frozenset[tuple[str, ...]]
_HIDDEN = frozenset({"label", "wkt"})


@dataclass(frozen=True)
class Outcome:
    """A question, what was answered, and whether that is the gold. `seconds` are of the answer alone."""

    question: AskedQuestion
    result: AskResult
    exact: bool
    f1: float
    found: object
    seconds: float

    @property
    def refused(self) -> bool:
        return self.result.answer is None

    @property
    def false(self) -> bool:
        """Whether something wrong was said."""
        return not self.refused and not self.exact


@dataclass(frozen=True)
class Scores:
    """Counts over questions; shares are of the questions of their sort, None where there are none."""

    answerable: int
    exact: int
    macro_f1: float | None
    unanswerable: int
    refused: int
    traps: int
    trapped: int
    false: int
    groups: int
    alike: int
    p50_ms: float
    p95_ms: float


Ask = Callable[[AskedQuestion], Awaitable[AskResult]]


async def _ask(graph: QuestionGraph, question: AskedQuestion) -> AskResult:
    return await graph.asker.ask(question.text, history=question.history)


async def ask_all(
    graph: QuestionGraph, questions: Sequence[AskedQuestion], ask: Ask | None = None
) -> list[Outcome]:
    """Ask all questions, one after the other, of the graph's planner or of a baseline.

    Raises what a gold query that cannot be read raises.
    """
    ask = ask or partial(_ask, graph)
    await graph.asker.summary.refresh(graph.run)
    outcomes = []
    for question in questions:
        start = time.perf_counter()
        result = await ask(question)
        seconds = time.perf_counter() - start
        gold = await graph.run(question.query) if question.query else None
        exact, f1 = _compared(result, gold)
        outcomes.append(Outcome(question, result, exact, f1, _found(result), seconds))
    return outcomes


def score(outcomes: Sequence[Outcome]) -> Scores:
    """Return the counts over outcomes."""
    answerable = [one for one in outcomes if one.question.query and not one.question.trap]
    unanswerable = [one for one in outcomes if one.question.gap and not one.question.trap]
    traps = [one for one in outcomes if one.question.trap]
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        if one.question.group:
            groups[one.question.group].append(one)
    times = sorted(one.seconds * 1000 for one in outcomes)
    cuts = quantiles(times, n=20) if len(times) > 1 else [times[0]] * 19
    return Scores(
        len(answerable),
        sum(one.exact for one in answerable),
        mean(one.f1 for one in answerable) if answerable else None,
        len(unanswerable),
        sum(one.refused for one in unanswerable),
        len(traps),
        sum(one.false for one in traps),
        sum(one.false for one in outcomes),
        len(groups),
        sum(len({one.found for one in group}) == 1 and not group[0].refused for group in groups.values()),
        cuts[9],
        cuts[18],
    )


def _compared(result: AskResult, gold: Mapping[str, Any] | None) -> tuple[bool, float]:
    """Whether the rows are those of the gold, by its columns, and their F1; further columns do not count."""
    if gold is None or result.answer is None or result.results is None:
        return False, 0.0
    if "boolean" in gold:
        same = result.results.get("boolean") == gold["boolean"]
        return same, float(same)
    variables = gold["head"]["vars"]
    wanted = _rows(gold, variables)
    columns = [name for name in result.results.get("head", {}).get("vars", ()) if name not in _HIDDEN]
    best = 0.0
    for chosen in permutations(columns, len(variables)):
        have = _rows(result.results, chosen)
        if have == wanted:
            return True, 1.0
        common = len(have & wanted)
        best = max(best, 2 * common / (len(have) + len(wanted)) if common else 0.0)
    return False, best


def _found(result: AskResult) -> object:
    if result.answer is None or result.results is None:
        return None
    if "boolean" in result.results:
        return result.results["boolean"]
    columns = [name for name in result.results["head"]["vars"] if name not in _HIDDEN]
    return _rows(result.results, columns[:1])


def _rows(results: Mapping[str, Any], columns: Iterable[str]) -> Rows:
    names = tuple(columns)
    rows = results.get("results", {}).get("bindings", ())
    return frozenset(tuple(_value(row.get(name)) for name in names) for row in rows if row)


def _value(term: Mapping[str, str] | None) -> str:
    if term is None:
        return ""
    try:
        return f"{float(term['value']):.4g}"
    except ValueError:
        return term["value"]


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

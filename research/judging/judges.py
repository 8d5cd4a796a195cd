"""A model as judge: the majority of several judgments, with a confidence (UrbanKGent, appendix D).

The model quotes and reasons before it decides. Its confidence is the probability of the verdict's token: what
a model says of its own confidence in words means little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from extractors.errors import EvaluationError, ModelError, ModelTimeout, ModelUnavailable
from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel, Reply
from extractors.prompting.prompt import load_prompt
from extractors.prompting.reply import probability
from extractors.readers.reading import Cost
from research.estimates import cell
from research.judging.tables import (
    Agreement,
    Item,
    Judgment,
    Summary,
    agreement,
    items_of,
    majority,
    read_judgments,
    summary,
    write_table,
)
from research.reporting import expenses_json, progress_of, write_json
from server.cli.output import print_report

_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "quote": {"type": "string"},
        "reason": {"type": "string"},
        "verdict": {"type": "string", "enum": ["true", "false"]},
    },
    "required": ["quote", "reason", "verdict"],
}
_VERDICT: Final = re.compile(r'"verdict"\s*:\s*"?(true|false)\b', re.IGNORECASE)
_MAXIMUM_TOKENS: Final = 300
_REPEAT_TEMPERATURE: Final = 0.7


@dataclass(frozen=True)
class Judged:
    """A model's judgments, how many claims it gave no usable verdict on, and what all of it cost."""

    judgments: tuple[Judgment, ...]
    failed: int
    cost: Cost


class JudgeModel:
    """Judges claims with one model. Raises EvaluationError for an even number of repeats."""

    def __init__(self, model: ChatModel, *, repeats: int = 1, prompts: Path | None = None) -> None:
        if repeats < 1 or repeats % 2 == 0:
            raise EvaluationError(f"{repeats} repeats can end in a tie: take an odd number.")
        self._model = model
        self._repeats = repeats
        self._prompt = load_prompt("judge-claim", prompts)

    async def judge(
        self, items: Sequence[Item], *, tell: Callable[[int, int], None] = lambda done, of: None
    ) -> Judged:
        """Judge every item. Raises `ModelUnavailable` and `ModelTimeout`."""
        judgments, failed, cost = [], 0, Cost()
        for number, item in enumerate(items):
            tell(number, len(items))
            replies = [await self._ask(item) for _ in range(self._repeats)]
            votes = [vote for reply in replies if reply is not None and (vote := _vote(reply)) is not None]
            cost = sum((_cost(reply) for reply in replies if reply is not None), cost)
            found = _decided(item, votes, self._model.name)
            failed += found is None
            judgments += [found] if found is not None else []
        tell(len(items), len(items))
        return Judged(tuple(judgments), failed, cost)

    async def _ask(self, item: Item) -> Reply | None:
        values = {
            "context": item.context,
            "subject": item.subject,
            "relation": item.relation,
            "object": item.object,
        }
        try:
            return await self._model.complete(
                self._prompt.messages(values),
                schema=_SCHEMA,
                max_tokens=_MAXIMUM_TOKENS,
                temperature=_REPEAT_TEMPERATURE if self._repeats > 1 else 0.0,
            )
        except (ModelUnavailable, ModelTimeout):
            raise
        except ModelError:
            return None


_Vote = tuple[bool, float | None]


def _vote(reply: Reply) -> _Vote | None:
    """The last verdict of a reply with its probability; None without one."""
    found = list(_VERDICT.finditer(reply.text))
    if not found:
        return None
    return found[-1][1].casefold() == "true", probability(reply, *found[-1].span(1))


def _decided(item: Item, votes: Sequence[_Vote], judge: str) -> Judgment | None:
    """What most votes say; None without a majority.

    The confidence is their share of the votes times their mean probability; of one vote of unknown
    probability there is none.
    """
    true = [sure for verdict, sure in votes if verdict]
    false = [sure for verdict, sure in votes if not verdict]
    if len(true) == len(false):
        return None
    most = max(true, false, key=len)
    known = [sure for sure in most if sure is not None]
    share = len(most) / len(votes)
    if known:
        share *= sum(known) / len(known)
    return Judgment(item, most is true, judge, share if known or len(votes) > 1 else None)


def _cost(reply: Reply) -> Cost:
    return Cost(1, reply.seconds, reply.prompt_tokens, reply.completion_tokens)


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

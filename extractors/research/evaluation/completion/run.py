"""Asks a model about pairs in a mode, and writes every answer down as it comes: a run that ended goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from extractors.completion import Completer, Completion
from extractors.errors import ModelTimeout
from extractors.readers.costs import Cost, costs, total, turn_json
from extractors.research.evaluation.completion.pairs import NumberedPair
from extractors.research.evaluation.completion.scoring import Answered
from geo.relate.rcc8 import RCC5

__all__ = ["answer_all"]


async def answer_all(
    pairs: Sequence[NumberedPair],
    completer: Completer,
    file: Path,
    *,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> list[Answered]:
    """Ask about every pair that the file has no answer to yet.

    A pair for which the model was too slow has failed, and is asked about again the next time. Raises
    `ModelUnavailable`; what was answered before is in the file.
    """
    known = _known(file)
    answers = []
    for number, one in enumerate(pairs):
        tell(number, len(pairs))
        truth = one.pair.computed
        assert truth is not None
        row = known.get(one.identifier)
        if row is None:
            try:
                row = _row(one, truth, await completer.complete(one.pair))
            except ModelTimeout as error:
                answers.append(Answered(truth, None, error=str(error)))
                continue
            with file.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        answers.append(_answered(truth, row))
    tell(len(pairs), len(pairs))
    return answers


def _row(one: NumberedPair, truth: RCC5, done: Completion) -> dict[str, Any]:
    return {
        "id": one.identifier,
        "pair": one.place,
        "head": one.pair.head.name,
        "tail": one.pair.tail.name,
        "computed": truth.value,
        "said": done.relation.value if done.relation else None,
        "error": done.error,
        "rounds": done.rounds,
        "faithful": done.faithful,
        "tools": [{"tool": call.tool, "result": call.result} for call in done.tools],
        "cost": total(costs(done.turns).values()).json(),
        "turns": [turn_json(turn) for turn in done.turns],
    }


def _answered(truth: RCC5, row: dict[str, Any]) -> Answered:
    return Answered(
        truth,
        RCC5(row["said"]) if row["said"] else None,
        Cost(**row["cost"]),
        rounds=row["rounds"],
        faithful=row["faithful"],
        tools=len(row["tools"]),
        error=row["error"],
    )


def _known(file: Path) -> dict[str, dict[str, Any]]:
    """The answers that are there; a line that was cut off when a run ended is taken out."""
    if not file.is_file():
        return {}
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with file.open("r+b") as stream:
            stream.truncate(whole)
    rows = (json.loads(line) for line in content[:whole].splitlines() if line.strip())
    return {row["id"]: row for row in rows}

"""A model as judge: the majority of several judgments, with a confidence (UrbanKGent, appendix D)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from extractors.errors import EvaluationError, ModelError, ModelTimeout, ModelUnavailable
from extractors.models.chat import ChatModel, Reply
from extractors.prompting.templates import load_prompt
from extractors.readers.costs import Cost
from extractors.research.evaluation.judging.items import Item, Judgment

__all__ = ["JudgeModel", "Judged"]

_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["true", "false"]},
        "confidence": {"type": "integer"},
    },
    "required": ["verdict", "confidence"],
}
_MAXIMUM_TOKENS: Final = 60
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


def _vote(reply: Reply) -> tuple[bool, float] | None:
    try:
        answer = json.loads(reply.text)
        verdict, confidence = str(answer["verdict"]).casefold(), float(answer["confidence"])
    except (ValueError, KeyError, TypeError):
        return None
    if verdict not in ("true", "false"):
        return None
    return verdict == "true", min(1.0, max(0.0, confidence / 100))


def _decided(item: Item, votes: Sequence[tuple[bool, float]], judge: str) -> Judgment | None:
    """What most votes say, with their mean confidence times their share; None without a majority."""
    true = [sure for verdict, sure in votes if verdict]
    false = [sure for verdict, sure in votes if not verdict]
    if len(true) == len(false):
        return None
    most = max(true, false, key=len)
    return Judgment(item, most is true, judge, sum(most) / len(votes))


def _cost(reply: Reply) -> Cost:
    return Cost(1, reply.seconds, reply.prompt_tokens, reply.completion_tokens)

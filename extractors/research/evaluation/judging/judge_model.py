"""A model as judge: the majority of several judgments, with a confidence (UrbanKGent, appendix D).

The model quotes and reasons before it decides. Its confidence is the probability of the verdict's token: what
a model says of its own confidence in words means little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from extractors.errors import EvaluationError, ModelError, ModelTimeout, ModelUnavailable
from extractors.models.chat import ChatModel, Reply
from extractors.prompting.reply import probability
from extractors.prompting.templates import load_prompt
from extractors.readers.costs import Cost
from extractors.research.evaluation.judging.items import Item, Judgment

__all__ = ["JudgeModel", "Judged"]

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

"""What reading cost: time and tokens of each stage, and the turns as JSON for the trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from extractors.readers.reading import Turn

__all__ = ["Cost", "costs", "total", "turn_json"]


@dataclass(frozen=True)
class Cost:
    """Turns, seconds that the model took for them (retries included), and tokens in and out."""

    turns: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.turns + other.turns,
            self.seconds + other.seconds,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def json(self) -> dict[str, Any]:
        """The cost to be shown, with seconds to the millisecond. What is read again is kept by `asdict`."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}


def costs(turns: Iterable[Turn]) -> Mapping[str, Cost]:
    """The cost of each stage, in the order in which the stages first came."""
    found: dict[str, Cost] = {}
    for turn in turns:
        reply = turn.reply
        cost = Cost(1, reply.seconds, reply.prompt_tokens, reply.completion_tokens) if reply else Cost(1)
        found[turn.stage] = found.get(turn.stage, Cost()) + cost
    return found


def total(costs_of_stages: Iterable[Cost]) -> Cost:
    """All stages together."""
    return sum(costs_of_stages, Cost())


def turn_json(turn: Turn) -> dict[str, Any]:
    """A turn as the trace shows it: every word that was sent and came back."""
    reply = turn.reply
    return {
        "stage": turn.stage,
        "prompt": turn.prompt,
        "messages": [{"role": message.role, "content": message.content} for message in turn.messages],
        "reply": reply.text if reply else None,
        "finish_reason": reply.finish_reason if reply else None,
        "prompt_tokens": reply.prompt_tokens if reply else None,
        "completion_tokens": reply.completion_tokens if reply else None,
        "seconds": round(reply.seconds, 3) if reply else None,
        "error": turn.error,
    }

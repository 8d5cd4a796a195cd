"""The interface of planners, and the trace of how an answer came about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.plan.nodes import Plan
from sparql.ask.planning.rules import Context

__all__ = ["Candidate", "Planner", "Trace"]


@dataclass
class Trace:
    """The steps that led to an answer, in order; `watch` is called with each as it is made."""

    steps: list[dict[str, str]] = field(default_factory=list)
    watch: Callable[[dict[str, str]], None] | None = None

    def note(self, thought: str, action: str, observation: str) -> None:
        self.steps.append({"thought": thought, "action": action, "observation": observation})
        if self.watch is not None:
            self.watch(self.steps[-1])


@dataclass(frozen=True)
class Candidate:
    """A plan and what it costs to believe that it is meant."""

    plan: Plan
    cost: float


class Planner(Protocol):
    """Makes plans of a linked question. What it returns fits the types and uses every word."""

    async def plan(self, linked: LinkedQuestion, context: Context, trace: Trace) -> Sequence[Candidate]:
        """Return plans, the most believable first; none where the question cannot be planned."""

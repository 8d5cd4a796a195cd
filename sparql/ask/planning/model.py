"""The planner that asks a large model for a plan in the plan language, checked, repaired and voted.

The model is given the terms that the question may mean, as a schema that its reply has to follow, and
examples like the question; it never writes an identifier. Its plan is type checked, and has to use every word
of the question, like any other.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extractors.models.chat import ChatModel
from extractors.prompting.templates import load_prompt
from sparql.ask.errors import PlanError
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.plan.json_form import read_numbered, steps_schema
from sparql.ask.plan.nodes import Plan
from sparql.ask.plan.terms import Term
from sparql.ask.planning.offering import Examples, listed, offered_terms
from sparql.ask.planning.planner import Candidate, Trace
from sparql.ask.planning.rules import Context
from sparql.ask.planning.use import unused_words
from sparql.ask.planning.voting import Checked, Request, vote

__all__ = ["AskedModel", "ModelPlanner", "read_object"]


@dataclass(frozen=True)
class AskedModel:
    """A language model, and how many plans of a question it writes at most, of which the answers vote.

    `queries`: it may write SPARQL where it makes no plan.
    """

    model: ChatModel
    samples: int = 1
    queries: bool = False


class ModelPlanner:
    """Plans with a language model (a `Planner`).

    `find` runs a plan and returns what identifies its answer. `prompts` is a folder whose prompt files
    replace the built-in ones, and whose `ask-examples.jsonl` adds examples.
    """

    def __init__(
        self,
        model: AskedModel,
        find: Callable[[Plan, Context], Awaitable[Hashable]],
        prompts: Path | None = None,
    ) -> None:
        self._model = model
        self._find = find
        self._prompt = load_prompt("ask-full", prompts)
        self._examples = Examples(prompts)

    async def plan(self, linked: LinkedQuestion, context: Context, trace: Trace) -> Sequence[Candidate]:
        """Return the model's plans, the one with most votes first.

        Raises `ModelError` when no model answers.
        """
        offered = {kind: dict(_named(terms)) for kind, terms in offered_terms(linked, context).items()}
        by_words = {words: term for terms in offered.values() for words, term in terms.items()}
        shown = [f"Question: {one.question}\n{one.reply}" for one in self._examples.like(linked)]
        values = {
            "question": " ".join(linked.text.split()),
            "examples": "\n\n".join(shown),
            **{f"{name}_list": listed(list(terms)) for name, terms in offered.items()},
        }
        schema = steps_schema({kind: list(terms) for kind, terms in offered.items()})

        async def check(text: str) -> Checked[Plan]:
            plan = read_numbered(read_object(text), by_words.get)
            plan.check(context.typing)
            unused = unused_words(plan, linked)
            if unused:
                raise PlanError(f"The plan does not use: {', '.join(token.raw for token in unused)}.")
            return Checked(plan, await self._find(plan, context))

        request = Request(self._prompt.messages(values), schema, "plan")
        voted = await vote(self._model.model, request, check, self._model.samples, trace)
        return [Candidate(plan, 1 - share) for plan, share in voted]


def read_object(text: str) -> Mapping[str, Any]:
    """Read a reply as a JSON object. Raises `PlanError`."""
    try:
        message = json.loads(text)
    except json.JSONDecodeError as error:
        raise PlanError(f"The reply is not JSON ({error.msg} at character {error.pos}).") from error
    if not isinstance(message, Mapping):
        raise PlanError("The reply is not a JSON object.")
    return message


def _named(terms: Sequence[Term]) -> list[tuple[str, Term]]:
    """Return terms with their words, of which no two are the same."""
    found: dict[str, Term] = {}
    for term in terms:
        words, number = term.words, 1
        while words in found:
            number += 1
            words = f"{term.words} ({number})"
        found[words] = term
    return list(found.items())

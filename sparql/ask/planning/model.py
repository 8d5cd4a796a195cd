"""The planner that asks a large model for a plan in the plan language, checked and repaired.

The model is given the terms that the question may mean, and never writes an identifier. Its plan is type
checked, and has to use every word of the question, like any other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from extractors.models.chat import ChatModel, Message
from extractors.prompting.prompt import load_prompt
from sparql.ask.errors import PlanError
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import ClassName, EntityName, PropertyName
from sparql.ask.plan.checking import check_plan
from sparql.ask.plan.json_form import read_plan
from sparql.ask.plan.nodes import Plan, Term
from sparql.ask.planning.planner import Candidate, Trace
from sparql.ask.planning.rules import Context
from sparql.ask.planning.use import unused_words

__all__ = ["ModelPlanner"]

_ATTEMPTS: Final = 3
_TOKENS: Final = 800
_OFFERED: Final = 20


class ModelPlanner:
    """Plans with a language model (a `Planner`); a plan that does not hold is repaired at most twice.

    `prompts` is a folder whose prompt files replace the built-in ones.
    """

    def __init__(self, model: ChatModel, prompts: Path | None = None) -> None:
        self._model = model
        self._prompt = load_prompt("ask-full", prompts)

    async def plan(self, linked: LinkedQuestion, context: Context, trace: Trace) -> Sequence[Candidate]:
        """Return the model's plan, or none. Raises `ModelError` when no model answers."""
        offered = self._offered(linked, context)
        values = {
            "question": " ".join(linked.text.split()),
            **{
                f"{name}_list": "\n".join(f"- {t.words}" for t in terms) or "(none)"
                for name, terms in offered.items()
            },
        }
        by_words = {term.words: term for terms in offered.values() for term in terms}
        messages = list(self._prompt.messages(values))
        for attempt in range(1, _ATTEMPTS + 1):
            reply = await self._model.complete(messages, schema={"type": "object"}, max_tokens=_TOKENS)
            try:
                plan = self._checked(reply.text, by_words, linked, context)
            except PlanError as error:
                trace.note(
                    f"Attempt {attempt}: a plan is checked before it is used.",
                    "plan",
                    f"{reply.text} {error}",
                )
                correction = f"{error} Write the corrected plan as one JSON object and nothing else."
                messages += [Message("assistant", reply.text), Message("user", correction)]
                continue
            trace.note("The model's plan fits the ontology and uses every word.", "plan", reply.text)
            return [Candidate(plan, 0.0)]
        return []

    @staticmethod
    def _checked(text: str, terms: dict[str, Term], linked: LinkedQuestion, context: Context) -> Plan:
        try:
            message = json.loads(text)
        except json.JSONDecodeError as error:
            raise PlanError(f"The plan is not JSON ({error.msg} at character {error.pos}).") from error
        plan = read_plan(message, terms.get)
        check_plan(plan, context.typing)
        unused = unused_words(plan, linked)
        if unused:
            raise PlanError(f"The plan does not use: {', '.join(token.raw for token in unused)}.")
        return plan

    @staticmethod
    def _offered(linked: LinkedQuestion, context: Context) -> dict[str, list[Term]]:
        """Return what the words may mean, and the properties of the classes they may mean."""
        found: dict[str, dict[Term, None]] = {"name": {}, "class": {}, "relation": {}}
        for reading in sorted(linked.readings, key=lambda one: one.cost):
            match reading.meaning:
                case EntityName(term):
                    found["name"].setdefault(term)
                case ClassName(term):
                    found["class"].setdefault(term)
                case PropertyName(term):
                    found["relation"].setdefault(term)
        schema = context.typing.schema
        snippet = schema.snippet(linked.text, _OFFERED, _OFFERED)
        for one in snippet.classes:
            found["class"].setdefault(Term(one.iri, one.label))
        for known in snippet.properties:
            found["relation"].setdefault(Term(known.iri, known.label))
        return {name: list(terms)[: 2 * _OFFERED] for name, terms in found.items()}

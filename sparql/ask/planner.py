"""From a question to a checked plan: link, offer, call the model, check, retry once."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pyoxigraph import NamedNode

from extractors.errors import ModelReplyError
from extractors.models.chat import ChatModel, Message
from extractors.prompting.prompt import load_prompt
from ontology import OntologyProperty, Schema
from sparql.ask.checking import CheckedPlan, check_plan
from sparql.ask.comparisons import Comparisons, read_comparisons
from sparql.ask.distances import NearReplacement, read_direction, read_nearest
from sparql.ask.errors import PlanError
from sparql.ask.naming import FoundName
from sparql.ask.offering import offer
from sparql.ask.places import StatedPlaces
from sparql.ask.plan import Choices, Op, Plan, Step, plan_schema, read_plan
from sparql.ask.two_places import read_two_places, with_regions
from sparql.ask.use import check_use
from sparql.ask.wording import step_words

__all__ = ["Planned", "Planner", "RunQuery", "Trace"]

RunQuery = Callable[[str], Awaitable[Mapping[str, Any]]]

_ATTEMPTS: Final = 2
_TOKENS: Final = 400
_PLACED = re.compile(
    r"\b(?:in|inside|outside|within|near|around|at|by|from|to|of|on|along|with|for)\b", re.IGNORECASE
)
# These steps apply to the results that are left, so they come last.
_AFTER_ALL: Final = frozenset({Op.NEAREST, Op.COUNT})
_LIMITS: Final = {"compact": 6, "full": 20}


@dataclass
class Trace:
    """The steps that led to an answer, in order."""

    steps: list[dict[str, str]] = field(default_factory=list)

    def note(self, thought: str, action: str, observation: str) -> None:
        self.steps.append({"thought": thought, "action": action, "observation": observation})


@dataclass(frozen=True)
class Planned:
    """The outcome of planning: a checked plan, or the plan that could not be used and why.

    `plan` may contain NONE where no choice fitted; `checked` is None then, and when `problem` is set.
    """

    choices: Choices
    plan: Plan | None
    checked: CheckedPlan | None
    problem: PlanError | None = None


class Planner:
    """Plans questions with one model over one ontology."""

    def __init__(
        self, schema: Schema, model: ChatModel, run_query: RunQuery, prompts: Path | None = None
    ) -> None:
        self._schema = schema
        self._model = model
        self._run_query = run_query
        self._places = StatedPlaces.of(schema)
        self._prompt = load_prompt(f"ask-{model.prompt_profile}", prompts)

    async def plan(
        self, question: str, names: Sequence[FoundName], trace: Trace, *, context: str = ""
    ) -> Planned:
        """Plan a question whose names are linked. Raises `ModelError` when no model answers."""
        compact = self._model.prompt_profile == "compact"
        said = read_comparisons(question, names, self._schema) if compact else Comparisons(question)
        if said.steps:
            trace.note(
                "The model was not trained to compare values; what the question compares is read beforehand.",
                "compare",
                _steps(Plan(said.steps)),
            )
        choices = await self._choices(said.question, names)
        trace.note(
            "The plan may choose only from what fits the question.",
            "offer",
            f"names: {_listed(choices.names)}; classes: {_listed(choices.classes)}; "
            f"relations: {_listed(choices.properties)}",
        )
        instead: NearReplacement | None = None
        if compact:
            plain = read_two_places(said.question, names, choices)
            if plain is not None:
                trace.note("What is asked of two named places needs no model.", "plan", _steps(plain))
                return self._without_model(choices, plain, said.steps)
            instead = read_nearest(said.question, names) or read_direction(said.question, names)
        asked = said.for_a_small_model() if instead is None else instead.question
        messages = list(self._prompt.messages(self._values(asked, choices, context)))
        problem, plan, text = None, None, ""
        for attempt in range(1, _ATTEMPTS + 1):
            schema = plan_schema(choices, measuring=not compact)
            reply = await self._model.complete(messages, schema=schema, max_tokens=_TOKENS)
            text = reply.text
            try:
                plan = read_plan(text, choices)
                if compact:
                    plan = with_regions(_without_idle_steps(plan, said, names), question, names, choices)
                if instead is not None:
                    plan = instead.in_plan(plan)
                if _has_none(plan):
                    trace.note("Nothing offered fits some part of the question.", "plan", text)
                    return Planned(choices, plan, None)
                checked = self._with(plan, said.steps)
                plan = checked.plan
                check_use(checked, question, names)
            except PlanError as error:
                problem = error
                trace.note(
                    f"Attempt {attempt}: the plan is checked before it is used.", "plan", f"{text} {error}"
                )
                messages += [Message("assistant", text), Message("user", _correction(error))]
                continue
            trace.note("The plan fits the ontology.", "plan", text)
            return Planned(choices, plan, checked)
        if plan is None:
            raise ModelReplyError(
                f"The model's plan could not be read: {problem} Ask again, or configure a larger model.", text
            )
        return Planned(choices, plan, None, problem)

    def _without_model(self, choices: Choices, plan: Plan, compared: Sequence[Step]) -> Planned:
        try:
            return Planned(choices, plan, self._with(plan, compared))
        except PlanError as error:
            return Planned(choices, plan, None, error)

    def _with(self, plan: Plan, compared: Sequence[Step]) -> CheckedPlan:
        """Check a plan with these steps inserted where they first fit. Raises `PlanError`.

        They filter the results, so they come before steps that ask for something of them.
        """
        ends = [n for n, step in enumerate(plan.steps) if step.op in _AFTER_ALL or _moves_on(step)]
        places = [*ends, len(plan.steps)] if compared else [len(plan.steps)]
        *others, last = [Plan((*plan.steps[:n], *compared, *plan.steps[n:])) for n in places]
        for other in others:
            with suppress(PlanError):
                return check_plan(other, self._schema, self._places)
        return check_plan(last, self._schema, self._places)

    async def _choices(self, question: str, names: Sequence[FoundName]) -> Choices:
        compact = self._model.prompt_profile == "compact"
        linked = [name.link.iri for name in names if name.link.iri is not None]
        present = await self._present(linked) if linked and not compact else ()
        limit = _LIMITS[self._model.prompt_profile]
        return offer(
            question,
            names,
            self._schema,
            present=present,
            inside=self._places.inside,
            things=sorted(self._places.shaped, key=str),
            limit=limit,
            only_related=compact,
        )

    async def _present(self, iris: Sequence[NamedNode]) -> Sequence[NamedNode]:
        """Return the properties of the ontology that lead from or to these entities in the graph."""
        values = " ".join(str(iri) for iri in iris)
        query = (
            "SELECT DISTINCT ?property WHERE {\n"
            f"  VALUES ?thing {{ {values} }}\n"
            "  { ?thing ?property ?value } UNION { ?other ?property ?thing }\n"
            "}\nORDER BY ?property\n"
        )
        rows = (await self._run_query(query))["results"]["bindings"]
        found = (NamedNode(row["property"]["value"]) for row in rows)
        return [
            iri
            for iri in found
            if iri in self._schema.properties and not self._schema.properties[iri].borrowed
        ]

    def _values(self, question: str, choices: Choices, context: str) -> Mapping[str, str]:
        return {
            "question": " ".join(question.split()),
            "names": "; ".join(choices.names),
            "classes": "; ".join(choices.classes),
            "relations": "; ".join(choices.properties),
            "name_list": "\n".join(self._described(choices)) or "(none)",
            "class_list": "\n".join(
                f"- {words}: {self._schema.classes[choice.iri].definition or 'no description'}"
                for words, choice in choices.classes.items()
                if choice.iri is not None
            )
            or "(none)",
            "relation_list": "\n".join(
                self._relation(words, self._schema.properties[choice.iri])
                for words, choice in choices.properties.items()
                if choice.iri is not None
            )
            or "(none)",
            "context": f"\nWhat else to mind: {context}" if context else "",
        }

    def _described(self, choices: Choices) -> list[str]:
        return [f"- {words} ({self._labels(choice.classes)})" for words, choice in choices.names.items()]

    def _relation(self, words: str, known: OntologyProperty) -> str:
        ends = f"{self._labels(known.domains)} -> {self._labels(known.ranges)}"
        return f"- {words} ({ends}): {known.definition or 'no description'}"

    def _labels(self, iris: frozenset[NamedNode]) -> str:
        labels = sorted(self._schema.classes[iri].label for iri in iris if iri in self._schema.classes)
        return " or ".join(labels) or "anything"


def _without_idle_steps(plan: Plan, said: Comparisons, names: Sequence[FoundName]) -> Plan:
    """A plan without the steps that nothing in the question asks for.

    A model that was trained on questions about a place asks for one ("within NONE") where none is given, and
    for a property that was already read from the question.
    """
    rest = said.question
    for name in names:
        rest = rest[: name.start] + " " * (name.end - name.start) + rest[name.end :]
    placed = _PLACED.search(rest) is not None

    def is_idle(step: Step) -> bool:
        if step.entity is not None and step.entity.iri is None:
            return not placed
        return bool(said.steps) and step.property_ is not None and step.property_.iri is None

    return Plan((plan.steps[0], *(step for step in plan.steps[1:] if not is_idle(step))))


def _steps(plan: Plan) -> str:
    return "; ".join(step_words(step) for step in plan.steps)


def _moves_on(step: Step) -> bool:
    return step.op is Op.RELATE and step.entity is None


def _has_none(plan: Plan) -> bool:
    return any(choice.iri is None for step in plan.steps for choice in step.chosen.values())


def _correction(error: PlanError) -> str:
    return f"The plan does not work. {error} Answer with a corrected plan."


def _listed(choices: Mapping[str, object]) -> str:
    return ", ".join(choices) or "none"

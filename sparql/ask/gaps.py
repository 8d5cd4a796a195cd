"""What is missing when a question cannot be answered: a name, a term of the ontology, or data.

Each gap is also a missing triple, with "?" for its unknown parts, so that it can be completed later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from sparql.ask.checking import CheckedPlan, CheckedStep
from sparql.ask.compiler import Compiler
from sparql.ask.errors import PlanError
from sparql.ask.naming import FoundName
from sparql.ask.plan import Op, Plan, Step
from sparql.ask.planner import Planned, RunQuery
from sparql.ask.wording import describe, step_words

__all__ = ["Gap", "GapKind", "data_gap", "name_gaps", "plan_gaps"]

UNKNOWN: Final = "?"
_FROM_A_PLACE: Final = frozenset({Op.NEAR, Op.NEAREST, Op.DIRECTION, Op.MEASURE})


class GapKind(StrEnum):
    """What is missing: an entity of that name, a term in the ontology, or a statement in the graph."""

    ENTITY = "entity"
    SCHEMA = "schema"
    DATA = "data"


@dataclass(frozen=True)
class Gap:
    """One thing that is missing, as a sentence and as a triple; `step` is a plan's step, 0 for none."""

    kind: GapKind
    message: str
    step: int = 0
    subject: str = UNKNOWN
    property: str = UNKNOWN
    object: str = UNKNOWN

    def as_json(self) -> dict[str, Any]:
        """Return the gap as a JSON object."""
        return {**asdict(self), "kind": self.kind.value}


def name_gaps(names: Iterable[FoundName]) -> list[Gap]:
    """Return a gap for each name in the question that is not in the graph."""
    return [
        Gap(GapKind.ENTITY, f"{name.link.message} Check the spelling, or add it first.", 0, name.words)
        for name in names
        if name.is_unknown
    ]


def plan_gaps(planned: Planned) -> list[Gap]:
    """Return why a plan cannot be used: NONE in it, or steps that do not fit each other."""
    if planned.plan is None:
        return []
    missing = [
        _none_gap(number, step, field_name)
        for number, step in enumerate(planned.plan.steps, 1)
        for field_name, choice in step.chosen.items()
        if choice.iri is None
    ]
    if missing or planned.problem is None:
        return missing
    return [_misfit_gap(planned.plan, planned.problem)]


def _none_gap(number: int, step: Step, field_name: str) -> Gap:
    if field_name == "class":
        message = "The ontology has no class for what the question looks for. Name it in other words."
        return Gap(GapKind.SCHEMA, message, number, UNKNOWN, "is a", UNKNOWN)
    if field_name == "property":
        message = "The ontology has no property for what the question asks. Put it in other words."
        return Gap(GapKind.SCHEMA, message, number)
    message = "The question does not name what this step needs. Write the name as the graph has it."
    relation = step.property_.words if step.property_ and step.property_.iri else step.op.value
    return Gap(GapKind.ENTITY, message, number, UNKNOWN, relation, UNKNOWN)


def _misfit_gap(plan: Plan, problem: PlanError) -> Gap:
    step = plan.steps[problem.step - 1] if 0 < problem.step <= len(plan.steps) else plan.steps[0]
    words = step.property_.words if step.property_ else UNKNOWN
    entity = step.entity.words if step.entity else UNKNOWN
    message = f"No plan for this question fits the ontology. {problem}"
    return Gap(GapKind.SCHEMA, message, problem.step, UNKNOWN, words, entity)


async def data_gap(plan: CheckedPlan, compiler: Compiler, run_query: RunQuery) -> Gap:
    """Find the first step after which nothing is left, by an ASK for each prefix of the plan."""
    for number, beginning in enumerate(plan.prefixes(), 1):
        checked = beginning.steps[-1]
        missing = await _missing_geometry(checked.step, compiler, run_query)
        if missing is not None:
            return Gap(GapKind.DATA, missing[0], number, missing[1], "has geometry", UNKNOWN)
        if checked.step.op is Op.COUNT or _is_true(await run_query(compiler.compile_ask(beginning))):
            continue
        before = describe(CheckedPlan(beginning.steps[:-1]), {}) if number > 1 else ""
        return _empty_step(number, checked, before)
    return Gap(GapKind.DATA, "The result is empty.", len(plan.steps))


async def _missing_geometry(step: Step, compiler: Compiler, run_query: RunQuery) -> tuple[str, str] | None:
    if step.op not in _FROM_A_PLACE or step.entity is None or step.entity.iri is None:
        return None
    if _is_true(await run_query(compiler.compile_has_geometry(step.entity.iri))):
        return None
    words = step.entity.words
    return f"{words} has no geometry in the graph, so nothing can be found near it. Add one.", words


def _empty_step(number: int, checked: CheckedStep, before: str) -> Gap:
    step = checked.step
    entity = step.entity.words if step.entity else UNKNOWN
    relation = step.property_.words if step.property_ else step.op.value
    if step.op is Op.FIND and step.class_ is not None:
        message = f'The graph has nothing that is a "{step.class_.words}"' + (
            f" among {before}." if before else "."
        )
        return Gap(GapKind.DATA, message, number, UNKNOWN, "is a", step.class_.words)
    message = f"The graph has {before}, but nothing is left after step {number}: {step_words(step)}."
    if step.op is Op.RELATE and step.entity is None:
        if checked.inverse:
            return Gap(GapKind.DATA, message, number, UNKNOWN, relation, before or UNKNOWN)
        return Gap(GapKind.DATA, message, number, before or UNKNOWN, relation, UNKNOWN)
    if step.op in (Op.COMPARE, Op.RANK):
        return Gap(GapKind.DATA, message, number, before or UNKNOWN, relation, step.value or UNKNOWN)
    if checked.inverse:
        return Gap(GapKind.DATA, message, number, entity, relation, UNKNOWN)
    return Gap(GapKind.DATA, message, number, UNKNOWN, relation, entity)


def _is_true(results: Mapping[str, Any]) -> bool:
    return bool(results.get("boolean"))

"""Plans as numbered steps, for models: a flat list in which a step names others by their numbers.

Model servers compile no schema that refers to itself, and a tree of sets does. A list of steps needs
none: each step is a node of the plan language; its terms are words of fixed lists, its parts are numbers
of steps before it. The last step is the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from types import UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from sparql.ask.errors import PlanError
from sparql.ask.plan.json_form import NODES, FindTerm, read_plan
from sparql.ask.plan.nodes import Converted, Kind, Named, Node, Plan, Term

__all__ = ["CLASS", "NAME", "RELATION", "numbered", "read_numbered", "steps_schema"]

NAME: Final = "name"
CLASS: Final = "class"
RELATION: Final = "relation"
_MOST_STEPS: Final = 24
_LEFT_OUT: Final = (Converted,)


def steps_schema(terms: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the JSON schema of plans with these words as `NAME`s, `CLASS`es and `RELATION`s.

    A node whose term has no words is left out. It has no recursion, which model servers refuse.
    """
    shapes = []
    for op, kind in NODES.items():
        hints = get_type_hints(kind)
        parts = {one.name: _shape(hints[one.name], kind, terms) for one in fields(kind)}  # type: ignore[arg-type]
        if kind in _LEFT_OUT or None in parts.values():
            continue
        properties = {"op": {"type": "string", "enum": [op]}, **parts}
        shapes.append({"type": "object", "properties": properties, "required": list(properties)})
    known = {name: {"type": "string", "enum": list(words)} for name, words in terms.items() if words}
    steps = {"type": "array", "minItems": 1, "maxItems": _MOST_STEPS, "items": {"anyOf": shapes}}
    return {"type": "object", "properties": {"steps": steps}, "required": ["steps"], "$defs": known}


def _shape(wanted: Any, owner: type[Node], terms: Mapping[str, Sequence[str]]) -> dict[str, Any] | None:
    if isinstance(wanted, UnionType):
        inner = _shape(next(one for one in get_args(wanted) if one is not type(None)), owner, terms)
        return {"type": "null"} if inner is None else {"anyOf": [inner, {"type": "null"}]}
    if get_origin(wanted) is tuple:
        inner = _shape(get_args(wanted)[0], owner, terms)
        return inner and {"type": "array", "minItems": 1, "items": inner}
    if wanted is Term:
        name = NAME if owner is Named else CLASS if owner is Kind else RELATION
        return {"$ref": f"#/$defs/{name}"} if terms.get(name) else None
    if issubclass(wanted, StrEnum):
        return {"type": "string", "enum": [str(one) for one in wanted]}
    if issubclass(wanted, Node) or wanted is int:
        return {"type": "integer"}
    return {"type": "boolean" if wanted is bool else "string"}


def read_numbered(message: Any, find: FindTerm) -> Plan:
    """Read a plan from its steps. Raises `PlanError`, which names the step at fault."""
    steps = message.get("steps") if isinstance(message, dict) else None
    if not isinstance(steps, list) or not steps:
        raise PlanError('The plan is an object with "steps", a list with at least one step.')
    trees: list[Any] = []
    for number, step in enumerate(steps[:_MOST_STEPS], 1):
        kind = NODES.get(str(step.get("op"))) if isinstance(step, dict) else None
        hints = get_type_hints(kind) if kind is not None else {}
        trees.append(
            {name: _filled(part, hints.get(name), trees, number) for name, part in step.items()}
            if isinstance(step, dict)
            else step
        )
    if len(steps) > _MOST_STEPS:
        raise PlanError(f"The plan has {len(steps)} steps; at most {_MOST_STEPS} are read.")
    return read_plan(trees[-1], find)


def _filled(part: Any, wanted: Any, trees: Sequence[Any], number: int) -> Any:
    """Return a member of a step with the steps that it names in place of their numbers."""
    if isinstance(wanted, UnionType):
        wanted = next(one for one in get_args(wanted) if one is not type(None))
    if get_origin(wanted) is tuple and isinstance(part, list):
        return [_filled(one, get_args(wanted)[0], trees, number) for one in part]
    if part is None or not (isinstance(wanted, type) and issubclass(wanted, Node)):
        return part
    if isinstance(part, bool) or not isinstance(part, int) or not 1 <= part < number:
        raise PlanError(
            f"Step {number} names the step {part!r}: give the number of a step before it.", number
        )
    return trees[part - 1]


def numbered(tree: Any) -> list[dict[str, Any]]:
    """Return the steps of a plan's tree in JSON, its terms as words; the same part is one step."""
    steps: list[dict[str, Any]] = []
    _number(tree, steps)
    return steps


def _number(part: Any, steps: list[dict[str, Any]]) -> Any:
    if isinstance(part, list):
        return [_number(one, steps) for one in part]
    if not isinstance(part, dict):
        return part
    if "op" not in part:
        return part.get("label", part.get("value"))
    step = {name: _number(one, steps) for name, one in part.items()}
    if step not in steps:
        steps.append(step)
    return steps.index(step) + 1

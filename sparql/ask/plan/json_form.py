"""Plans as JSON objects, and back; and as numbered steps, for models.

A node is an object whose `op` is its name in the plan language and whose other members are its parts. A term
is `{"iri": ..., "label": ...}`; when a plan is read, its words suffice where a `find` knows them.

Model servers compile no schema that refers to itself, and a tree of sets does. A list of steps needs
none: each step is a node of the plan language; its terms are words of fixed lists, its parts are numbers
of steps before it. The last step is the plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from pyoxigraph import Literal, NamedNode

from sparql.ask.errors import PlanError
from sparql.ask.plan import quantities, questions, sets
from sparql.ask.plan.nodes import Node, Plan
from sparql.ask.plan.quantities import Converted, DistanceTo
from sparql.ask.plan.sets import Kind, Named, Near, Top
from sparql.ask.plan.terms import Term

FindTerm = Callable[[str], Term | None]
"""A term by its words or its IRI; None for one that is unknown."""

_DEEPEST: Final = 24
_LARGEST: Final = 50_000_000
"""More meters than around the earth."""
NAME: Final = "name"
CLASS: Final = "class"
RELATION: Final = "relation"
_MOST_STEPS: Final = 24
_LEFT_OUT: Final = (Converted,)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def op_of(node: type[Node] | Node) -> str:
    """Return the name of a node in JSON: `CountOf` is "count of"."""
    kind = node if isinstance(node, type) else type(node)
    return _CAMEL.sub(" ", kind.__name__).lower()


_KINDS: Final = {
    kind
    for module in (sets, quantities, questions)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Node) and hasattr(kind, "__dataclass_fields__")
}
NODES: Final[Mapping[str, type[Node]]] = {
    op_of(kind): kind for kind in sorted(_KINDS, key=lambda kind: kind.__name__)
}


def as_json(part: Any) -> Any:
    """Return a plan, or a part of one, as JSON."""
    if isinstance(part, Node):
        members = {each.name: as_json(getattr(part, each.name)) for each in fields(part)}  # type: ignore[arg-type]
        return {"op": op_of(part), **members}
    if isinstance(part, Term):
        return {"iri": part.iri.value, "label": part.words}
    if isinstance(part, Literal):
        return {"value": part.value, "datatype": part.datatype.value}
    if isinstance(part, StrEnum):
        return part.value
    if isinstance(part, tuple):
        return [as_json(member) for member in part]
    return part


def steps_as_json(plan: Plan) -> list[dict[str, Any]]:
    """Return the steps of a plan: `op` and `sentence`, what a place is given `of`; the last has the `tree`.

    `km` is the distance of "near".
    """
    found: list[dict[str, Any]] = []
    for node, sentence in plan.steps():
        step: dict[str, Any] = {"op": op_of(node), "sentence": sentence}
        place = getattr(node, "of", None) or getattr(node, "to", None)
        if isinstance(node, Top) and isinstance(node.quantity, DistanceTo):
            place = node.quantity.to
        if isinstance(place, Named):
            step["iris"] = {"of": place.entity.iri.value}
        if isinstance(node, Near):
            step["km"] = node.meters / 1000
        found.append(step)
    found[-1]["tree"] = as_json(plan)
    return found


def read_plan(message: Any, find: FindTerm) -> Plan:
    """Read a plan from JSON: its tree, or the steps of a reply, of which the last has the tree.

    Raises `PlanError`, whose message says what to write instead.
    """
    if isinstance(message, list) and message and isinstance(message[-1], dict):
        message = message[-1].get("tree")
    read = _read(message, Plan, find, "the plan", 0)
    assert isinstance(read, Plan)
    return read


def _read(message: Any, wanted: Any, find: FindTerm, where: str, depth: int) -> Any:
    if depth > _DEEPEST:
        raise PlanError(f"The plan is nested deeper than {_DEEPEST} levels.")
    if isinstance(wanted, UnionType) and message is None:
        return None
    wanted = _needed(wanted)
    if get_origin(wanted) is tuple:
        if not isinstance(message, list) or not message:
            raise PlanError(f"{where}: a list with at least one member is needed.")
        return tuple(_read(part, get_args(wanted)[0], find, where, depth + 1) for part in message)
    if wanted is Term:
        return _read_term(message, find, where)
    if wanted is Literal:
        return _read_literal(message, where)
    if issubclass(wanted, StrEnum):
        if message not in list(wanted):
            raise PlanError(f"{where} must be one of: {'; '.join(wanted)}.")
        return wanted(message)
    if issubclass(wanted, Node):
        return _read_node(message, wanted, find, where, depth)
    if not isinstance(message, wanted) or (wanted is int and isinstance(message, bool)):
        raise PlanError(f"{where} must be of the JSON type for {wanted.__name__}.")
    if wanted is int and not 1 <= message <= _LARGEST:
        raise PlanError(f"{where} must be a whole number from 1 to {_LARGEST:,}.")
    return message


def _needed(wanted: Any) -> Any:
    """The type of a part that may be left out."""
    if not isinstance(wanted, UnionType):
        return wanted
    return next(kind for kind in get_args(wanted) if kind is not type(None))


def _read_node(message: Any, wanted: type[Node], find: FindTerm, where: str, depth: int) -> Node:
    op = message.get("op") if isinstance(message, dict) else None
    kind = NODES.get(op) if isinstance(op, str) else None
    if kind is None or not issubclass(kind, wanted):
        known = "; ".join(name for name, kind in NODES.items() if issubclass(kind, wanted))
        raise PlanError(f'{where} needs an "op", one of: {known}.')
    parts = {part.name: part for part in fields(kind)}  # type: ignore[arg-type]
    unknown = message.keys() - parts.keys() - {"op"}
    needed = {name for name, part in parts.items() if part.default is MISSING} - message.keys()
    if unknown or needed:
        raise PlanError(
            f'"{op}" takes {", ".join(parts)}; '
            + (f"unknown: {', '.join(sorted(unknown))}" if unknown else f"missing: {', '.join(needed)}")
            + "."
        )
    hints = _hints(message["op"])
    read = {
        name: _read(message[name], hints[name], find, f'"{name}" of "{op}"', depth + 1)
        for name in parts
        if name in message
    }
    return kind(**read)


@cache
def _hints(op: str) -> Mapping[str, Any]:
    return get_type_hints(NODES[op])


def _read_term(message: Any, find: FindTerm, where: str) -> Term:
    words = message.get("iri") or message.get("label") if isinstance(message, dict) else message
    found = find(words) if isinstance(words, str) else None
    if found is None:
        raise PlanError(f"{where}: the graph and its ontology have no {words!r}.")
    return found


def _read_literal(message: Any, where: str) -> Literal:
    if isinstance(message, dict) and isinstance(message.get("value"), str):
        datatype = message.get("datatype")
        try:
            return (
                Literal(message["value"], datatype=NamedNode(datatype))
                if datatype
                else Literal(message["value"])
            )
        except ValueError as error:
            raise PlanError(f"{where}: {datatype!r} is no datatype.") from error
    if isinstance(message, bool) or not isinstance(message, str | int | float):
        raise PlanError(f'{where} must be a value, or {{"value": ..., "datatype": ...}}.')
    return Literal(message)


def steps_schema(terms: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the JSON schema of plans with these words as `NAME`s, `CLASS`es and `RELATION`s.

    A node whose term has no words is left out. It has no recursion, which model servers refuse.
    """
    shapes = []
    for op, kind in NODES.items():
        hints = _hints(op)
        parts = {part.name: _shape(hints[part.name], kind, terms) for part in fields(kind)}  # type: ignore[arg-type]
        if kind in _LEFT_OUT or None in parts.values():
            continue
        properties = {"op": {"type": "string", "enum": [op]}, **parts}
        shapes.append({"type": "object", "properties": properties, "required": list(properties)})
    known = {name: {"type": "string", "enum": list(words)} for name, words in terms.items() if words}
    steps = {"type": "array", "minItems": 1, "maxItems": _MOST_STEPS, "items": {"anyOf": shapes}}
    return {"type": "object", "properties": {"steps": steps}, "required": ["steps"], "$defs": known}


def _shape(wanted: Any, owner: type[Node], terms: Mapping[str, Sequence[str]]) -> dict[str, Any] | None:
    if isinstance(wanted, UnionType):
        inner = _shape(_needed(wanted), owner, terms)
        return {"type": "null"} if inner is None else {"anyOf": [inner, {"type": "null"}]}
    if get_origin(wanted) is tuple:
        inner = _shape(get_args(wanted)[0], owner, terms)
        return inner and {"type": "array", "minItems": 1, "items": inner}
    if wanted is Term:
        name = NAME if owner is Named else CLASS if owner is Kind else RELATION
        return {"$ref": f"#/$defs/{name}"} if terms.get(name) else None
    if issubclass(wanted, StrEnum):
        return {"type": "string", "enum": [str(choice) for choice in wanted]}
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
        hints = _hints(step["op"]) if kind is not None else {}
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
    wanted = _needed(wanted)
    if get_origin(wanted) is tuple and isinstance(part, list):
        return [_filled(member, get_args(wanted)[0], trees, number) for member in part]
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
        return [_number(member, steps) for member in part]
    if not isinstance(part, dict):
        return part
    if "op" not in part:
        return part.get("label", part.get("value"))
    step = {name: _number(member, steps) for name, member in part.items()}
    if step not in steps:
        steps.append(step)
    return steps.index(step) + 1

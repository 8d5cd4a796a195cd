"""Plans as JSON objects, and back.

A node is an object whose `op` is its name in the plan language and whose other members are its parts. A term
is `{"iri": ..., "label": ...}`; when a plan is read, its words suffice where a `find` knows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

from pyoxigraph import Literal, NamedNode

from sparql.ask.errors import PlanError
from sparql.ask.plan import nodes
from sparql.ask.plan.nodes import DistanceTo, Named, Near, Node, Plan, Term, Top
from sparql.ask.plan.sentences import steps

__all__ = ["NODES", "FindTerm", "as_json", "op_of", "read_plan", "steps_as_json"]

FindTerm = Callable[[str], Term | None]
"""A term by its words or its IRI; None for one that is unknown."""

_DEEPEST: Final = 24
_LARGEST: Final = 50_000_000
"""More meters than around the earth."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def op_of(node: type[Node] | Node) -> str:
    """Return the name of a node in JSON: `CountOf` is "count of"."""
    kind = node if isinstance(node, type) else type(node)
    return _CAMEL.sub(" ", kind.__name__).lower()


NODES: Final[Mapping[str, type[Node]]] = {
    op_of(kind): kind
    for kind in map(vars(nodes).get, nodes.__all__)
    if isinstance(kind, type) and issubclass(kind, Node) and hasattr(kind, "__dataclass_fields__")
}


def as_json(part: Any) -> Any:
    """Return a plan, or a part of one, as JSON."""
    if isinstance(part, Node):
        members = {one.name: as_json(getattr(part, one.name)) for one in fields(part)}  # type: ignore[arg-type]
        return {"op": op_of(part), **members}
    if isinstance(part, Term):
        return {"iri": part.iri.value, "label": part.words}
    if isinstance(part, Literal):
        return {"value": part.value, "datatype": part.datatype.value}
    if isinstance(part, StrEnum):
        return part.value
    if isinstance(part, tuple):
        return [as_json(one) for one in part]
    return part


def steps_as_json(plan: Plan) -> list[dict[str, Any]]:
    """Return the steps of a plan: `op` and `sentence`, what a place is given `of`; the last has the `tree`.

    `km` is the distance of "near".
    """
    found: list[dict[str, Any]] = []
    for node, sentence in steps(plan):
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
    if isinstance(wanted, UnionType):
        if message is None:
            return None
        wanted = next(one for one in get_args(wanted) if one is not type(None))
    if get_origin(wanted) is tuple:
        if not isinstance(message, list) or not message:
            raise PlanError(f"{where}: a list with at least one member is needed.")
        return tuple(_read(one, get_args(wanted)[0], find, where, depth + 1) for one in message)
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


def _read_node(message: Any, wanted: type[Node], find: FindTerm, where: str, depth: int) -> Node:
    op = message.get("op") if isinstance(message, dict) else None
    kind = NODES.get(op) if isinstance(op, str) else None
    if kind is None or not issubclass(kind, wanted):
        known = "; ".join(name for name, one in NODES.items() if issubclass(one, wanted))
        raise PlanError(f'{where} needs an "op", one of: {known}.')
    parts = {one.name: one for one in fields(kind)}  # type: ignore[arg-type]
    unknown = message.keys() - parts.keys() - {"op"}
    needed = {n for n, one in parts.items() if one.default is MISSING} - message.keys()
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

"""The type check of a whole plan."""

from __future__ import annotations

import re
from typing import Final

from sparql.ask.errors import PlanError
from sparql.ask.plan.nodes import (
    Aggregate,
    Aggregation,
    And,
    Compare,
    Count,
    CountOf,
    Difference,
    Every,
    Exists,
    Group,
    List,
    Minus,
    Operation,
    Plan,
    Quantity,
    Set,
    Table,
    Values,
)
from sparql.ask.plan.typing import QuantityKind, Typing

__all__ = ["check_plan"]

_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


def check_plan(plan: Plan, typing: Typing) -> None:
    """Check a plan against the ontology and the data. Raises `PlanError` with what does not fit."""
    match plan:
        case List(node, _) | Count(node) | Exists(node):
            typing.of(node)
            _check_numbers(node, typing)
        case Every(node, within):
            typing.of(node)
            typing.of(within)
        case Values(quantity, node):
            _check_value(quantity, node, typing)
        case Table(node, columns):
            for quantity in columns:
                _check_value(quantity, node, typing)
        case Aggregation(aggregate, quantity, node):
            _check_value(quantity, node, typing)
            _check_aggregate(aggregate, quantity, typing)
        case Difference(quantity, left, right):
            for node in (left, right):
                _check_value(quantity, node, typing)
            if typing.kind(quantity) is QuantityKind.TEXT:
                raise PlanError("Texts have no difference.")
            if plan.operation not in (Operation.MINUS, Operation.PER):
                raise PlanError("Two values can be subtracted (minus) or divided (per).")
            if plan.operation is Operation.PER and typing.kind(quantity) is QuantityKind.DATE:
                raise PlanError("Dates cannot be divided.")
        case Group():
            _check_group(plan, typing)


def _check_value(quantity: Quantity, node: Set, typing: Typing) -> None:
    typing.need(typing.of(node), typing.having(quantity), "has no such value")
    _check_numbers(node, typing)


def _check_aggregate(aggregate: Aggregate, quantity: Quantity | None, typing: Typing) -> None:
    if aggregate is not Aggregate.COUNT and (quantity is None or typing.kind(quantity) is QuantityKind.TEXT):
        raise PlanError(f'"{aggregate}" needs a quantity of numbers or dates.')


def _check_group(plan: Group, typing: Typing) -> None:
    typing.need(
        typing.of(plan.each), typing.with_link(plan.link, typing.of(plan.set)), "is not linked to them"
    )
    _check_aggregate(plan.aggregate, plan.quantity, typing)
    if plan.quantity is not None:
        _check_value(plan.quantity, plan.set, typing)


def _check_numbers(node: Set, typing: Typing) -> None:
    """Check the values that quantities are compared with."""
    for part in node.sets if isinstance(node, And) else (node,):
        if isinstance(part, Minus):
            _check_numbers(part.set, typing)
        if not isinstance(part, Compare) or isinstance(part.quantity, CountOf):
            continue
        if typing.kind(part.quantity) is QuantityKind.NUMBER and not _is_number(part.value.value):
            raise PlanError(f'"{part.value.value}" is no number.')
        if typing.kind(part.quantity) is QuantityKind.DATE and not part.value.value[:4].isdigit():
            raise PlanError(f'"{part.value.value}" is no date: write the year, or year-month-day.')


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None

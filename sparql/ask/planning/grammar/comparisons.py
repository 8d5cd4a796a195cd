"""Rules for comparisons with another thing: "older than X", "opened before X did"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sparql.ask.errors import PlanError
from sparql.ask.linking.readings import (
    Comparator,
    PropertyName,
)
from sparql.ask.plan.nodes import (
    CompareTo,
    Op,
    Quantity,
    Top,
    Values,
)
from sparql.ask.plan.typing import QuantityKind
from sparql.ask.planning.items import Category as C
from sparql.ask.planning.items import Head, Noun
from sparql.ask.planning.rules import Context, Made, Rules, restriction

__all__ = ["RULES", "compared_to"]

RULES = Rules()


@RULES.rule(C.COMPARATOR, C.NOUN)
def _than_set(context: Context, comparator: Comparator, of: Noun) -> Iterator[Made]:
    """ "older than X", and behind a property "after X" """
    if comparator.adjective is not None and of.pair and len(of.pair) == 2:
        for quantity, cost in context.quantities.of_adjective(comparator.adjective, of.types):
            yield C.NOUN, replace(of, node=Top(of.node, quantity, comparator.op is Op.MORE), pair=()), cost
    elif of.head is Head.NAME and comparator.adjective is not None:
        # Of the other things, other dates may say when they began.
        types = None if comparator.adjective.age else of.types
        for quantity, cost in context.quantities.of_adjective(comparator.adjective, types):
            yield from compared_to(context, quantity, comparator.op, of, cost)
    elif of.head is Head.NAME and comparator.dated and comparator.op is not Op.EQUAL:
        yield C.THAN, (comparator.op, of, None), 0.0


@RULES.rule(C.NOUN, C.COMPARATOR)
def _pair_compared(context: Context, of: Noun, comparator: Comparator) -> Iterator[Made]:
    if comparator.adjective is not None and len(of.pair) == 2:
        yield from _than_set(context, comparator, of)


@RULES.rule(C.COMPARATOR, C.VALUES)
def _than_value(context: Context, comparator: Comparator, values: Values) -> Iterator[Made]:
    """ "before X opened" """
    if comparator.dated and context.typing.kind(values.quantity) is QuantityKind.DATE:
        yield C.THAN, (comparator.op, Noun(values.set, None, Head.NAME), values.quantity), -0.1


@RULES.rule(C.PROPERTY, C.THAN)
def _property_than(
    context: Context, named: tuple[PropertyName, bool], than: tuple[Any, ...]
) -> Iterator[Made]:
    op, of, quantity = than
    for found, cost in context.quantities.of_property(named[0], None):
        if quantity in (None, found) and context.typing.kind(found) is not QuantityKind.TEXT:
            yield from compared_to(context, found, op, of, cost)


def compared_to(context: Context, quantity: Quantity, op: Op, of: Noun, cost: float) -> Iterator[Made]:
    node = CompareTo(quantity, op, of.node)
    try:
        yield C.NOUN, restriction(node, context.typing.of(node)), cost
    except PlanError:
        return

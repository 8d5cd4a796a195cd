"""Rules for distances: "within 2 km of", "500 meters from", "how far is X from Y"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pyoxigraph import Literal

from sparql.ask.linking.readings import (
    DateValue,
    Number,
    Word,
)
from sparql.ask.plan.nodes import Set
from sparql.ask.plan.quantities import DistanceTo
from sparql.ask.plan.questions import Values
from sparql.ask.plan.sets import And, Compare, Named, Near, Top
from sparql.ask.plan.terms import Op
from sparql.ask.planning.grammar.units import DECIMAL, converted, is_length
from sparql.ask.planning.items import Bound, Head, Noun
from sparql.ask.planning.items import Category as C
from sparql.ask.planning.rules import Context, Made, Rules, each_of, restriction

__all__ = ["RULES"]

RULES = Rules()


@RULES.rule(C.BOUND, C.NOUN)
def _bound_of(context: Context, bound: Bound, of: Noun) -> Iterator[Made]:
    """ "within 2 km of X", "more than 3 museums" """
    (op, value), *more = bound.tests
    if more or bound.dated or bound.adjective:
        return
    if is_length(bound.unit) and of.head is not Head.RESTRICTION:
        yield from _distant(context, op, value, bound.unit, of)
    elif bound.unit is None and of.head is Head.KIND:
        yield C.HAVING, (op, value, of, None), 0.0


def _distant(context: Context, op: Op, value: Literal, unit: str | None, of: Noun) -> Iterator[Made]:
    meters = converted(context, DistanceTo(of.node), value, unit)
    if meters is None or (of.types is not None and not of.types & context.typing.shaped):
        return
    nodes: list[Set] = [
        Near(one, round(Decimal(meters.value)))
        if op in (Op.LESS, Op.AT_MOST, Op.EQUAL)
        else Compare(DistanceTo(one), op, meters)
        for one in each_of(of)
    ]
    node = And(tuple(nodes)) if len(nodes) > 1 else nodes[0]
    yield C.NOUN, restriction(node, context.typing.shaped), 0.0


@RULES.rule(C.PLACE, C.VALUE)
def _within_distance(context: Context, place: Any, value: Number | DateValue) -> Iterator[Made]:
    if isinstance(value, Number) and is_length(value.unit) and place == "within":
        test = Op.AT_MOST, Literal(str(value.value), datatype=DECIMAL)
        yield C.BOUND, Bound((test,), False, value.unit, value.words), 0.0


@RULES.rule(C.VALUE, C.NOUN)
def _value_of(context: Context, value: Number | DateValue, of: Noun) -> Iterator[Made]:
    """ "500 meters from X", "two stadiums" """
    if (
        isinstance(value, Number)
        and value.unit is not None
        and is_length(value.unit)
        and of.head is not Head.RESTRICTION
    ):
        yield from (
            (c, m, cost + 0.3)
            for c, m, cost in _distant(
                context, Op.AT_MOST, Literal(str(value.value), datatype=DECIMAL), value.unit, of
            )
        )
    elif isinstance(value, Number) and value.unit is None and of.head is Head.KIND:
        if (of.plural or value.value == 1) and value.value == int(value.value) > 0:
            yield C.NOUN, replace(of, count=int(value.value)), 0.1
        yield C.HAVING, (Op.EQUAL, Literal(str(value.value), datatype=DECIMAL), of, None), 0.3


@RULES.rule(C.FAR, C.NOUN)
def _far_from(context: Context, one: Noun, other: Noun) -> Iterator[Made]:
    shaped = context.typing.shaped
    fits = all(end.types is None or end.types & shaped for end in (one, other))
    if fits and isinstance(other.node, Named | Top):
        yield C.VALUES, Values(DistanceTo(other.node), one.node), 0.0


@RULES.rule(C.FAR, C.WORD)
def _far_and(context: Context, one: Noun, word: Word) -> Iterator[Made]:
    if word is Word.AND:
        yield C.FAR, one, 0.0

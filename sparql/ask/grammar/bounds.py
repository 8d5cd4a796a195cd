"""Rules for bounds of values and distances: "before 1900", "longer than 1 km", "within 2 km of"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import product
from typing import Any, Final

from pyoxigraph import Literal

from extractors.english.values import unit_in_label, unit_of_property
from geo.measure.units import UNITS
from sparql.ask import penalties
from sparql.ask.errors import PlanError
from sparql.ask.grammar.items import (
    Bound,
    Context,
    Head,
    Made,
    Noun,
    PropertyPhrase,
    Rules,
    each_of,
    restriction,
)
from sparql.ask.grammar.items import Category as C
from sparql.ask.linking.readings import (
    Adjective,
    Comparator,
    DateValue,
    Measure,
    Number,
    PropertyName,
    Word,
)
from sparql.ask.plan.nodes import Quantity, Set
from sparql.ask.plan.quantities import Converted, DistanceTo, SizeOf, ValueOf
from sparql.ask.plan.questions import Values
from sparql.ask.plan.sets import And, Compare, Named, Near, Or, Top, conjunction, parts_of_set
from sparql.ask.plan.terms import Op, QuantityKind, Size
from sparql.ask.plan.typing import both
from sparql.model.vocabulary import XSD

RULES = Rules()
DECIMAL: Final = XSD.decimal


def converted(context: Context, quantity: Quantity, value: Literal, unit: str | None) -> Literal | None:
    """Return a value in the unit of a quantity; None where the units do not fit."""
    measured = isinstance(quantity, SizeOf | DistanceTo)
    wanted = quantity.query_unit if measured else _stated(context, quantity)
    if unit is None:
        return None if measured else value
    if unit == wanted:
        return value
    if wanted is None or not _fits(unit, wanted):
        return None
    number = Decimal(value.value) * UNITS[unit].factor / UNITS[wanted].factor
    return Literal(
        f"{number:f}".rstrip("0").rstrip(".") if "." in f"{number:f}" else f"{number:f}", datatype=DECIMAL
    )


def _stated(context: Context, quantity: Quantity) -> str | None:
    """The unit of a property's values, by the ontology or by the name of the property."""
    if not isinstance(quantity, ValueOf):
        return None
    step = quantity.path[-1]
    known = context.typing.schema.properties.get(step.iri)
    unit = unit_of_property(known) if known is not None else None
    return unit.value.rpartition("/")[2] if unit is not None else unit_in_label(step.words)


def in_unit(quantity: Quantity, unit: str) -> Quantity | None:
    """Return a quantity in a unit; None where it cannot be given in it."""
    if not isinstance(quantity, ValueOf | DistanceTo | SizeOf):
        return None
    if unit == quantity.answer_unit:
        return quantity
    return Converted(quantity, unit) if _fits(quantity.answer_unit, unit) else None


def _fits(unit: str, other: str) -> bool:
    return unit in UNITS and other in UNITS and UNITS[unit].quantity == UNITS[other].quantity


def is_length(unit: str | None) -> bool:
    """Return whether a unit is one of length, and so of distance."""
    return unit in UNITS and UNITS[unit].quantity == UNITS["M"].quantity


def is_area(unit: str | None) -> bool:
    """Return whether a unit is one of area."""
    return unit in UNITS and UNITS[unit].quantity == UNITS["M2"].quantity


@RULES.rule(C.COMPARATOR, C.VALUE)
def _bound(context: Context, comparator: Comparator, value: Number | DateValue) -> Iterator[Made]:
    if isinstance(value, DateValue):
        if comparator.dated or comparator.op is Op.EQUAL or comparator.adjective:
            yield C.BOUND, Bound(_date_tests(comparator.op, value), True, adjective=comparator.adjective), 0.0
        return
    if not comparator.dated:
        test = comparator.op, Literal(str(value.value), datatype=DECIMAL)
        yield C.BOUND, Bound((test,), False, value.unit, value.words, comparator.adjective), 0.0


def _date_tests(op: Op, value: DateValue) -> tuple[tuple[Op, Literal], ...]:
    if value.last is None:
        return ((op, value.value),)
    match op:
        case Op.EQUAL:
            return (Op.AT_LEAST, value.value), (Op.AT_MOST, value.last)
        case Op.LESS | Op.AT_LEAST:
            return ((op, value.value),)
        case _:
            return ((op, value.last),)


@RULES.rule(C.VALUE, C.BEHIND)
def _bound_behind(context: Context, value: Number | DateValue, comparator: Comparator) -> Iterator[Made]:
    """ "five or more" """
    if isinstance(value, DateValue):
        yield C.BOUND, Bound(_date_tests(comparator.op, value), True), 0.0
    else:
        yield from _bound(context, comparator, value)


@RULES.rule(C.WORD, C.VALUE)
def _year(context: Context, word: Word, value: Number | DateValue) -> Iterator[Made]:
    """ "the year 1900" """
    if word is Word.DATE and isinstance(value, DateValue):
        yield C.VALUE, value, 0.0


@RULES.rule(C.WORD, C.VALUE)
def _between(context: Context, word: Word, value: Number | DateValue) -> Iterator[Made]:
    if word is Word.BETWEEN:
        yield C.BETWEEN, (value, False), 0.0


@RULES.rule(C.BETWEEN, C.WORD)
def _between_and(context: Context, between: tuple[Any, bool], word: Word) -> Iterator[Made]:
    if word is Word.AND and not between[1]:
        yield C.BETWEEN, (between[0], True), 0.0


@RULES.rule(C.BETWEEN, C.VALUE)
def _range(context: Context, between: tuple[Any, bool], last: Number | DateValue) -> Iterator[Made]:
    first = between[0]
    if isinstance(first, DateValue) and isinstance(last, DateValue):
        tests = (Op.AT_LEAST, first.value), (Op.AT_MOST, last.last or last.value)
        yield C.BOUND, Bound(tests, True), 0.0
    elif isinstance(first, Number) and isinstance(last, Number) and between[1]:
        low, high = (Literal(str(v.value), datatype=DECIMAL) for v in (first, last))
        yield C.BOUND, Bound(((Op.AT_LEAST, low), (Op.AT_MOST, high)), False, last.unit, last.words), 0.0


RULES.behind(C.BOUND, Word.AND, C.BOUND_AND)


@RULES.rule(C.BOUND_AND, C.BOUND)
def _two_bounds(context: Context, first: Bound, other: Bound) -> Iterator[Made]:
    """ "after 1950 but before 1980" """
    if first.dated is other.dated and other.adjective in (None, first.adjective):
        yield C.BOUND, replace(first, tests=first.tests + other.tests), 0.0


@RULES.rule(C.BOUND, C.BOUND)
def _bound_and_bound(context: Context, first: Bound, other: Bound) -> Iterator[Made]:
    """ "neither before 1910 nor after 1940" """
    if first.dated:
        for category, made, cost in _two_bounds(context, first, other):
            yield category, made, cost + penalties.TWO_BOUNDS


@RULES.rule(C.VALUE, C.ADJECTIVE)
def _value_adjective(context: Context, value: Number | DateValue, adjective: Adjective) -> Iterator[Made]:
    if isinstance(value, Number) and value.unit:
        test = Op.EQUAL, Literal(str(value.value), datatype=DECIMAL)
        yield C.BOUND, Bound((test,), False, value.unit, value.words, adjective), 0.0


@RULES.rule(C.BOUND, C.ADJECTIVE)
def _bound_adjective(context: Context, bound: Bound, adjective: Adjective) -> Iterator[Made]:
    if bound.unit and bound.adjective is None:
        yield C.BOUND, replace(bound, adjective=adjective), 0.0


@RULES.rule(C.PROPERTY, C.BOUND, turned=penalties.OTHER_ORDER)
def _property_bound(context: Context, named: PropertyPhrase, bound: Bound) -> Iterator[Made]:
    for quantity, cost in context.quantities.of_property(named[0], None):
        yield from _compared(context, quantity, bound, cost)


RULES.behind(C.PROPERTY, Word.OR, C.PROPERTY_OR)


@RULES.rule(C.PROPERTY_OR, C.PROPERTY)
def _either_property(context: Context, left: PropertyPhrase, right: PropertyPhrase) -> Iterator[Made]:
    yield C.EITHER, (left[0], right[0]), 0.0


@RULES.rule(C.EITHER, C.BOUND)
def _either_bound(context: Context, names: tuple[PropertyName, PropertyName], bound: Bound) -> Iterator[Made]:
    """ "completed or opened before 1910" """
    left, right = (list(_property_bound(context, (name, False), bound)) for name in names)
    for (_, first, cost), (_, other, more) in product(left, right):
        types = None if first.types is None or other.types is None else first.types | other.types
        yield C.NOUN, restriction(Or((first.node, other.node)), types), cost + more


@RULES.rule(C.PROPERTY, C.VALUE)
def _property_value(context: Context, named: PropertyPhrase, value: Number | DateValue) -> Iterator[Made]:
    for made in _bound(context, Comparator(Op.EQUAL), value):
        for found in _property_bound(context, named, made[1]):
            yield found[0], found[1], found[2] + penalties.OTHER_ORDER


@RULES.rule(C.WORD, C.BOUND)
def _date_bound(context: Context, word: Word, bound: Bound) -> Iterator[Made]:
    """ "churches that date from the 1930s" """
    if word is Word.DATE and bound.dated and bound.adjective is None:
        for quantity, cost in context.quantities.beginning(None):
            yield from _compared(context, quantity, bound, cost + penalties.DATE_NAMED)


@RULES.rule(C.MEASURE, C.BOUND)
def _measure_bound(context: Context, measure: Measure, bound: Bound) -> Iterator[Made]:
    if measure.size is not None:
        quantity = context.quantities.of_size(measure.size, None)
        yield from _compared(context, quantity, bound, penalties.MEASURE_NAMED)


@RULES.rule(C.NOUN, C.BOUND)
def _set_bound(context: Context, of: Noun, bound: Bound) -> Iterator[Made]:
    """ "bridges longer than 1 km", "museums older than 1900" """
    if of.head is Head.RESTRICTION and not isinstance(of.node, And):
        return
    if bound.adjective is not None:
        quantities = context.quantities.of_adjective(bound.adjective, of.types)
    elif is_area(bound.unit):
        # "parks of more than 100 hectares"
        area = context.quantities.of_size(Size.AREA, of.types)
        quantities = iter([(area, penalties.AREA_BY_UNIT)])
    else:
        return
    # "parks in Queens larger than": the parks, not Queens.
    named = penalties.BEHIND_NAME if of.head is Head.NAME and not isinstance(of.node, And) else 0.0
    for quantity, cost in quantities:
        for _, made, more in _compared(context, quantity, bound, cost):
            types = both(of.types, made.types)
            if types is None or types:
                sets = parts_of_set(of.node)
                more_sets = parts_of_set(made.node)
                yield C.NOUN, replace(of, node=And((*sets, *more_sets)), types=types), more + named


def _compared(context: Context, quantity: Quantity, bound: Bound, cost: float) -> Iterator[Made]:
    kind = quantity.kind(context.typing)
    if (kind is QuantityKind.DATE) is not bound.dated and not (bound.adjective and bound.adjective.age):
        return
    if kind is QuantityKind.TEXT:
        return
    sets = []
    for op, value in bound.tests:
        bounding = value if bound.dated else converted(context, quantity, value, bound.unit)
        if bounding is None:
            return
        sets.append(Compare(quantity, op, bounding))
    try:
        types = quantity.types(context.typing)
    except PlanError:
        return
    yield C.NOUN, restriction(conjunction(sets), types), cost


@RULES.rule(C.ADJECTIVE, C.BOUND)
def _costs(context: Context, adjective: Adjective, bound: Bound) -> Iterator[Made]:
    """ "weighs more than 20 g" """
    if adjective.verb and bound.adjective is None:
        yield C.BOUND, replace(bound, adjective=adjective), 0.0


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
        Near(first, round(Decimal(meters.value)))
        if op in (Op.LESS, Op.AT_MOST, Op.EQUAL)
        else Compare(DistanceTo(first), op, meters)
        for first in each_of(of)
    ]
    node = conjunction(nodes)
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
        meters = Literal(str(value.value), datatype=DECIMAL)
        for category, made, cost in _distant(context, Op.AT_MOST, meters, value.unit, of):
            yield category, made, cost + penalties.DISTANCE_ALONE
    elif isinstance(value, Number) and value.unit is None and of.head is Head.KIND:
        if (of.plural or value.value == 1) and value.value == int(value.value) > 0:
            yield C.NOUN, replace(of, count=int(value.value)), penalties.NUMBER_WANTED
        number = Literal(str(value.value), datatype=DECIMAL)
        yield C.HAVING, (Op.EQUAL, number, of, None), penalties.NUMBER_COUNTED


@RULES.rule(C.FAR, C.NOUN)
def _far_from(context: Context, first: Noun, other: Noun) -> Iterator[Made]:
    shaped = context.typing.shaped
    fits = all(end.types is None or end.types & shaped for end in (first, other))
    if fits and isinstance(other.node, Named | Top):
        yield C.VALUES, Values(DistanceTo(other.node), first.node), 0.0


RULES.behind(C.FAR, Word.AND, C.FAR)

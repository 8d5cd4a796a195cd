"""Rules for values that are asked for: "the area of X", "how tall is X", "the phone and the email of X"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sparql.ask import penalties
from sparql.ask.grammar.bounds import in_unit, is_length
from sparql.ask.grammar.items import Category as C
from sparql.ask.grammar.items import Context, Head, Made, Noun, PropertyPhrase, Rules
from sparql.ask.linking.readings import (
    Adjective,
    Derived,
    HowMuch,
    Measure,
    PropertyName,
    UnitName,
    Word,
)
from sparql.ask.plan.quantities import Converted, DistanceTo, ValueOf
from sparql.ask.plan.questions import Aggregation, Table, Values
from sparql.ask.plan.sets import Related
from sparql.ask.plan.terms import Aggregate, QuantityKind, Size

RULES = Rules()


@RULES.rule(C.HOW, C.NOUN)
def _how_much(context: Context, how: HowMuch | tuple[HowMuch, UnitName], of: Noun) -> Iterator[Made]:
    asked, wanted = how if isinstance(how, tuple) else (how, None)
    for quantity, cost in context.quantities.of_adjective(asked.adjective, of.types):
        given = in_unit(quantity, wanted.unit) if wanted is not None else quantity
        if given is not None:
            yield C.VALUES, Values(given, of.node), cost


@RULES.rule(C.PROPERTY, C.NOUN, turned=penalties.VALUE_BEHIND)
def _value_of_set(context: Context, named: PropertyPhrase, of: Noun) -> Iterator[Made]:
    if of.head is Head.RESTRICTION and not isinstance(of.node, Related):
        return
    if named[0].partial and not named[1]:
        return
    more = penalties.VALUE_OF_RESTRICTION if of.head is Head.RESTRICTION else 0.0
    for quantity, cost in context.quantities.of_property(named[0], of.types):
        yield C.VALUES, Values(quantity, of.node), cost + more


@RULES.rule(C.MEASURE, C.NOUN)
def _measured(context: Context, measure: Measure, of: Noun) -> Iterator[Made]:
    if measure.verb:
        return
    if measure.size is not None:
        if of.head is Head.RESTRICTION:
            return
        if of.types is None or of.types & context.typing.shaped:
            quantity = context.quantities.of_size(measure.size, of.types)
            yield C.VALUES, Values(quantity, of.node), penalties.MEASURE_NAMED
    elif len(of.pair) == 2:
        yield C.VALUES, Values(DistanceTo(of.pair[1]), of.pair[0]), 0.0
    elif of.head is not Head.RESTRICTION:
        yield C.FAR, of, 0.0


@RULES.rule(C.MEASURE, C.BETWEEN_TWO)
def _measured_between(context: Context, measure: Measure, of: Noun) -> Iterator[Made]:
    """ "the distance between X and Y", "the difference in area between X and Y" """
    if not measure.verb and measure.size is None:
        yield C.VALUES, Values(DistanceTo(of.pair[1]), of.pair[0]), 0.0
    elif not measure.verb:
        yield from _measured(context, measure, of)


@RULES.rule(C.PROPERTY, C.BETWEEN_TWO)
def _value_between(context: Context, named: PropertyPhrase, of: Noun) -> Iterator[Made]:
    """ "the difference in height between X and Y" """
    yield from _value_of_set(context, named, of)


@RULES.rule(C.VALUES, C.MEASURE)
def _measured_again(context: Context, values: Values, measure: Measure) -> Iterator[Made]:
    """ "What area does the park cover?" """
    quantity = values.quantity.quantity if isinstance(values.quantity, Converted) else values.quantity
    if measure.size is not None and measure.size is quantity.measures:
        yield C.VALUES, values, 0.0


_Names = tuple[PropertyName, ...]


@RULES.rule(C.PROPERTY, C.WORD)
def _property_and(context: Context, named: PropertyPhrase, word: Word) -> Iterator[Made]:
    if word is Word.AND:
        yield C.PROPERTIES_AND, (named[0],), 0.0


@RULES.rule(C.PROPERTIES_AND, C.VALUES)
def _columns(context: Context, names: _Names, values: Values) -> Iterator[Made]:
    """ "the phone number and the email of X" """
    found = [next(context.quantities.of_property(name, None), None) for name in names]
    if all(found) and isinstance(values.quantity, ValueOf):
        columns = tuple(pair[0] for pair in found if pair)
        yield C.ANSWER, Table(values.set, (*columns, values.quantity)), sum(pair[1] for pair in found if pair)


@RULES.rule(C.NOUN, C.ADJECTIVE)
def _weighs(context: Context, of: Noun, adjective: Adjective) -> Iterator[Made]:
    """ "How much does it weigh?" """
    if adjective.verb and of.head is not Head.RESTRICTION:
        for quantity, cost in context.quantities.of_adjective(adjective, of.types):
            yield C.VALUES, Values(quantity, of.node), cost


@RULES.rule(C.DERIVED, C.NOUN)
def _derived_of(context: Context, derived: Derived, of: Noun) -> Iterator[Made]:
    for quantity, cost in context.quantities.derived(derived, of.types):
        yield C.VALUES, Values(quantity, of.node), cost


@RULES.rule(C.AGGREGATE, C.VALUES)
def _aggregated(context: Context, aggregate: Aggregate, values: Values) -> Iterator[Made]:
    if values.quantity.kind(context.typing) is QuantityKind.NUMBER:
        yield C.AGGREGATED, (aggregate, values), 0.0


@RULES.rule(C.NOUN, C.MEASURE)
def _measure_of_owner(context: Context, of: Noun, measure: Measure) -> Iterator[Made]:
    """ "Central Park's area" """
    if of.head is Head.NAME and not of.pair:
        for category, made, cost in _measured(context, measure, of):
            yield category, made, cost + penalties.OWNED


@RULES.rule(C.PROPERTY, C.WORD, turned=0.0)
def _property_year(context: Context, named: PropertyPhrase, word: Word) -> Iterator[Made]:
    """ "the founding year", "the date of completion" """
    if word is Word.DATE and ValueOf((named[0].term,)).kind(context.typing) is QuantityKind.DATE:
        yield C.PROPERTY, (named[0], True), 0.0


@RULES.rule(C.WORD, C.VALUES)
def _year_of_values(context: Context, word: Word, values: Values) -> Iterator[Made]:
    """ "the year the tower was finished" """
    if word is Word.DATE and values.quantity.kind(context.typing) is QuantityKind.DATE:
        yield C.VALUES, values, 0.0


@RULES.rule(C.VALUES, C.UNIT)
def _in_unit(context: Context, values: Values, wanted: UnitName) -> Iterator[Made]:
    """ "in miles" """
    quantity = in_unit(values.quantity, wanted.unit)
    if quantity is not None:
        yield C.VALUES, replace(values, quantity=quantity), 0.0


@RULES.rule(C.ANSWER, C.UNIT)
def _answer_in_unit(context: Context, answer: Any, wanted: UnitName) -> Iterator[Made]:
    quantity = in_unit(answer.quantity, wanted.unit) if isinstance(answer, Values | Aggregation) else None
    if quantity is not None:
        yield C.ANSWER, replace(answer, quantity=quantity), 0.0


@RULES.rule(C.MANY_UNITS, C.VALUES)
def _many_units(context: Context, wanted: UnitName, values: Values) -> Iterator[Made]:
    """ "How many acres is the area of X?" """
    for _, made, cost in _in_unit(context, values, wanted):
        yield C.ANSWER, made, cost


@RULES.rule(C.MANY_UNITS, C.ADJECTIVE)
def _many_units_tall(context: Context, wanted: UnitName, adjective: Adjective) -> Iterator[Made]:
    """ "How many meters tall is X?" """
    yield C.HOW, (HowMuch(adjective), wanted), 0.0


@RULES.rule(C.MANY_UNITS, C.NOUN)
def _many_square_units(context: Context, wanted: UnitName, of: Noun) -> Iterator[Made]:
    """ "How many acres does X cover?" """
    if of.head is Head.RESTRICTION or is_length(wanted.unit):
        return
    quantity = in_unit(context.quantities.of_size(Size.AREA, of.types), wanted.unit)
    if quantity is not None and (of.types is None or of.types & context.typing.shaped):
        yield C.VALUES, Values(quantity, of.node), 0.0


@RULES.rule(C.NOUN, C.MEASURE)
def _ordered_by(context: Context, of: Noun, measure: Measure) -> Iterator[Made]:
    """ "the boroughs by area" """
    if of.head is Head.KIND and of.plural and not measure.verb and measure.size is not None:
        for category, made, cost in _measured(context, measure, of):
            yield category, made, cost + penalties.ORDERED_BY

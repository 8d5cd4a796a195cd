"""Rules for values: "opened before 1900", "the three oldest", "more than two museums", "within 2 km of"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from pyoxigraph import Literal

from geo.measure.units import UNITS
from sparql.ask.errors import PlanError
from sparql.ask.linking.readings import (
    Adjective,
    Comparator,
    DateValue,
    Derived,
    HowMuch,
    Measure,
    More,
    Number,
    Ordinal,
    PropertyName,
    Word,
)
from sparql.ask.plan.nodes import (
    Aggregate,
    And,
    Compare,
    CompareTo,
    CountOf,
    DistanceTo,
    EarliestOf,
    Link,
    Named,
    Near,
    Op,
    Place,
    PlaceLink,
    PropertyLink,
    Quantity,
    Related,
    Set,
    SizeOf,
    Table,
    Top,
    ValueOf,
    Values,
)
from sparql.ask.plan.typing import QuantityKind, both
from sparql.ask.planning.items import Bound, Head, Noun, Ranking
from sparql.ask.planning.items import Category as C
from sparql.ask.planning.rules import Context, Made, Rules, restriction
from sparql.model.vocabulary import XSD

__all__ = ["ASSUMED_NEAREST", "RULES"]

RULES = Rules()
_Having = tuple[Op, Literal, Noun, Link | None]
ASSUMED_NEAREST: Final = 5
"""The number of "the nearest museums", where the question gives none."""
_LENGTHS: Final = frozenset({"M", "KiloM", "MI", "FT", "YD", "MI_N"})


@RULES.rule(C.COMPARATOR, C.VALUE)
def _bound(context: Context, comparator: Comparator, value: Number | DateValue) -> Iterator[Made]:
    if isinstance(value, DateValue):
        if comparator.dated or comparator.op is Op.EQUAL or comparator.adjective:
            yield C.BOUND, Bound(_date_tests(comparator.op, value), True, adjective=comparator.adjective), 0.0
        return
    if not comparator.dated:
        test = comparator.op, Literal(str(value.value), datatype=_DECIMAL)
        yield C.BOUND, Bound((test,), False, value.unit, value.words, comparator.adjective), 0.0


_DECIMAL: Final = XSD.decimal


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
        low, high = (Literal(str(v.value), datatype=_DECIMAL) for v in (first, last))
        yield C.BOUND, Bound(((Op.AT_LEAST, low), (Op.AT_MOST, high)), False, last.unit, last.words), 0.0


@RULES.rule(C.BOUND, C.WORD)
def _bound_and(context: Context, bound: Bound, word: Word) -> Iterator[Made]:
    if word is Word.AND:
        yield C.BOUND_AND, bound, 0.0


@RULES.rule(C.BOUND_AND, C.BOUND)
def _two_bounds(context: Context, one: Bound, other: Bound) -> Iterator[Made]:
    """ "after 1950 but before 1980" """
    if one.dated is other.dated and other.adjective in (None, one.adjective):
        yield C.BOUND, replace(one, tests=one.tests + other.tests), 0.0


@RULES.rule(C.VALUE, C.ADJECTIVE)
def _value_adjective(context: Context, value: Number | DateValue, adjective: Adjective) -> Iterator[Made]:
    if isinstance(value, Number) and value.unit:
        test = Op.EQUAL, Literal(str(value.value), datatype=_DECIMAL)
        yield C.BOUND, Bound((test,), False, value.unit, value.words, adjective), 0.0


@RULES.rule(C.BOUND, C.ADJECTIVE)
def _bound_adjective(context: Context, bound: Bound, adjective: Adjective) -> Iterator[Made]:
    if bound.unit and bound.adjective is None:
        yield C.BOUND, replace(bound, adjective=adjective), 0.0


@RULES.rule(C.PROPERTY, C.BOUND)
def _property_bound(context: Context, named: tuple[PropertyName, bool], bound: Bound) -> Iterator[Made]:
    for quantity, cost in context.quantities.of_property(named[0], None):
        yield from _compared(context, quantity, bound, cost)


@RULES.rule(C.BOUND, C.PROPERTY)
def _bound_property(context: Context, bound: Bound, named: tuple[PropertyName, bool]) -> Iterator[Made]:
    for made in _property_bound(context, named, bound):
        yield made[0], made[1], made[2] + 0.05


@RULES.rule(C.PROPERTY, C.VALUE)
def _property_value(
    context: Context, named: tuple[PropertyName, bool], value: Number | DateValue
) -> Iterator[Made]:
    for made in _bound(context, Comparator(Op.EQUAL), value):
        for found in _property_bound(context, named, made[1]):
            yield found[0], found[1], found[2] + 0.05


@RULES.rule(C.MEASURE, C.BOUND)
def _measure_bound(context: Context, measure: Measure, bound: Bound) -> Iterator[Made]:
    if measure.size is not None:
        yield from _compared(context, context.quantities.of_size(measure.size, None), bound, 0.1)


@RULES.rule(C.NOUN, C.BOUND)
def _set_bound(context: Context, of: Noun, bound: Bound) -> Iterator[Made]:
    """ "bridges longer than 1 km", "museums older than 1900" """
    if of.head is Head.RESTRICTION and not isinstance(of.node, And):
        return
    if bound.adjective is None:
        return
    quantities = context.quantities.of_adjective(bound.adjective, of.types)
    for quantity, cost in quantities:
        for _, made, more in _compared(context, quantity, bound, cost):
            types = both(of.types, made.types)
            if types is None or types:
                sets = of.node.sets if isinstance(of.node, And) else (of.node,)
                more_sets = made.node.sets if isinstance(made.node, And) else (made.node,)
                yield C.NOUN, replace(of, node=And((*sets, *more_sets)), types=types), more


def _compared(context: Context, quantity: Quantity, bound: Bound, cost: float) -> Iterator[Made]:
    kind = context.typing.kind(quantity)
    if (kind is QuantityKind.DATE) is not bound.dated and not (bound.adjective and bound.adjective.age):
        return
    if kind is QuantityKind.TEXT:
        return
    sets = []
    for op, value in bound.tests:
        converted = value if bound.dated else _converted(context, quantity, value, bound.unit)
        if converted is None:
            return
        sets.append(Compare(quantity, _of_age(op, bound), converted))
    try:
        types = context.typing.having(quantity)
    except PlanError:
        return
    yield C.NOUN, restriction(sets[0] if len(sets) == 1 else And(tuple(sets)), types), cost


def _of_age(op: Op, bound: Bound) -> Op:
    """Older is before: what the adjective's comparator says is of the date already."""
    return op


def _converted(context: Context, quantity: Quantity, value: Literal, unit: str | None) -> Literal | None:
    """Return a value in the unit of a quantity; None where the units do not fit."""
    wanted: str | None
    if isinstance(quantity, SizeOf):
        wanted = "M2" if quantity.size == "area" else "M"
    elif isinstance(quantity, DistanceTo):
        wanted = "M"
    else:
        known = (
            context.typing.schema.properties.get(quantity.path[-1].iri)
            if isinstance(quantity, ValueOf)
            else None
        )
        wanted = (
            known.unit.value.rpartition("/")[2]
            if known is not None and known.unit
            else _unit_in_name(quantity)
        )
    if unit is None:
        return value if not isinstance(quantity, SizeOf | DistanceTo) else None
    if unit == wanted:
        return value
    if (
        wanted is None
        or unit not in UNITS
        or wanted not in UNITS
        or UNITS[unit].quantity != UNITS[wanted].quantity
    ):
        return None
    number = Decimal(value.value) * UNITS[unit].factor / UNITS[wanted].factor
    return Literal(
        f"{number:f}".rstrip("0").rstrip(".") if "." in f"{number:f}" else f"{number:f}", datatype=_DECIMAL
    )


def _unit_in_name(quantity: Quantity) -> str | None:
    """The unit that a property's name ends with: "weight (g)"."""
    from extractors.english.quantities import unit_of

    words = quantity.path[-1].words if isinstance(quantity, ValueOf) else ""
    inside = words.partition("(")[2].partition(")")[0]
    return unit_of(inside) if inside else None


@RULES.rule(C.BOUND, C.NOUN)
def _bound_of(context: Context, bound: Bound, of: Noun) -> Iterator[Made]:
    """ "within 2 km of X", "more than 3 museums" """
    (op, value), *more = bound.tests
    if more or bound.dated or bound.adjective:
        return
    if bound.unit in _LENGTHS and of.head is not Head.RESTRICTION:
        yield from _distant(context, op, value, bound.unit, of)
    elif bound.unit is None and of.head is Head.KIND:
        yield C.HAVING, (op, value, of, None), 0.0


def _distant(context: Context, op: Op, value: Literal, unit: str | None, of: Noun) -> Iterator[Made]:
    meters = _converted(context, DistanceTo(of.node), value, unit)
    if meters is None or (of.types is not None and not of.types & context.typing.shaped):
        return
    node: Set = (
        Near(of.node, round(Decimal(meters.value)))
        if op in (Op.LESS, Op.AT_MOST, Op.EQUAL)
        else Compare(DistanceTo(of.node), op, meters)
    )
    yield C.NOUN, restriction(node, context.typing.shaped), 0.0


@RULES.rule(C.PLACE, C.VALUE)
def _within_distance(context: Context, place: Any, value: Number | DateValue) -> Iterator[Made]:
    if isinstance(value, Number) and value.unit in _LENGTHS and place == "within":
        test = Op.AT_MOST, Literal(str(value.value), datatype=_DECIMAL)
        yield C.BOUND, Bound((test,), False, value.unit, value.words), 0.0


@RULES.rule(C.VALUE, C.NOUN)
def _value_of(context: Context, value: Number | DateValue, of: Noun) -> Iterator[Made]:
    """ "500 meters from X", "two stadiums" """
    if isinstance(value, Number) and value.unit in _LENGTHS and of.head is not Head.RESTRICTION:
        yield from (
            (c, m, cost + 0.3)
            for c, m, cost in _distant(
                context, Op.AT_MOST, Literal(str(value.value), datatype=_DECIMAL), value.unit, of
            )
        )
    elif isinstance(value, Number) and value.unit is None and of.head is Head.KIND:
        if of.plural and value.value == int(value.value) > 0:
            yield C.NOUN, replace(of, count=int(value.value)), 0.1
        yield C.HAVING, (Op.EQUAL, Literal(str(value.value), datatype=_DECIMAL), of, None), 0.3


@RULES.rule(C.PLACE, C.HAVING)
def _place_having(context: Context, place: Place, having: _Having) -> Iterator[Made]:
    """ "that contain more than one museum" """
    op, value, of, link = having
    if link is None:
        yield C.HAVING, (op, value, of, PlaceLink(place)), 0.0


@RULES.rule(C.PROPERTY, C.HAVING)
def _property_having(context: Context, named: tuple[PropertyName, bool], having: _Having) -> Iterator[Made]:
    """ "designed more than one building", "designed by more than one architect" """
    op, value, of, link = having
    term = named[0].term
    if link is not None or not context.typing.is_thing(term.iri):
        return
    for inverse in (True, False):
        if context.related(PropertyLink(term, inverse), of.node) is not None:
            yield C.HAVING, (op, value, of, PropertyLink(term, inverse)), 0.0


@RULES.rule(C.PROPERTY, C.RANKING)
def _property_ranking(context: Context, named: tuple[PropertyName, bool], ranking: Ranking) -> Iterator[Made]:
    """ "designed the most buildings" """
    term = named[0].term
    if ranking.counted is None or ranking.link is not None or not context.typing.is_thing(term.iri):
        return
    for inverse in (True, False):
        if context.related(PropertyLink(term, inverse), ranking.counted.node) is not None:
            yield C.RANKING, replace(ranking, link=PropertyLink(term, inverse)), 0.0


@RULES.rule(C.NOUN, C.HAVING)
def _having(context: Context, of: Noun, having: _Having) -> Iterator[Made]:
    op, value, counted, named = having
    if of.head is not Head.KIND:
        return
    links = ((named, 0.3),) if named is not None else context.links(of.types, counted.types)
    for link, cost in links:
        made = _compared_count(context, of, CountOf(link, counted.node), op, value)
        if made is not None:
            yield C.NOUN, made, cost - 0.3


@RULES.rule(C.MORE, C.NOUN)
def _more(context: Context, more: More, of: Noun) -> Iterator[Made]:
    if of.head is Head.KIND:
        yield C.MORE_OF, (more.op, of), 0.0


@RULES.rule(C.MORE_OF, C.WORD)
def _more_than(context: Context, more: tuple[Op, Noun], word: Word) -> Iterator[Made]:
    if word is Word.THAN:
        yield C.MORE_THAN, more, 0.0


@RULES.rule(C.MORE_THAN, C.NOUN)
def _more_than_name(context: Context, more: tuple[Op, Noun], of: Noun) -> Iterator[Made]:
    """ "more museums than Queens" """
    op, counted = more
    if of.head is Head.NAME:
        for link, cost in context.links(of.types, counted.types):
            yield from _compared_to(context, CountOf(link, counted.node), op, of, cost - 0.4)


@RULES.rule(C.MORE_OF, C.NOUN)
def _more_of_two(context: Context, more: tuple[Op, Noun], of: Noun) -> Iterator[Made]:
    """ "Which has more museums, Queens or Brooklyn?" """
    op, counted = more
    if len(of.pair) == 2 and of.head is Head.NAME:
        for link, cost in context.links(of.types, counted.types):
            node = Top(of.node, CountOf(link, counted.node), op is Op.MORE)
            yield C.NOUN, replace(of, node=node, pair=()), cost - 0.4


@RULES.rule(C.NOUN, C.MORE_OF)
def _two_more_of(context: Context, of: Noun, more: tuple[Op, Noun]) -> Iterator[Made]:
    yield from _more_of_two(context, more, of)


def _compared_count(context: Context, of: Noun, quantity: CountOf, op: Op, value: Literal) -> Noun | None:
    try:
        types = both(context.typing.having(quantity), of.types)
    except PlanError:
        return None
    if types is not None and not types:
        return None
    sets = of.node.sets if isinstance(of.node, And) else (of.node,)
    return replace(of, node=And((*sets, Compare(quantity, op, value))), types=types)


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
            yield from _compared_to(context, quantity, comparator.op, of, cost)
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
            yield from _compared_to(context, found, op, of, cost)


def _compared_to(context: Context, quantity: Quantity, op: Op, of: Noun, cost: float) -> Iterator[Made]:
    node = CompareTo(quantity, op, of.node)
    try:
        yield C.NOUN, restriction(node, context.typing.of(node)), cost
    except PlanError:
        return


@RULES.rule(C.ORDINAL, C.RANK)
def _nth(context: Context, ordinal: Ordinal, rank: Ranking) -> Iterator[Made]:
    yield C.RANK, replace(rank, first=ordinal.number), 0.0


@RULES.rule(C.VALUE, C.RANK)
def _number_ranked(context: Context, value: Number | DateValue, rank: Ranking) -> Iterator[Made]:
    if isinstance(value, Number) and value.unit is None and value.value == int(value.value) > 0:
        yield C.RANK, replace(rank, count=int(value.value)), 0.0


@RULES.rule(C.RANK, C.VALUE)
def _ranked_number(context: Context, rank: Ranking, value: Number | DateValue) -> Iterator[Made]:
    yield from _number_ranked(context, value, rank)


@RULES.rule(C.RANK, C.RANK)
def _top_oldest(context: Context, one: Ranking, other: Ranking) -> Iterator[Made]:
    """ "the top five oldest" """
    if one.superlative and one.superlative.adjective is None and one.most and one.count:
        yield C.RANK, replace(other, count=one.count), 0.0


@RULES.rule(C.RANK, C.NOUN)
def _ranked(context: Context, rank: Ranking, of: Noun) -> Iterator[Made]:
    superlative = rank.superlative
    # The oldest of one thing would be that thing.
    alone = of.head is Head.NAME and not of.pair
    if superlative is None or of.head is Head.RESTRICTION or (alone and not superlative.distance):
        return
    if superlative.distance:
        if of.head is Head.NAME and not of.pair:
            yield C.RANKING, replace(rank, quantity=DistanceTo(of.node)), 0.0
        else:
            yield C.NEAREST, (rank, of), 0.0
    elif superlative.adjective is not None:
        for quantity, cost in context.quantities.of_adjective(superlative.adjective, of.types):
            yield from _top(context, rank, quantity, of, cost)
    elif superlative.dated:
        for quantity, cost in context.quantities.beginning(of.types):
            yield from _top(context, rank, quantity, of, cost + 0.1)
    if (
        superlative.adjective is None
        and not superlative.dated
        and not superlative.distance
        and of.head is Head.KIND
    ):
        yield C.RANKING, replace(rank, counted=of), 0.0


@RULES.rule(C.NOUN, C.RANK)
def _ranked_behind(context: Context, of: Noun, rank: Ranking) -> Iterator[Made]:
    """ "Which museum is the oldest?" """
    if (
        rank.superlative
        and (rank.superlative.adjective or rank.superlative.dated)
        and of.head is not Head.RESTRICTION
    ):
        for made in _ranked(context, rank, of):
            yield made[0], made[1], made[2] + 0.05


@RULES.rule(C.RANK, C.PROPERTY)
def _rank_property(context: Context, rank: Ranking, named: tuple[PropertyName, bool]) -> Iterator[Made]:
    """ "the highest population" """
    if rank.superlative is not None and not rank.superlative.distance:
        for quantity, cost in context.quantities.of_property(named[0], None):
            kind = context.typing.kind(quantity)
            if kind is QuantityKind.NUMBER or (kind is QuantityKind.DATE and rank.superlative.dated):
                yield C.RANKING, replace(rank, quantity=quantity), cost


@RULES.rule(C.PROPERTY, C.RANK)
def _property_rank(context: Context, named: tuple[PropertyName, bool], rank: Ranking) -> Iterator[Made]:
    """ "opened first" """
    if rank.superlative is not None and rank.superlative.dated:
        yield from _rank_property(context, rank, named)


@RULES.rule(C.RANK, C.MEASURE)
def _rank_measure(context: Context, rank: Ranking, measure: Measure) -> Iterator[Made]:
    if measure.size is not None and rank.superlative and not rank.superlative.distance:
        yield C.RANKING, replace(rank, quantity=context.quantities.of_size(measure.size, None)), 0.1


@RULES.rule(C.NOUN, C.RANKING)
def _ranked_by(context: Context, of: Noun, ranking: Ranking) -> Iterator[Made]:
    if of.head is Head.RESTRICTION or (of.head is Head.NAME and not of.pair):
        return
    if ranking.quantity is not None:
        yield from _top(context, ranking, ranking.quantity, of, 0.0)
    elif ranking.counted is not None:
        named = ((ranking.link, 0.4),) if ranking.link is not None else None
        for link, cost in named or context.links(of.types, ranking.counted.types):
            yield from _top(context, ranking, CountOf(link, ranking.counted.node), of, cost - 0.4)


@RULES.rule(C.RANKING, C.NOUN)
def _ranking_of(context: Context, ranking: Ranking, of: Noun) -> Iterator[Made]:
    if ranking.quantity is not None and of.head is Head.KIND:
        yield from _top(context, ranking, ranking.quantity, of, 0.1)


@RULES.rule(C.NEAREST, C.NOUN)
def _nearest_to(context: Context, nearest: tuple[Ranking, Noun], to: Noun) -> Iterator[Made]:
    rank, of = nearest
    if to.head is Head.NAME and of.head is Head.KIND:
        yield from _top(context, rank, DistanceTo(to.node), of, 0.0)


def _top(context: Context, rank: Ranking, quantity: Quantity, of: Noun, cost: float) -> Iterator[Made]:
    count = rank.count or of.count or 1
    if count == 1 and of.plural and isinstance(quantity, DistanceTo) and rank.first == 1 and not rank.most:
        count = ASSUMED_NEAREST
    node = Top(of.node, quantity, rank.most, count, rank.first)
    try:
        yield C.NOUN, replace(of, node=node, types=context.typing.of(node), pair=(), count=None), cost
    except PlanError:
        return


@RULES.rule(C.HOW, C.NOUN)
def _how_much(context: Context, how: HowMuch, of: Noun) -> Iterator[Made]:
    for quantity, cost in context.quantities.of_adjective(how.adjective, of.types):
        yield C.VALUES, Values(quantity, of.node), cost


@RULES.rule(C.PROPERTY, C.NOUN)
def _value_of_set(context: Context, named: tuple[PropertyName, bool], of: Noun) -> Iterator[Made]:
    if of.head is Head.RESTRICTION and not isinstance(of.node, Related):
        return
    if named[0].partial and not named[1]:
        return
    more = 0.2 if of.head is Head.RESTRICTION else 0.0
    for quantity, cost in context.quantities.of_property(named[0], of.types):
        yield C.VALUES, Values(quantity, of.node), cost + more


@RULES.rule(C.NOUN, C.PROPERTY)
def _ranked_to(context: Context, of: Noun, named: tuple[PropertyName, bool]) -> Iterator[Made]:
    """ "the first line to open" """
    node = of.node
    if isinstance(node, Top) and isinstance(node.quantity, EarliestOf | ValueOf):
        terms = node.quantity.properties if isinstance(node.quantity, EarliestOf) else node.quantity.path
        if named[0].term in terms:
            yield C.NOUN, replace(of, node=replace(node, quantity=ValueOf((named[0].term,)))), 0.0


@RULES.rule(C.NOUN, C.MEASURE)
def _ranked_by_size(context: Context, of: Noun, measure: Measure) -> Iterator[Made]:
    """ "the largest park by area" """
    quantity = of.node.quantity if isinstance(of.node, Top) else None
    sizes = [getattr(quantity, "size", None), getattr(quantity, "measured", None)]
    if measure.size is not None and measure.size in sizes:
        yield C.NOUN, of, 0.0


@RULES.rule(C.NOUN, C.PROPERTY)
def _set_value(context: Context, of: Noun, named: tuple[PropertyName, bool]) -> Iterator[Made]:
    for made in _value_of_set(context, named, of):
        yield made[0], made[1], made[2] + 0.15


@RULES.rule(C.MEASURE, C.NOUN)
def _measured(context: Context, measure: Measure, of: Noun) -> Iterator[Made]:
    if measure.verb:
        return
    if measure.size is not None:
        if of.head is Head.RESTRICTION:
            return
        if of.types is None or of.types & context.typing.shaped:
            yield C.VALUES, Values(context.quantities.of_size(measure.size, of.types), of.node), 0.1
    elif len(of.pair) == 2:
        yield C.VALUES, Values(DistanceTo(of.pair[1]), of.pair[0]), 0.0
    elif of.head is not Head.RESTRICTION:
        yield C.FAR, of, 0.0


@RULES.rule(C.VALUES, C.MEASURE)
def _measured_again(context: Context, values: Values, measure: Measure) -> Iterator[Made]:
    """ "What area does the park cover?" """
    quantity = values.quantity
    if measure.size is not None and measure.size in (
        getattr(quantity, "size", None),
        getattr(quantity, "measured", None),
    ):
        yield C.VALUES, values, 0.0


@RULES.rule(C.FAR, C.NOUN)
def _far_from(context: Context, one: Noun, other: Noun) -> Iterator[Made]:
    shaped = context.typing.shaped
    fits = all(end.types is None or end.types & shaped for end in (one, other))
    if fits and isinstance(other.node, Named):
        yield C.VALUES, Values(DistanceTo(other.node), one.node), 0.0


@RULES.rule(C.FAR, C.WORD)
def _far_and(context: Context, one: Noun, word: Word) -> Iterator[Made]:
    if word is Word.AND:
        yield C.FAR, one, 0.0


_Names = tuple[PropertyName, ...]


@RULES.rule(C.PROPERTY, C.WORD)
def _property_and(context: Context, named: tuple[PropertyName, bool], word: Word) -> Iterator[Made]:
    if word is Word.AND:
        yield C.PROPERTIES_AND, (named[0],), 0.0


@RULES.rule(C.PROPERTIES_AND, C.VALUES)
def _columns(context: Context, names: _Names, values: Values) -> Iterator[Made]:
    """ "the phone number and the email of X" """
    found = [next(context.quantities.of_property(name, None), None) for name in names]
    if all(found) and isinstance(values.quantity, ValueOf):
        columns = tuple(one[0] for one in found if one)
        yield C.ANSWER, Table(values.set, (*columns, values.quantity)), sum(one[1] for one in found if one)


@RULES.rule(C.ADJECTIVE, C.BOUND)
def _costs(context: Context, adjective: Adjective, bound: Bound) -> Iterator[Made]:
    """ "weighs more than 20 g" """
    if adjective.verb and bound.adjective is None:
        yield C.BOUND, replace(bound, adjective=adjective), 0.0


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


@RULES.rule(C.RANK, C.DERIVED)
def _rank_derived(context: Context, rank: Ranking, derived: Derived) -> Iterator[Made]:
    """ "the smallest volume" """
    if rank.superlative is not None and not rank.superlative.distance:
        for quantity, cost in context.quantities.derived(derived, None):
            yield C.RANKING, replace(rank, quantity=quantity), cost


@RULES.rule(C.AGGREGATE, C.VALUES)
def _aggregated(context: Context, aggregate: Aggregate, values: Values) -> Iterator[Made]:
    if context.typing.kind(values.quantity) is QuantityKind.NUMBER:
        yield C.AGGREGATED, (aggregate, values), 0.0

"""Rules for comparisons with another thing: "older than X", "opened before X did", "more museums than X"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pyoxigraph import Literal

from sparql.ask import penalties
from sparql.ask.errors import PlanError
from sparql.ask.grammar.items import Category as C
from sparql.ask.grammar.items import Context, Head, Made, Noun, PropertyPhrase, Rules, conjoin, restriction
from sparql.ask.linking.readings import (
    Comparator,
    More,
    PropertyName,
    Word,
)
from sparql.ask.plan.nodes import Link, Quantity
from sparql.ask.plan.quantities import Arithmetic, CountOf, DistanceTo
from sparql.ask.plan.questions import List, Values
from sparql.ask.plan.sets import (
    And,
    Compare,
    CompareTo,
    Named,
    PlaceLink,
    PropertyLink,
    Related,
    Top,
    conjunction,
    parts_of_set,
)
from sparql.ask.plan.terms import Op, Operation, Place, QuantityKind
from sparql.ask.plan.typing import both
from sparql.model.vocabulary import XSD

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


@RULES.rule(C.COMPARATOR, C.BETWEEN_TWO)
def _compared_between(context: Context, comparator: Comparator, of: Noun) -> Iterator[Made]:
    """ "Which is older, between X and Y?" """
    if comparator.adjective is not None:
        yield from _than_set(context, comparator, of)


@RULES.rule(C.NOUN, C.COMPARATOR)
def _pair_compared(context: Context, of: Noun, comparator: Comparator) -> Iterator[Made]:
    if comparator.adjective is not None and len(of.pair) == 2:
        yield from _than_set(context, comparator, of)


@RULES.rule(C.COMPARATOR, C.VALUES)
def _than_value(context: Context, comparator: Comparator, values: Values) -> Iterator[Made]:
    """ "before X opened" """
    if comparator.dated and values.quantity.kind(context.typing) is QuantityKind.DATE:
        yield (
            C.THAN,
            (comparator.op, Noun(values.set, None, Head.NAME), values.quantity),
            -penalties.THAN_VALUE,
        )


@RULES.rule(C.PROPERTY, C.THAN)
def _property_than(context: Context, named: PropertyPhrase, than: tuple[Any, ...]) -> Iterator[Made]:
    op, of, quantity = than
    for found, cost in context.quantities.of_property(named[0], None):
        if quantity in (None, found) and found.kind(context.typing) is not QuantityKind.TEXT:
            yield from compared_to(context, found, op, of, cost)


@RULES.rule(C.COMPARATOR, C.NOUN)
def _closer_to(context: Context, comparator: Comparator, to: Noun) -> Iterator[Made]:
    """ "closer to X [than Y]" """
    if comparator.distant and to.head is not Head.RESTRICTION:
        yield C.CLOSER, (comparator.op, DistanceTo(to.node)), 0.0


RULES.behind(C.CLOSER, Word.THAN, C.CLOSER_THAN)


RULES.behind(C.CLOSER, Word.THAN_TO, C.CLOSER_THAN_TO)


@RULES.rule(C.CLOSER_THAN_TO, C.NOUN)
def _closer_to_one_than_other(context: Context, closer: tuple[Op, DistanceTo], to: Noun) -> Iterator[Made]:
    """ "closer to X than to Y" """
    if to.head is not Head.RESTRICTION:
        between = Arithmetic(Operation.MINUS, closer[1], DistanceTo(to.node))
        node = Compare(between, closer[0], Literal("0", datatype=XSD.decimal))
        yield C.NOUN, restriction(node, context.typing.shaped), 0.0


@RULES.rule(C.CLOSER_THAN, C.NOUN)
def _closer_than_set(context: Context, closer: tuple[Op, DistanceTo], of: Noun) -> Iterator[Made]:
    if of.head is Head.NAME:
        yield from compared_to(context, closer[1], closer[0], of, 0.0)


@RULES.rule(C.CLOSER, C.NOUN, turned=0.0)
def _closer_of_two(context: Context, closer: tuple[Op, DistanceTo], of: Noun) -> Iterator[Made]:
    """ "Which is closer to X, Y or Z?" """
    if of.head is Head.NAME and len(of.pair) == 2:
        node = Top(of.node, closer[1], closer[0] is Op.MORE)
        yield C.NOUN, replace(of, node=node, pair=()), 0.0


@RULES.rule(C.WORD, C.NOUN)
def _same_kind(context: Context, word: Word, of: Noun) -> Iterator[Made]:
    """ "the same borough" """
    if word is Word.SAME and of.head is Head.KIND:
        yield C.SAME, of, 0.0


@RULES.rule(C.WORD, C.WORD)
def _same_year(context: Context, word: Word, other: Word) -> Iterator[Made]:
    if word is Word.SAME and other is Word.DATE:
        yield C.SAME, other, 0.0


@RULES.rule(C.WORD, C.PROPERTY)
def _same_property(context: Context, word: Word, named: PropertyPhrase) -> Iterator[Made]:
    if word is Word.SAME:
        yield C.SAME, named[0], 0.0


@RULES.rule(C.SAME, C.NOUN)
def _same_as(context: Context, same: Noun | Word | PropertyName, of: Noun) -> Iterator[Made]:
    """ "in the same borough as X", "in the same year as X", "with the same height as X" """
    if of.head is not Head.NAME or of.pair:
        return
    if isinstance(same, Word):
        yield C.THAN, (Op.EQUAL, of, None), 0.0
    elif isinstance(same, PropertyName):
        for quantity, cost in context.quantities.of_property(same, of.types):
            yield from compared_to(context, quantity, Op.EQUAL, of, cost)
    else:
        for link, cost in context.links(same.types, of.types):
            around = context.related(link, of.node)
            found = conjoin(same, around) if around is not None else None
            if found is not None:
                yield C.NOUN, replace(found, head=Head.NAME, apart=of), cost - penalties.SAID_BY_SAME


@RULES.rule(C.PLACE, C.SAME)
def _in_same_place(context: Context, place: Place, same: Noun | Word | PropertyName) -> Iterator[Made]:
    if place is Place.WITHIN and isinstance(same, Noun):
        yield C.IN_SAME, same, 0.0


@RULES.rule(C.NOUN, C.IN_SAME)
def _two_in_same(context: Context, of: Noun, same: Noun) -> Iterator[Made]:
    """ "Are X and Y in the same borough?" """
    if of.head is not Head.NAME or len(of.pair) != 2:
        return
    first, other = of.pair
    for _, place, cost in _same_as(context, same, Noun(other, of.types, Head.NAME)):
        inside = context.related(PlaceLink(Place.WITHIN), place.node)
        if inside is not None:
            yield C.NOUN, Noun(And((first, inside.node)), of.types, Head.NAME), cost


@RULES.rule(C.COMPARATOR, C.THAN)
def _in_same(context: Context, comparator: Comparator, than: tuple[Any, ...]) -> Iterator[Made]:
    """ "in the same year as" """
    if comparator.dated and comparator.op is Op.EQUAL and than[0] is Op.EQUAL:
        yield C.THAN, than, 0.0


def compared_to(context: Context, quantity: Quantity, op: Op, of: Noun, cost: float) -> Iterator[Made]:
    """Yield the comparison of a quantity with that of a thing, where it has it."""
    made = context.restriction(CompareTo(quantity, op, of.node))
    if made is not None:
        yield C.NOUN, made, cost


_Having = tuple[Op, Literal, Noun, Link | None]


@RULES.rule(C.PLACE, C.HAVING)
def _place_having(context: Context, place: Place, having: _Having) -> Iterator[Made]:
    """ "that contain more than one museum" """
    op, value, of, link = having
    if link is None:
        # "Over four museums" is a number of them.
        yield (
            C.HAVING,
            (op, value, of, PlaceLink(place)),
            penalties.CROSSED_NUMBER if place is Place.OVERLAPS else 0.0,
        )


@RULES.rule(C.PROPERTY, C.HAVING)
def _property_having(context: Context, named: PropertyPhrase, having: _Having) -> Iterator[Made]:
    """ "designed more than one building", "designed by more than one architect" """
    op, value, of, link = having
    term = named[0].term
    if link is not None or not context.typing.is_thing(term.iri):
        return
    for inverse in (True, False):
        if context.related(PropertyLink(term, inverse), of.node) is not None:
            yield C.HAVING, (op, value, of, PropertyLink(term, inverse)), 0.0


@RULES.rule(C.NOUN, C.HAVING)
def _having(context: Context, of: Noun, having: _Having) -> Iterator[Made]:
    op, value, counted, named = having
    if of.head is not Head.KIND:
        return
    links = (
        ((named, penalties.SAID_BY_NUMBER),) if named is not None else context.links(of.types, counted.types)
    )
    for link, cost in links:
        made = _compared_count(context, of, CountOf(link, counted.node), op, value)
        if made is not None:
            yield C.NOUN, made, cost - penalties.SAID_BY_NUMBER


@RULES.rule(C.IN_KIND, C.HAVING)
def _in_kind_having(context: Context, kind: Noun, having: _Having) -> Iterator[Made]:
    """ "In which boroughs are there more than four museums?" """
    for _, made, cost in _having(context, kind, having):
        yield C.ANSWER, List(made.node), cost


@RULES.rule(C.MORE, C.NOUN)
def _more(context: Context, more: More, of: Noun) -> Iterator[Made]:
    if of.head is Head.KIND:
        yield C.MORE_OF, (more.op, of), 0.0


RULES.behind(C.MORE_OF, Word.THAN, C.MORE_THAN)


@RULES.rule(C.MORE_THAN, C.NOUN)
def _more_than_name(context: Context, more: tuple[Op, Noun], of: Noun) -> Iterator[Made]:
    """ "more museums than Queens" """
    op, counted = more
    if of.head is Head.NAME:
        for link, cost in context.links(of.types, counted.types):
            yield from compared_to(
                context, CountOf(link, counted.node), op, of, cost - penalties.SAID_BY_COUNT
            )


@RULES.rule(C.MORE_THAN, C.NOUN)
def _more_here_than_there(context: Context, more: tuple[Op, Noun], there: Noun) -> Iterator[Made]:
    """ "Are there more parks in X than in Y?" """
    op, counted = more
    node = counted.node
    if not isinstance(node, And) or there.head is not Head.RESTRICTION:
        return
    *kept, here = node.sets
    match here, there.node:
        case Related(PlaceLink(Place.WITHIN), Named() as first), Related(
            PlaceLink(Place.WITHIN), Named() as other
        ):
            quantity = CountOf(PlaceLink(Place.CONTAINS), conjunction(kept))
            found = And((first, CompareTo(quantity, op, other)))
            yield C.NOUN, Noun(found, context.typing.of(first), Head.NAME), 0.0


@RULES.rule(C.MORE_OF, C.NOUN, turned=0.0)
def _more_of_two(context: Context, more: tuple[Op, Noun], of: Noun) -> Iterator[Made]:
    """ "Which has more museums, Queens or Brooklyn?" """
    op, counted = more
    if len(of.pair) == 2 and of.head is Head.NAME:
        for link, cost in context.links(of.types, counted.types):
            node = Top(of.node, CountOf(link, counted.node), op is Op.MORE)
            yield C.NOUN, replace(of, node=node, pair=()), cost - penalties.SAID_BY_COUNT


def _compared_count(context: Context, of: Noun, quantity: CountOf, op: Op, value: Literal) -> Noun | None:
    try:
        types = both(quantity.types(context.typing), of.types)
    except PlanError:
        return None
    if types is not None and not types:
        return None
    sets = parts_of_set(of.node)
    return replace(of, node=And((*sets, Compare(quantity, op, value))), types=types)

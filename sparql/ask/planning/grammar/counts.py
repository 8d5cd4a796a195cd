"""Rules for counted things: "with more than two museums", "more museums than Queens"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyoxigraph import Literal

from sparql.ask.errors import PlanError
from sparql.ask.linking.readings import (
    More,
    PropertyName,
    Word,
)
from sparql.ask.plan.nodes import Link
from sparql.ask.plan.quantities import CountOf
from sparql.ask.plan.questions import List
from sparql.ask.plan.sets import And, Compare, CompareTo, Named, PlaceLink, PropertyLink, Related, Top
from sparql.ask.plan.terms import Op, Place
from sparql.ask.plan.typing import both
from sparql.ask.planning.grammar.comparisons import compared_to
from sparql.ask.planning.items import Category as C
from sparql.ask.planning.items import Head, Noun
from sparql.ask.planning.rules import Context, Made, Rules

__all__ = ["RULES"]

RULES = Rules()


_Having = tuple[Op, Literal, Noun, Link | None]


@RULES.rule(C.PLACE, C.HAVING)
def _place_having(context: Context, place: Place, having: _Having) -> Iterator[Made]:
    """ "that contain more than one museum" """
    op, value, of, link = having
    if link is None:
        # "Over four museums" is a number of them.
        yield C.HAVING, (op, value, of, PlaceLink(place)), 0.2 if place is Place.OVERLAPS else 0.0


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


@RULES.rule(C.IN_KIND, C.HAVING)
def _in_kind_having(context: Context, kind: Noun, having: _Having) -> Iterator[Made]:
    """ "In which boroughs are there more than four museums?" """
    for _, made, cost in _having(context, kind, having):
        yield C.ANSWER, List(made.node), cost


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
            yield from compared_to(context, CountOf(link, counted.node), op, of, cost - 0.4)


@RULES.rule(C.MORE_THAN, C.NOUN)
def _more_here_than_there(context: Context, more: tuple[Op, Noun], there: Noun) -> Iterator[Made]:
    """ "Are there more parks in X than in Y?" """
    op, counted = more
    node = counted.node
    if not isinstance(node, And) or there.head is not Head.RESTRICTION:
        return
    *kept, here = node.sets
    match here, there.node:
        case Related(PlaceLink(Place.WITHIN), Named() as one), Related(
            PlaceLink(Place.WITHIN), Named() as other
        ):
            quantity = CountOf(PlaceLink(Place.CONTAINS), And(tuple(kept)) if len(kept) > 1 else kept[0])
            found = And((one, CompareTo(quantity, op, other)))
            yield C.NOUN, Noun(found, context.typing.of(one), Head.NAME), 0.0


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
        types = both(quantity.types(context.typing), of.types)
    except PlanError:
        return None
    if types is not None and not types:
        return None
    sets = of.node.sets if isinstance(of.node, And) else (of.node,)
    return replace(of, node=And((*sets, Compare(quantity, op, value))), types=types)

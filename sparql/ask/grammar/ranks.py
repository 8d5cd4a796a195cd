"""Rules for what is first in an order: "the three oldest", "the second largest", "the most parks"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sparql.ask import penalties
from sparql.ask.grammar.items import Category as C
from sparql.ask.grammar.items import Context, Head, Made, Noun, PropertyPhrase, Ranking, Rules
from sparql.ask.linking.readings import (
    Comparator,
    DateValue,
    Derived,
    Measure,
    Number,
    Ordinal,
    Superlative,
    Word,
)
from sparql.ask.plan.nodes import Quantity
from sparql.ask.plan.quantities import CountOf, DistanceTo, EarliestOf, Position, ValueOf
from sparql.ask.plan.sets import And, Kind, PlaceLink, PropertyLink, Related, Top
from sparql.ask.plan.terms import Op, Place, QuantityKind

RULES = Rules()


ASSUMED_NEAREST: Final = 5


@RULES.rule(C.PROPERTY, C.RANKING)
def _property_ranking(context: Context, named: PropertyPhrase, ranking: Ranking) -> Iterator[Made]:
    """ "designed the most buildings" """
    term = named[0].term
    if ranking.counted is None or ranking.link is not None or not context.typing.is_thing(term.iri):
        return
    for inverse in (True, False):
        if context.related(PropertyLink(term, inverse), ranking.counted.node) is not None:
            yield C.RANKING, replace(ranking, link=PropertyLink(term, inverse)), 0.0


@RULES.rule(C.PLACE, C.RANKING)
def _place_ranking(context: Context, place: Place, ranking: Ranking) -> Iterator[Made]:
    """ "runs through the most neighborhoods" """
    if ranking.counted is not None and ranking.link is None and place is not Place.WITHIN:
        yield C.RANKING, replace(ranking, link=PlaceLink(place)), 0.0


@RULES.rule(C.ORDINAL, C.RANK)
def _nth(context: Context, ordinal: Ordinal, rank: Ranking) -> Iterator[Made]:
    yield C.RANK, replace(rank, first=ordinal.number), 0.0


@RULES.rule(C.VALUE, C.RANK, turned=0.0)
def _number_ranked(context: Context, value: Number | DateValue, rank: Ranking) -> Iterator[Made]:
    if isinstance(value, Number) and value.unit is None and value.value == int(value.value) > 0:
        yield C.RANK, replace(rank, count=int(value.value)), 0.0


@RULES.rule(C.RANK, C.RANK)
def _top_oldest(context: Context, first: Ranking, other: Ranking) -> Iterator[Made]:
    """ "the top five oldest" """
    if first.superlative and first.superlative.adjective is None and first.most and first.count:
        yield C.RANK, replace(other, count=first.count), 0.0


@RULES.rule(C.COMPARATOR, C.WORD)
def _than_others(context: Context, comparator: Comparator, word: Word) -> Iterator[Made]:
    """ "larger than any other" """
    adjective = comparator.adjective
    if word is Word.OTHERS and adjective is not None:
        most = comparator.op is Op.MORE
        yield C.RANK, Ranking(most, superlative=Superlative(most, adjective)), 0.0


@RULES.rule(C.MORE_THAN, C.WORD)
def _more_than_others(context: Context, more: tuple[Op, Noun], word: Word) -> Iterator[Made]:
    """ "more museums than any other" """
    if word is Word.OTHERS:
        yield C.RANKING, Ranking(more[0] is Op.MORE, counted=more[1]), 0.0


@RULES.rule(C.NOUN, C.NOUN)
def _named_again(context: Context, left: Noun, right: Noun) -> Iterator[Made]:
    """ "Which park is larger than any other park?" """
    for first, other in ((left, right), (right, left)):
        if isinstance(first.node, Top) and isinstance(other.node, Kind) and first.node.set == other.node:
            yield C.NOUN, first, penalties.NAMED_AGAIN


@RULES.rule(C.PROPERTY, C.COMPARATOR)
def _opened_earlier(context: Context, named: PropertyPhrase, comparator: Comparator) -> Iterator[Made]:
    """ "Which opened earlier, X or Y?" """
    if comparator.adjective is None or not comparator.adjective.age:
        return
    for quantity, cost in context.quantities.of_property(named[0], None):
        if quantity.kind(context.typing) is QuantityKind.DATE:
            yield C.RANKING, Ranking(comparator.op is Op.MORE, quantity), cost


@RULES.rule(C.ORDINAL, C.MEASURE)
def _nth_in_size(context: Context, ordinal: Ordinal, measure: Measure) -> Iterator[Made]:
    """ "Which park is second in size?" """
    if measure.size is not None and not measure.verb:
        quantity = context.quantities.of_size(measure.size, None)
        yield C.RANKING, Ranking(True, quantity, first=ordinal.number), penalties.RANKED_BY_AREA


@RULES.rule(C.MEASURE, C.RANKING)
def _covers_most(context: Context, measure: Measure, ranking: Ranking) -> Iterator[Made]:
    """ "covers the largest area" """
    if measure.verb and ranking.quantity is not None and measure.size is ranking.quantity.measures:
        yield C.RANKING, ranking, 0.0


@RULES.rule(C.RANK, C.PROPERTY)
def _first_opened(context: Context, rank: Ranking, named: PropertyPhrase) -> Iterator[Made]:
    """ "When did X first open?" """
    if rank.superlative is None or not rank.superlative.dated or rank.most or rank.first > 1:
        return
    if ValueOf((named[0].term,)).kind(context.typing) is QuantityKind.DATE:
        yield C.PROPERTY, named, penalties.FIRST_ALONE


@RULES.rule(C.RANK, C.NOUN)
def _ranked(context: Context, rank: Ranking, of: Noun) -> Iterator[Made]:
    superlative = rank.superlative
    # The oldest of first thing would be that thing.
    alone = of.head is Head.NAME and not of.pair
    if superlative is None or of.head is Head.RESTRICTION or (alone and not superlative.distance):
        return
    if superlative.distance:
        if (of.head is Head.NAME and not of.pair) or isinstance(of.node, Top):
            yield C.RANKING, replace(rank, quantity=DistanceTo(of.node)), 0.0
        else:
            yield C.NEAREST, (rank, of), 0.0
    elif superlative.adjective is not None:
        for quantity, cost in context.quantities.of_adjective(superlative.adjective, of.types):
            yield from _top(context, rank, quantity, of, cost)
    elif superlative.side is not None:
        yield from _top(context, rank, Position(superlative.side), of, 0.0)
    elif superlative.dated:
        for quantity, cost in context.quantities.beginning(of.types):
            yield from _top(context, rank, quantity, of, cost + penalties.RANKED_BY_DATE)
    if (
        superlative.adjective is None
        and superlative.side is None
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
        and (rank.superlative.adjective or rank.superlative.dated or rank.superlative.side)
        and of.head is not Head.RESTRICTION
    ):
        for made in _ranked(context, rank, of):
            yield made[0], made[1], made[2] + penalties.OTHER_ORDER


@RULES.rule(C.RANK, C.PROPERTY)
def _rank_property(context: Context, rank: Ranking, named: PropertyPhrase) -> Iterator[Made]:
    """ "the highest population" """
    if rank.superlative is not None and not rank.superlative.distance:
        for quantity, cost in context.quantities.of_property(named[0], None):
            kind = quantity.kind(context.typing)
            if kind is QuantityKind.NUMBER or (kind is QuantityKind.DATE and rank.superlative.dated):
                yield C.RANKING, replace(rank, quantity=quantity), cost


@RULES.rule(C.PROPERTY, C.RANK)
def _property_rank(context: Context, named: PropertyPhrase, rank: Ranking) -> Iterator[Made]:
    """ "opened first" """
    if rank.superlative is not None and rank.superlative.dated:
        yield from _rank_property(context, rank, named)


@RULES.rule(C.RANK, C.MEASURE)
def _rank_measure(context: Context, rank: Ranking, measure: Measure) -> Iterator[Made]:
    if measure.size is not None and rank.superlative and not rank.superlative.distance:
        quantity = context.quantities.of_size(measure.size, None)
        yield C.RANKING, replace(rank, quantity=quantity), penalties.RANKED_BY_AREA


@RULES.rule(C.NOUN, C.RANKING)
def _ranked_by(context: Context, of: Noun, ranking: Ranking) -> Iterator[Made]:
    if of.head is Head.RESTRICTION or (of.head is Head.NAME and not of.pair):
        return
    # The nearest noun is meant: "in the borough with the most museums".
    last = of.node.sets[-1] if isinstance(of.node, And) else None
    far = penalties.FARTHER_NOUN if isinstance(last, Related) and isinstance(last.to, Kind) else 0.0
    if ranking.quantity is not None:
        yield from _top(context, ranking, ranking.quantity, of, far)
    elif ranking.counted is not None:
        named = ((ranking.link, penalties.SAID_BY_COUNT),) if ranking.link is not None else None
        for link, cost in named or context.links(of.types, ranking.counted.types):
            yield from _top(
                context,
                ranking,
                CountOf(link, ranking.counted.node),
                of,
                cost + far - penalties.SAID_BY_COUNT,
            )


@RULES.rule(C.RANKING, C.NOUN)
def _ranking_of(context: Context, ranking: Ranking, of: Noun) -> Iterator[Made]:
    if ranking.quantity is not None and (of.head is Head.KIND or of.pair):
        yield from _top(context, ranking, ranking.quantity, of, penalties.RANKED_BEFORE)


@RULES.rule(C.NEAREST, C.NOUN)
def _nearest_to(context: Context, nearest: tuple[Ranking, Noun], to: Noun) -> Iterator[Made]:
    rank, of = nearest
    if to.head is not Head.RESTRICTION and of.head is Head.KIND:
        cost = 0.0 if to.head is Head.NAME else penalties.NEAREST_TO_KIND
        yield from _top(context, rank, DistanceTo(to.node), of, cost)


def _top(context: Context, rank: Ranking, quantity: Quantity, of: Noun, cost: float) -> Iterator[Made]:
    if isinstance(of.node, Top) and of.node.count == 1:
        # One thing has no first.
        return
    count = rank.count or of.count or 1
    if count == 1 and of.plural and isinstance(quantity, DistanceTo) and rank.first == 1 and not rank.most:
        count = ASSUMED_NEAREST
    made = context.restriction(Top(of.node, quantity, rank.most, count, rank.first))
    if made is not None:
        yield C.NOUN, replace(of, node=made.node, types=made.types, pair=(), count=None), cost


@RULES.rule(C.NOUN, C.PROPERTY)
def _ranked_to(context: Context, of: Noun, named: PropertyPhrase) -> Iterator[Made]:
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
    if quantity is not None and measure.size is not None and measure.size is quantity.measures:
        yield C.NOUN, of, 0.0


@RULES.rule(C.RANK, C.DERIVED)
def _rank_derived(context: Context, rank: Ranking, derived: Derived) -> Iterator[Made]:
    """ "the smallest volume" """
    if rank.superlative is not None and not rank.superlative.distance:
        for quantity, cost in context.quantities.derived(derived, None):
            yield C.RANKING, replace(rank, quantity=quantity), cost

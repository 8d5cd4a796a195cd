"""Rules for whole questions: "Which ...?", "How many ...?", "Is ...?", "How far ...?"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sparql.ask import penalties
from sparql.ask.errors import PlanError
from sparql.ask.grammar.items import Category as C
from sparql.ask.grammar.items import Context, Head, Made, Noun, Ranking, Rules, conjoin, has_rank
from sparql.ask.linking.readings import Comparator, Question, Word
from sparql.ask.plan.nodes import Quantity, Set
from sparql.ask.plan.quantities import ClassOf, CountOf, DistanceTo, SizeOf
from sparql.ask.plan.questions import Aggregation, Count, Difference, Every, Exists, Group, List, Values
from sparql.ask.plan.sets import (
    And,
    CompareTo,
    Kind,
    Minus,
    Named,
    Near,
    Or,
    PlaceLink,
    Related,
    SideOf,
    Top,
    conjunction,
)
from sparql.ask.plan.terms import Aggregate, Op, Operation, Place, QuantityKind, Size

RULES = Rules()
_Much = tuple[Comparator | Noun, Noun | None]


@RULES.rule(C.QUESTION, C.NOUN)
def _asked(context: Context, question: Question, of: Noun) -> Iterator[Made]:
    if of.pair and of.head is Head.NAME and question is Question.HOW_FAR and len(of.pair) == 2:
        yield C.ANSWER, Values(DistanceTo(of.pair[1]), of.pair[0]), 0.0
    elif of.both:
        return
    match question:
        case Question.WHICH | Question.WHO if _is_only_named(of.node):
            cost = penalties.WHAT_IS_NAMED if isinstance(of.node, Named) else penalties.WHAT_IS_KIND
            yield C.ANSWER, Values(ClassOf(), of.node), cost
        case Question.WHICH | Question.LIST | Question.WHO:
            # What the question only names is no answer to it.
            if of.head is not Head.NAME or not isinstance(of.node, Named | Or):
                limit = of.count if question is Question.LIST and not has_rank(of.node) else None
                noun = of.head is Head.KIND or question is not Question.WHICH
                yield C.ANSWER, List(of.node, limit), 0.0 if noun else penalties.NO_NOUN_LISTED
        case Question.IN_WHICH if of.head is Head.KIND:
            yield C.IN_KIND, of, 0.0
        case Question.WHERE:
            yield from _where(context, of)
            around = context.related(PlaceLink(Place.CONTAINS), of.node)
            if around is not None and of.head is Head.NAME:
                # "the borough where X is"
                yield C.NOUN, around, penalties.PLACE_OF_NAME
        case Question.HOW_MANY:
            if of.head is not Head.NAME:
                cost = 0.0 if of.head is Head.KIND else penalties.NO_NOUN_COUNTED
                yield C.ANSWER, Count(of.node), cost
        case Question.YES_NO:
            yield from _yes_no(of)
        case Question.HOW_FAR:
            if isinstance(of.node, Named | Top):
                yield C.FAR, of, 0.0
        case Question.HOW_LONG:
            yield C.ANSWER, Values(SizeOf(Size.LENGTH), of.node), penalties.LENGTH_OF


def _is_only_named(node: Set) -> bool:
    """ "What is X?", "What type of building is X?" """
    match node:
        case Named() | And((Named(), Kind())) | And((Kind(), Named())):
            return True
    return False


@RULES.rule(C.QUESTION, C.BETWEEN_TWO)
def _how_far_between(context: Context, question: Question, of: Noun) -> Iterator[Made]:
    """ "How far is it between X and Y?" """
    if question is Question.HOW_FAR:
        yield C.ANSWER, Values(DistanceTo(of.pair[1]), of.pair[0]), 0.0


def _where(context: Context, of: Noun) -> Iterator[Made]:
    if of.head is Head.RESTRICTION:
        # "Where is the festival held?": the places that a property gives.
        if isinstance(of.node, Related) and of.types is not None and of.types & context.typing.located:
            yield C.ANSWER, List(of.node), penalties.PLACE_BY_PROPERTY
    elif context.related(PlaceLink(Place.CONTAINS), of.node) is not None:
        yield C.ANSWER, List(Related(PlaceLink(Place.CONTAINS), of.node)), 0.0


@RULES.rule(C.IN_KIND, C.NOUN)
def _in_which(context: Context, kind: Noun, of: Noun) -> Iterator[Made]:
    """ "In which borough is the oldest university?" """
    around = context.related(PlaceLink(Place.CONTAINS), of.node)
    found = conjoin(kind, around) if around is not None else None
    if found is not None:
        yield C.ANSWER, List(found.node), 0.0
    for link, cost in (
        context.quantities.links(kind.types, of.types) if of.head is not Head.RESTRICTION else ()
    ):
        related = context.related(link, of.node)
        found = conjoin(kind, related) if related is not None else None
        if found is not None:
            yield C.ANSWER, List(found.node), cost - penalties.SAID_BY_WHICH


@RULES.rule(C.IN_KIND, C.RANKING)
def _in_which_most(context: Context, kind: Noun, ranking: Ranking) -> Iterator[Made]:
    """ "In which borough are the most parks?" """
    if ranking.counted is None:
        return
    for link, cost in context.links(kind.types, ranking.counted.types):
        node = Top(
            kind.node, CountOf(link, ranking.counted.node), ranking.most, ranking.count or 1, ranking.first
        )
        yield C.ANSWER, List(node), cost - penalties.SAID_BY_COUNT


@RULES.rule(C.QUESTION, C.ALL)
def _are_all(context: Context, question: Question, of: Noun) -> Iterator[Made]:
    """ "Are all zoos in the Bronx?": where things are is known of all of them, other things are not"""
    if question is not Question.YES_NO or not isinstance(of.node, And):
        return
    *kept, claim = of.node.sets
    if isinstance(claim, Near | SideOf) or (isinstance(claim, Related) and isinstance(claim.link, PlaceLink)):
        yield C.ANSWER, Every(conjunction(kept), claim), 0.0


@RULES.rule(C.QUESTION, C.NOUN)
def _choice(context: Context, question: Question, of: Noun) -> Iterator[Made]:
    """ "Is X or Y older?" """
    if question is Question.YES_NO and isinstance(of.node, Top) and isinstance(of.node.set, Or):
        yield C.ANSWER, List(of.node), 0.0


def _yes_no(of: Noun) -> Iterator[Made]:
    if isinstance(of.node, And | Minus) and not (of.head is Head.KIND and of.prefixed):
        yield C.ANSWER, Exists(of.node), 0.0


@RULES.rule(C.QUESTION, C.MEMBER)
def _is_member(context: Context, question: Question, node: And) -> Iterator[Made]:
    if question is Question.IS:
        yield C.ANSWER, Exists(node), 0.0


@RULES.rule(C.MEMBER, C.NOUN)
def _member_in(context: Context, node: And, of: Noun) -> Iterator[Made]:
    """ "Is X a museum in Queens?" """
    if of.head is Head.RESTRICTION:
        yield C.MEMBER, And((*node.sets, of.node)), 0.0


@RULES.rule(C.QUESTION, C.QUESTION)
def _is_there(context: Context, first: Question, other: Question) -> Iterator[Made]:
    if other is Question.THERE and first in (Question.YES_NO, Question.HOW_MANY):
        yield C.QUESTION, first, 0.0
    if first is Question.LIST and other in (
        Question.LIST,
        Question.WHICH,
        Question.WHERE,
        Question.WHO,
        Question.WHEN,
        Question.HOW_MANY,
    ):
        yield C.QUESTION, other, 0.0


@RULES.rule(C.QUESTION, C.VALUES)
def _asked_value(context: Context, question: Question, values: Values) -> Iterator[Made]:
    kind = values.quantity.kind(context.typing)
    if (
        (question is Question.WHEN and kind is not QuantityKind.NUMBER)
        or (question in (Question.HOW_MANY, Question.HOW_MUCH) and kind is QuantityKind.NUMBER)
        or question in (Question.WHICH, Question.LIST)
    ):
        yield C.ANSWER, values, 0.0


@RULES.rule(C.QUESTION, C.AGGREGATED)
def _asked_aggregate(context: Context, question: Question, found: tuple[Aggregate, Values]) -> Iterator[Made]:
    if question in (Question.WHICH, Question.LIST, Question.HOW_MUCH):
        aggregate, values = found
        yield C.ANSWER, Aggregation(aggregate, values.quantity, values.set), 0.0


@RULES.rule(C.QUESTION, C.ANSWER)
def _described(context: Context, question: Question, answer: Any) -> Iterator[Made]:
    if question is Question.LIST and isinstance(answer, Count):
        yield C.ANSWER, answer, 0.0
    elif question is Question.WHICH and isinstance(answer, Count | Values):
        yield C.ANSWER, answer, penalties.ASKED_AGAIN


@RULES.rule(C.QUESTION, C.EACH)
def _each_listed(context: Context, question: Question, each: Noun) -> Iterator[Made]:
    """ "List every museum in ...", "every" as "all" """
    if question is Question.LIST:
        yield C.ANSWER, List(each.node), penalties.EVERY_LISTED


@RULES.rule(C.ANSWER, C.AGGREGATE)
def _counted_in_all(context: Context, answer: Any, aggregate: Aggregate) -> Iterator[Made]:
    """ "How many bridges are there altogether?" """
    if aggregate is Aggregate.SUM and isinstance(answer, Count):
        yield C.ANSWER, answer, 0.0


@RULES.rule(C.ANSWER, C.EACH, turned=0.0)
def _per(context: Context, answer: Any, each: Noun) -> Iterator[Made]:
    if isinstance(answer, Count) and isinstance(each.node, Named) is False:
        link = PlaceLink(Place.CONTAINS)
        try:
            link.types(context.typing, context.typing.of(answer.set))
        except PlanError:
            return
        yield C.ANSWER, Group(each.node, link, answer.set), 0.0


@RULES.rule(C.QUESTION, C.COMPARATOR)
def _how_much_more(context: Context, question: Question, comparator: Comparator) -> Iterator[Made]:
    if question is Question.HOW_MUCH and comparator.adjective is not None:
        yield C.MUCH, (comparator, None), 0.0
    elif question is Question.HOW_MANY_TIMES and comparator.adjective and not comparator.adjective.age:
        yield C.TIMES, (comparator, None), 0.0


@RULES.rule(C.TIMES, C.NOUN)
def _times_as_large(context: Context, much: _Much, of: Noun) -> Iterator[Made]:
    """ "How many times larger is X than Y?" """
    for category, made, cost in _more_of(context, much, of):
        if category is C.MUCH:
            yield C.TIMES, made, cost
        else:
            yield C.ANSWER, replace(made, operation=Operation.PER), cost


@RULES.rule(C.TIMES, C.WORD)
def _times_than(context: Context, much: _Much, word: Word) -> Iterator[Made]:
    if word is Word.THAN and much[1] is not None:
        yield C.TIMES, much, 0.0


@RULES.rule(C.QUESTION, C.COMPARATOR)
def _how_many_years_older(context: Context, question: Question, comparator: Comparator) -> Iterator[Made]:
    if question is Question.HOW_MANY_YEARS and comparator.adjective is not None and comparator.adjective.age:
        yield C.MUCH, (comparator, None), 0.0


@RULES.rule(C.QUESTION, C.WORD)
def _years_between(context: Context, question: Question, word: Word) -> Iterator[Made]:
    if question is Question.HOW_MANY_YEARS and word is Word.BETWEEN:
        yield C.YEARS, question, 0.0


@RULES.rule(C.YEARS, C.VALUES)
def _years_between_dates(context: Context, question: Question, values: Values) -> Iterator[Made]:
    """ "How many years are between the opening of X and Y?" """
    if isinstance(values.set, Or) and len(values.set.sets) == 2:
        yield from _difference_of_dates(context, values.quantity, *values.set.sets)


@RULES.rule(C.YEARS, C.NOUN)
def _years_between_things(context: Context, question: Question, of: Noun) -> Iterator[Made]:
    if of.head is Head.NAME and len(of.pair) == 2:
        for quantity, cost in context.quantities.beginning(None):
            yield C.ANSWER, Difference(quantity, *of.pair), cost + penalties.YEARS_OF_BEGINNING


@RULES.rule(C.QUESTION, C.THAN)
def _years_from(context: Context, question: Question, than: tuple[Any, ...]) -> Iterator[Made]:
    if question is Question.HOW_MANY_YEARS:
        yield C.YEARS_FROM, than[1], 0.0


@RULES.rule(C.YEARS_FROM, C.VALUES)
def _years_after(context: Context, of: Noun, values: Values) -> Iterator[Made]:
    """ "How many years after X did Y open?" """
    if isinstance(values.set, Named):
        yield from _difference_of_dates(context, values.quantity, values.set, of.node)


def _difference_of_dates(context: Context, quantity: Quantity, left: Set, right: Set) -> Iterator[Made]:
    if quantity.kind(context.typing) is QuantityKind.DATE:
        yield C.ANSWER, Difference(quantity, left, right), 0.0


@RULES.rule(C.QUESTION, C.MORE_OF)
def _how_many_more(context: Context, question: Question, more: tuple[Op, Noun]) -> Iterator[Made]:
    """ "How many more museums does X have than Y?" """
    if question is Question.HOW_MANY:
        yield C.MUCH, (more[1], None), 0.0


@RULES.rule(C.MUCH, C.NOUN)
def _more_of(context: Context, much: _Much, of: Noun) -> Iterator[Made]:
    what, left = much
    if of.head is not Head.NAME or of.pair:
        return
    if left is None:
        yield C.MUCH, (what, of), 0.0
    elif isinstance(what, Noun):
        for link, cost in context.links(left.types, what.types):
            yield (
                C.ANSWER,
                Difference(CountOf(link, what.node), left.node, of.node),
                cost - penalties.SAID_BY_COUNT,
            )
    elif what.adjective is not None:
        for quantity, cost in context.quantities.of_adjective(what.adjective, left.types):
            yield C.ANSWER, Difference(quantity, left.node, of.node), cost


@RULES.rule(C.QUESTION, C.NOUN)
def _by_how_much(context: Context, question: Question, of: Noun) -> Iterator[Made]:
    """ "By how much is X larger than Y?", "By how many years does X predate Y?" """
    match question, of.node:
        case (
            (Question.HOW_MUCH | Question.HOW_MANY_YEARS),
            And((Named() as left, CompareTo(quantity, _, Named() as right))),
        ):
            if (quantity.kind(context.typing) is QuantityKind.DATE) or question is Question.HOW_MUCH:
                yield C.ANSWER, Difference(quantity, left, right), 0.0


@RULES.rule(C.WORD, C.VALUES)
def _difference_of(context: Context, word: Word, values: Values) -> Iterator[Made]:
    """ "the difference between the areas of X and Y" """
    if word is Word.DIFFERENCE and isinstance(values.set, Or) and len(values.set.sets) == 2:
        yield C.ANSWER, Difference(values.quantity, *values.set.sets), 0.0


@RULES.rule(C.NOUN, C.AGGREGATE)
def _things_in_all(context: Context, of: Noun, aggregate: Aggregate) -> Iterator[Made]:
    """ "How many museums in total does X have?" """
    if aggregate is Aggregate.SUM and of.head is Head.KIND:
        yield C.NOUN, of, penalties.IN_TOTAL


@RULES.rule(C.MUCH, C.WORD)
def _more_than(context: Context, much: _Much, word: Word) -> Iterator[Made]:
    if word is Word.THAN and much[1] is not None:
        yield C.MUCH, much, 0.0


def finish(category: C, meaning: Any) -> tuple[Any, float] | None:
    """Return the plan of an item that spans the whole question, and what its form adds to the cost."""
    if category is C.ANSWER:
        return meaning, 0.0
    if category is C.NOUN and meaning.head is not Head.NAME and not meaning.both:
        is_class = meaning.head is Head.KIND
        return List(meaning.node), penalties.PHRASE_OF_CLASS if is_class else penalties.PHRASE_OF_RESTRICTION
    if category is C.VALUES:
        return meaning, penalties.PHRASE_OF_VALUE
    if category is C.AGGREGATED:
        aggregate, values = meaning
        return Aggregation(aggregate, values.quantity, values.set), penalties.PHRASE_OF_VALUE
    return None

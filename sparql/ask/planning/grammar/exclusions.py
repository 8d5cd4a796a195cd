"""Rules for phrases that leave things out: "not in Brooklyn", "without a stadium", "except parks"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sparql.ask.errors import PlanError
from sparql.ask.linking.readings import PropertyName, Word
from sparql.ask.plan.questions import List
from sparql.ask.plan.sets import And, Lacking, Minus, PlaceLink, Related, Top
from sparql.ask.plan.terms import Place
from sparql.ask.plan.typing import both
from sparql.ask.planning.grammar.sets import linked_sets, of_property, property_of
from sparql.ask.planning.items import Category as C
from sparql.ask.planning.items import Head, Noun
from sparql.ask.planning.rules import Context, Made, Rules, has_rank

__all__ = ["RULES"]

RULES = Rules()


@RULES.rule(C.WORD, C.WITHOUT)
def _and_without(context: Context, word: Word, without: Noun | PropertyName) -> Iterator[Made]:
    """ "with a zoo but no stadium" """
    if word is Word.AND:
        yield C.WITHOUT, without, 0.0


@RULES.rule(C.PLACE, C.OUT)
def _place_out(context: Context, place: Place, out: Noun) -> Iterator[Made]:
    """ "in neither X nor Y" """
    if out.head is Head.NAME:
        for made in linked_sets(context, PlaceLink(place), out):
            yield C.OUT, made, 0.0


@RULES.rule(C.WORD, C.PROPERTY)
def _without_property(context: Context, word: Word, named: tuple[PropertyName, bool]) -> Iterator[Made]:
    if word is Word.WITHOUT:
        yield C.WITHOUT, named[0], 0.0
    elif word is Word.NOT:
        yield C.NOT_PROPERTY, named, 0.0


@RULES.rule(C.NOUN, C.NOT_PROPERTY)
def _of_not_property(context: Context, of: Noun, named: tuple[PropertyName, bool]) -> Iterator[Made]:
    """ "What did X not design?" """
    for _, made, cost in of_property(context, of, named):
        yield C.OUT, made, cost


@RULES.rule(C.NOT_PROPERTY, C.NOUN)
def _not_property_of(context: Context, named: tuple[PropertyName, bool], of: Noun) -> Iterator[Made]:
    """ "not designed by X" """
    for _, made, cost in property_of(context, named, of):
        yield C.OUT, made, cost


@RULES.rule(C.NOUN, C.WITHOUT)
def _lacking(context: Context, of: Noun, without: Noun | PropertyName) -> Iterator[Made]:
    """ "boroughs without a stadium", "museums with no opening date" """
    if isinstance(without, PropertyName):
        node = Lacking(of.node, without.term)
        try:
            yield C.NOUN, replace(of, node=node, types=context.typing.of(node)), 0.0
        except PlanError:
            return
        return
    for link, cost in context.links(of.types, without.types):
        related = context.related(link, without.node)
        if related is not None and _overlap(of, related):
            yield C.NOUN, replace(of, node=Minus(of.node, related.node)), cost - 0.4


@RULES.rule(C.IN_KIND, C.WITHOUT)
def _in_kind_lacking(context: Context, kind: Noun, without: Noun | PropertyName) -> Iterator[Made]:
    """ "In which boroughs is there no airport?" """
    for _, made, cost in _lacking(context, kind, without):
        yield C.ANSWER, List(made.node), cost


@RULES.rule(C.NOUN, C.OUT)
def _left_out(context: Context, of: Noun, out: Noun) -> Iterator[Made]:
    if of.head is Head.RESTRICTION:
        return
    if isinstance(of.node, Top) and of.head is Head.KIND and _overlap(of, out):
        # "the museum nearest to X that is not in Y"
        yield C.NOUN, replace(of, node=replace(of.node, set=Minus(of.node.set, out.node)), pair=()), 0.1
    cost = 0.35 if has_rank(of.node) else 0.4 if of.head is Head.NAME else 0.0
    if _overlap(of, out):
        yield C.NOUN, replace(of, node=Minus(of.node, out.node), pair=()), cost
    last = of.node.sets[-1] if isinstance(of.node, And) else None
    if out.head is Head.NAME and isinstance(last, Related):
        # "that border Brooklyn but not Queens"
        again = context.related(last.link, out.node)
        if again is not None:
            more = cost + (0.2 if _overlap(of, out) else 0.0)
            yield C.NOUN, replace(of, node=Minus(of.node, again.node), pair=()), more


@RULES.rule(C.OUT, C.NOUN)
def _left_out_before(context: Context, out: Noun, of: Noun) -> Iterator[Made]:
    if of.head is Head.KIND and _overlap(of, out):
        yield C.NOUN, replace(of, node=Minus(of.node, out.node), pair=()), 0.3


@RULES.rule(C.WORD, C.OUT)
def _and_not(context: Context, word: Word, out: Noun) -> Iterator[Made]:
    if word is Word.AND:
        yield C.OUT, out, 0.0


def _overlap(one: Noun, other: Noun) -> bool:
    types = both(one.types, other.types)
    return types is None or bool(types)

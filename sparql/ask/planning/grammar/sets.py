"""Rules for phrases that name sets: "museums in Queens", "the Marketing department"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sparql.ask.errors import PlanError
from sparql.ask.linking.readings import Near as NearWord
from sparql.ask.linking.readings import Neighbor, On, PropertyName, Word
from sparql.ask.plan.nodes import Link, Set
from sparql.ask.plan.sets import (
    And,
    Compare,
    Kind,
    Named,
    Near,
    Or,
    PlaceLink,
    PropertyLink,
    Related,
    SideOf,
    Top,
)
from sparql.ask.plan.terms import Place, Side
from sparql.ask.planning.items import Category as C
from sparql.ask.planning.items import Head, Noun
from sparql.ask.planning.rules import Context, Made, Rules, conjoin, each_of, has_rank, restriction

__all__ = ["RULES", "linked_sets", "of_property", "property_of"]

RULES = Rules()
_AGAINST = 0.3


@RULES.rule(C.NOUN, C.NOUN)
def _top_of_restricted(context: Context, left: Noun, right: Noun) -> Iterator[Made]:
    """ "Which park is the largest in Queens?" """
    if not isinstance(left.node, Top) or left.head is not Head.KIND or right.head is not Head.RESTRICTION:
        return
    found = conjoin(replace(left, node=left.node.set), right)
    if found is not None and not has_rank(right.node):
        yield C.NOUN, replace(found, node=replace(left.node, set=found.node)), 0.1


@RULES.rule(C.NOUN, C.NOUN)
def _two_sets(context: Context, left: Noun, right: Noun) -> Iterator[Made]:
    if right.head is Head.RESTRICTION:
        cost = 0.35 if has_rank(left.node) else 0.0
        cost += 0.2 if left.pair else 0.0
        last = left.node.sets[-1] if isinstance(left.node, And) else left.node
        # The nearest noun is meant: "that border the neighborhood that contains".
        cost += 0.1 if isinstance(last, Related) and isinstance(last.to, Kind) else 0.0
        cost += 0.3 if _never_touch(context, left, right) else 0.0
        cost += 0.25 if left.head is Head.NAME and not isinstance(left.node, And) else 0.0
        found = conjoin(left, right)
        if found is not None:
            yield C.NOUN, found, cost
        elif left.head is Head.KIND and not has_rank(left.node):
            # "departments [with members] that are experts"
            for link, more in context.quantities.links(left.types, right.types):
                related = context.related(link, right.node)
                made = conjoin(left, related) if related is not None else None
                if made is not None:
                    yield C.NOUN, made, more + 0.2
    elif left.head is Head.RESTRICTION:
        found = conjoin(right, left)
        if found is not None and not isinstance(left.node, Or):
            yield C.NOUN, replace(found, prefixed=True), 0.1 if right.head is Head.KIND else 0.4
    elif (
        left.head is Head.KIND and right.head is Head.KIND and Related in (type(left.node), type(right.node))
    ):
        found = conjoin(left, right) if isinstance(left.node, Kind) else conjoin(right, left)
        if found is not None:
            yield C.NOUN, replace(found, plural=right.plural), 0.1
    elif (
        left.head is Head.KIND
        and right.head is Head.KIND
        and isinstance(left.node, Kind)
        and isinstance(right.node, Kind)
    ):
        yield from _two_kinds(context, left, right)
    elif {left.head, right.head} == {Head.KIND, Head.NAME}:
        yield from _kind_and_name(context, left, right)
    if left.head is Head.KIND and right.head is not Head.RESTRICTION:
        yield from _unsaid(context, left, right)
    elif left.head is Head.NAME and right.head is Head.KIND:
        yield from _unsaid(context, right, left)
    elif left.head is Head.NAME and right.head is Head.NAME and not left.pair and not right.pair:
        # "Sabrina from Marketing"
        yield from ((category, made, cost + 0.3) for category, made, cost in _unsaid(context, left, right))


def _never_touch(context: Context, left: Noun, right: Noun) -> bool:
    """Whether a restriction asks for shared borders that no things of these kinds have: points have none."""
    node = right.node
    if not isinstance(node, Related) or node.link != PlaceLink(Place.TOUCHES):
        return False
    return not context.typing.touching(left.types, context.typing.of(node.to))


def _two_kinds(context: Context, left: Noun, right: Noun) -> Iterator[Made]:
    assert isinstance(left.node, Kind)
    assert isinstance(right.node, Kind)
    schema = context.typing.schema
    one, other = left.node.of.iri, right.node.of.iri
    if one != other and one in schema.subclasses(other):
        yield C.NOUN, replace(left, plural=right.plural), 0.2
    elif one != other and other in schema.subclasses(one):
        yield C.NOUN, right, 0.2


def _kind_and_name(context: Context, left: Noun, right: Noun) -> Iterator[Made]:
    """The borough of Queens; is it a borough?"""
    kind, name = (left, right) if left.head is Head.KIND else (right, left)
    found = conjoin(name, kind) if not name.pair and kind.types is not None else None
    if found is not None and isinstance(name.node, Named | Top):
        plain = isinstance(kind.node, Kind)
        yield C.NOUN, found, 0.1 if plain else 0.3
    elif kind is right and isinstance(kind.node, Kind) and isinstance(name.node, Named):
        # "Is the palace a museum?", where it is stated to be something else.
        yield C.MEMBER, And((name.node, kind.node)), 0.0


def _unsaid(context: Context, head: Noun, other: Noun) -> Iterator[Made]:
    """A relation that the question does not name: "Sensor expert", "the borough with museums"."""
    if (
        has_rank(head.node)
        or has_rank(other.node)
        or (isinstance(head.node, Kind) and head.node == other.node)
    ):
        return
    for link, cost in context.links(head.types, other.types):
        every = other.both or _is_every(link, other)
        parts = [context.related(link, part) for part in (other.pair if every else (other.node,))]
        found = conjoin(head, *(p for p in parts if p)) if all(parts) else None
        if found is not None:
            yield C.NOUN, found, cost


@RULES.rule(C.PROPERTY, C.PLACE)
def _property_in(context: Context, named: tuple[PropertyName, bool], place: Place) -> Iterator[Made]:
    """ "expertise in": the preposition belongs to the property"""
    if place is Place.WITHIN:
        yield C.PROPERTY, named, 0.2


@RULES.rule(C.PLACE, C.NOUN)
def _place(context: Context, place: Place, of: Noun) -> Iterator[Made]:
    if of.head is Head.RESTRICTION and isinstance(of.node, Near | SideOf):
        return
    if place is Place.WITHIN and isinstance(of.node, Compare):
        # "in France", where the country is a text.
        yield C.NOUN, of, 0.1
    yield from _linked(context, PlaceLink(place), of)


def _linked(context: Context, link: Link, of: Noun) -> Iterator[Made]:
    """Things linked to a set: "through X and Y" is through both, "in X and Y" in either."""
    every = _is_every(link, of)
    for made in linked_sets(context, link, of):
        yield C.NOUN, made, 0.3 if every else 0.0
    if every:
        for made in linked_sets(context, link, replace(of, both=True)):
            yield C.NOUN, made, 0.0


def _is_every(link: Link, of: Noun) -> bool:
    """Whether things linked to "X and Y" are linked to both: a thing lies in one place, but borders many."""
    if not of.every or of.both or len(of.pair) < 2:
        return False
    if of.head is Head.KIND:
        return link == PlaceLink(Place.CONTAINS) or isinstance(link, PropertyLink)
    return link in (PlaceLink(Place.OVERLAPS), PlaceLink(Place.TOUCHES)) or isinstance(link, PropertyLink)


@RULES.rule(C.NOUN, C.PLACE)
def _place_behind(context: Context, of: Noun, place: Place) -> Iterator[Made]:
    """ "Which borough is the museum in?" """
    for made in linked_sets(context, PlaceLink(place.inverse), of):
        yield C.NOUN, made, 0.1 if of.head is Head.NAME else 0.4


def linked_sets(context: Context, link: Any, of: Noun) -> Iterator[Noun]:
    """Things linked to a set; where both of a pair are meant, to both."""
    if of.both and of.pair:
        parts = [context.related(link, part) for part in of.pair]
        found = conjoin(parts[0], *(p for p in parts[1:] if p)) if all(parts) and parts[0] else None
        if found is not None:
            yield found
        return
    found = context.related(link, of.node)
    if found is not None:
        yield replace(found, apart=of.apart)


@RULES.rule(C.ON, C.NOUN)
def _on(context: Context, on: On, of: Noun) -> Iterator[Made]:
    """ "on Staten Island", but not "on Fifth Avenue" """
    typing = context.typing
    if of.head is Head.NAME and Place.WITHIN in typing.containment(typing.located, of.types):
        for made in linked_sets(context, PlaceLink(Place.WITHIN), of):
            yield C.NOUN, made, 0.0


@RULES.rule(C.SIDE, C.NOUN)
def _side(context: Context, side: Side, of: Noun) -> Iterator[Made]:
    yield from _placed(context, *(SideOf(side, one) for one in each_of(of)))


@RULES.rule(C.NEAR, C.NOUN)
def _near(context: Context, word: NearWord, of: Noun) -> Iterator[Made]:
    meters = context.near_meters(of.types)
    yield from _placed(context, *(Near(one, meters, assumed=True) for one in each_of(of)))


def _placed(context: Context, *nodes: Set) -> Iterator[Made]:
    node = And(nodes) if len(nodes) > 1 else nodes[0]
    try:
        yield C.NOUN, restriction(node, context.typing.of(node)), 0.0
    except PlanError:
        return


@RULES.rule(C.PROPERTY, C.NOUN)
def property_of(context: Context, named: tuple[PropertyName, bool], of: Noun) -> Iterator[Made]:
    """ "designed by X" is what X designed; "the manager of X" is who manages X."""
    name, is_noun = named
    if not context.typing.is_thing(name.term.iri):
        return
    for inverse in (False, True):
        cost = (0.0 if inverse is is_noun else _AGAINST) + context.quantities.unrecorded(name.term.iri)
        for category, made, more in _linked(context, PropertyLink(name.term, inverse), of):
            yield category, made, cost + more


@RULES.rule(C.NOUN, C.PROPERTY)
def of_property(context: Context, of: Noun, named: tuple[PropertyName, bool]) -> Iterator[Made]:
    """ "What did X design?", "X's manager"."""
    name, _ = named
    if not context.typing.is_thing(name.term.iri) or of.head is Head.RESTRICTION:
        return
    missing = context.quantities.unrecorded(name.term.iri)
    for inverse in (True, False):
        for made in linked_sets(context, PropertyLink(name.term, inverse), of):
            yield C.NOUN, made, missing + (0.15 if inverse else 0.1)


@RULES.rule(C.WORD, C.NOUN)
def _word_and_set(context: Context, word: Word, of: Noun) -> Iterator[Made]:
    if (word is Word.NOT and of.head is Head.RESTRICTION) or word is Word.EXCEPT:
        yield C.OUT, of, 0.0
    elif word is Word.NOT:
        if of.head is Head.KIND:
            # "do not have a zoo"
            yield C.WITHOUT, of, 0.1
        yield C.OUT, of, 0.3
    elif word is Word.OUTSIDE and (inside := context.related(PlaceLink(Place.WITHIN), of.node)) is not None:
        yield C.OUT, inside, 0.0
    elif word is Word.BOTH and len(of.pair) > 1:
        made = replace(of, both=True)
        if of.head is Head.RESTRICTION:
            node = And(of.pair)
            try:
                yield C.NOUN, restriction(node, context.typing.of(node)), 0.0
            except PlanError:
                return
        else:
            yield C.NOUN, made, 0.0
    elif word is Word.ALL and of.head is Head.KIND:
        yield C.NOUN, of, 0.05
        yield C.ALL, of, 0.0
    elif word is Word.BETWEEN and len(of.pair) == 2 and of.head is Head.NAME:
        yield C.BETWEEN_TWO, of, 0.1
    elif word is Word.OR and len(of.pair) > 1:
        yield C.NOUN, of, 0.0
    elif word is Word.WITHOUT and of.head is not Head.RESTRICTION:
        yield C.WITHOUT, of, 0.0
    elif word is Word.PER and of.head is Head.KIND:
        yield C.EACH, of, 0.0
        yield C.NOUN, replace(of, plural=True), 0.2
    elif word is Word.AND and of.head is Head.RESTRICTION:
        yield C.OUT_AND, (word, of), 0.0


@RULES.rule(C.NEIGHBOR, C.NOUN)
def _neighbors(context: Context, word: Neighbor, of: Noun) -> Iterator[Made]:
    """ "the neighbors of Queens" are boroughs, where nothing else is named"""
    for touching in linked_sets(context, PlaceLink(Place.TOUCHES), of):
        yield C.NOUN, touching, 0.2
        kinds = context.typing.kinds_of(of.node.entity) if isinstance(of.node, Named) else []
        if len(kinds) == 1:
            kind = Kind(kinds[0])
            found = conjoin(Noun(kind, context.typing.of(kind), Head.KIND, plural=True), touching)
            if found is not None:
                yield C.NOUN, found, 0.0


@RULES.rule(C.PLACE, C.EACH)
def _place_of_each(context: Context, place: Place, each: Noun) -> Iterator[Made]:
    if place is Place.WITHIN:
        yield C.EACH, each, 0.0


@RULES.rule(C.NOUN, C.WORD)
def _set_and(context: Context, of: Noun, word: Word) -> Iterator[Made]:
    if word in (Word.AND, Word.OR) or (word is Word.COMMA and of.head is not Head.RESTRICTION):
        yield C.THINGS_AND, (of, word), 0.0


@RULES.rule(C.THINGS_AND, C.NOUN)
def _set_and_set(context: Context, left: tuple[Noun, Word], right: Noun) -> Iterator[Made]:
    one, word = left
    heads = {one.head, right.head}
    if word is Word.COMMA and not (right.pair and len(heads) == 1):
        return
    if heads == {Head.RESTRICTION}:
        if word is Word.AND:
            found = conjoin(one, right)
            if found is not None:
                yield C.NOUN, replace(found, pair=(one.node, right.node)), 0.0
        else:
            yield C.NOUN, _either(one, right), 0.0
    elif len(heads) == 1 and Head.NAME in heads:
        yield C.NOUN, replace(_either(one, right), every=word is Word.AND), 0.0
    elif heads == {Head.KIND}:
        # In "churches and synagogues in Manhattan" both are.
        plain = all(isinstance(side.node, Kind | Or) for side in (one, right))
        found = replace(_either(one, right), every=word is Word.AND)
        yield C.NOUN, found, 0.1 if plain else 0.6
    elif right.head is Head.RESTRICTION and one.head is Head.KIND and word is Word.AND:
        found = conjoin(one, right)
        if found is not None:
            yield C.NOUN, found, 0.05
    elif (
        right.head is Head.RESTRICTION
        and one.head is Head.KIND
        and isinstance(one.node, And)
        and word is Word.OR
    ):
        # "museums in Brooklyn or near X": the alternative belongs to the last restriction.
        *kept, last = one.node.sets
        alternative = Or((last, right.node))
        try:
            context.typing.of(alternative)
        except PlanError:
            return
        yield C.NOUN, replace(one, node=And((*kept, alternative))), 0.05


def _either(one: Noun, other: Noun) -> Noun:
    pair = (*(one.pair or (one.node,)), *(other.pair or (other.node,)))
    found = None if one.types is None or other.types is None else one.types | other.types
    return Noun(Or(pair), found, one.head, pair=pair, plural=True)


@RULES.rule(C.NOUN, C.OUT_AND)
def _restricted_twice(context: Context, of: Noun, more: tuple[Word, Noun]) -> Iterator[Made]:
    """ "museums that are in Queens and opened after 1950" """
    if of.head is Head.KIND and isinstance(of.node, And):
        found = conjoin(of, more[1])
        if found is not None:
            yield C.NOUN, found, 0.05

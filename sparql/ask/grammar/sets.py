"""Rules for phrases that name sets: "museums in Queens", "the Marketing department", "not in Brooklyn"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sparql.ask import penalties
from sparql.ask.grammar.items import Category as C
from sparql.ask.grammar.items import (
    Context,
    Head,
    Made,
    Noun,
    PropertyPhrase,
    Rules,
    conjoin,
    each_of,
    has_rank,
)
from sparql.ask.linking.readings import Near as NearWord
from sparql.ask.linking.readings import Neighbor, On, PropertyName, Word
from sparql.ask.plan.nodes import Link, Set
from sparql.ask.plan.questions import List
from sparql.ask.plan.sets import (
    And,
    Compare,
    Kind,
    Lacking,
    Minus,
    Named,
    Near,
    Or,
    PlaceLink,
    PropertyLink,
    Related,
    SideOf,
    Top,
    conjunction,
)
from sparql.ask.plan.terms import Place, Side
from sparql.ask.plan.typing import both

RULES = Rules()


@RULES.rule(C.NOUN, C.NOUN)
def _top_of_restricted(context: Context, left: Noun, right: Noun) -> Iterator[Made]:
    """ "Which park is the largest in Queens?" """
    if not isinstance(left.node, Top) or left.head is not Head.KIND or right.head is not Head.RESTRICTION:
        return
    found = conjoin(replace(left, node=left.node.set), right)
    if found is not None and not has_rank(right.node):
        yield C.NOUN, replace(found, node=replace(left.node, set=found.node)), penalties.RANK_OF_ALL


@RULES.rule(C.NOUN, C.NOUN)
def _two_sets(context: Context, left: Noun, right: Noun) -> Iterator[Made]:
    if right.head is Head.RESTRICTION:
        cost = penalties.BEHIND_RANK if has_rank(left.node) else 0.0
        cost += penalties.BEHIND_PAIR if left.pair else 0.0
        last = left.node.sets[-1] if isinstance(left.node, And) else left.node
        # The nearest noun is meant: "that border the neighborhood that contains".
        cost += penalties.FARTHER_NOUN if isinstance(last, Related) and isinstance(last.to, Kind) else 0.0
        cost += penalties.NEVER_TOUCH if _never_touch(context, left, right) else 0.0
        cost += penalties.BEHIND_NAME if left.head is Head.NAME and not isinstance(left.node, And) else 0.0
        found = conjoin(left, right)
        if found is not None:
            yield C.NOUN, found, cost
        elif left.head is Head.KIND and not has_rank(left.node):
            # "departments [with members] that are experts"
            for link, more in context.quantities.links(left.types, right.types):
                related = context.related(link, right.node)
                made = conjoin(left, related) if related is not None else None
                if made is not None:
                    yield C.NOUN, made, more + penalties.UNSAID_OF_RESTRICTION
    elif left.head is Head.RESTRICTION:
        found = conjoin(right, left)
        if found is not None and not isinstance(left.node, Or):
            cost = penalties.BEFORE_NOUN if right.head is Head.KIND else penalties.BEFORE_NAME
            yield C.NOUN, replace(found, prefixed=True), cost
    elif (
        left.head is Head.KIND and right.head is Head.KIND and Related in (type(left.node), type(right.node))
    ):
        found = conjoin(left, right) if isinstance(left.node, Kind) else conjoin(right, left)
        if found is not None:
            yield C.NOUN, replace(found, plural=right.plural), penalties.CATEGORY_AND_CLASS
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
        for category, made, cost in _unsaid(context, left, right):
            yield category, made, cost + penalties.UNSAID_OF_NAMES


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
    first, other = left.node.of.iri, right.node.of.iri
    if first != other and first in schema.subclasses(other):
        yield C.NOUN, replace(left, plural=right.plural), penalties.CLASS_AND_SUBCLASS
    elif first != other and other in schema.subclasses(first):
        yield C.NOUN, right, penalties.CLASS_AND_SUBCLASS


def _kind_and_name(context: Context, left: Noun, right: Noun) -> Iterator[Made]:
    """The borough of Queens; is it a borough?"""
    kind, name = (left, right) if left.head is Head.KIND else (right, left)
    found = conjoin(name, kind) if not name.pair and kind.types is not None else None
    if found is not None and isinstance(name.node, Named | Top):
        plain = isinstance(kind.node, Kind)
        yield C.NOUN, found, penalties.KIND_OF_NAME if plain else penalties.THINGS_OF_NAME
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
def _property_in(context: Context, named: PropertyPhrase, place: Place) -> Iterator[Made]:
    """ "expertise in": the preposition belongs to the property"""
    if place is Place.WITHIN:
        yield C.PROPERTY, named, penalties.PREPOSITION


@RULES.rule(C.PLACE, C.NOUN)
def _place(context: Context, place: Place, of: Noun) -> Iterator[Made]:
    if of.head is Head.RESTRICTION and isinstance(of.node, Near | SideOf):
        return
    if place is Place.WITHIN and isinstance(of.node, Compare):
        # "in France", where the country is a text.
        yield C.NOUN, of, penalties.PLACE_IS_TEXT
    yield from _linked(context, PlaceLink(place), of)


def _linked(context: Context, link: Link, of: Noun) -> Iterator[Made]:
    """Things linked to a set: "through X and Y" is through both, "in X and Y" in either."""
    every = _is_every(link, of)
    for made in linked_sets(context, link, of):
        yield C.NOUN, made, penalties.EITHER_OF_TWO if every else 0.0
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
    cost = penalties.PLACE_BEHIND_NAME if of.head is Head.NAME else penalties.PLACE_BEHIND
    for made in linked_sets(context, PlaceLink(place.inverse), of):
        yield C.NOUN, made, cost


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
    yield from _placed(context, *(SideOf(side, thing) for thing in each_of(of)))


@RULES.rule(C.NEAR, C.NOUN)
def _near(context: Context, word: NearWord, of: Noun) -> Iterator[Made]:
    meters = context.near_meters(of.types)
    yield from _placed(context, *(Near(thing, meters, assumed=True) for thing in each_of(of)))


def _placed(context: Context, *nodes: Set) -> Iterator[Made]:
    made = context.restriction(conjunction(nodes))
    if made is not None:
        yield C.NOUN, made, 0.0


@RULES.rule(C.PROPERTY, C.NOUN)
def property_of(context: Context, named: PropertyPhrase, of: Noun) -> Iterator[Made]:
    """ "designed by X" is what X designed; "the manager of X" is who manages X."""
    name, is_noun = named
    if not context.typing.is_thing(name.term.iri):
        return
    for inverse in (False, True):
        cost = (0.0 if inverse is is_noun else penalties.AGAINST_WORDS) + context.quantities.unrecorded(
            name.term.iri
        )
        for category, made, more in _linked(context, PropertyLink(name.term, inverse), of):
            yield category, made, cost + more


@RULES.rule(C.NOUN, C.PROPERTY)
def of_property(context: Context, of: Noun, named: PropertyPhrase) -> Iterator[Made]:
    """ "What did X design?", "X's manager"."""
    name, _ = named
    if not context.typing.is_thing(name.term.iri) or of.head is Head.RESTRICTION:
        return
    missing = context.quantities.unrecorded(name.term.iri)
    for inverse in (True, False):
        for made in linked_sets(context, PropertyLink(name.term, inverse), of):
            yield C.NOUN, made, missing + (penalties.OWNER if inverse else penalties.OWNED)


@RULES.rule(C.WORD, C.NOUN)
def _word_and_set(context: Context, word: Word, of: Noun) -> Iterator[Made]:
    if (word is Word.NOT and of.head is Head.RESTRICTION) or word is Word.EXCEPT:
        yield C.OUT, of, 0.0
    elif word is Word.NOT:
        if of.head is Head.KIND:
            # "do not have a zoo"
            yield C.WITHOUT, of, penalties.WITHOUT_BY_NOT
        yield C.OUT, of, penalties.NOT_A_RESTRICTION
    elif word is Word.OUTSIDE and (inside := context.related(PlaceLink(Place.WITHIN), of.node)) is not None:
        yield C.OUT, inside, 0.0
    elif word is Word.BOTH and len(of.pair) > 1:
        made = replace(of, both=True)
        if of.head is Head.RESTRICTION:
            yield from _placed(context, *of.pair)
        else:
            yield C.NOUN, made, 0.0
    elif word is Word.ALL and of.head is Head.KIND:
        yield C.NOUN, of, penalties.ALL_SAID
        yield C.ALL, of, 0.0
    elif word is Word.BETWEEN and len(of.pair) == 2 and of.head is Head.NAME:
        yield C.BETWEEN_TWO, of, penalties.BETWEEN_NAMES
    elif word is Word.OR and len(of.pair) > 1:
        yield C.NOUN, of, 0.0
    elif word is Word.WITHOUT and of.head is not Head.RESTRICTION:
        yield C.WITHOUT, of, 0.0
    elif word is Word.PER and of.head is Head.KIND:
        yield C.EACH, of, 0.0
        yield C.NOUN, replace(of, plural=True), penalties.EVERY_AS_ALL
    elif word is Word.AND and of.head is Head.RESTRICTION:
        yield C.OUT_AND, (word, of), 0.0


@RULES.rule(C.NEIGHBOR, C.NOUN)
def _neighbors(context: Context, word: Neighbor, of: Noun) -> Iterator[Made]:
    """ "the neighbors of Queens" are boroughs, where nothing else is named"""
    for touching in linked_sets(context, PlaceLink(Place.TOUCHES), of):
        yield C.NOUN, touching, penalties.NEIGHBOR_OF_ANY_KIND
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
    first, word = left
    heads = {first.head, right.head}
    if word is Word.COMMA and not (right.pair and len(heads) == 1):
        return
    if heads == {Head.RESTRICTION}:
        if word is Word.AND:
            found = conjoin(first, right)
            if found is not None:
                yield C.NOUN, replace(found, pair=(first.node, right.node)), 0.0
        else:
            yield C.NOUN, _either(first, right), 0.0
    elif len(heads) == 1 and Head.NAME in heads:
        yield C.NOUN, replace(_either(first, right), every=word is Word.AND), 0.0
    elif heads == {Head.KIND}:
        # In "churches and synagogues in Manhattan" both are.
        plain = all(isinstance(side.node, Kind | Or) for side in (first, right))
        found = replace(_either(first, right), every=word is Word.AND)
        yield C.NOUN, found, penalties.CLASSES_JOINED if plain else penalties.RESTRICTED_JOINED
    elif right.head is Head.RESTRICTION and first.head is Head.KIND and word is Word.AND:
        found = conjoin(first, right)
        if found is not None:
            yield C.NOUN, found, penalties.BEHIND_BOTH
    elif (
        right.head is Head.RESTRICTION
        and first.head is Head.KIND
        and isinstance(first.node, And)
        and word is Word.OR
    ):
        # "museums in Brooklyn or near X": the alternative belongs to the last restriction.
        *kept, last = first.node.sets
        alternative = Or((last, right.node))
        if context.restriction(alternative) is not None:
            yield C.NOUN, replace(first, node=And((*kept, alternative))), penalties.BEHIND_BOTH


def _either(first: Noun, other: Noun) -> Noun:
    pair = (*(first.pair or (first.node,)), *(other.pair or (other.node,)))
    found = None if first.types is None or other.types is None else first.types | other.types
    return Noun(Or(pair), found, first.head, pair=pair, plural=True)


@RULES.rule(C.NOUN, C.OUT_AND)
def _restricted_twice(context: Context, of: Noun, more: tuple[Word, Noun]) -> Iterator[Made]:
    """ "museums that are in Queens and opened after 1950" """
    if of.head is Head.KIND and isinstance(of.node, And):
        found = conjoin(of, more[1])
        if found is not None:
            yield C.NOUN, found, penalties.BEHIND_BOTH


RULES.before(Word.AND, C.WITHOUT, C.WITHOUT)


@RULES.rule(C.PLACE, C.OUT)
def _place_out(context: Context, place: Place, out: Noun) -> Iterator[Made]:
    """ "in neither X nor Y" """
    if out.head is Head.NAME:
        for made in linked_sets(context, PlaceLink(place), out):
            yield C.OUT, made, 0.0


@RULES.rule(C.WORD, C.PROPERTY)
def _without_property(context: Context, word: Word, named: PropertyPhrase) -> Iterator[Made]:
    if word is Word.WITHOUT:
        yield C.WITHOUT, named[0], 0.0
    elif word is Word.NOT:
        yield C.NOT_PROPERTY, named, 0.0


@RULES.rule(C.NOUN, C.NOT_PROPERTY)
def _of_not_property(context: Context, of: Noun, named: PropertyPhrase) -> Iterator[Made]:
    """ "What did X not design?" """
    for _, made, cost in of_property(context, of, named):
        yield C.OUT, made, cost


@RULES.rule(C.NOT_PROPERTY, C.NOUN)
def _not_property_of(context: Context, named: PropertyPhrase, of: Noun) -> Iterator[Made]:
    """ "not designed by X" """
    for _, made, cost in property_of(context, named, of):
        yield C.OUT, made, cost


@RULES.rule(C.NOUN, C.WITHOUT)
def _lacking(context: Context, of: Noun, without: Noun | PropertyName) -> Iterator[Made]:
    """ "boroughs without a stadium", "museums with no opening date" """
    if isinstance(without, PropertyName):
        made = context.restriction(Lacking(of.node, without.term))
        if made is not None:
            yield C.NOUN, replace(of, node=made.node, types=made.types), 0.0
        return
    for link, cost in context.links(of.types, without.types):
        related = context.related(link, without.node)
        if related is not None and _overlap(of, related):
            yield C.NOUN, replace(of, node=Minus(of.node, related.node)), cost - penalties.SAID_BY_COUNT


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
        kept = replace(of.node, set=Minus(of.node.set, out.node))
        yield C.NOUN, replace(of, node=kept, pair=()), penalties.OUT_OF_RANKED
    cost = 0.0
    if has_rank(of.node):
        cost = penalties.OUT_BEHIND_RANK
    elif of.head is Head.NAME:
        cost = penalties.OUT_OF_NAME
    if _overlap(of, out):
        yield C.NOUN, replace(of, node=Minus(of.node, out.node), pair=()), cost
    last = of.node.sets[-1] if isinstance(of.node, And) else None
    if out.head is Head.NAME and isinstance(last, Related):
        # "that border Brooklyn but not Queens"
        again = context.related(last.link, out.node)
        if again is not None:
            more = cost + (penalties.OUT_BY_SAME_LINK if _overlap(of, out) else 0.0)
            yield C.NOUN, replace(of, node=Minus(of.node, again.node), pair=()), more


@RULES.rule(C.OUT, C.NOUN)
def _left_out_before(context: Context, out: Noun, of: Noun) -> Iterator[Made]:
    if of.head is Head.KIND and _overlap(of, out):
        yield C.NOUN, replace(of, node=Minus(of.node, out.node), pair=()), penalties.OUT_BEFORE


RULES.before(Word.AND, C.OUT, C.OUT)


def _overlap(first: Noun, other: Noun) -> bool:
    types = both(first.types, other.types)
    return types is None or bool(types)

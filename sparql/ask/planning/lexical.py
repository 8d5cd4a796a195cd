"""Readings as the first items of the chart."""

from __future__ import annotations

from collections.abc import Iterator

from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import (
    Adjective,
    ClassName,
    Comparator,
    DateValue,
    Derived,
    EntityName,
    HowMuch,
    Measure,
    More,
    Near,
    Neighbor,
    Number,
    On,
    Ordinal,
    PropertyName,
    Question,
    Reading,
    Superlative,
    TextValue,
    UnitName,
    Word,
)
from sparql.ask.plan.quantities import ValueOf
from sparql.ask.plan.sets import Compare, Kind, Named, PropertyLink, Related
from sparql.ask.plan.terms import Aggregate, Op, Place, Side
from sparql.ask.plan.typing import Typing
from sparql.ask.planning.items import Category, Head, Item, Noun, Ranking

__all__ = ["lexical_items"]

_CATEGORIES = {
    PropertyName: Category.PROPERTY,
    Place: Category.PLACE,
    Side: Category.SIDE,
    Near: Category.NEAR,
    Neighbor: Category.NEIGHBOR,
    On: Category.ON,
    Comparator: Category.COMPARATOR,
    Number: Category.VALUE,
    DateValue: Category.VALUE,
    Ordinal: Category.ORDINAL,
    Measure: Category.MEASURE,
    More: Category.MORE,
    Derived: Category.DERIVED,
    HowMuch: Category.HOW,
    Adjective: Category.ADJECTIVE,
    Aggregate: Category.AGGREGATE,
    UnitName: Category.UNIT,
    Word: Category.WORD,
    Question: Category.QUESTION,
}


def lexical_items(linked: LinkedQuestion, typing: Typing) -> Iterator[tuple[int, int, Item]]:
    """Yield the items of all readings, with their spans."""
    for reading in linked.readings:
        for item in _items(reading, linked, typing):
            yield reading.start, reading.end, item


def _items(reading: Reading, linked: LinkedQuestion, typing: Typing) -> Iterator[Item]:
    meaning, cost = reading.meaning, reading.cost
    match meaning:
        case EntityName(term, classes):
            yield Item(Category.NOUN, Noun(Named(term), classes or None, Head.NAME), cost)
            yield from _things_of(meaning, cost, linked.tokens[reading.end - 1].text, typing)
        case ClassName(term):
            plural = linked.tokens[reading.end - 1].text.endswith("s")
            node = Kind(term)
            yield Item(Category.NOUN, Noun(node, typing.of(node), Head.KIND, plural=plural), cost)
        case TextValue(term, value):
            stated = Compare(ValueOf((term,)), Op.EQUAL, value)
            types = stated.quantity.types(typing)
            yield Item(Category.NOUN, Noun(stated, types, Head.RESTRICTION), cost)
        case Superlative() if reading.start and linked.tokens[reading.start - 1].text == "at":
            return
        case Superlative():
            yield Item(Category.RANK, Ranking(meaning.most, superlative=meaning), cost)
        case Question.LIST if not linked.opens(reading):
            return
        case PropertyName():
            after = linked.tokens[reading.end].text if reading.end < len(linked.tokens) else ""
            before = linked.tokens[reading.start - 1].text if reading.start else ""
            noun = meaning.active or after == "of" or before in ("the", "a", "an", "their", "its", "s")
            yield Item(Category.PROPERTY, (meaning, noun), cost)
        case UnitName(asked=True):
            yield Item(Category.MANY_UNITS, meaning, cost)
        case Comparator(behind=True):
            yield Item(Category.BEHIND, meaning, cost)
        case _:
            yield Item(_CATEGORIES[type(meaning)], meaning, cost)


def _things_of(name: EntityName, cost: float, last: str, typing: Typing) -> Iterator[Item]:
    """A category stands for its things: "the cheapest oscillator" is one of the category Oscillator."""
    if not name.classes or name.classes & typing.located:
        return
    for term, share in typing.categorizing(name.classes):
        node = Related(PropertyLink(term), Named(name.term))
        yield Item(
            Category.NOUN,
            Noun(node, typing.of(node), Head.KIND, plural=last.endswith("s")),
            cost + 0.5 + share,
        )

"""The items of the chart: a category, what it means so far, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pyoxigraph import Literal

from sparql.ask.linking.readings import Adjective, Superlative
from sparql.ask.plan.nodes import Link, Quantity, Set
from sparql.ask.plan.terms import Op
from sparql.ask.plan.typing import Types

__all__ = ["Bound", "Category", "Head", "Item", "Noun", "Ranking"]


class Category(StrEnum):
    """What kind of phrase an item is."""

    NOUN = "noun"  # a set
    OUT = "out"  # a set to be left out
    PROPERTY = "property"
    PLACE = "place"
    SIDE = "side"
    NEAR = "near"
    NEIGHBOR = "neighbor"
    ON = "on"
    COMPARATOR = "comparator"
    BOUND = "bound"  # comparator and value
    BOUND_AND = "bound and"
    VALUE = "value"  # number or date
    NOT_PROPERTY = "not property"
    PROPERTIES_AND = "properties and"
    PROPERTY_OR = "property or"
    EITHER = "either"  # one property or another
    DERIVED = "derived"
    RANK = "rank"  # superlative
    RANKING = "ranking"  # superlative with its quantity
    NEAREST = "nearest"  # superlative of distance with its things
    ORDINAL = "ordinal"
    MEASURE = "measure"
    HOW = "how"
    ADJECTIVE = "adjective"
    AGGREGATE = "aggregate"
    AGGREGATED = "aggregated"  # aggregate and property
    WORD = "word"
    UNIT = "unit"
    MANY_UNITS = "many units"  # how many kilometers
    BEHIND = "behind"  # comparator behind its value
    CLOSER = "closer"  # comparator of distances and what they are to
    CLOSER_THAN = "closer than"
    CLOSER_THAN_TO = "closer than to"
    IN_SAME = "in same"  # in the same kind of place
    SAME = "same"  # the same kind of place, property or year
    ALL = "all"
    QUESTION = "question"
    HAVING = "having"  # number and kind of related things
    WITHOUT = "without"
    IN_KIND = "in kind"
    MORE = "more"
    MORE_OF = "more of"  # more things of a kind
    MORE_THAN = "more than"
    MEMBER = "member"  # a name and a class
    EACH = "each"
    THINGS_AND = "things and"
    OUT_AND = "out and"
    BETWEEN = "between"
    BETWEEN_TWO = "between two"  # between two things that are named
    THAN = "than"  # comparator and thing
    VALUES = "values"  # a quantity of a set
    FAR = "far"
    MUCH = "much"
    TIMES = "times"  # how many times larger
    YEARS = "years"  # how many years between
    YEARS_FROM = "years from"  # how many years after something
    ANSWER = "answer"


class Head(StrEnum):
    """What a set phrase is headed by: a class, a name, or a restriction without a head."""

    KIND = "kind"
    NAME = "name"
    RESTRICTION = "restriction"


@dataclass(frozen=True)
class Noun:
    """A set phrase; `pair` where it names several things with "and" or "or", `both` where all must hold.
    `every`: the pair is joined by "and".

    `apart` is what a restriction leaves out: "in the same borough as X" is not said of X.
    """

    node: Set
    types: Types = field(compare=False)
    head: Head
    pair: tuple[Set, ...] = ()
    both: bool = False
    every: bool = False
    plural: bool = False
    prefixed: bool = False
    count: int | None = None
    apart: Noun | None = None


@dataclass(frozen=True)
class Bound:
    """The tests of a value: `("at least", 1930), ("at most", 1939)`; `unit` is a QUDT local name."""

    tests: tuple[tuple[Op, Literal], ...]
    dated: bool
    unit: str | None = None
    words: str = ""
    adjective: Adjective | None = None


@dataclass(frozen=True)
class Ranking:
    """The most or least of a quantity, `count` things from the `first` on.

    `counted` are things of which there are most, found by the `link` where the question names one.
    """

    most: bool
    quantity: Quantity | None = None
    count: int | None = None
    first: int = 1
    counted: Noun | None = None
    link: Link | None = None
    superlative: Superlative | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A phrase with its meaning and cost."""

    category: Category
    meaning: Any
    cost: float

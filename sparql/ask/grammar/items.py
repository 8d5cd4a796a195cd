"""What rules of the grammar combine: categories and meanings of phrases; and the registry of the rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from pyoxigraph import Literal

from sparql.ask import penalties
from sparql.ask.errors import PlanError
from sparql.ask.grammar.quantities import Quantities
from sparql.ask.linking.readings import Adjective, PropertyName, Superlative, Word
from sparql.ask.plan.nodes import Link, Quantity, Set
from sparql.ask.plan.sets import And, Minus, Named, PlaceLink, Related, Top, parts_of_set
from sparql.ask.plan.terms import Op, Place
from sparql.ask.plan.typing import Types, Typing, both


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


PropertyPhrase = tuple[PropertyName, bool]
"""A property, and whether the words are a noun: "the manager of", not "designed by"."""
Made = tuple[Category, Any, float]
"""A category, a meaning, and what the rule adds to the cost."""


@dataclass(frozen=True)
class Context:
    """What rules need: types, quantities, and the default distance of "near" by class, in meters."""

    typing: Typing
    quantities: Quantities
    near_meters: Callable[[Types], int]

    def related(self, link: Link, to: Set) -> Noun | None:
        """Return the restriction that a link to a set makes, None where the types do not fit."""
        return self.restriction(Related(link, to))

    def restriction(self, node: Set) -> Noun | None:
        """Return a set phrase that restricts another, None where the types do not fit."""
        try:
            return Noun(node, self.typing.of(node), Head.RESTRICTION)
        except PlanError:
            return None

    def links(self, here: Types, there: Types) -> Iterator[tuple[Link, float]]:
        """Yield the links that the data has between things, though the question does not name one."""
        located = self.typing.located
        if (here is None or here & located) and (there is None or there & located):
            places = self.typing.containment(here, there)
            for place in places:
                yield PlaceLink(place), penalties.UNSAID_PLACE
            if not places and self.typing.crossing(here, there):
                yield PlaceLink(Place.OVERLAPS), penalties.UNSAID_PLACE
        yield from self.quantities.links(here, there)


Rule = Callable[[Context, Any, Any], Iterator[Made]]


@dataclass
class Rules:
    """The rules of a grammar, by the categories of their two parts."""

    by_parts: dict[tuple[Category, Category], list[Rule]] = field(default_factory=lambda: defaultdict(list))

    def rule(self, left: Category, right: Category, *, turned: float | None = None) -> Callable[[Rule], Rule]:
        """Register a function as the rule for two categories; also in the other order, for a penalty."""

        def register(function: Rule) -> Rule:
            self.by_parts[left, right].append(function)
            if turned is not None:

                def turn(context: Context, first: Any, second: Any) -> Iterator[Made]:
                    for made, meaning, cost in function(context, second, first):
                        yield made, meaning, cost + turned

                self.by_parts[right, left].append(turn)
            return function

        return register

    def behind(self, left: Category, word: Word, made: Category) -> None:
        """Register a word behind a phrase, whose meaning it keeps: "closer to X than"."""

        def mark(context: Context, meaning: Any, said: Word) -> Iterator[Made]:
            if said is word:
                yield made, meaning, 0.0

        self.by_parts[left, Category.WORD].append(mark)

    def before(self, word: Word, right: Category, made: Category) -> None:
        """Register a word before a phrase, whose meaning it keeps: "but without"."""

        def mark(context: Context, said: Word, meaning: Any) -> Iterator[Made]:
            if said is word:
                yield made, meaning, 0.0

        self.by_parts[Category.WORD, right].append(mark)


Grammar = Mapping[tuple[Category, Category], Sequence[Rule]]


def grammar_of(*parts: Rules) -> Grammar:
    """Return the rules of all parts, by the categories of what they combine."""
    grammar: dict[tuple[Category, Category], list[Rule]] = defaultdict(list)
    for part in parts:
        for categories, rules in part.by_parts.items():
            grammar[categories] += rules
    return dict(grammar)


def restriction(node: Set, types: Types) -> Noun:
    """Return a set phrase that restricts another."""
    return Noun(node, types, Head.RESTRICTION)


def conjoin(head: Noun, *others: Noun) -> Noun | None:
    """Return what is in all sets, headed by the first; None where their types exclude each other."""
    types, parts = head.types, list(parts_of_set(head.node))
    for other in others:
        if types is not None and other.types is not None and not types & other.types:
            return None
        types = both(types, other.types)
        parts += parts_of_set(other.node)
    if len(set(parts)) < len(parts):
        return None
    node: Set = And(tuple(parts))
    for other in others:
        apart = other.apart
        if apart is not None and (types is None or apart.types is None or types & apart.types):
            node = Minus(node, apart.node)
    return replace(head, node=node, types=types, pair=(), both=False)


def each_of(of: Noun) -> tuple[Set, ...]:
    """Return the things that a restriction is to each of: "near both X and Y"."""
    return of.pair if of.both and of.pair else (of.node,)


def has_rank(node: Set) -> bool:
    """Return whether a set, or a part of it that is not a name, is the top of another."""
    if isinstance(node, Top):
        return True
    return any(
        isinstance(part, Set) and not isinstance(part, Named) and has_rank(part)
        for part in getattr(node, "sets", ())
    )

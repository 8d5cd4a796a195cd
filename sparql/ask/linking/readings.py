"""Readings: what a span of the question may mean."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from pyoxigraph import Literal, NamedNode

from ontology import OntologyProperty
from sparql.ask.plan.terms import Aggregate, Op, Place, Side, Size, Term


class Question(StrEnum):
    """What kind of answer the words ask for."""

    WHICH = "which"
    IN_WHICH = "in which"
    WHO = "who"
    WHERE = "where"
    WHEN = "when"
    HOW_MANY = "how many"
    HOW_MANY_YEARS = "how many years"
    HOW_MANY_TIMES = "how many times"
    HOW_FAR = "how far"
    HOW_MUCH = "how much"
    HOW_LONG = "how long"
    HOW = "how"
    LIST = "list"
    YES_NO = "yes or no"
    IS = "is it"
    THERE = "there"


class Word(StrEnum):
    """A function word that is its own meaning."""

    NOT = "not"
    AND = "and"
    OR = "or"
    BOTH = "both"
    EXCEPT = "except"
    WITHOUT = "without"
    PER = "per"
    THAN = "than"
    THAN_TO = "than to"
    BETWEEN = "between"
    ALL = "all"
    OUTSIDE = "outside"
    DATE = "date"
    SAME = "same"
    OTHERS = "others"
    DIFFERENCE = "difference"
    COMMA = ","


@dataclass(frozen=True)
class Near:
    """Near, without a distance."""


@dataclass(frozen=True)
class Neighbor:
    """A thing of the same kind that touches another."""


@dataclass(frozen=True)
class On:
    """On a place, which is inside of it where it has an inside."""


@dataclass(frozen=True)
class Adjective:
    """An adjective of degree; see `english.toml`."""

    name: str
    words: tuple[str, ...] = ()
    size: Size | None = None
    age: bool = False
    least: bool = False
    verb: bool = False


@dataclass(frozen=True)
class Derived:
    """A quantity that is worked out of others: the product of some, or one by another."""

    times: tuple[str, ...] = ()
    per: tuple[str, str] | None = None


@dataclass(frozen=True)
class HowMuch:
    """ "How tall": the value that an adjective asks for."""

    adjective: Adjective


@dataclass(frozen=True)
class EntityName:
    """An entity of the graph and the classes that are stated for it."""

    term: Term
    classes: frozenset[NamedNode]


@dataclass(frozen=True)
class ClassName:
    """A class of the ontology or of the data."""

    term: Term


@dataclass(frozen=True)
class PropertyName:
    """A property of the ontology or of the data; `active` words have its ends the other way round.

    `partial`: the words are only a part of its label, or akin to it.

    "X designed Y" is said of Y "designed by" X.
    """

    term: Term
    known: OntologyProperty | None
    active: bool = False
    partial: bool = False


@dataclass(frozen=True)
class TextValue:
    """A text that is a value of a property in the graph."""

    property: Term
    value: Literal


@dataclass(frozen=True)
class Comparator:
    """A comparison: `dated` compares dates, `distant` distances, `adjective` says what is compared.

    `behind`: it comes after its value, as in "five or more".
    """

    op: Op
    dated: bool = False
    adjective: Adjective | None = None
    distant: bool = False
    behind: bool = False


@dataclass(frozen=True)
class More:
    """More or fewer of something: a comparison of counts."""

    op: Op


@dataclass(frozen=True)
class Superlative:
    """The most or least, of what the adjective says; None: of what other words say."""

    most: bool
    adjective: Adjective | None = None
    distance: bool = False
    dated: bool = False
    side: Side | None = None


@dataclass(frozen=True)
class Measure:
    """A measure of geometry; distance where `size` is None; `verb`: "what does it cover?"."""

    size: Size | None
    verb: bool = False


@dataclass(frozen=True)
class Number:
    """A number, perhaps with a unit (a QUDT local name); `words` as written."""

    value: Decimal
    words: str
    unit: str | None = None


@dataclass(frozen=True)
class UnitName:
    """The unit that a value is wanted in (a QUDT local name): "in miles"; `asked`: "how many miles"."""

    unit: str
    asked: bool = False


@dataclass(frozen=True)
class DateValue:
    """A date, as precise as it is written; `last` is the end of a range, such as a decade."""

    value: Literal
    last: Literal | None = None


@dataclass(frozen=True)
class Ordinal:
    """A place in an order."""

    number: int


Meaning = (
    Question
    | Word
    | Place
    | Side
    | Near
    | Neighbor
    | On
    | Adjective
    | HowMuch
    | Derived
    | EntityName
    | ClassName
    | PropertyName
    | TextValue
    | Comparator
    | More
    | Superlative
    | Measure
    | Number
    | DateValue
    | UnitName
    | Ordinal
    | Aggregate
)


@dataclass(frozen=True)
class Reading:
    """A meaning of the tokens from `start` to `end` (exclusive), and what it costs to believe it."""

    start: int
    end: int
    meaning: Meaning
    cost: float = 0.0

"""The plan language: what a question asks for, as a tree of sets.

A set is a set of entities of the graph. A link leads from one entity to another, by a property or by where
they are. A quantity is a value of an entity that can be compared. The root of a plan says what is asked of
sets and quantities: to list, to count, whether there is anything, a value, a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pyoxigraph import Literal, NamedNode

__all__ = [
    "Aggregate",
    "Aggregation",
    "And",
    "Arithmetic",
    "ClassOf",
    "Compare",
    "CompareTo",
    "Converted",
    "Count",
    "CountOf",
    "Difference",
    "DistanceTo",
    "EarliestOf",
    "Every",
    "Exists",
    "Group",
    "Kind",
    "Lacking",
    "Link",
    "List",
    "Minus",
    "Named",
    "Near",
    "Node",
    "Op",
    "Operation",
    "Or",
    "Place",
    "PlaceLink",
    "Plan",
    "Position",
    "PropertyLink",
    "Quantity",
    "Related",
    "Set",
    "Side",
    "SideOf",
    "Size",
    "SizeOf",
    "Table",
    "Term",
    "TextMatch",
    "Top",
    "ValueOf",
    "Values",
]


class Op(StrEnum):
    """The relation of a value to the given one; for dates, less is before."""

    LESS = "less"
    AT_MOST = "at most"
    EQUAL = "equal"
    AT_LEAST = "at least"
    MORE = "more"


class Place(StrEnum):
    """How one thing lies to another: the subject of the link to its object."""

    WITHIN = "within"
    CONTAINS = "contains"
    TOUCHES = "touches"
    OVERLAPS = "overlaps"
    DISJOINT = "disjoint"


class Side(StrEnum):
    """On which side of a place something is."""

    NORTH = "north"
    NORTHEAST = "northeast"
    EAST = "east"
    SOUTHEAST = "southeast"
    SOUTH = "south"
    SOUTHWEST = "southwest"
    WEST = "west"
    NORTHWEST = "northwest"


class Size(StrEnum):
    """What is measured of a geometry."""

    AREA = "area"
    LENGTH = "length"


class Aggregate(StrEnum):
    """How many values become one."""

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    LEAST = "least"
    MOST = "most"


class Operation(StrEnum):
    """An operation on two quantities."""

    PLUS = "plus"
    MINUS = "minus"
    TIMES = "times"
    PER = "per"


@dataclass(frozen=True)
class Term:
    """A class, property or entity: its IRI, and the words that name it in plans and answers.

    `unit` is the QUDT name of the unit of a property's values, such as KiloM2.
    """

    iri: NamedNode
    words: str = field(compare=False)
    unit: str = field(default="", compare=False)


class Node:
    """A part of a plan."""


class Set(Node):
    """A set of entities."""


class Link(Node):
    """What leads from the members of one set to those of another."""


class Quantity(Node):
    """A value of an entity: a number, a date, or text."""


class Plan(Node):
    """A whole plan: what is asked."""


@dataclass(frozen=True)
class PropertyLink(Link):
    """A statement with a property; `inverse`: from its object to its subject."""

    property: Term
    inverse: bool = False


@dataclass(frozen=True)
class PlaceLink(Link):
    """Where things lie to each other, computed from geometry or stated."""

    place: Place


@dataclass(frozen=True)
class Named(Set):
    """One entity."""

    entity: Term


@dataclass(frozen=True)
class Kind(Set):
    """The instances of a class and of its subclasses."""

    of: Term


@dataclass(frozen=True)
class Related(Set):
    """What a link leads from, to any member of `to`."""

    link: Link
    to: Set


@dataclass(frozen=True)
class And(Set):
    """What is in every set."""

    sets: tuple[Set, ...]


@dataclass(frozen=True)
class Or(Set):
    """What is in any of the sets."""

    sets: tuple[Set, ...]


@dataclass(frozen=True)
class Minus(Set):
    """What is in a set and not in another."""

    set: Set
    without: Set


@dataclass(frozen=True)
class Lacking(Set):
    """What is in a set and for which no value or thing of a property is recorded."""

    set: Set
    property: Term


@dataclass(frozen=True)
class Compare(Set):
    """What has a quantity that relates so to a value."""

    quantity: Quantity
    test: Op
    value: Literal


@dataclass(frozen=True)
class CompareTo(Set):
    """What has a quantity that relates so to the same quantity of an entity."""

    quantity: Quantity
    test: Op
    to: Set


@dataclass(frozen=True)
class TextMatch(Set):
    """What has a text with these words; of a property, or (None) of any name."""

    words: str
    property: Term | None = None


@dataclass(frozen=True)
class Top(Set):
    """The members of a set with the most or least of a quantity, `count` of them from the `first` on.

    With `first` and `count` 1, all that are equally far ahead.
    """

    set: Set
    quantity: Quantity
    most: bool
    count: int = 1
    first: int = 1


@dataclass(frozen=True)
class SideOf(Set):
    """What is on a side of the members of a set."""

    side: Side
    of: Set


@dataclass(frozen=True)
class Near(Set):
    """What is at most so many meters from any member of a set; `assumed`: the question gives no distance."""

    of: Set
    meters: int
    assumed: bool = False


@dataclass(frozen=True)
class ValueOf(Quantity):
    """The value of a property, or of the last property of a chain of them.

    With `measured`, the size of the geometry in the property's unit, where no value is stated.
    """

    path: tuple[Term, ...]
    measured: Size | None = None


@dataclass(frozen=True)
class EarliestOf(Quantity):
    """The earliest date of several properties: when something began to be."""

    properties: tuple[Term, ...]


@dataclass(frozen=True)
class DistanceTo(Quantity):
    """The distance to the nearest member of a set, in meters."""

    to: Set


@dataclass(frozen=True)
class SizeOf(Quantity):
    """The area (in square meters) or length (in meters) that is measured of the geometry."""

    size: Size


@dataclass(frozen=True)
class Position(Quantity):
    """How far to a side the center of the geometry is: its latitude or longitude, in degrees."""

    side: Side


@dataclass(frozen=True)
class ClassOf(Quantity):
    """What a thing is: the class that is stated for it, without those above it."""


@dataclass(frozen=True)
class CountOf(Quantity):
    """How many members of a set a link leads to."""

    link: Link
    set: Set


@dataclass(frozen=True)
class Arithmetic(Quantity):
    """An operation on two quantities of the same entity."""

    operation: Operation
    left: Quantity
    right: Quantity


@dataclass(frozen=True)
class Converted(Quantity):
    """A quantity in another unit, by its QUDT name: the value of Values alone."""

    quantity: Quantity
    unit: str


@dataclass(frozen=True)
class List(Plan):
    """The members of a set; with a `limit`, only so many of them: "name three museums"."""

    set: Set
    limit: int | None = None


@dataclass(frozen=True)
class Count(Plan):
    """How many members a set has."""

    set: Set


@dataclass(frozen=True)
class Exists(Plan):
    """Whether a set has any member."""

    set: Set


@dataclass(frozen=True)
class Every(Plan):
    """Whether all members of a set are in another."""

    set: Set
    within: Set


@dataclass(frozen=True)
class Values(Plan):
    """A quantity of each member of a set."""

    quantity: Quantity
    set: Set


@dataclass(frozen=True)
class Aggregation(Plan):
    """The values of a quantity over a set, made into one."""

    aggregate: Aggregate
    quantity: Quantity
    set: Set


@dataclass(frozen=True)
class Difference(Plan):
    """How much a quantity of one set's member differs from that of another's; `per`: how many times it is."""

    quantity: Quantity
    left: Set
    right: Set
    operation: Operation = Operation.MINUS


@dataclass(frozen=True)
class Table(Plan):
    """The members of a set with several of their quantities; one that is not recorded stays empty."""

    set: Set
    columns: tuple[Quantity, ...]


@dataclass(frozen=True)
class Group(Plan):
    """For each member of a set, the related members of another counted, or their quantity aggregated."""

    each: Set
    link: Link
    set: Set
    aggregate: Aggregate = Aggregate.COUNT
    quantity: Quantity | None = None

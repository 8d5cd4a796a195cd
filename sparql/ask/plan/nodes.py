"""The plan language: what a question asks for, as a tree of sets.

A set is a set of entities of the graph. A link leads from one entity to another, by a property or by where
they are. A quantity is a value of an entity that can be compared. The root of a plan says what is asked of
sets and quantities: to list, to count, whether there is anything, a value, a table.

A node has its types, its words and its SPARQL as methods, so that a new one is written in one place: in
`sets.py` (sets and links), `quantities.py` or `questions.py` (roots). Its JSON form follows from its fields.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from pyoxigraph import NamedNode

from ontology import Schema
from sparql.ask.places import StatedPlaces
from sparql.ask.plan.sparql import Outcome, Patterns, Query, Result, where
from sparql.ask.plan.terms import (
    Op,
    QuantityKind,
    Size,
    Term,
    enumerate_labels,
    is_dated,
    is_participle,
    number_words,
    with_article,
)
from sparql.ask.plan.typing import Types, Typing

UNKNOWN: Final = "?"
"""An unknown part of a missing triple."""
NUMBERS: Final = {
    Op.LESS: "less than",
    Op.AT_MOST: "at most",
    Op.EQUAL: "exactly",
    Op.AT_LEAST: "at least",
    Op.MORE: "more than",
}
Lines = list[str]
"""Lines of a graph pattern."""


class Node:
    """A part of a plan."""


def parts_of(part: Any) -> Iterator[Any]:
    """Yield all nodes, terms and values of a plan, each before its parts."""
    yield part
    if isinstance(part, tuple):
        for member in part:
            yield from parts_of(member)
    elif isinstance(part, Node):
        for member in vars(part).values():
            yield from parts_of(member)


def nodes_of(part: Any) -> Iterator[Node]:
    """Yield all nodes of a plan."""
    return (found for found in parts_of(part) if isinstance(found, Node))


class Set(Node):
    """A set of entities."""

    head: ClassVar[bool] = False
    """Whether its phrase is a noun that restrictions follow."""
    single: ClassVar[bool] = False
    """Whether it may be one thing."""

    @abstractmethod
    def types(self, typing: Typing) -> Types:
        """Return the classes of the members (`Typing.of` keeps them). Raises `PlanError`."""

    @abstractmethod
    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        """Return lines that bind a variable to the members.

        With `few`, other lines bind it to some things already, and these lines look at each of them: a store
        would join them with all members of a class, and with all values of a property, which may be millions.
        """

    def class_lines(self, patterns: Patterns, var: str) -> Lines:
        """Return the lines of the classes that the members are of."""
        return []

    def phrase(self, *, singular: bool = False) -> str:
        """Return the set as a noun phrase, such as "museums in Manhattan"."""
        return f"{'thing' if singular else 'things'} {self.restriction(singular=singular)}"

    def restriction(self, *, singular: bool = False) -> str:
        """Return the set as words behind a noun: "in Manhattan", "opened after 1900"."""
        return f"among {self.phrase()}"

    def claim(self, shown: Shown, *, holds: bool) -> str:
        """Return the set as what a thing is or is not: "is not in Manhattan", "was opened after 1900"."""
        return claim_words(self.restriction(singular=True), holds=holds)

    def found_by(self) -> str:
        """Return what its members are found by, without a noun: "Bordering the Bronx"."""
        words = self.restriction(singular=True)
        return self.phrase() if words.startswith(("with ", "that ")) else words

    def steps(self) -> list[tuple[Node, str]]:
        """Return how the set is found: the nodes in order, and a sentence of each."""
        return [(self, f"{'Take' if self.head else 'Find'} {self.phrase()}.")]

    def missing(self, before: str) -> tuple[str, str, str, str]:
        """Return what is missing where the set is empty: a triple in words, and a message ("" for the usual).

        `before` are the things that it restricts, in words.
        """
        return before or UNKNOWN, UNKNOWN, UNKNOWN, ""

    def recorded(self, head: Set, compiler: Compiler, typing: Typing) -> Sequence[Sequence[str]]:
        """Return ASK queries of which all of one group hold where the graph knows the set for a subject."""
        return ((),)

    def deciding(self) -> tuple[Quantity, Set] | None:
        """Return the quantity by which things of a kind are chosen, and what they are chosen from."""
        return None

    def name(self) -> Term | None:
        """Return the entity, where the set is one."""
        return None

    def noun(self) -> str:
        """Return a name for the variable of the set: that of its first class."""
        return "thing"

    def heads(self) -> Iterator[NamedNode | None]:
        """Yield the classes that the members are said to be of, None for a restriction alone."""
        yield None

    def has_kind(self) -> bool:
        """Return whether the members are of a class."""
        return False

    def is_few(self, places: StatedPlaces) -> bool:
        """Return whether the members are found from a place, not by their class or values."""
        return False

    def order(self, places: StatedPlaces) -> int:
        """Return the place of the lines in a query: names, what is in a place, classes, and what filters."""
        return 1 if self.is_few(places) else 2


class Link(Node):
    """What leads from the members of one set to those of another."""

    @abstractmethod
    def types(self, typing: Typing, to: Types) -> Types:
        """Return the classes of what the link leads from. Raises `PlanError` where there is none."""

    @abstractmethod
    def path(self, patterns: Patterns) -> str:
        """Return the property path from the subject of the link to its object."""

    @abstractmethod
    def related(self, patterns: Patterns, to: Set, var: str) -> Lines:
        """Return lines that bind a variable to what the link leads from, to any member of a set."""

    @abstractmethod
    def restriction(self, to: Set, *, singular: bool) -> str:
        """Return what is linked to a set, as words behind a noun."""

    def claim(self, to: Set, *, holds: bool) -> str:
        """See `Set.claim`, of what is linked to a set."""
        return claim_words(self.restriction(to, singular=True), holds=holds)

    @abstractmethod
    def counting(self, counted: str, *, singular: bool = False) -> str:
        """Return how counted things belong to a thing: "with two museums", "designed by two architects"."""

    @abstractmethod
    def missing(self, to: Set, before: str) -> tuple[str, str, str, str]:
        """See `Set.missing`, of what is linked to a set."""


class Quantity(Node):
    """A value of an entity: a number, a date, or text."""

    geometric: ClassVar[bool] = False
    """Whether it is measured of geometries, which takes long and is never equal."""
    least_counts: ClassVar[bool] = False
    """Whether the least of several values of one thing is the thing's."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The quantity as a noun: "height", "distance to Central Park"."""

    @abstractmethod
    def types(self, typing: Typing) -> Types:
        """Return the classes of things that have the quantity. Raises `PlanError`."""

    @abstractmethod
    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        """Return lines that find the value for what a variable is bound to, and its expression.

        A date is text in ISO 8601. `few` as with `Set.lines`.
        """

    def single(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        """Return the same as `value`, with one value of each thing."""
        return self.value(patterns, var, few=few)

    def kind(self, typing: Typing) -> QuantityKind:
        """Return the kind of the values."""
        return QuantityKind.NUMBER

    @property
    def measures(self) -> Size | None:
        """The size of the geometry that it is, or that stands for a value that is not stated."""
        return None

    @property
    def query_unit(self) -> str:
        """The QUDT name of the unit of the values in a query, "" for none."""
        return ""

    @property
    def answer_unit(self) -> str:
        """The QUDT name of the unit of the values in an answer, "" for none."""
        return self.query_unit

    def scaled(self, expression: str) -> str:
        """Return an expression of the value in the unit of answers."""
        return expression

    def written(self, value: str) -> str:
        """Return a value that things are compared with."""
        return number_words(value, self.query_unit)

    def shown(self, value: str, schema: Schema) -> str:
        """Return a value of an answer with its unit."""
        return value

    def before_bound(self, *, dated: bool) -> str:
        """Return what stands before "after 1900" or "of more than 300 m"."""
        return f"with {with_article(self.words)}{'' if dated else ' of'}"

    def bounded(self, test: Op, value: str) -> str:
        """Return a comparison with a value: "longer than 2 km", "with a height of at most 10 m"."""
        return f"{self.before_bound(dated=False)} {NUMBERS[test]} {value}"

    def compared(self, test: Op, than: str) -> str:
        """Return a comparison with that of something: "larger than X", "opened before X"."""
        if test in (Op.LESS, Op.MORE):
            comparative = "greater" if test is Op.MORE else "smaller"
            return f"with {with_article(f'{comparative} {self.words}')} than {than}"
        return f"with {with_article(self.words)} of {NUMBERS[test]} that of {than}"

    def ranked(self, top: Ranked) -> str:
        """Return the things with the most or least of it: "the 3 oldest museums"."""
        extreme = "greatest" if top.most else "least"
        if is_dated(self.words):
            extreme = "latest" if top.most else "earliest"
        return f"the {top.number}{top.things} with the {top.nth}{extreme} {self.words}"

    def stated(self, of: Set, values: Sequence[str]) -> str:
        """Return the answer with the values of a set that is one thing, or has values alone."""
        whose = of.phrase(singular=True)
        return f"{whose[:1].upper()}{whose[1:]}: {self.words} {enumerate_labels(values)}."

    def unknown(self, of: str) -> str:
        """Return a value that is not recorded: "the date opened of Times Square"."""
        return f"the date {self.words} of {of}" if is_participle(self.words) else f"{self.words} of {of}"

    def recorded(self) -> str:
        """Return the quantity as what may be recorded: "a recorded date (opened)"."""
        return f"a recorded {self.words}"


@dataclass(frozen=True)
class Ranked:
    """The words of what is first in an order: "3 ", "second ", and the things.

    `chosen`: they are several that are named, or one.
    """

    things: str
    number: str
    nth: str
    most: bool
    singular: bool
    chosen: bool


class Plan(Node):
    """A whole plan: what is asked."""

    set: Set

    def about(self) -> Set:
        """Return the set that the plan is about."""
        return self.set

    @abstractmethod
    def check(self, typing: Typing) -> None:
        """Check the plan against the ontology and the data. Raises `PlanError` with what does not fit."""

    @abstractmethod
    def steps(self) -> list[tuple[Node, str]]:
        """Return the plan as steps: the node that each is about, and a sentence."""

    @abstractmethod
    def query(self, patterns: Patterns) -> Query:
        """Return the query that answers the plan."""

    def is_answered(self, outcome: Outcome) -> bool:
        """Return whether there is a value where the plan asks for one: nothing is divided by zero."""
        return True

    @abstractmethod
    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        """Return what was found as a sentence, including zero."""

    def sentences(self) -> list[str]:
        """Return the steps as numbered sentences."""
        return [f"{number}. {words}" for number, (_, words) in enumerate(self.steps(), 1)]

    def deciding(self) -> tuple[Quantity, Set] | None:
        """Return the quantity whose values an answer shows, and the things that have them."""
        return None

    def ends(self) -> list[Term]:
        """Return the things that are compared, where they are not what the query finds."""
        return []


@dataclass(frozen=True)
class Coverage:
    """Of how many members of a set a quantity is known."""

    quantity: Quantity
    set: Set
    known: int
    of: int


@dataclass(frozen=True)
class Shown:
    """The quantity that decided, its values by IRI, and which of them were measured of the geometry."""

    schema: Schema
    quantity: Quantity | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    measured: frozenset[str] = frozenset()
    coverage: Coverage | None = None

    def aside(self, iri: str) -> str:
        """Return the value of a thing in brackets, behind a space; "" where none is known."""
        if self.quantity is None or iri not in self.values:
            return ""
        return f" ({self.quantity.shown(self.values[iri], self.schema)})"

    def named(self, node: Set) -> str:
        """Return the phrase of a set, with the value where it is one thing."""
        entity = node.name()
        return node.phrase() + (self.aside(entity.iri.value) if entity is not None else "")


class Compiler:
    """Compiles checked plans over one ontology; `limit` is the most rows that a list may have.

    `used` says whether the graph has statements of a property.
    """

    def __init__(
        self,
        schema: Schema,
        places: StatedPlaces | None = None,
        *,
        limit: int = 1000,
        used: Callable[[NamedNode], bool] = lambda _: True,
    ) -> None:
        self._schema = schema
        self._places = places or StatedPlaces.of(schema)
        self._limit = limit
        self._used = used

    def compile(self, plan: Plan, typing: Typing) -> Query:
        """Return the query that answers a plan."""
        return plan.query(self._patterns(typing))

    def exists(self, node: Set, typing: Typing) -> str:
        """Return the SPARQL ASK for whether a set has a member."""
        patterns = self._patterns(typing)
        return patterns.ask(node.lines(patterns, patterns.variable(node.noun()))).text

    def has_value(self, node: Set, quantity: Quantity, typing: Typing) -> str:
        """Return the SPARQL ASK for whether any member of a set has a quantity."""
        patterns = self._patterns(typing)
        var = patterns.variable(node.noun())
        lines = node.lines(patterns, var)
        return patterns.ask(
            [*lines, *quantity.value(patterns, var, few=node.is_few(patterns.places))[0]]
        ).text

    def has_link(self, node: Set, link: Link, typing: Typing) -> str:
        """Return the SPARQL ASK for whether a link leads from any member of a set to anything."""
        patterns = self._patterns(typing)
        var, other = patterns.variable(node.noun()), patterns.variable("anything")
        path = link.path(patterns).removesuffix("+")
        return patterns.ask([*node.lines(patterns, var), f"{var} {path} {other} ."]).text

    def has_geometry(self, entity: Term, typing: Typing) -> str:
        """Return the SPARQL ASK for whether an entity has a geometry."""
        patterns = self._patterns(typing)
        text = f"ASK {{ {patterns.iri(entity.iri)} {patterns.geometry()} ?geometry }}\n"
        return patterns.query(text, "", Result.TRUTH).text

    def coverage(self, node: Set, quantity: Quantity, typing: Typing) -> str:
        """Return the query for how many members a set has (`all`), and how many have a quantity (`known`)."""
        patterns = self._patterns(typing)
        var = patterns.variable(node.noun())
        found, expression = quantity.value(patterns, var)
        lines = [
            *node.lines(patterns, var),
            f"OPTIONAL {{ {' '.join(found)} BIND({expression} AS ?size) }}",
        ]
        known = f"(COUNT(DISTINCT IF(BOUND(?size), {var}, ?unbound)) AS ?known)"
        text = f"SELECT (COUNT(DISTINCT {var}) AS ?all) {known}\n{where(lines)}"
        return patterns.query(text, "all", Result.VALUES).text

    def _patterns(self, typing: Typing) -> Patterns:
        return Patterns(self._schema, self._places, typing, self._used, self._limit)


def claim_words(words: str, *, holds: bool) -> str:
    """Return a restriction as what a thing is or is not: "is not near X", "has a height of 10 m"."""
    if words.startswith("with "):
        return f"{'has' if holds else 'does not have'} {words.removeprefix('with ')}"
    if words.startswith("that "):
        claim = words.removeprefix("that ")
        return claim if holds else f"does not fit: {claim}"
    if is_participle(words.partition(" ")[0]):
        return f"was {'' if holds else 'not '}{words}"
    return f"is {'' if holds else 'not '}{words}"


def per_member(patterns: Patterns, node: Set, quantity: Quantity, var: str, value: str, *, most: bool) -> str:
    """Return a subquery of each member of a set and its value: of several the greatest, or the least."""
    lines = node.lines(patterns, var)
    found, expression = quantity.value(patterns, var, few=node.is_few(patterns.places))
    function = "MAX" if most and not quantity.least_counts else "MIN"
    body = " ".join([*lines, *found])
    return f"SELECT {var} ({function}({expression}) AS {value}) WHERE {{ {body} }} GROUP BY {var}"

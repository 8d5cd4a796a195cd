"""The roots of plans: what is asked of sets and quantities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sparql.ask.errors import PlanError
from sparql.ask.plan.nodes import Lines, Link, Node, Plan, Quantity, Set, Shown, per_member
from sparql.ask.plan.quantities import ClassOf, EarliestOf, ValueOf
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
    parts_of_set,
)
from sparql.ask.plan.sparql import Outcome, Patterns, Query, Result, block, where
from sparql.ask.plan.terms import (
    Aggregate,
    Operation,
    QuantityKind,
    Term,
    enumerate_labels,
    is_dated,
    number_words,
)
from sparql.ask.plan.typing import Typing

_AGGREGATES: Final = {
    Aggregate.SUM: "SUM",
    Aggregate.AVERAGE: "AVG",
    Aggregate.LEAST: "MIN",
    Aggregate.MOST: "MAX",
    Aggregate.COUNT: "COUNT",
}
_AGGREGATE_WORDS: Final = {Aggregate.SUM: "total", Aggregate.MOST: "greatest"}


class _OfSet(Plan):
    """What is asked of the members of a set."""

    def check(self, typing: Typing) -> None:
        typing.of(self.set)


@dataclass(frozen=True)
class List(_OfSet):
    """The members of a set; with a `limit`, only so many of them: "name three museums"."""

    set: Set
    limit: int | None = None

    def steps(self) -> list[tuple[Node, str]]:
        last = "List them." if self.limit is None else f"List {self.limit:,} of them."
        return [*self.set.steps(), (self, last)]

    def query(self, patterns: Patterns) -> Query:
        query = _entities(patterns, self.set, ())
        return query if self.limit is None else query.first(self.limit)

    def deciding(self) -> tuple[Quantity, Set] | None:
        return self.set.deciding()

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        node, labels = self.set, self._valued(outcome, shown)
        if not labels:
            return f"The graph has no {node.phrase()}."
        parts = parts_of_set(node)
        top = next((part for part in parts if isinstance(part, Top)), None)
        if top is not None and all(isinstance(part, Top | Kind) for part in parts):
            verb = "is" if len(labels) == 1 else "are" if top.count > 1 else "are equal: each is"
            if isinstance(top.set, Or) and all(isinstance(part, Named) for part in top.set.sets):
                of = enumerate_labels([part.phrase() for part in top.set.sets])
                words = top.phrase().removesuffix(top.set.phrase()).removesuffix(" of ")
                return f"Of {of}, {enumerate_labels(labels)} {verb} {words}."
            return f"{enumerate_labels(labels)} {verb} {top.phrase()}."
        if isinstance(node, Related | Near | SideOf):
            return f"{_capital(node.found_by())}: {enumerate_labels(labels)}."
        limit = outcome.query.limit
        full = len(labels) >= limit
        number = _capital(f"{'at least ' if full else ''}{len(labels):,}")
        more = f" Only the first {limit:,} were fetched." if full else ""
        return f"{number} {node.phrase(singular=len(labels) == 1)}: {enumerate_labels(labels)}.{more}"

    def _valued(self, outcome: Outcome, shown: Shown) -> list[str]:
        """The labels of rows, each with the value that it was chosen by: "High Bridge (1848)", by rank."""
        iris = [row[outcome.query.variable]["value"] for row in outcome.rows]
        labels = [label + shown.aside(iri) for label, iri in zip(outcome.labels, iris, strict=True)]
        known = [shown.values[iri] for iri in iris if iri in shown.values]
        if not isinstance(self.set, Top) or len(known) < len(labels):
            return labels
        ranks = {label: _rank(value) for label, value in zip(labels, known, strict=True)}
        return sorted(labels, key=lambda label: ranks[label], reverse=self.set.most)


@dataclass(frozen=True)
class Count(_OfSet):
    """How many members a set has."""

    set: Set

    def steps(self) -> list[tuple[Node, str]]:
        return [*self.set.steps(), (self, "Count them.")]

    def query(self, patterns: Patterns) -> Query:
        var = patterns.variable(self.set.noun())
        body = where(self.set.lines(patterns, var))
        return patterns.query(f"SELECT (COUNT(DISTINCT {var}) AS ?count)\n{body}", "count", Result.VALUES)

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        number = outcome.count
        words = self.set.phrase(singular=number == 1)
        if number == 0:
            return f"The graph has no {words}."
        return f"There {'is' if number == 1 else 'are'} {number:,} {words} in the graph."


@dataclass(frozen=True)
class Exists(_OfSet):
    """Whether a set has any member."""

    set: Set

    def steps(self) -> list[tuple[Node, str]]:
        return [*self.set.steps(), (self, "Say whether there is any.")]

    def query(self, patterns: Patterns) -> Query:
        return patterns.ask(self.set.lines(patterns, patterns.variable(self.set.noun())))

    def deciding(self) -> tuple[Quantity, Set] | None:
        return self.set.deciding()

    def ends(self) -> list[Term]:
        found = self.set.deciding()
        return _names([*([found[1]] if found else []), *_compared_with(self.set)])

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        return f"{'Yes' if outcome.holds else 'No'}: {self._claim(shown, holds=outcome.holds)}."

    def _claim(self, shown: Shown, *, holds: bool) -> str:
        node = self.set
        head, *rest = parts_of_set(node)
        if isinstance(node, Minus):
            without = node.without.restriction(singular=True)
            return f"{node.set.phrase(singular=True)} is {'not ' if holds else ''}{without}"
        if not rest or not isinstance(head, Named):
            return f"the graph has {'' if holds else 'no '}{node.phrase()}"
        return f"{shown.named(head)} {' and '.join(part.claim(shown, holds=holds) for part in rest)}"


@dataclass(frozen=True)
class Every(Plan):
    """Whether all members of a set are in another."""

    set: Set
    within: Set

    def check(self, typing: Typing) -> None:
        typing.of(self.set)
        typing.of(self.within)

    def steps(self) -> list[tuple[Node, str]]:
        return [*self.set.steps(), (self, f"Say whether all of them are {self.within.restriction()}.")]

    def query(self, patterns: Patterns) -> Query:
        var = patterns.variable(self.set.noun())
        others = " ".join(Minus(self.set, self.within).lines(patterns, var))
        counted = f"{{ SELECT (COUNT(DISTINCT {var}) AS ?others) WHERE {{ {others} }} }}"
        return patterns.ask([counted, "FILTER(?others = 0)"])

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        things, within = self.set.phrase(), self.within.restriction()
        if outcome.holds:
            return f"Yes: all {things} are {within}."
        return f"No: {things} are not all {within}."


@dataclass(frozen=True)
class Values(Plan):
    """A quantity of each member of a set."""

    quantity: Quantity
    set: Set

    def check(self, typing: Typing) -> None:
        _check_value(self.quantity, self.set, typing)

    def steps(self) -> list[tuple[Node, str]]:
        return [*self.set.steps(), (self, f"Give the {self.quantity.words}.")]

    def query(self, patterns: Patterns) -> Query:
        node, quantity = self.set, self.quantity
        var = patterns.variable(node.noun())
        body = node.lines(patterns, var)
        lines, expression = quantity.value(patterns, var, few=node.is_few(patterns.places))
        value = patterns.variable("value")
        body += [*lines, f"BIND({quantity.scaled(expression)} AS {value})"]
        if quantity.least_counts:
            return patterns.labeled(var, body, f" (MIN({value}) AS ?size)", "?size", ("size",))
        if isinstance(node, Named) or isinstance(quantity, ClassOf):
            text = f"SELECT DISTINCT {value}\n{where(body)}ORDER BY {value}\nLIMIT {patterns.limit}\n"
            return patterns.query(text, value[1:], Result.VALUES, (value[1:],))
        selected = f' (GROUP_CONCAT(DISTINCT {value}; SEPARATOR=", ") AS ?size)'
        if quantity.kind(patterns.typing) is QuantityKind.NUMBER:
            selected = f" (MAX({value}) AS ?size)"
        return patterns.labeled(var, body, selected, "?label", ("size",))

    def deciding(self) -> tuple[Quantity, Set] | None:
        stated = isinstance(self.quantity, ValueOf) and self.quantity.measured is not None
        return (self.quantity, self.set) if stated else None

    def ends(self) -> list[Term]:
        return _names([self.set, *_compared_with(self.set)])

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        quantity, query = self.quantity, outcome.query
        column = query.columns[0] if query.columns else query.variable
        values = [
            quantity.shown(row[column]["value"], shown.schema) if column in row else "not recorded"
            for row in outcome.rows
        ]
        if query.result is Result.VALUES or len(values) == 1:
            return quantity.stated(self.set, values)
        pairs = [f"{label}: {value}" for label, value in zip(outcome.labels, values, strict=True)]
        return f"{quantity.words} of {self.set.phrase()}: {enumerate_labels(pairs)}."


@dataclass(frozen=True)
class Aggregation(Plan):
    """The values of a quantity over a set, made into one."""

    aggregate: Aggregate
    quantity: Quantity
    set: Set

    def check(self, typing: Typing) -> None:
        _check_value(self.quantity, self.set, typing)
        _check_aggregate(self.aggregate, self.quantity, typing)

    def steps(self) -> list[tuple[Node, str]]:
        return [*self.set.steps(), (self, f"Give the {self.aggregate} of their {self.quantity.words}.")]

    def query(self, patterns: Patterns) -> Query:
        var, value = patterns.variable(self.set.noun()), patterns.variable("value")
        inner = per_member(patterns, self.set, self.quantity, var, value, most=True)
        aggregate = f"{_AGGREGATES[self.aggregate]}({self.quantity.scaled(value)})"
        select = f"SELECT ({aggregate} AS ?result) (COUNT(*) AS ?of)"
        return patterns.query(f"{select}\n{where([f'{{ {inner} }}'])}", "result", Result.VALUES, ("of",))

    def is_answered(self, outcome: Outcome) -> bool:
        return "result" in outcome.rows[0]

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        row = outcome.rows[0]
        value = row["result"]["value"]
        counts = self.aggregate is Aggregate.COUNT
        value = number_words(value) if counts else self.quantity.shown(value, shown.schema)
        aggregate = _AGGREGATE_WORDS.get(self.aggregate, self.aggregate)
        return (
            f"The {aggregate} {self.quantity.words} of {self.set.phrase()} is {value}, "
            f"of {int(row['of']['value']):,} with a value."
        )


@dataclass(frozen=True)
class Difference(Plan):
    """How much a quantity of one set's member differs from that of another's; `per`: how many times it is."""

    quantity: Quantity
    left: Set
    right: Set
    operation: Operation = Operation.MINUS

    def about(self) -> Set:
        return self.left

    def check(self, typing: Typing) -> None:
        for node in (self.left, self.right):
            _check_value(self.quantity, node, typing)
        kind = self.quantity.kind(typing)
        if kind is QuantityKind.TEXT:
            raise PlanError("Texts have no difference.")
        if self.operation not in (Operation.MINUS, Operation.PER):
            raise PlanError("Two values can be subtracted (minus) or divided (per).")
        if self.operation is Operation.PER and kind is QuantityKind.DATE:
            raise PlanError("Dates cannot be divided.")

    def steps(self) -> list[tuple[Node, str]]:
        words, left, right = self.quantity.words, self.left.phrase(), self.right.phrase()
        if self.operation is Operation.PER:
            return [(self, f"Divide the {words} of {left} by that of {right}.")]
        return [(self, f"Subtract the {words} of {right} from that of {left}.")]

    def query(self, patterns: Patterns) -> Query:
        inner, values = [], []
        for node in (self.left, self.right):
            var, value = patterns.variable(node.noun()), patterns.variable("value")
            inner.append(per_member(patterns, node, self.quantity, var, value, most=True))
            dated = self.quantity.kind(patterns.typing) is QuantityKind.DATE
            year = f"<http://www.w3.org/2001/XMLSchema#integer>(SUBSTR({value}, 1, 4))"
            values.append(year if dated else value)
        difference = f"{values[0]} / {values[1]}"
        if self.operation is not Operation.PER:
            difference = self.quantity.scaled(f"ABS({values[0]} - {values[1]})")
        body = [*(f"{{ {subquery} }}" for subquery in inner), f"BIND({difference} AS ?result)"]
        return patterns.query(f"SELECT ?result\n{where(body)}", "result", Result.VALUES)

    def deciding(self) -> tuple[Quantity, Set] | None:
        return self.quantity, self.left

    def ends(self) -> list[Term]:
        return _names([self.left, self.right])

    def is_answered(self, outcome: Outcome) -> bool:
        return bool(outcome.rows)

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        result, words = outcome.rows[0]["result"]["value"], self.quantity.words
        left, right = self.left.phrase(), self.right.phrase()
        if self.operation is Operation.PER:
            return f"The {words} of {left} is {number_words(result)} times that of {right}."
        value = self.quantity.shown(result, shown.schema)
        if isinstance(self.quantity, EarliestOf) or is_dated(words):
            years = f"{value} year{'' if value == '1' else 's'}"
            return f"{shown.named(self.left)} and {shown.named(self.right)} are {years} apart."
        return f"The {words} of {left} and of {right} differ by {value}."


@dataclass(frozen=True)
class Table(Plan):
    """The members of a set with several of their quantities; one that is not recorded stays empty."""

    set: Set
    columns: tuple[Quantity, ...]

    def check(self, typing: Typing) -> None:
        for quantity in self.columns:
            _check_value(quantity, self.set, typing)

    def steps(self) -> list[tuple[Node, str]]:
        columns = ", ".join(quantity.words for quantity in self.columns)
        return [*self.set.steps(), (self, f"List them with {columns}.")]

    def query(self, patterns: Patterns) -> Query:
        return _entities(patterns, self.set, self.columns)

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        described = []
        for label, row in zip(outcome.labels, outcome.rows, strict=True):
            cells = (row.get(name, {}).get("value") for name in outcome.query.columns)
            stated = [
                f"{quantity.words} {quantity.shown(cell, shown.schema) if cell else 'not recorded'}"
                for quantity, cell in zip(self.columns, cells, strict=True)
            ]
            described.append(f"{label}: {', '.join(stated)}")
        return f"{enumerate_labels(described) or f'The graph has no {self.set.phrase()}'}."


@dataclass(frozen=True)
class Group(Plan):
    """For each member of a set, the related members of another counted, or their quantity aggregated."""

    each: Set
    link: Link
    set: Set
    aggregate: Aggregate = Aggregate.COUNT
    quantity: Quantity | None = None

    def about(self) -> Set:
        return self.each

    def check(self, typing: Typing) -> None:
        each, linked = typing.of(self.each), self.link.types(typing, typing.of(self.set))
        typing.need(each, linked, "is not linked to them")
        _check_aggregate(self.aggregate, self.quantity, typing)
        if self.quantity is not None:
            _check_value(self.quantity, self.set, typing)

    def steps(self) -> list[tuple[Node, str]]:
        what = "the number"
        if self.quantity is not None:
            what = f"the {self.aggregate} of the {self.quantity.words}"
        of = "in it" if isinstance(self.link, PlaceLink) else "of it"
        return [*self.each.steps(), (self, f"For each, give {what} of the {self.set.phrase()} {of}.")]

    def query(self, patterns: Patterns) -> Query:
        var, member = patterns.variable(self.each.noun()), patterns.variable(self.set.noun())
        link = f"{var} {self.link.path(patterns)} {member} ."
        inner = [*self.set.lines(patterns, member), link]
        if self.quantity is None:
            selected, value = f"(COUNT(DISTINCT {member}) AS ?number)", "COALESCE(?number, 0)"
        else:
            lines, expression = self.quantity.value(patterns, member)
            inner += lines
            selected, value = f"({_AGGREGATES[self.aggregate]}({expression}) AS ?number)", "?number"
        counted = f"OPTIONAL {{ SELECT {var} {selected} WHERE {block(inner)} GROUP BY {var} }}"
        body = [*self.each.lines(patterns, var), counted]
        return patterns.labeled(var, body, f" (MAX({value}) AS ?size)", "DESC(?size)", ("size",))

    def sentence(self, outcome: Outcome, shown: Shown) -> str:
        what = self.set.phrase()
        if self.quantity is not None:
            what = f"{self.aggregate} {self.quantity.words} of {what}"
        sizes = [number_words(row["size"]["value"]) if "size" in row else "none" for row in outcome.rows]
        pairs = [f"{label}: {size}" for label, size in zip(outcome.labels, sizes, strict=True)]
        return f"{_capital(what)} of each of the {self.each.phrase()}: {enumerate_labels(pairs)}."


def _entities(patterns: Patterns, node: Set, columns: Sequence[Quantity]) -> Query:
    var = patterns.variable(node.noun())
    body: Lines = node.lines(patterns, var)
    names, selected = [], ""
    for quantity in columns:
        lines, expression = quantity.value(patterns, var)
        column = patterns.variable("column")
        body.append(f"OPTIONAL {{ {' '.join(lines)} BIND({quantity.scaled(expression)} AS {column}) }}")
        name = patterns.variable("value")
        selected += f" (MIN({column}) AS {name})"
        names.append(name[1:])
    return patterns.labeled(var, body, selected, "?label", tuple(names))


def _check_value(quantity: Quantity, node: Set, typing: Typing) -> None:
    typing.need(typing.of(node), quantity.types(typing), "has no such value")


def _check_aggregate(aggregate: Aggregate, quantity: Quantity | None, typing: Typing) -> None:
    kind = None if quantity is None else quantity.kind(typing)
    if aggregate in (Aggregate.SUM, Aggregate.AVERAGE) and kind is not QuantityKind.NUMBER:
        raise PlanError(f'"{aggregate}" needs a quantity of numbers.')
    if aggregate is not Aggregate.COUNT and kind in (None, QuantityKind.TEXT):
        raise PlanError(f'"{aggregate}" needs a quantity of numbers or dates.')


def _compared_with(node: Set) -> list[Set]:
    return [part.to for part in node.sets if isinstance(part, CompareTo)] if isinstance(node, And) else []


def _names(nodes: Sequence[Set]) -> list[Term]:
    return [entity for node in nodes if (entity := node.name()) is not None]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _rank(value: str) -> tuple[float, str]:
    """What values are ordered by: as numbers, or as dates in ISO 8601."""
    try:
        return float(value), ""
    except ValueError:
        return 0.0, value

"""From a checked plan to a SPARQL query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from pyoxigraph import NamedNode

from ontology import Schema
from sparql.ask.compile.paths import Paths
from sparql.ask.compile.patterns import NAMES, Patterns
from sparql.ask.compile.sparql_text import Writer, path
from sparql.ask.places import StatedPlaces
from sparql.ask.plan.nodes import (
    Aggregate,
    Aggregation,
    ClassOf,
    Count,
    Difference,
    DistanceTo,
    EarliestOf,
    Every,
    Exists,
    Group,
    Kind,
    Link,
    List,
    Minus,
    Named,
    Operation,
    Plan,
    Quantity,
    Set,
    Size,
    SizeOf,
    Table,
    Term,
    Values,
)
from sparql.ask.plan.typing import QuantityKind

__all__ = ["Compiler", "Query", "Result"]


class Result(StrEnum):
    """What a query returns: entities (perhaps with values), values alone, or a truth value."""

    ENTITIES = "entities"
    VALUES = "values"
    TRUTH = "truth"


@dataclass(frozen=True)
class Query:
    """A compiled plan: the text, and the columns of its rows.

    `variable` is the column of the result (without its question mark); entities also have `label` and `wkt`.
    `columns` are further columns with values, such as a measure.
    """

    text: str
    variable: str
    result: Result
    limit: int
    columns: tuple[str, ...] = ()

    def first(self, count: int) -> Query:
        """Return the query for the first rows alone."""
        least = min(count, self.limit)
        return replace(self, text=self.text.removesuffix(f"LIMIT {self.limit}\n") + f"LIMIT {least}\n")


_AGGREGATES: Final = {
    Aggregate.SUM: "SUM",
    Aggregate.AVERAGE: "AVG",
    Aggregate.LEAST: "MIN",
    Aggregate.MOST: "MAX",
    Aggregate.COUNT: "COUNT",
}


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
        self._paths = Paths(schema, places or StatedPlaces.of(schema), used)
        self._limit = limit

    def compile(self, plan: Plan, kind: Callable[[Quantity], QuantityKind]) -> Query:
        """Return the query that answers a plan; `kind` gives the kind of a quantity's values."""
        patterns = Patterns(Writer(self._schema.prefixes), self._paths, kind)
        match plan:
            case List(node, limit):
                return self._entities(patterns, node, (), limit)
            case Table(node, columns):
                return self._entities(patterns, node, columns)
            case Values(quantity, node):
                return self._values(patterns, node, quantity)
            case Count(node):
                var = patterns.variables.name(_noun(node))
                body = patterns.members(node, var)
                select = f"SELECT (COUNT(DISTINCT {var}) AS ?count)"
                return self._query(patterns, f"{select}\n{_where(body)}", "count", Result.VALUES)
            case Exists(node):
                body = patterns.members(node, patterns.variables.name(_noun(node)))
                return self._query(patterns, f"ASK {_where(body)[6:]}", "", Result.TRUTH)
            case Every(node, within):
                var = patterns.variables.name(_noun(node))
                others = " ".join(patterns.members(Minus(node, within), var))
                counted = f"{{ SELECT (COUNT(DISTINCT {var}) AS ?others) WHERE {{ {others} }} }}"
                text = f"ASK {_where([counted, 'FILTER(?others = 0)'])[6:]}"
                return self._query(patterns, text, "", Result.TRUTH)
            case Aggregation():
                return self._aggregation(patterns, plan)
            case Difference():
                return self._difference(patterns, plan)
            case Group():
                return self._group(patterns, plan)
        raise AssertionError(plan)

    def exists(self, node: Set, kind: Callable[[Quantity], QuantityKind]) -> str:
        """Return the SPARQL ASK for whether a set has a member."""
        return self.compile(Exists(node), kind).text

    def has_value(self, node: Set, quantity: Quantity, kind: Callable[[Quantity], QuantityKind]) -> str:
        """Return the SPARQL ASK for whether any member of a set has a quantity."""
        patterns = Patterns(Writer(self._schema.prefixes), self._paths, kind)
        var = patterns.variables.name(_noun(node))
        lines = [*patterns.members(node, var), *patterns.value(quantity, var, few=patterns.is_few(node))[0]]
        return self._query(patterns, f"ASK {_where(lines)[6:]}", "", Result.TRUTH).text

    def coverage(self, node: Set, quantity: Quantity, kind: Callable[[Quantity], QuantityKind]) -> str:
        """Return the query for how many members a set has (`all`), and how many have a quantity (`known`)."""
        patterns = Patterns(Writer(self._schema.prefixes), self._paths, kind)
        var = patterns.variables.name(_noun(node))
        found, expression = patterns.value(quantity, var)
        lines = [
            *patterns.members(node, var),
            f"OPTIONAL {{ {' '.join(found)} BIND({expression} AS ?size) }}",
        ]
        known = f"(COUNT(DISTINCT IF(BOUND(?size), {var}, ?unbound)) AS ?known)"
        select = f"SELECT (COUNT(DISTINCT {var}) AS ?all) {known}"
        return self._query(patterns, f"{select}\n{_where(lines)}", "all", Result.VALUES).text

    def has_link(self, node: Set, link: Link, kind: Callable[[Quantity], QuantityKind]) -> str:
        """Return the SPARQL ASK for whether a link leads from any member of a set to anything."""
        patterns = Patterns(Writer(self._schema.prefixes), self._paths, kind)
        var, other = patterns.variables.name(_noun(node)), patterns.variables.name("anything")
        path_ = self._paths.link(patterns.writer, link).removesuffix("+")
        lines = [*patterns.members(node, var), f"{var} {path_} {other} ."]
        return self._query(patterns, f"ASK {_where(lines)[6:]}", "", Result.TRUTH).text

    def has_geometry(self, entity: Term) -> str:
        """Return the SPARQL ASK for whether an entity has a geometry."""
        patterns = Patterns(Writer(self._schema.prefixes), self._paths, lambda _: QuantityKind.NUMBER)
        text = f"ASK {{ {patterns.writer.iri(entity.iri)} {patterns.geometry()} ?geometry }}\n"
        return patterns.writer.header() + text

    def _entities(
        self, patterns: Patterns, node: Set, columns: tuple[Quantity, ...], limit: int | None = None
    ) -> Query:
        var = patterns.variables.name(_noun(node))
        body = patterns.members(node, var)
        names, selected = [], ""
        for quantity in columns:
            lines, expression = patterns.value(quantity, var)
            name = patterns.variables.name("column")
            body.append(f"OPTIONAL {{ {' '.join(lines)} BIND({_scaled(quantity, expression)} AS {name}) }}")
            selected += f" (MIN({name}) AS {patterns.variables.name('value')})"
            names.append(selected.rpartition("?")[2][:-1])
        query = self._labeled(patterns, var, body, selected, "?label", tuple(names))
        return query if limit is None else query.first(limit)

    def _values(self, patterns: Patterns, node: Set, quantity: Quantity) -> Query:
        var = patterns.variables.name(_noun(node))
        body = patterns.members(node, var)
        lines, expression = patterns.value(quantity, var, few=patterns.is_few(node))
        value = patterns.variables.name("value")
        body += [*lines, f"BIND({_scaled(quantity, expression)} AS {value})"]
        if isinstance(quantity, DistanceTo | EarliestOf):
            return self._labeled(patterns, var, body, f" (MIN({value}) AS ?size)", "?size", ("size",))
        if isinstance(node, Named) or isinstance(quantity, ClassOf):
            select = f"SELECT DISTINCT {value}\n{_where(body)}ORDER BY {value}\nLIMIT {self._limit}\n"
            return self._query(patterns, select, value[1:], Result.VALUES, (value[1:],))
        selected = f' (GROUP_CONCAT(DISTINCT {value}; SEPARATOR=", ") AS ?size)'
        if patterns.kind(quantity) is QuantityKind.NUMBER:
            selected = f" (MAX({value}) AS ?size)"
        return self._labeled(patterns, var, body, selected, "?label", ("size",))

    def _labeled(
        self,
        patterns: Patterns,
        var: str,
        body: list[str],
        selected: str,
        order: str,
        columns: tuple[str, ...],
    ) -> Query:
        names = path(patterns.writer.iri(iri) for iri in NAMES)
        lines = [
            *body,
            f"OPTIONAL {{ {var} {names} ?name }}",
            patterns.placed(var),
        ]
        text = (
            f"SELECT {var} (MIN(?name) AS ?label) (SAMPLE(?geometry) AS ?wkt){selected}\n{_where(lines)}"
            f"GROUP BY {var}\nORDER BY {order} {var}\nLIMIT {self._limit}\n"
        )
        return self._query(patterns, text, var[1:], Result.ENTITIES, columns)

    def _aggregation(self, patterns: Patterns, plan: Aggregation) -> Query:
        var, value = patterns.variables.name(_noun(plan.set)), patterns.variables.name("value")
        inner = patterns.per_member(plan.set, plan.quantity, var, value, most=True)
        aggregate = f"{_AGGREGATES[plan.aggregate]}({_scaled(plan.quantity, value)})"
        select = f"SELECT ({aggregate} AS ?result) (COUNT(*) AS ?of)"
        return self._query(
            patterns, f"{select}\n{_where([f'{{ {inner} }}'])}", "result", Result.VALUES, ("of",)
        )

    def _difference(self, patterns: Patterns, plan: Difference) -> Query:
        found = []
        for node in (plan.left, plan.right):
            var, value = patterns.variables.name(_noun(node)), patterns.variables.name("value")
            found.append((patterns.per_member(node, plan.quantity, var, value, most=True), value))
        values = [
            f"<http://www.w3.org/2001/XMLSchema#integer>(SUBSTR({value}, 1, 4))"
            if patterns.kind(plan.quantity) is QuantityKind.DATE
            else value
            for _, value in found
        ]
        if plan.operation is Operation.PER:
            difference = f"{values[0]} / {values[1]}"
        else:
            difference = _scaled(plan.quantity, f"ABS({values[0]} - {values[1]})")
        body = [*(f"{{ {inner} }}" for inner, _ in found), f"BIND({difference} AS ?result)"]
        return self._query(patterns, f"SELECT ?result\n{_where(body)}", "result", Result.VALUES)

    def _group(self, patterns: Patterns, plan: Group) -> Query:
        var, member = patterns.variables.name(_noun(plan.each)), patterns.variables.name(_noun(plan.set))
        link = f"{var} {self._paths.link(patterns.writer, plan.link)} {member} ."
        inner = [*patterns.members(plan.set, member), link]
        if plan.quantity is None:
            selected, value = f"(COUNT(DISTINCT {member}) AS ?number)", "COALESCE(?number, 0)"
        else:
            lines, expression = patterns.value(plan.quantity, member)
            inner += lines
            selected, value = f"({_AGGREGATES[plan.aggregate]}({expression}) AS ?number)", "?number"
        counted = f"OPTIONAL {{ SELECT {var} {selected} WHERE {{ {' '.join(inner)} }} GROUP BY {var} }}"
        body = [*patterns.members(plan.each, var), counted]
        return self._labeled(patterns, var, body, f" (MAX({value}) AS ?size)", "DESC(?size)", ("size",))

    def _query(
        self, patterns: Patterns, text: str, variable: str, result: Result, columns: tuple[str, ...] = ()
    ) -> Query:
        return Query(patterns.writer.header() + text, variable, result, self._limit, columns)


def _scaled(quantity: Quantity, expression: str) -> str:
    """Return an expression of meters in kilometers, of square meters in square kilometers."""
    if isinstance(quantity, DistanceTo) or quantity == SizeOf(Size.LENGTH):
        return f"{expression} / 1000"
    return f"{expression} / 1000000" if isinstance(quantity, SizeOf) else expression


def _where(lines: list[str]) -> str:
    return "WHERE {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def _noun(node: Set) -> str:
    """Return a name for the variable of a set: that of its first class."""
    if isinstance(node, Kind):
        return node.of.words
    parts = getattr(node, "sets", None) or [getattr(node, "set", None)]
    for part in parts:
        if isinstance(part, Set) and (found := _noun(part)) != "thing":
            return found
    return "thing"

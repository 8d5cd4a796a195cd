"""The answer as plain sentences, made only from the plan and the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ontology import Schema
from ontology.labels import local_name
from sparql.ask.answer.gaps import nodes_of
from sparql.ask.compile.compiler import Query, Result
from sparql.ask.plan.nodes import (
    Aggregation,
    And,
    Arithmetic,
    Count,
    Difference,
    DistanceTo,
    Exists,
    Group,
    Kind,
    List,
    Minus,
    Near,
    Plan,
    Quantity,
    Related,
    Set,
    SideOf,
    Size,
    SizeOf,
    Table,
    Top,
    ValueOf,
    Values,
)
from sparql.ask.plan.wording import enumerate_labels, kilometers, phrase, quantity_words, restriction_words

__all__ = ["AnswerWriter", "count_of", "is_empty", "labels_of", "rows_of"]

Row = Mapping[str, Mapping[str, str]]


def rows_of(results: Mapping[str, Any]) -> Sequence[Row]:
    """Return the rows with a result; the row of an aggregate over nothing has none."""
    rows: Sequence[Row] = results.get("results", {}).get("bindings", ())
    return [row for row in rows if row]


def count_of(query: Query, results: Mapping[str, Any]) -> int:
    """Return how many things were found: the count, 1 for yes, else the number of rows."""
    if query.result is Result.TRUTH:
        return int(bool(results.get("boolean")))
    rows = rows_of(results)
    if query.variable == "count":
        return int(rows[0]["count"]["value"]) if rows and "count" in rows[0] else 0
    if query.columns == ("of",):
        return int(rows[0]["of"]["value"]) if rows else 0
    return sum(query.variable in row for row in rows)


def is_empty(query: Query, results: Mapping[str, Any]) -> bool:
    """Return whether nothing was found: no rows, a count of zero, or no."""
    return count_of(query, results) == 0


def labels_of(query: Query, results: Mapping[str, Any]) -> list[str]:
    """Return a name for each row: its label, else the literal, else the end of the IRI."""
    labels = []
    for row in rows_of(results):
        term = row.get(query.variable)
        if term is not None:
            name = local_name(term["value"]) if term["type"] == "uri" else term["value"]
            labels.append(row["label"]["value"] if "label" in row else name)
    return labels


class AnswerWriter:
    """Writes answers over one ontology, which knows the units of values."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def state(self, plan: Plan, query: Query, results: Mapping[str, Any]) -> str:
        """Return sentences for what was found, including zero, and for what was assumed."""
        return " ".join([self._sentence(plan, query, results), *_assumptions(plan)])

    def _sentence(self, plan: Plan, query: Query, results: Mapping[str, Any]) -> str:
        match plan:
            case List(node):
                return _listed(node, query, labels_of(query, results))
            case Table(node, columns):
                return self._table(node, columns, query, results)
            case Count(node):
                return _counted(node, count_of(query, results))
            case Exists(node):
                holds = bool(results.get("boolean"))
                return f"{'Yes' if holds else 'No'}: {_claim(node, holds=holds)}."
            case Values(quantity, node):
                return self._values(quantity, node, query, results)
            case Aggregation(aggregate, quantity, node):
                row = rows_of(results)[0]
                value = self.value(quantity, row["result"]["value"])
                return (
                    f"The {aggregate} {quantity_words(quantity)} of {phrase(node)} is {value}, "
                    f"of {int(row['of']['value']):,} with a value."
                )
            case Difference(quantity, left, right):
                value = self.value(quantity, rows_of(results)[0]["result"]["value"])
                words = quantity_words(quantity)
                return f"The {words} of {phrase(left)} and of {phrase(right)} differ by {value}."
            case Group(each, _, node, aggregate, measured):
                what = (
                    f"{aggregate} {quantity_words(measured)} of {phrase(node)}" if measured else phrase(node)
                )
                rows = rows_of(results)
                sizes = [_shown(row["size"]["value"]) if "size" in row else "none" for row in rows]
                pairs = [
                    f"{label}: {size}" for label, size in zip(labels_of(query, results), sizes, strict=True)
                ]
                return (
                    f"{what[:1].upper()}{what[1:]} of each of the {phrase(each)}: {enumerate_labels(pairs)}."
                )
        raise AssertionError(plan)

    def value(self, quantity: Quantity, value: str) -> str:
        """Return a value with its unit; distances and sizes are in kilometers and square kilometers."""
        if isinstance(quantity, DistanceTo) or quantity == SizeOf(Size.LENGTH):
            return kilometers(float(value))
        if isinstance(quantity, SizeOf):
            return f"{kilometers(float(value))}²"
        if isinstance(quantity, Arithmetic | ValueOf):
            shown = _shown(value)
            known = (
                self._schema.properties.get(quantity.path[-1].iri) if isinstance(quantity, ValueOf) else None
            )
            unit = known.unit.value.rpartition("/")[2] if known is not None and known.unit is not None else ""
            return f"{shown} {_UNITS.get(unit, unit)}".strip()
        return value

    def _table(self, node: Set, columns: Sequence[Quantity], query: Query, results: Mapping[str, Any]) -> str:
        described = []
        for label, row in zip(labels_of(query, results), rows_of(results), strict=True):
            cells = (row.get(name, {}).get("value") for name in query.columns)
            stated = [
                f"{quantity_words(quantity)} {self.value(quantity, cell) if cell else 'not recorded'}"
                for quantity, cell in zip(columns, cells, strict=True)
            ]
            described.append(f"{label}: {', '.join(stated)}")
        return f"{enumerate_labels(described) or f'The graph has no {phrase(node)}'}."

    def _unit(self, quantity: Quantity) -> str:
        known = self._schema.properties.get(quantity.path[-1].iri) if isinstance(quantity, ValueOf) else None
        return known.unit.value.rpartition("/")[2] if known is not None and known.unit is not None else ""

    def _values(self, quantity: Quantity, node: Set, query: Query, results: Mapping[str, Any]) -> str:
        rows, labels = rows_of(results), labels_of(query, results)
        column = query.columns[0] if query.columns else query.variable
        values = [
            self.value(quantity, row[column]["value"]) if column in row else "not recorded" for row in rows
        ]
        if query.result is Result.VALUES or len(values) == 1:
            return f"{phrase(node, one=True)}: {quantity_words(quantity)} {enumerate_labels(values)}."
        pairs = [f"{label}: {value}" for label, value in zip(labels, values, strict=True)]
        return f"{quantity_words(quantity)} of {phrase(node)}: {enumerate_labels(pairs)}."


_UNITS = {"M": "m", "KiloM": "km", "KiloM2": "km²", "M2": "m²", "NUM": "", "KiloGM": "kg", "GM": "g"}


def _grouped(plan: Group, query: Query, results: Mapping[str, Any]) -> str:
    what = phrase(plan.set)
    if plan.quantity is not None:
        what = f"{plan.aggregate} {quantity_words(plan.quantity)} of {what}"
    sizes = [_shown(row["size"]["value"]) if "size" in row else "none" for row in rows_of(results)]
    named = zip(labels_of(query, results), sizes, strict=True)
    pairs = enumerate_labels([f"{label}: {size}" for label, size in named])
    return f"{what[:1].upper()}{what[1:]} of each of the {phrase(plan.each)}: {pairs}."


def _shown(value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{number:,.3f}".rstrip("0").rstrip(".") if not value.isdigit() or len(value) != 4 else value


def _listed(node: Set, query: Query, labels: Sequence[str]) -> str:
    if not labels:
        return f"The graph has no {phrase(node)}."
    parts = node.sets if isinstance(node, And) else (node,)
    top = next((part for part in parts if isinstance(part, Top)), None)
    if top is not None and all(isinstance(part, Top | Kind) for part in parts):
        node = top
        verb = "are" if len(labels) > 1 else "is"
        return f"{enumerate_labels(labels)} {verb} {phrase(node)}."
    if isinstance(node, Related | Near | SideOf):
        return f"The graph gives for {phrase(node)}: {enumerate_labels(labels)}."
    full = len(labels) >= query.limit
    words = phrase(node, one=len(labels) == 1)
    number = f"{'at least ' if full else ''}{len(labels):,}"
    more = f" Only the first {query.limit:,} were fetched." if full else ""
    return f"The graph has {number} {words}: {enumerate_labels(labels)}.{more}"


def _counted(node: Set, number: int) -> str:
    words = phrase(node, one=number == 1)
    if number == 0:
        return f"The graph has no {words}."
    return f"There {'is' if number == 1 else 'are'} {number:,} {words} in the graph."


def _claim(node: Set, *, holds: bool) -> str:
    parts = node.sets if isinstance(node, And) else (node,)
    head, rest = parts[0], parts[1:]
    if isinstance(node, Minus):
        return f"{phrase(node.set, one=True)} is {'not ' if holds else ''}{restriction_words(node.without)}"
    if not rest or not hasattr(head, "entity"):
        return f"the graph has {'' if holds else 'no '}{phrase(node)}"
    words = " and ".join(map(restriction_words, rest))
    if words.startswith("with "):
        return f"{phrase(head)} {'has' if holds else 'does not have'} {words.removeprefix('with ')}"
    return f"{phrase(head)} is {'' if holds else 'not '}{words}"


def _assumptions(plan: Plan) -> Iterator[str]:
    for part in nodes_of(plan):
        if isinstance(part, Near) and part.assumed:
            km = kilometers(part.meters / 1000)
            yield f"The question gives no distance, so near {phrase(part.of)} was taken as {km}."

"""The answer as plain sentences, made only from the plan and the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pyoxigraph import NamedNode

from ontology import Schema
from ontology.labels import local_name
from sparql.ask.answer.gaps import nodes_of
from sparql.ask.answer.shown import Coverage, Shown, recorded_words
from sparql.ask.compile.compiler import Query, Result
from sparql.ask.plan.nodes import (
    Aggregate,
    Aggregation,
    And,
    Arithmetic,
    ClassOf,
    CompareTo,
    Converted,
    Count,
    CountOf,
    Difference,
    DistanceTo,
    EarliestOf,
    Every,
    Exists,
    Group,
    Kind,
    List,
    Minus,
    Named,
    Near,
    Operation,
    Or,
    PlaceLink,
    Plan,
    Position,
    PropertyLink,
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
from sparql.ask.plan.wording import (
    compared_words,
    phrase,
    place_words,
    quantity_words,
    restriction_words,
)
from sparql.ask.plan.words import (
    enumerate_labels,
    is_dated,
    is_participle,
    kilometers,
    link_words,
    number_words,
    with_article,
)

__all__ = ["AnswerWriter", "count_of", "is_empty", "labels_of", "rows_of"]

_NAMED: Final = 3
_AGGREGATES: Final = {Aggregate.SUM: "total", Aggregate.MOST: "greatest"}
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

    def state(self, plan: Plan, query: Query, results: Mapping[str, Any], shown: Shown | None = None) -> str:
        """Return sentences for what was found, including zero, and for what was measured or assumed."""
        shown = shown or Shown()
        sentences = [self._sentence(plan, query, results, shown), *_known(shown.coverage)]
        return " ".join([*sentences, *_measured(plan, query, results, shown), *_assumptions(plan)])

    def _sentence(self, plan: Plan, query: Query, results: Mapping[str, Any], shown: Shown) -> str:
        match plan:
            case List(node, _):
                return _listed(node, query, self._valued(node, query, results, shown))
            case Table(node, columns):
                return self._table(node, columns, query, results)
            case Count(node):
                return _counted(node, count_of(query, results))
            case Exists(node):
                holds = bool(results.get("boolean"))
                return f"{'Yes' if holds else 'No'}: {self._claim(node, shown, holds=holds)}."
            case Every(node, within):
                holds = bool(results.get("boolean"))
                verb = "are" if holds else "are not all"
                claim = f"{'all ' if holds else ''}{phrase(node)} {verb} {restriction_words(within)}"
                return f"{'Yes' if holds else 'No'}: {claim}."
            case Values(quantity, node):
                return self._values(quantity, node, query, results)
            case Aggregation(aggregate, quantity, node):
                row = rows_of(results)[0]
                value = self.value(quantity, row["result"]["value"])
                return (
                    f"The {_AGGREGATES.get(aggregate, aggregate)} {quantity_words(quantity)} "
                    f"of {phrase(node)} is {value}, "
                    f"of {int(row['of']['value']):,} with a value."
                )
            case Difference(quantity, left, right):
                value = self.value(quantity, rows_of(results)[0]["result"]["value"])
                words = quantity_words(quantity)
                if plan.operation is Operation.PER:
                    times = number_words(rows_of(results)[0]["result"]["value"])
                    return f"The {words} of {phrase(left)} is {times} times that of {phrase(right)}."
                if isinstance(quantity, EarliestOf) or is_dated(words):
                    years = f"{value} year{'' if value == '1' else 's'}"
                    ends = [phrase(end) + self._aside_of(end, shown) for end in (left, right)]
                    return f"{ends[0]} and {ends[1]} are {years} apart."
                return f"The {words} of {phrase(left)} and of {phrase(right)} differ by {value}."
            case Group(each, _, node, aggregate, measured):
                what = (
                    f"{aggregate} {quantity_words(measured)} of {phrase(node)}" if measured else phrase(node)
                )
                rows = rows_of(results)
                sizes = [number_words(row["size"]["value"]) if "size" in row else "none" for row in rows]
                pairs = [
                    f"{label}: {size}" for label, size in zip(labels_of(query, results), sizes, strict=True)
                ]
                return (
                    f"{what[:1].upper()}{what[1:]} of each of the {phrase(each)}: {enumerate_labels(pairs)}."
                )
        raise AssertionError(plan)

    def _valued(self, node: Set, query: Query, results: Mapping[str, Any], shown: Shown) -> list[str]:
        """The labels of rows, each with the value that it was chosen by: "High Bridge (1848)", by rank."""
        labels = []
        for label, row in zip(labels_of(query, results), rows_of(results), strict=True):
            labels.append(label + self._aside(row[query.variable]["value"], shown))
        values = [shown.values.get(row[query.variable]["value"]) for row in rows_of(results)]
        known = [value for value in values if value is not None]
        if not isinstance(node, Top) or len(known) < len(labels):
            return labels
        ranks = {label: _rank(value) for label, value in zip(labels, known, strict=True)}
        return sorted(labels, key=lambda label: ranks[label], reverse=node.most)

    def _aside(self, iri: str, shown: Shown) -> str:
        if shown.quantity is None or iri not in shown.values:
            return ""
        return f" ({self.value(shown.quantity, shown.values[iri])})"

    def _aside_of(self, node: Set, shown: Shown) -> str:
        return self._aside(node.entity.iri.value, shown) if isinstance(node, Named) else ""

    def _claim(self, node: Set, shown: Shown, *, holds: bool) -> str:
        parts = node.sets if isinstance(node, And) else (node,)
        head, rest = parts[0], parts[1:]
        if isinstance(node, Minus):
            without = restriction_words(node.without, one=True)
            return f"{phrase(node.set, one=True)} is {'not ' if holds else ''}{without}"
        if not rest or not isinstance(head, Named):
            return f"the graph has {'' if holds else 'no '}{phrase(node)}"
        words = " and ".join(self._part_claim(part, shown, holds=holds) for part in rest)
        return f"{phrase(head)}{self._aside(head.entity.iri.value, shown)} {words}"

    def _part_claim(self, part: Set, shown: Shown, *, holds: bool) -> str:
        match part:
            case Kind():
                words = phrase(part, one=True)
                return f"is {'' if holds else 'not '}a{'n' if words[:1] in 'aeiou' else ''} {words}"
            case Related(PlaceLink(place), to):
                return place_words(place, phrase(to), holds=holds)
            case CompareTo(quantity, op, Named(entity)):
                words = compared_words(quantity, op, entity.words + self._aside(entity.iri.value, shown))
            case _:
                words = restriction_words(part, one=True)
        if words.startswith("with "):
            return f"{'has' if holds else 'does not have'} {words.removeprefix('with ')}"
        if words.startswith("that "):
            claim = words.removeprefix("that ")
            return claim if holds else f"does not fit: {claim}"
        if is_participle(words.partition(" ")[0]):
            return f"was {'' if holds else 'not '}{words}"
        return f"is {'' if holds else 'not '}{words}"

    def value(self, quantity: Quantity, value: str) -> str:
        """Return a value with its unit; distances and sizes are in kilometers and square kilometers."""
        if isinstance(quantity, DistanceTo) or quantity == SizeOf(Size.LENGTH):
            return kilometers(float(value))
        if isinstance(quantity, SizeOf):
            return f"{kilometers(float(value))}²"
        if isinstance(quantity, Position):
            return f"{float(value):.4f}°"
        if isinstance(quantity, Converted):
            return number_words(value, quantity.unit)
        if isinstance(quantity, ClassOf):
            known = self._schema.classes.get(NamedNode(value))
            return with_article(known.label if known is not None and known.label else local_name(value))
        if isinstance(quantity, CountOf):
            return f"{number_words(value)} {phrase(quantity.set, one=value == '1')}"
        if isinstance(quantity, Arithmetic | ValueOf):
            return number_words(value, self._unit(quantity))
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
            found = enumerate_labels(values)
            if isinstance(quantity, DistanceTo):
                return f"The distance from {phrase(node, one=True)} to {phrase(quantity.to)} is {found}."
            of = phrase(node, one=True)
            if isinstance(quantity, ClassOf):
                named = next((one for one in nodes_of(node) if isinstance(one, Named)), None)
                return f"{named.entity.words if named else of} is {found}."
            words = quantity.size if isinstance(quantity, SizeOf) else quantity_words(quantity)
            return f"{of[:1].upper()}{of[1:]}: {words} {found}."
        pairs = [f"{label}: {value}" for label, value in zip(labels, values, strict=True)]
        return f"{quantity_words(quantity)} of {phrase(node)}: {enumerate_labels(pairs)}."


def _known(coverage: Coverage | None) -> Iterator[str]:
    """Of how many of the compared things the value is known, where not of all."""
    if coverage is None or coverage.known == coverage.of:
        return
    yield (
        f"Of {coverage.of:,} {phrase(coverage.set, one=coverage.of == 1)}, {coverage.known:,} "
        f"{'has' if coverage.known == 1 else 'have'} {recorded_words(coverage.quantity)}."
    )


def _measured(plan: Plan, query: Query, results: Mapping[str, Any], shown: Shown) -> Iterator[str]:
    """Whose sizes are not stated, but measured of the geometry."""
    quantities = [node for node in nodes_of(plan) if isinstance(node, SizeOf)]
    if quantities:
        yield f"The {quantities[0].size} is measured from the geometry."
    elif shown.measured and isinstance(shown.quantity, ValueOf):
        words = quantity_words(shown.quantity)
        if len(shown.measured) == len(shown.values):
            yield f"The {words} is measured from the geometry, since none is stated."
            return
        labels = {}
        if query.result is Result.ENTITIES:
            rows = (row[query.variable]["value"] for row in rows_of(results))
            labels = dict(zip(rows, labels_of(query, results), strict=True))
        named = {
            node.entity.iri.value: node.entity.words for node in nodes_of(plan) if isinstance(node, Named)
        }
        whose = [label for iri, label in {**named, **labels}.items() if iri in shown.measured]
        of = enumerate_labels(whose) if len(whose) <= _NAMED else f"{len(whose)} of those shown"
        yield f"The {words} of {of} is measured from the geometry, since none is stated."


def _listed(node: Set, query: Query, labels: Sequence[str]) -> str:
    if not labels:
        return f"The graph has no {phrase(node)}."
    parts = node.sets if isinstance(node, And) else (node,)
    top = next((part for part in parts if isinstance(part, Top)), None)
    if top is not None and all(isinstance(part, Top | Kind) for part in parts):
        node = top
        verb = "is" if len(labels) == 1 else "are" if top.count > 1 else "are equal: each is"
        if isinstance(top.set, Or) and all(isinstance(one, Named) for one in top.set.sets):
            of = enumerate_labels([phrase(one) for one in top.set.sets])
            words = phrase(top).removesuffix(phrase(top.set)).removesuffix(" of ")
            return f"Of {of}, {enumerate_labels(labels)} {verb} {words}."
        return f"{enumerate_labels(labels)} {verb} {phrase(node)}."
    if isinstance(node, Related | Near | SideOf):
        words = _headless(node)
        return f"{words[:1].upper()}{words[1:]}: {enumerate_labels(labels)}."
    full = len(labels) >= query.limit
    words = phrase(node, one=len(labels) == 1)
    number = f"{'at least ' if full else ''}{len(labels):,}"
    more = f" Only the first {query.limit:,} were fetched." if full else ""
    return f"{number[:1].upper()}{number[1:]} {words}: {enumerate_labels(labels)}.{more}"


def _rank(value: str) -> tuple[float, str]:
    """What values are ordered by: as numbers, or as dates in ISO 8601."""
    try:
        return float(value), ""
    except ValueError:
        return 0.0, value


def _headless(node: Set) -> str:
    """What things are found by, without a noun: "Bordering the Bronx"."""
    match node:
        case Related(PropertyLink(term, True), Named(entity)):
            return f"{entity.words}, {term.words.removeprefix('has ')}"
        case Related(PropertyLink(term), _) if link_words(term).startswith("that "):
            return phrase(node)
    words = restriction_words(node, one=True)
    return phrase(node) if words.startswith(("with ", "that ")) else words


def _counted(node: Set, number: int) -> str:
    words = phrase(node, one=number == 1)
    if number == 0:
        return f"The graph has no {words}."
    return f"There {'is' if number == 1 else 'are'} {number:,} {words} in the graph."


def _assumptions(plan: Plan) -> Iterator[str]:
    for part in nodes_of(plan):
        if isinstance(part, Near) and part.assumed:
            km = kilometers(part.meters / 1000)
            yield f"The question gives no distance, so near {phrase(part.of)} was taken as {km}."

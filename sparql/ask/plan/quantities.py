"""The quantities of plans: values of properties, measures of geometries, counts, and what is worked out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import NamedNode

from geo.measure.units import UNITS
from geo.vocabulary import UOM
from ontology import Schema
from ontology.labels import local_name
from sparql.ask.errors import PlanError
from sparql.ask.plan.nodes import NUMBERS, Lines, Link, Quantity, Ranked, Set, nodes_of
from sparql.ask.plan.sparql import Patterns, block
from sparql.ask.plan.terms import (
    Op,
    Operation,
    QuantityKind,
    Side,
    Size,
    Term,
    enumerate_labels,
    is_dated,
    is_participle,
    kilometers,
    number_words,
    with_article,
)
from sparql.ask.plan.typing import Types, Typing, both
from sparql.model.vocabulary import GEO, RDFS

DATE_WORDS: Final = {
    Op.LESS: "before",
    Op.AT_MOST: "until",
    Op.EQUAL: "in",
    Op.AT_LEAST: "since",
    Op.MORE: "after",
}
_COMPARED: Final = {Size.AREA: ("smaller", "larger"), Size.LENGTH: ("shorter", "longer")}
_EXTREMES: Final = {Size.AREA: ("smallest", "largest"), Size.LENGTH: ("shortest", "longest")}
_GEOF: Final = "http://www.opengis.net/def/function/geosparql/"
_METER: Final = NamedNode(UOM + "metre")
_DISTANCE: Final = NamedNode(f"{_GEOF}distance")
_SIZES: Final = {
    Size.AREA: NamedNode(f"{_GEOF}metricArea"),
    Size.LENGTH: NamedNode(f"{_GEOF}metricLength"),
}
CENTROID: Final = NamedNode(f"{_GEOF}centroid")
# A thing is on a side of a place if its center is beyond all of the place: the function of the center, the
# comparison, and the function of the place.
SIDES: Final = {
    "north": (NamedNode(f"{_GEOF}minY"), ">", NamedNode(f"{_GEOF}maxY")),
    "south": (NamedNode(f"{_GEOF}maxY"), "<", NamedNode(f"{_GEOF}minY")),
    "east": (NamedNode(f"{_GEOF}minX"), ">", NamedNode(f"{_GEOF}maxX")),
    "west": (NamedNode(f"{_GEOF}maxX"), "<", NamedNode(f"{_GEOF}minX")),
}
_OPERATIONS: Final = {
    Operation.PLUS: "+", Operation.MINUS: "-", Operation.TIMES: "*", Operation.PER: "/"
}  # fmt: skip
_KILOMETER: Final = 1000.0


class _Sized(Quantity):
    """What is or stands for a size of the geometry, which has comparatives of its own."""

    def bounded(self, test: Op, value: str) -> str:
        if self.measures is not None and test in (Op.LESS, Op.MORE):
            return f"{_COMPARED[self.measures][test is Op.MORE]} than {value}"
        return super().bounded(test, value)

    def compared(self, test: Op, than: str) -> str:
        if self.measures is not None and test in (Op.LESS, Op.MORE):
            return f"{_COMPARED[self.measures][test is Op.MORE]} than {than}"
        return super().compared(test, than)

    def ranked(self, top: Ranked) -> str:
        if self.measures is None:
            return super().ranked(top)
        return _extreme(top, _EXTREMES[self.measures][top.most])


@dataclass(frozen=True)
class ValueOf(_Sized):
    """The value of a property, or of the last property of a chain of them.

    With `measured`, the size of the geometry in the property's unit, where no value is stated.
    """

    path: tuple[Term, ...]
    measured: Size | None = None

    @property
    def words(self) -> str:
        return " ".join(term.words for term in self.path)

    @property
    def measures(self) -> Size | None:
        return self.measured

    @property
    def query_unit(self) -> str:
        return self.path[-1].unit

    def types(self, typing: Typing) -> Types:
        types = typing.with_value(self.path[-1])
        if self.measured is not None and types is not None:
            types |= typing.shaped
        for step in reversed(self.path[:-1]):
            types = typing.linked(step, types, inverse=False)
        return types

    def kind(self, typing: Typing) -> QuantityKind:
        return typing.value_kind(self.path[-1].iri)

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        if self.measured is not None:
            return self._stated_or_measured(patterns, self.measured, var)
        value = patterns.variable(self.path[-1].words)
        return _dated(self, patterns, [f"{var} {patterns.chain(self.path)} {value} ."], value, few=few)

    def _stated_or_measured(self, patterns: Patterns, size: Size, var: str) -> tuple[Lines, str]:
        term, iri, name = self.path[-1], patterns.iri, patterns.variable
        stated, here, value = name(f"stated {term.words}"), name("here wkt"), name(term.words)
        steps = patterns.property_path(term.iri)
        default, any_ = map(iri, (GEO.hasDefaultGeometry, GEO.hasGeometry))
        factor = UNITS[term.unit].factor if term.unit in UNITS else 1
        measured = f"{iri(_SIZES[size])}({here}) / {factor:f}"
        lines = [
            # Without it, both optional parts would be joined with everything where nothing else binds it.
            f"{var} {steps}|{default}|{any_} {name('given')} .",
            f"OPTIONAL {{ {var} {steps} {stated} }}",
            f"OPTIONAL {{ {var} {patterns.geometry()} {here} }}",
            f"BIND(COALESCE({stated}, {measured}) AS {value})",
            f"FILTER({value} > 0)",
        ]
        return lines, value

    def shown(self, value: str, schema: Schema) -> str:
        known = schema.properties.get(self.path[-1].iri)
        unit = known.unit.value.rpartition("/")[2] if known is not None and known.unit is not None else ""
        return number_words(value, unit)

    def before_bound(self, *, dated: bool) -> str:
        if dated and is_participle(self.path[-1].words):
            return self.words
        return super().before_bound(dated=dated)

    def compared(self, test: Op, than: str) -> str:
        strict = self.measured is not None and test in (Op.LESS, Op.MORE)
        if strict or not is_dated(self.words):
            return super().compared(test, than)
        by = f"the same year as {than}" if test is Op.EQUAL else than
        words = self.words if is_participle(self.words) else f"with {with_article(self.words)}"
        return f"{words} {DATE_WORDS[test]} {by}"

    def ranked(self, top: Ranked) -> str:
        if self.measured is not None or not is_participle(self.words):
            return super().ranked(top)
        if top.nth:
            order = "latest" if top.most else "earliest"
            return f"the {top.nth}{top.things} by the date {self.words} ({order} first)"
        return f"the {top.number}{top.things} {self.words} {'last' if top.most else 'first'}"

    def recorded(self) -> str:
        last = self.path[-1].words
        if is_participle(last):
            return f"a recorded date ({last})"
        if self.measured is not None:
            return f"{with_article(last)} that is recorded or can be measured"
        return super().recorded()


@dataclass(frozen=True)
class EarliestOf(Quantity):
    """The earliest date of several properties: when something began to be."""

    least_counts = True

    properties: tuple[Term, ...]

    @property
    def words(self) -> str:
        return f"first date ({self._names})"

    @property
    def _names(self) -> str:
        return ", ".join(term.words for term in self.properties)

    def types(self, typing: Typing) -> Types:
        return frozenset(c for p in self.properties for c in typing.subjects(p.iri))

    def kind(self, typing: Typing) -> QuantityKind:
        return QuantityKind.DATE

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        value = patterns.variable("date")
        steps = "|".join(patterns.property_path(term.iri) for term in self.properties)
        return _dated(self, patterns, [f"{var} {steps} {value} ."], value, few=few)

    def single(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        lines, expression = self.value(patterns, var)
        date = patterns.variable("earliest")
        body = " ".join(lines)
        return [f"{{ SELECT {var} (MIN({expression}) AS {date}) WHERE {{ {body} }} GROUP BY {var} }}"], date

    def before_bound(self, *, dated: bool) -> str:
        return "that began"

    def compared(self, test: Op, than: str) -> str:
        if test in (Op.LESS, Op.MORE):
            return f"{'newer' if test is Op.MORE else 'older'} than {than}"
        return super().compared(test, than)

    def ranked(self, top: Ranked) -> str:
        return _extreme(top, "newest" if top.most else "oldest")

    def recorded(self) -> str:
        return f"a recorded date ({self._names})"


@dataclass(frozen=True)
class DistanceTo(Quantity):
    """The distance to the nearest member of a set, in meters."""

    geometric = True
    least_counts = True
    query_unit = "M"
    answer_unit = "KiloM"

    to: Set

    @property
    def words(self) -> str:
        return f"distance to {self.to.phrase()}"

    def types(self, typing: Typing) -> Types:
        typing.need(typing.of(self.to), typing.shaped, "has no geometry")
        return typing.shaped

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        lines, there = geometry_of(patterns, self.to)
        here = patterns.variable("here wkt")
        lines.append(f"{var} {patterns.geometry()} {here} .")
        entity = self.to.name()
        if entity is not None:
            lines.append(f"FILTER({var} != {patterns.iri(entity.iri)})")
        return lines, f"{patterns.iri(_DISTANCE)}({here}, {there}, {patterns.iri(_METER)})"

    def scaled(self, expression: str) -> str:
        return f"{expression} / 1000"

    def written(self, value: str) -> str:
        return kilometers(float(value) / _KILOMETER)

    def shown(self, value: str, schema: Schema) -> str:
        return kilometers(float(value))

    def bounded(self, test: Op, value: str) -> str:
        return f"{NUMBERS[test]} {value} from {self.to.phrase()}"

    def compared(self, test: Op, than: str) -> str:
        if test in (Op.LESS, Op.MORE):
            return f"{'farther from' if test is Op.MORE else 'nearer to'} {self.to.phrase()} than {than}"
        return super().compared(test, than)

    def ranked(self, top: Ranked) -> str:
        far = "farthest from" if top.most else "nearest to"
        return f"the {top.number}{top.things} {top.nth}{far} {self.to.phrase()}"

    def stated(self, of: Set, values: Sequence[str]) -> str:
        ends = f"from {of.phrase(singular=True)} to {self.to.phrase()}"
        return f"The distance {ends} is {enumerate_labels(values)}."


@dataclass(frozen=True)
class SizeOf(_Sized):
    """The area (in square meters) or length (in meters) that is measured of the geometry."""

    geometric = True

    size: Size

    @property
    def words(self) -> str:
        return f"measured {self.size}"

    @property
    def measures(self) -> Size | None:
        return self.size

    @property
    def query_unit(self) -> str:
        return "M2" if self.size is Size.AREA else "M"

    @property
    def answer_unit(self) -> str:
        return "KiloM2" if self.size is Size.AREA else "KiloM"

    def types(self, typing: Typing) -> Types:
        return typing.shaped

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        here, sized = patterns.variable("here wkt"), patterns.variable(f"measured {self.size}")
        # A point has no size.
        bound = f"BIND({patterns.iri(_SIZES[self.size])}({here}) AS {sized})"
        return [f"{var} {patterns.geometry()} {here} .", bound, f"FILTER({sized} > 0)"], sized

    def scaled(self, expression: str) -> str:
        return f"{expression} / {1000 if self.size is Size.LENGTH else 1000000}"

    def written(self, value: str) -> str:
        if self.size is Size.LENGTH:
            return kilometers(float(value) / _KILOMETER)
        return f"{float(value) / 1e6:,.3g} km²"

    def shown(self, value: str, schema: Schema) -> str:
        return kilometers(float(value)) + ("²" if self.size is Size.AREA else "")

    def stated(self, of: Set, values: Sequence[str]) -> str:
        whose = of.phrase(singular=True)
        return f"{whose[:1].upper()}{whose[1:]}: {self.size} {enumerate_labels(values)}."

    def recorded(self) -> str:
        return f"{with_article(self.size)} that can be measured"


@dataclass(frozen=True)
class Position(Quantity):
    """How far to a side the center of the geometry is: its latitude or longitude, in degrees."""

    geometric = True

    side: Side

    @property
    def words(self) -> str:
        return "latitude" if self.side in (Side.NORTH, Side.SOUTH) else "longitude"

    def types(self, typing: Typing) -> Types:
        if self.side not in SIDES:
            raise PlanError(f"How far {self.side} is no number: a position is one of {', '.join(SIDES)}.")
        return typing.shaped

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        here = patterns.variable("here wkt")
        axis = patterns.iri(SIDES[self.side][0])
        return [f"{var} {patterns.geometry()} {here} ."], f"{axis}({patterns.iri(CENTROID)}({here}))"

    def shown(self, value: str, schema: Schema) -> str:
        return f"{float(value):.4f}°"

    def ranked(self, top: Ranked) -> str:
        return f"the {top.number}{top.nth}{self.side}ernmost {top.things}"


@dataclass(frozen=True)
class ClassOf(Quantity):
    """What a thing is: the class that is stated for it, without those above it."""

    @property
    def words(self) -> str:
        return "class"

    def types(self, typing: Typing) -> Types:
        return None

    def kind(self, typing: Typing) -> QuantityKind:
        return QuantityKind.TEXT

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        class_, narrower = patterns.variable("class"), patterns.variable("narrower class")
        below = f"{narrower} {patterns.iri(RDFS.subClassOf)}+ {class_}"
        inner = f"{var} a {narrower} . {below} . FILTER({narrower} != {class_})"
        return [f"{var} a {class_} .", f"FILTER NOT EXISTS {{ {inner} }}"], class_

    def shown(self, value: str, schema: Schema) -> str:
        known = schema.classes.get(NamedNode(value))
        return with_article(known.label if known is not None and known.label else local_name(value))

    def stated(self, of: Set, values: Sequence[str]) -> str:
        names = (node.name() for node in nodes_of(of) if isinstance(node, Set))
        named = next((entity.words for entity in names if entity is not None), None)
        return f"{named or of.phrase(singular=True)} is {enumerate_labels(values)}."


@dataclass(frozen=True)
class CountOf(Quantity):
    """How many members of a set a link leads to."""

    link: Link
    set: Set

    @property
    def words(self) -> str:
        return f"number of {self.set.phrase()}"

    def types(self, typing: Typing) -> Types:
        return self.link.types(typing, typing.of(self.set))

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        counted, member = patterns.variable("counted"), patterns.variable("member")
        body = [*self.set.lines(patterns, member), f"{var} {self.link.path(patterns)} {member} ."]
        subquery = (
            f"OPTIONAL {{ SELECT {var} (COUNT(DISTINCT {member}) AS {counted}) "
            f"WHERE {block(body)} GROUP BY {var} }}"
        )
        return [subquery], f"COALESCE({counted}, 0)"

    def shown(self, value: str, schema: Schema) -> str:
        return f"{number_words(value)} {self.set.phrase(singular=value == '1')}"

    def bounded(self, test: Op, value: str) -> str:
        counted = self.set.phrase(singular=value == "1")
        return self.link.counting(f"{NUMBERS[test]} {value} {counted}")

    def compared(self, test: Op, than: str) -> str:
        if test in (Op.LESS, Op.MORE):
            more = "more" if test is Op.MORE else "fewer"
            return f"{self.link.counting(f'{more} {self.set.phrase()}')} than {than}"
        return super().compared(test, than)

    def ranked(self, top: Ranked) -> str:
        counted = f"the {top.nth}{'most' if top.most else 'fewest'} {self.set.phrase()}"
        return f"the {top.number}{top.things} {self.link.counting(counted, singular=top.singular)}"


@dataclass(frozen=True)
class Arithmetic(Quantity):
    """An operation on two quantities of the same entity."""

    operation: Operation
    left: Quantity
    right: Quantity

    @property
    def words(self) -> str:
        return f"{self.left.words} {self.operation} {self.right.words}"

    def types(self, typing: Typing) -> Types:
        for part in (self.left, self.right):
            if part.kind(typing) is not QuantityKind.NUMBER:
                raise PlanError(f'"{part.words}" is no number: "{self.operation}" needs two numbers.')
        return both(self.left.types(typing), self.right.types(typing))

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        (some, left), (more, right) = self.left.value(patterns, var), self.right.value(patterns, var)
        return [*some, *more], f"({left} {_OPERATIONS[self.operation]} {right})"

    def shown(self, value: str, schema: Schema) -> str:
        return number_words(value)

    def bounded(self, test: Op, value: str) -> str:
        left, right = self.left, self.right
        if isinstance(left, DistanceTo) and isinstance(right, DistanceTo) and value == "0":
            nearer = "farther from" if test is Op.MORE else "nearer to"
            return f"{nearer} {left.to.phrase()} than to {right.to.phrase()}"
        return super().bounded(test, value)


@dataclass(frozen=True)
class Converted(Quantity):
    """A quantity in another unit, by its QUDT name: the value of Values alone."""

    quantity: Quantity
    unit: str

    @property
    def words(self) -> str:
        return self.quantity.words

    @property
    def answer_unit(self) -> str:
        return self.unit

    def types(self, typing: Typing) -> Types:
        return self.quantity.types(typing)

    def kind(self, typing: Typing) -> QuantityKind:
        return self.quantity.kind(typing)

    def value(self, patterns: Patterns, var: str, *, few: bool = False) -> tuple[Lines, str]:
        own = self.quantity.query_unit
        if own not in UNITS or self.unit not in UNITS or UNITS[own].quantity != UNITS[self.unit].quantity:
            raise PlanError(f"This value cannot be given in {self.unit}.")
        factor = float(UNITS[own].factor / UNITS[self.unit].factor)
        lines, expression = self.quantity.value(patterns, var)
        return lines, f"({expression} * {factor:.12g})"

    def shown(self, value: str, schema: Schema) -> str:
        return number_words(value, self.unit)


def geometry_of(patterns: Patterns, node: Set) -> tuple[Lines, str]:
    """Return lines that find the geometries of a set, and the variable of their texts."""
    there = patterns.variable("there wkt")
    entity = node.name()
    if entity is not None:
        return [f"{patterns.iri(entity.iri)} {patterns.geometry()} {there} ."], there
    thing = patterns.variable("there")
    lines = node.lines(patterns, thing)
    if any(line.startswith(("{", "FILTER")) for line in lines):
        # Joined in place, what restricts these things would be worked out again for each of the others.
        # Their class is repeated beside their geometry, where an index of geometries looks for it.
        lines = [f"{{ SELECT DISTINCT {thing} WHERE {block(lines)} }}", *node.class_lines(patterns, thing)]
    return [*lines, f"{thing} {patterns.geometry()} {there} ."], there


def _extreme(top: Ranked, extreme: str) -> str:
    # "the 3 oldest museums", but "the oldest of A or B"
    return f"the {top.number}{top.nth}{extreme} {'of ' if top.chosen else ''}{top.things}"


def _dated(
    quantity: Quantity, patterns: Patterns, lines: Lines, value: str, *, few: bool
) -> tuple[Lines, str]:
    if few:
        # What is optional is looked up for each thing; without BOUND, what has no value would stay.
        lines = [f"OPTIONAL {{ {' '.join(lines)} }}", f"FILTER(BOUND({value}))"]
    if quantity.kind(patterns.typing) is not QuantityKind.DATE:
        return lines, value
    # Other than a day, month or year (a period, a year before the year 0) is left out.
    return [*lines, f'FILTER(REGEX(STR({value}), "^[0-9]{{4}}(-|$)"))'], f"STR({value})"

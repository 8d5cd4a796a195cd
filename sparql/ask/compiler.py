"""From a checked plan to SPARQL that is valid and within the ontology by construction.

Instances of subclasses count (rdf:type/rdfs:subClassOf*), subproperties and declared inverses count, and
regions are transitive. The text contains only IRIs of linked things, numbers, and fixed words; nothing from
the question or a label is copied into it, except letters and digits into variable names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Literal, NamedNode

from extractors.english.values import is_dated
from ontology import OntologyProperty, Schema
from sparql.ask.checking import CheckedPlan, CheckedStep, Result
from sparql.ask.places import StatedPlaces
from sparql.ask.plan import ASSUMED_NEAREST, Bound, Choice, Extreme, Measure, Op, Side, Step
from sparql.ask.writing import Variables, Writer, path
from sparql.model.vocabulary import GEO, RDFS, SKOS, UKG

__all__ = ["Compiler", "Query"]

DEFAULT_KM: Final = 1.0
_NEAR_DISTANCE: Final = UKG.nearDistance
_NAMES: Final = (RDFS.label, SKOS.prefLabel, NamedNode("https://schema.org/name"))
_METRE: Final = NamedNode("http://www.opengis.net/def/uom/OGC/1.0/metre")
_GEOF: Final = "http://www.opengis.net/def/function/geosparql/"
_DISTANCE: Final = NamedNode(f"{_GEOF}distance")
# A function of one geometry in meters or square meters, and the divisor for kilometers.
_SIZES: Final = {
    Measure.AREA: (NamedNode(f"{_GEOF}metricArea"), 1_000_000),
    Measure.LENGTH: (NamedNode(f"{_GEOF}metricLength"), 1000),
}
# A thing is on a side of a place if its center is beyond all of the place: the function of the center, the
# comparison, and the function of the place.
_CENTROID: Final = NamedNode(f"{_GEOF}centroid")
_SIDES: Final = {
    "north": (NamedNode(f"{_GEOF}minY"), ">", NamedNode(f"{_GEOF}maxY")),
    "south": (NamedNode(f"{_GEOF}maxY"), "<", NamedNode(f"{_GEOF}minY")),
    "east": (NamedNode(f"{_GEOF}minX"), ">", NamedNode(f"{_GEOF}maxX")),
    "west": (NamedNode(f"{_GEOF}maxX"), "<", NamedNode(f"{_GEOF}minX")),
}
_CLASS_PATH: Final = "a/rdfs:subClassOf*"
_SIGNS: Final = {
    Bound.LESS: "<", Bound.AT_MOST: "<=", Bound.EQUAL: "=", Bound.AT_LEAST: ">=", Bound.MORE: ">",
}  # fmt: skip
# Dates are compared as ISO 8601 text, which works for any precision: a date in 1900 starts with "1900".
_DATE_TESTS: Final = {
    Bound.LESS: '{value} < "{date}"',
    Bound.AT_MOST: '({value} < "{date}" || STRSTARTS({value}, "{date}"))',
    Bound.EQUAL: 'STRSTARTS({value}, "{date}")',
    Bound.AT_LEAST: '{value} >= "{date}"',
    Bound.MORE: '({value} > "{date}" && !STRSTARTS({value}, "{date}"))',
}


@dataclass(frozen=True)
class Query:
    """A compiled plan: the text, the columns of its rows, and the assumed distances.

    `variable` is the column of the result (without its question mark); entities also have `label` and `wkt`,
    and a measure has `size`, in kilometers or square kilometers. `assumed_km` maps the number of a near step
    to its default distance.
    """

    text: str
    variable: str
    result: Result
    limit: int
    assumed_km: tuple[tuple[int, float], ...] = ()


class Compiler:
    """Compiles checked plans over one ontology; `limit` is the most rows that a list may have."""

    def __init__(self, schema: Schema, *, limit: int = 1000) -> None:
        self._schema = schema
        self._limit = limit
        self._places = StatedPlaces.of(schema)
        self._near = {
            triple.subject: _kilometres(triple.object.value)
            for triple in schema.triples
            if triple.predicate == _NEAR_DISTANCE and isinstance(triple.object, Literal)
        }

    def compile(self, plan: CheckedPlan) -> Query:
        """Return the SPARQL SELECT that answers the plan."""
        body = self._body(plan)
        result = plan.result
        if result is Result.NUMBER:
            select = f"SELECT (COUNT(DISTINCT {body.current}) AS ?count)\nWHERE {{\n{body.text()}}}\n"
            return self._query(body, select, "count", result)
        order = f"\nORDER BY {body.current}\nLIMIT {self._limit}\n"
        if result is Result.VALUES:
            select = f"SELECT DISTINCT {body.current}\nWHERE {{\n{body.text()}}}{order}"
            return self._query(body, select, body.current[1:], result)
        names = path(body.writer.iri(iri) for iri in _NAMES)
        size, order = "", f"MIN({body.meters}) ?label" if body.meters else "?label"
        if body.size:
            size, order = f" (MIN({body.size}) AS ?size)", "?size"
        body.lines += [
            f"OPTIONAL {{ {body.current} {names} ?name }}",
            f"OPTIONAL {{ {body.current} {_geometry(body.writer)} ?geometry }}",
        ]
        select = (
            f"SELECT {body.current} (MIN(?name) AS ?label) (SAMPLE(?geometry) AS ?wkt){size}\n"
            f"WHERE {{\n{body.text()}}}\n"
            f"GROUP BY {body.current}\nORDER BY {order} {body.current}\nLIMIT {self._limit}\n"
        )
        return self._query(body, select, body.current[1:], result)

    def compile_ask(self, plan: CheckedPlan) -> str:
        """Return the SPARQL ASK for whether anything is left after the plan's last step."""
        body = self._body(plan)
        text = f"ASK {{\n{body.text()}}}\n"
        return body.writer.header() + text

    def compile_has_geometry(self, iri: NamedNode) -> str:
        """Return the SPARQL ASK for whether an entity has a geometry."""
        writer = Writer(self._schema.prefixes)
        text = f"ASK {{ {writer.iri(iri)} {_geometry(writer)} ?geometry }}\n"
        return writer.header() + text

    def default_km(self, reference: Choice, found: Iterable[frozenset[NamedNode]]) -> float:
        """Return the distance of "near" when the question gives none: by the ontology's annotations.

        The given place decides, else the class of the requested things, else one kilometer.
        """
        for classes in (reference.classes, frozenset(c for together in found for c in together)):
            above = {c for iri in classes for c in self._schema.superclasses(iri)} & self._near.keys()
            lowest = [c for c in above if not any(self._is_below(other, c) for other in above)]
            if lowest:
                return min(self._near[c] for c in lowest)
        return DEFAULT_KM

    def _is_below(self, lower: NamedNode, upper: NamedNode) -> bool:
        return lower != upper and upper in self._schema.superclasses(lower)

    def _query(self, body: _Body, select: str, variable: str, result: Result) -> Query:
        text = body.writer.header() + select
        return Query(text, variable, result, self._limit, tuple(body.assumed_km))

    def _body(self, plan: CheckedPlan) -> _Body:
        body = _Body(Writer(self._schema.prefixes))
        for number, checked in enumerate(plan.steps, 1):
            self._write(body, number, checked)
        return body

    def _write(self, body: _Body, number: int, checked: CheckedStep) -> None:
        step, writer = checked.step, body.writer
        match step.op:
            case Op.ENTITY:
                body.current = body.variables.name("thing")
                body.lines.append(f"VALUES {body.current} {{ {writer.iri(_iri(step.entity))} }}")
            case Op.FIND:
                words = step.class_.words if step.class_ else ""
                body.current = body.current or body.variables.name(words)
                writer.iri(RDFS.subClassOf)
                body.lines.append(f"{body.current} {_CLASS_PATH} {writer.iri(_iri(step.class_))} .")
            case Op.RELATE:
                self._write_relation(body, checked)
            case Op.WITHIN:
                body.keep(self._within(writer), writer.iri(_iri(step.entity)))
            case Op.TOUCHES:
                body.lines.append(f"{body.current} {self._touches(writer)} {writer.iri(_iri(step.entity))} .")
            case Op.NEAR:
                self._write_near(body, number, checked)
            case Op.NEAREST:
                self._write_nearest(body, step)
            case Op.DIRECTION:
                self._write_direction(body, step)
            case Op.MEASURE:
                self._write_measure(body, step)
            case Op.COMPARE:
                self._write_comparison(body, checked)
            case Op.RANK:
                self._write_ranking(body, step)
            case Op.COUNT:
                pass

    def _write_comparison(self, body: _Body, checked: CheckedStep) -> None:
        assert checked.value is not None
        assert checked.step.bound is not None
        known = self._schema.properties[_iri(checked.step.property_)]
        value = body.variables.name(known.label)
        body.lines.append(f"{body.current} {self._relation(body.writer, known, inverse=False)} {value} .")
        if is_dated(known.ranges):
            test = _DATE_TESTS[checked.step.bound].format(value=f"STR({value})", date=checked.value.value)
            body.lines.append(f"FILTER({_is_date(value)} && {test})")
        else:
            body.lines.append(f"FILTER({value} {_SIGNS[checked.step.bound]} {checked.value.value})")

    def _write_ranking(self, body: _Body, step: Step) -> None:
        """Keep the things with the least or greatest value among all found by the lines so far."""
        known = self._schema.properties[_iri(step.property_)]
        value, extreme = (
            body.variables.name(known.label),
            body.variables.name(f"{step.extreme} {known.label}"),
        )
        body.lines.append(f"{body.current} {self._relation(body.writer, known, inverse=False)} {value} .")
        compared = value
        if is_dated(known.ranges):
            body.lines.append(f"FILTER({_is_date(value)})")
            compared = f"STR({value})"
        function = "MIN" if step.extreme is Extreme.LEAST else "MAX"
        inner = " ".join(body.lines)
        body.lines.insert(0, f"{{ SELECT ({function}({compared}) AS {extreme}) WHERE {{ {inner} }} }}")
        body.lines.append(f"FILTER({compared} = {extreme})")

    def _write_relation(self, body: _Body, checked: CheckedStep) -> None:
        step = checked.step
        known = self._schema.properties[_iri(step.property_)]
        relation = self._relation(body.writer, known, inverse=checked.inverse)
        if step.entity is not None:
            body.keep(relation, body.writer.iri(_iri(step.entity)))
            return
        before, body.current = body.current, body.variables.name(known.label)
        body.lines.append(f"{before} {relation} {body.current} .")

    def _relation(self, writer: Writer, known: OntologyProperty, *, inverse: bool) -> str:
        if known.iri in self._places.inside:
            return self._within(writer, inverse=inverse)
        if known.iri in self._places.around:
            return self._within(writer, inverse=not inverse)
        if known.iri in self._places.touches:
            return self._touches(writer)
        forward = {known.iri} | (self._schema.subproperties(known.iri) & self._schema.properties.keys())
        backward = {p.inverse for iri in forward if (p := self._schema.properties[iri]).inverse is not None}
        if known.symmetric:
            backward |= forward
        if inverse:
            forward, backward = {i for i in backward if i is not None}, {*forward}
        first = [known.iri] if known.iri in forward else []
        rest = sorted(forward - {known.iri}, key=lambda iri: iri.value)
        back = sorted((i for i in backward if i is not None), key=lambda iri: iri.value)
        steps = [writer.iri(iri) for iri in [*first, *rest]] + [f"^{writer.iri(iri)}" for iri in back]
        return path(steps, repeated=known.transitive)

    def _within(self, writer: Writer, *, inverse: bool = False) -> str:
        """Computed containment or stated location, mixed in any order."""
        mark, unmark = ("^", "") if inverse else ("", "^")
        inside = [GEO.rcc8tpp, GEO.rcc8ntpp, *self._places.within]
        steps = [mark + writer.iri(iri) for iri in inside]
        steps += [unmark + writer.iri(iri) for iri in self._places.contains]
        return path(steps, repeated=True)

    def _touches(self, writer: Writer) -> str:
        stated = [writer.iri(iri) for iri in self._places.touches]
        return path([writer.iri(GEO.rcc8ec), *stated, *(f"^{name}" for name in stated)])

    def _write_near(self, body: _Body, number: int, checked: CheckedStep) -> None:
        step = checked.step
        assert step.entity is not None
        km = step.km or 0.0
        if km == 0:
            km = self.default_km(step.entity, checked.classes)
            body.assumed_km.append((number, km))
        meters = f"{km * 1000:.3f}".rstrip("0").rstrip(".")
        body.lines.append(f"FILTER({self._distance_to(body, step)} < {meters})")

    def _distance_to(self, body: _Body, step: Step) -> str:
        """Write the geometries of a distance from the step's entity; the call that returns it in meters."""
        here, there = self._write_both(body, step)
        return f"{body.writer.iri(_DISTANCE)}({here}, {there}, {body.writer.iri(_METRE)})"

    def _write_direction(self, body: _Body, step: Step) -> None:
        here, there = self._write_both(body, step)
        iri = body.writer.iri
        for side, (of_here, sign, of_there) in _SIDES.items():
            if side in (step.side or Side.NORTH):
                center = f"{iri(of_here)}({iri(_CENTROID)}({here}))"
                body.lines.append(f"FILTER({center} {sign} {iri(of_there)}({there}))")

    def _write_both(self, body: _Body, step: Step) -> tuple[str, str]:
        """Write the geometries of the results and of the step's entity; the variables of both."""
        writer = body.writer
        entity, geometry = writer.iri(_iri(step.entity)), _geometry(writer)
        there, here = body.variables.name("there wkt"), body.variables.name("here wkt")
        body.lines += [
            f"{entity} {geometry} {there} .",
            f"{body.current} {geometry} {here} .",
            f"FILTER({body.current} != {entity})",
        ]
        return here, there

    def _write_nearest(self, body: _Body, step: Step) -> None:
        """Keep the `k` nearest of the results so far; of several geometries the nearest counts."""
        meters = self._distance_to(body, step)
        inner, body.meters = " ".join(body.lines), body.variables.name("meters")
        most = step.k or ASSUMED_NEAREST
        body.lines = [
            f"{{ SELECT {body.current} (MIN({meters}) AS {body.meters}) WHERE {{ {inner} }} "
            f"GROUP BY {body.current} ORDER BY {body.meters} {body.current} LIMIT {most} }}"
        ]

    def _write_measure(self, body: _Body, step: Step) -> None:
        body.size = body.variables.name(f"{step.measure} km")
        if step.measure is None or step.measure is Measure.DISTANCE:
            call, unit = self._distance_to(body, step), 1000
        else:
            here = body.variables.name("here wkt")
            body.lines.append(f"{body.current} {_geometry(body.writer)} {here} .")
            function, unit = _SIZES[step.measure]
            call = f"{body.writer.iri(function)}({here})"
        body.lines.append(f"BIND({call} / {unit} AS {body.size})")


class _Body:
    """The WHERE clause under construction: its lines, and the variable of the result so far."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.variables = Variables()
        self.lines: list[str] = []
        self.current = ""
        self.assumed_km: list[tuple[int, float]] = []
        self.size = self.meters = ""

    def keep(self, relation: str, entity: str) -> None:
        """Keep the results related to an entity.

        A repeated path goes into a subquery in front: joined in place, the store would walk it again from the
        entity for every row (19 s instead of .2 s for 6,000 rows).
        """
        pattern = f"{self.current} {relation} {entity} ."
        if not relation.endswith("+") or self.lines[0].startswith("VALUES"):
            self.lines.append(pattern)
        else:
            self.lines.insert(0, f"{{ SELECT DISTINCT {self.current} WHERE {{ {pattern} }} }}")

    def text(self) -> str:
        return "".join(f"  {line}\n" for line in self.lines)


def _geometry(writer: Writer) -> str:
    default, any_, wkt = (writer.iri(iri) for iri in (GEO.hasDefaultGeometry, GEO.hasGeometry, GEO.asWKT))
    return f"({default}|{any_})/{wkt}"


def _is_date(variable: str) -> str:
    """A test that excludes values other than a day, month or year: periods, and years before the year 0."""
    return f'REGEX(STR({variable}), "^[0-9]{{4}}(-|$)")'


def _iri(choice: Choice | None) -> NamedNode:
    assert choice is not None
    assert choice.iri is not None
    return choice.iri


def _kilometres(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return DEFAULT_KM

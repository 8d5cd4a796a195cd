"""Which filters say where a geometry must be: recognized from their expressions.

A filter that is true only of geometries which touch or lie near something lets the index name candidates.
`Near` is that something: the box of every candidate meets the box of `shape`, grown by a slack. True for all
sf*, eh* and rcc8* functions and relate patterns whose matrix makes interiors or boundaries meet, hence not
for disjoint and DC, and for distances below a limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from geo.errors import GeoError
from geo.formats.literals import GeometryValue, is_geometry_literal, read_geometry
from geo.functions import FUNCTIONS
from geo.functions.topology import PATTERNS, SIMPLE_FEATURES, is_pattern, transposed
from geo.measure.measures import box_around
from geo.measure.units import Quantity, find_unit
from geo.vocabulary import GEOF
from sparql.model.vocabulary import XSD
from sparql.syntax import nodes as n

_NUMERIC = frozenset(
    XSD.term(name) for name in ("integer", "decimal", "double", "float", "int", "long", "nonNegativeInteger")
)

LONGEST_CONSTANT: Final = 2_000
"""Characters of the arguments of a call up to which it is worked out here, where no limit of time ends it."""


class NotConstant(Exception):
    """The expression depends on the solution, or on something not worked out here."""


@dataclass(frozen=True)
class UnreadableConstant(Exception):
    """The expression is an error whatever the solution: a filter on it is never true."""

    reason: str


def constants_in(elements: Iterable[n.Element]) -> Mapping[str, n.Expression]:
    """The variables that have one value in all solutions of a group: by BIND, or VALUES of one row."""
    found: dict[str, n.Expression] = {}
    for element in elements:
        if isinstance(element, n.Bind) and not n.variables_of(element.expression):
            found[element.variable] = element.expression
        elif isinstance(element, n.Values) and len(element.rows) == 1:
            for name, term in zip(element.variables, element.rows[0], strict=False):
                if isinstance(term, NamedNode | Literal):
                    found[name] = n.Constant(term)
    return found


def term_of(expression: n.Expression, known: Mapping[str, n.Expression]) -> NamedNode | Literal:
    """The value of a constant expression. Raises NotConstant and UnreadableConstant."""
    if isinstance(expression, n.Constant) and not isinstance(expression.term, n.TripleTerm):
        return expression.term
    if isinstance(expression, n.VariableUse) and expression.name in known:
        return term_of(known[expression.name], {})
    if isinstance(expression, n.Call) and expression.iri in FUNCTIONS:
        arguments = [term_of(argument, known) for argument in expression.arguments]
        if sum(len(argument.value) for argument in arguments) > LONGEST_CONSTANT:
            raise NotConstant
        try:
            value = FUNCTIONS[expression.iri](*arguments)
        except GeoError as error:
            raise UnreadableConstant(str(error)) from error
        if isinstance(value, NamedNode | Literal):
            return value
    if isinstance(expression, n.Operation) and expression.name == "STRDT" and len(expression.arguments) == 2:
        text, datatype = (term_of(argument, known) for argument in expression.arguments)
        if isinstance(text, Literal) and isinstance(datatype, NamedNode) and text.datatype == XSD.string:
            return Literal(text.value, datatype=datatype)
    raise NotConstant


def geometry_of(expression: n.Expression, known: Mapping[str, n.Expression]) -> GeometryValue:
    """The geometry of a constant expression. Raises NotConstant and UnreadableConstant."""
    term = term_of(expression, known)
    if not isinstance(term, Literal) or not is_geometry_literal(term):
        raise UnreadableConstant(
            f'{term} is no geometry literal; write for example "POINT(-73.96 40.8)"^^geo:wktLiteral.'
        )
    try:
        return read_geometry(term)
    except GeoError as error:
        raise UnreadableConstant(str(error)) from error


def number_of(expression: n.Expression, known: Mapping[str, n.Expression]) -> float:
    """The number of a constant expression. Raises NotConstant."""
    if isinstance(expression, n.Operation):
        numbers = [number_of(argument, known) for argument in expression.arguments]
        match expression.name, numbers:
            case "unary -", [one]:
                return -one
            case "*", [left, right]:
                return left * right
            case "+", [left, right]:
                return left + right
            case "/", [left, right] if right:
                return left / right
        raise NotConstant
    term = term_of(expression, known)
    if isinstance(term, Literal) and term.datatype in _NUMERIC:
        try:
            number = float(Decimal(term.value))
        except InvalidOperation:
            raise NotConstant from None
        if math.isfinite(number):
            return number
    raise NotConstant


# What is true of (constant, longitudes, latitudes) of points when the function is true of (point, constant).
_TURNED_POINTS: Final[dict[str, Callable[..., Any]]] = {
    "sfIntersects": shapely.intersects_xy,
    "sfWithin": shapely.contains_xy,
}
_STRAIGHT_POINTS: Final[dict[str, Callable[..., Any]]] = {
    "sfIntersects": shapely.intersects_xy,
    "sfContains": shapely.contains_xy,
}
# Those that a prepared geometry answers without the matrix.
_FAST: Final = frozenset(_TURNED_POINTS.keys() | _STRAIGHT_POINTS.keys())
# Functions whose result lies in the box of their first argument.
_WITHIN_BOX: Final = frozenset(
    {"envelope", "convexHull", "concaveHull", "boundary", "centroid", "transform", "geometryN"}
    | {"asWKT", "asGeoJSON", "asGML", "asKML"}
)
_MEETING: Final = (0, 1, 3, 4)
_ROUNDING_DEGREES: Final = 1e-6
# Distances and buffers are worked out in planes, which are off by less than this.
_GENEROUS: Final = 1.02
_FURTHEST_M: Final = 1_000_000.0


@dataclass(frozen=True)
class Slack:
    """How far beyond the box of a geometry a function of it may reach."""

    meters: float = 0.0
    degrees: float = 0.0

    def grow(self, shape: BaseGeometry) -> BaseGeometry:
        """A shape whose box (or boxes, at the antimeridian) holds all that is so near to a shape."""
        if self.meters:
            shape = box_around(shape, self.meters)
        if self.degrees and not shape.is_empty:
            west, south, east, north = shape.bounds
            shape = shapely.box(
                west - self.degrees, south - self.degrees, east + self.degrees, north + self.degrees
            )
        return shape

    def __add__(self, other: Slack) -> Slack:
        return Slack(self.meters + other.meters, self.degrees + other.degrees)


@dataclass(frozen=True)
class Operand:
    """A geometry variable in a filter; `plain` where it is an argument itself and not in a function."""

    name: str
    plain: bool
    slack: Slack


@dataclass(frozen=True)
class SpatialFilter:
    """A conjunct of a FILTER: `left` and `right` are variables or, one of them, a constant shape.

    `function` is the local name, `slack` how far apart the two may be. One of the DE-9IM `patterns` must fit,
    where the function is asked by these.
    """

    expression: n.Expression
    function: str
    left: Operand | BaseGeometry
    right: Operand | BaseGeometry
    slack: Slack
    patterns: tuple[str, ...] = ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Its variables."""
        return tuple(side for side in (self.left, self.right) if isinstance(side, Operand))

    @property
    def constant(self) -> BaseGeometry:
        """Its constant shape; there is one where it has one variable."""
        return self.left if isinstance(self.left, BaseGeometry) else self.right  # type: ignore[return-value]

    @property
    def exact(self) -> bool:
        """Whether `holds` is certain, so that the filter need not be evaluated again."""
        known = self.patterns or self.function in SIMPLE_FEATURES
        return bool(known) and all(operand.plain for operand in self.operands)

    @property
    def of_empty(self) -> bool:
        """Whether it may be true of empty geometries, which are nowhere to be found."""
        return self.function == "sfEquals"

    def holds(
        self, constant: BaseGeometry, shapes: NDArray[numpy.object_], *, constant_left: bool
    ) -> NDArray[numpy.bool_]:
        """Which shapes the filter is true of, one side being `constant` (an own copy: it is prepared)."""
        shapely.prepare(constant)
        return self._true_of(constant, shapes, turned=not constant_left)

    def covers_points(self, *, constant_left: bool) -> bool:
        """Whether `holds_at` can be asked."""
        return self.function in (_STRAIGHT_POINTS if constant_left else _TURNED_POINTS)

    def holds_at(
        self, constant: BaseGeometry, points: NDArray[numpy.float64], *, constant_left: bool
    ) -> NDArray[numpy.bool_]:
        """As `holds` for points (n, 2), several times faster than by their shapes."""
        shapely.prepare(constant)
        table = _STRAIGHT_POINTS if constant_left else _TURNED_POINTS
        found: NDArray[numpy.bool_] = table[self.function](constant, points[:, 0], points[:, 1])
        return found

    def holds_of(
        self, prepared: NDArray[numpy.object_], shapes: NDArray[numpy.object_], *, prepared_left: bool
    ) -> NDArray[numpy.bool_]:
        """Of which of n pairs the filter is true, where it is `exact`; one side is prepared."""
        if self.function in _FAST:
            return self._true_of(prepared, shapes, turned=not prepared_left)
        meets: NDArray[numpy.bool_] = shapely.intersects(prepared, shapes)
        meets[meets] = self._true_of(prepared[meets], shapes[meets], turned=not prepared_left)
        return meets

    def _true_of(
        self, prepared: Any, shapes: NDArray[numpy.object_], *, turned: bool
    ) -> NDArray[numpy.bool_]:
        """Of which pairs it is true; `turned` means that the prepared side is its second argument."""
        if self.patterns:
            asked = map(transposed, self.patterns) if turned else self.patterns
            fits = [shapely.relate_pattern(prepared, shapes, pattern) for pattern in asked]
            return numpy.asarray(numpy.logical_or.reduce(fits))
        return numpy.asarray(SIMPLE_FEATURES[self.function][turned](prepared, shapes))

    def area(self, shape: BaseGeometry, operand: Operand) -> BaseGeometry:
        """A shape whose box meets the box of whatever the filter can be true of with this other side."""
        return (self.slack + operand.slack).grow(shape)


def conjuncts_of(expression: n.Expression) -> tuple[n.Expression, ...]:
    """The parts of an expression that must all be true."""
    if isinstance(expression, n.Operation) and expression.name == "&&":
        return tuple(part for one in expression.arguments for part in conjuncts_of(one))
    return (expression,)


def recognize(expression: n.Expression, known: Mapping[str, n.Expression]) -> SpatialFilter | str | None:
    """A conjunct as a spatial filter; the reason why it cannot be one; None where it is not spatial.

    Raises UnreadableConstant where it is an error in every solution.
    """
    if isinstance(expression, n.Operation) and expression.name in ("<", "<=", ">", ">="):
        below = expression.name in ("<", "<=")
        measured, limit = expression.arguments if below else reversed(expression.arguments)
        return _distance(expression, measured, limit, known)
    if isinstance(expression, n.Call) and (name := local_name(expression)) is not None:
        return _relation(expression, name, known)
    if any(local_name(part) is not None for part in n.walk_expressions(expression)):
        return "only a function, or a distance below a limit, that must be true by itself is searched for"
    return None


def local_name(expression: n.Expression) -> str | None:
    """The local name of a geof: function that is called."""
    if isinstance(expression, n.Call) and expression.iri.value.startswith(GEOF):
        return expression.iri.value[len(GEOF) :]
    return None


def distance_call(
    expression: n.Expression, known: Mapping[str, n.Expression]
) -> tuple[n.Expression, n.Expression, float] | None:
    """The two geometries of a distance in a unit of length, and how many meters the unit is."""
    if not isinstance(expression, n.Call):
        return None
    name, arguments = local_name(expression), expression.arguments
    if name == "metricDistance" and len(arguments) == 2:
        return arguments[0], arguments[1], 1.0
    if name == "distance" and len(arguments) == 3:
        try:
            unit = term_of(arguments[2], known)
            measure = find_unit(unit.value, Quantity.LENGTH)
        except (NotConstant, UnreadableConstant, GeoError):
            return None
        return arguments[0], arguments[1], measure.size
    return None


def _distance(
    expression: n.Expression, measured: n.Expression, limit: n.Expression, known: Mapping[str, n.Expression]
) -> SpatialFilter | str | None:
    if local_name(measured) not in ("distance", "metricDistance"):
        if any(local_name(part) is not None for part in n.walk_expressions(expression)):
            return "only distances below a limit are searched for, not this comparison"
        return None
    found = distance_call(measured, known)
    if found is None:
        return "only distances in a constant unit of length are searched for"
    try:
        meters = number_of(limit, known) * found[2]
    except NotConstant:
        return "the limit of the distance is no constant"
    if meters > _FURTHEST_M:
        return "the limit of the distance is too far to search for"
    return _sides(expression, "distance", found[0], found[1], Slack(max(meters, 0) * _GENEROUS + 1), known)


def _relation(expression: n.Call, name: str, known: Mapping[str, n.Expression]) -> SpatialFilter | str | None:
    arguments = expression.arguments
    patterns = PATTERNS.get(name, ())
    if patterns or name in SIMPLE_FEATURES:
        if len(arguments) != 2:
            return "it has not two arguments"
        if name == "sfDisjoint" or not all(map(_meets, patterns or ("T********",))):
            return "it is true of geometries anywhere, so there is nothing to search for"
    elif name == "relate" and len(arguments) == 3:
        try:
            pattern = term_of(arguments[2], known)
        except NotConstant:
            return "its pattern is no constant"
        if not isinstance(pattern, Literal) or not _meets(pattern.value.upper()):
            return "its pattern allows geometries anywhere, so there is nothing to search for"
        if pattern.datatype == XSD.string and is_pattern(pattern.value.upper()):
            patterns = (pattern.value.upper(),)
    else:
        return f"geof:{name} is not searched for"
    return _sides(expression, name, arguments[0], arguments[1], Slack(), known, patterns)


def _meets(pattern: str) -> bool:
    """Whether a DE-9IM pattern fits only geometries whose interiors or boundaries meet."""
    return len(pattern) == 9 and any(pattern[position] in "T012" for position in _MEETING)


def _sides(
    expression: n.Expression,
    name: str,
    left: n.Expression,
    right: n.Expression,
    slack: Slack,
    known: Mapping[str, n.Expression],
    patterns: tuple[str, ...] = (),
) -> SpatialFilter | str:
    sides = [_side(side, known) for side in (left, right)]
    for side in sides:
        if isinstance(side, str):
            return side
        if isinstance(side, BaseGeometry) and side.is_empty:
            return "its constant geometry is empty"
    found = SpatialFilter(expression, name, sides[0], sides[1], slack, patterns)  # type: ignore[arg-type]
    if not found.operands:
        return "both its geometries are constant"
    if len({operand.name for operand in found.operands}) < len(found.operands):
        return "both its geometries are the same variable"
    return found


def _side(expression: n.Expression, known: Mapping[str, n.Expression]) -> Operand | BaseGeometry | str:
    try:
        return geometry_of(expression, known).shape
    except NotConstant:
        pass
    plain, meters, degrees = isinstance(expression, n.VariableUse), 0.0, 0.0
    while (name := local_name(expression)) is not None:
        assert isinstance(expression, n.Call)
        if name in ("buffer", "metricBuffer"):
            try:
                radius = number_of(expression.arguments[1], known)
                unit = expression.arguments[2] if name == "buffer" else None
                size = find_unit(term_of(unit, known).value, Quantity.LENGTH).size if unit else 1.0
            except (NotConstant, UnreadableConstant, GeoError, IndexError):
                return "the radius of its buffer is no constant length"
            meters += max(radius * size, 0.0) * _GENEROUS + 1.0
        elif name not in _WITHIN_BOX or not expression.arguments:
            return f"geof:{name} of a variable is not searched for"
        degrees += _ROUNDING_DEGREES
        expression = expression.arguments[0]
    if isinstance(expression, n.VariableUse):
        return Operand(expression.name, plain, Slack(meters, degrees))
    return "its geometries are neither constants nor variables"

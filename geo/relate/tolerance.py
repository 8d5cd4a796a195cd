"""Relations between borders that almost meet: a re-check within a tolerance in meters.

The exact relation comes first. Only pairs that a small error could have made wrong are checked
again: overlaps (PO), near misses (DC) and containment (TPP, NTPP and their inverses).

- Areas: their common part, or the part of one outside the other, counts only if a disc of the
  tolerance's radius fits into it. Borders within the tolerance of each other touch.
- Points and lines: a point within the tolerance of a border, an end or a line lies on it. A line
  that meets another exactly (EC) keeps that relation.
- Collections of mixed dimension keep their exact relation.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from geo.measure.measures import METERS_PER_DEGREE, METERS_PER_DEGREE_EAST
from geo.relate.rcc8 import CODES, INVERSE_CODES, RCC8, Relation, code_of, relate

Shapes = NDArray[numpy.object_]
Codes = NDArray[numpy.int8]
Tolerance = float | NDArray[numpy.float64]
"""A tolerance for all, or one for each."""
Truths = NDArray[numpy.bool_]

_DC: Final = code_of(RCC8.DC)
_EC: Final = code_of(RCC8.EC)
_PO: Final = code_of(RCC8.PO)
_EQ: Final = code_of(RCC8.EQ)
_TPP: Final = code_of(RCC8.TPP)
_NTPP: Final = code_of(RCC8.NTPP)
_INVERSES: Final = (code_of(RCC8.TPPi), code_of(RCC8.NTPPi))
_DIMENSION_OF_TYPE: Final = numpy.array([0, 1, 1, 2, 0, 1, 2, -1])


def relate_within(left: BaseGeometry, right: BaseGeometry, tolerance_m: float) -> Relation:
    """The relation of two CRS84 geometries whose borders may be off by `tolerance_m` meters; 0 is exact."""
    exact = relate(left, right)
    if not tolerance_m:
        return exact
    code = recheck(_array(left), _array(right), numpy.array([code_of(exact.rcc8)], numpy.int8), tolerance_m)[
        0
    ]
    return Relation(CODES[code], CODES[code].rcc5, exact.matrix, tolerance_m)


def grown_boxes(shapes: Shapes, tolerance_m: float) -> Shapes:
    """The boxes of n geometries, grown by the tolerance on every side: shape (n,); empty ones stay empty."""
    grown = grown_bounds(shapely.bounds(shapes), tolerance_m)
    boxes: Shapes = numpy.asarray(shapely.box(grown[:, 0], grown[:, 1], grown[:, 2], grown[:, 3]))
    boxes[numpy.isnan(grown[:, 0])] = shapely.Polygon()
    return boxes


def grown_bounds(bounds: NDArray[numpy.float64], tolerance_m: float) -> NDArray[numpy.float64]:
    """n boxes in degrees (west, south, east, north), grown by the tolerance: shape (n, 4)."""
    if not tolerance_m:
        return bounds
    dx, dy = _degrees(bounds, tolerance_m), tolerance_m / METERS_PER_DEGREE
    return numpy.column_stack([bounds[:, 0] - dx, bounds[:, 1] - dy, bounds[:, 2] + dx, bounds[:, 3] + dy])


def recheck(left: Shapes, right: Shapes, codes: Codes, tolerance_m: float) -> Codes:
    """The codes of n pairs, given their exact codes, after the re-check within the tolerance: shape (n,)."""
    # The smaller dimension, or the inner geometry, comes first.
    first_dimension, second_dimension = _dimensions(left), _dimensions(right)
    turned = (first_dimension > second_dimension) | (
        (first_dimension == second_dimension) & numpy.isin(codes, _INVERSES)
    )
    a, b = numpy.where(turned, right, left), numpy.where(turned, left, right)
    codes = numpy.where(turned, INVERSE_CODES[codes], codes).astype(numpy.int8)
    known = (first_dimension >= 0) & (second_dimension >= 0)
    areas = known & (numpy.minimum(first_dimension, second_dimension) == 2)
    doubtful = known & ~numpy.isin(codes, (_EC, _EQ))
    doubtful[doubtful] &= _is_close(a[doubtful], b[doubtful], codes[doubtful], tolerance_m)
    of_areas = numpy.flatnonzero(doubtful & areas)
    codes[of_areas] = _recheck_areas(a[of_areas], b[of_areas], codes[of_areas], tolerance_m)
    for pair in numpy.flatnonzero(doubtful & ~areas).tolist():
        codes[pair] = _recheck_pair(a[pair], b[pair], int(codes[pair]), tolerance_m)
    return numpy.where(turned, INVERSE_CODES[codes], codes).astype(numpy.int8)


def _is_close(a: Shapes, b: Shapes, codes: Codes, tolerance_m: float) -> Truths:
    """Whether a border can matter: always for PO, else where both are within the tolerance of each other."""
    close: Truths = numpy.ones(len(a), dtype=numpy.bool_)
    degrees = _degrees(shapely.bounds(a), tolerance_m)
    apart = numpy.flatnonzero(codes == _DC)
    # The one with more vertices first, since the first may be prepared.
    more = shapely.get_num_coordinates(a[apart]) > shapely.get_num_coordinates(b[apart])
    first, second = numpy.where(more, a[apart], b[apart]), numpy.where(more, b[apart], a[apart])
    close[apart] = _within(first, second, degrees[apart])
    inside = numpy.flatnonzero(codes == _NTPP)
    close[inside] = _within(_each(b[inside], _prepared_border), a[inside], degrees[inside])
    return close


def _within(a: Shapes, b: Shapes, degrees: NDArray[numpy.float64]) -> Truths:
    """Whether each of n pairs lies within its own distance."""
    distances: Any = degrees
    return numpy.asarray(shapely.dwithin(a, b, distances))


def _recheck_areas(a: Shapes, b: Shapes, codes: Codes, tolerance_m: float) -> Codes:
    """Codes of pairs of areas that are DC, PO, TPP or NTPP, and close."""
    result = codes.copy()
    result[codes == _DC] = _EC
    result[codes == _NTPP] = _TPP
    common = shapely.area(a)
    overlapping = numpy.flatnonzero(codes == _PO)
    overlaps = shapely.intersection(a[overlapping], b[overlapping])
    common[overlapping] = shapely.area(overlaps)
    # No disc fits into a part whose area is below its border times the radius: only such parts are removed.
    most = _degrees(shapely.bounds(b), tolerance_m) * (shapely.length(a) + shapely.length(b))
    inner, outer = (codes == _TPP) | (codes == _NTPP), numpy.zeros(len(a), dtype=numpy.bool_)
    maybe = numpy.flatnonzero((codes == _PO) & (shapely.area(a) - common <= most))
    inner[maybe] = _is_thin(shapely.difference(a[maybe], b[maybe]), tolerance_m)
    maybe = numpy.flatnonzero((codes != _DC) & (shapely.area(b) - common <= most))
    outer[maybe] = _is_thin(shapely.difference(b[maybe], a[maybe]), tolerance_m)
    thin = numpy.zeros(len(a), dtype=numpy.bool_)
    maybe = numpy.flatnonzero(shapely.area(overlaps) <= most[overlapping])
    thin[overlapping[maybe]] = _is_thin(overlaps[maybe], tolerance_m)
    result[(codes == _PO) & thin] = _EC
    result[(codes == _PO) & inner] = _TPP
    result[(codes == _PO) & outer] = INVERSE_CODES[_TPP]
    result[inner & outer] = _EQ
    return result


def _is_thin(shapes: Shapes, tolerance_m: float) -> Truths:
    """Whether no disc of the tolerance's radius fits into each of n shapes."""
    counts = shapely.get_num_coordinates(shapes)
    latitudes = numpy.nan_to_num(shapely.bounds(shapes)[:, [1, 3]].mean(axis=1))
    east = numpy.repeat(METERS_PER_DEGREE_EAST * numpy.cos(numpy.radians(latitudes)), counts)
    scale = numpy.column_stack([east, numpy.full(len(east), METERS_PER_DEGREE)])
    origin = numpy.repeat(numpy.nan_to_num(shapely.bounds(shapes)[:, :2]), counts, axis=0)
    flat = shapely.transform(shapes, lambda coordinates: (coordinates - origin) * scale)
    eroded = shapely.buffer(flat, -tolerance_m, join_style="mitre")
    return numpy.asarray(shapely.is_empty(eroded))


def _recheck_pair(a: BaseGeometry, b: BaseGeometry, code: int, tolerance_m: float) -> int:
    """The code of a pair of which the first is a point or a line, in a local plane in meters."""
    flatten = _plane_about(a, tolerance_m)
    flat_a, flat_b = flatten(a), flatten(b)
    if shapely.get_dimensions(b) == 2:
        return _recheck_on_area(flat_a, flat_b, code, tolerance_m)
    near_a, near_b = shapely.buffer(flat_a, tolerance_m), shapely.buffer(flat_b, tolerance_m)
    inside, around = shapely.covers(near_b, flat_a), shapely.covers(near_a, flat_b)
    if inside and around:
        return _EQ
    ends = shapely.boundary(flat_b)
    touches_end = not ends.is_empty and shapely.dwithin(ends, flat_a, tolerance_m)
    if inside and shapely.get_dimensions(a) == 0:
        return _EC if touches_end else _NTPP
    if inside:
        return _TPP if touches_end else _NTPP
    if around:
        ends = shapely.boundary(flat_a)
        touches_end = not ends.is_empty and shapely.dwithin(ends, flat_b, tolerance_m)
        return int(INVERSE_CODES[_TPP if touches_end else _NTPP])
    if code == _DC:
        return _EC
    near_ends = shapely.buffer(shapely.union(ends, shapely.boundary(flat_a)), tolerance_m)
    return _EC if shapely.covers(near_ends, shapely.intersection(flat_a, flat_b)) else code


def _recheck_on_area(a: BaseGeometry, b: BaseGeometry, code: int, tolerance_m: float) -> int:
    """The code of points or lines and an area, both in meters."""
    west, south, east, north = a.bounds
    margin = 2 * tolerance_m
    window = (west - margin, south - margin, east + margin, north + margin)
    band = shapely.buffer(shapely.clip_by_rect(shapely.boundary(b), *window), tolerance_m)
    if not shapely.intersects(band, a):
        return code
    inside = shapely.intersection(a, b)
    if inside.is_empty or shapely.covers(band, a) or shapely.covers(band, inside):
        return _EC
    return _TPP if shapely.covers(band, shapely.difference(a, b)) else _PO


def _plane_about(shape: BaseGeometry, tolerance_m: float) -> Callable[[BaseGeometry], BaseGeometry]:
    """A local plane in meters about a shape."""
    west, south, east, north = shape.bounds
    origin = numpy.array([(west + east) / 2, (south + north) / 2])
    scale = numpy.array([METERS_PER_DEGREE_EAST * math.cos(math.radians(origin[1])), METERS_PER_DEGREE])
    return lambda geometry: shapely.transform(geometry, lambda coordinates: (coordinates - origin) * scale)


def _degrees(bounds: NDArray[numpy.float64], tolerance_m: float) -> NDArray[numpy.float64]:
    """The tolerance in degrees, rounded up, for each of n boxes."""
    steepest = (
        numpy.maximum(numpy.abs(bounds[:, 1]), numpy.abs(bounds[:, 3])) + tolerance_m / METERS_PER_DEGREE
    )
    narrowest = numpy.cos(numpy.radians(numpy.minimum(steepest, 89.99)))
    return numpy.asarray(tolerance_m / (METERS_PER_DEGREE * narrowest))


def _dimensions(shapes: Shapes) -> NDArray[numpy.intp]:
    """0 points, 1 lines, 2 areas, -1 for collections and empty shapes."""
    kinds: NDArray[numpy.intp] = numpy.where(shapely.is_empty(shapes), 7, shapely.get_type_id(shapes))
    return _DIMENSION_OF_TYPE[kinds]


def _each(shapes: Shapes, calculate: Callable[[BaseGeometry], BaseGeometry]) -> Shapes:
    """Shapes calculated once for each distinct object among n."""
    known: dict[int, BaseGeometry] = {}
    result = numpy.empty(len(shapes), dtype=object)
    for position, shape in enumerate(shapes):
        if id(shape) not in known:
            known[id(shape)] = calculate(shape)
        result[position] = known[id(shape)]
    return result


def _prepared_border(shape: BaseGeometry) -> BaseGeometry:
    border: BaseGeometry = shapely.boundary(shape)
    shapely.prepare(border)
    return border


def _array(shape: BaseGeometry) -> Shapes:
    array = numpy.empty(1, dtype=object)
    array[0] = shape
    return array

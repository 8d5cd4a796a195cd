"""Geometries from geometries: sets, hulls, buffers, centroids, transformation (GeoSPARQL 1.1, clause 9.2).

A result has the datatype and the reference system of the first argument.
"""

from collections.abc import Callable
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from shapely import GeometryCollection, LineString, Point
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError
from geo.formats.literals import GeometryValue, without_rings
from geo.functions.definitions import Definition, Parameter, define, same_kind
from geo.measure.crs import canonical_crs, find_crs
from geo.measure.measures import buffer_m
from geo.measure.units import Quantity, find_unit
from geo.vocabulary import CRS84, GEOJSON_LITERAL, KML_LITERAL, WKT_LITERAL

#: How closely a concave hull follows its points: 0 as closely as possible, 1 is the convex hull.
CONCAVITY: Final = 0.3

_MOST_DEGREES: Final = 360.0
_EARTH: Final = shapely.box(-180, -90, 180, 90)


def buffer(value: GeometryValue, radius: float, unit: str) -> GeometryValue:
    """All places within a radius: on the ellipsoid for a length, in the plane of degrees for an angle."""
    measure = find_unit(unit, Quantity.LENGTH, Quantity.ANGLE)
    if measure.quantity is Quantity.ANGLE:
        degrees = radius * measure.size
        if not abs(degrees) <= _MOST_DEGREES:
            raise ArgumentError(
                f"A buffer of {degrees:g} degrees is not possible. Give {_MOST_DEGREES:g} at most."
            )
        return same_kind(value, _on_earth(shapely.buffer(value.shape, degrees)))
    return metric_buffer(value, radius * measure.size)


def metric_buffer(value: GeometryValue, radius: float) -> GeometryValue:
    """All places within a radius in meters."""
    return same_kind(value, buffer_m(value.shape, radius))


def concave_hull(value: GeometryValue, ratio: float = CONCAVITY) -> GeometryValue:
    """A hull that follows the points more closely than the convex one, by a ratio from 0 to 1."""
    if not 0 <= ratio <= 1:
        raise ArgumentError(f"A concave hull cannot have the ratio {ratio:g}. Give a number from 0 to 1.")
    return same_kind(value, shapely.concave_hull(value.shape, ratio=ratio))


def transform(value: GeometryValue, crs: str) -> GeometryValue:
    """The geometry in another reference system; as WKT where its own format only supports CRS84."""
    find_crs(crs)
    target = canonical_crs(crs)
    fixed = value.datatype in (GEOJSON_LITERAL, KML_LITERAL) and target != CRS84
    return GeometryValue(value.shape, target, WKT_LITERAL if fixed else value.datatype)


def geometry_n(value: GeometryValue, number: int) -> GeometryValue:
    """The n-th part of a collection, counted from 1."""
    parts = shapely.get_parts(value.shape)
    if not 1 <= number <= len(parts):
        raise ArgumentError(
            f"There is no geometry {number} among {len(parts)}. Count from 1 to geof:numGeometries."
        )
    return same_kind(value, parts[number - 1])


def envelope(shape: BaseGeometry) -> BaseGeometry:
    """The smallest box around a shape: a line or a point where the shape has no width or height."""
    if shape.is_empty:
        return shape
    west, south, east, north = shape.bounds
    if (west, south) == (east, north):
        return Point(west, south)
    if west == east or south == north:
        return LineString([(west, south), (east, north)])
    return shapely.box(west, south, east, north)


def boundary(shape: BaseGeometry) -> BaseGeometry:
    """The boundary of a shape; a collection of different shapes has none."""
    found: BaseGeometry | None = shapely.boundary(shape)
    if found is None:
        raise ArgumentError("A geometry collection has no boundary. Take its parts with geof:geometryN.")
    return found


def bounding_circle(shape: BaseGeometry) -> BaseGeometry:
    """The smallest circle around a shape, in the plane of degrees."""
    return _on_earth(shapely.minimum_bounding_circle(shape))


def intersection(a: BaseGeometry, b: BaseGeometry) -> BaseGeometry:
    """The common part of two shapes."""
    if a.is_empty or b.is_empty:
        return a if a.is_empty else b
    found: BaseGeometry = shapely.intersection(without_rings(a), without_rings(b))
    return found


def difference(a: BaseGeometry, b: BaseGeometry) -> BaseGeometry:
    """The part of the first shape that is not in the second."""
    return a if a.is_empty or b.is_empty else shapely.difference(without_rings(a), without_rings(b))


def _apart(calculate: Callable[[BaseGeometry, BaseGeometry], BaseGeometry]) -> Callable[..., BaseGeometry]:
    return lambda a, b: calculate(without_rings(a), without_rings(b))


def _on_earth(shape: BaseGeometry) -> BaseGeometry:
    """The part of a shape with longitudes up to 180 and latitudes up to 90 degrees."""
    if shape.is_empty or shapely.covers(_EARTH, shape):
        return shape
    cut: BaseGeometry = shapely.intersection(shape, _EARTH)
    return cut


def _one(calculate: Callable[[BaseGeometry], BaseGeometry]) -> Callable[[GeometryValue], GeometryValue]:
    return lambda value: same_kind(value, calculate(value.shape))


def _two(calculate: Callable[[BaseGeometry, BaseGeometry], BaseGeometry]) -> Callable[..., GeometryValue]:
    return lambda a, b: same_kind(a, calculate(a.shape, b.shape))


_G: Final = Parameter.GEOMETRY

DEFINITIONS: Final[tuple[Definition, ...]] = (
    define("boundary", _one(boundary), _G),
    define("boundingCircle", _one(bounding_circle), _G),
    define("centroid", _one(shapely.centroid), _G),
    define("convexHull", _one(shapely.convex_hull), _G),
    define("concaveHull", concave_hull, _G, Parameter.NUMBER, optional=1),
    define("envelope", _one(envelope), _G),
    define("buffer", buffer, _G, Parameter.NUMBER, Parameter.IRI),
    define("metricBuffer", metric_buffer, _G, Parameter.NUMBER),
    define("intersection", _two(intersection), _G, _G),
    define("union", _two(_apart(shapely.union)), _G, _G),
    define("difference", _two(difference), _G, _G),
    define("symDifference", _two(_apart(shapely.symmetric_difference)), _G, _G),
    define("transform", transform, _G, Parameter.IRI),
    define("geometryN", geometry_n, _G, Parameter.INTEGER),
)


Combine = Callable[[NDArray[numpy.object_]], BaseGeometry]


def _collected(calculate: Callable[[BaseGeometry], BaseGeometry]) -> Combine:
    return lambda shapes: calculate(GeometryCollection(list(shapes)))


def _concat_lines(shapes: NDArray[numpy.object_]) -> BaseGeometry:
    """Lines joined end to end where they meet."""
    return shapely.line_merge(shapely.union_all(shapes))


#: How each aggregate combines n shapes.
AGGREGATIONS: Final[dict[str, Combine]] = {
    "aggBoundingBox": _collected(envelope),
    "aggBoundingCircle": _collected(bounding_circle),
    "aggCentroid": _collected(shapely.centroid),
    "aggConcatLines": _concat_lines,
    "aggConcaveHull": _collected(lambda shape: shapely.concave_hull(shape, ratio=CONCAVITY)),
    "aggConvexHull": _collected(shapely.convex_hull),
    "aggUnion": shapely.union_all,
    # Names of two of them in the function register, which differ from the specification.
    "concatLines": _concat_lines,
    "union2": shapely.union_all,
}

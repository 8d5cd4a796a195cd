"""Properties of geometries, and their serializations (GeoSPARQL 1.1, clauses 8.5 and 9.2)."""

from collections.abc import Callable
from typing import Final

import numpy
import shapely
from pyoxigraph import Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError
from geo.formats.literals import GeometryValue, write_geometry
from geo.functions.definitions import Definition, Parameter, any_uri, define
from geo.measure.crs import from_crs84
from geo.measure.measures import area_m2, distance_m, length_m, perimeter_m
from geo.measure.units import Quantity, find_unit
from geo.vocabulary import CRS84, GEOJSON_LITERAL, GML_LITERAL, KML_LITERAL, SF, WKT_LITERAL


def distance(a: GeometryValue, b: GeometryValue, unit: str) -> float:
    """The shortest distance: on the ellipsoid for a length, in the plane of degrees for an angle."""
    measure = find_unit(unit, Quantity.LENGTH, Quantity.ANGLE)
    if measure.quantity is Quantity.LENGTH:
        return distance_m(a.shape, b.shape) / measure.size
    if a.shape.is_empty or b.shape.is_empty:
        raise ArgumentError(
            "An empty geometry has no distance to anything. Filter empty geometries out first."
        )
    return float(shapely.distance(a.shape, b.shape)) / measure.size


def area(value: GeometryValue, unit: str) -> float:
    """The area on the ellipsoid in a unit of area."""
    return area_m2(value.shape) / find_unit(unit, Quantity.AREA).size


def _along(
    meters: Callable[[BaseGeometry], float], degrees: Callable[[BaseGeometry], float]
) -> Callable[..., float]:
    def measure(value: GeometryValue, unit: str) -> float:
        chosen = find_unit(unit, Quantity.LENGTH, Quantity.ANGLE)
        calculate = meters if chosen.quantity is Quantity.LENGTH else degrees
        return float(calculate(value.shape)) / chosen.size

    return measure


def _perimeter_degrees(shape: BaseGeometry) -> float:
    return float(shapely.length(shape)) if shapely.get_dimensions(shape) == 2 else 0.0


def dimension(value: GeometryValue) -> int:
    """The topological dimension: 0 points, 1 lines, 2 areas; of a collection the largest."""
    return max(int(shapely.get_dimensions(value.shape)), 0)


def spatial_dimension(value: GeometryValue) -> int:
    """How many of a position's numbers are spatial: 2 or 3."""
    return 3 if shapely.has_z(value.shape) else 2


def coordinate_dimension(value: GeometryValue) -> int:
    """How many numbers a position has, the measure included: 2, 3 or 4."""
    return spatial_dimension(value) + bool(shapely.has_m(value.shape))


def geometry_type(value: GeometryValue) -> Literal:
    """The IRI of the simple-feature class of the geometry."""
    return any_uri(SF + value.shape.geom_type)


def get_srid(value: GeometryValue) -> Literal:
    """The IRI of the reference system that the literal names, or CRS84."""
    return any_uri(value.crs)


def _extreme(axis: int, choose: Callable[[numpy.ndarray], numpy.float64]) -> Callable[[GeometryValue], float]:
    def coordinate(value: GeometryValue) -> float:
        has_z = bool(shapely.has_z(value.shape))
        if value.shape.is_empty or (axis == 2 and not has_z):
            raise ArgumentError(
                f"The geometry has no {'XYZ'[axis]} coordinate. Test geof:isEmpty and geof:is3D first."
            )
        coordinates = shapely.get_coordinates(from_crs84(value.shape, value.crs), include_z=has_z)
        return float(choose(coordinates[:, axis]))

    return coordinate


def _serialize(datatype: NamedNode) -> Callable[..., Literal]:
    """A serializer; WKT and GML keep the reference system. A profile (GML, KML) is accepted and ignored."""

    def serialize(value: GeometryValue, profile: str = "") -> Literal:
        keeps_crs = datatype in (WKT_LITERAL, GML_LITERAL)
        return write_geometry(value.shape, datatype, value.crs if keeps_crs else CRS84)

    return serialize


_G: Final = Parameter.GEOMETRY

DEFINITIONS: Final[tuple[Definition, ...]] = (
    define("distance", distance, _G, _G, Parameter.IRI),
    define("metricDistance", lambda a, b: distance_m(a.shape, b.shape), _G, _G),
    define("area", area, _G, Parameter.IRI),
    define("metricArea", lambda value: area_m2(value.shape), _G),
    define("length", _along(length_m, shapely.length), _G, Parameter.IRI),
    define("metricLength", lambda value: length_m(value.shape), _G),
    define("perimeter", _along(perimeter_m, _perimeter_degrees), _G, Parameter.IRI),
    define("metricPerimeter", lambda value: perimeter_m(value.shape), _G),
    define("dimension", dimension, _G),
    define("coordinateDimension", coordinate_dimension, _G),
    define("spatialDimension", spatial_dimension, _G),
    define("isEmpty", lambda value: bool(value.shape.is_empty), _G),
    define("isSimple", lambda value: bool(shapely.is_simple(value.shape)), _G),
    define("is3D", lambda value: bool(shapely.has_z(value.shape)), _G),
    define("isMeasured", lambda value: bool(shapely.has_m(value.shape)), _G),
    define("geometryType", geometry_type, _G),
    define("numGeometries", lambda value: int(shapely.get_num_geometries(value.shape)), _G),
    define("getSRID", get_srid, _G),
    *(define(f"min{axis} min{axis.lower()}", _extreme(i, numpy.min), _G) for i, axis in enumerate("XYZ")),
    *(define(f"max{axis} max{axis.lower()}", _extreme(i, numpy.max), _G) for i, axis in enumerate("XYZ")),
    define("asWKT", _serialize(WKT_LITERAL), _G),
    define("asGeoJSON", _serialize(GEOJSON_LITERAL), _G),
    define("asGML", _serialize(GML_LITERAL), _G, Parameter.TEXT, optional=1),
    define("asKML", _serialize(KML_LITERAL), _G, Parameter.TEXT, optional=1),
)

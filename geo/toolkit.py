"""The eight geospatial tools of UrbanKGent (paper, section 4.3.2 and table 8), as plain functions.

Geohash, Distance, three tools for what belongs to what, and three for what intersects. All geometries
are in CRS84, and tools of two geometries take them in either order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import shapely
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError
from geo.measure.measures import distance_m
from geo.relate.rcc8 import RCC5, relate

_BASE32: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
_KINDS: Final = {
    "Point": "point",
    "MultiPoint": "point",
    "LineString": "line",
    "LinearRing": "line",
    "MultiLineString": "line",
    "Polygon": "polygon",
    "MultiPolygon": "polygon",
}


class Belonging(StrEnum):
    """Which of two geometries lies in the other."""

    FIRST_IN_SECOND = "first in second"
    SECOND_IN_FIRST = "second in first"
    EQUAL = "equal"
    NEITHER = "neither"


_BELONGING: Final = {
    RCC5.IN: Belonging.FIRST_IN_SECOND,
    RCC5.INi: Belonging.SECOND_IN_FIRST,
    RCC5.EQ: Belonging.EQUAL,
}


def geohash(geometry: BaseGeometry, length: int = 8) -> str:
    """The geohash of a point, or of a place inside a line or area; 8 characters are about 38 m by 19 m."""
    if geometry.is_empty:
        raise ArgumentError("An empty geometry has no geohash. Give a point, line or polygon.")
    place = shapely.point_on_surface(geometry)
    low, high = [-180.0, -90.0], [180.0, 90.0]
    code = 0
    for bit in range(5 * length):
        axis = bit % 2
        middle = (low[axis] + high[axis]) / 2
        above = (place.x, place.y)[axis] >= middle
        (low if above else high)[axis] = middle
        code = code * 2 + above
    return "".join(_BASE32[code >> 5 * (length - 1 - position) & 31] for position in range(length))


def distance(a: BaseGeometry, b: BaseGeometry) -> float:
    """The geodesic distance between the nearest points of two geometries, in kilometers."""
    return distance_m(a, b) / 1000


def point_to_polygon(a: BaseGeometry, b: BaseGeometry) -> Belonging:
    """Whether a point belongs to a polygon; one on its border does not."""
    return _belonging(a, b, "point", "polygon")


def linestring_to_polygon(a: BaseGeometry, b: BaseGeometry) -> Belonging:
    """Whether a line belongs to a polygon; one along its border does not."""
    return _belonging(a, b, "line", "polygon")


def polygon_to_polygon(a: BaseGeometry, b: BaseGeometry) -> Belonging:
    """Which of two polygons belongs to the other."""
    return _belonging(a, b, "polygon", "polygon")


def point_for_linestring(a: BaseGeometry, b: BaseGeometry) -> bool:
    """Whether a point lies on a line."""
    return _intersects(a, b, "point", "line")


def linestring_for_polygon(a: BaseGeometry, b: BaseGeometry) -> bool:
    """Whether a line and a polygon meet."""
    return _intersects(a, b, "line", "polygon")


def polygon_for_polygon(a: BaseGeometry, b: BaseGeometry) -> bool:
    """Whether two polygons meet."""
    return _intersects(a, b, "polygon", "polygon")


def _belonging(a: BaseGeometry, b: BaseGeometry, first: str, second: str) -> Belonging:
    _check_kinds(a, b, first, second)
    return _BELONGING.get(relate(a, b).rcc5, Belonging.NEITHER)


def _intersects(a: BaseGeometry, b: BaseGeometry, first: str, second: str) -> bool:
    _check_kinds(a, b, first, second)
    return bool(shapely.intersects(a, b))


def _check_kinds(a: BaseGeometry, b: BaseGeometry, first: str, second: str) -> None:
    given = sorted(_KINDS.get(geometry.geom_type, geometry.geom_type) for geometry in (a, b))
    if given != sorted((first, second)):
        raise ArgumentError(
            f"This tool takes a {first} and a {second}, not a {given[0]} and a {given[1]}. Use another."
        )


@dataclass(frozen=True)
class Tool:
    """A tool as offered to a model: its name in the paper, its purpose, and its function."""

    name: str
    purpose: str
    geometries: int
    call: Callable[..., str | float | bool]


TOOLS: Final = {
    tool.name: tool
    for tool in (
        Tool("Geohash", "the geohash of a geometry, 8 characters", 1, geohash),
        Tool("Distance", "the distance between two geometries in kilometers", 2, distance),
        Tool("Point2Polygon", "whether a point belongs to a polygon", 2, point_to_polygon),
        Tool("Linestring2Polygon", "whether a line belongs to a polygon", 2, linestring_to_polygon),
        Tool("Polygon2Polygon", "which of two polygons belongs to the other", 2, polygon_to_polygon),
        Tool("Point4Linestring", "whether a point lies on a line", 2, point_for_linestring),
        Tool("Linestring4Polygon", "whether a line and a polygon intersect", 2, linestring_for_polygon),
        Tool("Polygon4Polygon", "whether two polygons intersect", 2, polygon_for_polygon),
    )
}

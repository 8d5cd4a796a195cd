"""The eight geospatial tools of UrbanKGent (paper, section 4.3.2 and table 8), as plain functions.

Geohash, Distance, three tools for what belongs to what, and three for what intersects. All geometries
are in CRS84, and tools of two geometries take them in either order. Whether two geometries intersect is
answered more closely than in the paper, since distance 0 and "they intersect" do not tell EC from PO.
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
from geo.relate.tolerance import relate_within

#: How far in meters a point may be from a line that it lies on: five decimals of a degree are one meter.
POINT_ON_LINE_M: Final = 1.0

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


class Meeting(StrEnum):
    """How two geometries intersect: only at borders or ends, with inner points, or not at all."""

    TOUCH = "touch"
    OVERLAP = "overlap"
    NONE = "none"


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


def point_for_linestring(a: BaseGeometry, b: BaseGeometry) -> Meeting:
    """Whether a point lies on a line, within `POINT_ON_LINE_M`; at its end it touches."""
    return _meeting(a, b, "point", "line", POINT_ON_LINE_M)


def linestring_for_polygon(a: BaseGeometry, b: BaseGeometry) -> Meeting:
    """How a line and a polygon meet."""
    return _meeting(a, b, "line", "polygon")


def polygon_for_polygon(a: BaseGeometry, b: BaseGeometry) -> Meeting:
    """How two polygons meet."""
    return _meeting(a, b, "polygon", "polygon")


def _belonging(a: BaseGeometry, b: BaseGeometry, first: str, second: str) -> Belonging:
    _check_kinds(a, b, first, second)
    return _BELONGING.get(relate(a, b).rcc5, Belonging.NEITHER)


def _meeting(a: BaseGeometry, b: BaseGeometry, first: str, second: str, tolerance_m: float = 0.0) -> Meeting:
    _check_kinds(a, b, first, second)
    relation = relate_within(a, b, tolerance_m).rcc5
    return {RCC5.DC: Meeting.NONE, RCC5.EC: Meeting.TOUCH}.get(relation, Meeting.OVERLAP)


def kind_of(geometry: BaseGeometry) -> str:
    """`point`, `line` or `polygon`, as the tools name their arguments; else the name of its type."""
    return _KINDS.get(geometry.geom_type, geometry.geom_type)


def _check_kinds(a: BaseGeometry, b: BaseGeometry, first: str, second: str) -> None:
    given = sorted(map(kind_of, (a, b)))
    if given != sorted((first, second)):
        raise ArgumentError(
            f"This tool takes a {first} and a {second}, not a {given[0]} and a {given[1]}. Use another."
        )


@dataclass(frozen=True)
class Tool:
    """A tool as offered to a model: its name in the paper, what it takes and gives, and its function."""

    name: str
    takes: tuple[str, ...]
    gives: str
    purpose: str
    call: Callable[..., str | float]

    @property
    def geometries(self) -> int:
        """The number of its arguments."""
        return len(self.takes)


_BELONGS: Final = "A in B / B in A / equal / neither"
_MEETS: Final = "touch / overlap / none"

TOOLS: Final = {
    tool.name: tool
    for tool in (
        Tool("Geohash", ("any",), "8 characters", "where a geometry is", geohash),
        Tool("Distance", ("any", "any"), "km", "between the nearest points", distance),
        Tool("Point2Polygon", ("point", "polygon"), _BELONGS, "which belongs to which", point_to_polygon),
        Tool(
            "Linestring2Polygon",
            ("line", "polygon"),
            _BELONGS,
            "which belongs to which",
            linestring_to_polygon,
        ),
        Tool(
            "Polygon2Polygon", ("polygon", "polygon"), _BELONGS, "which belongs to which", polygon_to_polygon
        ),
        Tool("Point4Linestring", ("point", "line"), _MEETS, "whether they intersect", point_for_linestring),
        Tool(
            "Linestring4Polygon",
            ("line", "polygon"),
            _MEETS,
            "whether they intersect",
            linestring_for_polygon,
        ),
        Tool(
            "Polygon4Polygon", ("polygon", "polygon"), _MEETS, "whether they intersect", polygon_for_polygon
        ),
    )
}

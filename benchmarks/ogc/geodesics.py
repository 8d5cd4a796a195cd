"""Measures checked against the geodesics of the ellipsoid, where the benchmark's answers cannot be right."""

from __future__ import annotations

import math

import shapely
from pyproj import Geod
from shapely.geometry import LinearRing, Point

from benchmarks.ogc.comparison import Answer
from geo.formats.literals import parse_geometry

_GEOD = Geod(ellps="WGS84")
# The square A of the benchmark's data, and the radius that the query asks for, in meters.
_SQUARE = shapely.box(-83.6, 34.1, -83.2, 34.5)
_RADIUS_M = 10.0
_TOLERANCE = 0.005
# Where C is nearest to G and to E: a tenth of a degree along a parallel. C touches A.
_NEAREST_POINTS = ((-83.2, 34.4, -83.3, 34.4), (-83.2, 34.3, -83.3, 34.3))
_EXACT = 1e-6


def buffer_problem(body: bytes | str) -> str | None:
    """Why the answer is not the buffer of ten meters around the square; None where it is."""
    if isinstance(body, str):
        return body
    rows = Answer(body).rows
    if len(rows) != 1 or rows[0][0] is None:
        return "no buffer came back"
    buffer = parse_geometry(rows[0][0])
    if not shapely.contains_properly(buffer, _SQUARE):
        return "the buffer does not contain what it was drawn around"
    distances = [_meters_to_square(*vertex) for vertex in shapely.get_coordinates(buffer).tolist()]
    if all(math.isclose(meters, _RADIUS_M, rel_tol=_TOLERANCE) for meters in distances):
        return None
    return f"its border is {min(distances):.2f} to {max(distances):.2f} m away instead of {_RADIUS_M} m"


def distance_problem(body: bytes | str) -> str | None:
    """Why the three distances are not the geodesics between the nearest points; None where they are."""
    if isinstance(body, str):
        return body
    found = [float(row[1].value) for row in Answer(body).rows]
    wanted = [0.0, *(float(_GEOD.inv(*ends)[2]) for ends in _NEAREST_POINTS)]
    if len(found) == len(wanted) and all(
        math.isclose(a, b, rel_tol=_EXACT) for a, b in zip(found, wanted, strict=True)
    ):
        return None
    return f"distances {found} instead of {wanted}"


def _meters_to_square(longitude: float, latitude: float) -> float:
    """The geodesic distance from a place to the square, found by looking along its border ever closer."""
    nearest = _nearest(_SQUARE.exterior, longitude, latitude)
    return float(_GEOD.inv(longitude, latitude, nearest.x, nearest.y)[2])


def _nearest(ring: LinearRing, longitude: float, latitude: float) -> Point:
    squeeze = math.cos(math.radians(latitude))
    flat = shapely.transform(ring, lambda vertices: vertices * [squeeze, 1.0])
    place = shapely.Point(longitude * squeeze, latitude)
    found = flat.interpolate(flat.project(place))
    return Point(found.x / squeeze, found.y)

"""Distances, lengths, areas and buffers on the WGS 84 ellipsoid, in meters, of CRS84 geometries.

Edges are straight in longitude and latitude, as in the relations; only lengths and areas follow the geodesics
between the vertices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from pyproj import CRS, Geod, Transformer
from shapely import Point, Polygon
from shapely.geometry.base import BaseGeometry, BaseMultipartGeometry

from geo.errors import ArgumentError

Coordinates = NDArray[numpy.float64]

_GEOD: Final = Geod(ellps="WGS84")
_ECCENTRICITY_2: Final = float(_GEOD.es)
# When its ends are projected, an edge of this many degrees bends by less than .2 m, up to latitude 70.
_LONGEST_EDGE: Final = 0.02

#: The shortest length of one degree of latitude on the ellipsoid, in meters.
METERS_PER_DEGREE: Final = 110_574.0
#: The length of one degree of longitude at the equator, in meters.
METERS_PER_DEGREE_EAST: Final = 111_320.0
#: The mean radius of the Earth, in meters.
EARTH_RADIUS_M: Final = 6_371_000.0
#: The largest distance of two places on Earth, in meters.
FURTHEST_M: Final = 20_040_000.0


def distance_m(left: BaseGeometry, right: BaseGeometry) -> float:
    """The geodesic distance in meters between the nearest points of two geometries; 0 where they meet.

    Between points it is exact. Otherwise the nearest points are found in a plane that keeps the local
    proportions: to one part in ten thousand up to some ten kilometers, one in a hundred up to a thousand.
    The distance may cross the antimeridian. Raises ArgumentError where one is empty.
    """
    if left.is_empty or right.is_empty:
        raise ArgumentError(
            "An empty geometry has no distance to anything. Filter empty geometries out first."
        )
    if isinstance(left, Point) and isinstance(right, Point):
        return float(_GEOD.inv(left.x, left.y, right.x, right.y)[2])
    if shapely.intersects(left, right):
        return 0.0
    west, _, east, _ = left.bounds
    west_right, _, east_right, _ = right.bounds
    around = [0.0]
    if east_right - west > 180:
        around.append(-360.0)
    if east - west_right > 180:
        around.append(360.0)
    return min(_distance_apart(left, right, shift) for shift in around)


def distances_m(
    point: Point, points: NDArray[numpy.object_], *, towards: bool = False
) -> NDArray[numpy.float64]:
    """The geodesic distances in meters from one point to n points: shape (n,).

    They equal `distance_m` to the last digit; with `towards` the point is its second argument.
    """
    x, y = shapely.get_x(points), shapely.get_y(points)
    ones = numpy.ones(len(points))
    one, many = (ones * point.x, ones * point.y), (x, y)
    start, end = (many, one) if towards else (one, many)
    return numpy.asarray(_GEOD.inv(*start, *end)[2], dtype=numpy.float64)


def may_be_near(shape: BaseGeometry, others: NDArray[numpy.object_], radius_m: float) -> NDArray[numpy.bool_]:
    """Which of n geometries may lie within `radius_m` meters of one, without false negatives; (n,).

    Computed in a plane in which nothing is further apart than on the ellipsoid: a degree has the shortest
    length it has within the radius. Where the radius crosses the antimeridian, all may.
    """
    west, _, east, _ = shape.bounds
    _, south, _, north = box_around(shape, radius_m).bounds
    farthest = max(abs(south), abs(north))
    scale = numpy.array([METERS_PER_DEGREE_EAST * math.cos(math.radians(farthest)), METERS_PER_DEGREE])
    if scale[0] <= 0 or west - radius_m / scale[0] < -180 or east + radius_m / scale[0] > 180:
        return numpy.ones(len(others), dtype=bool)
    plane = shapely.transform(shape, lambda coordinates: coordinates * scale)
    shapely.prepare(plane)
    flat = shapely.transform(others, lambda coordinates: coordinates * scale)
    return numpy.asarray(shapely.dwithin(plane, flat, radius_m))


def length_m(shape: BaseGeometry) -> float:
    """The geodesic length in meters of the lines of a geometry, and of the rings of its areas."""
    return float(_GEOD.geometry_length(_flat(shape)))


def perimeter_m(shape: BaseGeometry) -> float:
    """The geodesic length in meters of all rings of a geometry's areas, holes included; 0 for others."""
    return sum(length_m(polygon.boundary) for polygon in _polygons(shape))


def area_m2(shape: BaseGeometry) -> float:
    """The geodesic area in square meters of a geometry's areas, holes left out; 0 for points and lines."""
    polygons = (shapely.orient_polygons(polygon) for polygon in _polygons(shape))
    return sum(float(_GEOD.geometry_area_perimeter(polygon)[0]) for polygon in polygons)


def buffer_m(shape: BaseGeometry, radius_m: float, quarter_segments: int = 16) -> BaseGeometry:
    """All places within `radius_m` meters of a geometry (negative: inside it, that far from its border).

    Computed in an azimuthal equidistant projection about the middle of each part and transformed back to
    CRS84; vertices are inserted in long edges, so that they stay in place. Accurate for parts of up to some
    hundred kilometers anywhere on Earth; the result is cut in two at the antimeridian.
    Raises ArgumentError for a radius that is not finite or over 2,000 km, and where it reaches a pole.
    """
    if not abs(radius_m) <= 2_000_000:
        raise ArgumentError(
            f"A buffer of {radius_m:g} m is not possible. Give a radius of at most 2,000,000 m."
        )
    if shape.is_empty:
        return shape
    if radius_m > 0 and max(abs(edge) for edge in box_around(shape, radius_m).bounds[1::2]) >= 89.9:
        raise ArgumentError(f"A buffer of {radius_m:g} m reaches a pole here. Give a smaller radius.")
    parts = shapely.get_parts(shape) if radius_m > 0 else numpy.array([shape], dtype=object)
    buffers = [_buffer_part(part, radius_m, quarter_segments) for part in parts]
    return buffers[0] if len(buffers) == 1 else shapely.union_all(buffers)


def box_around(shape: BaseGeometry, radius_m: float) -> BaseGeometry:
    """A box in CRS84, or two at the antimeridian, around every place within `radius_m` of a geometry."""
    west, south, east, north = shape.bounds
    dy = radius_m / METERS_PER_DEGREE
    south, north = max(south - dy, -90.0), min(north + dy, 90.0)
    # The meridians are closest where the box is nearest to a pole; 1.02 covers the bulge of the circle.
    narrowest = math.cos(math.radians(min(max(abs(south), abs(north)), 89.99)))
    dx = 1.02 * radius_m / (METERS_PER_DEGREE_EAST * narrowest)
    if max(abs(south), abs(north)) >= 89.9 or east - west + 2 * dx >= 360:
        return shapely.box(-180, south, 180, north)
    west, east = west - dx, east + dx
    if west < -180:
        return shapely.union(
            shapely.box(-180, south, east, north), shapely.box(west + 360, south, 180, north)
        )
    if east > 180:
        return shapely.union(
            shapely.box(west, south, 180, north), shapely.box(-180, south, east - 360, north)
        )
    return shapely.box(west, south, east, north)


def _distance_apart(left: BaseGeometry, right: BaseGeometry, shift: float) -> float:
    """The distance with the right geometry moved `shift` degrees east.

    The nearest points are searched in a sinusoidal plane, which keeps lengths along parallels and,
    near its middle, along meridians; a second plane has its middle where the first found them.
    """
    bounds = numpy.array([left.bounds, right.bounds])
    longitude, latitude = bounds[:, [0, 2]].mean() + shift / 2, bounds[:, [1, 3]].mean()
    left, right = _with_short_edges(left), _with_short_edges(right)
    best = math.inf
    for _ in range(2):
        plane = _Plane(float(longitude), float(latitude))
        nearest = shapely.shortest_line(plane.flatten(left), plane.flatten(right, shift))
        (x1, y1), (x2, y2) = plane.unfold(shapely.get_coordinates(nearest))
        best = min(best, float(_GEOD.inv(x1, y1, x2, y2)[2]))
        longitude, latitude = (x1 + x2) / 2, (y1 + y2) / 2
    return best


@dataclass(frozen=True)
class _Plane:
    """A sinusoidal plane about a place, in degrees of longitude at the equator."""

    longitude: float
    latitude: float

    @property
    def steepness(self) -> float:
        """The length of a degree of latitude here relative to one of longitude at the equator."""
        sine = math.sin(math.radians(self.latitude))
        return float((1 - _ECCENTRICITY_2) / (1 - _ECCENTRICITY_2 * sine * sine) ** 1.5)

    def flatten(self, shape: BaseGeometry, shift: float = 0.0) -> BaseGeometry:
        def project(coordinates: Coordinates) -> Coordinates:
            x = (coordinates[:, 0] + (shift - self.longitude)) * _parallel(coordinates[:, 1])
            return numpy.column_stack([x, coordinates[:, 1] * self.steepness])

        return shapely.transform(shape, project)

    def unfold(self, coordinates: Coordinates) -> Coordinates:
        y = coordinates[:, 1] / self.steepness
        return numpy.column_stack([coordinates[:, 0] / _parallel(y) + self.longitude, y])


def _parallel(latitudes: Coordinates) -> Coordinates:
    """The length of parallels relative to the equator."""
    radians = numpy.radians(latitudes)
    width: Coordinates = numpy.cos(radians) / numpy.sqrt(1 - _ECCENTRICITY_2 * numpy.sin(radians) ** 2)
    width[width < 1e-9] = 1e-9
    return width


def _with_short_edges(shape: BaseGeometry, longest: float = _LONGEST_EDGE) -> BaseGeometry:
    """The same shape with more vertices, so that straight edges stay in place when they are projected."""
    return shapely.segmentize(shape, longest)


def _moved(coordinates: Coordinates, east: float) -> Coordinates:
    return numpy.asarray(coordinates + numpy.array([east, 0.0]))


def _through(transformer: Transformer, coordinates: Coordinates) -> Coordinates:
    x, y = transformer.transform(coordinates[:, 0], coordinates[:, 1])
    through: Coordinates = numpy.column_stack([numpy.asarray(x), numpy.asarray(y)])
    return through


def _buffer_part(part: BaseGeometry, radius_m: float, quarter_segments: int) -> BaseGeometry:
    west, south, east, north = part.bounds
    local = CRS.from_proj4(f"+proj=aeqd +lon_0={(west + east) / 2} +lat_0={(south + north) / 2} +datum=WGS84")
    out = Transformer.from_crs("OGC:CRS84", local)
    edge = min(max(math.sqrt(0.02 * EARTH_RADIUS_M * abs(radius_m)) / METERS_PER_DEGREE, 1e-3), 1.0)
    flat = shapely.transform(_with_short_edges(part, edge), partial(_through, out))
    grown = shapely.buffer(flat, radius_m, quad_segs=quarter_segments)
    back = Transformer.from_crs(local, "OGC:CRS84")
    result = shapely.transform(grown, partial(_through, back))
    if result.is_empty or not _reaches_edge(part, radius_m):
        return result
    return _cut_at_antimeridian(result, (west + east) / 2)


def _reaches_edge(part: BaseGeometry, radius_m: float) -> bool:
    west, _, east, _ = box_around(part, max(radius_m, 0.0)).bounds
    return bool(west <= -180 or east >= 180)


def _cut_at_antimeridian(shape: BaseGeometry, middle: float) -> BaseGeometry:
    """A shape whose longitudes jump by 360 degrees, made continuous about `middle`, then cut in two."""
    unrolled = shapely.transform(
        shape, lambda c: numpy.column_stack([(c[:, 0] - middle + 180) % 360 + middle - 180, c[:, 1]])
    )
    unrolled = shapely.make_valid(unrolled, method="structure", keep_collapsed=False)
    pieces = []
    for shift in (-360.0, 0.0, 360.0):
        window = shapely.intersection(unrolled, shapely.box(-180 + shift, -90, 180 + shift, 90))
        if not window.is_empty and window.area > 0:
            pieces.append(shapely.transform(window, partial(_moved, east=-shift)))
    return shapely.union_all(pieces)


def _polygons(shape: BaseGeometry) -> list[Polygon]:
    parts = [shape]
    polygons: list[Polygon] = []
    while parts:
        part = parts.pop()
        if isinstance(part, Polygon):
            polygons.append(part)
        elif isinstance(part, BaseMultipartGeometry):
            parts.extend(part.geoms)
    return polygons


def _flat(shape: BaseGeometry) -> BaseGeometry:
    return shapely.force_2d(shape)


_PAIRS: Final = 10_000_000
"""Pairs of edges that are compared, at most; of that many edges, ten are compared with all others."""
_Edges = NDArray[numpy.float64]
"""(edges, 2 ends, 2 coordinates)"""


def crossings(shape: BaseGeometry, other: BaseGeometry | None = None) -> float:
    """About how many pairs of edges of two shapes, or of one with itself, cross; touching does not count."""
    edges = _edges(shape)
    others = edges
    if other is not None:
        edges, others = _within(edges, other), _within(_edges(other), shape)
    if not len(edges) or not len(others):
        return 0.0
    # At even distances: the same shape always has the same estimate.
    count = min(len(edges), 100, max(10, _PAIRS // len(others)))
    sample = edges[numpy.linspace(0, len(edges) - 1, count).astype(int)]
    with numpy.errstate(over="ignore", invalid="ignore"):
        found = sum(_crossed(edge, others) for edge in sample) * len(edges) / count
    return found / 2 if other is None else found


def _edges(shape: BaseGeometry) -> _Edges:
    parts = shapely.get_parts(shape)
    areas = shapely.get_dimensions(parts) == 2
    lines = [*shapely.get_rings(parts[areas]), *parts[shapely.get_dimensions(parts) == 1]]
    points, owners = shapely.get_coordinates(lines, return_index=True)
    together = owners[1:] == owners[:-1]
    edges: _Edges = numpy.stack((points[:-1], points[1:]), axis=1)[together]
    return edges


def _within(edges: _Edges, other: BaseGeometry) -> _Edges:
    """The edges whose boxes meet that of another shape: of a coast and a park, hardly any."""
    low, high = numpy.split(numpy.array(other.bounds), 2)
    near: _Edges = edges[((edges.max(axis=1) >= low) & (edges.min(axis=1) <= high)).all(axis=1)]
    return near


def _crossed(edge: _Edges, others: _Edges) -> int:
    """How many of the others the edge crosses: the ends of each lie on both sides of the other."""
    start, end = edge
    starts, ends = others[:, 0], others[:, 1]
    apart = _side(start, end, starts) * _side(start, end, ends) < 0
    return int(numpy.count_nonzero(apart & (_side(starts, ends, start) * _side(starts, ends, end) < 0)))


def _side(start: _Edges, end: _Edges, point: _Edges) -> NDArray[numpy.float64]:
    along, across = end - start, point - start
    side: NDArray[numpy.float64] = along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0]
    return side

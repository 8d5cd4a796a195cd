"""Coordinate reference systems by their OGC IRI, with the axis order the authority defines.

Everything inside `geo` is in CRS84: longitude first, degrees. EPSG/0/4326 is latitude first
(GeoSPARQL 1.1, 8.5.1.1: the axis order of a literal is that of its reference system).
"""

import re
import struct
from collections.abc import Callable
from functools import lru_cache

import numpy
import numpy.typing
import shapely
from numpy.typing import NDArray
from pyproj import CRS, Transformer
from pyproj.exceptions import CRSError, ProjError
from shapely.geometry.base import BaseGeometry

from geo.errors import AxisOrderError, GeometryError, UnknownCrsError
from geo.vocabulary import CRS84

_OGC_IRI = re.compile(
    r"https?://www\.opengis\.net/def/crs/(?P<authority>\w+)/(?P<version>[\w.]+)/(?P<code>\w+)"
)
_OGC_URN = re.compile(r"urn:(?:ogc|x-ogc):def:crs:(?P<authority>\w+):(?P<version>[\w.]*):(?P<code>\w+)", re.I)

# CRS84 except for its axis order: swapping is exact, while a transformation rounds.
_LATITUDE_FIRST = "http://www.opengis.net/def/crs/EPSG/0/4326"

# Parameters for which PROJ reads other files: definitions and grids.
_OTHER_FILES = re.compile(r"\b(?:init|file|\w*grids)=")

# Rounding in a transformation may carry a pole or the antimeridian this far over the edge (degrees).
_EDGE = 1e-9

# A position within a system returns from CRS84 to about the same place, within the difference between the
# operations of neighboring areas of use (hundreds of meters); one past the system's edge returns tens of
# thousands of kilometers off.
_RETURNS_DEGREES, _RETURNS_LENGTH = 0.01, 1000.0

# Degrees outside the area of use from which coordinates are suspected of being swapped.
_FAR_OUTSIDE = 10.0


@lru_cache(maxsize=256)
def canonical_crs(iri: str) -> str:
    """The OGC IRI of a reference system, from any of the accepted forms.

    Accepted: `http(s)://www.opengis.net/def/crs/AUTHORITY/VERSION/CODE` and the URN
    `urn:ogc:def:crs:AUTHORITY:VERSION:CODE`. A bare `EPSG:4326` is refused, since programs
    disagree about its axis order. Raises UnknownCrsError.
    """
    match = _OGC_IRI.fullmatch(iri) or _OGC_URN.fullmatch(iri)
    if match is None:
        raise UnknownCrsError(
            f"{iri!r} does not name a coordinate reference system. "
            f"Write its OGC IRI, for example <{CRS84}> or <http://www.opengis.net/def/crs/EPSG/0/4326>."
        )
    authority, code = match["authority"].upper(), match["code"]
    if authority == "OGC" and code.upper() == "CRS84":
        return CRS84
    version = match["version"] if match["version"] and authority == "OGC" else "0"
    return f"http://www.opengis.net/def/crs/{authority}/{version}/{code}"


@lru_cache(maxsize=256)
def find_crs(iri: str) -> CRS:
    """The definition of a two-axis reference system on Earth. Raises UnknownCrsError."""
    canonical = canonical_crs(iri)
    authority, _, code = canonical.removeprefix("http://www.opengis.net/def/crs/").split("/")
    try:
        crs = CRS.from_authority(authority, code)
    except CRSError as error:
        raise UnknownCrsError(
            f"No coordinate reference system <{iri}> is known. Check its authority and code in the "
            f"EPSG or OGC register, or transform the coordinates to <{CRS84}>."
        ) from error
    if not (crs.is_geographic or crs.is_projected):
        raise UnknownCrsError(
            f"<{iri}> is a {crs.type_name}, neither geographic nor projected. "
            f"Transform the coordinates to <{CRS84}>."
        )
    return crs


def to_crs84(geometry: BaseGeometry, iri: str) -> BaseGeometry:
    """A geometry whose coordinates are in the reference system `iri`, in CRS84 (longitude, latitude).

    Heights (Z) are kept unchanged where the source has two axes. Raises UnknownCrsError; AxisOrderError
    where the result is outside the range of longitudes and latitudes, or far outside the system's area of
    use though swapped axes would be inside; GeometryError for coordinates that are no place on Earth.
    """
    source = canonical_crs(iri)
    if source == CRS84:
        check_range(geometry, source)
        return geometry
    placed = _transform(geometry, source, CRS84)
    check_range(placed, source)
    if source != _LATITUDE_FIRST and not geometry.is_empty:
        _check_place(geometry, placed, source)
    return placed


def file_to_crs84(crs: object) -> Callable[[BaseGeometry], BaseGeometry]:
    """A function that transforms a file's geometries to CRS84.

    `crs` is as written in the file: `EPSG:2263`, WKT or PROJJSON. Files write the longitude first whatever
    the authority defines, so this reads it first. Raises UnknownCrsError.
    """
    if _OTHER_FILES.search(str(crs)):
        raise UnknownCrsError(
            f"The file's coordinate reference system names other files: {str(crs)[:120]}. Transform the "
            "file to EPSG:4326, or say with 'crs' in the mapping which it is."
        )
    try:
        source = CRS.from_user_input(crs)
        transformer = Transformer.from_crs(source, CRS.from_authority("OGC", "CRS84"), always_xy=True)
    except (CRSError, ProjError) as error:
        raise UnknownCrsError(
            f"The file's coordinate reference system is not understood: {str(crs)[:120]}. "
            "Transform the file to EPSG:4326, or say with 'crs' in the mapping which it is."
        ) from error
    same = source.is_geographic and source.to_2d().equals(CRS.from_epsg(4326), ignore_axis_order=True)
    same = same or source.to_authority() == ("OGC", "CRS84")

    def convert(coordinates: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
        return numpy.column_stack(transformer.transform(coordinates[:, 0], coordinates[:, 1]))

    def to_crs84(shape: BaseGeometry) -> BaseGeometry:
        if not same:
            shape = move(shape, convert)
            if not numpy.isfinite(shapely.get_coordinates(shape)).all():
                raise GeometryError(
                    "The coordinates cannot be transformed to CRS84: they lie outside the area of use of the "
                    "file's reference system. Check which system the file is in."
                )
        check_range(shape, CRS84 if same else source.name)
        return shape

    return to_crs84


def from_crs84(geometry: BaseGeometry, iri: str) -> BaseGeometry:
    """A CRS84 geometry in the coordinates, and the axis order, of the reference system `iri`."""
    target = canonical_crs(iri)
    return geometry if target == CRS84 else _transform(geometry, CRS84, target)


def check_range(geometry: BaseGeometry, source: str = CRS84) -> None:
    """Refuse a CRS84 geometry that lies outside longitude -180..180, latitude -90..90.

    `source` is the reference system its literal named. Raises AxisOrderError, naming the likely cause.
    """
    if geometry.is_empty:
        return
    west, south, east, north = geometry.bounds
    if south >= -90 - _EDGE and north <= 90 + _EDGE and west >= -180 - _EDGE and east <= 180 + _EDGE:
        return
    extent = f"the coordinates reach from ({west:g} {south:g}) to ({east:g} {north:g})"
    if source == CRS84 and max(abs(south), abs(north)) > 90 and max(abs(west), abs(east)) <= 90:
        raise AxisOrderError(
            f"axes look swapped: CRS84 is longitude latitude, but {extent}. "
            "Write the longitude first, or name the reference system EPSG/0/4326, which is latitude first."
        )
    if source == CRS84 and max(abs(south), abs(north)) <= 90 and max(abs(west), abs(east)) <= 360:
        raise AxisOrderError(
            f"longitudes run from -180 to 180, but {extent}. "
            "Cut a geometry that crosses the antimeridian there into two parts (RFC 7946, 3.1.9)."
        )
    if source == CRS84:
        raise AxisOrderError(
            f"CRS84 is longitude and latitude in degrees, but {extent}. "
            "Name the reference system of projected coordinates in front, as <IRI> WKT."
        )
    raise AxisOrderError(
        f"transformed from <{source}>, {extent}, which is no place on Earth. "
        "Check the axis order and the reference system that the literal names."
    )


def _check_place(written: BaseGeometry, placed: BaseGeometry, source: str) -> None:
    """Refuse coordinates past the edge of their system, and those whose axes look swapped."""
    back = shapely.get_coordinates(_transform(placed, CRS84, source))
    near = _RETURNS_DEGREES if find_crs(source).is_geographic else _RETURNS_LENGTH
    if not numpy.allclose(back, shapely.get_coordinates(written), rtol=0.0, atol=near):
        raise _outside(source, CRS84)
    used = _area_of_use(source)
    if used is None or shapely.dwithin(placed, used, _FAR_OUTSIDE):
        return
    try:
        swapped = _transform(move(written, _swap), source, CRS84)
    except GeometryError:
        return
    if shapely.dwithin(swapped, used, 1.0):
        first, second = (axis.direction for axis in find_crs(source).axis_info[:2])
        raise AxisOrderError(
            f"axes look swapped: the first coordinate of <{source}> goes {first}, the second {second}, which "
            f"is far outside the area of the system. Swap them."
        )


@lru_cache(maxsize=256)
def _area_of_use(source: str) -> BaseGeometry | None:
    """A system's area of use in degrees; None where none is known or it crosses the antimeridian."""
    area = find_crs(source).area_of_use
    return None if area is None or area.west > area.east else shapely.box(*area.bounds)


def _outside(source: str, target: str) -> GeometryError:
    return GeometryError(
        f"The coordinates cannot be transformed from <{source}> to <{target}>: they lie outside its area "
        "of use. Check the axis order and the reference system that the literal names."
    )


def in_range(bounds: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.bool_]:
    """Whether `check_range` accepts each of n boxes (n, 4: west, south, east, north): shape (n,)."""
    low, high = bounds[:, :2], bounds[:, 2:]
    edge = numpy.array([180 + _EDGE, 90 + _EDGE])
    return numpy.asarray(((low >= -edge) & (high <= edge)).all(axis=1))


@lru_cache(maxsize=64)
def _transformer(source: str, target: str) -> Transformer:
    try:
        return Transformer.from_crs(find_crs(source), find_crs(target))
    except ProjError as error:
        raise UnknownCrsError(
            f"There is no transformation from <{source}> to <{target}>. Use <{CRS84}>."
        ) from error


def _swap(coordinates: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
    return coordinates[:, ::-1]


def _transform(geometry: BaseGeometry, source: str, target: str) -> BaseGeometry:
    if {source, target} == {CRS84, _LATITUDE_FIRST}:
        return move(geometry, _swap)
    transformer = _transformer(source, target)

    def convert(coordinates: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]:
        return numpy.column_stack(transformer.transform(coordinates[:, 0], coordinates[:, 1]))

    transformed = move(geometry, convert)
    if not numpy.isfinite(shapely.get_coordinates(transformed)).all():
        raise _outside(source, target)
    return transformed


Coordinates = NDArray[numpy.float64]
Convert = Callable[[Coordinates], Coordinates]

_POINT, _LINE, _POLYGON = 1, 2, 3


def move(shape: BaseGeometry, convert: Convert) -> BaseGeometry:
    """The shape with `convert` applied to its positions: (n, 2) to (n, 2), in two dimensions."""
    if not shapely.has_m(shape):
        has_z = bool(shapely.has_z(shape))
        moved: BaseGeometry = shapely.transform(shape, lambda c: _first_two(c, convert), include_z=has_z)
        return moved
    wkb = bytearray(shapely.to_wkb(shape, flavor="iso", byte_order=1))
    _move_geometry(wkb, 0, convert)
    found: BaseGeometry = shapely.from_wkb(bytes(wkb))
    return found


def _first_two(coordinates: Coordinates, convert: Convert) -> Coordinates:
    moved = convert(coordinates[:, :2])
    return moved if coordinates.shape[1] == 2 else numpy.column_stack([moved, coordinates[:, 2:]])


def _move_geometry(wkb: bytearray, at: int, convert: Convert) -> int:
    """Move the geometry of ISO WKB at a byte offset, in place; the offset of the next one."""
    (code,) = struct.unpack_from("<I", wkb, at + 1)
    kind, size, at = code % 1000, 2 + (1, 1, 2)[code // 1000 - 1] if code >= 1000 else 2, at + 5
    if kind == _POINT:
        return _move_positions(wkb, at, 1, size, convert)
    (count,) = struct.unpack_from("<I", wkb, at)
    at += 4
    for _ in range(1 if kind == _LINE else count):
        if kind == _POLYGON:
            (length,) = struct.unpack_from("<I", wkb, at)
            at = _move_positions(wkb, at + 4, length, size, convert)
        elif kind == _LINE:
            at = _move_positions(wkb, at, count, size, convert)
        else:
            at = _move_geometry(wkb, at, convert)
    return at


def _move_positions(wkb: bytearray, at: int, count: int, size: int, convert: Convert) -> int:
    positions = numpy.frombuffer(wkb, "<f8", count * size, at).reshape(count, size)
    if not numpy.isnan(positions[:, :2]).any():  # NaN is how WKB says that a point is empty
        positions[:, :2] = convert(positions[:, :2].copy())
    return at + 8 * count * size

"""KML geometries as text (OGC 07-147r2, clause 10). KML is always longitude, latitude[, altitude]."""

from collections.abc import Callable
from typing import Any, Final

import numpy
import shapely
from lxml import etree
from numpy.typing import NDArray
from shapely import (
    GeometryCollection,
    GEOSException,
    LinearRing,
    MultiLineString,
    MultiPoint,
    MultiPolygon,
    Polygon,
)
from shapely.geometry.base import BaseGeometry, BaseMultipartGeometry

from geo.errors import GeometryError
from geo.formats.gml import closed_ring, finite, line, local_name, parse_xml, point, polygon

KML: Final = "http://www.opengis.net/kml/2.2"

Positions = NDArray[numpy.float64]

_NAMESPACES: Final[Any] = {None: KML}
_GEOMETRIES: Final = ("Point", "LineString", "LinearRing", "Polygon", "MultiGeometry")
_MULTI: Final[dict[str, Callable[..., BaseGeometry]]] = {
    "Point": MultiPoint,
    "LineString": MultiLineString,
    "Polygon": MultiPolygon,
}


def read_kml(text: str) -> BaseGeometry:
    """The first geometry of a KML text. A MultiGeometry of one kind becomes that Multi geometry.

    Raises GeometryError for text without a geometry.
    """
    root = parse_xml(text, "KML")
    found = next((element for element in root.iter() if local_name(element) in _GEOMETRIES), None)
    if found is None:
        raise GeometryError("The KML literal holds no geometry. Give one of " + ", ".join(_GEOMETRIES) + ".")
    try:
        return _geometry(found)
    except GEOSException as error:
        raise GeometryError(
            f"The KML geometry has a broken ring or line: {error}. Close every ring."
        ) from error


def write_kml(shape: BaseGeometry) -> str:
    """KML for a shape in CRS84."""
    return etree.tostring(_element(shape), encoding="unicode")


def _geometry(element: etree._Element) -> BaseGeometry:
    name = local_name(element)
    if name == "Point":
        return point(_positions(element))
    if name == "LineString":
        return line(_positions(element))
    if name == "LinearRing":
        return closed_ring(_positions(element))
    if name == "Polygon":
        return _polygon(element)
    parts = [_geometry(child) for child in element if local_name(child) in _GEOMETRIES]
    parts = [part for part in parts if not part.is_empty]
    kinds = {part.geom_type for part in parts}
    kind = kinds.pop() if len(kinds) == 1 else ""
    combine = _MULTI.get(kind, GeometryCollection)
    return combine(parts)


def _polygon(element: etree._Element) -> BaseGeometry:
    shells: list[LinearRing] = []
    holes: list[LinearRing] = []
    for child in element:
        rings = [closed_ring(_positions(ring)) for ring in child if local_name(ring) == "LinearRing"]
        if local_name(child) == "outerBoundaryIs":
            shells.extend(rings)
        elif local_name(child) == "innerBoundaryIs":
            holes.extend(rings)
    return polygon(shells, holes)


def _positions(element: etree._Element) -> Positions:
    text = " ".join(child.text or "" for child in element if local_name(child) == "coordinates")
    try:
        rows = [[finite(number) for number in part.split(",")] for part in text.split()]
    except ValueError as error:
        raise GeometryError(
            f"A KML coordinate is not a number: {error}. Write longitude,latitude[,altitude]."
        ) from error
    if any(len(row) not in (2, 3) for row in rows):
        raise GeometryError("A KML position has two or three numbers: write longitude,latitude[,altitude].")
    size = min((len(row) for row in rows), default=2)
    return numpy.array([row[:size] for row in rows], dtype=float).reshape(len(rows), size)


def _element(shape: BaseGeometry) -> etree._Element:
    kind = shape.geom_type
    name = kind if kind in _GEOMETRIES else "MultiGeometry"
    root = etree.Element(f"{{{KML}}}{name}", nsmap=_NAMESPACES)
    if kind in ("Point", "LineString", "LinearRing"):
        coordinates = shapely.get_coordinates(shape, include_z=bool(shapely.has_z(shape)))
        text = " ".join(",".join(repr(float(number)) for number in row) for row in coordinates)
        etree.SubElement(root, f"{{{KML}}}coordinates").text = text
    elif isinstance(shape, Polygon):
        if not shape.is_empty:
            etree.SubElement(root, f"{{{KML}}}outerBoundaryIs").append(_element(shape.exterior))
        for hole in shape.interiors:
            etree.SubElement(root, f"{{{KML}}}innerBoundaryIs").append(_element(hole))
    elif isinstance(shape, BaseMultipartGeometry):
        root.extend(_element(part) for part in shape.geoms)
    return root

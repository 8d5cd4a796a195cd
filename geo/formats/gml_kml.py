"""GML and KML geometries as text, in and out.

GML 2, 3.1 and 3.2 simple features are read, 3.2 structures are written. KML (OGC 07-147r2, clause 10) is
always longitude, latitude[, altitude].
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy
import shapely
from lxml import etree
from numpy.typing import NDArray
from shapely import (
    GeometryCollection,
    GEOSException,
    LinearRing,
    LineString,
    MultiLineString,
    MultiPoint,
    MultiPolygon,
    Point,
    Polygon,
)
from shapely.geometry.base import BaseGeometry, BaseMultipartGeometry

from geo.errors import GeometryError
from geo.measure.crs import canonical_crs
from geo.vocabulary import CRS84

Positions = NDArray[numpy.float64]

# The namespace that GeoSPARQL gives to GML literals; any namespace is read.
GML: Final = "http://www.opengis.net/ont/gml"

_MULTI: Final[dict[str, Callable[..., BaseGeometry]]] = {
    "MultiPoint": MultiPoint,
    "MultiLineString": MultiLineString,
    "MultiCurve": MultiLineString,
    "MultiPolygon": MultiPolygon,
    "MultiSurface": MultiPolygon,
    "MultiGeometry": GeometryCollection,
}
_PARTS: Final[dict[Callable[..., BaseGeometry], set[str]]] = {
    MultiPoint: {"Point"},
    MultiLineString: {"LineString", "LinearRing"},
    MultiPolygon: {"Polygon"},
}
_PATCHES: Final = ("patches", "polygonPatches", "trianglePatches")


def _parse_xml(text: str, language: str) -> etree._Element:
    """The root element of a document, without entities, network or huge trees. Raises GeometryError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        return etree.fromstring(text.strip().encode(), parser)
    except etree.XMLSyntaxError as error:
        raise GeometryError(
            f"The {language} literal is not well-formed XML: {error}. Fix the XML."
        ) from error


def _local_name(element: etree._Element) -> str:
    """The name of an element without its namespace; empty for a comment or instruction."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def read_gml(text: str) -> tuple[BaseGeometry, str]:
    """The shape as written, and the IRI of its reference system (CRS84 where none is named).

    Raises GeometryError for anything but a simple-feature geometry, and UnknownCrsError.
    """
    root = _parse_xml(text, "GML")
    names = {value for element in root.iter() if (value := element.get("srsName"))}
    systems = {canonical_crs(name) for name in names}
    if len(systems) > 1:
        raise GeometryError(f"The GML names several reference systems: {sorted(systems)}. Use one srsName.")
    try:
        return _geometry(root, 2), systems.pop() if systems else CRS84
    except GEOSException as error:
        raise _broken("GML", error) from error


def write_gml(shape: BaseGeometry, crs: str) -> str:
    """GML for a shape whose coordinates are in `crs` already."""
    root = _element(shape)
    root.set("srsName", crs)
    return etree.tostring(root, encoding="unicode")


def _geometry(element: etree._Element, dimension: int) -> BaseGeometry:
    name = _local_name(element)
    dimension = _dimension(element.get("srsDimension", dimension))
    if name == "Point":
        return _point(_positions(element, dimension))
    if name == "LineString":
        return _line(_positions(element, dimension))
    if name == "LinearRing":
        return _closed_ring(_positions(element, dimension))
    if name == "Curve":
        segments = _pieces(element, ("segments",), ("LineStringSegment",))
        return _line(_joined([_positions(segment, dimension) for segment in segments]))
    if name in ("Polygon", "PolygonPatch", "Triangle", "Rectangle"):
        return _polygon(element, dimension)
    if name in ("Surface", "PolyhedralSurface", "TriangulatedSurface"):
        patches = _pieces(element, _PATCHES, ("PolygonPatch", "Triangle", "Rectangle"))
        return _union([_polygon(patch, dimension) for patch in patches])
    if name in ("Envelope", "Box"):
        corners = _positions(element, dimension)
        if len(corners) != 2:
            raise GeometryError(f"A GML {name} has two corners. Give a lowerCorner and an upperCorner.")
        west, south, east, north = (float(number) for corner in corners for number in corner[:2])
        return shapely.box(west, south, east, north)
    if name in _MULTI:
        return _combined(name, [g for member in _children(element) for g in _members(member, dimension)])
    raise GeometryError(
        f"<{name}> is not a GML geometry that is read here. Use Point, LineString, Curve, Polygon, Surface, "
        "Envelope or a Multi geometry."
    )


def _point(positions: Positions) -> Point:
    if len(positions) > 1:
        raise GeometryError("A point has one position. Write several as a line or as a Multi geometry.")
    return Point(positions[0]) if len(positions) else Point()


def _line(positions: Positions) -> LineString:
    if len(positions) == 1:
        raise GeometryError("A line must have two positions or more. Write a point as a Point.")
    return LineString(positions)


def _closed_ring(positions: Positions) -> LinearRing:
    if len(positions) < 4 or (positions[0, :2] != positions[-1, :2]).any():
        raise GeometryError(
            "A ring must have four positions or more and end where it starts. Close every ring."
        )
    return LinearRing(positions)


def _union(patches: list[Polygon]) -> BaseGeometry:
    union: BaseGeometry = shapely.union_all(patches)
    return patches[0] if len(patches) == 1 else union


def _combined(name: str, members: list[BaseGeometry]) -> BaseGeometry:
    """A Multi geometry of members, each of them one or several parts of the kind in its name."""
    combine = _MULTI[name]
    if combine is GeometryCollection:
        return combine(members)
    parts = [part for member in members for part in shapely.get_parts(member)]
    strangers = {part.geom_type for part in parts} - _PARTS[combine]
    if strangers:
        raise GeometryError(
            f"A GML {name} cannot hold a {min(strangers)}. Write parts of different kinds as a MultiGeometry."
        )
    return combine([part for part in parts if not part.is_empty])


def _pieces(
    element: etree._Element, holders: tuple[str, ...], kinds: tuple[str, ...]
) -> list[etree._Element]:
    """The segments of a Curve or the patches of a Surface, all of which must be of supported kinds."""
    pieces = [piece for holder in _named(element, *holders) for piece in _children(holder)]
    for piece in pieces:
        if (kind := _local_name(piece)) not in kinds:
            raise GeometryError(f"<{kind}> is not read here. Draw curves as line strings, with {kinds[0]}.")
    return pieces


def _members(member: etree._Element, dimension: int) -> list[BaseGeometry]:
    """The geometries in a `pointMember`, `surfaceMembers`, ... element."""
    return [_geometry(child, dimension) for child in _children(member)]


def _polygon(element: etree._Element, dimension: int) -> Polygon:
    shells: list[LinearRing] = []
    holes: list[LinearRing] = []
    for child in _children(element):
        name = _local_name(child)
        if name in ("exterior", "outerBoundaryIs"):
            shells.extend(_ring(ring, dimension) for ring in _children(child))
        elif name in ("interior", "innerBoundaryIs"):
            holes.extend(_ring(ring, dimension) for ring in _children(child))
    if len(shells) > 1 or (holes and not shells):
        raise GeometryError(
            f"A polygon has one outer ring, not {len(shells)}. Write several as a Multi geometry."
        )
    return Polygon(shells[0], holes) if shells else Polygon()


def _ring(element: etree._Element, dimension: int) -> LinearRing:
    """A LinearRing, or a Ring of curves end to end."""
    curves = [
        _geometry(child, dimension)
        for member in _named(element, "curveMember")
        for child in _children(member)
    ]
    if not curves:
        return _closed_ring(_positions(element, dimension))
    return _closed_ring(
        _joined([shapely.get_coordinates(c, include_z=bool(shapely.has_z(c))) for c in curves])
    )


def _positions(element: etree._Element, dimension: int) -> Positions:
    """The positions directly inside an element: pos, posList, coordinates, corners, pointProperty."""
    parts = []
    for child in _children(element):
        name, text = _local_name(child), child.text or ""
        size = _dimension(child.get("srsDimension", child.get("dimension", dimension)))
        if name in ("pos", "lowerCorner", "upperCorner"):
            parts.append([_numbers(text.split())])
        elif name == "posList":
            parts.append(_grouped(_numbers(text.split()), size))
        elif name == "coordinates":
            text = text.replace(child.get("decimal") or ".", ".")
            parts.append(_tuples(text, child.get("cs") or ",", child.get("ts") or " "))
        elif name == "coord":
            parts.append([_numbers([(part.text or "").strip() for part in _children(child)])])
        elif name in ("pointProperty", "pointRep"):
            parts.append([list(row) for held in _children(child) for row in _positions(held, dimension)])
    rows = [row for part in parts for row in part]
    if len({len(row) for row in rows}) > 1 or any(len(row) not in (2, 3) for row in rows):
        raise GeometryError(
            "GML positions must all have two, or all three, numbers. Set srsDimension to fit."
        )
    return numpy.array(rows, dtype=float).reshape(len(rows), len(rows[0]) if rows else 2)


def _tuples(text: str, between_numbers: str, between_tuples: str) -> list[list[float]]:
    separator = None if between_tuples.isspace() else between_tuples
    return [
        _numbers(part.strip().split(between_numbers))
        for part in text.strip().split(separator)
        if part.strip()
    ]


def _dimension(value: int | str) -> int:
    """How many numbers a position has: 2 or 3. Raises GeometryError."""
    if str(value) not in ("2", "3"):
        raise GeometryError(
            f"{value!r} is not a supported dimension of GML positions. Set srsDimension to 2 or 3."
        )
    return int(value)


def _grouped(numbers: list[float], size: int) -> list[list[float]]:
    if len(numbers) % size:
        raise GeometryError(
            f"A posList of {len(numbers)} numbers does not divide into positions of {size}. Set srsDimension."
        )
    return [numbers[i : i + size] for i in range(0, len(numbers), size)]


def _numbers(words: list[str]) -> list[float]:
    try:
        return [_finite(word) for word in words]
    except ValueError as error:
        raise GeometryError(
            f"A coordinate is not a number: {error}. Separate the numbers as the format says."
        ) from error


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word!r} is not a finite number")
    return number


def _joined(segments: list[Positions]) -> Positions:
    """Segments of a curve, end to end, without repeated joints."""
    if not segments:
        raise GeometryError(
            "A GML Curve without LineStringSegment cannot be read. Draw arcs as line strings."
        )
    return numpy.concatenate([segments[0], *(segment[1:] for segment in segments[1:])])


def _children(element: etree._Element) -> Iterator[etree._Element]:
    return (child for child in element if isinstance(child.tag, str))


def _named(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    return (child for child in element.iter() if _local_name(child) in names)


def _element(shape: BaseGeometry) -> etree._Element:
    kind = shape.geom_type
    root = etree.Element(f"{{{GML}}}{_WRITTEN.get(kind, kind)}", nsmap={"gml": GML})
    if kind == "Point":
        if not shape.is_empty:
            _text(root, "pos", shape)
    elif kind in ("LineString", "LinearRing"):
        _text(root, "posList", shape)
    elif isinstance(shape, Polygon):
        for name, ring in [("exterior", shape.exterior), *(("interior", hole) for hole in shape.interiors)]:
            if not ring.is_empty:
                etree.SubElement(root, f"{{{GML}}}{name}").append(_element(ring))
    elif isinstance(shape, BaseMultipartGeometry):
        for part in shape.geoms:
            etree.SubElement(root, f"{{{GML}}}{_MEMBER[kind]}").append(_element(part))
    return root


_WRITTEN: Final = {
    "MultiLineString": "MultiCurve",
    "MultiPolygon": "MultiSurface",
    "GeometryCollection": "MultiGeometry",
}
_MEMBER: Final = {
    "MultiPoint": "pointMember",
    "MultiLineString": "curveMember",
    "MultiPolygon": "surfaceMember",
    "GeometryCollection": "geometryMember",
}


def _text(parent: etree._Element, name: str, shape: BaseGeometry) -> None:
    has_z = bool(shapely.has_z(shape))
    element = etree.SubElement(parent, f"{{{GML}}}{name}")
    if has_z:
        element.set("srsDimension", "3")
    coordinates = shapely.get_coordinates(shape, include_z=has_z)
    element.text = " ".join(repr(float(number)) for number in coordinates.ravel())


def _broken(language: str, error: GEOSException) -> GeometryError:
    return GeometryError(f"The {language} geometry has a broken ring or line: {error}. Close every ring.")


KML: Final = "http://www.opengis.net/kml/2.2"

_NAMESPACES: Final[Any] = {None: KML}
_KML_GEOMETRIES: Final = ("Point", "LineString", "LinearRing", "Polygon", "MultiGeometry")
_OF_ONE_KIND: Final[dict[str, Callable[..., BaseGeometry]]] = {
    "Point": MultiPoint,
    "LineString": MultiLineString,
    "Polygon": MultiPolygon,
}


def read_kml(text: str) -> BaseGeometry:
    """The first geometry of a KML text. A MultiGeometry of one kind becomes that Multi geometry.

    Raises GeometryError for text without a geometry.
    """
    root = _parse_xml(text, "KML")
    found = next((element for element in root.iter() if _local_name(element) in _KML_GEOMETRIES), None)
    if found is None:
        names = ", ".join(_KML_GEOMETRIES)
        raise GeometryError(f"The KML literal holds no geometry. Give one of {names}.")
    for element in _named(found, "coordinates"):
        positions = [position.split(",") for position in (element.text or "").split()]
        if any(len(position) == 2 for position in positions):
            # Altitudes are optional, position by position.
            positions = [position[:2] if len(position) == 3 else position for position in positions]
        element.text = " ".join(map(",".join, positions))
    try:
        return _kml_geometry(found)
    except GEOSException as error:
        raise _broken("KML", error) from error


def write_kml(shape: BaseGeometry) -> str:
    """KML for a shape in CRS84."""
    return etree.tostring(_kml_element(shape), encoding="unicode")


def _kml_geometry(element: etree._Element) -> BaseGeometry:
    # What KML has besides a MultiGeometry is read as in GML 2.
    if _local_name(element) != "MultiGeometry":
        return _geometry(element, 2)
    parts = [_kml_geometry(child) for child in element if _local_name(child) in _KML_GEOMETRIES]
    parts = [part for part in parts if not part.is_empty]
    kinds = {part.geom_type for part in parts}
    combine = _OF_ONE_KIND.get(kinds.pop() if len(kinds) == 1 else "", GeometryCollection)
    return combine(parts)


def _kml_element(shape: BaseGeometry) -> etree._Element:
    kind = shape.geom_type
    name = kind if kind in _KML_GEOMETRIES else "MultiGeometry"
    root = etree.Element(f"{{{KML}}}{name}", nsmap=_NAMESPACES)
    if kind in ("Point", "LineString", "LinearRing"):
        coordinates = shapely.get_coordinates(shape, include_z=bool(shapely.has_z(shape)))
        text = " ".join(",".join(repr(float(number)) for number in row) for row in coordinates)
        etree.SubElement(root, f"{{{KML}}}coordinates").text = text
    elif isinstance(shape, Polygon):
        if not shape.is_empty:
            etree.SubElement(root, f"{{{KML}}}outerBoundaryIs").append(_kml_element(shape.exterior))
        for hole in shape.interiors:
            etree.SubElement(root, f"{{{KML}}}innerBoundaryIs").append(_kml_element(hole))
    elif isinstance(shape, BaseMultipartGeometry):
        root.extend(_kml_element(part) for part in shape.geoms)
    return root

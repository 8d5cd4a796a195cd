"""Reading and writing geometry literals: WKT, GeoJSON, GML and KML (GeoSPARQL 1.1, 8.5).

Whatever a literal's reference system, the returned shape is in CRS84 (longitude, latitude).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from typing import Literal as OneOf

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode
from shapely import GeometryCollection, GEOSException
from shapely.geometry.base import BaseGeometry

from geo.errors import GeometryError, InvalidShapeError
from geo.formats.gml_kml import read_gml, read_kml, write_gml, write_kml
from geo.measure.crs import canonical_crs, from_crs84, in_range, to_crs84
from geo.measure.measures import crossings
from geo.remembered import remembered
from geo.vocabulary import CRS84, GEOJSON_LITERAL, GEOMETRY_LITERALS, GML_LITERAL, KML_LITERAL, WKT_LITERAL

Invalid = OneOf["repair", "refuse"]

_WKT: Final = re.compile(r"\s*(?:<(?P<crs>[^>]*)>)?(?P<text>.*)", re.DOTALL)
_NUMBER: Final = r"([-+]?[0-9]+(?:\.[0-9]+)?)"
_PLAIN_POINT: Final = re.compile(rf"POINT ?\({_NUMBER} {_NUMBER}\)")
_SURFACE: Final = re.compile(r"(?:TIN|TRIANGLE|POLYHEDRALSURFACE)\b", re.IGNORECASE)
_MOST_CROSSINGS: Final = 10_000
"""Of the edges of a shape that is repaired: half a second."""
_CACHED_LITERALS: Final = ((1_000, 4096), (50_000, 256), (1_000_000, 8))
"""Maximum length in characters and number of texts: points and streets, boroughs, country outlines."""


@dataclass(frozen=True)
class GeometryValue:
    """The value of a geometry literal.

    `shape` is in CRS84; `crs` is the IRI of the reference system the literal was written in;
    `repair` says what was wrong with the shape before it was repaired, None if nothing was.
    """

    shape: BaseGeometry
    crs: str = CRS84
    datatype: NamedNode = WKT_LITERAL
    repair: str | None = None


def is_geometry_literal(term: object) -> bool:
    """Whether a term is a literal of one of the four geometry datatypes."""
    return isinstance(term, Literal) and term.datatype in GEOMETRY_LITERALS


def parse_geometry(literal: Literal, invalid: Invalid = "repair") -> BaseGeometry:
    """The shape of a geometry literal in CRS84. Raises GeometryError, whose message says how to fix it.

    The shape may be shared with other callers: take a copy before preparing it.
    """
    return read_geometry(literal, invalid).shape


def read_geometry(literal: Literal, invalid: Invalid = "repair") -> GeometryValue:
    """A geometry literal with its reference system, cached by its text.

    A shape that breaks the simple-feature rules is repaired (`make_valid`, method "structure") and the
    fault kept in `repair`, or refused with InvalidShapeError. Raises GeometryError for text that is not a
    geometry, coordinates that are not finite or out of range, and unknown reference systems.
    """
    return _read(literal.value, literal.datatype.value, invalid)


def write_geometry(shape: BaseGeometry, datatype: NamedNode = WKT_LITERAL, crs: str = CRS84) -> Literal:
    """A literal of the given datatype for a CRS84 shape, in the coordinates of `crs`.

    GeoJSON and KML are always in CRS84. Raises GeometryError for a datatype that is not a geometry's.
    """
    shape = _of_one_dimension(shape)
    if datatype == WKT_LITERAL:
        text = _exact_wkt(from_crs84(shape, crs))
        return Literal(text if canonical_crs(crs) == CRS84 else f"<{crs}> {text}", datatype=WKT_LITERAL)
    if datatype == GEOJSON_LITERAL:
        return Literal(shapely.to_geojson(without_rings(shape)), datatype=GEOJSON_LITERAL)
    if datatype == GML_LITERAL:
        return Literal(write_gml(from_crs84(shape, crs), crs), datatype=GML_LITERAL)
    if datatype == KML_LITERAL:
        return Literal(write_kml(shape), datatype=KML_LITERAL)
    raise _no_geometry_datatype(datatype.value)


@remembered(*_CACHED_LITERALS)
def _read(text: str, datatype: str, invalid: Invalid) -> GeometryValue:
    if datatype == WKT_LITERAL.value and (point := _plain_point(text)):
        return GeometryValue(point)
    fault = None
    try:
        shape, crs = _parse(text, datatype)
    except GeometryError as error:
        closed = _close_rings(text, datatype) if isinstance(error.__cause__, GEOSException) else None
        if closed is None or invalid == "refuse":
            raise
        (shape, crs), fault = closed, "Ring not closed"
    # A valid shape has finite coordinates, except for the height.
    plain = crs == CRS84 and shapely.is_valid(shape)
    if not plain or shapely.has_z(shape):
        _check_finite(shape)
    shape = to_crs84(shape, crs)
    if plain or shapely.is_valid(shape):
        return GeometryValue(shape, crs, NamedNode(datatype), fault)
    fault = shapely.is_valid_reason(shape)
    if invalid == "refuse":
        raise InvalidShapeError(
            f"The geometry is not valid: {fault}. Fix its rings, or allow the repair of invalid geometry."
        )
    repaired = repair_shape(shape)
    if repaired.is_empty:
        raise InvalidShapeError(
            f"The geometry is not valid and nothing is left of it after repair: {fault}. Redraw it."
        )
    return GeometryValue(repaired, crs, NamedNode(datatype), fault)


def _plain_point(text: str) -> BaseGeometry | None:
    """The point of WKT in its usual form, several times faster; None leaves it to the full reader."""
    match = _PLAIN_POINT.fullmatch(text)
    if match is None:
        return None
    x, y = float(match[1]), float(match[2])
    point: BaseGeometry = shapely.from_wkt(text)
    return point if -180 <= x <= 180 and -90 <= y <= 90 else None


def repair_shape(shape: BaseGeometry) -> BaseGeometry:
    """A valid shape of the same dimension: rings are repaired, collapsed parts dropped.

    Raises InvalidShapeError for one whose edges cross so often that its repair would take seconds.
    """
    if crossings(shape) > _MOST_CROSSINGS:
        raise InvalidShapeError(
            f"The geometry is not valid: its edges cross more than {_MOST_CROSSINGS:,} times, too often for "
            "a repair. Redraw it."
        )
    repaired: BaseGeometry = shapely.make_valid(shape, method="structure", keep_collapsed=False)
    return repaired


def _parse(text: str, datatype: str) -> tuple[BaseGeometry, str]:
    """The shape as written and the IRI of its reference system."""
    if not text.strip():
        if NamedNode(datatype) not in GEOMETRY_LITERALS:
            raise _no_geometry_datatype(datatype)
        return GeometryCollection(), CRS84
    if datatype == WKT_LITERAL.value:
        return _parse_wkt(text)
    if datatype == GEOJSON_LITERAL.value:
        return _parse_geojson(text), CRS84
    if datatype == GML_LITERAL.value:
        return read_gml(text)
    if datatype == KML_LITERAL.value:
        return read_kml(text), CRS84
    raise _no_geometry_datatype(datatype)


def _parse_wkt(text: str) -> tuple[BaseGeometry, str]:
    match = _WKT.fullmatch(text)
    assert match is not None
    crs = CRS84 if match["crs"] is None else canonical_crs(match["crs"].strip())
    wkt = match["text"].strip()
    if not wkt:
        return GeometryCollection(), crs
    if wkt[:5].upper() == "SRID=":
        raise GeometryError(
            f"{_excerpt(wkt)} is EWKT. A wktLiteral names its reference system by IRI: "
            "write <http://www.opengis.net/def/crs/EPSG/0/CODE> in front instead of SRID=CODE;"
        )
    return _shape_of_wkt(wkt), crs


def _shape_of_wkt(wkt: str) -> BaseGeometry:
    try:
        # NaN and numbers beyond a double set floating point flags; `_check_finite` refuses them.
        with numpy.errstate(invalid="ignore", over="ignore"):
            shape: BaseGeometry = shapely.from_wkt(wkt)
    except GEOSException as error:
        if _SURFACE.match(wkt):
            raise GeometryError(
                f"{_excerpt(wkt)} is a surface. Write its faces as a MULTIPOLYGON."
            ) from error
        raise GeometryError(
            f"{_excerpt(wkt)} is not WKT: {_reason(error)}. Write for example POINT(-73.96 40.8)."
        ) from error
    except NotImplementedError as error:
        raise GeometryError(f"{_excerpt(wkt)} has curves. Draw them as line strings.") from error
    return shape


def _close_rings(text: str, datatype: str) -> tuple[BaseGeometry, str] | None:
    """The shape of WKT whose only fault is rings that are not closed; None for anything else."""
    match = _WKT.fullmatch(text)
    if datatype != WKT_LITERAL.value or match is None:
        return None
    try:
        with numpy.errstate(invalid="ignore", over="ignore"):
            shape: BaseGeometry | None = shapely.from_wkt(match["text"], on_invalid="fix")
    except NotImplementedError:
        return None
    if shape is None:
        return None
    return shape, CRS84 if match["crs"] is None else canonical_crs(match["crs"].strip())


def _parse_geojson(text: str) -> BaseGeometry:
    hint = 'Write a geometry object, for example {"type": "Point", "coordinates": [-73.96, 40.8]}.'
    try:
        shape: BaseGeometry | None = shapely.from_geojson(text)
    except (GEOSException, NotImplementedError, UnicodeDecodeError) as error:
        raise GeometryError(f"{_excerpt(text)} is not GeoJSON: {_reason(error)}. {hint}") from error
    if '"crs"' in text and isinstance(members := json.loads(text), dict) and "crs" in members:
        name = _named_crs(members["crs"])
        if not name.upper().endswith("CRS84"):
            raise GeometryError(
                f"GeoJSON is always CRS84 (RFC 7946, 4), this one says {name!r}. Transform it, drop crs."
            )
    if shape is None:
        raise GeometryError(f"{_excerpt(text)} holds no geometry. {hint}")
    return shape


def _named_crs(member: object) -> str:
    """The name in a `crs` member as in GeoJSON before RFC 7946; else the member as text."""
    properties = member.get("properties") if isinstance(member, dict) else None
    return str(properties.get("name", "") if isinstance(properties, dict) else member)


_DIGITS_BEHIND_THE_POINT = (-1, 17, 20, 25, 40, 100, 340)


def _check_finite(shape: BaseGeometry) -> None:
    has_z = bool(shapely.has_z(shape))
    if not numpy.isfinite(shapely.get_coordinates(shape, include_z=has_z)).all():
        raise GeometryError(
            "A coordinate is not a finite number (NaN or infinite). Give every position numbers."
        )


def _exact_wkt(shape: BaseGeometry) -> str:
    """WKT that reads back as exactly the same numbers, in as few digits as possible.

    GEOS counts digits after the decimal point, so numbers near 0 need many of them.
    """
    text: str = ""
    for digits in _DIGITS_BEHIND_THE_POINT:
        text = shapely.to_wkt(shape, rounding_precision=digits)
        if shapely.from_wkt(text) == shape:
            break
    return text


def _of_one_dimension(shape: BaseGeometry) -> BaseGeometry:
    """The shape without heights and measures unless every position has them."""
    has_z, has_m = bool(shapely.has_z(shape)), bool(shapely.has_m(shape))
    if not has_z and not has_m:
        return shape
    beyond = shapely.get_coordinates(shape, include_z=has_z, include_m=has_m)[:, 2:]
    return shapely.force_2d(shape) if numpy.isnan(beyond).any() else shape


def without_rings(shape: BaseGeometry) -> BaseGeometry:
    """GeoJSON has no linear ring: a ring is written as a line string."""
    return shapely.LineString(shape.coords) if shape.geom_type == "LinearRing" else shape


def _no_geometry_datatype(datatype: str) -> GeometryError:
    return GeometryError(
        f"<{datatype}> is not a geometry datatype. Use geo:wktLiteral, geo:geoJSONLiteral, geo:gmlLiteral "
        "or geo:kmlLiteral."
    )


def _excerpt(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _reason(error: Exception) -> str:
    return (
        str(error).removeprefix("ParseException: ").removeprefix("IllegalArgumentException: ").rstrip(".\n")
    )


Shapes = NDArray[numpy.object_]

# GEOS holds the GIL while it reads; this many literals take a few milliseconds.
_TOGETHER: Final = 1000


@dataclass(frozen=True)
class ManyShapes:
    """The shapes (n,) of n literals in CRS84; by position, `faults` say what is wrong with one."""

    shapes: Shapes
    faults: dict[int, str] = field(default_factory=dict)


def parse_many(literals: Sequence[str | Literal | None]) -> ManyShapes:
    """The shapes of literals, each as `parse_geometry` reads it; a str is the text of a wktLiteral.

    None gives None. Shapes may be shared with other callers: take copies before preparing them.
    """
    shapes = numpy.empty(len(literals), dtype=object)
    faults: dict[int, str] = {}
    for start in range(0, len(literals), _TOGETHER):
        part = literals[start : start + _TOGETHER]
        shapes[start : start + len(part)] = read = _plain_shapes(part)
        for position in numpy.flatnonzero(shapely.is_missing(read)).tolist():
            one = part[position]
            if one is None:
                continue
            try:
                shapes[start + position] = parse_geometry(
                    Literal(one, datatype=WKT_LITERAL) if isinstance(one, str) else one
                )
            except GeometryError as error:
                faults[start + position] = str(error)
    return ManyShapes(shapes, faults)


def plainly_sound(texts: Sequence[str]) -> NDArray[numpy.bool_]:
    """Whether each text of a wktLiteral is certainly a valid geometry; the others need a closer look."""
    sound = numpy.zeros(len(texts), dtype=bool)
    for start in range(0, len(texts), _TOGETHER):
        part = texts[start : start + _TOGETHER]
        sound[start : start + len(part)] = ~shapely.is_missing(_plain_shapes(part))
    return sound


def _plain_shapes(literals: Sequence[str | Literal | None]) -> Shapes:
    """The shapes that can be taken as written; None where a closer look is needed."""
    # EWKT has a semicolon: `geo.formats.literals` refuses it by name.
    texts = [one if isinstance(one, str) and ";" not in one else None for one in literals]
    try:
        # NaN and numbers beyond a double set floating point flags.
        with numpy.errstate(invalid="ignore", over="ignore"):
            shapes: Shapes = shapely.from_wkt(numpy.array(texts, dtype=object), on_invalid="ignore")
    except NotImplementedError:
        # Some of them are curves.
        return numpy.full(len(texts), None, dtype=object)
    good = ~shapely.is_missing(shapes)
    good[good] = _is_finite(shapes[good])
    good[good] = in_range(shapely.bounds(shapes[good])) | shapely.is_empty(shapes[good])
    good[good] = shapely.is_valid(shapes[good])
    shapes[~good] = None
    return shapes


def _is_finite(shapes: Shapes) -> NDArray[numpy.bool_]:
    """Whether all coordinates of each are finite numbers."""
    finite = numpy.ones(len(shapes), dtype=bool)
    solid = numpy.flatnonzero(shapely.has_z(shapes))
    for which, include_z in ((numpy.arange(len(shapes)), False), (solid, True)):
        found, owners = shapely.get_coordinates(shapes[which], include_z=include_z, return_index=True)
        finite[which[owners[~numpy.isfinite(found).all(axis=1)]]] = False
    return finite

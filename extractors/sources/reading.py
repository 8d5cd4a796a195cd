"""From files to source records: areas, roads, points of interest, reviews and pages."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as Table
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import shapely
from pyoxigraph import Literal
from shapely.geometry.base import BaseGeometry

from extractors.errors import SourceError
from extractors.sources.mapping import Mapping, SourceMapping, folded
from extractors.sources.record import BrokenRecord, SourceKind, SourceRecord
from extractors.sources.rows import Row, rows_of
from geo.errors import GeoError
from geo.formats.literals import parse_geometry, repair_shape
from geo.measure.crs import file_to_crs84
from geo.vocabulary import GEOJSON_LITERAL, WKT_LITERAL

__all__ = ["plain_text", "read_shape", "read_sources", "record_of"]

_KIND_OF_SHAPE: Final = {
    "Point": SourceKind.POI,
    "MultiPoint": SourceKind.POI,
    "LineString": SourceKind.ROAD,
    "MultiLineString": SourceKind.ROAD,
    "Polygon": SourceKind.AREA,
    "MultiPolygon": SourceKind.AREA,
}
_LONGEST_RATING = 40


class _Unreadable(ValueError):
    """A record with a field that says something which cannot be read."""


def read_sources(
    paths: Iterable[Path], mapping: Mapping | None = None
) -> Iterator[SourceRecord | BrokenRecord]:
    """The records of files in order; a broken line or row is reported with its number and skipped.

    Raises SourceError where a file as a whole cannot be read.
    """
    mapping = mapping or Mapping()
    for path in paths:
        chosen = mapping.of(path)
        for row in rows_of(path):
            yield row if isinstance(row, BrokenRecord) else record_of(row, chosen)


def record_of(row: Row, mapping: SourceMapping) -> SourceRecord | BrokenRecord:
    """A row as a record, or why it is none."""
    values = {folded(name): value for name, value in row.values.items() if isinstance(name, str)}

    def word(field: str) -> str:
        return plain_text(_first(values, mapping.fields[field]))

    try:
        geometry = _geometry(row, values, mapping)
        rating = _rating(word("rating"))
        return SourceRecord(
            place=row.place,
            kind=_kind(mapping, word("kind"), geometry, rating),
            name=_spaced(word("name")),
            type=mapping.type_of(_spaced(word("type"))),
            text=word("text"),
            geometry=geometry,
            rating=rating,
            url=word("url") or None,
            identifier=word("id") or None,
            iri_class=mapping.iri_class,
        )
    except (_Unreadable, GeoError, shapely.GEOSException) as error:
        return BrokenRecord(row.place, str(error))


def _kind(
    mapping: SourceMapping, words: str, geometry: BaseGeometry | None, rating: float | None
) -> SourceKind:
    """What the mapping or the record says; else a rating makes a review, the geometry decides the rest."""
    given_kind = mapping.kind or mapping.kind_of(words)
    if given_kind is not None:
        return given_kind
    if rating is not None:
        return SourceKind.REVIEW
    return SourceKind.PAGE if geometry is None else _KIND_OF_SHAPE.get(geometry.geom_type, SourceKind.AREA)


def _first(values: Table[str, Any], names: Iterable[str]) -> Any:
    found = (values.get(name) for name in names)
    return next((value for value in found if value is not None and value != ""), None)


def plain_text(value: Any) -> str:
    """A value of a row as text; empty for none. Halves of surrogate pairs become question marks."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, list):
        return ", ".join(filter(None, map(plain_text, value)))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    text = str(value).strip()
    # Half a surrogate pair is no character: nothing that stores or sends text takes it.
    return text.encode("utf-8", "replace").decode("utf-8")


def _spaced(name: str) -> str:
    """A name with blanks, where a file writes underscores for them."""
    return " ".join((name if " " in name else name.replace("_", " ")).split())


def _rating(text: str) -> float | None:
    if not text:
        return None
    try:
        rating = float(text[:_LONGEST_RATING].partition("/")[0].replace(",", "."))
    except ValueError:
        raise _Unreadable(f"the rating '{text[:_LONGEST_RATING]}' is no number") from None
    if not math.isfinite(rating):
        raise _Unreadable(f"the rating '{text[:_LONGEST_RATING]}' is no number")
    return rating


def _geometry(row: Row, values: Table[str, Any], mapping: SourceMapping) -> BaseGeometry | None:
    crs = mapping.crs or row.crs
    given = row.geometry if row.geometry is not None else _first(values, mapping.fields["geometry"])
    if given is not None:
        return read_shape(given, crs)
    east, north = (plain_text(_first(values, mapping.fields[one])) for one in ("longitude", "latitude"))
    if not east and not north:
        return None
    try:
        return read_shape(f"POINT ({float(east)!r} {float(north)!r})", crs)
    except ValueError as error:
        if isinstance(error, GeoError):
            raise
        raise _Unreadable(f"longitude '{east}' and latitude '{north}' are not both numbers") from None


def read_shape(value: object, crs: str | None = None) -> BaseGeometry | None:
    """A geometry given as WKT or GeoJSON, in `crs` or longitude and latitude; None for an empty one.

    Raises GeometryError, whose message names the fix.
    """
    if isinstance(value, dict):
        value = json.dumps(value)
    text = plain_text(value)
    if not text or text.casefold() in ("null", "none", "nan"):
        return None
    if crs is None:
        datatype = GEOJSON_LITERAL if text.startswith("{") else WKT_LITERAL
        shape = parse_geometry(Literal(text, datatype=datatype))
    else:
        raw = shapely.from_geojson(text) if text.startswith("{") else shapely.from_wkt(text)
        shape = _converter(crs)(raw if raw.is_valid else repair_shape(raw))
    return None if shape.is_empty else shape


@lru_cache(maxsize=16)
def _converter(crs: str) -> Callable[[BaseGeometry], BaseGeometry]:
    try:
        return file_to_crs84(crs)
    except GeoError as error:
        raise SourceError(str(error)) from error

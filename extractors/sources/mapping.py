"""Which fields of a file hold what: the usual names, or those that a mapping file gives.

[[sources]]
file = "yelp*"                    # which files it is for; all when left out
kind = "review"                   # area, road, poi, review or page; else a field or the geometry decides
class = "https://example.org/city#Restaurant"    # else the ontology's class of the type's words
crs = "EPSG:2263"                 # of the geometries, where it is not longitude and latitude
[sources.fields]                  # a name, or several, the first of which that is filled counts
name = "title"
text = ["review", "summary"]
[sources.kinds]                   # what the words of the field `kind` mean
borough = "area"
[sources.types]                   # what types are called in the ontology
residential = "street"

[cleaning]                        # see `extractors.sources.rules`
minimum_words = 10
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import shapely
from pyoxigraph import Literal
from shapely.geometry.base import BaseGeometry

from extractors.errors import SourceError
from extractors.sources.records import BrokenRecord, Row, SourceKind, SourceRecord, rows_of
from extractors.sources.rules import Rules
from geo.errors import GeoError
from geo.formats.literals import parse_geometry, repair_shape
from geo.measure.crs import file_to_crs84
from geo.vocabulary import GEOJSON_LITERAL, WKT_LITERAL

#: The usual names of the fields, folded; the first that is filled counts.
FIELDS: Final[Table[str, tuple[str, ...]]] = {
    "kind": ("kind", "entity ontology"),
    "name": ("name", "title", "label", "entity name"),
    "type": ("type", "category", "class", "entity type"),
    "text": ("text", "description", "text description", "content", "review", "body", "html", "abstract"),
    "geometry": ("geometry", "wkt", "geometry value", "geom", "the geom", "shape"),
    "longitude": ("longitude", "lon", "lng"),
    "latitude": ("latitude", "lat"),
    "rating": ("rating", "stars", "score"),
    "url": ("url", "link", "website"),
    "id": ("id", "identifier", "gid", "osm id", "@id"),
}
_KINDS: Final = {
    "area": SourceKind.AREA,
    "region": SourceKind.AREA,
    "district": SourceKind.AREA,
    "borough": SourceKind.AREA,
    "neighborhood": SourceKind.AREA,
    "neighbourhood": SourceKind.AREA,
    "road": SourceKind.ROAD,
    "street": SourceKind.ROAD,
    "poi": SourceKind.POI,
    "point of interest": SourceKind.POI,
    "place": SourceKind.POI,
    "review": SourceKind.REVIEW,
    "page": SourceKind.PAGE,
    "web page": SourceKind.PAGE,
    "web": SourceKind.PAGE,
}


@dataclass(frozen=True)
class SourceMapping:
    """How the records of some files are read; without a mapping file, by the usual names of fields."""

    file: str = "*"
    kind: SourceKind | None = None
    iri_class: str | None = None
    crs: str | None = None
    fields: Table[str, tuple[str, ...]] = field(default_factory=lambda: FIELDS)
    kinds: Table[str, SourceKind] = field(default_factory=lambda: _KINDS)
    types: Table[str, str] = field(default_factory=dict)

    def kind_of(self, words: str) -> SourceKind | None:
        """The kind that the words of a kind field mean; None for words that are not known."""
        return self.kinds.get(folded(words))

    def type_of(self, words: str) -> str:
        """A type in the words of the ontology."""
        return self.types.get(folded(words), words)


@dataclass(frozen=True)
class Mapping:
    """A whole mapping file: how each file is read, and what is cleaned away."""

    sources: tuple[SourceMapping, ...] = (SourceMapping(),)
    rules: Rules = field(default_factory=Rules)

    def of(self, path: Path) -> SourceMapping:
        """The first mapping for a file of this name. Raises SourceError if there is none."""
        found = next((one for one in self.sources if fnmatchcase(path.name, one.file)), None)
        if found is None:
            raise SourceError(
                f"The mapping has no [[sources]] for {path.name}: add one, or leave its key 'file' out."
            )
        return found


def folded(name: str) -> str:
    """A field's name as it is compared: case, underscores and hyphens do not matter."""
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())


def read_mapping(path: Path, languages: tuple[str, ...] = ("en",)) -> Mapping:
    """Read a mapping file; `languages` are kept where it names none.

    Raises SourceError that names the file and the fix.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}. Give an existing file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} is not valid TOML: {error}. Fix it there.") from error
    try:
        _check_keys("the file", document, {"sources", "cleaning"})
        sources = tuple(_source(table) for table in document.get("sources", ())) or (SourceMapping(),)
        return Mapping(sources, Rules.of(document.get("cleaning", {}), languages))
    except (SourceError, TypeError, AttributeError, ValueError) as error:
        raise SourceError(f"{path}: {error}") from error


def _source(table: Table[str, Any]) -> SourceMapping:
    _check_keys("a source", table, {"file", "kind", "class", "crs", "fields", "kinds", "types"})
    given = table.get("fields", {})
    _check_keys("[sources.fields]", given, set(FIELDS))
    own = {name: _names(value) for name, value in given.items()}
    kinds = {folded(word): _source_kind(value) for word, value in table.get("kinds", {}).items()}
    return SourceMapping(
        file=table.get("file", "*"),
        kind=_source_kind(table["kind"]) if "kind" in table else None,
        iri_class=table.get("class"),
        crs=table.get("crs"),
        fields={**FIELDS, **own},
        kinds={**_KINDS, **kinds},
        types={folded(word): str(value) for word, value in table.get("types", {}).items()},
    )


def _names(value: Any) -> tuple[str, ...]:
    return tuple(folded(str(one)) for one in ([value] if isinstance(value, str) else value))


def _source_kind(word: str) -> SourceKind:
    try:
        return SourceKind(word)
    except ValueError:
        raise SourceError(f"'{word}' is no kind of source: use one of {', '.join(SourceKind)}.") from None


def _check_keys(what: str, table: Table[str, Any], known: Collection[str]) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise SourceError(f"{what} has the key '{unknown[0]}'. Known are {', '.join(sorted(known))}.")


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

"""From the name of a place to where it is: the Protocol, a gazetteer from a file, and the choice.

A geocoder answers with every place of the name that it knows; the choice is made here, by class and by the
regions that the text names, and only a single place is taken. A wrong geometry is worse than none: all that
is derived from it would be wrong too.

The file of a gazetteer is CSV or GeoJSON. CSV needs a column `name` and either `wkt` or `lat` and `lon` (also
`latitude`, `longitude`); GeoJSON needs features with a property `name`. `kind` (also `class`, `type`) is a
word for what it is, `aliases` (also `alt_name`) has further names with | or ; between them, `confidence` is 0
to 1.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from pyoxigraph import Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from extractors.errors import GazetteerError
from extractors.grounding.linking import normalize
from geo.errors import GeometryError
from geo.formats.literals import parse_geometry, write_geometry
from geo.measure.measures import distance_m
from ontology.schema import Schema


@dataclass(frozen=True)
class PlaceFound:
    """A place that bears a name, and where it is.

    `geometry` is a WKT literal in CRS84 (GeoSPARQL 1.1, 8.5.1), `shape` the same. `classes` are those that
    it is known to be of, `kind` a word for it where the source has no classes. `source` says who knows it:
    the IRI of a feature, or a file and the place there. `confidence` is 0 to 1.
    """

    name: str
    geometry: Literal
    shape: BaseGeometry
    source: str
    confidence: float = 1.0
    classes: frozenset[NamedNode] = frozenset()
    kind: str | None = None


@dataclass(frozen=True)
class PlaceContext:
    """What a text says of a place besides its name: its classes, and the shapes of regions it lies in."""

    classes: frozenset[NamedNode] = frozenset()
    regions: tuple[BaseGeometry, ...] = ()


class Geocoder(Protocol):
    """Knows places by name; called from a worker thread, while nobody writes to the graph."""

    def locate(self, name: str) -> Sequence[PlaceFound]:
        """Every place of this name, the likeliest first; the form of the name is compared as names are."""
        ...


def choose(
    found: Iterable[PlaceFound], context: PlaceContext, schema: Schema, *, slack_m: float
) -> list[PlaceFound]:
    """The places that a text can mean: of a fitting class, and in all the regions that it names.

    Classes that the ontology sets apart do not fit. A place may lie `slack_m` meters outside a region, since
    borders are drawn differently. What is known twice at one spot is one place, the surer or larger of both.
    """
    left: list[PlaceFound] = []
    for place in sorted(found, key=lambda one: (-one.confidence, -one.shape.area, one.source)):
        classes = place.classes or _named(place.kind, schema)
        if classes and any(schema.are_disjoint(a, b) for a in classes for b in context.classes):
            continue
        if any(distance_m(place.shape, region) > slack_m for region in context.regions):
            continue
        if not any(_at_one_spot(place, known) for known in left):
            left.append(place)
    return left


def _at_one_spot(one: PlaceFound, other: PlaceFound) -> bool:
    return bool(one.shape.covers(other.shape) or other.shape.covers(one.shape))


def _named(kind: str | None, schema: Schema) -> frozenset[NamedNode]:
    found = schema.find_class(kind) if kind else None
    return frozenset() if found is None else frozenset({found.iri})


_GEO: Final = "http://www.opengis.net/ont/geosparql#"
_WKT, _GEOJSON = NamedNode(_GEO + "wktLiteral"), NamedNode(_GEO + "geoJSONLiteral")
_NAMES: Final = ("name", "label", "title")
_KINDS: Final = ("kind", "class", "type", "category")
_ALIASES: Final = ("aliases", "alias", "alt_name", "altname")
_LATITUDES, _LONGITUDES = ("lat", "latitude", "y"), ("lon", "lng", "long", "longitude", "x")
_SUFFIXES: Final = (".csv", ".geojson", ".json")


class Gazetteer:
    """Places by name, as files say."""

    def __init__(self, places: Iterator[tuple[Sequence[str], PlaceFound]]) -> None:
        self._places: dict[str, list[PlaceFound]] = {}
        for names, place in places:
            for key in dict.fromkeys(normalize(name) for name in names):
                if key:
                    self._places.setdefault(key, []).append(place)

    @classmethod
    def read(cls, path: Path) -> Gazetteer:
        """Read a file. Raises `GazetteerError`, which names the file, the line or feature, and the fix."""
        suffix = path.suffix.lower()
        if suffix not in _SUFFIXES:
            raise GazetteerError(path, f"its name ends in none of {', '.join(_SUFFIXES)}")
        try:
            return cls(_csv(path) if suffix == ".csv" else _geojson(path))
        except OSError as error:
            raise GazetteerError(path, f"it cannot be read ({error.strerror})") from error
        except UnicodeDecodeError as error:
            raise GazetteerError(path, f"it is not UTF-8 (byte {error.start})") from error

    def __len__(self) -> int:
        """How many names it knows."""
        return len(self._places)

    def locate(self, name: str) -> Sequence[PlaceFound]:
        """Every place of this name, in the order of the file."""
        return tuple(self._places.get(normalize(name), ()))


def _csv(path: Path) -> Iterator[tuple[Sequence[str], PlaceFound]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.DictReader(stream)
        columns = {name.strip().casefold() for name in rows.fieldnames or ()}
        if not columns & set(_NAMES):
            raise GazetteerError(path, f"line 1 has no column {' or '.join(_NAMES)}")
        for row in rows:
            fields = {key.strip().casefold(): value for key, value in row.items() if key and value}
            place = f"line {rows.line_num}"
            wkt = fields.get("wkt") or fields.get("geometry") or _point(fields, path, place)
            yield _entry(fields, Literal(wkt.strip(), datatype=_WKT), path, place)


def _point(row: Mapping[str, str], path: Path, place: str) -> str:
    latitude, longitude = (_first(row, names) for names in (_LATITUDES, _LONGITUDES))
    try:
        y, x = float(latitude or ""), float(longitude or "")
    except ValueError:
        raise GazetteerError(path, f"{place} has neither wkt nor lat and lon that are numbers") from None
    if not (-90 <= y <= 90 and -180 <= x <= 180):
        raise GazetteerError(path, f"{place}: latitude {y} and longitude {x} are nowhere on Earth")
    return f"POINT ({x} {y})"


def _geojson(path: Path) -> Iterator[tuple[Sequence[str], PlaceFound]]:
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except (json.JSONDecodeError, RecursionError) as error:
        raise GazetteerError(path, f"it is not JSON ({error})") from error
    features = found.get("features") if isinstance(found, dict) else None
    if not isinstance(features, list):
        raise GazetteerError(path, "it is no GeoJSON FeatureCollection: it has no list of features")
    for number, feature in enumerate(features, 1):
        place = f"feature {number}"
        properties = feature.get("properties") if isinstance(feature, dict) else None
        geometry = feature.get("geometry") if isinstance(feature, dict) else None
        if not isinstance(properties, dict) or not isinstance(geometry, dict):
            raise GazetteerError(path, f"{place} has no properties or no geometry")
        fields = {str(key).casefold(): str(value) for key, value in properties.items() if value is not None}
        yield _entry(fields, Literal(json.dumps(geometry), datatype=_GEOJSON), path, place)


def _entry(
    fields: Mapping[str, str], literal: Literal, path: Path, place: str
) -> tuple[Sequence[str], PlaceFound]:
    name = _first(fields, _NAMES)
    if name is None:
        raise GazetteerError(path, f"{place} has no name")
    try:
        shape = parse_geometry(literal)
        confidence = float(fields.get("confidence", 1.0))
    except (GeometryError, ValueError) as error:
        raise GazetteerError(path, f"{place}: {error}") from error
    if shape.is_empty or not 0 <= confidence <= 1:
        raise GazetteerError(path, f"{place}: the geometry is empty, or the confidence not between 0 and 1")
    aliases = [one.strip() for one in (_first(fields, _ALIASES) or "").replace(";", "|").split("|")]
    source = f"{path.name}, {place} ({name})"
    found = PlaceFound(name, write_geometry(shape), shape, source, confidence, kind=_first(fields, _KINDS))
    return (name, *aliases), found


def _first(fields: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((fields[name].strip() for name in names if fields.get(name, "").strip()), None)

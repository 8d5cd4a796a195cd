"""Reads a mapping file: how the columns of a table become the statements of a feature.

The file is TOML. Each of its layers names the columns that hold the label, the aliases, the class and
the geometry, and lists the properties that further columns fill. The code has no IRI of the domain.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

GEO = "http://www.opengis.net/ont/geosparql#"
SF = "http://www.opengis.net/ont/sf#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
ALTERNATIVE_LABEL = NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
GEOMETRY = NamedNode(GEO + "Geometry")
HAS_GEOMETRY = NamedNode(GEO + "hasGeometry")
HAS_DEFAULT_GEOMETRY = NamedNode(GEO + "hasDefaultGeometry")
AS_WKT = NamedNode(GEO + "asWKT")
WKT_LITERAL = NamedNode(GEO + "wktLiteral")

Row = Mapping[str, str]


class MappingError(ValueError):
    """An unusable mapping file, or row read through it; the message says what to fix."""


@dataclass(frozen=True)
class PropertyColumn:
    """One column and its property: its values are features or literals."""

    column: str
    property: NamedNode
    feature: str | None
    datatype: NamedNode | None


@dataclass(frozen=True)
class GeometryColumns:
    """Where a row's geometry is: in one column as WKT, or in two as degrees (CRS84)."""

    wkt: str | None
    longitude: str | None
    latitude: str | None


@dataclass(frozen=True)
class Layer:
    """The rules for the rows of one table."""

    name: str
    iri: str
    feature_class: str
    label: str
    aliases: str | None
    language: str | None
    geometry: GeometryColumns | None
    properties: tuple[PropertyColumn, ...]
    prefixes: Mapping[str, str]

    def triples(self, row: Row, base: str) -> Iterator[Triple]:
        """State what one row says about its feature, in a fixed order.

        An empty cell states nothing. Raises MappingError for a column that the row lacks, an empty label,
        or a geometry that does not parse or is not valid.
        """
        feature = NamedNode(base + _fill(self.iri, row, slug))
        label = _cell(row, self.label)
        if not label:
            raise MappingError(f"Layer '{self.name}': a row has no '{self.label}'. Give it one: {dict(row)}")
        yield Triple(feature, RDF_TYPE, _expand(_fill(self.feature_class, row, str), self.prefixes))
        yield Triple(feature, LABEL, self._text(label))
        for alias in _values(_cell(row, self.aliases) if self.aliases else ""):
            yield Triple(feature, ALTERNATIVE_LABEL, self._text(alias))
        for rule in self.properties:
            if value := _cell(row, rule.column):
                yield Triple(feature, rule.property, self._object(rule, row, value, base))
        if self.geometry is not None and (wkt := _wkt(self.geometry, row, label)):
            yield from _geometry_triples(feature, wkt, label)

    def _text(self, words: str) -> Literal:
        return Literal(words, language=self.language) if self.language else Literal(words)

    def _object(self, rule: PropertyColumn, row: Row, value: str, base: str) -> NamedNode | Literal:
        if rule.feature is not None:
            return NamedNode(base + _fill(rule.feature, row, slug))
        return Literal(value, datatype=rule.datatype) if rule.datatype else self._text(value)


def read_mapping(path: Path) -> tuple[Layer, ...]:
    """Read the layers of a mapping file, in its order. Raises MappingError with the file and the fix."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        prefixes = document.get("prefixes", {})
        return tuple(_layer(table, prefixes) for table in document["layers"])
    except tomllib.TOMLDecodeError as error:
        raise MappingError(f"{path}: not valid TOML, {error}. Fix that line.") from error
    except KeyError as error:
        raise MappingError(
            f"{path}: the key {error} is missing. Add it to the layer that lacks it."
        ) from error


def slug(words: str) -> str:
    """Turn a name into the part of an IRI: lower-case ASCII letters and digits joined by hyphens."""
    ascii_words = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_words.lower().replace("'", "")).strip("-")


def _layer(table: Mapping[str, Any], prefixes: Mapping[str, str]) -> Layer:
    place = table.get("geometry")
    return Layer(
        name=table["name"],
        iri=table["iri"],
        feature_class=table["class"],
        label=table["label"],
        aliases=table.get("aliases"),
        language=table.get("language"),
        geometry=place and GeometryColumns(place.get("wkt"), place.get("longitude"), place.get("latitude")),
        properties=tuple(_property(entry, prefixes) for entry in table.get("properties", ())),
        prefixes=prefixes,
    )


def _property(entry: Mapping[str, str], prefixes: Mapping[str, str]) -> PropertyColumn:
    datatype = entry.get("datatype")
    return PropertyColumn(
        column=entry["column"],
        property=_expand(entry["property"], prefixes),
        feature=entry.get("feature"),
        datatype=_expand(datatype, prefixes) if datatype else None,
    )


def _expand(name: str, prefixes: Mapping[str, str]) -> NamedNode:
    prefix, _, local = name.partition(":")
    if prefix not in prefixes:
        raise MappingError(f"'{name}' uses a prefix that [prefixes] does not declare. Declare '{prefix}'.")
    return NamedNode(prefixes[prefix] + local)


def _fill(template: str, row: Row, change: Callable[[str], str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: change(_cell(row, match[1])), template)


def _cell(row: Row, column: str) -> str:
    if column not in row:
        raise MappingError(f"No column '{column}' among {sorted(row)}. Fix the mapping or the table.")
    return row[column].strip()


def _values(cell: str) -> list[str]:
    return [value.strip() for value in cell.split("|") if value.strip()]


def _wkt(columns: GeometryColumns, row: Row, label: str) -> str:
    if columns.longitude is not None and columns.latitude is not None:
        return f"POINT ({_cell(row, columns.longitude)} {_cell(row, columns.latitude)})"
    if columns.wkt is None:
        raise MappingError(f"The geometry of '{label}' needs 'wkt', or 'longitude' and 'latitude'.")
    return _cell(row, columns.wkt)


def _geometry_triples(feature: NamedNode, wkt: str, label: str) -> Iterator[Triple]:
    import shapely

    try:
        shape = shapely.from_wkt(wkt)
    except shapely.GEOSException as error:
        raise MappingError(f"The geometry of '{label}' does not parse: {error}. Fix its WKT.") from error
    if not shape.is_valid:
        raise MappingError(f"The geometry of '{label}': {shapely.is_valid_reason(shape)}. Fix it there.")
    geometry = NamedNode(feature.value + "/geometry")
    yield Triple(feature, HAS_GEOMETRY, geometry)
    yield Triple(feature, HAS_DEFAULT_GEOMETRY, geometry)
    yield Triple(geometry, RDF_TYPE, GEOMETRY)
    yield Triple(geometry, RDF_TYPE, NamedNode(SF + shape.geom_type))
    yield Triple(geometry, AS_WKT, Literal(wkt, datatype=WKT_LITERAL))

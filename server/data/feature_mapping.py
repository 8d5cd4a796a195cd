"""A mapping file: how the columns or tags of features become statements. TOML, independent of the domain.

[prefixes]
city = "https://example.org/city#"

[[layers]]
layer = "parks*"                 # of the file; every layer when left out
iri = "park/{gid}"               # under the base; {column} is turned into a slug
class = "city:Park"              # or a whole IRI; when none of `classes` fits, else it is passed over
label = "name"
aliases = ["alt_name"]           # several values in one are separated by ; or |
language = "en"

[[layers.classes]]               # the first that fits
column = "leisure"
values = ["park", "garden"]      # any value when left out
class = "city:Garden"

[[layers.properties]]
column = "opened"
property = "city:opened"
datatype = "xsd:gYear"           # or language = "en", or feature = "borough/{borough}"
"""

import math
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Triple
from shapely.geometry.base import BaseGeometry

from geo.formats.literals import write_geometry
from server.data.feature_files import Record
from server.data.rdf_files import MappingError
from sparql.model.vocabulary import GEO, RDF, RDFS, SKOS, XSD, Namespace

SF = Namespace("http://www.opengis.net/ont/sf#")
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_SEPARATORS = re.compile(r"[;|]")
_KEYS = {
    "the file": {"base", "crs", "prefixes", "layers"},
    "a layer": {"layer", "iri", "class", "label", "aliases", "language", "classes", "properties", "geometry"},
    "a class": {"column", "values", "class"},
    "a property": {"column", "property", "datatype", "language", "feature"},
}


@dataclass(frozen=True)
class ClassRule:
    """The class of features that have one of the values, or any, in a column."""

    column: str
    values: frozenset[str] | None
    feature_class: str

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Whether a feature with these values has the class."""
        text = as_text(values.get(self.column))
        return bool(text) and (self.values is None or not self.values.isdisjoint(_several(text)))


@dataclass(frozen=True)
class PropertyRule:
    """A property, and the column whose values it gets: a literal, or another feature by its IRI template."""

    column: str
    property: NamedNode
    datatype: NamedNode | None
    language: str | None
    feature: str | None


@dataclass(frozen=True)
class LayerRules:
    """The rules for the features of some layers."""

    layer: str
    iri: str
    feature_class: str | None
    classes: tuple[ClassRule, ...]
    label: str | None
    aliases: tuple[str, ...]
    language: str | None
    properties: tuple[PropertyRule, ...]
    with_geometry: bool
    prefixes: Mapping[str, str]

    def fit_layer(self, name: str) -> bool:
        """Whether the rules apply to a layer of this name."""
        return fnmatchcase(name, self.layer)

    @property
    def columns(self) -> frozenset[str]:
        """Every column in the rules."""
        templates = [self.iri, self.feature_class or "", *(rule.feature_class for rule in self.classes)]
        templates += [rule.feature for rule in self.properties if rule.feature]
        named = {name for template in templates for name in _PLACEHOLDER.findall(template)}
        named |= {rule.column for rule in self.classes} | {rule.column for rule in self.properties}
        named |= set(self.aliases)
        return frozenset(named | ({self.label} if self.label else set()))

    def class_of(self, record: Record) -> NamedNode | None:
        """The class of a feature; None for one to skip."""
        chosen = next((rule.feature_class for rule in self.classes if rule.fits(record.values)), None)
        chosen = chosen or self.feature_class
        return None if chosen is None else _expand(_fill(chosen, record, keep=True), self.prefixes)

    def iri_of(self, record: Record, base: str) -> NamedNode:
        """The IRI of a feature. Raises MappingError where a value for it is missing."""
        return _node(base + _fill(self.iri, record))

    def triples(self, record: Record, feature: NamedNode, kind: NamedNode, base: str) -> Iterator[Triple]:
        """The statements of a record about its feature; an empty value has none. Raises MappingError."""
        values = record.values
        yield Triple(feature, RDF.type, kind)
        if self.label and (label := as_text(values.get(self.label))):
            yield Triple(feature, RDFS.label, _words(label, self.language))
        for column in self.aliases:
            for alias in _several(as_text(values.get(column))):
                yield Triple(feature, SKOS.altLabel, _words(alias, self.language))
        for rule in self.properties:
            if as_text(values.get(rule.column)):
                yield Triple(feature, rule.property, self._object(rule, record, base))
        if self.with_geometry and record.geometry is not None and not record.geometry.is_empty:
            yield from geometry_triples(feature, record.geometry)

    def _object(self, rule: PropertyRule, record: Record, base: str) -> NamedNode | Literal:
        if rule.feature is not None:
            return _node(base + _fill(rule.feature, record))
        value = record.values[rule.column]
        if rule.language is not None:
            return Literal(as_text(value), language=rule.language)
        try:
            return as_literal(value, rule.datatype)
        except ValueProblem as error:
            raise MappingError(f"column '{rule.column}': {error}") from error


@dataclass(frozen=True)
class FeatureMapping:
    """A mapping file. `base` and `crs` override the setting and those of the files."""

    path: Path
    base: str | None
    crs: str | None
    layers: tuple[LayerRules, ...]

    def rules_for(self, layer: str) -> tuple[LayerRules, ...]:
        """The rules for a layer of this name, in the order of the file."""
        return tuple(rules for rules in self.layers if rules.fit_layer(layer))


def read_feature_mapping(path: Path) -> FeatureMapping:
    """Read a mapping file. Raises MappingError that names the file and what to fix in it."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MappingError(f"{path} cannot be read: {error.strerror}. Give an existing file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MappingError(f"{path}: not valid TOML, {error}. Fix that line.") from error
    try:
        _check_keys("the file", document)
        prefixes = {**_PREFIXES, **document.get("prefixes", {})}
        layers = tuple(_layer(table, prefixes) for table in document["layers"])
        return FeatureMapping(path, document.get("base"), document.get("crs"), layers)
    except KeyError as error:
        raise MappingError(
            f"{path}: the key {error} is missing. Add it to the table that lacks it."
        ) from error
    except (MappingError, TypeError, AttributeError) as error:
        raise MappingError(f"{path}: {error}") from error


_PREFIXES = {
    "geo": GEO.iri,
    "rdfs": RDFS.iri,
    "skos": SKOS.iri,
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def _layer(table: Mapping[str, Any], prefixes: Mapping[str, str]) -> LayerRules:
    _check_keys("a layer", table)
    aliases = table.get("aliases", [])
    rules = LayerRules(
        layer=table.get("layer", "*"),
        iri=table["iri"],
        feature_class=table.get("class"),
        classes=tuple(_class(entry) for entry in table.get("classes", ())),
        label=table.get("label"),
        aliases=(aliases,) if isinstance(aliases, str) else tuple(aliases),
        language=table.get("language"),
        properties=tuple(_property(entry, prefixes) for entry in table.get("properties", ())),
        with_geometry=table.get("geometry", True),
        prefixes=prefixes,
    )
    if rules.feature_class is None and not rules.classes:
        raise MappingError(
            "a layer has neither 'class' nor [[layers.classes]]. Give it one, so that features have a class."
        )
    for name in (rules.feature_class, *(rule.feature_class for rule in rules.classes)):
        if name is not None:
            _expand(_PLACEHOLDER.sub("x", name), prefixes)
    return rules


def _class(entry: Mapping[str, Any]) -> ClassRule:
    _check_keys("a class", entry)
    values = entry.get("values")
    chosen = None if values is None else frozenset([values] if isinstance(values, str) else map(str, values))
    return ClassRule(entry["column"], chosen, entry["class"])


def _property(entry: Mapping[str, str], prefixes: Mapping[str, str]) -> PropertyRule:
    _check_keys("a property", entry)
    datatype = entry.get("datatype")
    return PropertyRule(
        column=entry["column"],
        property=_expand(entry["property"], prefixes),
        datatype=_expand(datatype, prefixes) if datatype else None,
        language=entry.get("language"),
        feature=entry.get("feature"),
    )


def _check_keys(what: str, table: Mapping[str, Any]) -> None:
    unknown = sorted(set(table) - _KEYS[what])
    if unknown:
        raise MappingError(f"{what} has the key '{unknown[0]}'. Known are {', '.join(sorted(_KEYS[what]))}.")


def _expand(name: str, prefixes: Mapping[str, str]) -> NamedNode:
    if name.startswith("<") and name.endswith(">"):
        return _node(name[1:-1])
    prefix, _, local = name.partition(":")
    if prefix not in prefixes and local.startswith("//"):
        return _node(name)
    if prefix not in prefixes:
        raise MappingError(f"'{name}' uses a prefix that [prefixes] does not declare. Declare '{prefix}'.")
    return _node(prefixes[prefix] + local)


def _node(iri: str) -> NamedNode:
    try:
        return NamedNode(iri)
    except ValueError as error:
        raise MappingError(f"<{iri}> is not an IRI: {error}. Fix the template or the value.") from error


def _fill(template: str, record: Record, *, keep: bool = False) -> str:
    """A template with values for its columns, as slugs unless they are kept unchanged."""

    def value(match: re.Match[str]) -> str:
        text = as_text(record.values.get(match[1]))
        if not text:
            raise MappingError(
                f"there is no value in '{match[1]}' for '{template}'. Fill it, or use another column."
            )
        return quote(text, safe="") if keep else slug(text) or quote(text, safe="")

    return _PLACEHOLDER.sub(value, template)


def slug(words: str) -> str:
    """Turn a name into the part of an IRI: lower-case ASCII letters and digits joined by hyphens."""
    ascii_words = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_words.lower().replace("'", "")).strip("-")


def _several(text: str) -> list[str]:
    return [part.strip() for part in _SEPARATORS.split(text) if part.strip()]


def _words(text: str, language: str | None) -> Literal:
    return Literal(text, language=language) if language else Literal(text)


def geometry_triples(feature: NamedNode, shape: BaseGeometry) -> Iterator[Triple]:
    """The default geometry of a feature, as WKT in CRS84.

    Also stated with `geo:hasGeometry`, which most queries use and which otherwise needs RDFS inference.
    """
    geometry = NamedNode(feature.value + "/geometry")
    yield Triple(feature, GEO.hasGeometry, geometry)
    yield Triple(feature, GEO.hasDefaultGeometry, geometry)
    yield Triple(geometry, RDF.type, GEO.Geometry)
    yield Triple(geometry, RDF.type, SF.term(shape.geom_type))
    yield Triple(geometry, GEO.asWKT, write_geometry(shape))


_TRUE, _FALSE = {"true", "yes", "1", "t", "y"}, {"false", "no", "0", "f", "n"}
_WHOLE = {"integer", "int", "long", "short", "nonNegativeInteger", "positiveInteger", "gYear"}


class ValueProblem(ValueError):
    """A value that does not fit the datatype in the mapping."""


def as_text(value: Any) -> str:
    """A value as text without surrounding blanks; empty for None, empty text and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).strip()


def as_literal(value: Any, datatype: NamedNode | None) -> Literal:
    """A non-empty value as a literal. Raises ValueProblem where it does not fit the datatype."""
    text = as_text(value)
    if datatype is None:
        return Literal(text) if isinstance(value, str) else Literal(text, datatype=_own_datatype(value))
    name = datatype.value.removeprefix(XSD.iri)
    if name == "boolean":
        if text.lower() not in _TRUE | _FALSE:
            raise ValueProblem(
                f"'{text}' is neither yes nor no. Remove the datatype xsd:boolean, or fix the value."
            )
        return Literal("true" if text.lower() in _TRUE else "false", datatype=datatype)
    if name in _WHOLE and isinstance(value, float) and not value.is_integer():
        raise ValueProblem(
            f"{value} is not whole, but the datatype is xsd:{name}. Use xsd:decimal or xsd:double."
        )
    if name == "date" and isinstance(value, datetime):
        text = value.date().isoformat()
    if name == "gYear" and isinstance(value, date):
        text = f"{value.year:04}"
    if name == "dateTime" and isinstance(value, date) and not isinstance(value, datetime):
        text += "T00:00:00"
    return Literal(text, datatype=datatype)


def _own_datatype(value: Any) -> NamedNode:
    if isinstance(value, bool):
        return XSD.boolean
    if isinstance(value, int):
        return XSD.integer
    if isinstance(value, Decimal):
        return XSD.decimal
    if isinstance(value, float):
        return XSD.double
    if isinstance(value, datetime):
        return XSD.dateTime
    return XSD.date if isinstance(value, date) else XSD.string

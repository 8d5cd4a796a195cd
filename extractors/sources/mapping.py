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

import tomllib
from collections.abc import Collection
from collections.abc import Mapping as Table
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from extractors.errors import SourceError
from extractors.sources.record import SourceKind
from extractors.sources.rules import Rules

__all__ = ["FIELDS", "Mapping", "SourceMapping", "folded", "read_mapping"]

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
    kinds = {folded(word): _kind(value) for word, value in table.get("kinds", {}).items()}
    return SourceMapping(
        file=table.get("file", "*"),
        kind=_kind(table["kind"]) if "kind" in table else None,
        iri_class=table.get("class"),
        crs=table.get("crs"),
        fields={**FIELDS, **own},
        kinds={**_KINDS, **kinds},
        types={folded(word): str(value) for word, value in table.get("types", {}).items()},
    )


def _names(value: Any) -> tuple[str, ...]:
    return tuple(folded(str(one)) for one in ([value] if isinstance(value, str) else value))


def _kind(word: str) -> SourceKind:
    try:
        return SourceKind(word)
    except ValueError:
        raise SourceError(f"'{word}' is no kind of source: use one of {', '.join(SourceKind)}.") from None


def _check_keys(what: str, table: Table[str, Any], known: Collection[str]) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise SourceError(f"{what} has the key '{unknown[0]}'. Known are {', '.join(sorted(known))}.")

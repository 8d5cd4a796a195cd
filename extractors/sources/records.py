"""Records of a source (UrbanKGent, section 2.1), and the rows of JSON lines, CSV and GeoJSON files.

A row that cannot be read is reported, not raised.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from extractors.errors import SourceError

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


class SourceKind(StrEnum):
    """What a record is about, or where its text comes from."""

    AREA = "area"
    ROAD = "road"
    POI = "poi"
    REVIEW = "review"
    PAGE = "page"

    @property
    def place_word(self) -> str | None:
        """What a place of this kind is called when nothing more is known of it; None where it is no place."""
        return _PLACE_WORDS.get(self)


_PLACE_WORDS: Final = {SourceKind.AREA: "area", SourceKind.ROAD: "road", SourceKind.POI: "place"}


@dataclass(frozen=True)
class SourceRecord:
    """A place and a text about it, either of which may be missing.

    `place` says where the record is, for people: "roads.jsonl, line 3". `type` is what sort of place it
    is, in words. `geometry` is in CRS84. `rating` is what a review gives. `iri_class` is the IRI of the class
    where the mapping names one.
    """

    place: str
    kind: SourceKind
    name: str = ""
    type: str = ""
    text: str = ""
    geometry: BaseGeometry | None = None
    rating: float | None = None
    url: str | None = None
    identifier: str | None = None
    iri_class: str | None = None


@dataclass(frozen=True)
class BrokenRecord:
    """A line, row or feature that could not be read, and why."""

    place: str
    reason: str


SUFFIXES: Final = (".jsonl", ".ndjson", ".csv", ".tsv", ".geojson", ".geojsonl", ".json")
_LONGEST_CELL = 50_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Row:
    """One row of a file: its position, its values, and its geometry if the format has one."""

    place: str
    values: Mapping[str, Any]
    geometry: Mapping[str, Any] | None = None
    crs: str | None = None


def is_source_file(path: Path) -> bool:
    """Whether a file holds source records, by its name; `.gz` may follow."""
    return path.name.casefold().removesuffix(".gz").endswith(SUFFIXES)


def rows_of(path: Path) -> Iterator[Row | BrokenRecord]:
    """The rows of a file in order. Raises SourceError where the file as a whole cannot be read."""
    name = path.name.casefold().removesuffix(".gz")
    if not name.endswith(SUFFIXES):
        raise SourceError(f"{path}: records are read from {', '.join(SUFFIXES)} files, gzipped or not.")
    with _errors_named(path), _opened(path) as stream:
        if name.endswith((".csv", ".tsv")):
            yield from _of_table(path, stream)
        elif name.endswith((".jsonl", ".ndjson", ".geojsonl")):
            yield from _of_lines(path, stream)
        else:
            yield from _of_json(path, stream)


@contextmanager
def _errors_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SourceError(f"{path} is not a whole gzip file: {error}. Fetch or pack it again.") from error
    except OSError as error:
        raise SourceError(
            f"{path} cannot be read: {error.strerror or error}. Give an existing file."
        ) from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with gzip.open(path, "rb") if path.suffix.casefold() == ".gz" else path.open("rb") as stream:
        yield stream  # type: ignore[misc]


def _of_lines(path: Path, stream: IO[bytes], before: tuple[bytes, ...] = ()) -> Iterator[Row | BrokenRecord]:
    number = 0
    for lines in (before, stream):
        for line in lines:
            number += 1
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if text.strip():
                yield _of_text(f"{path.name}, line {number}", text)


def _of_text(place: str, text: bytes) -> Row | BrokenRecord:
    try:
        value = json.loads(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        return BrokenRecord(place, f"not UTF-8 at byte {error.start}; encode the file as UTF-8")
    except json.JSONDecodeError as error:
        return BrokenRecord(place, f"not JSON: {error.msg} at column {error.colno}")
    except (ValueError, RecursionError) as error:
        return BrokenRecord(place, f"not usable JSON: {error}")
    return _row(place, value, None)


def _row(place: str, value: Any, crs: str | None) -> Row | BrokenRecord:
    if not isinstance(value, dict):
        return BrokenRecord(place, f"an object with fields is needed, not {type(value).__name__}")
    if value.get("type") == "Feature":
        properties = value.get("properties")
        if properties is not None and not isinstance(properties, dict):
            return BrokenRecord(place, "the feature's 'properties' are not an object")
        identified = {"id": value["id"]} if "id" in value else {}
        return Row(place, {**identified, **(properties or {})}, value.get("geometry"), crs)
    return Row(place, value, None, crs)


def _of_json(path: Path, stream: IO[bytes]) -> Iterator[Row | BrokenRecord]:
    """A collection, an array, one object, or after all an object on each line."""
    first = stream.readline()
    while first and not first.strip():
        first = stream.readline()
    try:
        head = json.loads(first)
    except ValueError:
        head = None
    if isinstance(head, dict) and head.get("type") != "FeatureCollection":
        yield from _of_lines(path, stream, (first,))
        return
    try:
        value = json.loads((first + stream.read()).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8 at byte {error.start}: encode it as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise SourceError(
            f"{path}, line {error.lineno}: not JSON, {error.msg}. Fix it there, or write one object a line "
            "(.jsonl), of which a broken one is passed over."
        ) from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path} is not usable JSON: {error}.") from error
    crs = None
    if isinstance(value, dict) and value.get("type") == "FeatureCollection":
        crs = _crs_of(value)
        value = value.get("features")
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        raise SourceError(f"{path} holds no records: give a FeatureCollection, or an array of objects.")
    for number, one in enumerate(value, 1):
        yield _row(f"{path.name}, record {number}", one, crs)


def _crs_of(collection: Mapping[str, Any]) -> str | None:
    """What older GeoJSON says of its reference system."""
    found = collection.get("crs")
    properties = found.get("properties") if isinstance(found, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else None
    return name if isinstance(name, str) else None


def _of_table(path: Path, stream: IO[bytes]) -> Iterator[Row | BrokenRecord]:
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))  # a polygon is one cell
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    try:
        yield from _of_cells(path, text)
    finally:
        text.detach()  # the caller closes the stream


def _of_cells(path: Path, text: IO[str]) -> Iterator[Row | BrokenRecord]:
    header_line = text.readline()
    delimiter = max("\t;,|", key=header_line.count)
    header = next(csv.reader([header_line], delimiter=delimiter), [])
    if not any(cell.strip() for cell in header):
        raise SourceError(f"{path} is empty: its first line must name the columns.")
    reader = csv.reader(text, delimiter=delimiter)
    while True:
        started = reader.line_num + 2
        place = f"{path.name}, line {started}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield BrokenRecord(place, f"not CSV: {error}")
            continue
        if not cells:
            continue
        if len(cells) != len(header):
            yield BrokenRecord(place, f"{len(cells)} cells, but the header names {len(header)} columns")
        elif any(_SURROGATE.search(cell) for cell in cells):
            yield BrokenRecord(place, "not UTF-8; encode the file as UTF-8")
        else:
            yield Row(place, dict(zip(header, cells, strict=True)))

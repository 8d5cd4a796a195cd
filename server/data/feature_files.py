"""Files of features, read as records in CRS84: what GDAL reads, GeoParquet and OpenStreetMap.

GDAL works in a process of its own (`gdal_worker`), with only the drivers for one file. Its build in pyogrio
has no Parquet, and its OSM driver draws ways with the nodes that it finds where others are missing: these
have libraries of their own, which are needed only for such files.
"""

from __future__ import annotations

import io
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import shapely
from shapely.geometry.base import BaseGeometry

from geo.errors import GeoError
from geo.measure.crs import file_to_crs84
from server.data.rdf_files import DRIVERS, OSM, PARQUET, LoadError
from sparql.workers.process import Process

_TOGETHER = 4096
"""Features that are read together."""
# Other environment variables may change how GDAL works, such as which extensions SQLite loads.
_ENVIRONMENT = frozenset(
    (
        *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME"),
        *("VIRTUAL_ENV", "TMPDIR", "GDAL_DATA", "PROJ_DATA", "PROJ_LIB"),
    )
)
_SILENCE_S = 120.0
"""How long GDAL may give nothing while its output is waited for: some damaged files are read without end."""
_FIXED = {"GDAL_DRIVER_PATH": "disable", "PROJ_NETWORK": "OFF"}
# A closed way with one of these tags is a closed line, unless it has area=yes.
_LINEAR = ("highway", "barrier", "railway", "waterway", "aerialway", "power")

ToCrs84 = Callable[[BaseGeometry], BaseGeometry]


class FeatureRefused(LoadError):
    """A feature that cannot be loaded; other features of the file may be."""


class GdalError(Exception):
    """GDAL could not read a file; the message is GDAL's, or how its process ended."""


@dataclass(frozen=True)
class Record:
    """One feature of a file: its number (from 1) or identifier, its columns or tags, its geometry.

    The geometry is in CRS84; None where the feature has none, or an unusable one: `fault` says why.
    """

    number: str
    values: Mapping[str, Any]
    geometry: BaseGeometry | None
    fault: str | None = None


@dataclass(frozen=True)
class FeatureLayer:
    """A file of features, or one layer of it; the layer has the file's own name where there are none.

    `columns` is None where features have individual tags, `count` where the file does not give it. `records`
    reads the features in the order of the file, and raises LoadError where it is truncated.
    """

    path: Path
    layer: str
    columns: tuple[str, ...] | None
    count: int | None
    records: Callable[[], Iterator[Record]]


def layers_of(path: Path, crs: str | None = None) -> list[FeatureLayer]:
    """The layers of a feature file; `crs` overrides that of the file. Raises LoadError."""
    name = path.name.lower()
    if name.endswith(OSM):
        return [_osm_layer(path)]
    return [parquet_layer(path, crs)] if name.endswith(PARQUET) else _gdal_layers(path, crs)


def refused(path: Path, number: str, reason: object) -> FeatureRefused:
    """The error for one feature."""
    return FeatureRefused(f"{path}, feature {number}: {reason}")


def _unreadable(path: Path, reason: object) -> LoadError:
    problem = str(reason).rstrip(".") if path.exists() else "there is no such file"
    return LoadError(f"{path} cannot be read: {problem}. Give an existing, whole file.")


def _check_file(path: Path, *packages: str) -> None:
    """Raises LoadError for what is not a file, and where a package that reads it is not installed."""
    for package in packages:
        if find_spec(package) is None:
            raise LoadError(
                f"{path}: reading this needs the package {package}, which is not installed. "
                "Install this program with its extra files: `pip install 'WHEEL[files]'`, in a clone "
                "`pip install '.[files]'`."
            )
    if not path.is_file():
        raise _unreadable(path, "it is not a file")


def _converter(path: Path, crs: object) -> ToCrs84:
    try:
        return file_to_crs84(crs)
    except GeoError as error:
        raise LoadError(f"{path}: {error}") from error


def _record(number: int, values: Mapping[str, Any], binary: bytes | None, to_crs84: ToCrs84 | None) -> Record:
    """The record of a feature whose geometry is well-known binary."""
    if binary is None or to_crs84 is None:
        return Record(str(number), values, None)
    try:
        return Record(str(number), values, to_crs84(shapely.from_wkb(binary)))
    except (shapely.GEOSException, NotImplementedError, GeoError) as error:
        return Record(str(number), values, None, str(error))


def _gdal_layers(path: Path, crs: str | None) -> list[FeatureLayer]:
    """The layers of a file that GDAL reads. Raises LoadError when its format does not match its name."""
    _check_file(path, "pyogrio", "pyarrow")
    try:
        with gdal("layers", path) as output:
            found = json.loads(output.readline() or b"[]")
    except GdalError as error:
        expected = " or ".join(DRIVERS[path.suffix.lower()])
        raise _unreadable(path, f"by its name it is {expected}, but: {error}") from error
    if not found:
        raise _unreadable(path, "there is no layer in it")
    return [_gdal_layer(path, info, crs or info["crs"]) for info in found]


def _gdal_layer(path: Path, info: Mapping[str, Any], crs: str | None) -> FeatureLayer:
    has_geometry = info["geometry_type"] is not None

    def records() -> Iterator[Record]:
        arrow, ipc = import_module("pyarrow"), import_module("pyarrow.ipc")
        if has_geometry and crs is None:
            raise LoadError(
                f"{path}: layer '{info['name']}' has no reference system. "
                "Add its .prj file, or give 'crs' in the mapping, such as crs = \"EPSG:4326\"."
            )
        convert = _converter(path, crs) if has_geometry else None
        number = 0
        wanted = "geometry" if has_geometry else "none"
        try:
            with gdal("read", path, info["name"], str(_TOGETHER), wanted) as output:
                head = output.readline()
                if not head:
                    return
                geometry = json.loads(head)
                for batch in ipc.open_stream(output):
                    for row in batch.to_pylist():
                        number += 1
                        yield _record(number, row, row.pop(geometry, None), convert)
        except (GdalError, arrow.ArrowException) as error:
            raise LoadError(f"{path} breaks off after feature {number}: {error}") from error

    count = info["features"] if info["features"] >= 0 else None
    return FeatureLayer(path, info["name"], tuple(info["fields"]), count, records)


@contextmanager
def gdal(command: str, path: Path, *arguments: str) -> Iterator[IO[bytes]]:
    """The output of `gdal_worker`. Raises GdalError at the end of the block where it failed.

    Leaving the block early ends the process.
    """
    drivers = DRIVERS[path.suffix.lower()]
    with _running(command, str(path.resolve()), *arguments, *drivers, skipped=_others(drivers)) as output:
        yield output


@contextmanager
def _running(*arguments: str, skipped: Sequence[str] = ()) -> Iterator[IO[bytes]]:
    kept = {name: value for name, value in os.environ.items() if name in _ENVIRONMENT}
    with TemporaryFile() as errors:
        process, output = start(arguments, errors, {**kept, **_FIXED, "GDAL_SKIP": ",".join(skipped)})
        try:
            read = io.BufferedReader(_Waiting(output))
            yield read
            read.read()
            status = process.wait()
        finally:
            process.kill()
            process.wait()
            output.close()
        if status != 0:
            errors.seek(0)
            raise GdalError(_reason(errors.read().splitlines(), status))


def start(
    arguments: Sequence[str], errors: IO[bytes], environment: Mapping[str, str]
) -> tuple[Process, IO[bytes]]:
    """The process of `gdal_worker`, and its output."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "server.data.gdal_worker", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
    )
    assert process.stdout is not None
    return process, process.stdout


class _Waiting(io.RawIOBase):
    """The output of a process, which is waited for only so long. Raises GdalError."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._poll.poll(_SILENCE_S * 1000):
            raise GdalError(f"nothing more was read of it within {_SILENCE_S:g} s")
        piece = os.read(self._pipe.fileno(), len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


@cache
def _others(drivers: Sequence[str]) -> Sequence[str]:
    """All other drivers of the installed GDAL."""
    with _running("drivers") as output:
        return tuple(name for name in json.loads(output.readline() or b"[]") if name not in drivers)


def _reason(lines: Sequence[bytes], status: int) -> str:
    try:
        return str(json.loads(lines[-1]))
    except (ValueError, IndexError):
        ended = f"by signal {-status}" if status < 0 else f"with status {status}"
        return f"the process that read it ended {ended}"


def parquet_layer(path: Path, crs: str | None = None) -> FeatureLayer:
    """A GeoParquet file (GeoParquet 1.1) with geometries as well-known binary. Raises LoadError."""
    _check_file(path, "pyarrow")
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        # Opened here, since the library may read a name as another host.
        file = parquet.ParquetFile(arrow.OSFile(str(path.resolve())))
    except (OSError, arrow.ArrowException) as error:
        raise _unreadable(path, f"it is not a Parquet file, {error}") from error
    try:
        geo = json.loads((file.schema_arrow.metadata or {})[b"geo"])
        geometry = str(geo["primary_column"])
        column = geo["columns"][geometry]
    except (KeyError, TypeError, ValueError) as error:
        raise LoadError(
            f"{path}: a Parquet file without the metadata 'geo', so not GeoParquet. "
            "Write it as GeoParquet 1.0 or 1.1."
        ) from error
    if str(column.get("encoding", "WKB")).upper() != "WKB":
        raise LoadError(
            f"{path}: its geometries are encoded as {column['encoding']}, only WKB is read. "
            "Write it with WKB."
        )
    named = crs or column.get("crs", "OGC:CRS84")
    if named is None:
        raise LoadError(
            f"{path}: the file says that its reference system is unknown. Give 'crs' in the mapping."
        )
    convert = _converter(path, named)

    def records() -> Iterator[Record]:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=_TOGETHER):
                for row in batch.to_pylist():
                    number += 1
                    yield _record(number, row, row.pop(geometry), convert)
        except (OSError, arrow.ArrowException) as error:
            raise LoadError(f"{path} breaks off after feature {number}: {error}") from error

    columns = tuple(name for name in file.schema_arrow.names if name != geometry)
    return FeatureLayer(path, path.stem, columns, file.metadata.num_rows, records)


def _osm_layer(path: Path) -> FeatureLayer:
    """The tagged elements of an OpenStreetMap file (PBF or XML), areas last. Raises LoadError.

    Nodes are points, ways lines or areas, multipolygons areas. Columns are tags, and `@id` (`node/1`,
    `way/2`, `relation/3`) and `@type`. An element whose nodes are not all in the file has no geometry.
    """
    _check_file(path, "osmium")
    osmium = import_module("osmium")

    def records() -> Iterator[Record]:
        shapes = osmium.geom.WKBFactory()
        try:
            # As an absolute path, since the library reads a leading `http:` as another host.
            for element in osmium.FileProcessor(str(path.resolve())).with_locations().with_areas():
                if len(element.tags) and (found := _osm_element(element, shapes)) is not None:
                    kind, number, create = found
                    identifier = f"{kind}/{number}"
                    try:
                        shape = shapely.from_wkb(create(element))
                        parts = shapely.get_parts(shape)
                        shape = parts[0] if len(parts) == 1 else shape
                    except (osmium.InvalidLocationError, RuntimeError):
                        shape = None
                    values = {**dict(element.tags), "@id": identifier, "@type": kind}
                    yield Record(identifier, values, shape)
        except RuntimeError as error:
            raise _unreadable(path, error) from error

    return FeatureLayer(path, path.name.partition(".")[0], None, None, records)


def _osm_element(element: Any, shapes: Any) -> tuple[str, int, Callable[[Any], bytes]] | None:
    """The kind and number of an element, and what draws it; None for one that comes again as an area."""
    if element.is_node():
        return "node", element.id, shapes.create_point
    is_area = _is_area(dict(element.tags))
    if element.is_way():
        return None if element.is_closed() and is_area else ("way", element.id, shapes.create_linestring)
    if not element.is_area() or (element.from_way() and not is_area):
        return None
    return "way" if element.from_way() else "relation", element.orig_id(), shapes.create_multipolygon


def _is_area(tags: Mapping[str, str]) -> bool:
    """Whether a closed way with these tags is an area."""
    if "area" in tags:
        return tags["area"] != "no"
    return not any(key in tags for key in _LINEAR)

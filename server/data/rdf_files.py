"""Files to load by their names: of RDF, read as a stream, gzipped or not, and of features."""

import glob
import gzip
import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pyoxigraph
from pyoxigraph import Quad, RdfFormat

from server.errors import ServerError
from sparql.model.errors import PayloadProblem
from sparql.syntax.nesting import TERM_TOO_LONG, ShallowFile

FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".nq": RdfFormat.N_QUADS,
    ".trig": RdfFormat.TRIG,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
    ".xml": RdfFormat.RDF_XML,
    ".jsonld": RdfFormat.JSON_LD,
}
_GEOJSON = ("GeoJSON", "GeoJSONSeq")
DRIVERS = {
    ".geojson": _GEOJSON,
    ".geojsonl": _GEOJSON,
    ".geojsonseq": _GEOJSON,
    ".json": _GEOJSON,
    ".gpkg": ("GPKG",),
    ".shp": ("ESRI Shapefile",),
    ".fgb": ("FlatGeobuf",),
    ".gml": ("GML",),
    ".kml": ("LIBKML",),
}
"""The only GDAL drivers available for a file of this name."""
PARQUET = (".parquet", ".geoparquet")
OSM = (".osm.pbf", ".pbf", ".osm", ".osm.gz", ".osm.bz2")
_FEATURES = (*DRIVERS, *PARQUET, *OSM)
_KNOWN = ", ".join(sorted(FORMATS))
_PIECE = 2**20
OnBytes = Callable[[int], None]
"""Called with the number of bytes of a file (as it lies on the disk) that were read."""


class LoadError(ServerError):
    """A file that cannot be loaded; nothing of it was."""


class MappingError(ValueError):
    """An unusable mapping file, or row read through it; the message says what to fix."""


@dataclass(frozen=True)
class RdfFile:
    """One file; `size` is that on the disk, in bytes."""

    path: Path
    format: RdfFormat
    gzipped: bool
    size: int

    @property
    def is_of_lines(self) -> bool:
        """Whether each statement has a line of its own."""
        return self.format in (RdfFormat.N_TRIPLES, RdfFormat.N_QUADS)

    def quads(self, on_bytes: OnBytes = lambda read: None) -> Iterator[Quad]:
        """The quads in the order of the file; blank nodes get names of their own.

        Raises `LoadError` with file and line.
        """
        with self.named_errors(lambda line: line), self.opened(on_bytes) as stream:
            yield from pyoxigraph.parse(
                cast("IO[bytes]", ShallowFile(stream, self.format)),
                format=self.format,
                base_iri=self.path.resolve().as_uri(),
                rename_blank_nodes=True,
            )

    @contextmanager
    def opened(self, on_bytes: OnBytes) -> Iterator[IO[bytes]]:
        """The file's content, unzipped."""
        with _Counted(self.path, on_bytes) as raw:
            yield cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if self.gzipped else raw)

    @contextmanager
    def named_errors(self, line_of: Callable[[int], int]) -> Iterator[None]:
        """Errors of reading and parsing as `LoadError`; `line_of` gives the file's line for the parser's."""
        try:
            yield
        except PayloadProblem as error:
            raise LoadError(f"{self.path}: {error} Nothing of it was loaded.") from error
        except SyntaxError as error:
            line = f", line {line_of(error.lineno)}" if error.lineno else ""
            raise LoadError(
                f"{self.path}{line}: {error.msg}. Fix it there; nothing of it was loaded."
            ) from error
        except MemoryError as error:
            raise LoadError(f"{self.path}: {TERM_TOO_LONG} Nothing of it was loaded.") from error
        except (OSError, EOFError, zlib.error) as error:
            raise _unreadable(self.path, error) from error


@dataclass(frozen=True)
class RdfLines:
    """A file of N-Triples or N-Quads as lines. What goes wrong raises `LoadError` with file and line."""

    file: RdfFile
    on_bytes: OnBytes

    @property
    def names_graphs(self) -> bool:
        """Whether it is N-Quads."""
        return self.file.format == RdfFormat.N_QUADS

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes in order."""
        with self.file.named_errors(lambda line: line), self.file.opened(self.on_bytes) as stream:
            piece = stream.read(_PIECE)
            yield piece.removeprefix(BOM_UTF8)
            while piece := stream.read(_PIECE):
                yield piece

    def statements(self, lines: Sequence[bytes], numbers: Sequence[int]) -> list[Quad]:
        """What these lines state; they have these numbers in the file."""
        with self.file.named_errors(lambda line: numbers[min(line, len(numbers)) - 1]):
            shallow = ShallowFile(io.BytesIO(b"".join(lines)), self.file.format)
            return list(pyoxigraph.parse(cast("IO[bytes]", shallow), format=self.file.format))


def rdf_file(path: Path) -> RdfFile:
    """A file by its name. Raises `LoadError` when that is not of RDF, or there is no such file."""
    gzipped = path.suffix.lower() == ".gz"
    format_ = FORMATS.get((path.with_suffix("") if gzipped else path).suffix.lower())
    if format_ is None:
        raise LoadError(
            f"{path}: not an RDF file by its name. Known are {_KNOWN}, each also with .gz; "
            f"and with a mapping files of features: {', '.join(_FEATURES)}."
        )
    try:
        return RdfFile(path, format_, gzipped, path.stat().st_size)
    except OSError as error:
        raise _unreadable(path, error) from error


def rdf_files(names: Sequence[Path]) -> list[RdfFile]:
    """The files meant: each name is a file, a folder (all RDF files in it, at any depth) or a pattern.

    Folders and patterns pass over other files. Raises `LoadError` for a name that means nothing.
    """
    found: dict[Path, RdfFile] = {}
    for name in names:
        if name.is_dir():
            paths = [path for path in sorted(name.rglob("*")) if _is_rdf(path)]
        elif not name.exists() and glob.has_magic(str(name)):
            paths = [
                path for path in map(Path, sorted(glob.glob(str(name), recursive=True))) if _is_rdf(path)
            ]
        else:
            paths = [name]
        if not paths:
            raise LoadError(f"{name}: there is no RDF file. Known are {_KNOWN}, each also with .gz.")
        for path in paths:
            found.setdefault(path, rdf_file(path))
    return list(found.values())


def is_feature_file(path: Path) -> bool:
    """Whether a file contains features, by its name."""
    return path.name.lower().endswith(_FEATURES)


def split_features(names: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The names of feature files, and the others."""
    features = [name for name in names if is_feature_file(name) and not name.is_dir()]
    return features, [name for name in names if name not in features]


def _is_rdf(path: Path) -> bool:
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return path.is_file() and plain.suffix.lower() in FORMATS


def _unreadable(path: Path, error: Exception) -> LoadError:
    reason = getattr(error, "strerror", None) or str(error)
    return LoadError(f"{path} cannot be read: {reason}. Give an existing, whole file.")


class _Counted(io.RawIOBase):
    """A file that reports how much of it was read."""

    def __init__(self, path: Path, on_bytes: OnBytes) -> None:
        self._file = path.open("rb")
        self._on_bytes = on_bytes

    def read(self, size: int = -1) -> bytes:
        """Bytes from the file, none at its end."""
        found = self._file.read(size)
        self._on_bytes(len(found))
        return found

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

"""GeoParquet files (GeoParquet 1.1): read batch by batch, geometries as well-known binary."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geo.errors import GeoError
from geo.measure.crs import file_to_crs84
from server.data.features.records import Record, needed, record_of, unreadable
from server.data.rdf_files import LoadError

_ROWS = 4096
_CRS84 = "OGC:CRS84"


class GeoParquetFile:
    """One GeoParquet file. Raises LoadError for any other file."""

    def __init__(self, path: Path, crs: str | None = None) -> None:
        parquet = needed("pyarrow.parquet", "pyarrow", path)
        arrow = needed("pyarrow", "pyarrow", path)
        self.path = path
        self.layer = path.stem
        if not path.is_file():
            raise unreadable(path, "it is not a file")
        try:
            # Opened here, since the library may read a name as another host.
            self._file = parquet.ParquetFile(arrow.OSFile(str(path.resolve())))
        except (OSError, arrow.ArrowException) as error:
            raise unreadable(path, f"it is not a Parquet file, {error}") from error
        self._broken = arrow.ArrowException
        geo = _geo_metadata(path, self._file.schema_arrow.metadata or {})
        self._geometry = str(geo["primary_column"])
        column = geo["columns"][self._geometry]
        if str(column.get("encoding", "WKB")).upper() != "WKB":
            raise LoadError(
                f"{path}: its geometries are encoded as {column['encoding']}, only WKB is read. "
                "Write it with WKB."
            )
        named = crs or column.get("crs", _CRS84)
        if named is None:
            raise LoadError(
                f"{path}: the file says that its reference system is unknown. Give 'crs' in the mapping."
            )
        self._to_crs84 = _converter(path, named)
        self.columns: tuple[str, ...] = tuple(
            name for name in self._file.schema_arrow.names if name != self._geometry
        )
        self.count: int = self._file.metadata.num_rows

    def records(self) -> Iterator[Record]:
        """The rows in order. Raises LoadError where the file is truncated."""
        number = 0
        try:
            for batch in self._file.iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    binary = row.pop(self._geometry)
                    yield record_of(number, row, binary, self._to_crs84)
        except (OSError, self._broken) as error:
            raise LoadError(f"{self.path} breaks off after feature {number}: {error}") from error


def _geo_metadata(path: Path, metadata: dict[bytes, bytes]) -> dict[str, Any]:
    try:
        geo: dict[str, Any] = json.loads(metadata[b"geo"])
        geo["columns"][geo["primary_column"]]
    except (KeyError, TypeError, ValueError) as error:
        raise LoadError(
            f"{path}: a Parquet file without the metadata 'geo', so not GeoParquet. "
            "Write it as GeoParquet 1.0 or 1.1."
        ) from error
    return geo


def _converter(path: Path, crs: object) -> Any:
    try:
        return file_to_crs84(crs)
    except GeoError as error:
        raise LoadError(f"{path}: {error}") from error

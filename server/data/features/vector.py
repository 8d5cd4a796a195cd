"""GeoPackage, Shapefile, GeoJSON and FlatGeobuf files, through GDAL: streamed batch by batch."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geo.errors import GeoError
from geo.measure.crs import file_to_crs84
from server.data.features.gdal import GdalError, gdal
from server.data.features.names import DRIVERS
from server.data.features.records import Record, RecordFile, needed, record_of, unreadable
from server.data.rdf_files import LoadError

_FEATURES = 4096


def vector_layers(path: Path, crs: str | None = None) -> list[RecordFile]:
    """The layers of a file. Raises LoadError when its format does not match its name."""
    needed("pyogrio", "pyogrio", path, load=False)
    needed("pyarrow", "pyarrow", path)
    if not path.is_file():
        raise unreadable(path, "it is not a file")
    try:
        with gdal("layers", path) as output:
            found = json.loads(output.readline() or b"[]")
    except GdalError as error:
        expected = " or ".join(DRIVERS[path.suffix.lower()])
        raise unreadable(path, f"by its name it is {expected}, but: {error}") from error
    if not found:
        raise unreadable(path, "there is no layer in it")
    return [VectorLayer(path, info, crs) for info in found]


class VectorLayer:
    """One layer of a file. Raises LoadError when its reference system is not known."""

    def __init__(self, path: Path, info: dict[str, Any], crs: str | None) -> None:
        self.path = path
        self.layer: str = info["name"]
        self.columns: tuple[str, ...] = tuple(info["fields"])
        count: int = info["features"]
        self.count = count if count >= 0 else None
        self._has_geometry = info["geometry_type"] is not None
        self._crs = crs or info["crs"]

    def records(self) -> Iterator[Record]:
        """The features in the order of the file. Raises LoadError where the file is truncated."""
        arrow = needed("pyarrow", "pyarrow", self.path)
        ipc = needed("pyarrow.ipc", "pyarrow", self.path)
        convert = self._converter()
        number = 0
        wanted = "geometry" if self._has_geometry else "none"
        try:
            with gdal("read", self.path, self.layer, str(_FEATURES), wanted) as output:
                head = output.readline()
                if not head:
                    return
                geometry = json.loads(head)
                for batch in ipc.open_stream(output):
                    for row in batch.to_pylist():
                        number += 1
                        binary = row.pop(geometry, None)
                        yield record_of(number, row, binary, convert)
        except (GdalError, arrow.ArrowException) as error:
            raise LoadError(f"{self.path} breaks off after feature {number}: {error}") from error

    def _converter(self) -> Any:
        if not self._has_geometry:
            return None
        if self._crs is None:
            raise LoadError(
                f"{self.path}: layer '{self.layer}' has no reference system. "
                "Add its .prj file, or give 'crs' in the mapping, such as crs = \"EPSG:4326\"."
            )
        try:
            return file_to_crs84(self._crs)
        except GeoError as error:
            raise LoadError(f"{self.path}: {error}") from error

"""GeoPackage, Shapefile, GeoJSON and FlatGeobuf files, through GDAL: streamed batch by batch."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geo import GeoError
from geo.crs import file_to_crs84
from server.features.records import Record, RecordFile, needed, record_of, unreadable
from server.rdf_files import LoadError

_FEATURES = 4096


def vector_layers(path: Path, crs: str | None = None) -> list[RecordFile]:
    """The layers of a file. Raises LoadError when it cannot be read."""
    pyogrio = needed("pyogrio", "pyogrio", path)
    needed("pyarrow", "pyarrow", path)
    try:
        names = [str(name) for name in pyogrio.list_layers(path)[:, 0]]
        layers = [VectorLayer(path, name, pyogrio.read_info(path, layer=name), crs) for name in names]
    except pyogrio.errors.DataSourceError as error:
        raise unreadable(path, error) from error
    if not layers:
        raise unreadable(path, "there is no layer in it")
    return list[RecordFile](layers)


class VectorLayer:
    """One layer of a file. Raises LoadError when its reference system is not known."""

    def __init__(self, path: Path, layer: str, info: dict[str, Any], crs: str | None) -> None:
        self.path = path
        self.layer = layer
        self.columns: tuple[str, ...] = tuple(map(str, info["fields"]))
        count = int(info["features"])
        self.count = count if count >= 0 else None
        self._has_geometry = info.get("geometry_type") is not None
        self._crs = crs or info.get("crs")

    def records(self) -> Iterator[Record]:
        """The features in the order of the file. Raises LoadError where the file breaks off."""
        raw = needed("pyogrio.raw", "pyogrio", self.path)
        errors = needed("pyogrio.errors", "pyogrio", self.path)
        convert = self._converter()
        number = 0
        try:
            with raw.open_arrow(
                self.path,
                layer=self.layer,
                batch_size=_FEATURES,
                use_pyarrow=True,
                read_geometry=self._has_geometry,
            ) as (meta, reader):
                geometry = meta["geometry_name"] or "wkb_geometry"
                for batch in reader:
                    for row in batch.to_pylist():
                        number += 1
                        binary = row.pop(geometry, None)
                        yield record_of(number, row, binary, convert)
        except errors.DataSourceError as error:
            raise LoadError(f"{self.path} breaks off after feature {number}: {error}") from error

    def _converter(self) -> Any:
        if not self._has_geometry:
            return None
        if self._crs is None:
            raise LoadError(
                f"{self.path}: layer '{self.layer}' does not say its reference system. "
                "Add its .prj file, or give 'crs' in the mapping, such as crs = \"EPSG:4326\"."
            )
        try:
            return file_to_crs84(self._crs)
        except GeoError as error:
            raise LoadError(f"{self.path}: {error}") from error

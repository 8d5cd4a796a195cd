"""The layers of feature files."""

from pathlib import Path

from server.data.features.names import OSM, PARQUET
from server.data.features.osm import OsmFile
from server.data.features.parquet import GeoParquetFile
from server.data.features.records import RecordFile
from server.data.features.vector import vector_layers


def layers_of(path: Path, crs: str | None = None) -> list[RecordFile]:
    """The layers of a feature file; `crs` overrides that of the file. Raises LoadError."""
    name = path.name.lower()
    if name.endswith(OSM):
        return [OsmFile(path)]
    return [GeoParquetFile(path, crs)] if name.endswith(PARQUET) else vector_layers(path, crs)

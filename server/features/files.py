"""Feature files by name: which there are, and their layers."""

from pathlib import Path

from server.features.osm import OsmFile
from server.features.parquet import GeoParquetFile
from server.features.records import RecordFile
from server.features.vector import vector_layers

_VECTOR = (".geojson", ".geojsonl", ".geojsonseq", ".json", ".gpkg", ".shp", ".fgb")
_PARQUET = (".parquet", ".geoparquet")
_OSM = (".osm.pbf", ".pbf", ".osm", ".osm.gz", ".osm.bz2")
SUFFIXES = (*_VECTOR, *_PARQUET, *_OSM)


def is_feature_file(path: Path) -> bool:
    """Whether a file is of features, by its name."""
    return path.name.lower().endswith(SUFFIXES)


def layers_of(path: Path, crs: str | None = None) -> list[RecordFile]:
    """The layers of a feature file; `crs` is used instead of what the file says. Raises LoadError."""
    name = path.name.lower()
    if name.endswith(_OSM):
        return [OsmFile(path)]
    return [GeoParquetFile(path, crs)] if name.endswith(_PARQUET) else vector_layers(path, crs)

"""Recognizes feature files by name, before a library that reads them is loaded."""

from collections.abc import Sequence
from pathlib import Path

_GEOJSON = ("GeoJSON", "GeoJSONSeq")
DRIVERS = {
    ".geojson": _GEOJSON,
    ".geojsonl": _GEOJSON,
    ".geojsonseq": _GEOJSON,
    ".json": _GEOJSON,
    ".gpkg": ("GPKG",),
    ".shp": ("ESRI Shapefile",),
    ".fgb": ("FlatGeobuf",),
}
"""The only GDAL drivers available for a file of this name."""
VECTOR = tuple(DRIVERS)
PARQUET = (".parquet", ".geoparquet")
OSM = (".osm.pbf", ".pbf", ".osm", ".osm.gz", ".osm.bz2")


def is_feature_file(path: Path) -> bool:
    """Whether a file contains features, by its name."""
    return path.name.lower().endswith((*VECTOR, *PARQUET, *OSM))


def split_features(names: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The names of feature files, and the others."""
    features = [name for name in names if is_feature_file(name) and not name.is_dir()]
    return features, [name for name in names if name not in features]

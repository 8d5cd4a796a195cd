"""Feature files by name: known before any library that reads them is loaded."""

from collections.abc import Sequence
from pathlib import Path

VECTOR = (".geojson", ".geojsonl", ".geojsonseq", ".json", ".gpkg", ".shp", ".fgb")
PARQUET = (".parquet", ".geoparquet")
OSM = (".osm.pbf", ".pbf", ".osm", ".osm.gz", ".osm.bz2")


def is_feature_file(path: Path) -> bool:
    """Whether a file is of features, by its name."""
    return path.name.lower().endswith((*VECTOR, *PARQUET, *OSM))


def split_features(names: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The names that mean feature files, and the others."""
    features = [name for name in names if is_feature_file(name) and not name.is_dir()]
    return features, [name for name in names if name not in features]

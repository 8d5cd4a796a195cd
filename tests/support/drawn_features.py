"""Tiny feature files, written with the libraries that read them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import osmium
import pyarrow
import pyarrow.parquet
import pyogrio
import shapely
from shapely.geometry.base import BaseGeometry

Row = tuple[BaseGeometry | None, Mapping[str, Any]]

PARK = shapely.box(-73.98, 40.76, -73.95, 40.80)
FOUNTAIN = shapely.Point(-73.9708, 40.774)
ROWS: Sequence[Row] = (
    (PARK, {"gid": 1, "name": "Central Park", "kind": "park", "opened": 1858, "area": 3.41}),
    (FOUNTAIN, {"gid": 2, "name": "Bethesda Fountain", "kind": "fountain", "opened": 1873, "area": None}),
    (None, {"gid": 3, "name": "Nowhere", "kind": "park", "opened": None, "area": None}),
)
MAPPING = """
[prefixes]
ex = "http://example.org/schema#"

[[layers]]
iri = "{kind}-{gid}"
class = "ex:Place"
label = "name"
language = "en"

[[layers.classes]]
column = "kind"
values = ["park"]
class = "ex:Park"

[[layers.properties]]
column = "opened"
property = "ex:opened"
datatype = "xsd:gYear"

[[layers.properties]]
column = "area"
property = "ex:area"
datatype = "xsd:decimal"
"""


def write_vector(
    path: Path,
    rows: Sequence[Row] = ROWS,
    *,
    driver: str,
    crs: str = "EPSG:4326",
    layer: str | None = None,
) -> Path:
    """A file of GDAL's: one layer, added to those that are there."""
    columns = list(rows[0][1])
    data = [
        numpy.array([row[1][name] for row in rows], dtype=_dtype([row[1][name] for row in rows]))
        for name in columns
    ]
    pyogrio.raw.write(
        path,
        geometry=numpy.array([None if s is None else shapely.to_wkb(s) for s, _ in rows], dtype=object),
        field_data=data,
        fields=columns,
        geometry_type="Unknown",
        driver=driver,
        crs=crs,
        layer=layer,
        append=False,
    )
    return path


def write_parquet(path: Path, rows: Sequence[Row] = ROWS, **column: Any) -> Path:
    """A GeoParquet file."""
    table = pyarrow.table(
        {
            **{name: [values[name] for _, values in rows] for name in rows[0][1]},
            "geometry": [None if shape is None else shapely.to_wkb(shape) for shape, _ in rows],
        }
    )
    geo = {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": {"encoding": "WKB", "geometry_types": [], **column}},
    }
    pyarrow.parquet.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
    return path


def write_osm(path: Path) -> Path:
    """A park as a closed way, a street, a roundabout, a lake as a multipolygon, a café, an untagged node."""
    corners = {1: (0, 0), 2: (4, 0), 3: (4, 4), 4: (0, 4), 5: (1, 1), 6: (2, 1), 7: (2, 2), 8: (3, 3)}
    ways = {
        10: ([1, 2, 3, 4, 1], {"leisure": "park", "name": "The Park"}),
        11: ([1, 3], {"highway": "residential", "name": "Diagonal"}),
        12: ([5, 6, 7, 5], {"highway": "residential", "junction": "roundabout"}),
        13: ([5, 6, 7, 5], {}),
        14: ([1, 99], {"highway": "residential", "name": "Cut off"}),
    }
    with osmium.SimpleWriter(str(path)) as writer:
        for number, place in corners.items():
            tags = {"amenity": "cafe", "name": "Café Ä"} if number == 8 else {}
            writer.add_node(osmium.osm.mutable.Node(id=number, location=place, tags=tags))
        for number, (nodes, tags) in ways.items():
            writer.add_way(osmium.osm.mutable.Way(id=number, nodes=nodes, tags=tags))
        members = [("w", 10, "outer"), ("w", 13, "inner")]
        tags = {"type": "multipolygon", "natural": "water", "name": "The Lake"}
        writer.add_relation(osmium.osm.mutable.Relation(id=20, members=members, tags=tags))
    return path


def _dtype(values: list[Any]) -> Any:
    if any(isinstance(value, str) for value in values):
        return object
    return float if None in values or any(isinstance(value, float) for value in values) else int

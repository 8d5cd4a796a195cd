"""Every format gives the same records, in CRS84; what cannot be read is reported with its place."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy
import pyproj
import pytest
import shapely

from server.data.feature_files import Record, layers_of
from server.data.rdf_files import LoadError, is_feature_file
from tests.support.drawn_features import FOUNTAIN, PARK, ROWS, write_osm, write_parquet, write_vector


def records(path: Path, crs: str | None = None) -> list[Record]:
    return [record for layer in layers_of(path, crs) for record in layer.records()]


def drawn(folder: Path, format_: str) -> Path:
    match format_:
        case "geojson":
            return write_vector(folder / "places.geojson", driver="GeoJSON")
        case "gpkg":
            return write_vector(folder / "places.gpkg", driver="GPKG")
        case "fgb":
            return write_vector(folder / "places.fgb", ROWS[:2], driver="FlatGeobuf")
        case "gml":
            return write_vector(folder / "places.gml", ROWS[:2], driver="GML")
        case "kml":
            return write_vector(folder / "places.kml", ROWS[:2], driver="LIBKML")
        case _:
            return write_parquet(folder / "places.parquet")


@pytest.mark.parametrize("format_", ["geojson", "gpkg", "fgb", "gml", "parquet"])
def test_each_format_gives_columns_and_geometry(tmp_path: Path, format_: str) -> None:
    path = drawn(tmp_path, format_)
    found = {record.values["gid"]: record for record in records(path)}
    assert [layer.layer for layer in layers_of(path)] == ["places"]
    assert found[1].values["name"] == "Central Park"
    assert shapely.equals(found[1].geometry, PARK)
    assert found[2].geometry == FOUNTAIN
    assert found[2].values["area"] is None
    assert format_ in ("fgb", "gml") or found[3].geometry is None


def test_a_kml_file_gives_the_names_of_its_placemarks(tmp_path: Path) -> None:
    park, fountain = records(drawn(tmp_path, "kml"))
    assert park.values["Name"] == "Central Park"
    assert park.values["kind"] == "park"
    assert shapely.equals(park.geometry, PARK)
    assert shapely.equals(fountain.geometry, FOUNTAIN)


def test_reading_gml_writes_nothing_beside_it(tmp_path: Path) -> None:
    path = drawn(tmp_path, "gml")
    path.with_suffix(".xsd").unlink()
    assert len(records(path)) == 2
    assert list(tmp_path.iterdir()) == [path]


def test_a_shapefile_is_read_with_its_companions(tmp_path: Path) -> None:
    path = write_vector(tmp_path / "parks.shp", ROWS[:1], driver="ESRI Shapefile")
    [record] = records(path)
    assert record.values["name"] == "Central Park"
    assert shapely.equals(record.geometry, PARK)


def test_a_shapefile_without_its_reference_system_needs_one_from_the_mapping(tmp_path: Path) -> None:
    path = write_vector(tmp_path / "parks.shp", ROWS[:1], driver="ESRI Shapefile")
    (tmp_path / "parks.prj").unlink()
    with pytest.raises(LoadError, match=r"give 'crs' in the mapping"):
        records(path)
    [record] = records(path, "EPSG:4326")
    assert shapely.equals(record.geometry, PARK)


@pytest.mark.parametrize("suffix", ["gpkg", "parquet"])
def test_projected_coordinates_come_out_in_degrees(tmp_path: Path, suffix: str) -> None:
    crs = pyproj.CRS.from_epsg(32618)
    there = pyproj.Transformer.from_crs("OGC:CRS84", crs, always_xy=True)
    projected = shapely.transform(PARK, lambda c: numpy.column_stack(there.transform(c[:, 0], c[:, 1])))
    path = tmp_path / f"parks.{suffix}"
    rows = [(projected, ROWS[0][1])]
    if suffix == "gpkg":
        write_vector(path, rows, driver="GPKG", crs="EPSG:32618")
    else:
        write_parquet(path, rows, crs=crs.to_json_dict())
    [record] = records(path)
    assert shapely.hausdorff_distance(record.geometry, PARK) < 1e-8


def test_every_layer_of_a_geopackage_is_there(tmp_path: Path) -> None:
    path = write_vector(tmp_path / "city.gpkg", ROWS[:1], driver="GPKG", layer="parks")
    write_vector(path, ROWS[1:2], driver="GPKG", layer="fountains")
    assert [(layer.layer, layer.count) for layer in layers_of(path)] == [("parks", 1), ("fountains", 1)]


def test_osm_nodes_ways_areas_and_multipolygons_become_features(tmp_path: Path) -> None:
    found = {record.number: record for record in records(write_osm(tmp_path / "city.osm.pbf"))}
    kinds = {number: getattr(record.geometry, "geom_type", None) for number, record in found.items()}
    assert kinds == {
        "node/8": "Point",
        "way/10": "Polygon",
        "way/11": "LineString",
        "way/12": "LineString",
        "way/14": None,
        "relation/20": "Polygon",
    }
    assert found["node/8"].values == {"amenity": "cafe", "name": "Café Ä", "@id": "node/8", "@type": "node"}
    lake = found["relation/20"].geometry
    assert lake is not None
    assert lake.area == 16 - 0.5


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.geojson", "{", "cannot be read"),
        ("a.gpkg", "no database", "cannot be read"),
        ("a.parquet", "no columns", "not a Parquet file"),
        ("a.osm.pbf", "no blocks", "cannot be read"),
        ("missing.gpkg", None, "cannot be read"),
        ("missing.osm.pbf", None, "no such file"),
        ("missing.parquet", None, "cannot be read: there is no such file"),
    ],
)
def test_a_file_that_is_none_is_reported_by_name(
    tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(LoadError, match=message) as error:
        records(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)


@pytest.mark.parametrize("suffix", ["gpkg", "parquet"])
def test_a_feature_outside_the_earth_has_no_geometry_and_says_why(tmp_path: Path, suffix: str) -> None:
    rows = [ROWS[0], (shapely.Point(200, 40), ROWS[1][1]), ROWS[2]]
    path = tmp_path / f"places.{suffix}"
    if suffix == "gpkg":
        write_vector(path, rows, driver="GPKG")
    else:
        write_parquet(path, rows)
    inside, outside, without = records(path)
    assert (inside.fault, without.fault) == (None, None)
    assert outside.geometry is None
    assert "from -180 to 180" in str(outside.fault)


def test_a_file_without_a_layer_cannot_be_read(tmp_path: Path) -> None:
    path = write_vector(tmp_path / "places.fgb", ROWS[:2], driver="FlatGeobuf")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(LoadError, match=r"places\.fgb cannot be read"):
        records(path)


def test_a_parquet_file_that_breaks_off_is_reported_with_its_place(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "places.parquet")
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)
    with pytest.raises(LoadError, match=r"places\.parquet breaks off after feature 0"):
        records(path)


def test_feature_files_are_known_by_their_names() -> None:
    assert is_feature_file(Path("Berlin.OSM.PBF"))
    assert is_feature_file(Path("a.geojson"))
    assert not is_feature_file(Path("a.jsonld"))
    assert not is_feature_file(Path("a.ttl.gz"))


def test_a_file_that_is_read_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.data.feature_files._SILENCE_S", 2.0)
    path = write_vector(tmp_path / "endless.gpkg", driver="GPKG")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE VIEW numbers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS OGC_FID, 'a' AS name FROM n WHERE i < 0"
        )
        database.execute("INSERT INTO gpkg_contents (table_name, data_type) VALUES ('numbers', 'attributes')")
    with pytest.raises(LoadError, match="nothing more was read of it within 2 s"):
        layers_of(path, None)

"""A file of features reaches neither another file of the machine nor the network, whatever is written in it.

A canary file lies beside each one, and something listens on 127.0.0.1: neither is ever touched.
"""

import json
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from server.data.feature_files import GdalError, gdal, layers_of
from server.data.rdf_files import DRIVERS, LoadError
from tests.support.drawn_features import ROWS, write_parquet, write_vector
from tests.support.prepared_gdal import start_anew

SECRET = "canary-7d1f"
FEATURE = {
    "type": "Feature",
    "properties": {"name": "here"},
    "geometry": {"type": "Point", "coordinates": [1, 2]},
}


@pytest.fixture(autouse=True)
def new_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.data.feature_files.start", start_anew)


class Listener:
    """Takes connections and counts them."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.connections = 0
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            connection.close()

    def close(self) -> None:
        """Take no more."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    one = Listener()
    yield one
    one.close()
    assert one.connections == 0


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file that GDAL could read, elsewhere on the machine."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    feature = {**FEATURE, "properties": {"name": SECRET}}
    path = folder / "canary.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    return path


def read(path: Path) -> str:
    """All that a file gives: its records, or why there are none."""
    try:
        return repr([record for layer in layers_of(path, "EPSG:4326") for record in layer.records()])
    except LoadError as error:
        return f"refused: {str(error).removeprefix(str(path))}"


def virtual(source: str) -> str:
    """What the VRT driver follows."""
    return (
        f'<OGRVRTDataSource><OGRVRTLayer name="canary"><SrcDataSource>{source}</SrcDataSource>'
        "</OGRVRTLayer></OGRVRTDataSource>"
    )


def pipeline(source: str) -> str:
    """What the GDALG driver runs."""
    return json.dumps({"type": "gdal_streamed_alg", "command_line": f"gdal vector pipeline ! read {source}"})


def service(source: str) -> str:
    """What the WFS driver asks."""
    return f"<OGRWFSDataSource><URL>{source}/wfs?</URL></OGRWFSDataSource>"


@pytest.mark.parametrize(
    ("suffix", "content"),
    [(suffix, virtual) for suffix in (".geojson", ".geojsonl", ".gpkg", ".shp", ".fgb", ".gml", ".kml")]
    + [(".geojson", pipeline), (".json", service)],
)
def test_content_of_another_format_is_refused_and_not_followed(
    tmp_path: Path, canary: Path, listener: Listener, suffix: str, content: Callable[[str], str]
) -> None:
    path = tmp_path / f"places{suffix}"
    source = listener.url if content is service else str(canary)
    path.write_text(content(source))
    reported = read(path)
    assert reported.startswith("refused")
    assert DRIVERS[suffix][0] in reported
    assert SECRET not in reported


GML = """<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY leak SYSTEM "{source}">]>
<ogr:FeatureCollection xmlns:ogr="http://ogr.maptools.org/" xmlns:gml="http://www.opengis.net/gml"
 xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
 xsi:schemaLocation="http://ogr.maptools.org/ {source}"><gml:featureMember><ogr:places fid="places.0">
<ogr:geometryProperty xlink:href="{source}#a"/><ogr:name>here</ogr:name></ogr:places></gml:featureMember>
<gml:featureMember><ogr:places fid="places.1"><ogr:name>&leak;</ogr:name></ogr:places></gml:featureMember>
</ogr:FeatureCollection>"""
KML = """<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY leak SYSTEM "{source}">]>
<kml xmlns="http://www.opengis.net/kml/2.2"><Document>
<NetworkLink><name>there</name><Link><href>{source}</href></Link></NetworkLink>
<Placemark><name>&leak;</name><styleUrl>{source}#a</styleUrl><Point><coordinates>1,2</coordinates></Point></Placemark>
</Document></kml>"""


@pytest.mark.parametrize(("suffix", "content"), [("gml", GML), ("kml", KML)])
def test_what_xml_names_is_neither_read_nor_fetched(
    tmp_path: Path, canary: Path, listener: Listener, suffix: str, content: str
) -> None:
    path = tmp_path / f"places.{suffix}"
    for source in (str(canary), canary.as_uri(), f"{listener.url}/a.xsd"):
        path.write_text(content.replace("{source}", source))
        assert SECRET not in read(path)


@pytest.mark.parametrize("content", [virtual, pipeline])
def test_content_that_names_another_host_is_refused(
    tmp_path: Path, listener: Listener, content: Callable[[str], str]
) -> None:
    path = tmp_path / "places.json"
    path.write_text(content(f"/vsicurl/{listener.url}/a.geojson"))
    assert read(path).startswith("refused")


@pytest.mark.parametrize(
    "name", ["/vsicurl/{url}/a.geojson", "{url}/a.geojson", "/vsizip//tmp/a.zip/a.geojson"]
)
@pytest.mark.parametrize("suffix", ["geojson", "gpkg", "gml", "kml", "parquet", "osm.pbf", "osm"])
def test_a_name_that_means_another_host_is_no_file(listener: Listener, name: str, suffix: str) -> None:
    path = Path(name.format(url=listener.url).replace("geojson", suffix))
    assert "no such file" in read(path)


def test_each_process_has_the_drivers_for_its_file_alone(tmp_path: Path) -> None:
    path = write_vector(tmp_path / "places.gpkg", ROWS[:1], driver="GPKG")
    renamed = path.rename(tmp_path / "places.fgb")
    with pytest.raises(GdalError), gdal("layers", renamed):
        pass


@pytest.mark.parametrize(
    "crs",
    [
        {"type": "link", "properties": {"href": "{url}/crs.prj", "type": "proj4"}},
        {"type": "url", "properties": {"url": "{url}/crs.prj"}},
        {"type": "name", "properties": {"name": "{url}/crs.prj"}},
        {"type": "name", "properties": {"name": "{canary}"}},
    ],
)
def test_a_reference_system_of_geojson_is_not_fetched(
    tmp_path: Path, canary: Path, listener: Listener, crs: object
) -> None:
    path = tmp_path / "places.geojson"
    named = json.dumps(crs).replace("{url}", listener.url).replace("{canary}", str(canary))
    collection = {"type": "FeatureCollection", "crs": json.loads(named), "features": [FEATURE]}
    path.write_text(json.dumps(collection))
    assert SECRET not in read(path)


@pytest.mark.parametrize(
    "crs", ["{url}/crs.json", "+init={canary}:1", "+proj=longlat +nadgrids={url}/grid.tif"]
)
def test_a_reference_system_of_the_mapping_or_of_parquet_is_not_fetched(
    tmp_path: Path, canary: Path, listener: Listener, crs: str
) -> None:
    named = crs.format(url=listener.url, canary=canary)
    path = write_parquet(tmp_path / "places.parquet", ROWS[:1], crs=named)
    with pytest.raises(LoadError, match="reference system"):
        layers_of(path)
    with pytest.raises(LoadError, match="reference system"):
        layers_of(path, named)


VIEWS = [
    "SELECT 1 AS fid, load_extension('{canary}') AS name, NULL AS geom",
    "SELECT 1 AS fid, ogr_geocode('Paris') AS name, NULL AS geom",
    "SELECT 1 AS fid, readfile('{canary}') AS name, NULL AS geom",
    "SELECT 1 AS fid, gdal_get_pixel_value('/vsicurl/{url}/a.tif', 1, 'pixel', 0, 0) AS name, NULL AS geom",
]


def geopackage(path: Path, *statements: str, contents: str) -> Path:
    """A GeoPackage with one more table or view of that name, made by the statements."""
    write_vector(path, ROWS[:1], driver="GPKG", layer="parks")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) "
            "VALUES (?, 'features', ?, 4326)",
            (contents, contents),
        )
        connection.execute(
            "INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', 'GEOMETRY', 4326, 0, 0)", (contents,)
        )
    return path


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_of_a_geopackage_runs_no_function_that_reaches_out(
    tmp_path: Path, canary: Path, listener: Listener, view: str
) -> None:
    query = view.format(canary=canary, url=listener.url)
    path = geopackage(tmp_path / "city.gpkg", f"CREATE VIEW leak AS {query}", contents="leak")
    assert SECRET not in read(path)


@pytest.mark.parametrize("source", ["{canary}", "/vsicurl/{url}/a.geojson", "{other}"])
def test_a_virtual_table_of_a_geopackage_opens_nothing(
    tmp_path: Path, canary: Path, listener: Listener, source: str
) -> None:
    other = write_vector(
        tmp_path / "elsewhere" / "other.gpkg",
        [(ROWS[0][0], {**ROWS[0][1], "name": SECRET})],
        driver="GPKG",
    )
    named = source.format(canary=canary, url=listener.url, other=other)
    insert = (
        "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', 'leak', 'leak', 0, "
        f"'CREATE VIRTUAL TABLE leak USING VirtualOGR(''{named}'')')"
    )
    path = geopackage(tmp_path / "city.gpkg", insert, contents="leak")
    assert SECRET not in read(path)


@pytest.mark.parametrize("companion", [".prj", ".cpg", ".qix", ".dbf", ".shx"])
def test_the_companions_of_a_shapefile_name_nothing_else(
    tmp_path: Path, canary: Path, listener: Listener, companion: str
) -> None:
    path = write_vector(tmp_path / "parks.shp", ROWS[:1], driver="ESRI Shapefile")
    path.with_suffix(companion).write_text(
        f"{canary}\n{listener.url}/x\n" if companion != ".prj" else str(canary)
    )
    assert SECRET not in read(path)


ENTITY = '<!DOCTYPE osm [<!ENTITY leak SYSTEM "{source}">]>'
OSM = '<osm version="0.6"><node id="1" lat="1" lon="2"><tag k="name" v="x"/></node>&leak;</osm>'


def test_an_osm_file_has_no_entities(tmp_path: Path, canary: Path, listener: Listener) -> None:
    for source in (canary.as_uri(), f"{listener.url}/x"):
        path = tmp_path / "city.osm"
        path.write_text('<?xml version="1.0"?>' + ENTITY.format(source=source) + OSM)
        reported = read(path)
        assert reported.startswith("refused")
        assert SECRET not in reported


@pytest.mark.parametrize("suffix", ["geojson", "osm.pbf", "parquet"])
def test_a_relative_name_that_looks_like_an_address_is_a_file(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    name = Path(f"{listener.url}/a.{suffix}")
    name.parent.mkdir(parents=True)
    name.write_text(json.dumps(FEATURE))
    reported = read(name)
    assert ("here" in reported) is (suffix == "geojson")


@pytest.mark.parametrize(
    "name", ["a!b.geojson", "a;b.geojson", "what?.geojson", "zip:x.geojson", "ü n.geojson"]
)
def test_a_file_of_any_name_is_loaded(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [FEATURE]}))
    assert "here" in read(path)


def test_a_device_or_a_pipe_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "endless.geojson"
    path.symlink_to("/dev/zero")
    assert "not a file" in read(path)

"""`urbankg load --mapping` as it is typed: in batches through the gate, past it, on a server."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
import shapely
from pyoxigraph import Literal, NamedNode, Triple
from shapely.geometry.base import BaseGeometry
from typer.testing import CliRunner

from server.cli.app import command_line
from server.data import feature_loading
from server.data.feature_loading import FeatureFiles, MappedFeature
from server.problem_map import USER_ERRORS
from server.services import Services
from sparql.model.vocabulary import GEO, RDF, RDFS, XSD, Namespace
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.drawn_features import FOUNTAIN, MAPPING, ROWS, write_osm, write_parquet, write_vector

EX = Namespace("http://example.org/schema#")
BASE = "https://w3id.org/urbankg/id/"
GATE = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix ex: <http://example.org/schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:ParkShape a sh:NodeShape ; sh:targetClass ex:Park ;
  sh:property [ sh:path ex:opened ; sh:minCount 1 ; sh:message "A park has a year of opening." ] .
"""


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "map.toml"
    path.write_text(MAPPING, encoding="utf-8")
    return path


def load(tmp_path: Path, *arguments: object, shapes: str = "", code: int = 0) -> str:
    (tmp_path / "ontology").mkdir(exist_ok=True)
    (tmp_path / "shapes").mkdir(exist_ok=True)
    (tmp_path / "shapes" / "shapes.ttl").write_text(shapes)
    flags = [
        "--data",
        tmp_path / "data",
        "--ontology",
        tmp_path / "ontology",
        "--shapes",
        tmp_path / "shapes",
    ]
    done = CliRunner().invoke(command_line(), [*map(str, flags), "load", *map(str, arguments)])
    if code == 2:
        assert isinstance(done.exception, USER_ERRORS), done.output
        return str(done.exception)
    assert done.exit_code == code, done.output + repr(done.exception)
    return " ".join(done.stderr.split())


def graph(tmp_path: Path) -> set[Triple]:
    store = EmbeddedStore(tmp_path / "data")
    try:
        return set(store.match(None, None, None))
    finally:
        store.close()


def labels(tmp_path: Path) -> set[str]:
    return {
        t.object.value for t in graph(tmp_path) if t.predicate == RDFS.label and isinstance(t.object, Literal)
    }


@pytest.mark.parametrize("bulk", [(), ("--bulk",)])
def test_features_are_loaded_and_related(tmp_path: Path, mapping: Path, bulk: tuple[str, ...]) -> None:
    files = [write_vector(tmp_path / "places.gpkg", driver="GPKG")]
    reported = load(tmp_path, *files, "--mapping", mapping, *bulk)
    assert "(3 features, 1 without geometry)" in reported
    found = graph(tmp_path)
    park, fountain = NamedNode(BASE + "park-1"), NamedNode(BASE + "fountain-2")
    assert Triple(park, RDFS.label, Literal("Central Park", language="en")) in found
    assert Triple(park, EX.opened, Literal("1858", datatype=XSD.gYear)) in found
    assert Triple(fountain, GEO.rcc8ntpp, park) in found


@pytest.mark.parametrize("how", [(), ("--bulk",), ("--partial",)])
def test_a_file_that_is_loaded_again_changes_nothing(
    tmp_path: Path, mapping: Path, how: tuple[str, ...]
) -> None:
    file = write_vector(tmp_path / "places.gpkg", driver="GPKG")
    load(tmp_path, file, "--mapping", mapping, *how)
    once = graph(tmp_path)
    load(tmp_path, file, "--mapping", mapping, *how)
    assert graph(tmp_path) == once


@pytest.mark.parametrize("how", [(), ("--bulk",), ("--partial",)])
def test_a_geometry_that_has_changed_takes_the_place_of_the_old_one(
    tmp_path: Path, mapping: Path, how: tuple[str, ...]
) -> None:
    moved = shapely.Point(-73.0, 40.0)
    rows = [ROWS[0], (shapely.LineString([(0, 0), (1, 1)]), ROWS[1][1])]
    load(tmp_path, write_vector(tmp_path / "old.gpkg", rows, driver="GPKG"), "--mapping", mapping)
    rows = [ROWS[0], (moved, ROWS[1][1])]
    new = write_vector(tmp_path / "new.gpkg", rows, driver="GPKG")
    load(tmp_path, new, "--mapping", mapping, *how)
    node = NamedNode(BASE + "fountain-2/geometry")
    found = graph(tmp_path)
    assert {t.object for t in found if t.subject == node and t.predicate == GEO.asWKT} == {
        Literal("POINT (-73 40)", datatype=GEO.wktLiteral)
    }
    assert {t.object for t in found if t.subject == node and t.predicate == RDF.type} == {
        GEO.Geometry,
        NamedNode("http://www.opengis.net/ont/sf#Point"),
    }


def test_files_of_several_formats_and_rdf_are_loaded_together(tmp_path: Path, mapping: Path) -> None:
    rdf = tmp_path / "more.nt"
    rdf.write_text(f'<{BASE}x> <{RDFS.label.value}> "More" .\n')
    parquet = write_parquet(tmp_path / "a.parquet", ROWS[:1])
    geojson = write_vector(tmp_path / "b.geojson", ROWS[1:2], driver="GeoJSON")
    load(tmp_path, rdf, parquet, geojson, "--mapping", mapping)
    assert labels(tmp_path) == {"More", "Central Park", "Bethesda Fountain"}


def test_osm_elements_are_mapped_by_their_tags(tmp_path: Path) -> None:
    mapping = tmp_path / "osm.toml"
    mapping.write_text(
        '[prefixes]\nex = "http://example.org/schema#"\n'
        '[[layers]]\niri = "osm/{@id}"\nlabel = "name"\n'
        '[[layers.classes]]\ncolumn = "leisure"\nvalues = "park"\nclass = "ex:Park"\n'
        '[[layers.classes]]\ncolumn = "amenity"\nclass = "ex:Amenity"\n'
    )
    reported = load(tmp_path, write_osm(tmp_path / "city.osm.pbf"), "--mapping", mapping)
    assert "(6 features, 4 skipped)" in reported
    cafe, park = NamedNode(BASE + "osm/node-8"), NamedNode(BASE + "osm/way-10")
    assert Triple(cafe, GEO.rcc8ntpp, park) in graph(tmp_path)


def test_the_first_batch_with_a_refusal_ends_the_load_and_names_the_feature(
    tmp_path: Path, mapping: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_loading, "BATCH", 2)
    file = write_vector(tmp_path / "places.gpkg", driver="GPKG")
    reported = load(tmp_path, file, "--mapping", mapping, shapes=GATE, code=2)
    assert f"{file}, feature 3:" in reported
    assert "A park has a year of opening." in reported
    assert "The 2 features before its batch of 1 are loaded" in reported
    assert labels(tmp_path) == {"Central Park", "Bethesda Fountain"}


def test_partial_leaves_out_what_is_refused(tmp_path: Path, mapping: Path) -> None:
    file = write_vector(tmp_path / "places.gpkg", driver="GPKG")
    reported = load(tmp_path, file, "--mapping", mapping, "--partial", shapes=GATE, code=1)
    assert f"{file}, feature 3:" in reported
    assert {"Central Park", "Bethesda Fountain"} <= labels(tmp_path)


def with_geometry(folder: Path, shape: BaseGeometry) -> Path:
    """Three places in a file, the second with this geometry."""
    rows = [ROWS[0], (shape, ROWS[1][1]), (FOUNTAIN, ROWS[2][1])]
    return write_parquet(folder / "places.parquet", rows)


@pytest.mark.parametrize("how", [(), ("--bulk",), ("--partial",)])
@pytest.mark.parametrize("shape", [shapely.Point(), shapely.Polygon(), shapely.MultiPolygon()])
def test_an_empty_geometry_is_left_out_and_reported(
    tmp_path: Path, mapping: Path, shape: BaseGeometry, how: tuple[str, ...]
) -> None:
    file = with_geometry(tmp_path, shape)
    reported = load(tmp_path, file, "--mapping", mapping, *how, code=1)
    assert f"{file}, feature 2: its geometry is empty. It is loaded without geometry." in reported
    assert "(3 features, 1 without geometry, 1 with something left out)" in reported
    assert labels(tmp_path) == {"Central Park", "Bethesda Fountain", "Nowhere"}
    about = {t.predicate for t in graph(tmp_path) if t.subject == NamedNode(BASE + "fountain-2")}
    assert about == {RDF.type, RDFS.label, EX.opened}


@pytest.mark.parametrize("how", [(), ("--bulk",)])
def test_a_geometry_past_the_edge_ends_the_load(tmp_path: Path, mapping: Path, how: tuple[str, ...]) -> None:
    file = with_geometry(tmp_path, shapely.Point(-200, 40))
    reported = load(tmp_path, file, "--mapping", mapping, *how, code=2)
    assert f"{file}, feature 2: longitudes run from -180 to 180" in reported
    assert reported.endswith(". Nothing was loaded; --partial skips refused features.")
    assert labels(tmp_path) == set()


def test_what_was_loaded_before_a_refused_feature_is_reported(
    tmp_path: Path, mapping: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_loading, "BATCH", 1)
    file = with_geometry(tmp_path, shapely.Point(-200, 40))
    reported = load(tmp_path, file, "--mapping", mapping, code=2)
    assert "The 1 features before its batch of 1 are loaded; --partial" in reported
    assert labels(tmp_path) == {"Central Park"}


@pytest.mark.parametrize("how", [("--partial",), ("--bulk", "--partial")])
def test_partial_leaves_out_a_geometry_past_the_edge(
    tmp_path: Path, mapping: Path, how: tuple[str, ...]
) -> None:
    file = with_geometry(tmp_path, shapely.Point(-200, 40))
    reported = load(tmp_path, file, "--mapping", mapping, *how, code=1)
    assert f"{file}, feature 2: longitudes run from -180 to 180" in reported
    assert "It is loaded without geometry." in reported
    assert labels(tmp_path) == {"Central Park", "Bethesda Fountain", "Nowhere"}


@pytest.mark.parametrize("how", [("--partial",), ("--bulk", "--partial")])
def test_partial_leaves_out_a_feature_that_the_mapping_cannot_name(
    tmp_path: Path, mapping: Path, how: tuple[str, ...]
) -> None:
    mapping.write_text(MAPPING.replace("{kind}-{gid}", "{area}"))
    file = write_parquet(tmp_path / "places.parquet")
    reported = load(tmp_path, file, "--mapping", mapping, *how, code=1)
    assert f"{file}, feature 2: there is no value in 'area'" in reported
    assert labels(tmp_path) == {"Central Park"}


def test_a_geometry_is_not_looked_at_where_the_mapping_leaves_geometries_out(
    tmp_path: Path, mapping: Path
) -> None:
    mapping.write_text(MAPPING.replace('iri = "', 'geometry = false\niri = "'))
    load(tmp_path, with_geometry(tmp_path, shapely.Point(-200, 40)), "--mapping", mapping)
    assert labels(tmp_path) == {"Central Park", "Bethesda Fountain", "Nowhere"}


def test_a_layer_without_features_loads_nothing(tmp_path: Path, mapping: Path) -> None:
    file = tmp_path / "none.geojson"
    file.write_text('{"type": "FeatureCollection", "features": []}')
    assert "(0 features): 0 statements accepted" in load(tmp_path, file, "--mapping", mapping)


@pytest.mark.parametrize(
    ("how", "message", "kept"),
    [
        ((), "Committed features stay; the same command loads the rest.", {"Central Park"}),
        (("--bulk",), "Nothing was loaded.", set()),
    ],
)
def test_ctrl_c_ends_a_load_with_the_batch_it_is_at(
    tmp_path: Path,
    mapping: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    how: tuple[str, ...],
    message: str,
    kept: set[str],
) -> None:
    monkeypatch.setattr(feature_loading, "BATCH", 1)
    read = FeatureFiles._mapped

    def interrupted(*arguments: Any, **named: Any) -> MappedFeature | None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)
        return read(*arguments, **named)

    monkeypatch.setattr(FeatureFiles, "_mapped", interrupted)
    # Test runners may ignore it in the processes that they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    file = write_parquet(tmp_path / "a.parquet", [ROWS[0], ROWS[0], ROWS[0]])
    mapping.write_text(MAPPING.replace("{kind}-{gid}", "{kind}"))
    assert f"The load was ended. {message}" in load(tmp_path, file, "--mapping", mapping, *how, code=130)
    assert labels(tmp_path) == kept


def test_a_bulk_load_defers_the_gate_and_reports(tmp_path: Path, mapping: Path) -> None:
    file = write_vector(tmp_path / "places.gpkg", driver="GPKG")
    reported = load(tmp_path, file, "--mapping", mapping, "--bulk", shapes=GATE, code=1)
    assert "1 of them violations" in reported
    assert labels(tmp_path) == {"Central Park", "Bethesda Fountain", "Nowhere"}


def test_a_repaired_geometry_is_reported_with_its_feature(tmp_path: Path, mapping: Path) -> None:
    bow_tie = shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2), (0, 0)])
    file = write_parquet(tmp_path / "a.parquet", [(bow_tie, ROWS[0][1])])
    reported = load(tmp_path, file, "--mapping", mapping)
    assert "a.parquet, feature 1:" in reported
    assert "Self-intersection" in reported


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("{gid}", "{number}"), "has no column 'number'; it has gid, name"),
        (('iri = "', 'layer = "roads"\niri = "'), "has no rules for its layers 'places'"),
        (("{kind}-{gid}", "{kind}"), "feature 3: an earlier feature is <"),
        (("{kind}-{gid}", "{area}"), "feature 2: there is no value in 'area'"),
        (('column = "area"', 'column = "name"'), "feature 1"),
    ],
)
def test_a_mapping_that_does_not_fit_the_file_is_reported(
    tmp_path: Path, mapping: Path, change: tuple[str, str], message: str
) -> None:
    mapping.write_text(MAPPING.replace(*change))
    file = write_vector(tmp_path / "places.gpkg", driver="GPKG")
    assert message in load(tmp_path, file, "--mapping", mapping, code=2)


def test_a_file_of_another_kind_is_reported_which_kinds_there_are(tmp_path: Path, mapping: Path) -> None:
    file = tmp_path / "places.dxf"
    file.write_text("<kml/>")
    reported = load(tmp_path, file, "--mapping", mapping, code=2)
    assert "and with a mapping files of features: .geojson" in reported


def test_features_without_a_mapping_are_refused(tmp_path: Path) -> None:
    file = write_vector(tmp_path / "places.gpkg", driver="GPKG")
    assert "--mapping" in load(tmp_path, file, code=2)


async def test_a_server_loads_features_from_its_disk(
    client: httpx.AsyncClient, services: Services, tmp_path: Path, mapping: Path
) -> None:
    file = write_vector(tmp_path / "places.gpkg", ROWS[1:2], driver="GPKG")
    text = mapping.read_text().replace("ex:Place", "rdfs:Resource")
    mapping.write_text(text)
    message = {"files": [str(file)], "mapping": str(mapping), "bulk": True, "report": False}
    answer = (await client.post("/loads", json=message)).json()
    assert answer["loads"][0]["accepted"] == 8
    fountain = NamedNode(BASE + "fountain-2")
    assert any(services.store.match(fountain, RDFS.label, None))
    wrong = await client.post("/loads", json={"files": [str(file)]})
    assert wrong.status_code == 422
    assert "`mapping`" in wrong.json()["detail"]


async def test_features_that_end_a_load_name_the_rdf_files_that_were_loaded_before(
    client: httpx.AsyncClient, services: Services, tmp_path: Path, mapping: Path
) -> None:
    rdf = tmp_path / "good.ttl"
    rdf.write_text(f"<{BASE}a> <{BASE}p> 1 .\n")
    file = with_geometry(tmp_path, shapely.Point(-200, 40))
    message = {"files": [str(rdf), str(file)], "mapping": str(mapping)}
    answer = await client.post("/loads", json=message)
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(f"Loaded before it: {rdf}.")
    assert any(services.store.match(NamedNode(BASE + "a"), None, None))


@pytest.mark.parametrize("bulk", [(), ("--bulk",)])
def test_a_file_that_points_to_others_is_refused_by_name_and_format(
    tmp_path: Path, mapping: Path, bulk: tuple[str, ...]
) -> None:
    other = write_vector(tmp_path / "other.geojson", driver="GeoJSON")
    path = tmp_path / "places.geojson"
    path.write_text(
        f'<OGRVRTDataSource><OGRVRTLayer name="other"><SrcDataSource>{other}</SrcDataSource></OGRVRTLayer>'
        "</OGRVRTDataSource>"
    )
    reported = load(tmp_path, path, "--mapping", mapping, *bulk, code=2)
    assert str(path) in reported
    assert "GeoJSON" in reported

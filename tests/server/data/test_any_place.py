"""Layers of cities anywhere load and relate with the shipped ontology, shapes and settings."""

import shutil
from pathlib import Path

import pytest
import shapely
from pyoxigraph import Literal, NamedNode, Triple
from shapely.geometry.base import BaseGeometry
from typer.testing import CliRunner

from ontology.checks.findings import Level
from server.cli.app import command_line
from server.errors import ServerError
from server.extent import read_extent
from server.rules.checking import Folders, check
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from sparql.model.vocabulary import GEO, RDFS
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.drawn_features import write_vector

BASE = "https://w3id.org/urbankg/id/"
MAPPING = """
[prefixes]
urban = "https://w3id.org/urbankg/urban#"
[[layers]]
iri = "{kind}-{name}"
class = "urban:{kind}"
label = "name"
"""
CITY_OF_THREE = [
    (shapely.box(0, 0, 0.2, 0.2), {"kind": "City", "name": "Ash City"}),
    (shapely.box(-0.0001, 0.05, 0.1, 0.1), {"kind": "Neighborhood", "name": "North Side"}),
    (shapely.box(0.1, 0.05, 0.2, 0.1), {"kind": "Neighborhood", "name": "South Side"}),
]


def _at(east: float, north: float) -> list[tuple[BaseGeometry, dict[str, str]]]:
    return [(shapely.affinity.translate(shape, east, north), row) for shape, row in CITY_OF_THREE]


def _run(folder: Path, *arguments: object, code: int = 0, **environment: str) -> str:
    done = CliRunner().invoke(
        command_line(), ["--data", str(folder / "data"), *map(str, arguments)], env=environment or None
    )
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stderr


def _load(folder: Path, rows: list[tuple[BaseGeometry, dict[str, str]]], **environment: str) -> str:
    mapping = folder / "map.toml"
    mapping.write_text(MAPPING, encoding="utf-8")
    file = write_vector(folder / "areas.gpkg", rows, driver="GPKG")
    return _run(folder, "load", file, "--mapping", mapping, **environment)


def _graph(folder: Path) -> set[Triple]:
    store = EmbeddedStore(folder / "data")
    try:
        return set(store.match(None, None, None))
    finally:
        store.close()


@pytest.mark.parametrize("place", [(-87.7, 41.8), (2.3, 48.8), (139.7, 35.6), (-58.4, -34.6)])
def test_layers_of_any_city_load_with_default_settings(tmp_path: Path, place: tuple[float, float]) -> None:
    reported = _load(tmp_path, _at(*place))
    assert len(reported) < 2000
    found = _graph(tmp_path)
    city, south = (NamedNode(f"{BASE}{name}") for name in ("city-ash-city", "neighborhood-south-side"))
    assert Triple(south, GEO.rcc8tpp, city) in found


def test_a_load_says_what_a_tolerance_would_change_and_applies_none(tmp_path: Path) -> None:
    reported = " ".join(_load(tmp_path, _at(-87.7, 41.8)).split())
    assert "1 pairs of features overlap, since tolerance_m is 0" in reported
    assert "at 1 m 0 would lie in the other" in reported
    assert "at 20 m 1 would lie in the other" in reported
    north, city = (NamedNode(f"{BASE}{name}") for name in ("neighborhood-north-side", "city-ash-city"))
    assert Triple(north, GEO.rcc8po, city) in _graph(tmp_path)


def test_a_set_tolerance_is_used_and_nothing_is_suggested(tmp_path: Path) -> None:
    reported = _load(tmp_path, _at(-87.7, 41.8), URBANKG_TOLERANCE_M="20")
    assert "tolerance_m" not in reported
    north, city = (NamedNode(f"{BASE}{name}") for name in ("neighborhood-north-side", "city-ash-city"))
    assert Triple(north, GEO.rcc8tpp, city) in _graph(tmp_path)


def test_names_of_a_french_city_keep_their_letters(tmp_path: Path) -> None:
    rows = [
        (shapely.box(2.3, 48.8, 2.4, 48.9), {"kind": "City", "name": "Île-sur-Œuvre"}),
        (shapely.box(2.3, 48.8, 2.35, 48.9), {"kind": "Neighborhood", "name": "L'Haÿ-les-Étangs"}),
    ]
    _load(tmp_path, rows)
    labels = {t.object.value for t in _graph(tmp_path) if t.predicate == RDFS.label}  # type: ignore[union-attr]
    assert {"Île-sur-Œuvre", "L'Haÿ-les-Étangs"} <= labels


TWO_COUNTRIES = """
@prefix urban: <https://w3id.org/urbankg/urban#> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ex: <http://example.org/> .
ex:a a urban:Country ; rdfs:label "Ashland" ; geo:hasDefaultGeometry ex:a-g .
ex:a-g a geo:Geometry ; geo:asWKT "POLYGON ((1e1 4.5E1, 12 45, 12 47, 10 47, 1e1 4.5E1))"^^geo:wktLiteral .
ex:b a urban:Country ; rdfs:label "Elmland" ; geo:hasDefaultGeometry ex:b-g .
ex:b-g a geo:Geometry ; geo:asWKT "POLYGON ((12 45, 14 45, 14 47, 12 47, 12 45))"^^geo:wktLiteral .
ex:c a urban:Museum ; rdfs:label "Hall of New York" ; geo:hasDefaultGeometry ex:c-g .
ex:c-g a geo:Geometry ; geo:asWKT
  "<http://www.opengis.net/def/crs/EPSG/0/2263> POINT (990000 220000)"^^geo:wktLiteral .
"""


def test_two_countries_exponents_and_a_national_grid_load_by_default(tmp_path: Path) -> None:
    file = tmp_path / "countries.ttl"
    file.write_text(TWO_COUNTRIES, encoding="utf-8")
    assert "0 refused" in _run(tmp_path, "load", file)
    one, other = (NamedNode(f"http://example.org/{name}") for name in "ab")
    assert Triple(one, GEO.rcc8ec, other) in _graph(tmp_path)


def test_an_empty_geometry_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.ttl"
    file.write_text(TWO_COUNTRIES.replace("POINT (990000 220000)", "POINT EMPTY"), encoding="utf-8")
    assert "The geometry is empty" in _run(tmp_path, "load", file, code=1)


NEW_YORK = "POLYGON ((-74.3 40.45, -73.65 40.45, -73.65 40.95, -74.3 40.95, -74.3 40.45))"


@pytest.mark.parametrize(
    ("wkt", "inside"),
    [
        ("POINT (-73.96 40.81)", True),
        ("POINT (-7.396e1 4.081E1)", True),
        ("<http://www.opengis.net/def/crs/EPSG/0/2263> POINT (990000 220000)", True),
        ("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT (40.81 -73.96)", True),
        ("POINT (40.81 -73.96)", False),
        ("LINESTRING (-73.96 40.81, -72.5 40.81)", False),
        ("POINT (2.35 48.85)", False),
    ],
)
def test_an_extent_is_compared_with_the_parsed_geometry(tmp_path: Path, wkt: str, inside: bool) -> None:
    file = tmp_path / "place.ttl"
    file.write_text(
        "@prefix urban: <https://w3id.org/urbankg/urban#> . @prefix ex: <http://example.org/> .\n"
        "@prefix geo: <http://www.opengis.net/ont/geosparql#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        'ex:p a urban:Museum ; rdfs:label "Elm Hall" ; geo:hasDefaultGeometry ex:g .\n'
        f'ex:g a geo:Geometry ; geo:asWKT "{wkt}"^^geo:wktLiteral .\n',
        encoding="utf-8",
    )
    reported = _run(tmp_path, "load", file, code=0 if inside else 1, URBANKG_EXTENT=NEW_YORK)
    assert ("not within the extent" in " ".join(reported.split())) is not inside
    assert bool(_graph(tmp_path) & {_labeled()}) is inside


def _labeled() -> Triple:
    return Triple(NamedNode("http://example.org/p"), RDFS.label, Literal("Elm Hall"))


@pytest.mark.parametrize("text", ["POINT (1 2)", "POLYGON ((1 2", "POLYGON EMPTY", "New York"])
def test_an_extent_that_is_no_area_is_explained(text: str) -> None:
    with pytest.raises(ServerError, match="extent: "):
        read_extent(text)


def test_what_a_load_prints_is_short_and_no_geometry_is_whole(tmp_path: Path) -> None:
    ring = shapely.Point(2.3, 48.8).buffer(0.01, quad_segs=200)
    rows = [
        (shapely.affinity.translate(ring, n / 10, 0), {"kind": "Park", "name": f"Parc {n}"})
        for n in range(40)
    ]
    mapping = tmp_path / "map.toml"
    mapping.write_text(MAPPING, encoding="utf-8")
    file = write_vector(tmp_path / "parks.gpkg", rows, driver="GPKG")
    reported = _run(
        tmp_path, "load", "--partial", file, "--mapping", mapping, code=1, URBANKG_EXTENT=NEW_YORK
    )
    assert len(reported) < 2000, len(reported)
    assert reported.count("not within the extent") <= 5
    assert "(and " in reported


STATED = """@prefix ukg: <https://w3id.org/urbankg/system#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> .
<http://example.org/city> a owl:Ontology ; ukg:extent "%s"^^geo:wktLiteral .
"""


def _ontology(folder: Path, extent: str) -> str:
    copy = folder / "ontology"
    shutil.copytree(SHIPPED_ONTOLOGY, copy, ignore=shutil.ignore_patterns("*.py", "__pycache__", "checks"))
    (copy / "city.ttl").write_text(STATED % extent, encoding="utf-8")
    return str(copy)


@pytest.mark.parametrize("how", ["setting", "triple"])
@pytest.mark.parametrize("bulk", [False, True])
def test_an_extent_is_a_setting_or_a_triple_and_a_bulk_load_reports_it(
    tmp_path: Path, how: str, bulk: bool
) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text(MAPPING, encoding="utf-8")
    rows = _at(2.35, 48.85)
    file = write_vector(tmp_path / "areas.gpkg", rows, driver="GPKG")
    said = (
        {"URBANKG_EXTENT": NEW_YORK}
        if how == "setting"
        else {"URBANKG_ONTOLOGY": _ontology(tmp_path, NEW_YORK)}
    )
    reported = _run(
        tmp_path, "load", "--bulk" if bulk else "--partial", file, "--mapping", mapping, code=1, **said
    )
    if bulk:
        assert "not within the extent" in " ".join(reported.split())
    else:
        assert not [one for one in _graph(tmp_path) if one.predicate == GEO.asWKT]


def test_an_ontology_whose_extent_is_no_area_is_refused_by_the_check(tmp_path: Path) -> None:
    folders = Folders(Path(_ontology(tmp_path, "POINT (1 2)")), SHIPPED_SHAPES)
    (found,) = [one for one in check(folders).findings if one.rule.name == "extent"]
    assert "a Point is no area" in found.message
    assert check(folders).fails(Level.ERROR)

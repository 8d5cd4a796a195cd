"""Places by name from files, and the choice among places of one name."""

import json
from pathlib import Path

import pytest
from pyoxigraph import NamedNode
from shapely import box

from extractors.errors import GazetteerError
from extractors.grounding.geocoder import Gazetteer, PlaceContext, choose
from ontology.schema import Schema
from tests.support.scripted import urban

CSV = """name,kind,lat,lon,aliases
Elm Hall,museum,40.80,-73.95,The Elms|Hall of Elms
Elm Hall,museum,51.50,-0.12,
Ada Stone,person,40.80,-73.95,
"""


def written(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def sources(found: object) -> list[str]:
    return [place.source for place in found]  # type: ignore[attr-defined]


def test_names_and_aliases_are_found_as_names_are_compared(tmp_path: Path) -> None:
    gazetteer = Gazetteer.read(written(tmp_path, "places.csv", "\ufeff" + CSV))
    assert len(gazetteer) == 4
    assert sources(gazetteer.locate("the ELM hall")) == [
        "places.csv, line 2 (Elm Hall)", "places.csv, line 3 (Elm Hall)",
    ]  # fmt: skip
    assert sources(gazetteer.locate("Hall of Elms")) == ["places.csv, line 2 (Elm Hall)"]
    assert gazetteer.locate("Oak Hall") == ()


def test_geojson_and_wkt_are_read_alike(tmp_path: Path) -> None:
    feature = {
        "type": "Feature",
        "properties": {"Name": "Elm Park", "type": "park", "alt_name": "Elms; The Elm"},
        "geometry": {"type": "Point", "coordinates": [-73.95, 40.8]},
    }
    file = json.dumps({"type": "FeatureCollection", "features": [feature]})
    geojson = Gazetteer.read(written(tmp_path, "a.geojson", file))
    wkt = Gazetteer.read(written(tmp_path, "b.csv", 'name,kind,wkt\nElm Park,park,"POINT (-73.95 40.8)"\n'))
    (one,), (other,) = geojson.locate("Elm"), wkt.locate("Elm Park")
    assert (one.geometry, one.kind) == (other.geometry, other.kind)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "title2,lat\nx,1\n", "line 1"),
        ("a.csv", "name,lat,lon\nElm,north,2\n", "line 2"),
        ("a.csv", "name,lat,lon\nElm,140,2\n", "nowhere on Earth"),
        ("a.csv", "name,wkt\nElm,POINT (1\n", "line 2"),
        ("a.csv", "name,lat,lon\n,1,2\n", "no name"),
        ("a.csv", "name,lat,lon,confidence\nElm,1,2,9\n", "confidence"),
        ("a.json", "{", "not JSON"),
        ("a.json", "[]", "FeatureCollection"),
        ("a.json", '{"features": [{"properties": {"name": "x"}}]}', "feature 1"),
        (
            "a.json",
            '{"features": [{"properties": {"name": "x"}, "geometry": {"type": "Blob"}}]}',
            "feature 1",
        ),
        ("a.txt", "", "none of"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_place(
    tmp_path: Path, name: str, content: str, words: str
) -> None:
    with pytest.raises(GazetteerError, match=words):
        Gazetteer.read(written(tmp_path, name, content))
    with pytest.raises(GazetteerError, match="cannot be read"):
        Gazetteer.read(tmp_path / "missing.csv")


def test_regions_and_classes_choose_among_places_of_one_name(tmp_path: Path, schema: Schema) -> None:
    gazetteer = Gazetteer.read(written(tmp_path, "places.csv", CSV))
    harlem, museum = box(-73.96, 40.79, -73.94, 40.81), frozenset({urban("Museum")})

    def chosen(name: str, context: PlaceContext) -> int:
        return len(choose(gazetteer.locate(name), context, schema, slack_m=500))

    assert chosen("Elm Hall", PlaceContext(museum)) == 2
    assert chosen("Elm Hall", PlaceContext(museum, (harlem,))) == 1
    assert chosen("Elm Hall", PlaceContext(museum, (harlem, box(0, 51, 1, 52)))) == 0
    assert chosen("Ada Stone", PlaceContext(museum)) == 0
    assert chosen("Ada Stone", PlaceContext(frozenset({NamedNode("http://example.org/unknown")}))) == 1


def test_a_place_that_two_sources_know_at_one_spot_is_one_place(tmp_path: Path, schema: Schema) -> None:
    rows = 'name,wkt\nElm Park,POINT (0.5 0.5)\nElm Park,"POLYGON ((0 0, 1 0, 1 1, 0 0))"\n'
    gazetteer = Gazetteer.read(written(tmp_path, "places.csv", rows))
    (place,) = choose(gazetteer.locate("Elm Park"), PlaceContext(), schema, slack_m=0)
    assert place.shape.geom_type == "Polygon"

"""Records of places from JSON lines, CSV and GeoJSON: what is read, and what is reported of broken rows."""

import gzip
import json
from pathlib import Path

import pytest

from extractors.errors import SourceError
from extractors.sources.mapping import read_mapping, read_sources
from extractors.sources.records import BrokenRecord, SourceKind, SourceRecord

PARK = {"name": "Bryant Park", "type": "park", "text": "A park.", "geometry": "POINT (-73.98 40.75)"}
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]}


def read(path: Path, mapping: str | None = None) -> list[SourceRecord | BrokenRecord]:
    if mapping is None:
        return list(read_sources([path]))
    (path.parent / "map.toml").write_text(mapping)
    return list(read_sources([path], read_mapping(path.parent / "map.toml")))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_json_lines_are_read_by_the_usual_names_of_fields(tmp_path: Path) -> None:
    (record,) = read(written(tmp_path / "a.jsonl", json.dumps(PARK) + "\n\n"))
    assert isinstance(record, SourceRecord)
    assert (record.name, record.type, record.text) == ("Bryant Park", "park", "A park.")
    assert record.geometry is not None
    assert record.geometry.wkt == "POINT (-73.98 40.75)"
    assert record.place == "a.jsonl, line 1"


def test_a_broken_line_is_reported_with_its_number_and_the_next_one_follows(tmp_path: Path) -> None:
    lines = [json.dumps(PARK), '{"name": "broken', "[1, 2]", json.dumps({**PARK, "geometry": "POINT (1)"})]
    lines += [json.dumps({**PARK, "rating": "good"}), json.dumps(PARK)]
    found = read(written(tmp_path / "a.jsonl", "\n".join(lines)))
    broken = [one for one in found if isinstance(one, BrokenRecord)]
    assert [one.place for one in broken] == [f"a.jsonl, line {number}" for number in (2, 3, 4, 5)]
    assert "not JSON" in broken[0].reason
    assert "object" in broken[1].reason
    assert "'good' is no number" in broken[3].reason
    assert len(found) - len(broken) == 2


def test_bytes_that_are_not_utf_8_break_their_line_only(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"name": "Caf\xe9"}\n' + json.dumps(PARK).encode())
    first, second = read(path)
    assert isinstance(first, BrokenRecord)
    assert "UTF-8" in first.reason
    assert isinstance(second, SourceRecord)


def test_a_table_is_read_whatever_its_separator_and_its_rows_keep_their_line_numbers(tmp_path: Path) -> None:
    text = 'name;lon;lat;stars;text\n"Joe\'s\nDiner";-73.9;40.7;4,5;Good soup.\nshort;1\nFar;x;40;3;Bad.\n'
    diner, short, far = read(written(tmp_path / "a.csv", text))
    assert isinstance(diner, SourceRecord)
    assert (diner.name, diner.rating, diner.kind) == ("Joe's Diner", 4.5, SourceKind.REVIEW)
    assert short == BrokenRecord("a.csv, line 4", "2 cells, but the header names 5 columns")
    assert isinstance(far, BrokenRecord)
    assert far.place == "a.csv, line 5"
    assert "not both numbers" in far.reason


def test_a_cell_may_be_as_long_as_a_polygon_is(tmp_path: Path) -> None:
    ring = ", ".join(f"{x / 20000:.5f} 0" for x in range(20_000))
    text = f'name,wkt\nLong,"LINESTRING ({ring})"\n'
    (record,) = read(written(tmp_path / "a.csv", text))
    assert isinstance(record, SourceRecord)
    assert record.kind is SourceKind.ROAD


def test_a_feature_collection_is_read_and_a_broken_feature_is_reported_with_its_number(
    tmp_path: Path,
) -> None:
    features = [
        {"type": "Feature", "id": 7, "geometry": SQUARE, "properties": {"title": "Square"}},
        {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": "?"}, "properties": {}},
        {"type": "Feature", "geometry": None, "properties": {"name": "Nowhere"}},
    ]
    collection = {"type": "FeatureCollection", "features": features}
    square, broken, nowhere = read(written(tmp_path / "a.geojson", json.dumps(collection, indent=1)))
    assert isinstance(square, SourceRecord)
    assert (square.name, square.identifier, square.kind) == ("Square", "7", SourceKind.AREA)
    assert isinstance(broken, BrokenRecord)
    assert broken.place == "a.geojson, record 2"
    assert isinstance(nowhere, SourceRecord)
    assert nowhere.kind is SourceKind.PAGE


def test_a_json_file_may_hold_an_array_or_an_object_on_each_line(tmp_path: Path) -> None:
    for name, text in (
        ("a.json", json.dumps([PARK, PARK], indent=1)),
        ("b.json", f"{json.dumps(PARK)}\n" * 2),
    ):
        assert [type(one) for one in read(written(tmp_path / name, text))] == [SourceRecord] * 2


def test_gzipped_files_are_read_and_half_ones_reported(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps(PARK).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(packed)
    assert len(read(tmp_path / "a.jsonl.gz")) == 1
    (tmp_path / "b.jsonl.gz").write_bytes(packed[:-9])
    with pytest.raises(SourceError, match="not a whole gzip file"):
        read(tmp_path / "b.jsonl.gz")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.geojson", '{"type": "FeatureCollection",\n"features": [', "line 2: not JSON"),
        ("a.json", "17", "holds no records"),
        ("a.csv", "", "is empty"),
        ("a.txt", "text", "records are read from"),
    ],
)
def test_a_file_that_cannot_be_read_as_a_whole_is_reported_with_its_name(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    with pytest.raises(SourceError, match=message):
        read(written(tmp_path / name, text))


def test_a_mapping_names_the_fields_the_kinds_and_the_reference_system(tmp_path: Path) -> None:
    path = written(tmp_path / "roads.csv", "Strasse,what,x,wkt\nC_Street,residential,a,POINT (0 0)\n")
    (record,) = read(
        path,
        """
        [[sources]]
        file = "roads*"
        kind = "road"
        crs = "EPSG:3857"
        [sources.fields]
        name = "strasse"
        type = ["none", "what"]
        [sources.types]
        residential = "street"
        """,
    )
    assert isinstance(record, SourceRecord)
    assert (record.name, record.kind, record.type) == ("C Street", SourceKind.ROAD, "street")


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ("[[sources]]\nkind = 'river'", "'river' is no kind of source: use one of area"),
        ("[[sources]]\nname = 'x'", "a source has the key 'name'. Known are"),
        ("[cleaning]\nminimum_words = 'ten'", "minimum_words = 'ten': it takes a int"),
        ("[cleaning]\nwords = 1", "[cleaning] has the key 'words'"),
        ("[[sources]]\nfile = 'other*'", "no [[sources]] for a.jsonl"),
        ("[[", "not valid TOML"),
    ],
)
def test_a_mapping_that_cannot_be_used_says_what_to_mend(tmp_path: Path, mapping: str, message: str) -> None:
    path = written(tmp_path / "a.jsonl", json.dumps(PARK))
    with pytest.raises(SourceError) as raised:
        read(path, mapping)
    assert message in str(raised.value)


def test_half_a_surrogate_pair_breaks_its_geometry_only(tmp_path: Path) -> None:
    lines = ['{"name": "A\\ud800", "text": "x"}', '{"name": "B", "geometry": "POINT (1 2\\ud800)"}']
    first, second = read(written(tmp_path / "a.jsonl", "\n".join(lines)))
    assert isinstance(first, SourceRecord)
    assert first.name == "A?"
    assert isinstance(second, BrokenRecord)

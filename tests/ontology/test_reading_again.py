"""Ontology files that are as they were are not parsed again, and others are."""

from pathlib import Path

from pyoxigraph import NamedNode

from ontology import Schema

ONE = "<http://example.org/one> a <http://www.w3.org/2002/07/owl#Class> ."
OTHER = "<http://example.org/other> a <http://www.w3.org/2002/07/owl#Class> ."


def test_a_schema_of_the_same_files_is_the_one_that_is_known(tmp_path: Path) -> None:
    (tmp_path / "one.ttl").write_text(ONE)
    (tmp_path / "other.ttl").write_text(OTHER)
    known = Schema.load(tmp_path)
    (tmp_path / "one.ttl").write_text(ONE)
    assert Schema.load_readable(tmp_path, None, known) == (known, [])
    assert Schema.load_readable(tmp_path, {"one.ttl": ONE.encode()}, known)[0] is known


def test_only_what_changed_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "one.ttl").write_text(ONE)
    (tmp_path / "other.ttl").write_text(OTHER)
    known = Schema.load(tmp_path)
    edited, _ = Schema.load_readable(tmp_path, {"one.ttl": OTHER.encode()}, known)
    assert [file is former for file, former in zip(edited.files, known.files, strict=True)] == [False, True]
    assert set(edited.classes) == {NamedNode("http://example.org/other")}
    assert edited.version != known.version


def test_a_file_that_is_gone_renamed_or_added_makes_another_schema(tmp_path: Path) -> None:
    (tmp_path / "one.ttl").write_text(ONE)
    known = Schema.load(tmp_path)
    for edits, names in (
        ({"one.ttl": None}, []),
        ({"one.ttl": None, "two.ttl": ONE.encode()}, ["two.ttl"]),
        ({"two.ttl": OTHER.encode()}, ["one.ttl", "two.ttl"]),
    ):
        found, _ = Schema.load_readable(tmp_path, edits, known)
        assert found is not known
        assert [file.path.name for file in found.files] == names

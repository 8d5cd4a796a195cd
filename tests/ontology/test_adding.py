"""Ontologies are added with all that they import, from files and packages, or not at all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ontology import OntologyError, Schema
from ontology.adding import add

PREFIXES = "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://example.org/> .\n"


def write(path: Path, name: str, *imports: str, more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    said = "".join(f":{name} owl:imports <http://example.org/{one}> . " for one in imports)
    path.write_text(f"{PREFIXES}:{name} a owl:Ontology . {said}:{name}Thing a owl:Class . {more}")
    return path


def classes(folder: Path) -> set[str]:
    return {iri.value.removeprefix("http://example.org/") for iri in Schema.load(folder).classes}


def test_a_file_comes_with_what_it_imports_directly_and_indirectly(tmp_path: Path) -> None:
    source = write(tmp_path / "there" / "city.ttl", "city", "roads")
    write(tmp_path / "elsewhere" / "deep" / "roads.ttl", "roads", "units")
    write(tmp_path / "there" / "units.ttl", "units")
    folder = tmp_path / "ontology"
    added = add([str(source)], folder, [tmp_path / "elsewhere"])
    assert classes(folder) == {"cityThing", "roadsThing", "unitsThing"}
    assert [path.relative_to(folder).as_posix() for path in (*added.files, *added.imported)] == [
        "city.ttl",
        "imports/roads.ttl",
        "imports/units.ttl",
    ]
    add([str(write(tmp_path / "more" / "parks.ttl", "parks", "units"))], folder)
    assert classes(folder) == {"cityThing", "roadsThing", "unitsThing", "parksThing"}


def test_an_import_that_is_nowhere_refuses_all_and_names_each_or_becomes_empty(tmp_path: Path) -> None:
    source = write(tmp_path / "city.ttl", "city", "roads", "rails")
    folder = tmp_path / "ontology"
    with pytest.raises(OntologyError) as refused:
        add([str(source)], folder)
    assert "<http://example.org/roads>" in str(refused.value)
    assert "<http://example.org/rails>" in str(refused.value)
    assert not folder.exists()
    assert add([str(source)], folder, allow_empty=True).empty == (
        "http://example.org/roads",
        "http://example.org/rails",
    )
    assert classes(folder) == {"cityThing"}


def test_two_imports_of_one_file_name_are_both_there(tmp_path: Path) -> None:
    source = write(tmp_path / "s" / "city.ttl", "city", "roads", "rails")
    write(tmp_path / "s" / "a" / "index.ttl", "roads")
    write(tmp_path / "s" / "b" / "index.ttl", "rails")
    add([str(source)], tmp_path / "ontology")
    assert classes(tmp_path / "ontology") == {"cityThing", "roadsThing", "railsThing"}


def test_a_file_of_the_same_name_is_replaced_only_where_that_is_wanted(tmp_path: Path) -> None:
    folder = tmp_path / "ontology"
    add([str(write(tmp_path / "a" / "city.ttl", "city"))], folder)
    other = str(write(tmp_path / "b" / "city.ttl", "town"))
    with pytest.raises(OntologyError, match="another file of this name"):
        add([other], folder)
    add([other], folder, replace=True)
    assert classes(folder) == {"townThing"}


def test_a_package_is_found_without_running_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "city_vocabularies"
    write(package / "v1" / "city.ttl", "city", "roads")
    write(package / "v1" / "roads.ttl", "roads")
    (package / "__init__.py").write_text("raise RuntimeError")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    folder = tmp_path / "ontology"
    with pytest.raises(OntologyError, match=r"has 2 ontologies.* city_vocabularies:v1/city.ttl"):
        add(["city_vocabularies"], folder)
    add(["city_vocabularies:v1/city.ttl"], folder)
    assert classes(folder) == {"cityThing", "roadsThing"}


@pytest.mark.parametrize(
    ("source", "message"),
    [("nowhere", "neither a file"), ("pytest:no.ttl", "no file no.ttl"), ("{}", "has no file with .ttl")],
)
def test_a_source_that_is_none_says_so(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(OntologyError, match=message):
        add([source.format(tmp_path)], tmp_path / "ontology")

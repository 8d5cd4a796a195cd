"""Imports come from the folder or from what its catalog names; nothing is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from ontology import OntologyError, Schema

ROOT = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<http://example.org/city> a owl:Ontology ;
    owl:imports <http://example.org/base/> .
<http://example.org/city#Park> a owl:Class ; rdfs:subClassOf <http://example.org/base#Place> .
"""
BASE = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
<http://example.org/base> a owl:Ontology .
<http://example.org/base#Place> a owl:Class .
"""
PARK, PLACE = NamedNode("http://example.org/city#Park"), NamedNode("http://example.org/base#Place")


def catalog(*entries: str) -> str:
    inner = "\n".join(entries)
    return (
        f'<?xml version="1.0"?>\n<catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">\n{inner}\n'
        "</catalog>\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "city.ttl").write_text(ROOT)
    return tmp_path


def test_an_import_may_be_another_file_of_the_folder(folder: Path) -> None:
    (folder / "base.ttl").write_text(BASE)
    assert PLACE in Schema.load(folder).superclasses(PARK)


def test_an_import_may_be_a_file_that_the_catalog_names(folder: Path) -> None:
    (folder / "parts").mkdir()
    (folder / "parts" / "base.ttl").write_text(BASE)
    (folder / "catalog-v001.xml").write_text(
        catalog(
            '<group xml:base="parts/">', '<uri name="http://example.org/base" uri="base.ttl"/>', "</group>"
        )
    )
    schema = Schema.load(folder)
    assert PLACE in schema.classes
    assert [file.path.name for file in schema.files] == ["city.ttl", "base.ttl"]


def test_what_is_imported_twice_or_in_a_circle_is_read_once(folder: Path) -> None:
    (folder / "parts").mkdir()
    circular = BASE + "<http://example.org/base> owl:imports <http://example.org/city> ."
    (folder / "parts" / "base.ttl").write_text(circular)
    (folder / "catalog-v001.xml").write_text(
        catalog('<uri name="http://example.org/base" uri="parts/base.ttl"/>')
    )
    assert len(Schema.load(folder).files) == 2


def test_an_import_that_is_nowhere_is_reported_with_file_and_line(folder: Path) -> None:
    with pytest.raises(OntologyError) as caught:
        Schema.load(folder)
    assert (caught.value.file, caught.value.line) == (folder / "city.ttl", 4)
    assert "catalog-v001.xml" in str(caught.value)
    assert "http://example.org/base/" in str(caught.value)


def test_a_catalog_that_points_to_no_file_is_reported_with_its_line(folder: Path) -> None:
    (folder / "catalog-v001.xml").write_text(catalog('<uri name="http://example.org/base" uri="gone.ttl"/>'))
    with pytest.raises(OntologyError) as caught:
        Schema.load(folder)
    assert (caught.value.file, caught.value.line) == (folder / "catalog-v001.xml", 3)


def test_a_catalog_that_is_no_xml_is_reported_with_its_line(folder: Path) -> None:
    (folder / "catalog-v001.xml").write_text("<catalog>\n<uri>\n</catalog>")
    with pytest.raises(OntologyError) as caught:
        Schema.load(folder)
    assert caught.value.file == folder / "catalog-v001.xml"
    assert caught.value.line == 3


def test_an_edit_replaces_a_file_that_is_not_touched(folder: Path) -> None:
    (folder / "base.ttl").write_text(BASE)
    edited = BASE.replace("#Place", "#Spot").encode()
    assert NamedNode("http://example.org/base#Spot") in Schema.load(folder, {"base.ttl": edited}).classes
    assert PLACE in Schema.load(folder).classes
    with pytest.raises(OntologyError, match=r"city\.ttl:4"):
        Schema.load(folder, {"base.ttl": None})

"""A broken ontology file is reported by file and line, with what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ontology import OntologyError, OntologySyntaxError, OntologyTermError, OntologyUnreadable, Schema

OWL = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n@prefix ex: <http://example.org/> .\n"
RDFS = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"


def test_a_syntax_error_names_file_and_line_and_shows_it(tmp_path: Path) -> None:
    file = tmp_path / "broken.ttl"
    file.write_text(OWL + "ex:Park a owl:Class ;;; rdfs\nex:City a owl:Class .\n")
    with pytest.raises(OntologySyntaxError) as caught:
        Schema.load(tmp_path)
    assert caught.value.file == file
    assert caught.value.line in (3, 4)
    assert f"{file}:{caught.value.line}:" in str(caught.value)


def test_an_undeclared_prefix_is_named_with_its_fix(tmp_path: Path) -> None:
    (tmp_path / "broken.ttl").write_text(OWL + "ex:Park a owl:Class ; skos:altLabel 'x' .\n")
    with pytest.raises(OntologySyntaxError, match="@prefix"):
        Schema.load(tmp_path)


def test_broken_rdf_xml_is_a_syntax_error(tmp_path: Path) -> None:
    (tmp_path / "broken.rdf").write_text("<?xml version='1.0'?><rdf:RDF><unclosed>")
    with pytest.raises(OntologySyntaxError):
        Schema.load(tmp_path)


def test_text_that_is_not_utf_8_is_an_error_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "latin.ttl").write_bytes(OWL.encode() + b'ex:Park ex:label "caf\xe9" .\n')
    with pytest.raises(OntologyError, match=r"latin\.ttl"):
        Schema.load(tmp_path)


def test_a_property_of_things_and_of_literals_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "odd.ttl").write_text(
        OWL + "ex:height a owl:ObjectProperty .\nex:height a owl:DatatypeProperty .\n"
    )
    with pytest.raises(OntologyTermError, match="Keep the one") as caught:
        Schema.load(tmp_path)
    assert caught.value.iri == "http://example.org/height"
    assert caught.value.line == 3


def test_a_text_where_a_class_belongs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.ttl").write_text(OWL + RDFS + "ex:Park a owl:Class ;\n  rdfs:subClassOf 'Place' .\n")
    with pytest.raises(OntologyTermError, match="quotation marks") as caught:
        Schema.load(tmp_path)
    assert caught.value.line == 4


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OntologyUnreadable, match="no such ontology folder"):
        Schema.load(tmp_path / "nowhere")

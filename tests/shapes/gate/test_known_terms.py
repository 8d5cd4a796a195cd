"""Terms that the ontology lacks or has deprecated are named in Turtle with the prefixes of its files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Triple

from ontology import Schema
from shapes.gate.known_terms import deprecated_terms, unknown_terms
from sparql.model.vocabulary import RDF

EX = "http://example.org/o#"
ONTOLOGY = """@prefix ex: <http://example.org/> . @prefix city: <http://example.org/o#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix dct: <http://purl.org/dc/terms/> .
city:Park a owl:Class . city:Green a owl:Class ; owl:deprecated true ; dct:isReplacedBy city:Park .
"""


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    (tmp_path / "o.ttl").write_text(ONTOLOGY)
    return Schema.load(tmp_path)


@pytest.mark.parametrize(
    ("iri", "written"),
    [
        (EX + "Prak", "city:Prak"),
        ("http://example.org/Prak", "ex:Prak"),
        (EX + "a/b", f"<{EX}a/b>"),
        (EX + "end.", f"<{EX}end.>"),
        ("http://other.org/Prak", "<http://other.org/Prak>"),
    ],
)
def test_an_unknown_term_is_named_with_its_prefix(schema: Schema, iri: str, written: str) -> None:
    (found,) = unknown_terms(schema, Triple(NamedNode(EX + "x"), RDF.type, NamedNode(iri)))
    assert found.message.startswith(f"The ontology has no class {written}. ")
    assert found.value == NamedNode(iri)


def test_a_deprecated_term_and_its_successor_are_too(schema: Schema) -> None:
    (found,) = deprecated_terms(schema, Triple(NamedNode(EX + "x"), RDF.type, NamedNode(EX + "Green")))
    assert found.message == "city:Green is deprecated. Use city:Park."

"""The unit of plain numbers is read from an ontology that states it only in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from extractors.english.values import unit_of_property
from ontology import Schema

HEAD = """@prefix : <http://example.org/o#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix qudt: <http://qudt.org/schema/qudt/> . @prefix unit: <http://qudt.org/vocab/unit/> .
"""
NUMBER = "rdfs:range xsd:decimal"


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        (f'rdfs:label "weight (g)" ; {NUMBER}', "GM"),
        (f'rdfs:label "total area [m2]" ; {NUMBER}', "M2"),
        (f'rdfs:label "height in feet" ; {NUMBER}', "FT"),
        (f'rdfs:label "weight" ; rdfs:comment "The weight of it in kilograms." ; {NUMBER}', "KiloGM"),
        (f'rdfs:label "area" ; rdfs:comment "Its surface, in square kilometres" ; {NUMBER}', "KiloM2"),
        (f'rdfs:label "height (ft)" ; qudt:hasUnit unit:M ; rdfs:comment "In feet." ; {NUMBER}', "M"),
        (f'rdfs:label "count" ; rdfs:comment "People born in charge." ; {NUMBER}', None),
        (f'rdfs:label "size" ; rdfs:comment "In feet, or in meters." ; {NUMBER}', None),
        ('rdfs:label "note" ; rdfs:comment "What people said in meters." ; rdfs:range xsd:string', None),
        (f'rdfs:label "height (feet tall)" ; {NUMBER}', None),
    ],
)
def test_a_unit_is_stated_or_in_label_or_comment(tmp_path: Path, written: str, unit: str | None) -> None:
    (tmp_path / "o.ttl").write_text(f"{HEAD}:p a owl:DatatypeProperty ; {written} .")
    (term,) = Schema.load(tmp_path).properties.values()
    found = unit_of_property(term)
    assert (found and found.value.rpartition("/")[2]) == unit

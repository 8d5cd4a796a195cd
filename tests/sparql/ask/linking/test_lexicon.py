"""Terms that share a label, and units that only words state, in an ontology that somebody else wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Store

from ontology import Schema
from sparql.ask.linking.summary import DataSummary
from sparql.names.labels import LabelIndex
from tests.sparql.ask.conftest import City, quads_of

PREFIXES = """@prefix : <http://example.org/o#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
ONTOLOGY = """
:Oven a owl:Class ; rdfs:label "kiln"@en . :Dryer a owl:Class ; rdfs:label "kiln"@en .
:Printing a owl:Class ; rdfs:label "press"@en . :Pressing a owl:Class ; rdfs:label "press"@en .
:height a owl:DatatypeProperty ; rdfs:label "height (m)"@en ; rdfs:domain :Oven ; rdfs:range xsd:decimal .
:weight a owl:DatatypeProperty ; rdfs:label "weight"@en ; rdfs:comment "How heavy it is, in kilograms."@en ;
    rdfs:domain :Oven ; rdfs:range xsd:decimal .
"""
DATA = """
:k1 a :Oven ; rdfs:label "Old Kiln" ; :height 10.0 ; :weight 500.0 .
:k2 a :Oven ; rdfs:label "New Kiln" ; :height 20.0 ; :weight 3000.0 .
:p1 a :Printing ; rdfs:label "Tin Press" . :p2 a :Printing ; rdfs:label "Lead Press" .
:p3 a :Pressing ; rdfs:label "Oil Press" .
"""


@pytest.fixture
def works(tmp_path: Path) -> City:
    (tmp_path / "o.ttl").write_text(PREFIXES + ONTOLOGY)
    schema = Schema.load(tmp_path)
    store = Store()
    store.load(PREFIXES + DATA, RdfFormat.TURTLE)
    labels = LabelIndex()
    labels.rebuild(quads_of(store))
    return City(schema, store, labels, DataSummary(schema))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many kilns are there?", "There are 2 kilns in the graph."),
        ("How many Printing presses are there?", "There are 2 Printing presses in the graph."),
        ("How many Pressing presses are there?", "There is 1 Pressing press in the graph."),
        ("Which kilns are higher than 50 feet?", "New Kiln"),
        ("Which kilns weigh more than 1000 pounds?", "2 kilns with a weight of more than 453.592 kg"),
        ("What is the weight of the Old Kiln in pounds?", "1,102.311 lb"),
    ],
)
async def test_the_class_with_instances_is_meant_and_units_in_words_count(
    works: City, question: str, expected: str
) -> None:
    result = await works.asker().ask(question)
    assert result.answer is not None, result.gaps
    assert expected in result.answer


async def test_of_two_classes_with_instances_it_is_asked_which_is_meant(works: City) -> None:
    result = await works.asker().ask("How many presses are there?")
    assert result.answer is None
    message = str(result.gaps[0]["message"])
    assert "Take Printing presses" in message
    assert "Take Pressing presses" in message

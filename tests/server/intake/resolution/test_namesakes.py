"""A known place and its namesake in another region are distinguished."""

from __future__ import annotations

from pyoxigraph import Triple

from ontology import Schema
from server.intake.batch import Batch
from server.intake.resolution.namesakes import NamesakeAssessor
from sparql.model.change import Statement
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import GEO, UKG
from sparql.provenance.records import Support
from tests.support.scripted import ONTOLOGY, city_labels, english, known, urban

SCHEMA = Schema.load(ONTOLOGY)
AVENUE, CHICAGO, MANILA, PERSON = (known(name) for name in ("taft", "chicago", "manila", "person"))
IN_CHICAGO = Triple(AVENUE, GEO.rcc8ntpp, CHICAGO)
IN_MANILA = Triple(AVENUE, urban("locatedIn"), MANILA)
NAMED = Triple(AVENUE, urban("namedAfter"), PERSON)
OLD_NAME = Triple(PERSON, urban("nickname"), english("Bill"))


def _assessed(*graph: Triple, new: bool = True) -> Batch:
    said = (IN_MANILA, NAMED, OLD_NAME)
    batch = Batch(
        statements={triple: Statement(triple, 0.9) for triple in said},
        supports={triple: Support() for triple in said},
        minted=frozenset({MANILA, PERSON}) if new else frozenset({PERSON}),
    )
    NamesakeAssessor(TripleIndex(graph), city_labels()).assess(batch, SCHEMA)
    return batch


def test_a_place_that_a_text_puts_into_an_unknown_region_may_be_a_namesake() -> None:
    refused = _assessed(IN_CHICAGO).refused
    assert set(refused) == {IN_MANILA, NAMED}
    assert {reason.component for reasons in refused.values() for reason in reasons} == {UKG.Namesake}


def test_a_region_that_the_graph_knows_is_left_to_the_geometries() -> None:
    assert _assessed(IN_CHICAGO, new=False).refused == {}


def test_a_place_that_lies_nowhere_yet_may_lie_there() -> None:
    assert _assessed().refused == {}

"""A known place and its namesake in another region are distinguished."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, Triple

from ontology import Schema
from server.intake.batch import Batch
from server.intake.resolution.namesakes import NamesakeAssessor
from sparql.model.change import Statement
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import GEO, RDF, UKG
from sparql.provenance.records import Support
from sparql.spatial.relations import SpatialRelations
from tests.support.scripted import ONTOLOGY, city_labels, english, known, urban

SCHEMA = Schema.load(ONTOLOGY)
AVENUE, CHICAGO, MANILA, PERSON = (known(name) for name in ("taft", "chicago", "manila", "person"))
LOOP, ILLINOIS, LUZON, UNION = (known(name) for name in ("loop", "illinois", "luzon", "union"))
LOCATED_IN = urban("locatedIn")
IN_CHICAGO = Triple(AVENUE, GEO.rcc8ntpp, CHICAGO)
IN_MANILA = Triple(AVENUE, LOCATED_IN, MANILA)
NAMED = Triple(AVENUE, urban("namedAfter"), PERSON)
OLD_NAME = Triple(PERSON, urban("nickname"), english("Bill"))
CITIES = tuple(Triple(city, RDF.type, urban("City")) for city in (CHICAGO, MANILA))


def _square(region, west: float) -> tuple[Triple, ...]:
    node = known(f"g{west}")
    corners = f"{west} 0, {west + 1} 0, {west + 1} 1, {west} 1, {west} 0"
    return (
        Triple(region, GEO.hasDefaultGeometry, node),
        Triple(node, GEO.asWKT, Literal(f"POLYGON (({corners}))", datatype=GEO.wktLiteral)),
    )


def _assessed(
    *graph: Triple, new=(MANILA, PERSON), said=(IN_MANILA, NAMED, OLD_NAME), quote: str | None = "in Manila"
) -> Batch:
    batch = Batch(
        statements={triple: Statement(triple, 0.9) for triple in said},
        supports={triple: Support(quote=quote) for triple in said},
        minted=frozenset(new),
    )
    source = TripleIndex(graph)
    relations = SpatialRelations()
    relations.rebuild(source)
    NamesakeAssessor(relations, city_labels(), source).assess(batch, SCHEMA)
    return batch


def test_a_place_that_a_text_puts_into_an_unknown_region_may_be_a_namesake() -> None:
    refused = _assessed(IN_CHICAGO).refused
    assert set(refused) == {IN_MANILA, NAMED}
    assert {reason.component for reasons in refused.values() for reason in reasons} == {UKG.Namesake}


def test_a_place_that_lies_nowhere_yet_may_lie_there() -> None:
    assert _assessed().refused == {}


def test_an_unknown_region_that_the_text_puts_into_the_known_one_is_no_other() -> None:
    in_loop, loop_in_chicago = Triple(AVENUE, LOCATED_IN, LOOP), Triple(LOOP, LOCATED_IN, CHICAGO)
    assert _assessed(IN_CHICAGO, new=(LOOP,), said=(in_loop, loop_in_chicago)).refused == {}
    assert set(_assessed(IN_CHICAGO, new=(LOOP,), said=(in_loop,)).refused) == {in_loop}


@pytest.mark.parametrize(
    ("graph", "apart"),
    [
        pytest.param((), False, id="nothing is known of the two"),
        pytest.param(CITIES, True, id="two cities"),
        pytest.param((CITIES[0], Triple(MANILA, RDF.type, urban("Neighborhood"))), False, id="two kinds"),
        pytest.param((*CITIES, Triple(MANILA, LOCATED_IN, CHICAGO)), False, id="one lies in the other"),
        pytest.param(
            (*CITIES, Triple(CHICAGO, LOCATED_IN, UNION), Triple(MANILA, LOCATED_IN, UNION)),
            False,
            id="parts of one region, in both of which a street may lie",
        ),
        pytest.param(
            (
                *CITIES,
                Triple(CHICAGO, LOCATED_IN, ILLINOIS),
                Triple(MANILA, LOCATED_IN, LUZON),
                Triple(ILLINOIS, LOCATED_IN, UNION),
                Triple(LUZON, LOCATED_IN, UNION),
            ),
            True,
            id="two cities that only a wide region holds",
        ),
        pytest.param((*_square(CHICAGO, 0), *_square(MANILA, 3)), True, id="geometries apart"),
        pytest.param((*CITIES, *_square(CHICAGO, 0), *_square(MANILA, 1)), False, id="geometries that touch"),
    ],
)
def test_known_regions_are_compared(graph: tuple[Triple, ...], apart: bool) -> None:
    refused = _assessed(IN_CHICAGO, *graph, new=(PERSON,)).refused
    assert set(refused) == ({IN_MANILA, NAMED} if apart else set())


def test_regions_that_lie_in_two_cities_are_apart() -> None:
    malate = known("malate")
    graph = (
        IN_CHICAGO,
        *CITIES,
        Triple(malate, RDF.type, urban("Neighborhood")),
        Triple(malate, LOCATED_IN, MANILA),
    )
    in_malate = Triple(AVENUE, LOCATED_IN, malate)
    assert set(_assessed(*graph, new=(), said=(in_malate,)).refused) == {in_malate}


def test_a_region_among_several_that_is_known_makes_it_the_same_place() -> None:
    in_chicago = Triple(AVENUE, LOCATED_IN, CHICAGO)
    assert _assessed(IN_CHICAGO, *CITIES, new=(), said=(IN_MANILA, in_chicago)).refused == {}


def test_an_organization_may_be_in_two_cities() -> None:
    company = Triple(AVENUE, RDF.type, urban("Organization"))
    assert _assessed(IN_CHICAGO, *CITIES, company, new=(PERSON,)).refused == {}


def test_a_client_that_names_a_place_by_its_iri_means_that_one() -> None:
    assert _assessed(IN_CHICAGO, *CITIES, new=(), quote=None).refused == {}

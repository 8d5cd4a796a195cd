"""The index of geometries holds whatever a checkpoint can hold, and says so when it cannot tell."""

import pytest
import shapely
from pyoxigraph import DefaultGraph, NamedNode, Quad

from sparql.rewriting.geometries import GeometryIndex, IndexAway
from sparql.rewriting.geometry_state import GeometryState
from sparql.store import EmbeddedStore
from sparql.vocabulary import DEFAULT, GEO
from sparql.writer import Writer
from tests.sparql.rewriting.city import EX, wkt


def statement(number: int, graph: NamedNode | DefaultGraph = DEFAULT) -> Quad:
    return Quad(EX.term(f"g{number}"), GEO.asWKT, wkt(f"POINT({number / 1000} 1)"), graph)


def numbers(state: GeometryState) -> set[str]:
    return {node.value.removeprefix(EX.iri) for node, _ in state.shapes.candidates(shapely.box(-9, -9, 9, 9))}


@pytest.fixture
def store() -> EmbeddedStore:
    return EmbeddedStore()


@pytest.fixture
def index(store: EmbeddedStore) -> GeometryIndex:
    index = GeometryIndex(store)
    store.before_commit = index.note
    return index


def test_it_is_built_from_all_graphs(store: EmbeddedStore, index: GeometryIndex) -> None:
    store.commit([statement(1), statement(2, EX.graph)])
    assert numbers(index.at(store.revision())) == {"g1", "g2"}


def test_a_commit_after_the_building_is_seen(store: EmbeddedStore, index: GeometryIndex) -> None:
    index.at(store.revision())
    store.commit([statement(1)])
    assert numbers(index.at(store.revision())) == {"g1"}


def test_what_was_removed_is_still_there_for_who_reads_an_older_revision(
    store: EmbeddedStore, index: GeometryIndex
) -> None:
    older = store.commit([statement(1)])
    index.at(older)
    store.commit([], [statement(1)])
    assert numbers(index.at(older)) == {"g1"}


def test_what_was_removed_goes_when_it_is_much(store: EmbeddedStore, index: GeometryIndex) -> None:
    many = [statement(number) for number in range(1200)]
    store.commit([*many, statement(5, EX.graph)])
    index.at(store.revision())
    store.commit([], many)
    assert numbers(index.at(store.revision())) == {"g5"}
    with pytest.raises(IndexAway):
        index.at(store.revision() - 1)


def test_what_came_back_stays(store: EmbeddedStore, index: GeometryIndex) -> None:
    many = [statement(number) for number in range(1200)]
    store.commit(many)
    index.at(store.revision())
    store.commit([], many)
    store.commit([statement(7)])
    assert numbers(index.at(store.revision())) == {"g7"}


def test_an_unreadable_literal_is_known_with_the_reason(store: EmbeddedStore, index: GeometryIndex) -> None:
    store.commit([Quad(EX.g, GEO.asWKT, wkt("POINT(nowhere)"), DEFAULT)])
    (reason,) = index.at(store.revision()).unreadable.values()
    assert "POINT(nowhere)" in reason


def test_a_bulk_load_is_waited_for(store: EmbeddedStore, index: GeometryIndex) -> None:
    index.at(store.revision())
    store.begin_bulk()
    with pytest.raises(IndexAway):
        index.at(store.revision())
    store.bulk_add([statement(3)])
    store.end_bulk()
    assert numbers(index.at(store.revision())) == {"g3"}


def test_a_bulk_load_through_the_writer_is_seen(store: EmbeddedStore, index: GeometryIndex) -> None:
    index.at(store.revision())
    writer = Writer(store)
    writer.start()
    writer.bulk([statement(4)])
    assert numbers(index.at(store.revision())) == {"g4"}

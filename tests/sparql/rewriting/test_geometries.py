"""The index of geometries holds whatever a checkpoint can hold, and says so when it does not know."""

from collections.abc import Callable

import pytest
import shapely
from pyoxigraph import DefaultGraph, NamedNode, Quad

from sparql.model.vocabulary import DEFAULT, GEO
from sparql.rewriting.geometry_state import GeometryState
from sparql.rewriting.index import GeometryIndex, IndexUnavailable
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.spatial_city import EX, wkt


def statement(number: int, graph: NamedNode | DefaultGraph = DEFAULT) -> Quad:
    return Quad(EX.term(f"g{number}"), GEO.asWKT, wkt(f"POINT({number / 1000} 1)"), graph)


def link(number: int) -> Quad:
    return Quad(EX.term(f"f{number}"), GEO.hasGeometry, EX.term(f"g{number}"), DEFAULT)


def numbers(state: GeometryState) -> set[str]:
    found = state.keys(state.shapes.candidates(shapely.box(-9, -9, 9, 9)))
    return {node.value.removeprefix(EX.iri) for node, _ in found}


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
    with pytest.raises(IndexUnavailable):
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
    with pytest.raises(IndexUnavailable):
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


def test_what_was_read_for_others_is_what_it_is_built_from(
    store: EmbeddedStore, index: GeometryIndex
) -> None:
    store.commit([statement(1), statement(2, EX.graph)])
    assert index.read().nodes == [EX.g1.value]
    store.before_commit = None
    # This one is not reported: it would be seen only by reading once more.
    store.commit([statement(3)])
    assert numbers(index.at(store.revision())) == {"g1", "g2"}


def test_commits_after_such_a_reading_are_seen(store: EmbeddedStore, index: GeometryIndex) -> None:
    older = store.commit([statement(1), statement(2), link(1), link(2)])
    index.read()
    store.commit([statement(3), link(3)], [statement(1)])
    state = index.at(store.revision())
    assert numbers(state) == {"g1", "g2", "g3"}
    assert index.at(older).since == older
    located = {n: state.features.located(EX.term(f"g{n}"), store.revision()) is not None for n in (1, 2, 3)}
    assert located == {1: False, 2: True, 3: True}
    assert state.features.located(EX.g3, older) is None


def test_a_reading_from_before_a_bulk_load_is_not_used(store: EmbeddedStore, index: GeometryIndex) -> None:
    index.read()
    store.begin_bulk()
    store.bulk_add([statement(3)])
    assert index.read().nodes
    store.end_bulk()
    assert numbers(index.at(store.revision())) == {"g3"}


class Interrupted(EmbeddedStore):
    """A store to which something happens just when it is read."""

    meanwhile: Callable[[], object] | None = None

    def revision(self) -> int:
        revision = super().revision()
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        return revision


def test_a_commit_during_the_reading_is_seen() -> None:
    store = Interrupted()
    index = GeometryIndex(store)
    store.before_commit = index.note
    store.commit([statement(1)])
    store.meanwhile = lambda: store.commit([statement(2)], [statement(1)])
    index.read()
    state = index.at(store.revision())
    # What was there at the reported revision must be there, and what has come since.
    assert numbers(state) == {"g1", "g2"}
    assert state.since == store.revision() - 1


def test_a_bulk_load_during_the_reading_makes_it_void() -> None:
    store = Interrupted()
    index = GeometryIndex(store)
    store.before_commit = index.note

    def load() -> None:
        store.begin_bulk()
        store.end_bulk()
        store.before_commit = None
        store.commit([statement(4)])
        store.before_commit = index.note

    store.meanwhile = load
    # The commit that was not reported stands for all that a bulk load adds behind the reading.
    index.read()
    store.commit([], [statement(4)])
    store.before_commit = None
    store.commit([statement(5)])
    assert numbers(index.at(store.revision())) == {"g5"}


def test_a_literal_in_two_graphs_and_by_two_properties_is_one(
    store: EmbeddedStore, index: GeometryIndex
) -> None:
    twice = Quad(EX.g1, GEO.asGeoJSON, statement(1).object, DEFAULT)
    store.commit([statement(1), statement(1, EX.graph), twice])
    assert len(index.at(store.revision())) == 1
    store.commit([statement(2), statement(2, EX.graph)], [statement(1)])
    assert len(index.at(store.revision())) == 2


def test_places_that_nothing_is_at_any_more_do_not_pile_up(
    store: EmbeddedStore, index: GeometryIndex
) -> None:
    many = [statement(number) for number in range(1200)]
    for _ in range(3):
        store.commit(many)
        index.at(store.revision())
        store.commit([], many)
        index.at(store.revision())
    store.commit([statement(7)])
    state = index.at(store.revision())
    assert numbers(state) == {"g7"}
    assert len(state.nodes) < 1200

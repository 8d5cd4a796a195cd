"""Changes without geometry do not wait for the index of geometries; for all others it is complete."""

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from sparql.model.change import Change, Statement
from sparql.model.geometry import EXACT, Tolerances, basis_quad, marks
from sparql.model.vocabulary import GEO
from sparql.spatial.pending_relations import PendingRelations
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer


def placed(name: str, wkt: str) -> tuple[Statement, ...]:
    feature, geometry = NamedNode(f"http://e/{name}"), NamedNode(f"http://e/{name}/geometry")
    return (
        Statement(Triple(feature, GEO.hasGeometry, geometry)),
        Statement(Triple(geometry, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral))),
    )


def test_the_index_is_built_by_the_first_change_that_needs_it():
    store, built = EmbeddedStore(), []
    before = Writer(store, deriver=SpatialRelations())
    before.commit(Change(additions=placed("park", "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))")))

    def build() -> SpatialRelations:
        built.append(store.revision())
        relations = SpatialRelations()
        relations.rebuild(store)
        return relations

    writer = Writer(store)
    writer.hold()
    pending = PendingRelations(build, EXACT)
    writer.release(deriver=pending)
    plain = Statement(Triple(NamedNode("http://e/park"), NamedNode("http://e/p"), Literal(1)))
    assert writer.commit(Change(additions=(plain,))).revision is not None
    assert built == []
    verdict = writer.commit(Change(additions=placed("bench", "POINT (1 1)")))
    assert len(built) == 1
    assert {str(triple.predicate) for triple in verdict.derived.additions} == {
        str(GEO.rcc8ntpp),
        str(GEO.rcc8ntppi),
    }
    assert pending.wait().geometry_of(NamedNode("http://e/bench"))
    removed = Change(removals=frozenset(one.triple for one in placed("bench", "POINT (1 1)")))
    assert len(writer.commit(removed).derived.removals) == 2


@pytest.mark.parametrize("has_place", [False, True])
def test_a_bulk_load_that_was_killed_is_finished_without_the_index_where_nothing_has_a_place(has_place: bool):
    store, built = EmbeddedStore(), []
    if has_place:
        for one in (*placed("park", "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"), *placed("bench", "POINT (1 1)")):
            store.graph.add(one.quad)
    store.begin_bulk()

    def build() -> SpatialRelations:
        built.append(True)
        relations = SpatialRelations(Tolerances(0.5))
        relations.rebuild(store)
        return relations

    Writer(store, deriver=PendingRelations(build, Tolerances(0.5))).start()
    assert not store.bulk_pending
    assert built == [True] * has_place
    assert [*store.match(None, GEO.rcc8ntpp, None)] == (
        [Triple(NamedNode("http://e/bench"), GEO.rcc8ntpp, NamedNode("http://e/park"))] if has_place else []
    )
    assert marks(store) == [basis_quad(Tolerances(0.5))]

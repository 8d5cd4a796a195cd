"""Bulk loads: without the gate, all or none, with relations, and finished after a crash."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from sparql.model.change import Change, Origin, Statement
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, GEO, REVIEW, XSD, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.bulk import BulkLoad, MalformedLiteral
from sparql.writing.writer import Writer

EX = Namespace("http://example.org/")


def feature(name: str, wkt: str) -> Iterator[Quad]:
    node = EX.term(name + "-geometry")
    yield Quad(EX.term(name), GEO.hasDefaultGeometry, node)
    yield Quad(node, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral))


CITY = [
    *feature("park", "POLYGON((0 0,1 0,1 1,0 1,0 0))"),
    *feature("pond", "POLYGON((.2 .2,.4 .2,.4 .4,.2 .4,.2 .2))"),
]
INSIDE = Quad(EX.pond, GEO.rcc8ntpp, EX.park)


def with_relations(store: EmbeddedStore) -> Writer:
    writer = Writer(store, deriver=SpatialRelations())
    writer.start()
    return writer


def test_relations_are_derived_after_the_load():
    store = EmbeddedStore()
    writer = with_relations(store)
    outcome = BulkLoad(store, writer).run(CITY)
    assert (outcome.quads, outcome.derived, outcome.left_out.count) == (4, 2, 0)
    assert outcome.revision == store.revision()
    assert store.contains(INSIDE)
    assert store.contains(Quad(*INSIDE.triple, DERIVED))
    # What comes through the gate afterwards is related to what was loaded past it.
    pier = [Statement(quad.triple) for quad in feature("pier", "POINT(.3 .3)")]
    assert writer.commit(Change(additions=tuple(pier))).derived.additions


def test_a_malformed_literal_stops_the_load_or_is_left_out():
    store = EmbeddedStore()
    writer = Writer(store)
    quads = [Quad(EX.a, EX.p, EX.b), Quad(EX.a, EX.q, Literal("ninety", datatype=XSD.integer))]
    with pytest.raises(MalformedLiteral, match="ninety"):
        BulkLoad(store, writer).run(quads)
    assert not store.contains(quads[0])
    outcome = BulkLoad(store, writer, partial=True).run(quads)
    assert store.contains(quads[0])
    assert [rejection.statement.triple for rejection in outcome.left_out.examples] == [quads[1].triple]


def test_system_graphs_are_skipped():
    store = EmbeddedStore()
    quads = [Quad(EX.a, EX.p, EX.b, REVIEW), Quad(EX.a, EX.p, EX.b, NamedNode("http://example.org/g"))]
    assert BulkLoad(store, Writer(store)).run(quads).quads == 1
    assert not store.contains(quads[0])
    assert store.contains(quads[1])


def test_what_was_extracted_and_is_then_loaded_counts_as_asserted_too():
    store = EmbeddedStore()
    writer = Writer(store)
    quad = Quad(EX.a, EX.p, EX.b)
    writer.commit(Change(additions=(Statement(quad.triple),), origin=Origin.EXTRACTED))
    BulkLoad(store, writer).run([quad])
    assert store.contains(Quad(*quad.triple, ASSERTED))


def test_a_load_that_was_cut_off_before_its_relations_is_finished_at_the_next_start(tmp_path: Path):
    store = EmbeddedStore(tmp_path)
    store.begin_bulk()
    store.bulk_add(CITY)
    store.close()
    again = EmbeddedStore(tmp_path)
    assert again.bulk_pending
    with_relations(again)
    assert again.contains(INSIDE)
    assert not again.bulk_pending


def test_indexes_see_what_was_loaded():
    seen: list[Quad] = []

    class Index:
        predicates = (GEO.hasGeometry, GEO.hasDefaultGeometry)

        def expect_rebuild(self):
            raise AssertionError("nothing else is written meanwhile")

        def rebuild(self, quads):
            seen[:] = quads

        def apply(self, additions, removals):
            raise AssertionError("a bulk load rebuilds")

    store = EmbeddedStore()
    writer = Writer(store, observers=(Index(),))
    BulkLoad(store, writer).run(CITY)
    assert {quad.subject for quad in seen} >= {EX.park, EX.pond}
    assert all(quad.graph_name == DEFAULT for quad in seen)


def test_of_many_rejections_only_the_first_are_kept():
    store = EmbeddedStore()
    quads = (Quad(EX.a, EX.q, Literal(f"no {n}", datatype=XSD.integer)) for n in range(5000))
    outcome = BulkLoad(store, Writer(store), partial=True).run(quads)
    assert outcome.quads == 0
    assert outcome.left_out.count == 5000
    assert [one.statement.triple.object.value for one in outcome.left_out.examples[:2]] == ["no 0", "no 1"]
    assert len(outcome.left_out.examples) < 100


def test_a_malformed_literal_far_behind_the_first_portion_leaves_nothing_loaded():
    store = EmbeddedStore()
    writer = Writer(store)
    before = len(store.graph)

    def quads() -> Iterator[Quad]:
        for number in range(9000):
            yield Quad(EX.term(f"s{number}"), EX.p, Literal(str(number), datatype=XSD.integer))
        yield Quad(EX.a, EX.p, Literal("2023-02-29", datatype=XSD.date))

    with pytest.raises(MalformedLiteral, match="2023-02-29"):
        BulkLoad(store, writer).run(quads())
    assert not store.contains(Quad(EX.s0, EX.p, Literal("0", datatype=XSD.integer)))
    assert not store.bulk_pending
    assert len(store.graph) == before + 1  # The revision.


def test_a_malformed_literal_of_a_system_graph_is_skipped_like_the_graph():
    store = EmbeddedStore()
    quads = [Quad(EX.a, EX.p, Literal("x", datatype=XSD.integer), REVIEW), Quad(EX.a, EX.p, EX.b)]
    assert BulkLoad(store, Writer(store)).run(quads).quads == 1

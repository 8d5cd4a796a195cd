"""The queue's columns in memory: they say what the store says after every commit, however it came."""

from collections.abc import Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad

from curation.decisions import Decisions
from curation.review_columns import ReviewColumns
from curation.review_item import State
from curation.review_search import ReviewFilter
from ontology import Schema
from sparql.model.vocabulary import DCTERMS, REVIEW, UKG
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.gate_city import ADA, City, said

ITEM = UKG.term("one")


def quad(predicate: NamedNode, value: NamedNode | Literal, item: NamedNode = ITEM) -> Quad:
    return Quad(item, predicate, value, REVIEW)


def test_a_search_after_a_commit_sees_it(tmp_path: Path) -> None:
    city = City(tmp_path)
    assert city.waiting() == set()
    city.post("A text", [said("hall", "capacity", "100"), said("barn", "capacity", "200")])
    assert len(city.waiting()) == 2
    found = city.review.find(ReviewFilter(text="BARN"))
    assert [city.review.get(item).triple for item in found] == [said("barn", "capacity", "200")]
    assert city.review.find(ReviewFilter(text="of no kind")) == city.review.find(ReviewFilter())
    rules = Schema.empty()
    decisions = Decisions(
        city.store, city.writer, city.review, schema=lambda: rules, shapes_version=lambda: "1"
    )
    decisions.reject(found, ADA, reason="no hall")
    assert city.waiting() == {str(said("hall", "capacity", "100"))}
    assert city.review.find(ReviewFilter(state=State.REJECTED)) == found
    assert city.review.search.facets(found)["status"] == {State.REJECTED.node: 1}
    city.remove("A text")
    assert city.review.find(ReviewFilter(state=None)) == found


def test_a_value_that_is_replaced_is_the_new_one() -> None:
    store = EmbeddedStore()
    columns = ReviewColumns(store)
    store.commit([quad(UKG.status, State.OPEN.node)])
    assert columns.of(UKG.status) == {ITEM: State.OPEN.node}
    store.commit([quad(UKG.status, State.REJECTED.node)], [quad(UKG.status, State.OPEN.node)])
    assert columns.of(UKG.status) == {ITEM: State.REJECTED.node}
    store.commit([], [quad(UKG.status, State.REJECTED.node)])
    assert columns.of(UKG.status) == {}


def test_a_commit_while_a_column_is_read_is_not_missed() -> None:
    class Interrupted(EmbeddedStore):
        """Something is committed after the reading of a column has begun."""

        def match_quads(self, *pattern: object) -> Iterator[Quad]:
            found = list(super().match_quads(*pattern))
            self.commit([quad(UKG.status, State.OPEN.node, UKG.term(f"item{len(found)}"))])
            return iter(found)

    store = Interrupted()
    columns = ReviewColumns(store)
    assert set(columns.of(UKG.status)) == {UKG.item0}
    store.commit([quad(UKG.status, State.OPEN.node)])
    assert set(columns.of(UKG.status)) == {UKG.item0, ITEM}


def test_what_a_bulk_load_adds_is_read_again() -> None:
    store = EmbeddedStore()
    columns = ReviewColumns(store)
    assert columns.of(DCTERMS.source) == {}
    store.begin_bulk()
    store.bulk_add([quad(DCTERMS.source, Literal("a file"))])
    store.end_bulk()
    assert columns.of(DCTERMS.source) == {ITEM: Literal("a file")}

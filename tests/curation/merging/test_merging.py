"""Two entities become one, and two again exactly as they were."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad, Triple

from curation.merging.merging import Merging
from shapes.errors import EntityUnknown, MergeRefused, MergeSettled
from sparql.model.vocabulary import DERIVED, EXTRACTED, PROV, RDFS, RECORD, SKOS
from tests.support.gate_city import ADA, City, ex, kind, placed, said

A, B = ex("a"), ex("b")
SQUARE = "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"
TEXTS = {
    "a": [kind("a"), said("a", "opened", "1900")],
    "b": [kind("b"), said("b", "opened", "1900"), said("b", "known", "well")],
    "both": [kind("a"), kind("b"), Triple(A, ex("near"), B), Triple(ex("c"), ex("likes"), B)],
    "a holds 5": [kind("a"), said("a", "capacity", "5")],
    "b holds 5": [kind("b"), said("b", "capacity", "5")],
    "b is somewhere": [kind("b"), *placed("b", "POINT (1 1)")],
    "around": placed("c", SQUARE),
    "no kind": [said("b", "capacity", "7")],
    "names": [Triple(A, RDFS.label, Literal("A")), Triple(B, RDFS.label, Literal("B"))],
}
STATED = [kind("a"), kind("b"), said("b", "opened", "1900"), Triple(ex("d"), ex("likes"), B)]
ACTS = tuple(RECORD.term(name).value for name in ("merge/", "split/", "agent/"))


def merging(city: City, obstacle=lambda one, other: None) -> Merging:
    return Merging(city.store, city.writer, city.review, obstacle=obstacle)


def everything(city: City) -> set[str]:
    """All quads but those about merges and splits, and the revision."""
    return {
        str(quad)
        for quad in city.store.match_quads(None, None, None, None)
        if not (str(quad.subject)[1:].startswith(ACTS) or "revision" in str(quad.predicate))
    }


def about(city: City, node) -> set[str]:
    return {str(t) for t in city.store.match(node, None, None)} | {
        str(t) for t in city.store.match(None, None, node)
    }


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.sampled_from(sorted(TEXTS)), max_size=6, unique=True), stated=st.booleans())
def test_a_split_restores_exactly_what_a_merge_changed(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], stated: bool
):
    city = City(tmp_path_factory.mktemp("city"))
    if stated:
        city.state(STATED)
    for text in texts:
        city.post(text, TEXTS[text])
    before = everything(city)
    try:
        merged = merging(city).merge(A, B, ADA, drop_conflicts=True)
    except EntityUnknown:
        return
    assert merged.merge is not None
    assert not [t for t in about(city, B) if "likes" not in t and "near" not in t]
    merging(city).split(merged.merge, ADA)
    assert everything(city) == before


@pytest.fixture
def city(tmp_path: Path) -> City:
    return City(tmp_path)


def test_the_kept_entity_has_the_statements_origins_evidence_and_names_of_both(city: City):
    city.state([kind("a"), Triple(A, RDFS.label, Literal("A"))])
    city.post("b", [kind("b"), Triple(B, RDFS.label, Literal("B")), said("b", "opened", "1900")])
    reported = merging(city).merge(A, B, ADA, reason="one house")
    assert reported.statements == 3
    assert about(city, B) == set()
    assert about(city, A) == {
        str(kind("a")),
        str(Triple(A, RDFS.label, Literal("A"))),
        str(Triple(A, SKOS.altLabel, Literal("B"))),
        str(said("a", "opened", "1900")),
    }
    opened = said("a", "opened", "1900")
    assert city.store.contains(Quad(opened.subject, opened.predicate, opened.object, EXTRACTED))
    (merge,) = merging(city).all()
    assert (merge.kept, merge.merged, merge.by, merge.reason) == (A, B, "Ada", "one house")
    assert any(city.store.match_quads(B, PROV.alternateOf, A, None))
    city.remove("b")
    assert about(city, A) == {str(kind("a")), str(Triple(A, RDFS.label, Literal("A")))}


def test_what_does_not_fit_is_refused_or_left_out_on_demand(city: City):
    city.post("a", [kind("a"), said("a", "capacity", "5")])
    city.post("b", [kind("b"), said("b", "capacity", "6"), said("b", "opened", "1900")])
    before = everything(city)
    merged = merging(city).merge(A, B, ADA)
    assert merged.merge is None
    assert [one.statement.triple for one in merged.rejected] == [said("a", "capacity", "6")]
    assert everything(city) == before
    merged = merging(city).merge(A, B, ADA, drop_conflicts=True)
    assert merged.dropped == (said("a", "capacity", "6"),)
    assert merged.merge is not None
    merging(city).split(merged.merge, ADA)
    assert everything(city) == before


def test_relations_follow_the_geometry_both_ways(city: City):
    city.state([*placed("c", SQUARE), kind("a"), kind("b"), *placed("b", "POINT (1 1)")])
    merged = merging(city).merge(A, B, ADA)
    assert any(city.store.match_quads(A, None, ex("c"), DERIVED))
    assert not any(city.store.match_quads(B, None, ex("c"), DERIVED))
    assert merged.merge is not None
    merging(city).split(merged.merge, ADA)
    assert any(city.store.match_quads(B, None, ex("c"), DERIVED))
    assert not any(city.store.match_quads(A, None, ex("c"), DERIVED))


def test_waiting_items_speak_of_the_kept_entity(city: City):
    city.post("a", [kind("a"), said("a", "capacity", "5")])
    city.post("b", [kind("b"), said("b", "capacity", "5"), said("b", "capacity", "6")])
    (item,) = city.review.about(B)
    merging(city).merge(A, B, ADA, drop_conflicts=True)
    assert city.review.get(item).triple.subject == A


def test_a_statement_whose_text_was_removed_does_not_come_back(city: City):
    city.post("a", [kind("a")])
    city.post("b", [kind("b"), said("b", "opened", "1900")])
    city.post("b too", [kind("b")])
    merged = merging(city).merge(A, B, ADA)
    city.remove("b")
    assert merged.merge is not None
    merging(city).split(merged.merge, ADA)
    assert about(city, B) == {str(kind("b"))}


def test_what_a_later_text_says_of_the_kept_entity_stays_with_it(city: City):
    city.post("a", [kind("a")])
    city.post("b", [kind("b"), said("b", "opened", "1900")])
    merged = merging(city).merge(A, B, ADA)
    city.post("later", [kind("a"), said("a", "opened", "1900")])
    assert merged.merge is not None
    merging(city).split(merged.merge, ADA)
    assert about(city, A) == {str(kind("a")), str(said("a", "opened", "1900"))}
    assert about(city, B) == {str(kind("b")), str(said("b", "opened", "1900"))}


def test_merges_are_split_once_and_the_last_first(city: City):
    city.post("all", [kind("a"), kind("b"), kind("c")])
    room = merging(city)
    first = room.merge(A, B, ADA).merge
    second = room.merge(ex("c"), A, ADA).merge
    assert first is not None
    assert second is not None
    with pytest.raises(MergeSettled, match="split that first"):
        room.split(first, ADA)
    room.split(second, ADA)
    room.split(first, ADA)
    with pytest.raises(MergeSettled, match="was split"):
        room.split(first, ADA)
    assert about(city, B) == {str(kind("b"))}


def test_what_cannot_be_one_is_not_merged(city: City):
    city.post("all", [kind("a"), kind("b")])
    with pytest.raises(EntityUnknown):
        merging(city).merge(A, ex("nothing"), ADA)
    with pytest.raises(MergeRefused, match="the same"):
        merging(city).merge(A, A, ADA)
    with pytest.raises(MergeRefused, match="they lie apart"):
        merging(city, lambda one, other: "they lie apart").merge(A, B, ADA)

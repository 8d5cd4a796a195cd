"""RCC8 relations follow every change of geometry, and an edit only costs its neighbors."""

import random
import time
from collections import Counter

import pytest
from pyoxigraph import Literal, NamedNode, Quad, Triple

from geo.formats.literals import parse_geometry
from geo.relate.rcc8 import relate
from sparql.model.change import Change, Statement
from sparql.model.errors import ProtectedTriple, RequestError
from sparql.model.geometry import HAS_GEOMETRY
from sparql.model.vocabulary import DEFAULT, DERIVED, GEO, Namespace
from sparql.spatial.relations import SpatialRelations, geometries_in, located_features
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.counting_source import CountingSource
from tests.support.spatial_city import small_city

EX = Namespace("http://example.org/")


def feature(name: str, wkt: str, property_: NamedNode = GEO.hasDefaultGeometry) -> list[Triple]:
    node = EX.term(name + "-geometry")
    return [
        Triple(EX.term(name), property_, node),
        Triple(node, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral)),
    ]


def square(x: int, y: int, size: int) -> str:
    return f"POLYGON(({x} {y},{x + size} {y},{x + size} {y + size},{x} {y + size},{x} {y}))"


def open_writer() -> tuple[EmbeddedStore, Writer, SpatialRelations]:
    store, relations = EmbeddedStore(), SpatialRelations()
    return store, Writer(store, deriver=relations), relations


def write(writer: Writer, added: list[Triple], removed: list[Triple] = []) -> None:  # noqa: B006
    writer.commit(Change(additions=tuple(Statement(t) for t in added), removals=frozenset(removed)))


def derived(store: EmbeddedStore) -> set[Triple]:
    stored = {quad.triple for quad in store.match_quads(None, None, None, DERIVED)}
    assert all(store.contains(Quad(t.subject, t.predicate, t.object)) for t in stored)
    return stored


def expected(geometries: dict[str, str]) -> set[Triple]:
    """Every pair related from scratch."""
    found = set()
    for a, wkt_a in geometries.items():
        for b, wkt_b in geometries.items():
            if a != b:
                shapes = [parse_geometry(Literal(w, datatype=GEO.wktLiteral)) for w in (wkt_a, wkt_b)]
                name = relate(*shapes).rcc8.value
                if name != "DC":
                    found.add(Triple(EX.term(a), GEO.term("rcc8" + name.lower()), EX.term(b)))
    return found


def random_wkt(rng: random.Random) -> str:
    x, y = rng.randint(0, 6), rng.randint(0, 6)
    kind = rng.random()
    if kind < 0.5:
        return square(x, y, rng.randint(1, 3))
    if kind < 0.8:
        return f"POINT({x} {y})"
    return f"LINESTRING({x} {y},{x + 2} {y},{x + 2} {y + rng.randint(1, 2)})"


@pytest.mark.parametrize("seed", range(6))
def test_after_any_sequence_of_edits_the_relations_are_those_of_a_rebuild(seed: int):
    rng = random.Random(seed)
    store, writer, _ = open_writer()
    present: dict[str, str] = {}
    for _ in range(25):
        added: list[Triple] = []
        removed: list[Triple] = []
        for name in rng.sample("abcdefgh", rng.randint(1, 3)):
            if name in present:
                removed += feature(name, present.pop(name))
            if rng.random() < 0.7:
                present[name] = random_wkt(rng)
                added += feature(name, present[name])
        write(writer, added, removed)
        assert derived(store) == expected(present)


def test_an_edit_relates_its_neighbors_and_not_the_whole_graph():
    counts = {}
    for size in (10, 30):
        store, writer, relations = open_writer()
        grid = [
            t for x in range(size) for y in range(size) for t in feature(f"f{x}-{y}", square(2 * x, 2 * y, 1))
        ]
        write(writer, grid)
        before = relations.index.pairs_related
        write(writer, feature("new", square(4, 4, 2)))
        counts[size] = relations.index.pairs_related - before
        assert len(store.graph) > 0
    assert 0 < counts[10] == counts[30] <= 9


def test_an_edit_of_many_features_does_not_relate_the_others_again():
    store, writer, relations = open_writer()
    write(writer, [t for x in range(20) for t in feature(f"old{x}", square(x, 0, 2))])
    before = relations.index.pairs_related
    edit = {f"new{x}": square(x, 1, 2) for x in range(10)}
    write(writer, [t for name, wkt in edit.items() for t in feature(name, wkt)])
    boxes_that_meet = 10 * 9 // 2 + sum(abs(new - old) <= 2 for new in range(10) for old in range(20))
    assert 0 < relations.index.pairs_related - before <= boxes_that_meet
    assert derived(store) == expected({**{f"old{x}": square(x, 0, 2) for x in range(20)}, **edit})


def test_what_a_small_edit_reads_does_not_grow_with_the_graph():
    reads = {}
    for size in (10, 30):
        store, writer, relations = open_writer()
        write(
            writer,
            [t for x in range(size) for y in range(size) for t in feature(f"f{x}-{y}", f"POINT({x} {y})")],
        )
        counting = CountingSource(store)
        relations.plan(counting, store.named(DERIVED), feature("new", "POINT(3 3)"), [])
        reads[size] = counting.read
    assert reads[10] == reads[30]


def test_the_default_geometry_counts_before_the_others():
    store, writer, _ = open_writer()
    write(writer, feature("region", square(0, 0, 4)))
    write(writer, feature("place", "POINT(1 1)", GEO.hasGeometry))
    assert Triple(EX.place, GEO.rcc8ntpp, EX.region) in derived(store)
    node = EX.term("elsewhere")
    write(writer, [
        Triple(EX.place, GEO.hasDefaultGeometry, node),
        Triple(node, GEO.asWKT, Literal("POINT(50 50)", datatype=GEO.wktLiteral)),
    ])  # fmt: skip
    assert derived(store) == set()


def test_a_relation_that_a_client_also_asserted_stays_without_its_geometry():
    store, writer, _ = open_writer()
    said = Triple(EX.a, GEO.rcc8eq, EX.b)
    write(writer, [said])
    both = [*feature("a", "POINT(1 1)"), *feature("b", "POINT(1 1)")]
    write(writer, both)
    assert said in derived(store)
    write(writer, [], both)
    assert derived(store) == set()
    assert store.contains(Quad(said.subject, said.predicate, said.object))


def test_all_that_is_said_of_a_feature_can_be_removed_at_once_its_relations_with_it() -> None:
    store, writer, _ = open_writer()
    write(writer, [*feature("a", square(0, 0, 2)), *feature("b", square(2, 0, 2))])
    of_a = list(store.match(EX.a, None, None))
    assert len(of_a) == 2
    write(writer, [], of_a)
    assert derived(store) == set()
    assert not list(store.match(EX.a, None, None))


def test_a_feature_can_be_replaced_by_one_that_lies_elsewhere_or_where_it_was() -> None:
    store, writer, _ = open_writer()
    write(writer, [*feature("a", square(0, 0, 2)), *feature("b", square(2, 0, 2))])
    for name, expected_relations in (("there", 2), ("away", 0)):
        node = EX.term(name)
        place = square(0, 0, 2) if name == "there" else square(50, 50, 2)
        new = [
            Triple(EX.a, GEO.hasDefaultGeometry, node),
            Triple(node, GEO.asWKT, Literal(place, datatype=GEO.wktLiteral)),
        ]
        write(writer, new, list(store.match(EX.a, None, None)))
        assert len(derived(store)) == expected_relations


def test_a_relation_alone_cannot_be_removed_while_its_geometries_stay() -> None:
    store, writer, _ = open_writer()
    write(
        writer, [*feature("a", square(0, 0, 2)), *feature("b", square(2, 0, 2)), *feature("c", "POINT(9 9)")]
    )
    (relation,) = store.match(EX.a, GEO.rcc8ec, None)
    for along in ([], list(store.match(EX.c, None, None))):
        with pytest.raises(ProtectedTriple, match="change the statements it follows from"):
            write(writer, [], [relation, *along])
    assert relation in derived(store)
    assert list(store.match(EX.c, None, None))


def test_a_relation_that_is_stated_with_the_geometry_that_implies_it_stays_when_the_geometry_goes() -> None:
    store, writer, _ = open_writer()
    geometries = [*feature("a", square(0, 0, 2)), *feature("b", square(2, 0, 2))]
    stated = Triple(EX.a, GEO.rcc8ec, EX.b)
    write(writer, [*geometries, stated])
    assert stated in derived(store)
    write(writer, [], geometries[2:])
    assert derived(store) == set()
    assert set(store.match(None, GEO.rcc8ec, None)) == {stated}


@pytest.mark.parametrize("seed", range(4))
def test_reading_the_places_of_a_graph_finds_for_each_feature_what_asking_for_it_does(seed: int) -> None:
    quads = small_city(seed)
    # A geometry of two features, and one with two serializations.
    shared = next(quad.object for quad in quads if quad.predicate == GEO.hasGeometry)
    quads.append(Quad(EX.other, GEO.hasDefaultGeometry, shared))
    again = next(quad for quad in quads if quad.predicate == GEO.asWKT)
    quads.append(Quad(again.subject, GEO.asGeoJSON, Literal("[", datatype=GEO.geoJSONLiteral)))
    store = EmbeddedStore()
    store.commit(quads)
    features = {q.subject for link in HAS_GEOMETRY for q in store.match_quads(None, link, None, DEFAULT)}
    asked = Counter((str(one), shape.wkt) for one in features for shape in geometries_in(store, one))
    assert Counter((str(feature), shape.wkt) for feature, shape in located_features(store)) == asked
    assert asked.total() > 40


def zigzag(teeth: int, *, turned: bool) -> str:
    points = [(n / teeth, n % 2) for n in range(teeth)]
    return "LINESTRING (" + ", ".join(f"{y} {x}" if turned else f"{x} {y}" for x, y in points) + ")"


@pytest.mark.parametrize(
    ("wkts", "limit_s", "reason"),
    [
        ([square(0, 0, 1)] * 600, 30.0, "more than 262,000 pairs"),
        ([zigzag(200, turned=n % 2 == 1) for n in range(300)], 0.2, r"more than 0\.2 s"),
        ([zigzag(3200, turned=n % 2 == 1) for n in range(30)], 30.0, "cross more than 1,000,000 times"),
    ],
)
def test_a_change_whose_relations_are_too_many_or_take_too_long_is_refused_and_changes_nothing(
    wkts: list[str], limit_s: float, reason: str
) -> None:
    store = EmbeddedStore()
    relations = SpatialRelations(limit_s=limit_s)
    writer = Writer(store, deriver=relations)
    write(writer, feature("before", square(0, 0, 1)))
    many = [triple for n, wkt in enumerate(wkts) for triple in feature(str(n), wkt)]
    began = time.monotonic()
    with pytest.raises(RequestError, match=reason):
        write(writer, many)
    assert time.monotonic() - began < limit_s + 20
    assert len(relations.index) == 1
    write(writer, feature("after", square(0, 0, 1)))
    assert derived(store) == expected({"before": square(0, 0, 1), "after": square(0, 0, 1)})

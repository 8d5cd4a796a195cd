"""Layers of features with tolerances of their own: relations follow every change, of layers too."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from geo.formats.literals import parse_geometry
from geo.relate.tolerance import relate_within
from sparql.model.change import Change, Statement
from sparql.model.geometry import Tolerances, are_exact, marks
from sparql.model.source import TripleIndex
from sparql.model.vocabulary import DERIVED, GEO, RDF, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.spatial.tiled_run import commit_run, open_run
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.sparql.spatial.test_tiled_run import AtOnce

EX = Namespace("http://example.org/")
ROUGH, FAIR = EX.Rough, EX.Fair
TOLERANCES = Tolerances(1.0, {ROUGH: 700.0, FAIR: 250.0})
KINDS = [ROUGH, FAIR, EX.Place]


def geometry(name: str, wkt: str) -> list[Triple]:
    node = EX.term(name + "-geometry")
    literal = Literal(wkt, datatype=GEO.wktLiteral)
    return [Triple(EX.term(name), GEO.hasDefaultGeometry, node), Triple(node, GEO.asWKT, literal)]


def kinds(name: str, of: frozenset[NamedNode]) -> list[Triple]:
    return [Triple(EX.term(name), RDF.type, kind) for kind in of]


def a_place(chance: random.Random) -> str:
    """Squares and points on a grid of a tenth of a degree, off by up to half a kilometer."""
    x, y = (chance.randrange(3) / 10 + chance.choice([0, 0, 0.001, -0.001, 0.004]) for _ in range(2))
    if chance.random() < 0.3:
        return f"POINT({x} {y})"
    return f"POLYGON(({x} {y}, {x + 0.1} {y}, {x + 0.1} {y + 0.1}, {x} {y + 0.1}, {x} {y}))"


def tolerance_of(of: frozenset[NamedNode]) -> float:
    return max((TOLERANCES.layers[kind] for kind in of if kind in TOLERANCES.layers), default=1.0)


def from_scratch(places: dict[str, str], layers: dict[str, frozenset[NamedNode]]) -> set[Triple]:
    found = set()
    for a, b in itertools.permutations(places, 2):
        shapes = [parse_geometry(Literal(places[one], datatype=GEO.wktLiteral)) for one in (a, b)]
        meters = max(tolerance_of(layers.get(one, frozenset())) for one in (a, b))
        relation = relate_within(*shapes, meters).rcc8
        if relation.value != "DC":
            found.add(Triple(EX.term(a), relation.property, EX.term(b)))
    return found


def derived(store: EmbeddedStore) -> set[Triple]:
    return {quad.triple for quad in store.match_quads(None, None, None, DERIVED)}


@pytest.mark.parametrize("seed", range(5))
def test_after_any_sequence_of_edits_the_relations_are_those_of_a_rebuild(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    store = EmbeddedStore()
    writer = Writer(store, deriver=SpatialRelations(TOLERANCES))
    places: dict[str, str] = {}
    layers: dict[str, frozenset[NamedNode]] = {}
    exact = 0
    for _ in range(25):
        added: list[Triple] = []
        removed: list[Triple] = []
        for name in chance.sample("abcdefg", chance.randint(1, 3)):
            if chance.random() < 0.6:
                if name in places:
                    removed += geometry(name, places.pop(name))
                if chance.random() < 0.8:
                    places[name] = a_place(chance)
                    added += geometry(name, places[name])
            if chance.random() < 0.6:
                removed += kinds(name, layers.pop(name, frozenset()))
                layers[name] = frozenset(chance.sample(KINDS, chance.randint(0, 2)))
                added += kinds(name, layers[name])
        writer.commit(Change(additions=tuple(map(Statement, added)), removals=frozenset(removed)))
        expected = from_scratch(places, layers)
        assert derived(store) == expected
        exact += expected == from_scratch(places, {})
    assert exact < 20, "the layers should matter"
    run = open_run(store, tmp_path, tolerances=TOLERANCES, features_per_tile=3)
    run.run(AtOnce(), at_once=2)
    done = commit_run(writer, store, run)
    assert (done.added, done.removed) == (0, 0)
    assert derived(store) == from_scratch(places, layers)


def test_a_layer_alone_changes_the_relations_and_a_refused_change_leaves_them() -> None:
    store = EmbeddedStore()
    writer = Writer(store, deriver=SpatialRelations(TOLERANCES))
    shapes = [*geometry("a", "POINT(0 0)"), *geometry("b", "POINT(0.004 0)")]
    writer.commit(Change(additions=tuple(map(Statement, shapes))))
    assert derived(store) == set()
    layer = Change(additions=(Statement(Triple(EX.a, RDF.type, ROUGH)),))
    writer.commit(Change(additions=layer.additions, dry_run=True))
    assert derived(store) == set()
    writer.commit(layer)
    assert {t.predicate for t in derived(store)} == {GEO.rcc8eq}
    writer.commit(Change(removals=frozenset(one.triple for one in layer.additions)))
    assert derived(store) == set()


def test_a_source_beside_the_graph_may_add_a_layer() -> None:
    store, relations = EmbeddedStore(), SpatialRelations(TOLERANCES)
    writer = Writer(store, deriver=relations)
    fair = [*geometry("a", "POINT(0 0)"), *kinds("a", frozenset([FAIR]))]
    writer.commit(Change(additions=tuple(map(Statement, fair))))
    beside = TripleIndex(kinds("a", frozenset([ROUGH])) + kinds("b", frozenset([EX.Place])))
    assert relations.tolerance_with(TripleIndex(), EX.a) == 250
    assert relations.tolerance_with(beside, EX.a) == 700
    assert relations.tolerance_with(beside, EX.b) == 1


def test_the_store_records_every_layer_and_never_calls_such_relations_exact() -> None:
    store = EmbeddedStore()
    writer = Writer(store, deriver=SpatialRelations(Tolerances(0.0, TOLERANCES.layers)))
    writer.commit(Change(additions=tuple(map(Statement, geometry("a", "POINT(0 0)")))))
    (mark,) = marks(store)
    reported = f"RCC8, tolerance 0 m; {FAIR} 250 m; {ROUGH} 700 m"
    assert mark.object == Literal(reported)
    assert not are_exact(store)
    assert Tolerances().description == "RCC8, tolerance 0 m"


@pytest.mark.parametrize("change", ["a layer", "a tolerance"])
def test_a_run_over_other_layers_begins_anew(change: str, tmp_path: Path) -> None:
    store = EmbeddedStore()
    writer = Writer(store, deriver=SpatialRelations(TOLERANCES))
    writer.commit(Change(additions=tuple(map(Statement, geometry("a", "POINT(0 0)")))))
    open_run(store, tmp_path, tolerances=TOLERANCES).run(AtOnce(), at_once=1)
    assert open_run(store, tmp_path, tolerances=TOLERANCES).finished == 1
    if change == "a layer":
        writer.commit(Change(additions=(Statement(Triple(EX.a, RDF.type, FAIR)),)))
    layers = {ROUGH: 700.0, FAIR: 251.0 if change == "a tolerance" else 250.0}
    assert open_run(store, tmp_path, tolerances=Tolerances(1.0, layers)).finished == 0

"""Which feature a geometry node is of: after any edits as read anew, and never of another revision."""

import random

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from sparql.model.change import Change, Statement
from sparql.model.geometry import Tolerances, are_exact, text_of
from sparql.model.vocabulary import DEFAULT, GEO, RDF, Namespace
from sparql.rewriting import geometry_state, index
from sparql.rewriting.geometry_state import Located
from sparql.rewriting.index import GeometryIndex
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.retained import retained

EX = Namespace("http://example.org/")
NODES = [EX.term(f"g{number}") for number in range(6)]


def link(feature: NamedNode, node: NamedNode, predicate: NamedNode = GEO.hasGeometry) -> Quad:
    return Quad(feature, predicate, node, DEFAULT)


def shape(node: NamedNode, text: str = "POINT(1 1)") -> Quad:
    return Quad(node, GEO.asWKT, Literal(text, datatype=GEO.wktLiteral), DEFAULT)


def insert(writer: Writer, *quads: Quad) -> None:
    writer.commit(Change(additions=tuple(Statement(quad.triple) for quad in quads)))


class Edited:
    """A store whose commits the index hears of."""

    def __init__(self) -> None:
        self.store = EmbeddedStore()
        self.index = GeometryIndex(self.store)
        self.store.before_commit = self.index.note

    def located(self, revision: int | None = None) -> dict[NamedNode, Located | None]:
        at = self.store.revision() if revision is None else revision
        features = self.index.at(at).features
        return {node: features.located(node, at) for node in NODES}


@pytest.mark.parametrize("seed", range(8))
def test_after_random_edits_it_is_what_reading_the_graph_anew_gives(seed: int) -> None:
    chance = random.Random(seed)
    edited = Edited()
    possible = [link(EX.term(f"f{n}"), node) for n in range(4) for node in NODES[:4]]
    possible += [link(EX.term(f"f{n}"), NODES[n], GEO.hasDefaultGeometry) for n in range(6)]
    possible += [Quad(EX.term(f"f{n}"), RDF.type, kind, DEFAULT) for n in range(4) for kind in (EX.A, EX.B)]
    possible += [shape(node, text) for node in NODES for text in ("POINT(1 1)", "POINT(2 2)", "POINT EMPTY")]
    for _ in range(60):
        there = [quad for quad in possible if quad in edited.store.graph]
        removed = chance.sample(there, min(len(there), chance.randrange(4)))
        edited.store.commit(chance.sample(possible, chance.randrange(3)), removed)
        if chance.random() < 0.5:
            fresh = GeometryIndex(edited.store).at(edited.store.revision()).features
            assert edited.located() == {n: fresh.located(n, edited.store.revision()) for n in NODES}
            assert edited.index.at(edited.store.revision()).features.odd == fresh.odd


def test_what_is_gone_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geometry_state, "_FEWEST_FORMS", 10)
    monkeypatch.setattr(geometry_state, "_MOST_TOUCHED", 10)
    monkeypatch.setattr(index, "_MOST_GONE", 10)
    edited = Edited()
    kept = [*(link(EX.term("kept"), node) for node in NODES[:1]), shape(NODES[0])]
    edited.store.commit(kept)
    edited.located()
    sizes = []
    for number in range(200):
        # A feature with two geometries that have no literals, and a class that no other feature had before.
        odd = [link(EX.term(f"f{number}"), EX.term(f"g{number}-{part}")) for part in range(2)]
        class_ = Quad(EX.term("kept"), RDF.type, EX.term(f"Class{number}"), DEFAULT)
        edited.store.commit([*odd, class_])
        found = edited.located()[NODES[0]]
        assert found is not None
        assert found.form.classes == {class_.object}
        edited.store.commit([], [*odd, class_])
        edited.located()
        sizes.append(retained(edited.index, "sparql.rewriting"))
    assert max(sizes[100:]) <= max(sizes[:100])


def test_what_a_later_commit_changed_is_not_reported_for_an_earlier_revision() -> None:
    edited = Edited()
    first = edited.store.commit(
        [link(EX.a, NODES[0]), shape(NODES[0]), link(EX.b, NODES[1]), shape(NODES[1])]
    )
    assert edited.located()[NODES[0]] is not None
    edited.store.commit([shape(NODES[0], "POINT(2 2)")], [shape(NODES[0])])
    before = edited.located(first)
    assert before[NODES[0]] is None
    assert before[NODES[1]] is not None
    assert not edited.index.at(first).features.settled(first)
    now = edited.located()[NODES[0]]
    assert now is not None
    assert now.literal.value == "POINT(2 2)"


def test_a_class_that_comes_later_is_reported_for_later_revisions_only() -> None:
    edited = Edited()
    first = edited.store.commit([link(EX.a, NODES[0]), shape(NODES[0])])
    found = edited.located()[NODES[0]]
    assert found is not None
    assert found.form.classes == frozenset()
    edited.store.commit([Quad(EX.a, RDF.type, EX.Poi, DEFAULT), Quad(EX.other, RDF.type, EX.Poi, DEFAULT)])
    found = edited.located()[NODES[0]]
    assert found is not None
    assert found.form.classes == {EX.Poi}
    assert edited.located(first)[NODES[0]] is None


def test_a_commit_that_is_only_announced_is_waited_for() -> None:
    edited = Edited()
    edited.store.commit([link(EX.a, NODES[0]), shape(NODES[0])])
    assert edited.located()[NODES[0]] is not None
    announced = edited.store.revision() + 1
    edited.index.note(announced, [link(EX.b, NODES[0])], ())
    assert edited.located()[NODES[0]] is None
    edited.store.before_commit = None
    edited.store.commit([link(EX.b, NODES[0])])
    assert edited.located()[NODES[0]] is None
    assert edited.index.at(announced).features.odd == {text_of(EX.a), text_of(EX.b)}


@pytest.mark.parametrize(("tolerances", "exact"), [((0.0,), True), ((0.5,), False), ((0.0, 0.5), False)])
def test_the_store_says_whether_its_relations_are_exact(tolerances: tuple[float, ...], exact: bool) -> None:
    store = EmbeddedStore()
    assert not are_exact(store)
    for number, tolerance in enumerate(tolerances):
        writer = Writer(store, deriver=SpatialRelations(Tolerances(tolerance)))
        writer.start()
        node = EX.term(f"node{number}")
        insert(writer, link(EX.term(f"x{number}"), node), shape(node))
    assert are_exact(store) is exact
    writer.bulk([])
    assert are_exact(store) is (tolerances[-1] == 0)


def test_relations_that_nobody_vouches_for_are_not_taken_for_exact() -> None:
    store = EmbeddedStore()
    plain = Writer(store)
    insert(plain, link(EX.a, NODES[0]), shape(NODES[0]))
    writer = Writer(store, deriver=SpatialRelations())
    writer.start()
    insert(writer, link(EX.b, NODES[1]), shape(NODES[1]))
    assert not are_exact(store)

"""The compiled shapes let nothing through that pySHACL refuses, and surely refuse nothing that it accepts."""

import random
import shutil
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, Quad, Triple

from server.settings_loading import SHIPPED_SHAPES
from shapes.engine import constraint_tests as literal_tests
from shapes.engine.compiled_engine import CompiledEngine
from shapes.engine.reference import PyshaclEngine
from shapes.gate.affected import AffectedPairs
from shapes.loading import load_shapes
from shapes.model import targeted_shapes
from sparql.model.vocabulary import RDF, RDFS, UKG, XSD, Namespace
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")
NODES = [*(EX.term(f"n{number}") for number in range(5)), BlankNode("b")]
VALUES = [
    *(Literal(text) for text in ("", "a", "abc", "Monday", "1", "n1")),
    *(Literal("x", language=tag) for tag in ("en", "en-GB", "de-CH", "fr")),
    Literal("de", language="de-CH"),
    *(Literal(text, datatype=XSD.integer) for text in ("0", "1", "01", "3", "-2", "nine", "9" * 30)),
    *(Literal(text, datatype=XSD.decimal) for text in ("1.0", "2.5", "1e3")),
    *(Literal(text, datatype=XSD.double) for text in ("1.0", "2e0", "NaN", "INF")),
    *(Literal(text, datatype=XSD.date) for text in ("2019-05-05", "2024-06-01", "2021-02-29", "2022-01-01Z")),
    *(Literal(text, datatype=XSD.gYear) for text in ("1999", "2024", "-0044", "99")),
    Literal("2024-06-01T10:00:00Z", datatype=XSD.dateTime),
    Literal("2024-06-01T10:00:00", datatype=XSD.dateTime),
    *(Literal(text, datatype=XSD.boolean) for text in ("true", "1", "maybe")),
    Literal("x", datatype=EX.unknown),
]


@pytest.fixture(scope="module")
def engines(tmp_path_factory) -> tuple[AffectedPairs, PyshaclEngine, CompiledEngine]:
    folder = tmp_path_factory.mktemp("shapes")
    shutil.copy(Path(__file__).parents[3] / "data" / "every_constraint.ttl", folder)
    return engines_of(folder)


def engines_of(folder: Path) -> tuple[AffectedPairs, PyshaclEngine, CompiledEngine]:
    graph = load_shapes(folder).graph
    shapes = targeted_shapes(graph)
    nodes = {shape.name: shape.node for shape in shapes}
    reference = PyshaclEngine(graph, nodes)
    return AffectedPairs(shapes), reference, CompiledEngine(graph, nodes, reference)


def random_triple(rng: random.Random) -> Triple:
    subject = rng.choice(NODES)
    kind = rng.random()
    if kind < 0.25:
        return Triple(subject, RDF.type, rng.choice([EX.Thing, EX.Area, EX.Closed, EX.Sub]))
    if kind < 0.55:
        return Triple(subject, EX.p, rng.choice([*NODES, *NODES, rng.choice(VALUES)]))
    return Triple(subject, rng.choice([EX.q, EX.q, EX.r]), rng.choice([*VALUES, *NODES]))


def compare(engines, seed: int, rounds: int) -> tuple[int, int, int]:
    """Judge random graphs by both; how many pairs were let through, surely refused, and left to the other."""
    pairs, reference, compiled = engines
    rng = random.Random(seed)
    through = refused = unsure = 0
    nothing = EmbeddedStore()
    for _ in range(rounds):
        store = EmbeddedStore()
        store.commit([Quad(*random_triple(rng)) for _ in range(rng.randint(4, 22))])
        if rng.random() < 0.5:
            store.commit([Quad(EX.Sub, RDFS.subClassOf, EX.Thing)])
        everything = pairs.everything(store)
        reports = reference.check(store, everything)
        broken = {pair for pair, found in reports.items() if found}
        blocked = {pair for pair, found in reports.items() if any(v.blocking for v in found)}
        doubtful = compiled.doubtful(store, everything)
        for name, nodes in everything.items():
            for node in nodes:
                if node not in doubtful.get(name, ()):
                    assert (name, node) not in broken, f"{name} lets {node} through"
                    through += 1
                elif compiled.breaks(store, nothing, {name: {node}}):
                    assert (name, node) in blocked, f"{name} refuses {node} for sure"
                    refused += 1
                else:
                    unsure += 1
    return through, refused, unsure


def test_both_engines_agree_on_random_graphs(engines):
    through, refused, unsure = compare(engines, seed=11, rounds=6)
    assert through > 60
    assert refused > 60
    assert unsure < (through + refused) / 2


@pytest.mark.parametrize("seed", range(20))
def test_many_nodes_together_are_judged_as_each_by_itself(engines, monkeypatch, seed):
    affected, _, compiled = engines
    rng = random.Random(seed)
    store = EmbeddedStore()
    store.graph.extend(Quad(*random_triple(rng)) for _ in range(60))
    pairs = affected.everything(store)
    monkeypatch.setattr("shapes.engine.compiled_engine._FEW", 1000)
    one_by_one = compiled.doubtful(store, pairs)
    monkeypatch.setattr("shapes.engine.compiled_engine._FEW", 0)
    assert one_by_one
    assert compiled.doubtful(store, pairs) == one_by_one


@pytest.mark.parametrize(
    ("datatype", "texts"),
    [
        (XSD.date, ("1000-01-01", "9999-12-28", "2000-10-09")),
        (XSD.dateTime, ("1000-01-01T00:00:00", "9999-12-28T23:59:59Z")),
        (XSD.nonNegativeInteger, ("0", "00", "9" * 18)),
    ],
)
def test_texts_of_a_plain_form_are_well_typed_for_the_reference_engine(datatype, texts):
    for text in texts:
        literal = Literal(text, datatype=datatype)
        assert literal_tests._PLAIN_FORMS[datatype.value](text)
        assert literal_tests._is_well_typed(literal)


@pytest.mark.slow
def test_both_engines_agree_on_many_random_graphs(engines):
    assert compare(engines, seed=12, rounds=600)[0] > 10_000


def test_a_blank_node_among_values_to_be_compared_is_left_to_the_other_engine(engines):
    _, reference, compiled = engines
    store = EmbeddedStore()
    store.commit([Quad(EX.n0, EX.q, BlankNode("b")), Quad(EX.n0, RDF.type, EX.Thing)])
    wanted = {EX.Less.value: {EX.n0}}
    assert [v.component for v in reference.check(store, wanted)[EX.Less.value, EX.n0]] == [UKG.NotJudged]
    assert compiled.doubtful(store, wanted) == wanted


def test_own_components_and_what_hardly_any_shape_uses_are_left_to_the_other_engine(engines):
    assert set(engines[2].not_compiled) == {
        EX.term(name).value for name in ("Own", "Closed", "Equals", "Languages", "Pattern")
    }


def test_every_shipped_shape_is_compiled():
    assert engines_of(SHIPPED_SHAPES)[2].not_compiled == ()

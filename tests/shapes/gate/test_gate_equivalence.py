"""The gate judges a change as full validation of the whole would: nothing missed, nothing spurious."""

import random
import shutil
from pathlib import Path

import pytest
import rdflib
from pyoxigraph import Literal, Quad, Triple
from pyshacl import validate

from shapes.engine.reference import DataGraph
from shapes.gate.attribution import components as gate_components
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.model.change import Delta, Statement
from sparql.model.source import Overlay
from sparql.model.vocabulary import RDF, RDFS, SH, XSD, Namespace
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")

SHAPES = Path(__file__).parents[2] / "data" / "rich_shapes.ttl"

NODES = [EX.term(f"n{i}") for i in range(7)]
CLASSES = [EX.Thing, EX.Area, EX.Bad, EX.Closed, EX.Sub]


def random_triple(rng: random.Random) -> Triple:
    subject = rng.choice(NODES)
    kind = rng.random()
    if kind < 0.3:
        return Triple(subject, RDF.type, rng.choice(CLASSES))
    if kind < 0.5:
        value = rng.choice([Literal("n1"), Literal("n2"), Literal("m"), Literal("1", datatype=XSD.integer)])
        return Triple(subject, EX.name, value)
    if kind < 0.65:
        year = Literal(str(rng.randint(1, 4)), datatype=XSD.integer)
        return Triple(subject, rng.choice([EX.term("from"), EX.to]), year)
    predicate = rng.choice([EX.term("in"), EX.near, EX.beside])
    return Triple(subject, predicate, rng.choice(NODES))


def whole_report(source, shapes_graph) -> set[tuple[str, ...]]:
    """Full validation by pySHACL itself, over a copy of everything."""
    data = DataGraph(source)
    copy = type(data).__mro__[1]()
    for triple in data.triples((None, None, None)):
        copy.add(triple)
    _, report, _ = validate(copy, shacl_graph=shapes_graph, inplace=False)
    found = set()
    for result in report.objects(None, _r("result")):
        path = report.value(result, _r("resultPath"))
        values = [report.value(result, _r(p)) for p in ("focusNode", "sourceConstraintComponent", "value")]
        found.add((*(str(v or "") for v in values), str(path) if isinstance(path, rdflib.URIRef) else ""))
    return found


def _r(name: str) -> rdflib.URIRef:
    return rdflib.URIRef(SH.iri + name)


def _plain(path: str | None) -> str:
    return path if path and not any(mark in path for mark in "^(*|") and path.count("http") == 1 else ""


@pytest.fixture(scope="module", params=["compiled", "pyshacl"])
def gate_and_graph(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shapes")
    shutil.copy(SHAPES, folder)
    files = load_shapes(folder)
    return ShapesGate(files, request.param), files.graph


def run_deltas(gate_and_graph, seed: int, count: int) -> int:
    gate, graph = gate_and_graph
    rng = random.Random(seed)
    conforming = 0
    for _ in range(count):
        store = EmbeddedStore()
        base = {random_triple(rng) for _ in range(rng.randint(0, 14))}
        if rng.random() < 0.5:
            base.add(Triple(EX.Sub, RDFS.subClassOf, EX.Thing))
        store.commit([Quad(*t) for t in base])
        added = {random_triple(rng) for _ in range(rng.randint(0, 5))} - base
        if rng.random() < 0.1:
            added |= {Triple(EX.Sub, RDFS.subClassOf, EX.Area)} - base
        removed = frozenset(rng.sample(sorted(base, key=str), min(len(base), rng.randint(0, 3)))) - added
        after = Overlay(store, added, removed)
        fresh = whole_report(after, graph) - whole_report(store, graph)
        statements = tuple(Statement(t) for t in sorted(added, key=str))
        _, rejected, *_ = gate.select(store, statements, removed, lambda a, r: Delta(), partial=False)
        judged = {
            (v.focus.value, v.component.value, v.value.value if v.value is not None else "", _plain(v.path))
            for rejection in rejected
            for v in rejection.violations
        }
        assert judged == fresh, f"added {added}, removed {removed}, base {base}"
        conforming += not fresh
    return conforming


def test_random_changes_are_judged_as_full_validation_judges_them(gate_and_graph):
    conforming = run_deltas(gate_and_graph, seed=20261121, count=50)
    assert 5 < conforming < 45


@pytest.mark.slow
def test_two_thousand_random_changes_are_judged_as_full_validation_judges_them(gate_and_graph):
    assert run_deltas(gate_and_graph, seed=7, count=2000) > 100


def test_what_remains_of_a_partial_batch_conforms_and_nothing_more_could_be_accepted(gate_and_graph):
    gate, graph = gate_and_graph
    rng = random.Random(5)
    for _ in range(10):
        store = EmbeddedStore()
        store.commit([Quad(*random_triple(rng)) for _ in range(8)])
        statements = tuple(
            Statement(t, rng.random())
            for t in sorted({random_triple(rng) for _ in range(6)}, key=str)
            if not store.contains(Quad(*t))
        )
        accepted, rejected, *_ = gate.select(
            store, statements, frozenset(), lambda a, r: Delta(), partial=True
        )
        assert {s.triple for s in accepted} | {r.statement.triple for r in rejected} == {
            s.triple for s in statements
        }
        before = whole_report(store, graph)
        taken = {s.triple for s in accepted}
        assert not whole_report(Overlay(store, taken), graph) - before
        assert all(rejection.violations for rejection in rejected)
        for rejection in rejected:
            if any("MinCount" in v.component.value for v in rejection.violations):
                continue  # an incomplete entity is held together
            alone = whole_report(Overlay(store, taken | {rejection.statement.triple}), graph) - before
            assert alone, f"{rejection.statement.triple} could have been accepted"


def test_an_empty_shapes_folder_demands_nothing(tmp_path: Path):
    gate = ShapesGate(load_shapes(tmp_path))
    statements = (Statement(Triple(EX.a, EX.b, EX.c)),)
    assert gate.select(EmbeddedStore(), statements, frozenset(), lambda a, r: Delta(), partial=True) == (
        statements,
        (),
        (),
    )


def test_both_engines_take_the_same_part_of_a_batch(tmp_path: Path):
    shutil.copy(SHAPES, tmp_path)
    files = load_shapes(tmp_path)
    gates = [ShapesGate(files, "compiled", derives_from=lambda triple: False), ShapesGate(files, "pyshacl")]
    rng = random.Random(17)
    for _ in range(8):
        store = EmbeddedStore()
        store.commit([Quad(*random_triple(rng)) for _ in range(8)])
        batch = sorted({random_triple(rng) for _ in range(12)}, key=str)
        statements = tuple(Statement(t, rng.random()) for t in batch if not store.contains(Quad(*t)))
        selections = [
            gate.select(store, statements, frozenset(), lambda a, r: Delta(), partial=True) for gate in gates
        ]
        assert selections[0] == selections[1]


def test_rejected_statements_that_hang_together_over_several_new_nodes_are_one_group(tmp_path: Path):
    (tmp_path / "closed.ttl").write_text(
        "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> .\n"
        "ex:Alone a sh:NodeShape ; sh:targetSubjectsOf ex:p ; sh:closed true ."
    )
    gate = ShapesGate(load_shapes(tmp_path))
    chain = [(5, 1), (4, 0), (0, 1), (2, 3), (1, 2), (6, 7), (7, 4)]
    triples = [Triple(EX.term(f"n{start}"), EX.p, EX.term(f"n{end}")) for start, end in chain]
    accepted, rejected, *_ = gate.select(
        EmbeddedStore(), tuple(map(Statement, triples)), frozenset(), lambda a, r: Delta(), partial=True
    )
    assert accepted == ()
    assert [rejection.statement.triple for rejection in rejected] == triples
    assert gate_components(triples, EmbeddedStore()) == [sorted(triples, key=str)]

"""Updates evaluated in a worker, on a copy that follows the store commit by commit."""

from __future__ import annotations

import os
import random
import signal
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
)

from sparql.model.errors import (
    GraphMissing,
    ProtectedGraph,
    QueryMemoryExceeded,
    QueryTimeout,
    SyntaxProblem,
)
from sparql.model.vocabulary import STATE
from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers.store_copy import disk_bytes
from tests.support.capturing import Capturing
from tests.support.waiting import wait_until

EX = "PREFIX ex: <http://e/> "
SYSTEM = "https://w3id.org/urbankg/graph/"
COUNT = "DELETE { ?c ex:n ?v } INSERT { ?c ex:n ?w } WHERE { ?c ex:n ?v BIND(?v + 1 AS ?w) }"
RUNAWAY = "{ SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } }"
DATA = """
PREFIX ex: <http://e/>
INSERT DATA {
  ex:a ex:p 1, 2 ; ex:q ex:b , [ ex:p 5 ] . ex:b ex:p 3 . ex:c ex:n 0 .
  GRAPH ex:g1 { ex:a ex:p 10 ; ex:q [] . ex:c ex:p 11 }
  GRAPH ex:g2 { ex:a ex:p 20 }
}
"""


class Running:
    """A store, the capturer beside it, and the engine doing the same on data of its own."""

    def __init__(self, folder: Path, memory_limit_bytes: int = 2**31) -> None:
        self.store = EmbeddedStore(folder)
        self.capturer = Capturing(self.store, memory_limit_bytes)
        self.reference = pyoxigraph.Store()

    def update(self, text: str, **how: object) -> None:
        """Capture and commit."""
        delta = self.capturer.capture(text, **how)  # type: ignore[arg-type]
        self.store.commit(
            delta.additions,
            delta.removals,
            graphs_created=delta.graphs_created,
            graphs_dropped=delta.graphs_dropped,
        )

    def do_both(self, text: str) -> None:
        """The same by the engine itself; what comes out must be the same."""
        self.update(text)
        self.reference.update(text)
        assert self.held() == canonical(self.reference), text
        graphs = {graph for graph in self.store.graph.named_graphs() if graph != STATE}
        assert graphs == set(self.reference.named_graphs()), text

    def held(self) -> Dataset:
        return canonical(quad for quad in self.store.graph if quad.graph_name != STATE)


def canonical(quads: object) -> Dataset:
    dataset = Dataset(quads)  # type: ignore[arg-type]
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    running = Running(tmp_path / "data")
    yield running
    running.capturer.close()
    running.store.close()


def quads(count: int) -> list[Quad]:
    return [
        Quad(NamedNode(f"http://e/{n}"), NamedNode("http://e/p"), Literal(n), DefaultGraph())
        for n in range(count)
    ]


def generated(chance: random.Random) -> str:
    """An update of one to three operations over a few nodes, predicates and graphs."""
    node = lambda: f"ex:{chance.choice('abcd')}"  # noqa: E731
    predicate = lambda: f"ex:{chance.choice('pqn')}"  # noqa: E731
    value = lambda: chance.choice([node(), str(chance.randrange(4)), "'x'@en", "[ ex:p 1 ]"])  # noqa: E731
    graph = lambda: f"ex:{chance.choice(['g1', 'g2', 'g3'])}"  # noqa: E731

    def data() -> str:
        triple = f"{node()} {predicate()} {chance.choice([node(), str(chance.randrange(4))])}"
        return triple if chance.random() < 0.6 else f"GRAPH {graph()} {{ {triple} }}"

    forms = (
        lambda: f"INSERT DATA {{ {node()} {predicate()} {value()} }}",
        lambda: f"DELETE DATA {{ {data()} }}",
        lambda: f"INSERT DATA {{ {data()} }}",
        lambda: f"DELETE WHERE {{ {node()} {predicate()} ?o }}",
        lambda: f"DELETE WHERE {{ GRAPH {graph()} {{ ?s {predicate()} ?o }} }}",
        lambda: (
            f"DELETE {{ ?s ?p ?o }} INSERT {{ ?s {predicate()} ?o }} WHERE {{ ?s ?p ?o . FILTER(?o < 2) }}"
        ),
        lambda: f"INSERT {{ ?o ex:of ?s ; ex:at _:n }} WHERE {{ ?s {predicate()} ?o FILTER(!isBlank(?o)) }}",
        lambda: f"WITH {graph()} DELETE {{ ?s ?p ?o }} INSERT {{ ?s ?p 7 }} WHERE {{ ?s ?p ?o }}",
        lambda: f"INSERT {{ ?s ex:seen ?o }} USING {graph()} WHERE {{ ?s {predicate()} ?o }}",
        lambda: f"INSERT {{ GRAPH ?g {{ ?s ex:in ?g }} }} WHERE {{ GRAPH ?g {{ ?s {predicate()} ?o }} }}",
        lambda: f"CLEAR SILENT GRAPH {graph()}",
        lambda: f"DROP SILENT GRAPH {graph()}",
        lambda: f"CREATE SILENT GRAPH {graph()}",
        lambda: f"INSERT DATA {{ GRAPH ex:g1 {{ ex:a ex:p 4 }} }} ; ADD ex:g1 TO {graph()}",
        lambda: f"INSERT DATA {{ GRAPH ex:g1 {{ ex:a ex:p 4 }} }} ; COPY ex:g1 TO {graph()}",
        lambda: f"INSERT DATA {{ GRAPH ex:g2 {{ ex:a ex:p 5 }} }} ; MOVE ex:g2 TO {graph()}",
        lambda: COUNT,
    )
    return EX + " ; ".join(chance.choice(forms)() for _ in range(chance.randint(1, 3)))


@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_updates_does_what_the_engine_does(running: Running, seed: int):
    chance = random.Random(seed)
    running.do_both(DATA)
    for _ in range(25):
        running.do_both(generated(chance))
    assert len(running.capturer.copies()) == 1


def test_the_copy_follows_commits_of_every_kind(running: Running):
    running.update(EX + "INSERT DATA { ex:c ex:n 0 }")
    graph = NamedNode("http://e/g")
    running.store.commit([Quad(BlankNode("mine"), NamedNode("http://e/p"), Literal('a\n"b"', language="en"))])
    running.store.commit((), graphs_created=[graph])
    running.store.commit(quads(3), quads(1))
    seen = EX + "INSERT { ex:seen ex:is ?s, ?g } WHERE { { ?s ex:p ?o } UNION { GRAPH ?g {} } }"
    additions = running.capturer.capture(seen).additions
    assert {quad.object for quad in additions} == {
        BlankNode("mine"), graph, *(NamedNode(f"http://e/{n}") for n in range(3))
    }  # fmt: skip
    running.store.commit((), graphs_dropped=[graph])
    assert graph not in {quad.object for quad in running.capturer.capture(seen).additions}
    assert len(running.capturer.copies()) == 1


def test_bulk_loads_and_large_commits_are_seen_too(running: Running, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(running.capturer.pool._workers.keeper.log, "_most_quads", 100)
    running.update(EX + "INSERT DATA { ex:c ex:n 0 }")
    count = EX + "INSERT { ex:c ex:count ?n } WHERE { { SELECT (COUNT(*) AS ?n) { ?s ex:p ?o } } }"

    def counted() -> list[str]:
        return [quad.object.value for quad in running.capturer.capture(count).additions]

    assert counted() == ["0"]
    running.store.bulk_add(quads(1000))
    assert counted() == ["1000"]
    running.store.commit((), quads(500))
    assert counted() == ["500"]


def test_an_update_that_is_captured_and_not_committed_leaves_no_trace(running: Running):
    running.do_both(DATA)
    before = running.capturer.capture(EX + "INSERT { ?s ?p ?o } WHERE { ?s ?p ?o }")
    left = "INSERT { ex:a ex:left ?n } WHERE { { SELECT (COUNT(*) AS ?n) { ?s ?p ?o } } }"
    chain = f"CREATE GRAPH ex:n ; DROP GRAPH ex:g1 ; DELETE WHERE {{ ?s ?p ?o }} ; {left}"
    delta = running.capturer.capture(EX + chain)
    assert Literal(0) in {quad.object for quad in delta.additions}
    assert running.capturer.capture(EX + "INSERT { ?s ?p ?o } WHERE { ?s ?p ?o }") == before
    running.do_both(EX + "INSERT { GRAPH ex:in { ex:a ex:sees ?g } } WHERE { GRAPH ?g { ?s ?p ?o } }")


def test_a_refused_update_is_reported_and_the_next_one_runs(running: Running):
    running.do_both(DATA)
    with pytest.raises(ProtectedGraph, match=SYSTEM):
        running.capturer.capture(f"CLEAR GRAPH <{SYSTEM}derived>")
    with pytest.raises(SyntaxProblem) as raised:
        running.capturer.capture("CLEAR ALL;\nINSERT DATA { <http://e/a> }")
    assert raised.value.line == 2
    with pytest.raises(GraphMissing):
        running.capturer.capture(
            EX + "DELETE WHERE { ?s ?p ?o } ; DELETE WHERE { ?s ?p 1 } ; DROP GRAPH ex:no"
        )
    running.do_both(EX + COUNT)


def test_a_runaway_update_ends_at_its_deadline_and_the_next_one_runs(running: Running):
    running.store.commit(quads(3_000))
    pid = running.capturer.pid
    with pytest.raises(QueryTimeout):
        running.capturer.capture(EX + f"INSERT {{ ex:a ex:n ?n }} WHERE {{ {RUNAWAY} }}", timeout_s=1)
    assert running.capturer.pid is None
    wait_until(lambda: running.capturer.copies() == [])
    running.update(EX + "DELETE WHERE { ex:1 ex:p ?o }")
    assert running.capturer.pid not in (None, pid)
    assert sum(1 for _ in running.store.match(None, None, None)) == 2_999


def test_an_update_that_takes_too_much_memory_is_ended(tmp_path: Path):
    running = Running(tmp_path / "data", memory_limit_bytes=100 * 2**20)
    words = [Literal(f"{n} " + 10_000 * "x") for n in range(200)]
    running.store.commit([Quad(NamedNode("http://e/1"), NamedNode("http://e/p"), word) for word in words])
    product = "INSERT { ?a ?b ?n } WHERE { ?a ?b ?c . ?d ?e ?f BIND(CONCAT(?c, ?f) AS ?n) }"
    with pytest.raises(QueryMemoryExceeded):
        running.capturer.capture(product, timeout_s=300)
    running.update(EX + "DELETE WHERE { ex:1 ex:p ?o }")
    running.capturer.close()


def test_a_process_that_was_killed_is_replaced(running: Running):
    running.do_both(DATA)
    worker = running.capturer.pool._workers._capturing
    assert worker is not None
    os.kill(worker.pid, signal.SIGKILL)
    wait_until(lambda: not worker.alive)
    running.do_both(EX + COUNT)


def test_aggregates_can_be_called_in_updates(running: Running):
    wkt = "http://www.opengis.net/ont/geosparql#wktLiteral"
    union = (
        "SELECT (<http://www.opengis.net/def/function/geosparql/aggUnion>(?g) AS ?all) "
        f"{{ VALUES ?g {{ 'POINT(1 1)'^^<{wkt}> 'POINT(2 1)'^^<{wkt}> }} }}"
    )
    delta = running.capturer.capture(EX + f"INSERT {{ ex:a ex:all ?all }} WHERE {{ {{ {union} }} }}")
    assert [quad.object.value for quad in delta.additions] == ["MULTIPOINT ((1 1), (2 1))"]


def test_a_statement_about_a_statement_is_transferred(running: Running):
    running.do_both(EX + "INSERT DATA { ex:a ex:p 1 {| ex:said ex:b |} }")
    running.do_both(
        EX + "INSERT { ?r ex:again ?t } WHERE { ?r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> ?t }"
    )
    assert b"<<(" in (pyoxigraph.serialize(running.store.graph, format=RdfFormat.N_QUADS) or b"")


def captured_many(running: Running, count: int) -> dict[str, list[float]]:
    """Seconds by kind, of captures and commits of every kind in turns, all by one process."""
    large = "x" * 2_000
    texts = {
        "refused": f"CLEAR GRAPH <{SYSTEM}derived>",
        "syntax error": "INSERT DATA { <http://e/a> ",
        "nothing": EX + "DELETE WHERE { ex:nobody ex:p ?o }",
        "counted": EX + COUNT,
        "large": EX
        + f"INSERT {{ ?s ex:large ?o }} WHERE {{ ?s ex:p ?n BIND(CONCAT(STR(?n), '{large}') AS ?o) }}",
    }
    errors = {"refused": ProtectedGraph, "syntax error": SyntaxProblem}
    running.store.commit(quads(200))
    running.update(EX + "INSERT DATA { ex:c ex:n 0 }")
    pid = running.capturer.pid
    seconds: dict[str, list[float]] = {kind: [] for kind in texts}
    for number in range(count):
        kind = list(texts)[number % 4] if number % 50 else "large"
        started = time.perf_counter()
        if kind in errors:
            with pytest.raises(errors[kind]):
                running.capturer.capture(texts[kind])
        elif kind == "counted":
            # Committed: the next capture is preceded by what this one changed.
            running.update(texts[kind])
        else:
            delta = running.capturer.capture(texts[kind])
            assert len(delta.additions) == (200 if kind == "large" else 0)
        seconds[kind].append(time.perf_counter() - started)
    assert running.capturer.pid == pid
    assert len(running.capturer.copies()) == 1
    return seconds


def test_updates_of_every_kind_pass_one_process(running: Running):
    captured_many(running, 1_000)


@pytest.mark.slow
def test_fifty_thousand_updates_of_every_kind_pass_one_process_and_none_gets_slower(running: Running):
    for kind, seconds in captured_many(running, 50_000).items():
        tenth = len(seconds) // 10
        first, last = statistics.median(seconds[:tenth]), statistics.median(seconds[-tenth:])
        assert last < 3 * first + 0.002, f"{kind}: {first:.4f} s, then {last:.4f} s"


def test_the_copy_takes_less_disk_space_than_the_store_after_any_number_of_updates(
    running: Running,
) -> None:
    running.store.bulk_add(quads(100_000))
    store = running.store.folder / "graph"
    # What is written on the way and taken back, as the whole update changes nothing.
    there = "INSERT { ?s ex:p2 ?t } WHERE { ?s ex:p ?o FILTER(?o < 300) BIND(CONCAT('%s', STR(?o)) AS ?t) }"
    back = "DELETE { ?s ex:p2 ?t } WHERE { ?s ex:p2 ?t }"

    def is_small() -> bool:
        (copy,) = running.capturer.copies()
        return disk_bytes(copy, own=False) < 2 * disk_bytes(store, own=False)

    for number in range(50):
        running.update(f"{EX} {there % (str(number) * 100)} ; {back}")
        # The engine removes what was taken back in threads of its own, a moment later.
        wait_until(is_small, seconds=60)

"""Workers that follow the store commit by commit, so that a read after a write needs no new checkpoint."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

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
    Triple,
    parse,
)

from sparql.model.answer_warnings import collect
from sparql.model.errors import GraphUnknown, QueryTimeout
from sparql.protocol.formats import GRAPH_FORMATS
from sparql.storage.checkpoint_folder import Checkpoint
from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers import checkpoints
from sparql.workers.pool import WorkerPool
from sparql.workers.query import QueryRequest
from sparql.workers.workers import PoolSettings
from tests.support.worker_queries import LOOKUP, RUNAWAY, body, quads

COUNT = "SELECT (COUNT(*) AS ?n) WHERE { ?s <http://e/p> ?o }"
ALL_QUADS = "SELECT ?s ?p ?o ?g WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
P = NamedNode("http://e/p")
N_TRIPLES = next(one for one in GRAPH_FORMATS if one.engine == RdfFormat.N_TRIPLES)


class Counted(EmbeddedStore):
    """A store that counts the checkpoints made of it."""

    made: int = 0
    newest: Checkpoint | None = None

    def acquire(self) -> Checkpoint:
        before = self.newest
        self.newest = super().acquire()
        self.made += self.newest is not before
        return self.newest

    def size(self) -> int:
        return _disk_bytes(self.folder / "graph")

    def beside(self) -> int:
        return _disk_bytes(self.folder / "checkpoints")

    def left_beside(self) -> list[Path]:
        return list((self.folder / "checkpoints").iterdir())


def _disk_bytes(folder: Path) -> int:
    """What a folder takes on the disk; a file that is there twice (hard links) takes its place once."""
    return int(subprocess.check_output(["du", "-s", "-B1", folder]).split()[0])


@pytest.fixture
def store(tmp_path: Path) -> Counted:
    return Counted(tmp_path / "data")


@pytest.fixture
async def pool(store: Counted) -> AsyncIterator[WorkerPool]:
    async with WorkerPool(store, PoolSettings(workers=3, timeout_s=120)) as pool:
        yield pool


def one(number: object) -> list[Quad]:
    return [Quad(NamedNode(f"http://e/{number}"), P, Literal(str(number)), DefaultGraph())]


async def counted(pool: WorkerPool) -> int:
    found = await pool.solutions(COUNT)
    return int(found["results"]["bindings"][0]["n"]["value"])


async def test_hundreds_of_reads_each_after_a_write_see_it_and_need_hardly_any_checkpoint(
    store: Counted, pool: WorkerPool
) -> None:
    for number in range(400):
        store.commit(one(number))
        assert await counted(pool) == number + 1
    assert store.made < 10


async def test_a_commit_of_long_texts_is_read_from_a_checkpoint_and_not_kept_for_followers(
    store: Counted, pool: WorkerPool
) -> None:
    assert await counted(pool) == 0
    made = store.made
    for number in range(3):
        text = Literal(f"{number}" + "a" * 2_000_000)
        store.commit([Quad(NamedNode(f"http://e/{number}"), P, text)])
        assert await counted(pool) == number + 1
    assert store.made >= made + 3


async def test_acknowledged_writes_are_seen_by_every_read_that_begins_afterwards(
    store: Counted, pool: WorkerPool
) -> None:
    async def write_and_look(name: str) -> None:
        for number in range(100):
            await asyncio.to_thread(store.commit, one(f"{name}/{number}"))
            found = await pool.solutions(f"ASK {{ <http://e/{name}/{number}> <http://e/p> ?o }}")
            assert found["boolean"]

    await asyncio.gather(*(write_and_look(f"writer{number}") for number in range(4)))
    assert await counted(pool) == 400
    assert store.made < 15


async def test_workers_hold_the_same_as_the_store_after_any_commits(store: Counted, pool: WorkerPool) -> None:
    chance = random.Random(5)
    graphs = [DefaultGraph(), NamedNode("http://e/g1"), NamedNode("http://e/g2")]
    nodes = [*(NamedNode(f"http://e/{name}") for name in "abc"), *(BlankNode(f"b{n}") for n in range(3))]

    def some() -> Quad:
        subject, other = chance.choice(nodes), chance.choice(nodes)
        about = Triple(subject, P, other) if chance.random() < 0.2 else other
        return Quad(subject, P, about, chance.choice(graphs))

    for turn in range(60):
        additions = {some() for _ in range(chance.randrange(4))}
        if turn % 20 == 19:
            await asyncio.to_thread(store.bulk_add, quads(turn))
        created = [NamedNode("http://e/empty")] if turn % 7 == 3 else []
        dropped = [NamedNode("http://e/g2")] if turn % 7 == 5 else []
        store.commit(
            [quad for quad in additions if quad.graph_name not in dropped],
            {some() for _ in range(2)},
            graphs_created=created,
            graphs_dropped=dropped,
        )
        together = [await held(pool, graph) for graph in graphs]
        assert together == [canonical(store.graph.quads_for_pattern(None, None, None, one)) for one in graphs]


async def held(pool: WorkerPool, graph: NamedNode | DefaultGraph) -> Dataset:
    name = graph if isinstance(graph, NamedNode) else None
    try:
        result = await pool.open_dump(name, N_TRIPLES)
    except GraphUnknown:
        return Dataset()
    data = b"".join([chunk async for chunk in result])
    pool.close_query(result)
    found = parse(data, format=RdfFormat.N_TRIPLES)
    return canonical(Quad(quad.subject, quad.predicate, quad.object, graph) for quad in found)


def canonical(found: object) -> Dataset:
    dataset = Dataset(found)  # type: ignore[arg-type]
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


async def test_a_running_query_does_not_see_later_writes(store: Counted, pool: WorkerPool) -> None:
    store.commit(quads(20_000))
    async with pool.query(QueryRequest(ALL_QUADS)) as result:
        stream = aiter(result)
        await anext(stream)
        store.commit(one("late"))
        assert await counted(pool) == 20_001
        assert b"http://e/late" not in b"".join([chunk async for chunk in stream])


async def test_what_is_beside_the_store_stays_smaller_than_the_store_itself_twice(
    store: Counted, pool: WorkerPool
) -> None:
    store.bulk_add(quads(150_000))
    store.commit(one("loaded"))
    largest = 0
    for number in range(300):
        store.commit([*one(number), *one(f"{number}/b"), *one(f"{number}/c")], one(number - 5))
        await asyncio.gather(*(pool.solutions(LOOKUP) for _ in range(3)))
        if number % 10 == 9:
            largest = max(largest, store.beside())
            assert largest < 2 * store.size()
    store.optimize()
    store.commit(one("last"))
    await asyncio.gather(*(pool.solutions(LOOKUP) for _ in range(3)))
    assert store.beside() < 2 * store.size()


async def test_copies_of_a_killed_worker_are_deleted_and_at_the_end_all_are(
    store: Counted, pool: WorkerPool
) -> None:
    await counted(pool)
    for number in range(5):
        store.commit(one(number))
        await counted(pool)
    assert any("-of-" in path.name for path in store.left_beside())
    store.commit(quads(3000))
    with pytest.raises(QueryTimeout):
        await body(pool, QueryRequest(RUNAWAY, timeout_s=1))
    await pool.close()
    assert not any("-of-" in path.name for path in store.left_beside())


async def test_on_a_full_disk_workers_answer_from_old_data_with_a_warning_and_catch_up_later(
    store: Counted, pool: WorkerPool
) -> None:
    store.commit(one("seen"))
    assert await counted(pool) == 1
    store.commit(one("before"))
    warnings = collect()
    with no_file_grows(os.getpid(), *pool.pids):
        assert await counted(pool) == 1
        again = await counted(pool)
    assert again == 1
    assert len(warnings) == 1
    assert "The disk is full" in warnings[0]
    later = collect()
    store.commit(one("after"))
    assert await counted(pool) == 3
    assert later == []


@contextmanager
def no_file_grows(*processes: int) -> Iterator[None]:
    """The kernel refuses these processes every byte that would make a file longer."""

    def limit(most: int) -> None:
        for process in processes:
            resource.prlimit(process, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    limit(0)
    try:
        yield
    finally:
        limit(resource.RLIM_INFINITY)


async def test_copies_that_grow_by_themselves_are_avoided_for_a_while(
    store: Counted, pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "LEAST_GROWTH", 0)
    monkeypatch.setattr(checkpoints, "_BYTES_A_COPY", 0)
    monkeypatch.setattr(checkpoints, "_LOOK_EVERY_S", 0.0)
    grown: list[Quad] = []
    for number in range(10):
        # Each is larger than half of what there is so far.
        grown = [quad for part in range(2**number) for quad in one(f"{number}/{part}")]
        store.commit(grown)
        assert await counted(pool) == 2 ** (number + 1) - 1
    assert pool._workers.keeper._resting_until > time.monotonic()
    assert not any("-of-" in path.name for path in store.left_beside())

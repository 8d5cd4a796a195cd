"""Many queries of every kind through one worker: the last is answered as the first was."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable

import pytest
from pyoxigraph import NamedNode

from sparql.model.errors import GraphUnknown, SparqlError, SyntaxProblem
from sparql.protocol.formats import BY_NAME
from sparql.workers import workers as staff
from sparql.workers.pool import WorkerPool
from sparql.workers.query import QueryRequest
from sparql.workers.workers import PoolSettings
from tests.support.stores import StoreCheckpoints
from tests.support.worker_queries import ALL, LOOKUP, body, quads

EMPTY = "SELECT ?o WHERE { <http://e/nobody> <http://e/p> ?o }"
NO_AGGREGATE = "SELECT (<http://e/none>(DISTINCT ?s) AS ?n) { ?s ?p ?o }"
DEADLINE_S = 20.0


async def refused(pool: WorkerPool, text: str, error: type[SparqlError]) -> None:
    with pytest.raises(error):
        await body(pool, QueryRequest(text, timeout_s=DEADLINE_S))


async def gives(pool: WorkerPool, text: str, format_: str, size: int) -> None:
    """Answered with at least so many bytes."""
    assert len(await body(pool, QueryRequest(text, BY_NAME[format_], timeout_s=DEADLINE_S))) >= size


async def cut_off(pool: WorkerPool) -> None:
    """The caller leaves after the first piece."""
    async with pool.query(QueryRequest(ALL, timeout_s=DEADLINE_S)) as result:
        async for _ in result:
            return


async def unknown_graph(pool: WorkerPool) -> None:
    with pytest.raises(GraphUnknown):
        await pool.open_dump(NamedNode("http://e/no-graph"), BY_NAME["turtle"], timeout_s=DEADLINE_S)


KINDS: dict[str, Callable[[WorkerPool], Awaitable[None]]] = {
    "syntax error": lambda pool: refused(pool, "SELECT * { ?s ?p ", SyntaxProblem),
    "failure": lambda pool: refused(pool, NO_AGGREGATE, SparqlError),
    "ASK": lambda pool: gives(pool, "ASK { <http://e/0> ?p ?o }", "json", 10),
    "empty": lambda pool: gives(pool, EMPTY, "json", 10),
    "lookup": lambda pool: gives(pool, LOOKUP, "json", 100),
    "CONSTRUCT": lambda pool: gives(pool, "CONSTRUCT WHERE { <http://e/1> ?p ?o }", "turtle", 10),
    "unknown graph": unknown_graph,
}
SELDOM: dict[str, Callable[[WorkerPool], Awaitable[None]]] = {
    "large": lambda pool: gives(pool, ALL, "json", 400_000),
    "cut off": cut_off,
}
EVERY = 50
"""One of so many queries is a large one."""


async def medians_through_one_worker(
    source: StoreCheckpoints, count: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds by kind, of the first tenth of the queries and of the last one."""
    # Where other programs have the processor, a worker may need longer to stop a query that is cut off.
    monkeypatch.setattr(staff, "_STOP_GRACE_S", DEADLINE_S)
    source.write(*quads(5_000))
    first: dict[str, list[float]] = defaultdict(list)
    last: dict[str, list[float]] = defaultdict(list)
    async with WorkerPool(source, PoolSettings(workers=1)) as pool:
        before = pool.pids
        for number in range(count):
            kinds = KINDS if number % EVERY else SELDOM
            name = list(kinds)[number // (1 if number % EVERY else EVERY) % len(kinds)]
            started = time.perf_counter()
            await kinds[name](pool)
            taken = time.perf_counter() - started
            if number < count // 10:
                first[name].append(taken)
            elif number >= count - count // 10:
                last[name].append(taken)
        assert pool.pids == before
        assert pool.statistics.kills == 0
    return (
        {name: statistics.median(taken) for name, taken in first.items()},
        {name: statistics.median(taken) for name, taken in last.items()},
    )


async def test_some_thousand_queries_of_every_kind_pass_one_worker(
    source: StoreCheckpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    await medians_through_one_worker(source, 6_000, monkeypatch)


@pytest.mark.slow
async def test_fifty_thousand_queries_of_every_kind_pass_one_worker_and_none_gets_slower(
    source: StoreCheckpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = await medians_through_one_worker(source, 50_000, monkeypatch)
    assert set(first) == set(last) == {*KINDS, *SELDOM}
    for name, seconds in last.items():
        assert seconds < 3 * first[name] + 0.002, f"{name}: {first[name]:.4f} s, then {seconds:.4f} s"


async def test_errors_alone_block_nothing(source: StoreCheckpoints) -> None:
    source.write(*quads(1))
    async with WorkerPool(source, PoolSettings(workers=1)) as pool:
        before = pool.pids
        for _ in range(2_000):
            with pytest.raises(SyntaxProblem):
                await pool.solutions("SELECT * { ?s ?p ", timeout_s=DEADLINE_S)
        assert (await pool.solutions("ASK {}"))["boolean"] is True
        assert pool.pids == before

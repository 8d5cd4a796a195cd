"""Deadlines, memory, queues, and fairness among queries in real worker processes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from sparql.model.errors import QueryMemoryExceeded, QueryTimeout, TooManyQueries
from sparql.protocol.formats import BY_NAME
from sparql.rewriting.steps import Probe, Row
from sparql.workers.pool import WorkerPool
from sparql.workers.query import QueryRequest
from sparql.workers.workers import PoolSettings
from tests.support.stores import StoreCheckpoints
from tests.support.waiting import eventually
from tests.support.worker_queries import ALL, LOOKUP, RUNAWAY, body, drained, is_running, quads


async def test_a_runaway_query_ends_at_its_deadline_while_others_answer(
    source: StoreCheckpoints, pool: WorkerPool
) -> None:
    source.write(*quads(3_000))
    await pool.solutions(LOOKUP)
    runaway = asyncio.create_task(pool.solutions(RUNAWAY, timeout_s=2.0))
    answered = 0
    while not runaway.done():
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
        answered += 1
        await asyncio.sleep(0.005)
    with pytest.raises(QueryTimeout):
        await runaway
    assert answered > 3
    await eventually(lambda: len(pool.pids) >= 2, seconds=30)


async def test_a_query_over_its_memory_limit_is_stopped_and_others_continue(source: StoreCheckpoints) -> None:
    source.write(*quads(5_000))
    settings = PoolSettings(workers=1, timeout_s=120, memory_limit_bytes=200 * 2**20)
    async with WorkerPool(source, settings) as pool:
        with pytest.raises(QueryMemoryExceeded):
            await pool.solutions("SELECT * WHERE { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c ?f")
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1


async def test_a_full_queue_turns_queries_away(source: StoreCheckpoints) -> None:
    source.write(*quads(3_000))
    async with WorkerPool(source, PoolSettings(workers=1, queue_limit=1, timeout_s=30)) as pool:
        runaway = asyncio.create_task(pool.solutions(RUNAWAY, timeout_s=2.0))
        await eventually(lambda: pool._workers._queue.holders)
        waiting = asyncio.create_task(pool.solutions(LOOKUP, timeout_s=120))
        await asyncio.sleep(0)
        with pytest.raises(TooManyQueries):
            await pool.solutions(LOOKUP)
        with pytest.raises(QueryTimeout):
            await runaway
        assert len((await waiting)["results"]["bindings"]) == 1


async def test_a_query_that_waits_past_its_deadline_is_turned_away(source: StoreCheckpoints) -> None:
    source.write(*quads(3_000))
    async with WorkerPool(source, PoolSettings(workers=1)) as pool:
        runaway = asyncio.create_task(pool.solutions(RUNAWAY, timeout_s=2.0))
        await eventually(lambda: pool._workers._queue.holders)
        with pytest.raises(TooManyQueries):
            await pool.solutions(LOOKUP, timeout_s=0.3)
        with pytest.raises(QueryTimeout):
            await runaway


async def test_an_answer_that_nobody_takes_ends_at_its_deadline_too(source: StoreCheckpoints) -> None:
    source.store.bulk_extend(quads(200_000))
    source.write()
    async with WorkerPool(source, PoolSettings(workers=1)) as pool:
        (victim,) = pool.pids
        async with pool.query(QueryRequest(ALL, timeout_s=4.0)) as result:
            await eventually(lambda: not (not pool.pids or pool.pids == (victim,)), seconds=60)
            assert not is_running(victim)
            assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
            with pytest.raises(QueryTimeout):
                await drained(result)


async def test_an_expired_deadline_is_reported(source: StoreCheckpoints, pool: WorkerPool) -> None:
    for _ in range(3):
        with pytest.raises(QueryTimeout):
            await pool.solutions("ASK {}", timeout_s=5e-324)
    assert (await pool.solutions("ASK {}"))["boolean"] is True


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux only")
async def test_a_long_query_yields_to_others_and_the_worker_recovers(source: StoreCheckpoints) -> None:
    source.write(*quads(700))

    def priorities(pid: int) -> set[int]:
        found = set()
        for task in Path(f"/proc/{pid}/task").iterdir():
            # A thread may end while they are looked at.
            with suppress(ProcessLookupError):
                found.add(os.getpriority(os.PRIO_PROCESS, int(task.name)))
        return found

    async with WorkerPool(source, PoolSettings(workers=1, timeout_s=120)) as pool:
        (pid,) = pool.pids
        (usual,) = priorities(pid)
        long = asyncio.create_task(
            pool.solutions("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?i < 9) }")
        )
        lowest = usual
        while not long.done():
            lowest = max(lowest, *priorities(pid))
            await asyncio.sleep(0.01)
        assert lowest > usual
        assert (await long)["results"]["bindings"][0]["n"]["value"] == str(700 * 700 * 9)
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
        assert pool.pids == (pid,)
        # Threads of the engine that the slowed one started may stay slow; the next query has a new one.
        assert usual in priorities(pid)


async def test_a_caller_that_leaves_an_endless_query_frees_the_worker(source: StoreCheckpoints) -> None:
    source.write(*quads(3_000))
    async with WorkerPool(source, PoolSettings(workers=1, timeout_s=60)) as pool:
        runaway = asyncio.create_task(pool.solutions(RUNAWAY))
        await eventually(lambda: pool._workers._queue.holders)
        runaway.cancel()
        with pytest.raises(asyncio.CancelledError):
            await runaway
        async with asyncio.timeout(30):
            assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
        assert pool.statistics.kills == 1


@dataclass
class SlowPreparation:
    """Thinks longer than a query may take, and asks then."""

    optional: bool = True

    async def apply(
        self,
        revision: int,
        ask: Callable[[Probe], Awaitable[list[Row]]],
        *,
        timeout_s: float,
        left_s: float,
    ) -> str:
        await asyncio.sleep(left_s + 0.2)
        await ask(Probe(LOOKUP))
        raise AssertionError


async def test_the_rewriting_of_a_query_counts_for_its_deadline(
    source: StoreCheckpoints, pool: WorkerPool
) -> None:
    source.write(*quads(10))
    await pool.solutions(LOOKUP)
    request = QueryRequest(RUNAWAY, BY_NAME["json"], timeout_s=0.6, preparation=SlowPreparation())
    with pytest.raises(QueryTimeout):
        await body(pool, request)
    assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1

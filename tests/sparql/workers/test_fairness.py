"""One client with endless queries beside others, on real workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from sparql.model.errors import QueryTimeout, TooManyQueries
from sparql.workers.fair_queue import CLIENT
from sparql.workers.pool import WorkerPool
from sparql.workers.workers import PoolSettings
from tests.support.stores import StoreCheckpoints
from tests.support.waiting import eventually
from tests.support.worker_queries import LOOKUP, RUNAWAY, quads

T = TypeVar("T")
DEADLINE_S = 60.0


def as_client(name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """The work in a task of its own, for that client."""

    async def named() -> T:
        CLIENT.set(name)
        return await work

    return asyncio.create_task(named())


def runaway(number: int) -> str:
    """An endless query of a form of its own."""
    return RUNAWAY.replace("?n", f"?n{'x' * number}")


async def short(pool: WorkerPool) -> int:
    return len((await pool.solutions(LOOKUP, timeout_s=DEADLINE_S))["results"]["bindings"])


@asynccontextmanager
async def greedy(pool: WorkerPool, count: int, timeout_s: float = DEADLINE_S) -> AsyncIterator[list[Any]]:
    """So many endless queries of one client; the block begins when it holds all it can get."""
    tasks = [
        as_client("greedy", pool.solutions(runaway(number), timeout_s=timeout_s)) for number in range(count)
    ]
    held = pool._workers._queue.holders
    most = min(count, pool.settings.most_each or pool.settings.workers)
    await eventually(lambda: list(held.values()).count("greedy") >= most, seconds=DEADLINE_S)
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_short_queries_of_others_are_answered_beside_a_queue_full_of_endless_ones(
    source: StoreCheckpoints,
) -> None:
    source.write(*quads(3_000))
    settings = PoolSettings(workers=3, most_each=2, timeout_s=DEADLINE_S, queue_limit=30)
    async with WorkerPool(source, settings) as pool, greedy(pool, 40) as endless:
        others = [as_client(f"other {number % 4}", short(pool)) for number in range(20)]
        assert await asyncio.gather(*others) == [1] * 20
        ended = [one for one in endless if one.done()]
        assert all(isinstance(one.exception(), TooManyQueries) for one in ended)


async def test_a_client_with_endless_queries_leaves_a_worker_to_others(source: StoreCheckpoints) -> None:
    source.write(*quads(1_500))
    long = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f }"
    settings = PoolSettings(workers=2, most_each=1, timeout_s=DEADLINE_S)
    async with WorkerPool(source, settings) as pool, greedy(pool, 6) as endless:
        async with asyncio.timeout(DEADLINE_S):
            found = await as_client("other", pool.solutions(long))
        assert found["results"]["bindings"][0]["n"]["value"] == "2250000"
        assert not any(one.done() for one in endless)
        assert list(pool._workers._queue.holders.values()) == ["greedy"]


async def test_a_free_worker_is_given_to_the_client_that_has_none(source: StoreCheckpoints) -> None:
    source.write(*quads(3_000))
    async with WorkerPool(source, PoolSettings(workers=1, timeout_s=DEADLINE_S)) as pool:
        answered: list[str] = []

        async def ask(name: str) -> None:
            await short(pool)
            answered.append(name)

        first = asyncio.create_task(pool.solutions(RUNAWAY, timeout_s=1.0))
        await eventually(lambda: pool._workers._queue.holders)
        tasks = [as_client(name, ask(name)) for name in "aaabc"]
        with pytest.raises(QueryTimeout):
            await first
        await asyncio.gather(*tasks)
        assert "".join(answered) == "abcaa"


async def test_a_worker_assigned_at_the_deadline_is_not_lost(source: StoreCheckpoints) -> None:
    source.write(*quads(1))
    async with WorkerPool(source, PoolSettings(workers=1, timeout_s=DEADLINE_S)) as pool:
        loop = asyncio.get_running_loop()
        held = await pool._workers.take(loop.time() + DEADLINE_S)
        deadline = loop.time() + 0.2
        late = asyncio.create_task(pool._workers.take(deadline))
        await asyncio.sleep(0)
        # Both are due when the loop goes on: the worker comes, and in the same turn the time is over.
        loop.call_at(deadline - 0.05, pool._workers.give_back, held)
        time.sleep(0.3)
        with pytest.raises(TooManyQueries):
            await late
        async with asyncio.timeout(DEADLINE_S):
            assert await short(pool) == 1

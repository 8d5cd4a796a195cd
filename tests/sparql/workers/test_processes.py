"""Worker processes that stream, are abandoned, are killed and are replaced."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sparql.model.errors import QueryTimeout, ReaderLost
from sparql.workers.pool import WorkerPool
from sparql.workers.query import QueryRequest
from sparql.workers.workers import PoolSettings
from tests.support.stores import StoreCheckpoints
from tests.support.waiting import eventually, wait_until
from tests.support.worker_queries import ALL, LOOKUP, drained, is_running, quads


def resident_bytes(process: int | str) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


_PARENT = """
import asyncio, sys
from pathlib import Path
from sparql.workers.pool import WorkerPool
from sparql.workers.workers import PoolSettings
from tests.support.stores import StoreCheckpoints
from tests.support.waiting import eventually

async def main():
    source = StoreCheckpoints(Path(sys.argv[1]))
    source.update("INSERT DATA { <http://e/a> <http://e/p> 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }")
    pool = WorkerPool(source, PoolSettings(workers=2))
    await pool.start()
    pairs = " . ".join(f"?a{n} ?b{n} ?c{n}" for n in range(12))
    running = asyncio.create_task(pool.solutions("SELECT (COUNT(*) AS ?n) { " + pairs + " }"))
    await eventually(lambda: pool._workers._queue.holders)
    print(*pool.pids, flush=True)
    await running

asyncio.run(main())
"""


async def test_a_caller_that_leaves_a_stream_stops_it_without_a_kill(source: StoreCheckpoints) -> None:
    source.store.bulk_extend(quads(50_000))
    source.write()
    async with WorkerPool(source, PoolSettings(workers=1, timeout_s=60)) as pool:
        before = pool.pids
        async with pool.query(QueryRequest(ALL)) as result:
            async for _ in result:
                break
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
        assert pool.pids == before
        assert pool.statistics.kills == 0


async def test_a_killed_worker_breaks_its_stream_and_is_replaced(source: StoreCheckpoints) -> None:
    source.store.bulk_extend(quads(50_000))
    source.write()
    async with WorkerPool(source, PoolSettings(workers=1)) as pool:
        async with pool.query(QueryRequest(ALL)) as result:
            os.kill(pool.pids[0], signal.SIGKILL)
            with pytest.raises(ReaderLost):
                await drained(result)
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1


async def test_a_killed_idle_worker_is_replaced(source: StoreCheckpoints) -> None:
    source.write(*quads(1))
    async with WorkerPool(source, PoolSettings(workers=1)) as pool:
        (worker,) = pool._workers._processes
        os.kill(worker.pid, signal.SIGKILL)
        await eventually(lambda: not worker.alive)
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1


async def test_a_large_result_streams_with_flat_memory(source: StoreCheckpoints, pool: WorkerPool) -> None:
    source.store.bulk_extend(quads(200_000))
    source.write()
    await pool.solutions(LOOKUP)
    before, peak, size = resident_bytes("self"), 0, 0
    async with pool.query(QueryRequest(ALL)) as result:
        async for chunk in result:
            size += len(chunk)
            assert len(chunk) <= 64 * 1024
            peak = max(peak, resident_bytes("self"))
            if size % (64 * 1024 * 20) < len(chunk):
                await asyncio.sleep(0.01)
    assert size > 25_000_000
    assert peak - before < 16 * 2**20


async def test_an_error_after_the_first_byte_breaks_the_stream(
    source: StoreCheckpoints, pool: WorkerPool
) -> None:
    source.write(*quads(5_000))
    async with pool.query(QueryRequest("SELECT * { ?a ?b ?c . ?d ?e ?f }", timeout_s=2.0)) as result:
        with pytest.raises(QueryTimeout):
            await drained(result)


def test_workers_die_with_their_parent_when_only_it_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(is_running(pid) for pid in pids)
        parent.kill()
        parent.wait()
        wait_until(lambda: not (any(is_running(pid) for pid in pids)), seconds=20)
        assert not any(is_running(pid) for pid in pids)

"""Queries in real reader processes on real checkpoints."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from sparql.errors import (
    QueryMemoryExceeded,
    QueryTimeout,
    ReaderLost,
    RemoteAccessRefused,
    SyntaxProblem,
    TooManyQueries,
)
from sparql.formats import BY_NAME
from sparql.readers import QueryRequest, QueryResult, ReaderPool, ReaderSettings
from tests.sparql.stores import StoreCheckpoints

SYSTEM = "https://w3id.org/urbankg/graph/"
RUNAWAY = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
LOOKUP = "SELECT ?o WHERE { <http://e/0> <http://e/p> ?o }"
ALL = "SELECT * WHERE { ?s ?p ?o }"


def quads(count: int) -> list[Quad]:
    predicate = NamedNode("http://e/p")
    return [Quad(NamedNode(f"http://e/{number}"), predicate, Literal(number)) for number in range(count)]


@pytest.fixture
def source(tmp_path: Path) -> StoreCheckpoints:
    return StoreCheckpoints(tmp_path)


@pytest.fixture
async def pool(source: StoreCheckpoints) -> AsyncIterator[ReaderPool]:
    async with ReaderPool(source, ReaderSettings(readers=2, timeout_s=120)) as pool:
        yield pool


async def body(pool: ReaderPool, request: QueryRequest) -> bytes:
    async with pool.query(request) as result:
        return await drained(result)


async def drained(result: QueryResult) -> bytes:
    return b"".join([chunk async for chunk in result])


async def test_a_read_that_starts_after_a_write_sees_it(source: StoreCheckpoints, pool: ReaderPool) -> None:
    for number in range(5):
        revision = source.write(Quad(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal(number)))
        async with pool.query(QueryRequest(ALL)) as result:
            found = json.loads(b"".join([chunk async for chunk in result]))
        assert len(found["results"]["bindings"]) == number + 1
        assert result.revision >= revision


async def test_many_readers_of_one_revision_share_one_checkpoint(
    source: StoreCheckpoints, pool: ReaderPool
) -> None:
    source.write(*quads(3))
    await asyncio.gather(*(pool.solutions(LOOKUP) for _ in range(20)))
    assert source.acquired == 1


async def test_old_checkpoints_are_given_back(source: StoreCheckpoints, pool: ReaderPool) -> None:
    for number in range(6):
        source.write(*quads(number))
        await asyncio.gather(*(pool.solutions(LOOKUP) for _ in range(4)))
    await asyncio.sleep(0.1)
    assert len(source.lent) == 1
    await pool.close()
    assert source.lent == {}


async def test_a_query_under_way_keeps_the_checkpoint_it_began_with(
    source: StoreCheckpoints, pool: ReaderPool
) -> None:
    source.write(*quads(20_000))
    async with pool.query(QueryRequest(ALL, BY_NAME["tsv"])) as result:
        rows = 0
        async for chunk in result:
            if rows == 0:
                source.update("CLEAR ALL")
                assert (await pool.solutions(ALL))["results"]["bindings"] == []
            rows += chunk.count(b"\n")
    assert rows == 20_001


async def test_each_form_answers_in_its_formats(source: StoreCheckpoints, pool: ReaderPool) -> None:
    source.write(*quads(1))
    assert (await pool.solutions("ASK { ?s ?p 0 }"))["boolean"] is True
    async with pool.query(QueryRequest("CONSTRUCT WHERE { ?s ?p ?o }")) as result:
        assert result.media_type == "text/turtle"
        assert b"<http://e/0> <http://e/p> 0" in b"".join([chunk async for chunk in result])
    for name in ("ntriples", "nquads", "trig", "rdfxml", "jsonld"):
        async with pool.query(QueryRequest("DESCRIBE <http://e/0>", BY_NAME[name])) as result:
            assert result.media_type == BY_NAME[name].media_type
            assert b"http://e/" in b"".join([chunk async for chunk in result])
    assert await body(pool, QueryRequest(LOOKUP, BY_NAME["csv"])) == b"o\r\n0\r\n"


async def test_a_syntax_error_names_its_place(pool: ReaderPool) -> None:
    with pytest.raises(SyntaxProblem) as told:
        await pool.solutions("SELECT * {\n ?s ?p }")
    assert (told.value.line, told.value.column) == (2, 9)


async def test_a_query_that_would_reach_out_never_reaches_a_reader(pool: ReaderPool) -> None:
    with pytest.raises(RemoteAccessRefused):
        await pool.solutions("SELECT * { SERVICE <http://e/> { ?s ?p ?o } }")
    assert pool.statistics.queries == 0


async def test_a_runaway_query_ends_at_its_deadline_while_others_answer(
    source: StoreCheckpoints, pool: ReaderPool
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
    async with asyncio.timeout(30):
        while len(pool.pids) < 2:
            await asyncio.sleep(0.05)


async def test_a_query_over_its_memory_is_ended_and_others_go_on(source: StoreCheckpoints) -> None:
    source.write(*quads(5_000))
    settings = ReaderSettings(readers=1, timeout_s=120, memory_limit_bytes=200 * 2**20)
    async with ReaderPool(source, settings) as pool:
        with pytest.raises(QueryMemoryExceeded):
            await pool.solutions("SELECT * WHERE { ?a ?b ?c . ?d ?e ?f } ORDER BY ?c ?f")
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1


async def test_a_full_queue_turns_queries_away(source: StoreCheckpoints) -> None:
    source.write(*quads(3_000))
    async with ReaderPool(source, ReaderSettings(readers=1, queue_limit=1, timeout_s=30)) as pool:
        runaway = asyncio.create_task(pool.solutions(RUNAWAY, timeout_s=2.0))
        await asyncio.sleep(0.2)
        patient = asyncio.create_task(pool.solutions(LOOKUP, timeout_s=120))
        await asyncio.sleep(0)
        with pytest.raises(TooManyQueries):
            await pool.solutions(LOOKUP)
        with pytest.raises(QueryTimeout):
            await runaway
        assert len((await patient)["results"]["bindings"]) == 1


async def test_a_query_that_waits_past_its_deadline_is_turned_away(source: StoreCheckpoints) -> None:
    source.write(*quads(3_000))
    async with ReaderPool(source, ReaderSettings(readers=1)) as pool:
        runaway = asyncio.create_task(pool.solutions(RUNAWAY, timeout_s=2.0))
        await asyncio.sleep(0.2)
        with pytest.raises(TooManyQueries):
            await pool.solutions(LOOKUP, timeout_s=0.3)
        with pytest.raises(QueryTimeout):
            await runaway


async def test_an_answer_that_nobody_takes_ends_at_its_deadline_too(source: StoreCheckpoints) -> None:
    source.store.bulk_extend(quads(200_000))
    source.write()
    async with ReaderPool(source, ReaderSettings(readers=1)) as pool:
        (victim,) = pool.pids
        async with pool.query(QueryRequest(ALL, timeout_s=4.0)) as result:
            async with asyncio.timeout(60):
                while not pool.pids or pool.pids == (victim,):
                    await asyncio.sleep(0.05)
            assert not is_running(victim)
            assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
            with pytest.raises(QueryTimeout):
                await drained(result)


async def test_a_deadline_that_has_passed_already_is_told(source: StoreCheckpoints, pool: ReaderPool) -> None:
    for _ in range(3):
        with pytest.raises(QueryTimeout):
            await pool.solutions("ASK {}", timeout_s=5e-324)
    assert (await pool.solutions("ASK {}"))["boolean"] is True


async def test_short_queries_are_answered_while_all_readers_are_busy(source: StoreCheckpoints) -> None:
    source.write(*quads(3_000))
    async with ReaderPool(source, ReaderSettings(readers=1, timeout_s=60, express=True)) as pool:
        runaways = [asyncio.create_task(pool.solutions(RUNAWAY)) for _ in range(3)]
        while pool.statistics.kills < 2:
            await asyncio.sleep(0.01)
        for _ in range(3):
            assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
        assert not any(one.done() for one in runaways)
        assert pool.waiting == 2
        for one in runaways:
            one.cancel()
        await asyncio.gather(*runaways, return_exceptions=True)


async def test_a_query_that_is_too_long_for_the_express_starts_again(source: StoreCheckpoints) -> None:
    source.store.bulk_extend(quads(200_000))
    source.write()
    async with ReaderPool(source, ReaderSettings(readers=1, timeout_s=60, express=True)) as pool:
        async with pool.query(QueryRequest(ALL, BY_NAME["tsv"])) as held:
            waiting = asyncio.create_task(body(pool, QueryRequest(ALL, BY_NAME["tsv"])))
            while pool.statistics.kills < 1:
                await asyncio.sleep(0.01)
            assert (await drained(held)).count(b"\n") == 200_001
        assert (await waiting).count(b"\n") == 200_001


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux only")
async def test_a_long_query_comes_after_others_and_the_reader_forgets_it(source: StoreCheckpoints) -> None:
    source.write(*quads(700))

    def priorities(pid: int) -> set[int]:
        found = set()
        for task in Path(f"/proc/{pid}/task").iterdir():
            # A thread may end while they are looked at.
            with suppress(ProcessLookupError):
                found.add(os.getpriority(os.PRIO_PROCESS, int(task.name)))
        return found

    async with ReaderPool(source, ReaderSettings(readers=1, timeout_s=120)) as pool:
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


async def test_a_caller_that_leaves_an_endless_query_frees_the_reader(source: StoreCheckpoints) -> None:
    source.write(*quads(3_000))
    async with ReaderPool(source, ReaderSettings(readers=1, timeout_s=60)) as pool:
        runaway = asyncio.create_task(pool.solutions(RUNAWAY))
        await asyncio.sleep(0.2)
        runaway.cancel()
        with pytest.raises(asyncio.CancelledError):
            await runaway
        async with asyncio.timeout(30):
            assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
        assert pool.statistics.kills == 1


async def test_a_caller_that_leaves_a_stream_stops_it_without_a_kill(source: StoreCheckpoints) -> None:
    source.store.bulk_extend(quads(50_000))
    source.write()
    async with ReaderPool(source, ReaderSettings(readers=1, timeout_s=60)) as pool:
        before = pool.pids
        async with pool.query(QueryRequest(ALL)) as result:
            async for _ in result:
                break
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
        assert pool.pids == before
        assert pool.statistics.kills == 0


async def test_a_reader_that_is_killed_breaks_its_stream_and_is_replaced(source: StoreCheckpoints) -> None:
    source.store.bulk_extend(quads(50_000))
    source.write()
    async with ReaderPool(source, ReaderSettings(readers=1)) as pool:
        async with pool.query(QueryRequest(ALL)) as result:
            os.kill(pool.pids[0], signal.SIGKILL)
            with pytest.raises(ReaderLost):
                await drained(result)
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1


async def test_an_idle_reader_that_is_killed_is_replaced(source: StoreCheckpoints) -> None:
    source.write(*quads(1))
    async with ReaderPool(source, ReaderSettings(readers=1)) as pool:
        (victim,) = pool.pids
        os.kill(victim, signal.SIGKILL)
        await asyncio.sleep(0.1)
        assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
        assert pool.pids != (victim,)


async def test_a_large_result_streams_with_flat_memory(source: StoreCheckpoints, pool: ReaderPool) -> None:
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
    source: StoreCheckpoints, pool: ReaderPool
) -> None:
    source.write(*quads(5_000))
    async with pool.query(QueryRequest("SELECT * { ?a ?b ?c . ?d ?e ?f }", timeout_s=4.0)) as result:
        with pytest.raises(QueryTimeout):
            await drained(result)


async def test_graph_variables_range_over_clients_graphs_only(
    source: StoreCheckpoints, pool: ReaderPool
) -> None:
    source.update(
        f"INSERT DATA {{ GRAPH <http://e/g> {{ <http://e/a> <http://e/p> 1 }} "
        f"GRAPH <{SYSTEM}derived> {{ <http://e/a> <http://e/p> 2 }} }}"
    )

    async def objects(text: str) -> list[str]:
        found = await pool.solutions(text)
        return sorted(row["o"]["value"] for row in found["results"]["bindings"])

    assert await objects("SELECT ?o { GRAPH ?g { ?s ?p ?o } }") == ["1"]
    assert await objects(f"SELECT ?o {{ GRAPH <{SYSTEM}derived> {{ ?s ?p ?o }} }}") == ["2"]
    assert await objects(
        f"PREFIX g: <{SYSTEM}> SELECT ?o {{ VALUES ?g {{ g:derived }} GRAPH ?g {{ ?s ?p ?o }} }}"
    )
    assert await objects(f"SELECT ?o FROM NAMED <{SYSTEM}derived> {{ GRAPH ?g {{ ?s ?p ?o }} }}") == ["2"]
    assert await objects("SELECT ?o { ?s ?p ?o }") == []
    named = QueryRequest(
        "SELECT ?o { GRAPH ?g { ?s ?p ?o } }", BY_NAME["csv"], (), (NamedNode(f"{SYSTEM}derived"),)
    )
    assert await body(pool, named) == b"o\r\n2\r\n"


async def test_the_dataset_of_the_request_replaces_that_of_the_text(
    source: StoreCheckpoints, pool: ReaderPool
) -> None:
    source.update(
        "INSERT DATA { GRAPH <http://e/1> { <http://e/a> <http://e/p> 1 } "
        "GRAPH <http://e/2> { <http://e/a> <http://e/p> 2 } <http://e/a> <http://e/p> 3 }"
    )
    default = QueryRequest(
        "SELECT ?o FROM <http://e/1> { ?s ?p ?o }", BY_NAME["csv"], (NamedNode("http://e/2"),)
    )
    assert await body(pool, default) == b"o\r\n2\r\n"
    named = QueryRequest("SELECT ?o { ?s ?p ?o }", BY_NAME["csv"], (), (NamedNode("http://e/2"),))
    assert await body(pool, named) == b"o\r\n"


async def test_the_geosparql_functions_can_be_called(pool: ReaderPool) -> None:
    found = await pool.solutions(
        "PREFIX geo: <http://www.opengis.net/ont/geosparql#> "
        "PREFIX geof: <http://www.opengis.net/def/function/geosparql/> "
        "ASK { FILTER(geof:sfWithin('POINT(1 1)'^^geo:wktLiteral, "
        "'POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))'^^geo:wktLiteral)) }"
    )
    assert found["boolean"] is True


async def test_aggregates_and_the_tools_can_be_called_in_queries(pool: ReaderPool) -> None:
    union = (
        "SELECT (<http://www.opengis.net/def/function/geosparql/aggUnion>(?g) AS ?all) { VALUES ?g "
        "{ 'POINT(1 1)'^^<http://www.opengis.net/ont/geosparql#wktLiteral> "
        "'POINT(2 1)'^^<http://www.opengis.net/ont/geosparql#wktLiteral> } }"
    )
    found = await pool.solutions(union)
    assert found["results"]["bindings"][0]["all"]["value"] == "MULTIPOINT ((1 1), (2 1))"
    found = await pool.solutions(
        "SELECT (<https://w3id.org/urbankg/function/geohash>(?g) AS ?hash) "
        "{ VALUES ?g { 'POINT(10.40744 57.64911)'^^<http://www.opengis.net/ont/geosparql#wktLiteral> } }"
    )
    assert found["results"]["bindings"][0]["hash"]["value"] == "u4pruydq"


def resident_bytes(process: int | str) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


_PARENT = """
import asyncio, sys
from pathlib import Path
from sparql.readers import ReaderPool, ReaderSettings
from tests.sparql.stores import StoreCheckpoints

async def main():
    source = StoreCheckpoints(Path(sys.argv[1]))
    source.update("INSERT DATA { <http://e/a> <http://e/p> 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }")
    pool = ReaderPool(source, ReaderSettings(readers=2))
    await pool.start()
    pairs = " . ".join(f"?a{n} ?b{n} ?c{n}" for n in range(12))
    running = asyncio.create_task(pool.solutions("SELECT (COUNT(*) AS ?n) { " + pairs + " }"))
    await asyncio.sleep(0.3)
    print(*pool.pids, flush=True)
    await running

asyncio.run(main())
"""


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in ("Z", "X")


def test_readers_die_with_their_parent_when_only_it_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(is_running(pid) for pid in pids)
        parent.kill()
        parent.wait()
        deadline = time.monotonic() + 20
        while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not any(is_running(pid) for pid in pids)


async def test_readers_that_were_launched_ahead_are_those_that_start(source: StoreCheckpoints) -> None:
    source.write(*quads(1))
    pool = ReaderPool(source, ReaderSettings(readers=2))
    pool.launch()
    launched = {one.process.pid for one in pool._staff._launched}
    await pool.start()
    assert set(pool.pids) == launched
    assert len((await pool.solutions(LOOKUP))["results"]["bindings"]) == 1
    await pool.close()


async def test_readers_that_were_launched_and_never_started_end_with_the_pool(
    source: StoreCheckpoints,
) -> None:
    pool = ReaderPool(source, ReaderSettings(readers=2))
    pool.launch()
    launched = [one.process for one in pool._staff._launched]
    await pool.close()
    assert all(process.poll() is not None for process in launched)

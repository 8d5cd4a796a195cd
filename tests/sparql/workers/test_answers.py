"""What real worker processes answer, on real checkpoints."""

from __future__ import annotations

import asyncio
import json

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from sparql.model.errors import RemoteAccessRefused, SyntaxProblem
from sparql.protocol.formats import BY_NAME
from sparql.workers.pool import WorkerPool
from sparql.workers.query import QueryRequest
from tests.support.stores import StoreCheckpoints
from tests.support.waiting import eventually
from tests.support.worker_queries import ALL, LOOKUP, body, quads

SYSTEM = "https://w3id.org/urbankg/graph/"


async def test_a_read_that_starts_after_a_write_sees_it(source: StoreCheckpoints, pool: WorkerPool) -> None:
    for number in range(5):
        revision = source.write(Quad(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal(number)))
        async with pool.query(QueryRequest(ALL)) as result:
            found = json.loads(b"".join([chunk async for chunk in result]))
        assert len(found["results"]["bindings"]) == number + 1
        assert result.revision >= revision


async def test_many_workers_on_one_revision_share_one_checkpoint(
    source: StoreCheckpoints, pool: WorkerPool
) -> None:
    await pool.solutions(LOOKUP)
    before = source.acquired
    source.write(*quads(3))
    await asyncio.gather(*(pool.solutions(LOOKUP) for _ in range(20)))
    assert source.acquired == before + 1


async def test_old_checkpoints_are_given_back(source: StoreCheckpoints, pool: WorkerPool) -> None:
    for number in range(6):
        source.write(*quads(number))
        await asyncio.gather(*(pool.solutions(LOOKUP) for _ in range(4)))
    await eventually(lambda: len(source.lent) == 1)
    await pool.close()
    assert source.lent == {}


async def test_a_running_query_keeps_its_checkpoint(source: StoreCheckpoints, pool: WorkerPool) -> None:
    source.write(*quads(20_000))
    async with pool.query(QueryRequest(ALL, BY_NAME["tsv"])) as result:
        rows = 0
        async for chunk in result:
            if rows == 0:
                source.update("CLEAR ALL")
                assert (await pool.solutions(ALL))["results"]["bindings"] == []
            rows += chunk.count(b"\n")
    assert rows == 20_001


async def test_each_form_answers_in_its_formats(source: StoreCheckpoints, pool: WorkerPool) -> None:
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


async def test_a_syntax_error_names_its_place(pool: WorkerPool) -> None:
    with pytest.raises(SyntaxProblem) as raised:
        await pool.solutions("SELECT * {\n ?s ?p }")
    assert (raised.value.line, raised.value.column) == (2, 9)


async def test_a_query_for_another_host_never_reaches_a_worker(pool: WorkerPool) -> None:
    with pytest.raises(RemoteAccessRefused):
        await pool.solutions("SELECT * { SERVICE <http://e/> { ?s ?p ?o } }")
    assert pool.statistics.queries == 0


async def test_graph_variables_range_over_clients_graphs_only(
    source: StoreCheckpoints, pool: WorkerPool
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
    source: StoreCheckpoints, pool: WorkerPool
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


async def test_the_geosparql_functions_can_be_called(pool: WorkerPool) -> None:
    found = await pool.solutions(
        "PREFIX geo: <http://www.opengis.net/ont/geosparql#> "
        "PREFIX geof: <http://www.opengis.net/def/function/geosparql/> "
        "ASK { FILTER(geof:sfWithin('POINT(1 1)'^^geo:wktLiteral, "
        "'POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))'^^geo:wktLiteral)) }"
    )
    assert found["boolean"] is True


async def test_aggregates_and_the_tools_can_be_called_in_queries(pool: WorkerPool) -> None:
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

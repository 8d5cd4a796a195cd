"""Queries for workers, what they read, and whether a worker still runs."""

from __future__ import annotations

from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad

from sparql.workers.pool import QueryResult, WorkerPool
from sparql.workers.query import QueryRequest

RUNAWAY = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
LOOKUP = "SELECT ?o WHERE { <http://e/0> <http://e/p> ?o }"
ALL = "SELECT * WHERE { ?s ?p ?o }"


def quads(count: int) -> list[Quad]:
    predicate = NamedNode("http://e/p")
    return [Quad(NamedNode(f"http://e/{number}"), predicate, Literal(number)) for number in range(count)]


async def body(pool: WorkerPool, request: QueryRequest) -> bytes:
    async with pool.query(request) as result:
        return await drained(result)


async def drained(result: QueryResult) -> bytes:
    return b"".join([chunk async for chunk in result])


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in ("Z", "X")

"""The SPARQL endpoint over real HTTP: a real server, real readers, a real store."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
import uvicorn
from fastapi import FastAPI
from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, RdfFormat, parse, parse_query_results

from server.http.reporting.problems import ProblemMap, add_sparql
from server.routes.graph.sparql import router
from server.writes.updating import Updates
from sparql.model.change import Change, Verdict
from sparql.protocol.formats import GRAPH_FORMATS
from sparql.rewriting.rewriter import Rewriter
from sparql.workers.pool import WorkerPool
from sparql.workers.workers import PoolSettings
from sparql.writing.group import Outcome
from tests.support.stores import StoreCheckpoints
from tests.support.waiting import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOOKUP = "SELECT ?o WHERE { <http://e/1> <http://e/p> ?o }"
RUNAWAY = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
ENDLESS = "SELECT * WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"


@dataclass(frozen=True)
class Settings:
    query_timeout_s: float
    query_timeout_max_s: float
    base_url: str


@dataclass(frozen=True)
class Services:
    readers: WorkerPool
    settings: Settings
    rewriter: Rewriter


class StoreWriter:
    """Commits to the tests' store as the real writer does: one at a time, all or nothing, ungated."""

    def __init__(self, source: StoreCheckpoints) -> None:
        self._source = source
        self._lock = threading.Lock()

    def commit_group(self, changes: Sequence[Change], outcomes: list[Outcome]) -> None:
        for change in changes:
            outcomes.append(self.commit_built(lambda built=change: built))

    def settle(self, revision: int) -> None:
        """All is on the disk as soon as it is written."""

    def commit_built(self, build: Callable[[], Change], *, settle: bool = True) -> Verdict:
        with self._lock:
            change = build()
            for triple in change.removals:
                self._source.store.remove(Quad(*triple))
            for quad in change.graph_removals:
                self._source.store.remove(quad)
            added = (*(Quad(*one.triple) for one in change.additions), *change.graph_additions)
            return Verdict(change.additions, revision=self._source.write(*added))


@dataclass(frozen=True)
class Running:
    source: StoreCheckpoints
    pool: WorkerPool
    client: httpx.AsyncClient
    port: int


@contextlib.asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Running]:
    source = StoreCheckpoints(folder)
    predicate = NamedNode("http://e/p")
    source.write(*(Quad(NamedNode(f"http://e/{n}"), predicate, Literal(n)) for n in range(2_000)))
    async with WorkerPool(source, PoolSettings(workers=2)) as pool:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            port = listening.getsockname()[1]
            app = FastAPI()
            services = Services(pool, Settings(5.0, 8.0, f"http://127.0.0.1:{port}"), Rewriter(source))
            updates = Updates(StoreWriter(source), pool, lambda: source.store)
            app.include_router(router(services, updates))
            problems = ProblemMap()
            add_sparql(problems)
            problems.install(app)
            server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none", lifespan="off"))
            task = asyncio.create_task(server.serve(sockets=[listening]))
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
                await eventually(lambda: server.started)
                yield Running(source, pool, client, port)
            server.should_exit = True
            await task
            updates.close()


@pytest_asyncio.fixture(loop_scope="module")
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    """A server of the test's own."""
    async with serving(tmp_path) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def reading(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    """A server shared by the tests that change nothing."""
    async with serving(tmp_path_factory.mktemp("reading")) as running:
        yield running


def problem(response: httpx.Response, status: int) -> dict[str, object]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    reported: dict[str, object] = response.json()
    assert reported["status"] == status
    assert reported["title"]
    assert reported["detail"]
    return reported


async def test_all_three_forms_of_a_query_answer_alike(reading: Running) -> None:
    client = reading.client
    answers = [
        await client.get("/sparql", params={"query": LOOKUP}),
        await client.post("/sparql", data={"query": LOOKUP}),
        await client.post("/query", content=LOOKUP, headers={"Content-Type": "application/sparql-query"}),
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/sparql-results+json"
        assert [row["o"]["value"] for row in answer.json()["results"]["bindings"]] == ["1"]


@pytest.mark.parametrize("format_", [QueryResultsFormat.JSON, QueryResultsFormat.XML, QueryResultsFormat.TSV])
async def test_results_come_in_the_accepted_format(reading: Running, format_: QueryResultsFormat) -> None:
    media_type = format_.media_type.partition(";")[0]
    answer = await reading.client.get("/sparql", params={"query": LOOKUP}, headers={"Accept": media_type})
    assert answer.headers["content-type"].partition(";")[0] == media_type
    assert [row["o"] for row in parse_query_results(answer.content, format=format_)] == [Literal(1)]


async def test_csv_can_be_asked_for_by_parameter(reading: Running) -> None:
    answer = await reading.client.get("/sparql", params={"query": LOOKUP, "format": "csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.text == "o\r\n1\r\n"


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        # A lookup; the others run in a worker.
        ("SELECT * { <http://e/1> ?z ?a }", "z,a"),
        ("select distinct*{ ?z ?b ?a FILTER(?hidden < 1) } LIMIT 1", "z,b,a"),
        (
            "SELECT # all\n * { VALUES (?n ?d ?b) { (1 2 3) } { SELECT (1 AS ?c) ?a { VALUES ?y {1} } } }",
            "n,d,b,c,a",
        ),
        (
            "PREFIX SELECT: <urn:*> SELECT * { ?é ?y ?a MINUS { ?no ?y ?no } BIND(1 AS ?x) } LIMIT 1",
            "é,y,a,x",
        ),
        ("SELECT * { ?s ?p ?o FILTER(<http://no.such/function>(?o)) }", "s,p,o"),
        (
            "BASE <http://www.opengis.net/> SELECT * { ?s ?p ?g FILTER(<def/function/x>(?g) || true) }",
            "s,p,g",
        ),
        ("SELECT ?z ?a { ?z ?y ?a { SELECT * { ?b ?c ?a } LIMIT 1 } }", "z,a"),
        ("SELECT * {}", ""),
    ],
)
async def test_all_columns_come_as_they_appear_in_the_query(
    reading: Running, query: str, columns: str
) -> None:
    answer = await reading.client.get("/sparql", params={"query": query, "format": "csv"})
    assert answer.text.partition("\r\n")[0] == columns


@pytest.mark.parametrize(
    "format_",
    [format_.engine for format_ in GRAPH_FORMATS],
    ids=[format_.name for format_ in GRAPH_FORMATS],
)
async def test_graphs_come_in_the_accepted_format(reading: Running, format_: RdfFormat) -> None:
    answer = await reading.client.get(
        "/sparql", params={"query": "DESCRIBE <http://e/1>"}, headers={"Accept": format_.media_type}
    )
    assert answer.headers["content-type"].partition(";")[0] == format_.media_type
    assert len(list(parse(answer.content, format=format_))) == 1


async def test_what_cannot_be_accepted_is_reported(reading: Running) -> None:
    answer = await reading.client.get("/sparql", params={"query": LOOKUP}, headers={"Accept": "image/png"})
    assert "text/csv" in str(problem(answer, 406)["offered"])


async def test_a_syntax_error_has_line_and_column(reading: Running) -> None:
    answer = await reading.client.get("/sparql", params={"query": "SELECT * {\n ?s ?p }"})
    reported = problem(answer, 400)
    assert (reported["line"], reported["column"]) == (2, 9)


@pytest.mark.parametrize(
    ("method", "arguments", "status"),
    [
        ("GET", {"params": {"query": ""}}, 400),
        ("GET", {"params": {"query": "hello"}}, 400),
        ("GET", {"params": {"query": "CLEAR ALL"}}, 400),
        ("GET", {"params": {"update": "CLEAR ALL"}}, 400),
        ("POST", {"content": "ASK {}", "headers": {"Content-Type": "text/plain"}}, 415),
        ("POST", {"content": "ASK {}"}, 415),
        ("POST", {"data": {"query": "SELECT * { SERVICE <http://127.0.0.1/> {} }"}}, 403),
        ("PUT", {"content": "ASK {}"}, 405),
    ],
)
async def test_a_request_that_cannot_be_served_is_a_problem(
    reading: Running, method: str, arguments: dict[str, object], status: int
) -> None:
    problem(await reading.client.request(method, "/sparql", **arguments), status)  # type: ignore[arg-type]


async def test_bytes_that_are_no_utf8_are_refused(reading: Running) -> None:
    headers = {"Content-Type": "application/sparql-query"}
    problem(await reading.client.post("/sparql", content=b"ASK { ?s ?p '\xff' }", headers=headers), 400)


async def test_a_bare_get_describes_the_service(reading: Running) -> None:
    answer = await reading.client.get("/sparql")
    assert answer.headers["content-type"] == "text/turtle; charset=utf-8"
    objects = {str(triple.object) for triple in parse(answer.content, format=RdfFormat.TURTLE)}
    assert f"<http://127.0.0.1:{reading.port}/sparql>" in objects
    assert "<http://www.opengis.net/def/function/geosparql/sfWithin>" in objects


async def test_void_is_at_its_well_known_address(reading: Running) -> None:
    answer = await reading.client.get("/.well-known/void", headers={"Accept": "application/n-triples"})
    assert "<http://rdfs.org/ns/void#sparqlEndpoint>" in answer.text
    assert '"2000"^^' in answer.text


async def test_head_gives_the_headers_of_get_and_no_body(reading: Running) -> None:
    got = await reading.client.get("/sparql", params={"query": LOOKUP})
    headed = await reading.client.head("/sparql", params={"query": LOOKUP})
    assert headed.status_code == 200
    assert headed.content == b""
    assert headed.headers["etag"] == got.headers["etag"]
    assert headed.headers["content-type"] == got.headers["content-type"]


async def test_an_entity_tag_holds_until_the_next_write(running: Running) -> None:
    query = {"query": LOOKUP}
    tag = (await running.client.get("/sparql", params=query)).headers["etag"]
    again = await running.client.get("/sparql", params=query, headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    other = await running.client.get(
        "/sparql", params=query, headers={"If-None-Match": tag, "Accept": "text/csv"}
    )
    assert other.status_code == 200
    running.source.update("INSERT DATA { <http://e/1> <http://e/p> 'new' }")
    changed = await running.client.get("/sparql", params=query, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert len(changed.json()["results"]["bindings"]) == 2
    assert changed.headers["etag"] != tag


async def test_a_query_that_varies_by_itself_has_no_entity_tag(reading: Running) -> None:
    answer = await reading.client.get("/sparql", params={"query": "SELECT (NOW() AS ?now) {}"})
    assert "etag" not in answer.headers


async def test_the_timeout_parameter_ends_a_query_with_a_reason(running: Running) -> None:
    answer = await running.client.get("/sparql", params={"query": RUNAWAY, "timeout": "0.5"})
    reported = problem(answer, 504)
    assert reported["timeout"] == 0.5


async def test_a_result_cut_by_its_deadline_breaks_the_connection(running: Running) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        await running.client.get("/sparql", params={"query": ENDLESS, "timeout": "3"}, timeout=30)
    answer = await running.client.get("/sparql", params={"query": LOOKUP})
    assert answer.status_code == 200


async def test_a_client_that_leaves_before_the_answer_stops_the_query(running: Running) -> None:
    with pytest.raises(httpx.ReadTimeout):
        await running.client.get("/sparql", params={"query": RUNAWAY}, timeout=0.4)
    await eventually(lambda: running.pool.statistics.kills != 0, seconds=20)


async def test_a_client_that_leaves_amid_the_answer_stops_the_query(running: Running) -> None:
    async with running.client.stream("GET", "/sparql", params={"query": ENDLESS}) as answer:
        assert answer.status_code == 200
        async for _ in answer.aiter_bytes():
            break
    before = running.pool.pids
    await eventually(lambda: len(running.pool._workers._queue.idle) >= 2, seconds=20)
    assert running.pool.pids == before


async def test_a_client_that_stops_reading_is_cut_off_at_the_deadline(running: Running) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    query = str(httpx.QueryParams({"query": ENDLESS, "timeout": "0.5"}))
    writer.write(f"GET /sparql?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    await reader.read(100)
    await eventually(lambda: running.pool.statistics.kills != 0, seconds=20)
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


async def test_relative_iris_are_those_of_the_endpoint(reading: Running) -> None:
    answer = await reading.client.get("/sparql", params={"query": "SELECT (<x> AS ?x) {}", "format": "csv"})
    assert answer.text == f"x\r\nhttp://127.0.0.1:{reading.port}/x\r\n"


async def test_the_dataset_parameters_choose_the_graphs(running: Running) -> None:
    running.source.update("INSERT DATA { GRAPH <http://e/g> { <http://e/1> <http://e/p> 'in g' } }")
    answer = await running.client.get(
        "/sparql", params={"query": LOOKUP, "default-graph-uri": "http://e/g", "format": "csv"}
    )
    assert answer.text == "o\r\nin g\r\n"


async def test_all_forms_of_an_update_are_carried_out(running: Running) -> None:
    client = running.client
    direct = {"Content-Type": "application/sparql-update"}
    insert = "INSERT DATA { <http://e/1> <http://e/p> 'VALUE' }"
    answers = [
        await client.post("/update", data={"update": insert.replace("VALUE", "form")}),
        await client.post("/sparql", content=insert.replace("VALUE", "direct"), headers=direct),
        await client.post(
            "/update",
            content="INSERT { <http://e/1> <http://e/p> ?o } WHERE { <http://e/2> <http://e/p> ?o }",
            headers=direct,
        ),
    ]
    revisions = [answer.json()["revision"] for answer in answers]
    assert revisions == sorted(set(revisions))
    found = await client.get("/sparql", params={"query": LOOKUP, "format": "csv"})
    assert sorted(found.text.split()) == ["1", "2", "direct", "form", "o"]


async def test_no_increment_is_lost_between_clients(running: Running) -> None:
    running.source.update("INSERT DATA { <http://e/counter> <http://e/n> 0 }")
    increment = (
        "DELETE { ?c <http://e/n> ?n } INSERT { ?c <http://e/n> ?m } "
        "WHERE { ?c <http://e/n> ?n BIND(?n + 1 AS ?m) }"
    )
    answers = await asyncio.gather(
        *(running.client.post("/update", data={"update": increment}, timeout=60) for _ in range(8))
    )
    assert {answer.status_code for answer in answers} == {200}
    found = await running.client.get(
        "/sparql", params={"query": "SELECT ?n { <http://e/counter> <http://e/n> ?n }", "format": "csv"}
    )
    assert found.text == "n\r\n8\r\n"


@pytest.mark.parametrize(
    ("update", "status"),
    [
        ("INSERT DATA { <http://e/a> <http://e/b> }", 400),
        ("SELECT * { ?s ?p ?o }", 400),
        ("LOAD <http://127.0.0.1/>", 403),
        ("INSERT { ?s ?p ?o } WHERE { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }", 403),
        ("DROP GRAPH <https://w3id.org/urbankg/graph/derived>", 403),
        ("CLEAR GRAPH <http://e/none>", 404),
        ("CREATE GRAPH <http://e/g>; CREATE GRAPH <http://e/g>", 409),
    ],
)
async def test_an_update_that_cannot_be_carried_out_is_a_problem(
    running: Running, update: str, status: int
) -> None:
    before = running.source.revision()
    problem(await running.client.post("/update", data={"update": update}), status)
    assert running.source.revision() == before


async def test_a_runaway_update_is_ended_and_the_next_one_goes_through(running: Running) -> None:
    runaway = "INSERT { <http://e/x> <http://e/n> ?n } WHERE { { " + RUNAWAY + " } }"
    answer = await running.client.post("/update", data={"update": runaway, "timeout": "0.5"})
    problem(answer, 504)
    answer = await running.client.post(
        "/update", data={"update": "INSERT DATA { <http://e/x> <http://e/p> 1 }"}
    )
    assert answer.status_code == 200

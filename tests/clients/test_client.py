"""The Python client against a real server."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from urbankg_client import (
    ApiError,
    AskAnswer,
    AskTrace,
    AsyncClient,
    BadRequest,
    Client,
    ExtractionAnswer,
    ExtractionStep,
    Forbidden,
    Job,
    JobDocument,
    NewStatement,
    NotFound,
    Refused,
    Unauthorized,
    Unreachable,
    iri,
    literal,
)

from clients.generate_models import MODELS, models
from server.http.access.keys import KeyStore, Scope
from tests.support.running_server import RunningServer

URBAN = "https://w3id.org/urbankg/urban#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
XSD = "http://www.w3.org/2001/XMLSchema#"
WKT = "http://www.opengis.net/ont/geosparql#wktLiteral"


def museum(name: str) -> list[NewStatement]:
    subject = "https://example.org/client/" + name.lower().replace(" ", "-")
    return [
        NewStatement(subject, TYPE, iri(URBAN + "Museum")),
        NewStatement(subject, LABEL, literal(name, language="en")),
    ]


class Breaking(httpx.HTTPTransport):
    """Carries requests out and loses the first answers, as a connection that breaks does."""

    def __init__(self, losses: int) -> None:
        super().__init__()
        self.losses = losses
        self.keys: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("idempotency-key"))
        response = super().handle_request(request)
        if self.losses:
            self.losses -= 1
            response.close()
            raise httpx.ReadError("the connection broke")
        return response


class Cutting(httpx.HTTPTransport):
    """Ends the first answer to each address after its first event."""

    def __init__(self) -> None:
        super().__init__()
        self.cut: set[str] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        if request.url.path in self.cut:
            return response
        self.cut.add(request.url.path)
        return httpx.Response(response.status_code, headers=response.headers, stream=FirstEvent(response))


class FirstEvent(httpx.SyncByteStream):
    def __init__(self, response: httpx.Response) -> None:
        self.response = response

    def __iter__(self) -> Iterator[bytes]:
        read = b""
        for part in self.response.iter_raw():
            read += part
            if b"\n\n" in read:
                yield read[: read.index(b"\n\n") + 2]
                break
        raise httpx.ReadError("the connection broke")

    def close(self) -> None:
        self.response.close()


def test_a_text_is_tried_extracted_reviewed_and_asked_for(graph: Client) -> None:
    graph.candidates(museum("Bowne Hall"))
    tried = graph.extract("Bowne Hall opened in 1931.", source="a leaflet", commit=False)
    assert tried.revision is None
    done = graph.extract("Bowne Hall opened in 1931.", source="a leaflet")
    (stated,) = (one for one in done.accepted if one.predicate == URBAN + "opened")
    assert stated.object.value == "1931"
    assert stated.evidence is not None
    assert "1931" in stated.evidence.quote
    assert "Bowne Hall" in (graph.ask("Which museums are there?").answer or "")
    (suggested,) = graph.suggest("Bowne", kind="entity")
    assert suggested.label == "Bowne Hall"


def test_a_refused_statement_is_found_corrected_and_the_decision_undone(graph: Client) -> None:
    subject = museum("Mill House")[0].subject
    graph.candidates(museum("Mill House"))
    refused = graph.candidates([NewStatement(subject, URBAN + "height", literal("sky high"))]).rejected
    assert refused[0].violations[0].message
    (item,) = graph.review(text="sky high")
    assert graph.review_item(item.id).sentence is None
    better = NewStatement(subject, URBAN + "height", literal(Decimal("20.5")))
    assert graph.accept(item.id, statements=[better], by="Ada", dry_run=True).revision is None
    decided = graph.accept(item.id, statements=[better], by="Ada")
    assert [one.object.value for one in decided.added] == ["20.5"]
    assert decided.decision is not None
    graph.undo(decided.decision.rpartition("/")[2], by="Ada")
    (again,) = graph.review(text="sky high")
    graph.reject(again.id, reason="no number", by="Ada")
    with pytest.raises(ApiError) as error:
        graph.reject(again.id, reason="no number", by="Ada")
    assert error.value.status == 409


def test_a_job_reports_its_progress_and_what_became_of_each_text(graph: Client) -> None:
    seen: list[Job] = []
    texts = [f"Bowne Hall opened in 1931. Text {number}." for number in range(5)]
    documents = graph.extract_many([*texts, {"text": texts[0], "name": "again"}], progress=seen.append)
    assert Counter(one.state for one in documents) == {"committed": 5, "duplicate": 1}
    assert (seen[-1].state, seen[-1].finished) == ("done", 6)
    assert documents[-1].name == "again"
    # One page after the other.
    assert [one.position for one in graph.job_documents(seen[-1].id, limit=2)] == [1, 2, 3, 4, 5, 6]
    assert seen[-1].id in [one.id for one in graph.jobs(limit=1)]


async def test_the_same_is_awaited(server: RunningServer) -> None:
    async with AsyncClient(server.url) as graph:
        assert (await graph.health()).status == "ok"
        done, rows = await asyncio.gather(
            graph.candidates(museum("Async Hall")), graph.query("SELECT * { VALUES ?n { 1 2 } }")
        )
        assert (len(done.accepted), rows.column("n")) == (2, [1, 2])
        documents = await graph.extract_many(["Bowne Hall opened in 1931, they say."])
        assert [one.state for one in documents] == ["committed"]
        newest = await anext(graph.jobs(limit=1))
        events = [one async for one in graph.follow(newest.id)]
        assert {type(one) for one in events} == {Job, JobDocument}
        assert [one.status async for one in graph.review(status="any", limit=1)]
        with pytest.raises(NotFound):
            await graph.review_item("unknown")


def test_a_write_whose_answer_is_lost_is_written_once(server: RunningServer) -> None:
    losing = Breaking(losses=1)
    with Client(server.url, transport=losing) as graph:
        assert graph.update("INSERT DATA { GRAPH <urn:once> { [] <urn:p> 1 } }").revision is not None
        assert len(graph.query("SELECT ?s { GRAPH <urn:once> { ?s <urn:p> 1 } }")) == 1
    first, again, reading = losing.keys
    assert first == again
    assert (first is None, reading) == (False, None)


def test_steps_come_before_the_answer_and_once_when_the_connection_breaks(graph: Client) -> None:
    graph.candidates(museum("Step Hall"))
    *steps, answer = graph.ask_in_steps("Which museums are there?")
    assert isinstance(answer, AskAnswer)
    assert steps == answer.trace
    assert {type(one) for one in steps} == {AskTrace}
    with Client(str(graph.url), transport=Cutting()) as losing:
        again = list(losing.ask_in_steps("Which museums are there?"))
        assert again[:-1] == steps
        *parts, done = losing.extract_in_steps("Bowne Hall opened in 1931, the steps say.")
    assert [one.action for one in parts if isinstance(one, ExtractionStep)] == ["read", "link"]
    assert isinstance(done, ExtractionAnswer)
    with pytest.raises(Refused):
        list(graph.extract_in_steps(""))


def test_a_server_that_never_answers_is_unreachable() -> None:
    with Client("http://127.0.0.1:1", retries=1) as graph, pytest.raises(Unreachable, match="GET /healthz"):
        graph.health()


def test_errors_have_classes_and_say_what_to_do(graph: Client) -> None:
    with pytest.raises(BadRequest, match="line 1") as unreadable:
        graph.query("SELECT * { ?s")
    assert unreadable.value.members["line"] == 1
    with pytest.raises(NotFound, match="nothing-here"):
        graph.job("nothing-here")
    with pytest.raises(Refused) as empty:
        graph.extract("")
    assert empty.value.kind != "about:blank"
    with pytest.raises(Forbidden):
        graph.load("<urn:a> <urn:b> <urn:c> .", graph="https://w3id.org/urbankg/graph/review")


def test_a_key_is_sent_and_one_that_lacks_the_scope_is_forbidden(tmp_path: Path) -> None:
    empty = str(tmp_path / "empty")
    Path(empty).mkdir()
    with RunningServer(tmp_path / "data", "--ontology", empty, "--shapes", empty) as server:
        keys = KeyStore(server.data)
        token = keys.create("reader", [Scope.READ])[1]
        keys.close()
        with Client(server.url, api_key=token) as graph, pytest.raises(Forbidden):
            graph.update("INSERT DATA { <urn:a> <urn:b> 1 }")
        with Client(server.url) as graph, pytest.raises(Unauthorized):
            graph.update("INSERT DATA { <urn:a> <urn:b> 1 }")


def test_rows_are_values_of_python_tables_and_geometries(graph: Client) -> None:
    lat_lon = "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT (40.5 -73.5)"
    rows = graph.query(f"""SELECT ?n ?d ?t ?b ?x ?w {{ VALUES (?n ?d ?t ?b ?x ?w) {{
        (1 1.5 "2024-02-29"^^<{XSD}date> true <urn:x> "POINT (-73.5 40.5)"^^<{WKT}>)
        (2 2.5 "no date"^^<{XSD}date> false UNDEF "POINT (-74 41)"^^<{WKT}>) }} }}""")
    assert rows.columns == ["n", "d", "t", "b", "x", "w"]
    assert rows[0] == {
        "n": 1,
        "d": Decimal("1.5"),
        "t": date(2024, 2, 29),
        "b": True,
        "x": "urn:x",
        "w": "POINT (-73.5 40.5)",
    }
    assert rows[1]["t"] == "no date"
    assert rows.column("x") == ["urn:x", None]
    assert list(rows.pandas()["n"]) == [1, 2]
    frame = rows.geopandas()
    assert (frame.crs.to_string(), frame.geometry.name, frame.geometry.x.tolist()) == (
        "OGC:CRS84",
        "w",
        [-73.5, -74],
    )
    swapped = graph.query(f'SELECT * {{ BIND("{lat_lon}"^^<{WKT}> AS ?g) }}').geopandas()
    assert (swapped.crs.to_epsg(), swapped.geometry.x.tolist()) == (4326, [-73.5])
    with pytest.raises(ValueError, match="name one"):
        graph.query("SELECT * { VALUES ?n { 1 } }").geopandas()
    assert list(graph.query("SELECT ?a ?b {} LIMIT 0").pandas().columns) == ["a", "b"]


def test_other_queries_and_graphs(graph: Client) -> None:
    assert graph.query_boolean("ASK {}") is True
    assert "<urn:p>" in graph.query_graph("CONSTRUCT { <urn:s> <urn:p> 1 } {}")
    assert graph.load("<urn:s> <urn:p> 2 .", graph="urn:loaded") is None
    assert graph.query("SELECT ?o FROM <urn:loaded> { ?s ?p ?o }").column("o") == [2]


def test_the_client_needs_httpx_and_pydantic_only() -> None:
    allowed = {"httpx", "pydantic", "urbankg_client", "pandas", "geopandas", *sys.stdlib_module_names}
    for file in MODELS.parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names} <= allowed, file
            # Tables are for those who want them.
            if {"pandas", "geopandas"} & set(names):
                assert node.col_offset


def test_the_models_are_those_of_the_description(server: RunningServer) -> None:
    description = httpx.get(server.url + "/openapi.json", timeout=60).json()
    assert MODELS.read_text(encoding="utf-8") == models(description), "run clients/generate_models.py"


@pytest.mark.parametrize(
    "command", [[sys.executable, "tour.py"], ["node", "tour.mjs"], ["sh", "tour.sh"]], ids=lambda one: one[1]
)
def test_the_examples_run(server: RunningServer, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    root = MODELS.parents[2]
    monkeypatch.setenv("PYTHONPATH", str(root / "python"))
    done = subprocess.run(
        [*command, server.url],
        cwd=root / "examples",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    name = {"tour.py": "Python Hall", "tour.mjs": "JavaScript Hall", "tour.sh": "Curl Hall"}[command[1]]
    assert done.stdout.strip().splitlines()[-1].endswith(name)
    assert done.stdout.count(name) >= 2

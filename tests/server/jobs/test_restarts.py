"""What a crash leaves behind, and what becomes of it: nothing lost, nothing twice, no answer twice paid."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import pytest

from ontology import Schema
from server.app import create_app
from server.errors import StateUnreadable
from server.jobs.body import accept
from server.jobs.job import Committed, DocumentState, JobRequest
from server.jobs.progress import Progress
from server.jobs.record import Record
from server.jobs.store import JobStore
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from shapes.gate.gate import ShapesGate
from tests.server.conftest import own_gate
from tests.server.jobs.conftest import LINES, PATIENCE_S, documents, lines, until
from tests.support.answering import AnsweringModel
from tests.support.recorded.frames import texts
from tests.support.recorded.server import RecordedServer, serving
from tests.support.running_server import RunningServer
from tests.support.waiting import eventually, wait_until

MUSEUM = "Ardenfield Museum is a museum in Larnford."
TOWN = "Larnford is a city."
Started = AbstractAsyncContextManager[tuple[Services, httpx.AsyncClient]]


@pytest.fixture
def start(tmp_path: Path, frames: AnsweringModel, schema: Schema, gate: ShapesGate) -> Callable[..., Started]:
    """Starts a server on the same folder again and again."""

    @asynccontextmanager
    async def started(*, working: bool = True) -> AsyncIterator[tuple[Services, httpx.AsyncClient]]:
        settings = Settings(data=tmp_path / "data", readers=1)
        async with build(settings, model=frames, schema=schema, gate=own_gate(gate)) as services:
            transport = httpx.ASGITransport(create_app(services))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                if not working:
                    yield services, client
                    return
                async with services.job_worker.working(services.opened):
                    yield services, client

    return started


async def test_a_commit_whose_end_was_not_noted_is_found_in_the_graph(
    start: Callable[..., Started], frames: AnsweringModel
):
    async with start(working=False) as (services, client):
        answer = await client.post("/jobs", content=lines(TOWN, MUSEUM), headers=LINES)
        job = answer.json()["id"]
        # As the worker does it, up to the commit; then the process is gone.
        progress = Progress(services.jobs)
        town, museum = progress.claim(5)
        for work in (town, museum):
            progress.extracted(work)
        await services.intake.extract(town.text, identifier=town.run)
        revision = services.store.revision()
    async with start() as (services, client):
        done = await until(client, job, "done")
        assert done["documents"]["committed"] == 2
        assert services.store.revision() == revision + 1
        reported = await documents(client, job)
        assert (reported[0]["accepted"], reported[0]["revision"]) == (2, None)
        runs = (await client.get(f"/documents/{reported[0]['document']}")).json()["runs"]
        assert len(runs) == 1
    assert frames.asked[TOWN] == 1


async def test_a_document_that_was_posted_elsewhere_meanwhile_is_a_duplicate(start: Callable[..., Started]):
    async with start(working=False) as (services, client):
        job = (await client.post("/jobs", content=lines(TOWN), headers=LINES)).json()["id"]
        progress = Progress(services.jobs)
        progress.extracted(progress.claim(1)[0])
        await services.intake.extract(TOWN)
    async with start() as (_, client):
        assert (await until(client, job, "done"))["documents"]["duplicate"] == 1


async def test_answers_are_kept_over_a_restart_and_not_paid_for_again(
    start: Callable[..., Started], frames: AnsweringModel
):
    async with start() as (services, client):
        frames.open.clear()
        job = (await client.post("/jobs", content=lines(MUSEUM, TOWN), headers=LINES)).json()["id"]
        await eventually(lambda: frames.asked[MUSEUM] and frames.asked[TOWN], seconds=PATIENCE_S)
        # Nothing is committed any more, but what is asked is answered and kept.
        services.writer.close()
        frames.open.set()
        async with asyncio.timeout(PATIENCE_S):
            while [one["state"] for one in await documents(client, job)] != ["extracted", "extracted"]:
                await asyncio.sleep(0.01)
    async with start() as (_, client):
        assert (await until(client, job, "done"))["documents"]["committed"] == 2
    assert frames.asked == {MUSEUM: 1, TOWN: 1}


async def test_a_paused_job_is_paused_after_a_restart(start: Callable[..., Started], frames: AnsweringModel):
    async with start(working=False) as (_, client):
        headers = {**LINES}
        answer = await client.post("/jobs", content=lines(TOWN), headers=headers, params={"paused": "true"})
        job = answer.json()["id"]
    async with start() as (_, client):
        other = (await client.post("/jobs", content=lines(MUSEUM), headers=LINES)).json()["id"]
        await until(client, other, "done")
        assert (await client.get(f"/jobs/{job}")).json()["state"] == "paused"
        assert not frames.asked[TOWN]


def test_a_document_that_was_cancelled_is_not_changed_by_who_still_works_on_it(tmp_path: Path):
    store = JobStore(tmp_path)
    job = store.begin(JobRequest())
    store.add(job, [Record("one"), Record("two")], 1)
    store.accept(job)
    progress = Progress(store)
    one, two = progress.claim(2)
    progress.committed(one, Committed(3, 0, 0, 5))
    store.cancel(job.identifier)
    progress.keep_exchanges(two, [(b"q", b"a")])
    progress.extracted(two)
    progress.put_back(two)
    progress.committed(two, Committed(1))
    _, reported = store.documents(job.identifier)
    assert [document.state for document in reported] == [DocumentState.COMMITTED, DocumentState.CANCELED]
    assert progress.exchanges(two) == []
    assert store.job(job.identifier).counts == {DocumentState.COMMITTED: 1, DocumentState.CANCELED: 1}
    store.close()


def test_jobs_are_worked_on_in_turn_each_within_its_own_concurrency(tmp_path: Path):
    store = JobStore(tmp_path)
    for number, concurrency in ((0, None), (1, 1)):
        job = store.begin(JobRequest(concurrency=concurrency))
        store.add(job, [Record(f"{number} {n}") for n in range(10)], 1)
        store.accept(job)
    progress = Progress(store)
    assert [work.key for work in progress.claim(4)] == [(1, 1), (1, 2), (1, 3), (2, 1)]
    assert [work.key for work in progress.claim(2)] == [(1, 4), (1, 5)]
    store.close()


SELECT = (
    "SELECT ?s ?p ?o WHERE { ?s ?p ?o FILTER(STRSTARTS(STR(?s), 'https://w3id.org/urbankg/id/')) } "
    "ORDER BY ?s ?p ?o"
)


def graph_of(url: str) -> str:
    headers = {"accept": "text/csv"}
    return httpx.get(f"{url}/sparql", params={"query": SELECT}, headers=headers, timeout=120).text


def committed_of(url: str, job: str) -> int:
    return int(httpx.get(f"{url}/jobs/{job}", timeout=120).json()["documents"]["committed"])


def finished(url: str, job: str) -> dict:
    """The job once it is done."""
    with httpx.stream("GET", f"{url}/jobs/{job}/events", timeout=120) as response:
        for _ in response.iter_lines():
            pass
    return httpx.get(f"{url}/jobs/{job}", timeout=120).json()


@pytest.mark.slow
def test_killing_the_server_twice_in_a_job_loses_nothing_and_doubles_nothing(tmp_path: Path):
    posted = texts(20)
    body = lines(*posted, posted[3])
    with serving(RecordedServer()) as model:
        with RunningServer(tmp_path / "plain", model_url=model.url) as server:
            job = httpx.post(f"{server.url}/jobs", content=body, headers=LINES, timeout=120).json()["id"]
            assert finished(server.url, job)["documents"]["committed"] == 20
            expected = graph_of(server.url)
        model.asked.clear()
        model.delay_s = 0.05
        server = RunningServer(tmp_path / "killed", model_url=model.url)
        job = httpx.post(f"{server.url}/jobs", content=body, headers=LINES, timeout=120).json()["id"]
        for committed in (4, 12):
            wait_until(lambda: committed_of(server.url, job) >= committed)  # noqa: B023
            server.kill()
            server = RunningServer(tmp_path / "killed", model_url=model.url)
        with server:
            done = finished(server.url, job)
            assert (done["documents"]["committed"], done["documents"]["duplicate"]) == (20, 1)
            assert graph_of(server.url) == expected
            reported = httpx.get(f"{server.url}/documents?limit=100", timeout=120).json()
            assert reported["total"] == 20
            assert {one["times"] for one in reported["documents"]} == {1}
    # Asked twice were only those whose answers were on their way when the process was killed.
    assert all(1 <= count <= 3 for count in model.asked.values())
    assert sum(model.asked.values()) <= 20 + 2 * 8


def test_a_text_that_comes_very_often_is_taken_as_quickly_as_others(tmp_path: Path):
    store = JobStore(tmp_path)
    job = store.begin(JobRequest())
    seconds = []
    for first in range(1, 10_001, 500):
        began = time.process_time()
        store.add(job, [Record(TOWN)] * 500, first)
        seconds.append(time.process_time() - began)
    assert sum(seconds[-5:]) < 3 * sum(seconds[:5]) + 0.1
    assert store.accept(job).counts == {DocumentState.PENDING: 1, DocumentState.DUPLICATE: 9_999}
    store.close()


def test_no_step_of_a_document_reads_the_others(tmp_path: Path):
    store = JobStore(tmp_path)
    job = store.begin(JobRequest())
    store.add(job, [Record(str(n)) for n in range(50)], 1)
    store.accept(job)
    progress = Progress(store)
    asked: list[str] = []
    with store.database.reading() as connection:
        connection.set_trace_callback(asked.append)
    (work,) = progress.claim(1)
    progress.keep_exchanges(work, [(b"q", b"a")])
    progress.put_back(work, "later", wait_s=60, counts=True)
    progress.next_due()
    progress.extracted(work)
    assert [one.position for one in progress.commits()] == [1]
    progress.committed(work, Committed(1))
    store.changes(job, 0, 10)
    with store.database.reading() as connection:
        connection.set_trace_callback(None)
        steps = [text for text in asked if text.split()[0] in ("SELECT", "UPDATE", "INSERT", "DELETE")]
        plans = [
            (text, row["detail"])
            for text in steps
            for row in connection.execute("EXPLAIN QUERY PLAN " + text)
        ]
    assert len(steps) > 10
    # The table of jobs is small; a pass over that of the documents takes a step a document.
    scans = [
        plan
        for plan in plans
        if plan[1].startswith("SCAN") and plan[1].split()[1] not in ("job", "j", "CONSTANT")
    ]
    assert scans == []
    store.close()


def test_jobs_that_were_made_before_methods_could_be_named_are_still_there(tmp_path: Path):
    store = JobStore(tmp_path)
    made = accept(store, JobRequest(method="zero_shot"), [Record(TOWN)])
    with store.database.writing() as connection:
        connection.execute("ALTER TABLE job DROP COLUMN method")
        connection.execute("ALTER TABLE document DROP COLUMN incomplete")
        connection.execute("PRAGMA user_version=1")
    store.close()
    store = JobStore(tmp_path)
    assert store.job(made.identifier).request.method is None
    assert [work.method for work in Progress(store).claim(5)] == [None]
    assert accept(store, JobRequest(method="fast"), [Record(MUSEUM)]).request.method == "fast"
    store.close()


def test_an_upgrade_of_the_layout_that_fails_half_way_changes_nothing(tmp_path: Path):
    store = JobStore(tmp_path)
    with store.database.writing() as connection:
        connection.execute("ALTER TABLE job DROP COLUMN method")
        connection.execute("PRAGMA user_version=1")
    store.close()
    # The second step finds its column there already.
    with pytest.raises(StateUnreadable, match="incomplete"):
        JobStore(tmp_path)
    connection = sqlite3.connect(tmp_path / "jobs.sqlite")
    assert "method" not in {row[1] for row in connection.execute("PRAGMA table_info(job)")}
    connection.close()

"""Progress as server-sent events over real HTTP, and the way back into them."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from ontology import Schema
from server.app import create_app
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from shapes.gate.gate import ShapesGate
from tests.server.conftest import own_gate
from tests.server.jobs.conftest import PATIENCE_S, post, until
from tests.support.answering import AnsweringModel
from tests.support.listening import listening
from tests.support.waiting import eventually

TOWNS = [f"Town{letter} is a city." for letter in "abcdefgh"]
Event = tuple[str, int, dict]


@pytest.fixture
async def line(
    tmp_path: Path, frames: AnsweringModel, schema: Schema, gate: ShapesGate
) -> AsyncIterator[tuple[Services, httpx.AsyncClient]]:
    """A server on a port, and a client of it."""
    settings = Settings(data=tmp_path / "data", readers=1, model_concurrency=1)
    services = build(settings, model=frames, schema=schema, gate=own_gate(gate))
    async with (
        listening(create_app(services)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client,
    ):
        yield services, client


async def events(response: httpx.Response) -> AsyncIterator[Event]:
    fields: dict[str, str] = {}
    async for text in response.aiter_lines():
        if not text and "event" in fields:
            yield fields["event"], int(fields["id"]), json.loads(fields["data"])
            fields = {}
        name, _, value = text.partition(": ")
        if name:
            fields[name] = value


async def reported(client: httpx.AsyncClient, job: str, *, since: int | None = None) -> list[Event]:
    """All events until the stream ends."""
    headers = {} if since is None else {"last-event-id": str(since)}
    async with asyncio.timeout(PATIENCE_S):
        async with client.stream("GET", f"/jobs/{job}/events", headers=headers) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            return [one async for one in events(response)]


async def test_events_report_what_becomes_of_each_document_and_end_with_the_job(
    line: tuple[Services, httpx.AsyncClient], frames: AnsweringModel
):
    _, client = line
    frames.open.clear()
    job = await post(client, *TOWNS)
    listening = asyncio.create_task(reported(client, job))
    # The first event has come before anything happens.
    await eventually(lambda: frames.asked)
    frames.open.set()
    found = await listening
    numbers = [number for _, number, _ in found]
    assert numbers == sorted(numbers)
    last = {one["position"]: one["state"] for name, _, one in found if name == "document"}
    assert last == dict.fromkeys(range(1, 9), "committed")
    name, _, job_now = found[-1]
    assert (name, job_now["state"], job_now["documents"]["committed"]) == ("job", "done", 8)


async def test_a_client_that_comes_back_misses_nothing_and_is_notified_when_nothing_will_come(
    line: tuple[Services, httpx.AsyncClient],
):
    _, client = line
    job = await post(client, *TOWNS)
    await until(client, job, "done")
    everything = await reported(client, job, since=0)
    documents = [(number, one) for name, number, one in everything if name == "document"]
    assert [one["position"] for _, one in documents] == list(range(1, 9))
    seen = documents[4][0]
    rest = [one["position"] for name, _, one in await reported(client, job, since=seen) if name == "document"]
    assert rest == [6, 7, 8]
    headers = {"last-event-id": str(everything[-1][1])}
    assert (await client.get(f"/jobs/{job}/events", headers=headers)).status_code == 204
    # Without a number: where it stands, and the end.
    assert [name for name, _, _ in await reported(client, job)] == ["job"]
    head = await client.head(f"/jobs/{job}/events")
    assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")


async def test_streams_end_when_the_server_is_about_to_stop(
    line: tuple[Services, httpx.AsyncClient], frames: AnsweringModel
):
    services, client = line
    frames.open.clear()
    job = await post(client, TOWNS[0])
    listening = asyncio.create_task(reported(client, job))
    await eventually(lambda: frames.asked)
    services.draining.begin()
    found = await listening
    assert found[-1][0] == "job"
    assert found[-1][2]["state"] == "running"
    frames.open.set()

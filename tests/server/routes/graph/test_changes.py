"""The change feed over real HTTP: what was, as lines; what comes, as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
import pytest_asyncio

from ontology import Schema
from server.app import create_app
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from shapes.gate.gate import ShapesGate
from tests.server.conftest import RecordedModel, own_gate
from tests.support.listening import listening

pytestmark = pytest.mark.asyncio(loop_scope="module")
EVENTS = {"accept": "text/event-stream"}
TURTLE = {"content-type": "text/turtle"}


@dataclass(frozen=True)
class Running:
    services: Services
    client: httpx.AsyncClient

    async def write(self, number: int) -> int:
        """Commit one quad; the revision."""
        body = f"<http://e/s> <http://e/p> {number} ."
        response = await self.client.post("/store?graph=http://e/g", content=body, headers=TURTLE)
        assert response.is_success, response.text
        return self.services.store.revision()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    tmp_path_factory: pytest.TempPathFactory, schema: Schema, gate: ShapesGate
) -> AsyncIterator[Running]:
    settings = Settings(data=tmp_path_factory.mktemp("feed") / "data", readers=1)
    services = build(settings, model=RecordedModel(), schema=schema, gate=own_gate(gate))
    async with (
        listening(create_app(services)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client,
    ):
        await services.opened()
        yield Running(services, client)


async def next_event(lines: AsyncIterator[str]) -> dict[str, str]:
    """The fields of the next event that is not a comment."""
    fields: dict[str, str] = {}
    async for line in lines:
        if not line and "event" in fields:
            return fields
        name, _, value = line.partition(": ")
        if name:
            fields[name] = value
    raise AssertionError("the stream ended")


async def test_every_revision_since_one_comes_as_a_line(running: Running):
    before = running.services.store.revision()
    for number in range(3):
        await running.write(number)
    response = await running.client.get("/changes", params={"since": before})
    assert response.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in response.text.splitlines()]
    assert [one["revision"] for one in found] == [before + 1, before + 2, before + 3]
    assert found[2]["additions"].startswith("<http://e/s> <http://e/p> ")
    assert found[2]["additions"].endswith(" <http://e/g> .\n")
    assert (await running.client.get("/changes", params={"since": before + 3})).text == ""


async def test_without_a_revision_the_whole_log_comes(running: Running):
    response = await running.client.get("/changes")
    revisions = [json.loads(line)["revision"] for line in response.text.splitlines()]
    assert revisions == list(range(1, running.services.store.revision() + 1))


async def test_a_future_revision_is_reported(running: Running):
    response = await running.client.get("/changes", params={"since": 10**6})
    assert response.status_code == 400
    assert (await running.client.get("/changes", params={"since": "x"})).status_code == 422


async def test_events_come_as_they_happen(running: Running):
    async with running.client.stream("GET", "/changes", headers=EVENTS) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in response.headers
        lines = response.aiter_lines()
        assert (await anext(lines)).startswith("retry:")
        for number in (10, 11):
            revision = await running.write(number)
            event = await asyncio.wait_for(next_event(lines), 30)
            assert (event["event"], event["id"]) == ("change", str(revision))
            assert json.loads(event["data"])["revision"] == revision


async def test_a_client_that_comes_back_misses_nothing(running: Running):
    seen = await running.write(20)
    missed = await running.write(21)
    headers = {**EVENTS, "last-event-id": str(seen)}
    async with running.client.stream("GET", "/changes", headers=headers) as response:
        event = await asyncio.wait_for(next_event(response.aiter_lines()), 30)
        assert event["id"] == str(missed)


async def test_head_ends_though_events_do_not(running: Running):
    head = await running.client.head("/changes", headers=EVENTS)
    assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert (await running.client.get("/changes", headers={"accept": "image/png"})).status_code == 406


async def test_streams_end_when_the_server_is_about_to_stop(running: Running):
    async with running.client.stream("GET", "/changes", headers=EVENTS) as response:
        lines = response.aiter_lines()
        await anext(lines)
        running.services.draining.begin()
        rest = await asyncio.wait_for(_all(lines), 30)
        assert all(not line or line.startswith((":", "retry")) for line in rest)


async def _all(lines: AsyncIterator[str]) -> list[str]:
    return [line async for line in lines]

"""A server whose worker of jobs runs, in this process."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from ontology import Schema
from server.runtime.wiring import build
from server.services import Services
from shapes.gate.gate import ShapesGate
from tests.server.conftest import client_of, own_gate
from tests.support.answering import AnsweringModel
from tests.support.workshop import settings_of

PATIENCE_S = 120
LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture
def frames() -> AnsweringModel:
    return AnsweringModel()


@asynccontextmanager
async def at_work(
    folder: Path, frames: AnsweringModel, schema: Schema, gate: ShapesGate
) -> AsyncIterator[Services]:
    settings = settings_of(data=folder, readers=1, model_concurrency=4, max_text_chars=1000)
    async with (
        build(settings, model=frames, schema=schema, gate=own_gate(gate)) as services,
        services.job_worker.working(services.opened),
    ):
        yield services


@pytest.fixture
async def office(
    tmp_path: Path,
    frames: AnsweringModel,
    schema: Schema,
    gate: ShapesGate,
    new_folder: Callable[[Path], Path],
) -> AsyncIterator[Services]:
    """Services with the worker at work."""
    async with at_work(new_folder(tmp_path / "data"), frames, schema, gate) as services:
        yield services


@pytest.fixture
async def jobs_api(office: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(office) as client:
        yield client


@pytest.fixture(scope="module")
def shared_frames() -> AnsweringModel:
    return AnsweringModel()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_jobs(
    tmp_path_factory: pytest.TempPathFactory,
    shared_frames: AnsweringModel,
    schema: Schema,
    gate: ShapesGate,
    new_folder: Callable[[Path], Path],
) -> AsyncIterator[httpx.AsyncClient]:
    """One server for all tests of a module whose texts are their own and that count nothing of all."""
    folder = new_folder(tmp_path_factory.mktemp("shared") / "data")
    async with at_work(folder, shared_frames, schema, gate) as services, client_of(services) as client:
        yield client


def lines(*texts: str) -> bytes:
    """Texts as JSON lines."""
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)


async def post(client: httpx.AsyncClient, *texts: str, **parameters: str) -> str:
    """Post texts as a job; its identifier."""
    answer = await client.post("/jobs", content=lines(*texts), headers=LINES, params=parameters)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"].endswith(f"/jobs/{answer.json()['id']}")
    return str(answer.json()["id"])


async def until(client: httpx.AsyncClient, job: str, *states: str) -> dict[str, Any]:
    """The job when it has come to one of these states."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found: dict[str, Any] = (await client.get(f"/jobs/{job}")).json()
            if found["state"] in states:
                return found
            await asyncio.sleep(0.02)


async def documents(client: httpx.AsyncClient, job: str, **parameters: str) -> list[dict[str, Any]]:
    """What became of a job's documents."""
    answer = await client.get(f"/jobs/{job}/documents", params={"limit": "1000", **parameters})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["documents"]
    return found

"""A server whose worker of jobs runs, in this process."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from ontology import Schema
from server.app import create_app
from server.services import Services, build
from server.settings import Settings
from shapes.gate import ShapesGate
from tests.server.jobs.answering import AnsweringModel

PATIENCE_S = 120
LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture
def frames() -> AnsweringModel:
    return AnsweringModel()


@pytest.fixture
async def office(
    tmp_path: Path, frames: AnsweringModel, schema: Schema, gate: ShapesGate
) -> AsyncIterator[Services]:
    """Services with the worker at work."""
    settings = Settings(data=tmp_path / "data", readers=1, job_concurrency=4, max_text_chars=1000)
    async with (
        build(settings, model=frames, schema=schema, gate=gate) as services,
        services.job_worker.working(services.opened),
    ):
        yield services


@pytest.fixture
async def desk(office: Services) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(office), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
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


async def until(client: httpx.AsyncClient, job: str, *states: str) -> dict:
    """The job when it has come to one of these states."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = (await client.get(f"/jobs/{job}")).json()
            if found["state"] in states:
                return found
            await asyncio.sleep(0.02)


async def documents(client: httpx.AsyncClient, job: str, **parameters: str) -> list[dict]:
    """What became of a job's documents."""
    answer = await client.get(f"/jobs/{job}/documents", params={"limit": "1000", **parameters})
    assert answer.status_code == 200, answer.text
    return answer.json()["documents"]

"""A whole server in this process, with a model that answers from recorded replies."""

import asyncio
import gc
import inspect
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import closing
from copy import copy
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from extractors.models.chat import Message, PromptProfile, Reply
from ontology import Schema
from server.app import create_app
from server.runtime.wiring import build
from server.services import Services
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from tests.support.described_answers import CheckedAnswers
from tests.support.known_endpoints import remember_endpoints
from tests.support.workshop import folders, settings_in, settings_of

remember_endpoints()

COLUMBIA = (
    "Columbia University is a private Ivy League research university in New York City. Established in 1754 "
    "as King's College on the grounds of Trinity Church in Manhattan, it is the oldest institution of higher "
    "education in New York."
)


class RecordedModel:
    """Answers every dialog with the next recorded reply, the last one again and again."""

    name = "recorded"
    prompt_profile: PromptProfile = "full"

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies) or ['{"triples":[]}']
        self.asked: list[Sequence[Message]] = []

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        self.asked.append(messages)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return Reply(
            text=reply,
            finish_reason="stop",
            prompt_tokens=1,
            completion_tokens=1,
            seconds=0.0,
            model=self.name,
            adapter=None,
        )

    async def close(self) -> None:
        return None


def triples(*rows: tuple[str, str, str]) -> str:
    """A model's reply with these triples."""
    said = [{"quote": "", "subject": s, "relation": r, "object": o} for s, r, o in rows]
    return json.dumps({"triples": said})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that share a server in the event loop of that server."""
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and not {"shared_services", "shared_shop"}.isdisjoint(item.fixturenames)
            and inspect.iscoroutinefunction(item.function)
        ):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest.fixture
def model() -> RecordedModel:
    return RecordedModel()


@pytest.fixture(scope="session")
def schema() -> Schema:
    return Schema.load(SHIPPED_ONTOLOGY)


@pytest.fixture(scope="session")
def gate() -> ShapesGate:
    return ShapesGate(load_shapes(SHIPPED_SHAPES))


def own_gate(gate: ShapesGate) -> ShapesGate:
    """A gate for one server, which sets it as its settings say; the engines are those of the given one."""
    own = copy(gate)
    own._engines._made = gate._engines.made()
    return own


@pytest.fixture(scope="session")
def started_folder(tmp_path_factory: pytest.TempPathFactory, schema: Schema, gate: ShapesGate) -> Path:
    """The folder of a server that was started and stopped: it holds the ontology and nothing else."""
    folder = tmp_path_factory.mktemp("started") / "data"

    async def start() -> None:
        settings = settings_of(data=folder, readers=1)
        async with build(settings, model=RecordedModel(), schema=schema, gate=own_gate(gate)) as services:
            await services.opened()

    asyncio.run(start())
    gc.collect()  # Ends the store, which otherwise may still merge files while the folder is copied.
    gc.freeze()  # Each later search for garbage would go through the application's modules and the rules.
    return folder


@pytest.fixture(scope="session")
def new_folder(started_folder: Path) -> Callable[[Path], Path]:
    """Makes a copy of that folder, so that a server that starts in it need not commit the ontology."""
    left = shutil.ignore_patterns("checkpoints", "LOG*")
    return lambda folder: Path(shutil.copytree(started_folder, folder, ignore=left))


@pytest.fixture
async def services(
    tmp_path: Path,
    model: RecordedModel,
    schema: Schema,
    gate: ShapesGate,
    new_folder: Callable[[Path], Path],
) -> AsyncIterator[Services]:
    settings = settings_of(data=new_folder(tmp_path / "data"), readers=1)
    async with build(settings, model=model, schema=schema, gate=own_gate(gate)) as services:
        # What opens beside the first answers commits the ontology: tests begin after that.
        await services.opened()
        yield services


@pytest.fixture(scope="module")
def shared_model() -> RecordedModel:
    return RecordedModel()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_services(
    tmp_path_factory: pytest.TempPathFactory,
    shared_model: RecordedModel,
    schema: Schema,
    gate: ShapesGate,
    new_folder: Callable[[Path], Path],
) -> AsyncIterator[Services]:
    """A server for all tests of a module that only read, or that tidy up; they run in its event loop."""
    settings = settings_of(data=new_folder(tmp_path_factory.mktemp("shared") / "data"), readers=1)
    async with build(settings, model=shared_model, schema=schema, gate=own_gate(gate)) as services:
        await services.opened()
        yield services


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_client(shared_services: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(shared_services) as client:
        yield client


def changed(services: Services, **parts: object) -> Services:
    """The same services with some others in their place."""
    other = copy(services)
    vars(other).update(parts)
    return other


def forget_keys(services: Services) -> None:
    """As if no key had ever been made; a server of its own would forget none."""
    with closing(sqlite3.connect(services.settings.data / "state.sqlite")) as connection, connection:
        connection.execute("DELETE FROM api_key")


def client_of(services: Services) -> httpx.AsyncClient:
    """A client of a server in this process."""
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=CheckedAnswers(transport), base_url="http://127.0.0.1:8000")


@pytest.fixture
async def client(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(services) as client:
        yield client


async def select(client: httpx.AsyncClient, query: str) -> list[dict[str, str]]:
    """The rows of a SELECT, as plain values."""
    response = await client.post(
        "/sparql", content=query, headers={"content-type": "application/sparql-query"}
    )
    assert response.status_code == 200, response.text
    return [
        {name: term["value"] for name, term in row.items()} for row in response.json()["results"]["bindings"]
    ]


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Services]:
    """A server over a small ontology and shapes in folders that a test may edit."""
    folders(tmp_path)
    async with build(settings_in(tmp_path), model=RecordedModel()) as services:
        yield services


@pytest.fixture
async def shop_client(shop: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(shop) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    """Such a server for all tests of a module that only read, or that tidy up; they run in its event loop."""
    root = tmp_path_factory.mktemp("shop")
    folders(root)
    async with build(settings_in(root), model=RecordedModel()) as services:
        yield services


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_shop_client(shared_shop: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(shared_shop) as client:
        yield client

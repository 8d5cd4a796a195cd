"""A real server with a few places, whose language model is a stand-in, for the tests of clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from urbankg_client import Client

from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

CITY = Path(__file__).parents[1] / "data/mini_city.ttl"
OPENED = {
    "triples": [
        {
            "quote": "Bowne Hall opened in 1931",
            "subject": "Bowne Hall",
            "relation": "opened",
            "object": "1931",
        }
    ]
}


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with served(tmp_path_factory.mktemp("clients")) as one:
        yield one


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[RunningServer]:
    """A server to which no other test has said anything."""
    with served(tmp_path) as one:
        yield one


@contextmanager
def served(folder: Path) -> Iterator[RunningServer]:
    with (
        running(StandIn(answer=json.dumps(OPENED))) as model,
        RunningServer(folder / "data", model_url=model.url) as one,
    ):
        with Client(one.url) as graph:
            graph.load(CITY.read_text(encoding="utf-8"), graph="https://example.org/city")
        yield one


@pytest.fixture
def graph(server: RunningServer) -> Iterator[Client]:
    with Client(server.url) as client:
        yield client

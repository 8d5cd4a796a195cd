"""Queries are answered at once; what needs the gate and the indexes waits for them, and is never let past."""

import asyncio
import io
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from typer.core import TyperGroup
from typer.main import get_command

import server.rules.rule_registry
from ontology import Schema
from server.app import create_app
from server.cli.api import opened_api
from server.cli.app import COMMANDS, RESEARCH, command_line
from server.problem_map import USER_ERRORS
from server.rules.checking import Folders
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from shapes.errors import ShapesError
from shapes.gate.gate import ShapesGate
from shapes.loading import ShapesFiles, load_shapes
from tests.server.conftest import RecordedModel, select
from tests.support.prepared_processes import urbankg
from tests.support.workshop import folders, settings_in

WRITE = {"content-type": "application/sparql-update"}


@pytest.fixture
async def held(tmp_path: Path, schema: Schema, gate: ShapesGate, monkeypatch: pytest.MonkeyPatch):
    """Services whose gate is not read before the event is set."""
    let_go = threading.Event()

    def load_later(folders: Folders, schema: Schema, kept: Path) -> tuple[ShapesGate, ShapesFiles]:
        assert let_go.wait(60)
        return gate, load_shapes(folders.shapes)

    monkeypatch.setattr(server.rules.rule_registry, "read_shapes", load_later)
    services = build(Settings(data=tmp_path / "data", readers=1), model=RecordedModel(), schema=schema)
    await services.start()
    yield services, let_go
    let_go.set()
    await services.close()


async def test_while_the_gate_is_being_read_queries_are_answered_and_a_write_waits(
    held: tuple[Services, threading.Event],
):
    services, let_go = held
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        insert = "INSERT DATA { <http://e/s> <http://e/p> 1 }"
        writing = asyncio.create_task(client.post("/update", content=insert, headers=WRITE))
        texts = {"text": "Columbia University is in New York."}
        extracting = asyncio.create_task(client.post("/extractions", json=texts))
        assert (await client.get("/readyz")).status_code == 200
        assert await select(client, "SELECT * { <http://e/s> ?p ?o }") == []
        assert (await client.get("/healthz")).json()["shapes"] is None
        assert not writing.done()
        assert not extracting.done()
        let_go.set()
        assert (await writing).status_code == 200
        assert (await extracting).status_code == 200
        assert await select(client, "SELECT ?o { <http://e/s> ?p ?o }") == [{"o": "1"}]
        assert (await client.get("/healthz")).json()["shapes"] == services.gate.version


async def test_an_interrupted_bulk_load_is_reported_until_it_is_finished(
    held: tuple[Services, threading.Event],
):
    services, let_go = held
    services.store.begin_bulk()
    transport = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        reported = await client.get("/readyz")
        assert reported.status_code == 503
        assert "bulk load" in reported.json()["checks"]["store"]
        let_go.set()
        await services.opened()
        assert (await client.get("/readyz")).status_code == 200


NESTED = "<a> <b> " + "<<( <a> <b> " * 20_000 + "<c>" + " )>>" * 20_000 + " ."
NO_SHAPE = "<http://e/s> a <http://www.w3.org/ns/shacl#NodeShape> ; <http://www.w3.org/ns/shacl#path> 'x' ."


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((kind, text) for kind in ("ontology", "shapes") for text in ("this is no Turtle", NESTED)),
        ("shapes", NO_SHAPE),
    ],
)
async def test_a_start_with_files_that_cannot_be_used_needs_earlier_rules_and_says_so(
    tmp_path: Path, kind: str, text: str
):
    folders(tmp_path)
    broken = tmp_path / kind / "broken.ttl"
    broken.write_text(text)
    for serves in (True, False):
        with pytest.raises(USER_ERRORS, match=r"broken|path"):
            async with build(settings_in(tmp_path), model=RecordedModel(), serves=serves):
                raise AssertionError("it opened")
    broken.unlink()
    async with build(settings_in(tmp_path), model=RecordedModel()) as services:
        good = services.rule_registry.current.versions
    broken.write_text(text)
    async with build(settings_in(tmp_path), model=RecordedModel()) as services:
        assert services.is_open
        assert services.rule_registry.current.versions == good
        assert services.rule_registry.problem


def test_a_command_that_only_queries_or_lists_opens_neither_shapes_nor_indexes(tmp_path: Path):
    folders(tmp_path)
    (tmp_path / "shapes" / "broken.ttl").write_text("this is no Turtle")
    settings = settings_in(tmp_path)
    settings.data.mkdir()
    with opened_api(settings) as api:
        answer = io.BytesIO()
        api.query("ASK { ?s a <http://www.w3.org/2002/07/owl#Class> }", "text/csv", answer)
        assert answer.getvalue()
        assert api.get("/review")["items"] == []
        with pytest.raises(ShapesError, match=r"broken\.ttl"):
            api.post("/extractions", {"text": "Columbia University is in New York."})


def imported_with(modules: str) -> set[str]:
    """All that is imported when these are, in a process of their own."""
    reported = subprocess.run(
        [sys.executable, "-c", f"import {modules}, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(reported.stdout.split())


def test_the_command_line_does_not_wait_for_the_libraries_that_a_query_does_not_need():
    heavy = {
        "numpy",
        "shapely",
        "pyproj",
        "rdflib",
        "pyshacl",
        "httpx",
        "fastapi",
        "extractors.pipeline",
        "sparql.ask.service",
    }
    assert not heavy & imported_with(
        "server.cli.query, server.cli.storage, server.cli.extract, server.cli.curation, server.cli.jobs"
    )


def test_every_command_is_found_by_its_name():
    group = get_command(command_line())
    assert isinstance(group, TyperGroup)
    assert group.commands.keys() == {*COMMANDS, *RESEARCH}
    for name, command in group.commands.items():
        alone = get_command(command_line(name))
        assert isinstance(alone, TyperGroup)
        assert alone.commands.keys() == {name}
        assert command.help


def test_a_server_without_the_folder_of_its_shapes_ends_and_says_why(tmp_path: Path):
    shapes = tmp_path / "shapes"
    done = urbankg("serve", "--data", str(tmp_path / "data"), "--port", "0", "--shapes", str(shapes))
    assert done.returncode == 2
    assert "no such folder" in done.stderr
    assert not (tmp_path / "data" / "server.json").exists()


async def test_what_still_reads_the_store_ends_before_it_is_closed(tmp_path: Path):
    reading = threading.Event()

    def read_slowly(services: Services) -> None:
        held_open = services.store.local.graph
        reading.set()
        threading.Event().wait(0.5)
        del held_open

    settings = Settings(data=tmp_path / "data", readers=1)
    async with build(settings, model=RecordedModel()) as services:
        services.background.start("read slowly", lambda: read_slowly(services))
        assert await asyncio.to_thread(reading.wait, 60)
    async with build(settings, model=RecordedModel()) as services:
        assert services.is_open


async def test_all_that_the_start_begins_in_the_background_is_begun_when_it_is_open(tmp_path: Path):
    services = build(Settings(data=tmp_path / "data", readers=1), model=RecordedModel())
    begun: list[str] = []
    services.background.start = lambda name, work: begun.append(name)  # type: ignore[method-assign]
    services.startup.started.add_done_callback(lambda started: begun.append("open"))
    async with services:
        assert begun == ["read the review queue", "open"]

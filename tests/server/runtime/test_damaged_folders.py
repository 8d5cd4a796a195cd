"""`urbankg serve` on a folder that is damaged or held: one line and exit code 2, before a write is taken."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from pyoxigraph import Literal, NamedNode, Quad

from server.errors import StateUnreadable
from server.http.access.keys import KeyStore, Scope
from server.jobs.store import Database
from server.running_server import announced, running_server
from server.stores import check_databases
from sparql.storage.embedded_store import EmbeddedStore
from tests.sparql.storage.test_damaged_files import (
    a_folder,
    emptied,
    largest,
    missing,
    scrambled,
    truncated,
    zeroed,
)
from tests.support.prepared_processes import urbankg
from tests.support.running_server import RunningServer

QUERY = "SELECT ?o { <http://example.org/s> <http://example.org/p> ?o }"
INSERT = {"content-type": "application/sparql-update"}


def serve(data: Path, *flags: str) -> str:
    """The line that `urbankg serve` ends with, which has to end with exit code 2."""
    done = urbankg("serve", "--data", str(data), "--port", "0", *flags)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("urbankg: ")
    assert len(done.stderr.splitlines()) == 1
    assert not (data / "server.json").is_file() or running_server(data) is not None
    return done.stderr


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that a server wrote to, with a key and a job."""
    data = tmp_path_factory.mktemp("served") / "data"
    with RunningServer(data) as server:
        update = "INSERT DATA { <http://example.org/s> <http://example.org/p> 'kept' }"
        assert httpx.post(server.url + "/update", content=update, headers=INSERT, timeout=60).is_success
    Database(data).close()
    keys = KeyStore(data)
    keys.create("operator", [Scope.ADMIN])
    keys.close()
    return data


@pytest.fixture
def data(served: Path, tmp_path: Path) -> Path:
    shutil.copytree(served, tmp_path / "data")
    return tmp_path / "data"


def test_a_second_server_on_a_folder_leaves_the_first_one_as_it_is(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with RunningServer(data) as first:
        update = "INSERT DATA { <http://example.org/s> <http://example.org/p> 'kept' }"
        assert httpx.post(first.url + "/update", content=update, headers=INSERT, timeout=60).is_success
        assert "Another process holds the store" in serve(data)
        assert json.loads((data / "server.json").read_text())["url"] == first.url
        found = urbankg("query", QUERY, "--data", str(data), "--format", "csv")
        assert found.stdout.split() == ["o", "kept"], found.stderr
        assert urbankg("backup", str(tmp_path / "backup"), "--data", str(data)).returncode == 0
    assert not (data / "server.json").exists()


def test_a_server_that_ends_leaves_the_address_of_the_one_that_came_after_it(tmp_path: Path) -> None:
    following = {"url": "http://127.0.0.1:1", "pid": os.getppid()}
    with announced(tmp_path, "http://127.0.0.1:2"):
        assert running_server(tmp_path) is not None
        (tmp_path / "server.json").write_text(json.dumps(following))
    assert json.loads((tmp_path / "server.json").read_text()) == following


@pytest.mark.parametrize("content", ["", "[]", "null", '{"url": "x", "pid": null}', "\0", '{"pid": 1}'])
def test_an_address_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "server.json").write_text(content)
    assert running_server(tmp_path) is None


@pytest.mark.parametrize(
    ("pattern", "damage"),
    [("CURRENT", scrambled), ("MANIFEST-*", truncated), ("*.sst", zeroed), ("*.sst", missing)],
)
def test_a_damaged_graph_ends_the_start(data: Path, pattern: str, damage: Callable[[Path], None]) -> None:
    damage(largest(data, pattern))
    reported = serve(data)
    assert str(data) in reported
    assert "urbankg restore" in reported


def test_other_commands_report_a_damaged_graph_in_the_same_way(data: Path) -> None:
    scrambled(largest(data, "*.sst"))
    for command in (["query", QUERY], ["optimize"]):
        done = urbankg(*command, "--data", str(data))
        assert done.returncode == 2, done.stderr
        assert "urbankg restore" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["jobs.sqlite", "state.sqlite"])
@pytest.mark.parametrize("damage", [truncated, a_folder])
def test_a_damaged_database_ends_the_start(data: Path, name: str, damage: Callable[[Path], None]) -> None:
    damage(data / name)
    reported = serve(data)
    assert str(data / name) in reported
    assert "urbankg restore" in reported


@pytest.mark.parametrize("place", ["changes", "server.json", "graph", "checkpoints/x"])
def test_something_else_in_the_place_of_a_file_or_folder(data: Path, place: str) -> None:
    if place == "checkpoints/x":
        # What is left of checkpoints is not needed, whatever it is.
        shutil.rmtree(data / "checkpoints", ignore_errors=True)
        (data / "checkpoints").write_text("a file")
        with RunningServer(data) as server:
            assert httpx.get(server.url + "/readyz", timeout=60).is_success
        return
    if place == "server.json":
        (data / place).mkdir()
    else:
        shutil.rmtree(data / place)
        (data / place).write_text("a file")
    assert str(data) in serve(data)


def rows(path: Path, count: int = 3000) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE filled (number INTEGER PRIMARY KEY, text TEXT)")
        connection.executemany(
            "INSERT INTO filled (text) VALUES (?)", [(f"text {n}" * 9,) for n in range(count)]
        )


def middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 8192] = os.urandom(8192)
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [truncated, scrambled, a_folder, middle])
def test_every_damage_to_a_database_is_found(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = tmp_path / "jobs.sqlite"
    rows(path)
    check_databases(tmp_path)
    damage(path)
    with pytest.raises(StateUnreadable, match=r"jobs\.sqlite"):
        check_databases(tmp_path)


@pytest.mark.parametrize("damage", [emptied, missing])
def test_a_database_that_holds_nothing_is_made_anew(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    Database(tmp_path).close()
    damage(tmp_path / "jobs.sqlite")
    check_databases(tmp_path)
    Database(tmp_path).close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("place", ["graph/CURRENT", "graph", "state.sqlite", "jobs.sqlite", "changes"])
def test_what_this_user_may_not_read_ends_the_start(data: Path, place: str) -> None:
    (data / place).chmod(0)
    try:
        assert str(data) in serve(data)
    finally:
        (data / place).chmod(0o755)


def test_damage_that_shows_when_it_is_read_is_a_problem_and_the_server_goes_on(tmp_path: Path) -> None:
    data, empty = tmp_path / "data", tmp_path / "empty"
    empty.mkdir()
    store = EmbeddedStore(data)
    predicate = NamedNode("http://example.org/p")
    store.bulk_add(
        Quad(NamedNode(f"http://example.org/{n:05}"), predicate, Literal(f"too long to be inlined {n:05}"))
        for n in range(20_000)
    )
    store.end_bulk()
    store.close()
    for path in (data / "graph").glob("*.sst"):
        content = bytearray(path.read_bytes())
        for place in range(4096, len(content) - 20_000, 8192):
            content[place : place + 16] = bytes(16)
        path.write_bytes(content)
    with RunningServer(data, "--ontology", str(empty), "--shapes", str(empty)) as server:
        # Damage after the first kilobytes breaks the connection: their status was sent with them.
        for query in ("SELECT * { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }"):
            try:
                answer = httpx.get(server.url + "/sparql", params={"query": query}, timeout=120)
            except httpx.RemoteProtocolError:
                continue
            assert answer.status_code == 500
        lookups = [f"SELECT ?o {{ <http://example.org/{n:05}> ?p ?o }}" for n in range(0, 20_000, 1000)]
        answers = [httpx.get(server.url + "/sparql", params={"query": q}, timeout=60) for q in lookups]
        failed = [answer.json() for answer in answers if not answer.is_success]
        assert {problem["title"] for problem in failed} == {"Store damaged"}
        assert "urbankg restore" in failed[0]["detail"]
        update = "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }"
        refused = httpx.post(server.url + "/update", content=update, headers=INSERT, timeout=120)
        assert (refused.status_code, refused.json()["title"]) == (500, "Store damaged")
        assert httpx.get(server.url + "/healthz", timeout=60).is_success

"""A server whose disk is full: it goes on reading, refuses writes in plain words, and recovers by itself."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import httpx
import pyoxigraph
import pytest

from tests.support.processes import family
from tests.support.running_server import PROGRAM, RunningServer

UPDATE = {"Content-Type": "application/sparql-update"}
JSON = {"Accept": "application/sparql-results+json"}
P = "<http://e/p>"


REFUSED: tuple[Callable[[str], httpx.Response], ...] = (
    lambda url: httpx.post(
        f"{url}/update", content=f"INSERT {{ ?s {P} 1 }} WHERE {{ ?s {P} ?o }}", headers=UPDATE, timeout=60
    ),
    lambda url: httpx.put(
        f"{url}/store?graph=http://e/g",
        content=f'<http://e/refused> {P} "{"x" * 50_000}" .',
        headers={"Content-Type": "text/turtle"},
        timeout=60,
    ),
    lambda url: httpx.post(
        f"{url}/candidates",
        json={
            "statements": [
                {
                    "subject": "http://e/refused",
                    "predicate": "http://www.w3.org/2000/01/rdf-schema#comment",
                    "object": {"type": "literal", "value": "x" * 50_000},
                }
            ]
        },
        timeout=60,
    ),
    lambda url: httpx.post(
        f"{url}/jobs",
        content=json.dumps({"text": "x" * 50_000}).encode(),
        headers={"Content-Type": "application/x-ndjson"},
        timeout=60,
    ),
)
"""An update that evaluates a pattern, a graph, a batch, and what is kept beside the graph in SQLite."""


class Disk(Protocol):
    """Where the server keeps its data."""

    folder: Path

    def fill(self, server: RunningServer) -> None: ...

    def make_room(self, server: RunningServer) -> None: ...


class SmallDisk:
    """A file system of its own, in memory and of 48 MB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", folder], check=True)

    def fill(self, server: RunningServer) -> None:
        with (self.folder / "filler").open("ab", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                return

    def make_room(self, server: RunningServer) -> None:
        (self.folder / "filler").unlink()

    def close(self) -> None:
        subprocess.run(["umount", "-l", self.folder], check=True)


class LimitedFiles:
    """The kernel refuses every byte that would make a file of the server's processes longer (RLIMIT_FSIZE).

    Needs no rights: it works where no file system can be mounted.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def fill(self, server: RunningServer) -> None:
        self._limit(server, 0)

    def make_room(self, server: RunningServer) -> None:
        self._limit(server, resource.RLIM_INFINITY)

    def _limit(self, server: RunningServer, most: int) -> None:
        for process in family(server.process.pid):
            resource.prlimit(process, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    def close(self) -> None:
        """Nothing to do."""


def can_mount(folder: Path) -> bool:
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True)
    if done.returncode == 0:
        subprocess.run(["umount", folder], check=True)
    return done.returncode == 0


@pytest.fixture(params=["a full disk", pytest.param("a limit on files", marks=pytest.mark.slow)])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    small = request.param == "a full disk" and os.geteuid() == 0 and can_mount(tmp_path / "try")
    made = SmallDisk(tmp_path / "disk") if small else LimitedFiles(tmp_path / "disk")
    yield made
    made.close()


@pytest.fixture
def server(disk: Disk, tmp_path: Path) -> Iterator[RunningServer]:
    # The limit is set for the children of the server.
    program = PROGRAM if isinstance(disk, LimitedFiles) else ()
    with RunningServer(disk.folder / "data", log=tmp_path / "log", program=program) as server:
        yield server


def insert(server: RunningServer, name: str, size: int = 10) -> httpx.Response:
    text = f'INSERT DATA {{ <http://e/{name}> {P} "{"x" * size}" }}'
    return httpx.post(f"{server.url}/update", content=text, headers=UPDATE, timeout=60)


def names(server: RunningServer, how: str) -> httpx.Response:
    """All that was written, by a worker process, as one of the answers that a server has."""
    query = f"SELECT ?s WHERE {{ ?s {P} ?o FILTER(isIRI(?s)) }}"
    if how == "a dump":
        return httpx.get(
            f"{server.url}/store?default", headers={"Accept": "application/n-triples"}, timeout=60
        )
    if how == "a page":
        return httpx.get(
            f"{server.url}/sparql",
            params={"query": query},
            headers={**JSON, "Origin": "http://e"},
            timeout=60,
        )
    return httpx.post(
        f"{server.url}/sparql", content=query, headers={**JSON, "Content-Type": "application/sparql-query"}
    )


def fill_by_writing(server: RunningServer, disk: Disk) -> list[str]:
    """Fill the disk, and write until the store says so; what was acknowledged by then."""
    disk.fill(server)
    written = []
    for number in range(200):
        answer = insert(server, f"late{number}", 2000)
        if answer.status_code != 200:
            assert_full(answer)
            return written
        written.append(f"late{number}")
    raise AssertionError("the disk never got full")


def fill_what_is_freed(server: RunningServer, disk: Disk) -> list[str]:
    """Fill also what the database frees when it is opened anew; what was acknowledged by then."""
    written: list[str] = []
    refused = 0
    while refused < 6:
        disk.fill(server)
        # A small write fits where a large one does not.
        answer = insert(server, f"freed{len(written)}", 50_000 if refused < 3 else 10)
        if answer.status_code == 200:
            written.append(f"freed{len(written)}")
            refused = 0
        else:
            assert_full(answer)
            refused += 1
        assert len(written) < 50, "the disk never stays full"
    return written


def assert_full(answer: httpx.Response) -> None:
    assert answer.status_code == 507, answer.text
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert "disk" in answer.json()["detail"]
    assert "full" in answer.json()["detail"]


def test_reads_go_on_and_say_so_when_they_may_miss_a_write(server: RunningServer, disk: Disk) -> None:
    ways = ("a query", "a dump", "a page")
    for number in range(20):
        assert insert(server, f"early{number}").status_code == 200
    for how in ways:
        assert "http://e/early19" in names(server, how).text
    written = fill_by_writing(server, disk)
    for how in ways * 3:
        answer = names(server, how)
        assert answer.status_code == 200, how
        assert "http://e/early19" in answer.text, how
        complete = all(f"http://e/{name}" in answer.text for name in written)
        assert complete or "full" in answer.headers["warning"], how


def test_a_worker_that_never_read_before_reads_on_the_full_disk_too(
    server: RunningServer, disk: Disk
) -> None:
    written = fill_by_writing(server, disk)
    answer = names(server, "a query")
    assert answer.status_code == 200
    assert all(f"http://e/{name}" in answer.text for name in written) or "full" in answer.headers["warning"]


def test_writes_of_every_kind_are_refused_as_507_and_come_back_with_the_room(
    server: RunningServer, disk: Disk
) -> None:
    assert insert(server, "before").status_code == 200
    written = fill_by_writing(server, disk)
    written += fill_what_is_freed(server, disk)
    for refuse in REFUSED:
        disk.fill(server)
        assert_full(refuse(server.url))
    disk.make_room(server)
    assert insert(server, "after").status_code == 200
    found = names(server, "a query")
    assert "warning" not in found.headers
    expected = {"before", "after", *written}
    assert {row["s"]["value"] for row in found.json()["results"]["bindings"]} == {
        f"http://e/{name}" for name in expected
    }
    # As it is on the disk: nothing that was acknowledged is lost, and nothing that was refused is there.
    server.kill()
    graph = pyoxigraph.Store.read_only(str(server.data / "graph"))
    held = graph.quads_for_pattern(None, pyoxigraph.NamedNode("http://e/p"), None, pyoxigraph.DefaultGraph())
    assert {quad.subject.value for quad in held} == {f"http://e/{name}" for name in expected}

"""`urbankg relate --bulk` as it is typed: on a graph, on a file, ended in the middle, on a cluster."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pyoxigraph
import pytest
import shapely
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple
from typer.testing import CliRunner

from server.cli import relating
from server.cli.app import command_line
from server.problem_map import USER_ERRORS
from server.running_server import announced
from sparql.model.change import Change, Statement
from sparql.model.vocabulary import DERIVED, GEO, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.support.waiting import wait_until

EX = Namespace("http://example.org/")
ROOT = Path(__file__).parents[3]
# Squares of two, one after the other: each touches the next and overlaps the one half a step on.
SIDE = 12


def squares() -> Iterator[tuple[NamedNode, shapely.Polygon]]:
    for x in range(SIDE):
        for y in range(SIDE):
            yield EX.term(f"{x}-{y}"), shapely.box(x, y, x + 1 + y % 2, y + 1)


def graph_without_relations(folder: Path) -> set[Triple]:
    """Fill a folder with squares past the deriver; the relations that belong to them."""
    triples = []
    for feature, square in squares():
        node = NamedNode(feature.value + "/geometry")
        triples.append(Triple(feature, GEO.hasDefaultGeometry, node))
        triples.append(Triple(node, GEO.asWKT, Literal(square.wkt, datatype=GEO.wktLiteral)))
    change = Change(additions=tuple(map(Statement, triples)))
    with_relations = EmbeddedStore()
    Writer(with_relations, deriver=SpatialRelations()).commit(change)
    store = EmbeddedStore(folder)
    Writer(store).commit(change)
    store.close()
    return derived(with_relations)


def derived(store: EmbeddedStore) -> set[Triple]:
    found = {quad.triple for quad in store.match_quads(None, None, None, DERIVED)}
    assert all(store.contains(Quad(t.subject, t.predicate, t.object)) for t in found)
    return found


def derived_in(folder: Path) -> set[Triple]:
    store = EmbeddedStore(folder)
    try:
        return derived(store)
    finally:
        store.close()


def geoparquet(path: Path, identifiers: list[str | None] | None = None, *, crs: object = "absent") -> Path:
    rows = list(squares())
    column: dict[str, object] = {"encoding": "WKB", "geometry_types": ["Polygon"]}
    if crs != "absent":
        column["crs"] = crs
    geo = {"version": "1.1.0", "primary_column": "shape", "columns": {"shape": column}}
    table = pyarrow.table(
        {
            "iri": identifiers or [feature.value for feature, _ in rows],
            "shape": [shapely.to_wkb(square) for _, square in rows],
        }
    )
    pyarrow.parquet.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
    return path


def relate(data: Path, *arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(command_line(), ["--data", str(data), "relate", "--bulk", *map(str, arguments)])
    if code == 2:
        assert isinstance(done.exception, USER_ERRORS), done.output
        return str(done.exception)
    assert done.exit_code == code, done.output + repr(done.exception)
    return done.stderr


def test_a_graph_is_related_on_processes_of_this_machine(tmp_path: Path) -> None:
    expected = graph_without_relations(tmp_path / "data")
    reported = relate(tmp_path / "data", "--workers", 2, "--strip", 40)
    assert f"{SIDE * SIDE} features: {len(expected)} relations, {len(expected)} of them new" in reported
    assert derived_in(tmp_path / "data") == expected
    assert list((tmp_path / "data" / "relate").iterdir()) == []


def test_a_geoparquet_file_is_related_into_a_file(tmp_path: Path) -> None:
    expected = graph_without_relations(tmp_path / "other")
    file = geoparquet(tmp_path / "squares.parquet")
    output = tmp_path / "relations.nt"
    relate(tmp_path / "data", "--workers", 1, "--input", file, "--id", "iri", "--output", output)
    found = pyoxigraph.parse(path=output, format=RdfFormat.N_TRIPLES)
    assert {quad.triple for quad in found} == expected


@pytest.mark.parametrize(
    ("crs", "identifiers", "flags", "message"),
    [
        ("absent", None, ("--id", "name"), "has no column 'name'; it has iri"),
        (
            "absent",
            ["no iri", *["http://e/"] * (SIDE * SIDE - 1)],
            ("--id", "iri"),
            "feature 1: 'iri' is not an IRI",
        ),
        (None, None, ("--id", "iri"), "reference system is unknown"),
        ("EPSG:99", None, ("--id", "iri"), "not understood: EPSG:99"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported_with_its_place(
    tmp_path: Path, crs: object, identifiers: list[str | None] | None, flags: tuple[str, ...], message: str
) -> None:
    file = geoparquet(tmp_path / "squares.parquet", identifiers, crs=crs)
    error = relate(tmp_path / "data", "--input", file, "--output", tmp_path / "out.nt", *flags, code=2)
    assert str(file) in error
    assert message in error
    assert not (tmp_path / "out.nt").exists()


def test_a_parquet_file_without_geometry_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "plain.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [1]}), file)
    assert "not GeoParquet" in relate(tmp_path, "--input", file, "--output", tmp_path / "o.nt", code=2)


def test_a_folder_without_a_graph_is_reported(tmp_path: Path) -> None:
    assert "no graph" in relate(tmp_path / "data", code=2)


def test_a_folder_that_a_server_holds_is_refused(tmp_path: Path) -> None:
    graph_without_relations(tmp_path)
    with announced(tmp_path, "http://127.0.0.1:8123"):
        error = relate(tmp_path, code=2)
    assert "http://127.0.0.1:8123" in error
    assert "Stop it first" in error


@pytest.mark.slow
def test_what_was_finished_before_kill_9_is_not_done_again(tmp_path: Path) -> None:
    expected = graph_without_relations(tmp_path / "data")
    command = [sys.executable, "-m", "server", "relate", "--bulk", "--data", str(tmp_path / "data")]
    command += ["--workers", "1", "--strip", "1"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until(lambda: len(kept(tmp_path / "data")) >= 5 or process.poll() is not None, every_s=0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = kept(tmp_path / "data")
    assert 5 <= len(finished) < SIDE * SIDE
    reported = relate(tmp_path / "data", "--workers", 1, "--strip", 1)
    assert f"{len(finished)} of {SIDE * SIDE} strips are done already" in reported
    assert derived_in(tmp_path / "data") == expected


@pytest.mark.slow
def test_a_graph_is_related_on_a_dask_cluster(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    expected = graph_without_relations(tmp_path / "data")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask")
    ) as cluster:
        relate(tmp_path / "data", "--dask", cluster.scheduler_address, "--strip", 20)
    assert derived_in(tmp_path / "data") == expected


@pytest.mark.slow
def test_workers_end_with_the_run_that_was_killed(tmp_path: Path) -> None:
    graph_without_relations(tmp_path / "data")
    command = [sys.executable, "-m", "server", "relate", "--bulk", "--data", str(tmp_path / "data")]
    process = subprocess.Popen(
        [*command, "--workers", "2", "--strip", "1"],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until(lambda: len(kept(tmp_path / "data")) >= 5 or process.poll() is not None, every_s=0.01)
    process.kill()
    process.wait()
    wait_until(lambda: not is_group(process.pid), seconds=10)
    assert not is_group(process.pid)


@pytest.mark.slow
@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""])
def test_an_address_where_something_else_answers_is_reported(tmp_path: Path, answer: bytes) -> None:
    pytest.importorskip("distributed")
    graph_without_relations(tmp_path / "data")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"tcp://127.0.0.1:{listening.getsockname()[1]}"
        threading.Thread(target=answer_all, args=(listening, answer), daemon=True).start()
        begun = time.monotonic()
        reported = relate(tmp_path / "data", "--dask", address, code=2)
    assert f"No Dask scheduler answers at {address}" in reported
    assert time.monotonic() - begun < 20


def test_who_ends_a_run_is_reported_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(relating, "relate_graph", interrupted)
    assert "the same command continues from there" in relate(tmp_path / "data", "--workers", 1, code=130)


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    graph_without_relations(tmp_path / "data")
    assert "No Dask scheduler answers" in relate(tmp_path / "data", "--dask", "tcp://127.0.0.1:9", code=2)


def is_group(number: int) -> bool:
    """Whether a process of this group is left."""
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


def answer_all(listening: socket.socket, answer: bytes) -> None:
    """Answer every connection until the socket is closed, and keep all of them open."""
    connections = []
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            connection.sendall(answer)
            connections.append(connection)


def kept(data: Path) -> list[Path]:
    return list((data / "relate").glob("*/strip-*.npz"))

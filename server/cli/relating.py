"""RCC8 of all features in strips, on a process pool or a Dask cluster, with progress reports."""

import gzip
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.status import Status
from shapely.geometry.base import BaseGeometry

from server.cli.output import progress_bar, stderr
from server.data.feature_files import parquet_layer, refused
from server.errors import ServerError
from server.jobs.cluster import dask_client
from server.running_server import running_server
from server.settings import Settings
from sparql.model.errors import StoreUnreadable, TileLost
from sparql.model.geometry import Tolerances
from sparql.spatial.tiled_run import TiledRun, commit_run, open_run, relation_triples
from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers.limits import die_with_parent
from sparql.writing.writer import Writer

_FOLDER = "relate"
# Queued strips per worker: enough that none is idle, few enough for memory.
_STRIPS_A_WORKER = 2
_REPORTED_EVERY = 10_000


def relate_graph(settings: Settings, executor: Executor, workers: int, strip: int) -> None:
    """Recompute the relations of a folder. Raises ServerError for a folder held by a server."""
    server = running_server(settings.data)
    if server is not None:
        raise ServerError(
            f"A server at {server.url} holds {settings.data} and keeps its relations current. Stop it first "
            "to recompute everything, or relate a GeoParquet file with --input and --output."
        )
    if settings.store_url is not None:
        raise ServerError(
            f"The graph is in the store at {settings.store_url}; relate a GeoParquet file with --input and "
            "--output, and load the result."
        )
    if not (settings.data / "graph").is_dir():
        raise StoreUnreadable(settings.data, "there is no graph in it")
    store = EmbeddedStore(settings.data, durability=settings.durability)
    try:
        with stderr.status("reading the features") as status:
            run = open_run(
                store,
                settings.data / _FOLDER,
                tolerances=settings.tolerances,
                features_per_tile=strip,
                on_geometry=_counting(status),
            )
        _work(run, executor, workers)
        with stderr.status("committing the relations"):
            done = commit_run(Writer(store), store, run)
        run.remove()
    finally:
        store.close()
    stderr.print(
        f"{run.features} features: {done.relations} relations, {done.added} of them new, "
        f"{done.removed} removed; revision {done.revision}"
    )


def relate_file(
    settings: Settings,
    source: Path,
    identifier: str,
    output: Path,
    executor: Executor,
    workers: int,
    strip: int,
) -> None:
    """Write the relations of a GeoParquet file to an N-Triples file; the graph is not touched."""
    run = TiledRun(
        settings.data / f"{_FOLDER}-file",
        _features(source, identifier),
        tolerances=Tolerances(settings.tolerance_m),
        features_per_tile=strip,
    )
    _work(run, executor, workers)
    written = 0

    def counted() -> Iterator[pyoxigraph.Triple]:
        nonlocal written
        for triple in relation_triples(run.pairs()):
            written += 1
            yield triple

    partial = output.with_name(output.name + ".partial")
    with _opened(partial, compressed=output.suffix == ".gz") as file:
        pyoxigraph.serialize(counted(), file, format=RdfFormat.N_TRIPLES)
    partial.replace(output)
    run.remove()
    stderr.print(f"{run.features} features: {written} relations in {output}", markup=False)


def _features(path: Path, identifier: str) -> Iterator[tuple[str, BaseGeometry]]:
    file = parquet_layer(path)
    columns = file.columns or ()
    if identifier not in columns:
        raise ServerError(
            f"{path} has no column '{identifier}'; it has {', '.join(columns)}. Name one with --id."
        )
    for record in file.records():
        if record.fault is not None:
            raise refused(path, record.number, record.fault)
        try:
            node = NamedNode(str(record.values[identifier]))
        except ValueError as error:
            raise refused(path, record.number, f"'{identifier}' is not an IRI: {error}") from error
        if record.geometry is not None:
            yield str(node), record.geometry


def _work(run: TiledRun, executor: Executor, workers: int) -> None:
    if run.resumed and run.finished:
        stderr.print(f"{run.finished} of {len(run)} strips are done already; continuing from there")
    pairs = 0
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("strips"),
        TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[pairs]:,} pairs"),
    )  # fmt: skip
    with progress_bar(*columns) as progress:
        task = progress.add_task("relating", total=len(run), pairs=0)

        def on_tile(done: int, total: int, looked_at: int) -> None:
            nonlocal pairs
            pairs += looked_at
            progress.update(task, completed=done, total=total, pairs=pairs)

        run.run(executor, at_once=_STRIPS_A_WORKER * workers, on_tile=on_tile)


@contextmanager
def executor_of(workers: int | None, address: str | None) -> Iterator[tuple[Executor, int]]:
    """Processes of this machine, or those of a Dask cluster; and how many."""
    if address is None:
        processes = workers or os.cpu_count() or 1
        # An idle worker would not notice that this process was killed, and wait forever.
        with ProcessPoolExecutor(
            processes, mp_context=multiprocessing.get_context("spawn"), initializer=die_with_parent
        ) as pool:
            yield pool, processes
        return
    stderr.print(f"connecting to the Dask scheduler at {address}", markup=False)
    with dask_client(address) as (client, threads):
        from distributed import KilledWorker

        try:
            with client.get_executor(pure=False) as executor:
                yield executor, threads
        except KilledWorker as error:
            raise TileLost(str(error)) from error


@contextmanager
def _opened(path: Path, *, compressed: bool) -> Iterator[IO[bytes]]:
    with gzip.open(path, "wb") if compressed else path.open("wb") as file:
        yield file  # type: ignore[misc]


def _counting(status: Status) -> Callable[[], None]:
    """Called for each geometry; updates the count from time to time."""
    numbers = count(1)

    def one() -> None:
        number = next(numbers)
        if number % _REPORTED_EVERY == 0:
            status.update(f"reading the features: {number:,} geometries")

    return one

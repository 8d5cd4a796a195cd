"""The commands of an operator: `urbankg load | dump | backup | restore | optimize`."""

import asyncio
import gzip
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Event
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)

from server.cli.api import Api, RemoteFailed, opened_api
from server.cli.invocation import on_folder, on_store, with_settings
from server.cli.output import counting, iri, print_json, progress_bar, stderr, working
from server.data.loading import LoadResult
from server.data.rdf_files import LoadError, RdfFile, rdf_files, split_features
from server.data.storage import Loader, check_graph
from server.running_server import running_server
from server.services import Services
from server.settings import Settings
from sparql.protocol.formats import BY_NAME, GRAPH_FORMATS, WITH_PREFIXES, Format, choose_by_name
from sparql.storage.backup import back_up, partial_of, restore
from sparql.storage.dump import write_dump
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer

if TYPE_CHECKING:
    from server.data.feature_loading import FeatureFiles

_PIECE = 64 * 1024


class LoadEnded(LoadError):
    """The load of features was interrupted with Ctrl-C."""

    def __init__(self, *, bulk: bool) -> None:
        kept = "Nothing was loaded." if bulk else "Committed features stay; the same command loads the rest."
        super().__init__(f"The load was ended. {kept}")


@with_settings()
def load(
    settings: Settings,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="RDF files, folders or patterns; with --mapping also GeoJSON, GeoPackage ..."),
    ] = None,
    partial: Annotated[bool, typer.Option(help="Load what conforms, refuse the rest.")] = False,
    sample: Annotated[bool, typer.Option("--sample", help="Load the sample city as well.")] = False,
    bulk: Annotated[
        bool, typer.Option("--bulk", help="Past the gate, at full speed; the shapes are run afterwards.")
    ] = False,
    report: Annotated[bool, typer.Option(help="After a bulk load, run the shapes over everything.")] = True,
    mapping: Annotated[
        Path | None, typer.Option(help="TOML file that says how features of the files become statements.")
    ] = None,
) -> int:
    """Load RDF files through the gate, each as a whole; features through a mapping, in batches."""
    if not files and not sample:
        raise typer.BadParameter("Give at least one file, or --sample.")
    features, others = split_features(files or [])
    found = rdf_files(others)
    mapped = _mapped(features, mapping, settings.base_iri) if features else None
    wanted = {"partial": partial, "sample": sample, "bulk": bulk, "report": report}
    if bulk:
        stderr.print("The gate is deferred: everything is loaded first and judged at the end.")

    if running_server(settings.data) is not None:
        paths = [*(file.path for file in found), *features]
        message = {"files": [str(path.resolve()) for path in paths], **wanted}
        message["mapping"] = None if mapping is None else str(mapping.resolve())
        loads = _loaded_by_server(settings, message)
        return _print_outcomes(loads, bulk=bulk, partial=partial)

    async def here(services: Services) -> int:
        ended = Event()
        work = asyncio.ensure_future(asyncio.to_thread(_load, services, found, mapped, ended, **wanted))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            # The store is closed only after the commit in progress is finished.
            ended.set()
            return await work

    try:
        return on_folder(settings, here, Services.writing if bulk else lambda services: services, new=True)
    except LoadEnded as error:
        stderr.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(130) from error


def _loaded_by_server(settings: Settings, message: dict[str, Any]) -> list[LoadResult]:
    with opened_api(settings) as api, working(f"the server at {api.url} loads"):
        try:
            answer = api.post("/loads", message, timeout=None)
        except RemoteFailed as error:
            if "loads" not in error.problem:
                raise
            answer = dict(error.problem)
    return [LoadResult(**found) for found in answer["loads"]]


@with_settings()
def dump(
    settings: Settings,
    file: Annotated[
        Path | None, typer.Argument(help="File to write, .gz compresses; standard output when not given.")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="nquads, trig, jsonld, ntriples, turtle, rdfxml.")
    ] = None,
    graph: Annotated[str | None, typer.Option(help="IRI of one graph; a system graph as well.")] = None,
) -> None:
    """Write the default graph and clients' named graphs, or one graph, as RDF."""
    chosen = _dump_format(format_, file)
    name = None if graph is None else iri(graph)
    parameters = {"format": chosen.name, **({} if graph is None else {"graph": graph})}

    def through_server(api: Api) -> None:
        with _writing(file), _output(file) as output:
            api.download("GET", "/dump", output, params=parameters)

    def here(store: EmbeddedStore) -> None:
        check_graph(store, name)
        with _writing(file), _output(file) as output:
            write_dump(store.graph, output, chosen, name, _prefixes(settings, chosen))

    on_store(settings, through_server, here)


@with_settings()
def backup(
    settings: Settings,
    folder: Annotated[Path, typer.Argument(help="A new folder for the backup.")],
) -> int | None:
    """Write a consistent backup of the graph and everything beside it, also for a running server."""

    def through_server(api: Api) -> int:
        with working(f"the server at {api.url} backs up", partial_of(folder)):
            written = api.post("/backup", {"folder": str(folder.resolve())}, timeout=None)
        return print_json(written)

    def here(store: EmbeddedStore) -> int:
        with working("backing up", partial_of(folder)):
            written = back_up(store, Writer(store), folder).json()
        return print_json(written)

    return on_store(settings, through_server, here)


@with_settings()
def restore_command(
    settings: Settings,
    folder: Annotated[Path, typer.Argument(help="The folder that `backup` wrote.")],
) -> None:
    """Restore a backup into the data folder, which must be empty or new."""
    with working("restoring", partial_of(settings.data)):
        restored = restore(folder, settings.data)
    stderr.print(f"{settings.data}: revision {restored.revision}, as backed up at {restored.taken_at}")


@with_settings()
def optimize(settings: Settings) -> None:
    """Compact the store's files, for faster reads after many writes."""

    def through_server(api: Api) -> None:
        with working(f"the server at {api.url} optimizes"):
            api.post("/optimize", timeout=None)

    def here(store: EmbeddedStore) -> None:
        with working("optimizing"):
            store.optimize()

    on_store(settings, through_server, here)


def _load(
    services: Services,
    files: Sequence[RdfFile],
    mapped: "FeatureFiles | None",
    ended: Event,
    *,
    partial: bool,
    sample: bool,
    bulk: bool,
    report: bool,
) -> int:
    loaded = []
    if sample:
        loaded.append(load_sample(services))
    if files:
        with _bytes_bar() as progress:
            task = progress.add_task("", total=sum(file.size for file in files), what="loading")
            loader = Loader(
                services,
                on_bytes=lambda read: progress.advance(task, read),
                say=lambda what: progress.update(task, what=what),
            )
            if bulk:
                loaded.append(loader.in_bulk(files, partial=partial, report=report))
            else:
                loaded += loader.through_gate(files, partial=partial)
    if mapped is not None:
        with counting("{task.description}") as progress:
            task = progress.add_task("features", total=mapped.count)

            def counted(features: int) -> None:
                progress.advance(task, features)
                if ended.is_set():
                    raise LoadEnded(bulk=bulk)

            loader = Loader(
                services, on_features=counted, say=lambda what: progress.update(task, description=what)
            )
            if bulk:
                loaded.append(loader.features_in_bulk(mapped, partial=partial, report=report))
            else:
                loaded.append(loader.features_through_gate(mapped, partial=partial))
    code = _print_outcomes(loaded, bulk=bulk, partial=partial)
    stderr.print(f"Peak memory: {_peak_mb():.0f} MB")
    return code


def load_sample(services: Services) -> LoadResult:
    """Load the sample city with a progress bar."""
    with counting("sample city: statements judged, related, committed") as progress:
        task = progress.add_task("", total=None)
        return Loader(services).sample(lambda done, total: progress.update(task, completed=done, total=total))


def _peak_mb() -> float:
    """The peak memory of this process.

    The kernel counts it since the program began; getrusage(2) counts what the process had before, as a part
    of the one that started it.
    """
    with suppress(OSError, IndexError):
        status = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(status.partition("VmHWM:")[2].split()[0]) / 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def _mapped(features: Sequence[Path], mapping: Path | None, base: str) -> "FeatureFiles":
    # The libraries for feature files are large, and other commands do not need them.
    from server.data.feature_loading import feature_files

    return feature_files(features, mapping, base)


def _print_outcomes(loaded: Sequence[LoadResult], *, bulk: bool, partial: bool) -> int:
    """Print the result of each load on standard error; 1 when something was refused, left out or violates."""
    for result in loaded:
        stderr.print(
            f"{result.name}: {result.accepted} statements accepted, {result.refused} refused, "
            f"{result.derived} relations derived",
            markup=False,
        )
        if bulk and result.results:
            stderr.print(
                f"Report on everything: {result.results} results, {result.violations} of them violations."
            )
        if result.examples:
            stderr.print(result.examples, markup=False, soft_wrap=True)
        if result.hint:
            stderr.print(result.hint, markup=False, soft_wrap=True)
        if result.refused and not partial and not bulk:
            stderr.print("Nothing of this file was loaded; --partial loads the conforming part.")
    return 1 if any(result.refused or result.violations or result.left_out for result in loaded) else 0


def _dump_format(name: str | None, file: Path | None) -> Format:
    if name is not None:
        return choose_by_name(name, GRAPH_FORMATS)
    plain = Path() if file is None else file.with_suffix("") if file.suffix == ".gz" else file
    suffix = plain.suffix.lstrip(".").lower()
    by_suffix = next((known for known in GRAPH_FORMATS if suffix and known.answers_to(suffix)), None)
    return by_suffix or BY_NAME["nquads"]


def _prefixes(settings: Settings, format_: Format) -> Mapping[str, str]:
    """The prefixes of the ontology, for a format that has any."""
    if format_.name not in WITH_PREFIXES:
        return {}
    # Takes a while, and other formats do not need it.
    from ontology import Schema
    from server.settings_loading import SHIPPED_ONTOLOGY

    return Schema.load(settings.ontology or SHIPPED_ONTOLOGY).prefixes


def _writing(file: Path | None) -> AbstractContextManager[object]:
    """Says that a file is written; nothing where the dump itself goes to the terminal."""
    return nullcontext() if file is None else working(f"writing {file}", partial_of(file))


@contextmanager
def _output(file: Path | None) -> Iterator[IO[bytes]]:
    """The file, which appears only when it is complete, or standard output."""
    if file is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    partial = partial_of(file)
    try:
        with gzip.open(partial, "wb", 6) if file.suffix == ".gz" else partial.open("wb", _PIECE) as output:
            yield output  # type: ignore[misc]
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def _bytes_bar() -> Progress:
    return progress_bar(
        TextColumn("{task.fields[what]}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
    )

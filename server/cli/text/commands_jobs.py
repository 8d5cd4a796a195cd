"""`urbankg jobs add | run | list | show | watch | pause | resume | cancel | retry | forget`.

On a folder that a server holds, the commands talk to that server. Without one, jobs are kept and wait for the
next `urbankg serve`; `jobs run` works on them at once.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from extractors.prompting.methods import requested_method
from server.cli.invocation import finish, on_folder, settings_of
from server.cli.running_server import running_server
from server.errors import ServerError
from server.jobs.body import accept, reader_of, records_of_files
from server.jobs.job import DocumentState, JobRequest
from server.jobs.job_client import JobDesk, ServedJobs, StoredJobs
from server.jobs.store import JobStore
from server.runtime.context import Services
from server.runtime.settings import Settings

jobs_app = typer.Typer(no_args_is_help=True, help="Extract from many documents.")
_told = Console(stderr=True, highlight=False, soft_wrap=True)
_TOLD_EVERY_S = 5.0

Data = Annotated[Path | None, typer.Option("--data", help="Folder of the graph.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Identifier = Annotated[str, typer.Argument(metavar="JOB", help="Identifier of the job.")]
FILES = "JSON lines (.jsonl, .ndjson), JSON, CSV, or texts (.txt, .md); .gz is unpacked."
Files = Annotated[list[Path], typer.Argument(help=FILES)]
Name = Annotated[str | None, typer.Option(help="What to call the job; the first file's name if not given.")]
Source = Annotated[str | None, typer.Option(help="The source of documents without one of their own.")]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Most documents in work at a time.")]
Again = Annotated[bool, typer.Option("--again", help="Extract also what the graph has already.")]
Reading = Annotated[str | None, typer.Option("--method", help="How to read: fast, thorough ...")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")]


@jobs_app.command()
def add(
    context: typer.Context,
    files: Files,
    data: Data = None,
    config: Config = None,
    name: Name = None,
    source: Source = None,
    concurrency: Concurrency = None,
    again: Again = False,
    method: Reading = None,
    paused: Annotated[bool, typer.Option("--paused", help="Keep it until `resume`.")] = False,
    watch_it: Annotated[bool, typer.Option("--watch", help="Follow it to its end.")] = False,
) -> None:
    """Make one job of the documents of these files, and print its identifier."""
    settings = settings_of(context, data=data, config=config).settings
    for path in files:
        reader_of(path)
    requested_method(method)
    request = JobRequest(name or files[0].name, source, concurrency, again, paused, method=method)
    with _desk(settings) as desk:
        job = desk.add(records_of_files(files, longest=settings.max_text_chars), request)
        print(job["id"])
        _told.print(f"{job['total']} documents are kept", markup=False)
        if isinstance(desk, StoredJobs):
            _told.print("No server holds the folder: `urbankg serve` or `urbankg jobs run` works on them.")
        elif watch_it:
            finish(_follow(desk, job["id"]))


@jobs_app.command()
def run(
    context: typer.Context,
    files: Annotated[list[Path] | None, typer.Argument(help=FILES)] = None,
    data: Data = None,
    config: Config = None,
    name: Name = None,
    source: Source = None,
    concurrency: Concurrency = None,
    again: Again = False,
    method: Reading = None,
    dask: Annotated[
        str | None, typer.Option(help="Scheduler of a Dask cluster, tcp://host:port, whose workers extract.")
    ] = None,
    model_url: Annotated[str | None, typer.Option("--model-url", help="TGI-compatible server.")] = None,
) -> None:
    """Work on the jobs of a folder that no server holds, and on these files, until all are done."""
    settings = settings_of(context, data=data, config=config, model_url=model_url).settings
    server = running_server(settings.data, settings.api_key)
    if server is not None:
        raise ServerError(
            f"A server at {server.url} holds {settings.data} and works on its jobs. Use `urbankg jobs add`; "
            "for a Dask cluster, start the server with the setting job_cluster."
        )
    for path in files or ():
        reader_of(path)
    requested_method(method)
    if dask is not None:
        settings = settings.model_copy(update={"job_cluster": dask})

    async def here(services: Services) -> int:
        if files:
            request = JobRequest(name or files[0].name, source, concurrency, again, method=method)
            records = records_of_files(files, longest=settings.max_text_chars)
            job = await asyncio.to_thread(accept, services.jobs, request, records)
            print(job.identifier)
        return await _work(services)

    finish(on_folder(settings, here))


@jobs_app.command("list")
def list_jobs(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to show.")] = 50,
    as_json: AsJson = False,
) -> None:
    """The jobs, newest first."""
    with _desk(settings_of(context, data=data, config=config).settings) as desk:
        page = desk.jobs(offset, limit)
    if as_json:
        _print_json(page)
        return
    # Whole in a narrow terminal too: the other commands ask for it.
    identifier = Column("id", no_wrap=True, min_width=32)
    table = Table(identifier, "name", "state", "finished", "documents", "created")
    for job in page["jobs"]:
        finished = f"{job['finished']} of {job['total']}"
        table.add_row(job["id"], job["name"] or "", job["state"], finished, _states(job), job["created"][:19])
    Console().print(table)
    _told.print(f"{len(page['jobs'])} of {page['total']}")


@jobs_app.command()
def show(
    context: typer.Context,
    job: Identifier,
    data: Data = None,
    config: Config = None,
    state: Annotated[
        DocumentState | None, typer.Option(help="List the documents in this state as well.")
    ] = None,
    offset: Annotated[int, typer.Option(min=0, help="How many documents to pass over.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many documents to show.")] = 50,
) -> None:
    """One job as JSON; with --state also its documents in that state, and what they failed of."""
    with _desk(settings_of(context, data=data, config=config).settings) as desk:
        found = desk.job(job)
        if state is not None:
            found["listed"] = desk.documents(job, state.value, offset, limit)["documents"]
    _print_json(found)


@jobs_app.command()
def watch(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Follow a job to its end; exit code 1 when a document failed, or it was cancelled."""
    with _desk(settings_of(context, data=data, config=config).settings) as desk:
        finish(_follow(desk, job))


@jobs_app.command()
def pause(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Begin and commit no more of a job for now."""
    _act(context, "pause", job, data, config)


@jobs_app.command()
def resume(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Go on with a paused job."""
    _act(context, "resume", job, data, config)


@jobs_app.command()
def cancel(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """End a job; what it committed stays."""
    _act(context, "cancel", job, data, config)


@jobs_app.command()
def retry(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Take up again what failed or was rejected."""
    _act(context, "retry", job, data, config)


@jobs_app.command()
def forget(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Forget a finished job; its documents stay in the graph."""
    _act(context, "forget", job, data, config)


def _act(context: typer.Context, what: str, job: str, data: Path | None, config: Path | None) -> None:
    with _desk(settings_of(context, data=data, config=config).settings) as desk:
        told = desk.act(what, job)
    _told.print(f"{job}: forgotten" if told is None else f"{job}: {told['state']}, {_states(told)}")


@contextmanager
def _desk(settings: Settings) -> Iterator[JobDesk]:
    server = running_server(settings.data, settings.api_key)
    if server is not None:
        yield ServedJobs(server, settings.data)
        return
    store = JobStore(settings.data)
    try:
        yield StoredJobs(store)
    finally:
        store.close()


def _follow(desk: JobDesk, identifier: str) -> int:
    job: dict[str, Any] = {}
    with _shown() as shown:
        for job in desk.follow(identifier):
            shown.tell(job)
    return _tell_end(job)


async def _work(services: Services) -> int:
    """Work until no job runs; 1 when a document failed."""
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def tell() -> None:
        loop.call_soon_threadsafe(changed.set)

    _, before = await asyncio.to_thread(services.jobs.jobs, 0, 1000)
    running = [job.identifier for job in before if job.ended is None]
    stop_listening = services.jobs.listen(tell)
    try:
        with _shown() as shown:
            async with services.job_worker.working(services.opened):
                while await asyncio.to_thread(services.jobs.running):
                    changed.clear()
                    jobs = [await asyncio.to_thread(services.jobs.job, one) for one in running]
                    shown.tell(_sum([job.json() for job in jobs]))
                    await changed.wait()
    finally:
        stop_listening()
    after = [(await asyncio.to_thread(services.jobs.job, one)).json() for one in running]
    return max([_tell_end(job) for job in after], default=0)


class _Shown(Protocol):
    def tell(self, job: dict[str, Any]) -> None: ...


class _Bar:
    """A bar on a terminal."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("documents", total=None, states="")

    def tell(self, job: dict[str, Any]) -> None:
        told = job["problem"] or _states(job)
        self._progress.update(self._task, completed=job["finished"], total=job["total"], states=told)


class _Lines:
    """A line now and then where there is no terminal."""

    def __init__(self) -> None:
        self._next = 0.0
        self._last = ""

    def tell(self, job: dict[str, Any]) -> None:
        line = f"{job['finished']} of {job['total']}: {_states(job)}"
        line += f" ({job['problem']})" if job["problem"] else ""
        if line != self._last and (monotonic() >= self._next or job["ended"]):
            self._next, self._last = monotonic() + _TOLD_EVERY_S, line
            _told.print(line, markup=False, soft_wrap=True)


@contextmanager
def _shown() -> Iterator[_Shown]:
    if not _told.is_terminal:
        yield _Lines()
        return
    columns = (TextColumn("documents"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    states = TextColumn("{task.fields[states]}", markup=False)
    with Progress(*columns, states, console=_told) as progress:
        yield _Bar(progress)


def _sum(jobs: list[dict[str, Any]]) -> dict[str, Any]:
    """Several jobs as if they were one."""
    documents = {state.value: sum(job["documents"][state] for job in jobs) for state in DocumentState}
    return {
        "documents": documents,
        "finished": sum(job["finished"] for job in jobs),
        "total": sum(job["total"] for job in jobs),
        "problem": next((job["problem"] for job in jobs if job["problem"]), None),
        "ended": None,
    }


def _tell_end(job: dict[str, Any]) -> int:
    """How a job ended; 1 when something of it was not done."""
    _told.print(f"{job['id']}: {job['state']}, {_states(job)}", markup=False)
    bad = job["documents"]["failed"] + job["documents"]["rejected"]
    if bad:
        _told.print(f"`urbankg jobs show {job['id']} --state failed` tells why.")
    return 1 if bad or job["state"] == "cancelled" else 0


def _states(job: dict[str, Any]) -> str:
    return ", ".join(f"{count} {state}" for state, count in job["documents"].items() if count) or "none"


def _print_json(found: dict[str, Any]) -> None:
    print(json.dumps(found, ensure_ascii=False, indent=2))

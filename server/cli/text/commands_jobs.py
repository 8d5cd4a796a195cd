"""`urbankg jobs add | run | list | show | watch | pause | resume | cancel | retry | forget`.

On a folder that a server holds, the commands call that server. Without one, jobs are stored until the next
`urbankg serve`; `jobs run` works on them at once.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Protocol

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from extractors.prompting.methods import requested_method
from server.cli.invocation import existing, finish, on_folder, settings_of
from server.cli.options import AsJson, Config, Data, Limit, ModelUrl, Offset
from server.cli.output import print_json, print_table, stderr
from server.cli.progress import progress_bar
from server.cli.running_server import running_server
from server.errors import ServerError
from server.jobs.body import accept, reader_of, records_of_files
from server.jobs.job import DocumentState, JobRequest
from server.jobs.job_client import JobClient, ServedJobs, StoredJobs
from server.jobs.store import JobStore
from server.services import Services
from server.settings import Settings

jobs_app = typer.Typer(no_args_is_help=True, help="Extract from many documents.")
_PRINT_EVERY_S = 5.0

Identifier = Annotated[str, typer.Argument(metavar="JOB", help="Identifier of the job.")]
FILES = "JSON lines (.jsonl, .ndjson), JSON, CSV, or texts (.txt, .md); .gz is unpacked."
Files = Annotated[list[Path], typer.Argument(help=FILES)]
Name = Annotated[str | None, typer.Option(help="What to call the job; the first file's name if not given.")]
Source = Annotated[str | None, typer.Option(help="The source of documents without one of their own.")]
Concurrency = Annotated[int | None, typer.Option(min=1, help="Most documents in work at a time.")]
Again = Annotated[bool, typer.Option("--again", help="Extract also what the graph has already.")]
Reading = Annotated[str | None, typer.Option("--method", help="How to read: fast, thorough ...")]


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
    with _client(settings) as client:
        job = client.add(records_of_files(files, longest=settings.max_text_chars), request)
        print(job["id"])
        stderr.print(f"{job['total']} documents are stored", markup=False)
        if isinstance(client, StoredJobs):
            stderr.print("No server holds the folder: `urbankg serve` or `urbankg jobs run` works on them.")
        elif watch_it:
            finish(_follow(client, job["id"]))


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
    model_url: ModelUrl = None,
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
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The jobs, newest first."""
    with _client(settings_of(context, data=data, config=config).settings) as client:
        page = client.jobs(offset, limit)
    if as_json:
        print_json(page)
        return
    print_table(("id", "name", "state", "finished", "documents", "created"), map(_row, page["jobs"]))
    stderr.print(f"{len(page['jobs'])} of {page['total']}")


def _row(job: dict[str, Any]) -> tuple[str, ...]:
    finished = f"{job['finished']} of {job['total']}"
    return job["id"], job["name"] or "", job["state"], finished, _states(job), job["created"][:19]


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
    with _client(settings_of(context, data=data, config=config).settings) as client:
        found = client.job(job)
        if state is not None:
            found["listed"] = client.documents(job, state.value, offset, limit)["documents"]
    print_json(found)


@jobs_app.command()
def watch(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Follow a job to its end; exit code 1 when a document failed, or it was canceled."""
    with _client(settings_of(context, data=data, config=config).settings) as client:
        finish(_follow(client, job))


@jobs_app.command()
def pause(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Pause a job: start and commit nothing more of it."""
    _act(context, "pause", job, data, config)


@jobs_app.command()
def resume(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Resume a paused job."""
    _act(context, "resume", job, data, config)


@jobs_app.command()
def cancel(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Cancel a job; what it committed stays."""
    _act(context, "cancel", job, data, config)


@jobs_app.command()
def retry(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Retry documents that failed or were rejected."""
    _act(context, "retry", job, data, config)


@jobs_app.command()
def forget(context: typer.Context, job: Identifier, data: Data = None, config: Config = None) -> None:
    """Forget a finished job; its documents stay in the graph."""
    _act(context, "forget", job, data, config)


def _act(context: typer.Context, what: str, job: str, data: Path | None, config: Path | None) -> None:
    with _client(settings_of(context, data=data, config=config).settings) as client:
        answer = client.act(what, job)
    stderr.print(f"{job}: forgotten" if answer is None else f"{job}: {answer['state']}, {_states(answer)}")


@contextmanager
def _client(settings: Settings) -> Iterator[JobClient]:
    server = running_server(settings.data, settings.api_key)
    if server is not None:
        yield ServedJobs(server, settings.data)
        return
    store = JobStore(existing(settings).data)
    try:
        yield StoredJobs(store)
    finally:
        store.close()


def _follow(client: JobClient, identifier: str) -> int:
    job: dict[str, Any] = {}
    with _progress_view() as view:
        for job in client.follow(identifier):
            view.update(job)
    return _print_end(job)


async def _work(services: Services) -> int:
    """Work until no job runs; 1 when a document failed."""
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def update() -> None:
        loop.call_soon_threadsafe(changed.set)

    _, before = await asyncio.to_thread(services.jobs.jobs, 0, 1000)
    running = [job.identifier for job in before if job.ended is None]
    stop_listening = services.jobs.listen(update)
    try:
        with _progress_view() as view:
            async with services.job_worker.working(services.opened):
                while await asyncio.to_thread(services.jobs.running):
                    changed.clear()
                    jobs = [await asyncio.to_thread(services.jobs.job, one) for one in running]
                    view.update(_sum([job.json() for job in jobs]))
                    await changed.wait()
    finally:
        stop_listening()
    after = [(await asyncio.to_thread(services.jobs.job, one)).json() for one in running]
    return max([_print_end(job) for job in after], default=0)


class _ProgressView(Protocol):
    def update(self, job: dict[str, Any]) -> None: ...


class _Bar:
    """A bar on a terminal."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("documents", total=None, states="")

    def update(self, job: dict[str, Any]) -> None:
        answer = job["problem"] or _states(job)
        self._progress.update(self._task, completed=job["finished"], total=job["total"], states=answer)


class _Lines:
    """A line from time to time, without a terminal."""

    def __init__(self) -> None:
        self._next = 0.0
        self._last = ""

    def update(self, job: dict[str, Any]) -> None:
        line = f"{job['finished']} of {job['total']}: {_states(job)}"
        line += f" ({job['problem']})" if job["problem"] else ""
        if line != self._last and (monotonic() >= self._next or job["ended"]):
            self._next, self._last = monotonic() + _PRINT_EVERY_S, line
            stderr.print(line, markup=False, soft_wrap=True)


@contextmanager
def _progress_view() -> Iterator[_ProgressView]:
    if not stderr.is_terminal:
        yield _Lines()
        return
    columns = (TextColumn("documents"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    states = TextColumn("{task.fields[states]}", markup=False)
    with progress_bar(*columns, states) as progress:
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


def _print_end(job: dict[str, Any]) -> int:
    """Print how a job ended; 1 when some documents failed."""
    stderr.print(f"{job['id']}: {job['state']}, {_states(job)}", markup=False)
    bad = job["documents"]["failed"] + job["documents"]["rejected"]
    if bad:
        stderr.print(f"`urbankg jobs show {job['id']} --state failed` shows why.")
    return 1 if bad or job["state"] == "cancelled" else 0


def _states(job: dict[str, Any]) -> str:
    return ", ".join(f"{count} {state}" for state, count in job["documents"].items() if count) or "none"

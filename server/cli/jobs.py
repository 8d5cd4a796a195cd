"""`urbankg jobs add | run | list | show | change`: extraction from many documents.

Without a running server, jobs are stored until the next `urbankg serve`; `jobs run` works on them at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from server.cli.api import Api, RemoteBrokeOff, RemoteFailed, opened_api
from server.cli.invocation import refuse_held, with_api, with_settings
from server.cli.options import AsJson, Limit, Method, Offset
from server.cli.output import print_json, print_page, stderr
from server.jobs.body import reader_of, records_of_files
from server.jobs.job import DocumentState
from server.settings import Settings

if TYPE_CHECKING:
    from server.jobs.record import Record

jobs_app = typer.Typer(no_args_is_help=True, help="Extract from many documents.")
_PRINT_EVERY_S: Final = 5.0
_RECONNECT_S: Final = 60.0
_PAUSE_S: Final = 0.5
_LEAVING: Final = 503

_FILES: Final = "JSON lines (.jsonl, .ndjson), JSON, CSV, or texts (.txt, .md); .gz is unpacked."
Identifier = Annotated[str, typer.Argument(help="Identifier of the job.")]
Name = Annotated[
    str | None, typer.Option("--name", help="What to call the job; the first file's name if not given.")
]
Source = Annotated[
    str | None, typer.Option("--source", help="The source of documents without one of their own.")
]
Concurrency = Annotated[
    int | None, typer.Option("--concurrency", min=1, help="Most documents in work at a time.")
]
Again = Annotated[bool, typer.Option("--again", help="Extract also what the graph has already.")]
Watch = Annotated[
    bool, typer.Option("--watch", help="Follow it to its end; exit code 1 when a document failed.")
]


@jobs_app.command()
@with_api()
def add(
    api: Api,
    files: Annotated[list[Path], typer.Argument(help=_FILES)],
    name: Name = None,
    source: Source = None,
    concurrency: Concurrency = None,
    again: Again = False,
    method: Method = None,
    paused: Annotated[bool, typer.Option("--paused", help="Keep it until it is resumed.")] = False,
    watch: Watch = False,
) -> int:
    """Make one job of the documents of these files, and print its identifier."""
    wanted = {"name": name, "source": source, "concurrency": concurrency, "again": again, "method": method}
    job = _posted(api, files, {**wanted, "paused": paused})
    stderr.print(f"{job['total']} documents are stored", markup=False)
    if not api.is_served:
        stderr.print("No server holds the folder: `urbankg serve` or `urbankg jobs run` works on them.")
    elif watch:
        return _follow(api, job["id"])
    return 0


@jobs_app.command()
@with_settings("model_url")
def run(
    settings: Settings,
    files: Annotated[list[Path] | None, typer.Argument(help=_FILES)] = None,
    name: Name = None,
    source: Source = None,
    concurrency: Concurrency = None,
    again: Again = False,
    method: Method = None,
    dask: Annotated[
        str | None, typer.Option(help="Scheduler of a Dask cluster, tcp://host:port, whose workers extract.")
    ] = None,
) -> int:
    """Work on the jobs of a folder that no server holds, and on these files, until all are done."""
    refuse_held(
        settings,
        "It works on its jobs: use `urbankg jobs add`. For a Dask cluster, start it with the setting "
        "job_cluster.",
    )
    if dask is not None:
        settings = settings.model_copy(update={"job_cluster": dask})
    with opened_api(settings, works=True) as api:
        if files:
            wanted = {"name": name, "source": source, "concurrency": concurrency, "again": again}
            _posted(api, files, {**wanted, "method": method})
        running = [job["id"] for job in api.get("/jobs", limit=1000)["jobs"] if job["ended"] is None]
        return max([_follow(api, job) for job in reversed(running)], default=0)


@jobs_app.command("list")
@with_api()
def list_jobs(api: Api, offset: Offset = 0, limit: Limit = 50, as_json: AsJson = False) -> None:
    """The jobs, newest first."""
    columns = ("id", "name", "state", "finished", "documents", "created")
    print_page(api.get("/jobs", offset=offset, limit=limit), "jobs", columns, _row, as_json=as_json)


@jobs_app.command()
@with_api()
def show(
    api: Api,
    job: Identifier,
    state: Annotated[
        DocumentState | None, typer.Option(help="List the documents in this state as well.")
    ] = None,
    offset: Annotated[int, typer.Option(min=0, help="How many documents to pass over.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many documents to show.")] = 50,
    watch: Watch = False,
) -> int:
    """One job as JSON; with --state also its documents in that state, and what they failed of."""
    if watch:
        return _follow(api, job)
    found = api.get(f"/jobs/{job}")
    if state is not None:
        documents = api.get(f"/jobs/{job}/documents", state=state.value, offset=offset, limit=limit)
        found["listed"] = documents["documents"]
    return print_json(found)


@jobs_app.command()
@with_api()
def change(
    api: Api,
    job: Identifier,
    action: Annotated[
        Literal["pause", "resume", "cancel", "retry", "forget"],
        typer.Argument(
            help="`pause`: start and commit nothing more of it. `resume` it. `cancel`: what it committed "
            "stays. `retry` documents that failed or were rejected. `forget` a finished job; its documents "
            "stay in the graph."
        ),
    ],
) -> None:
    """Pause, resume, cancel, retry or forget a job."""
    if action == "forget":
        api.delete(f"/jobs/{job}")
        stderr.print(f"{job}: forgotten")
    else:
        answer = api.post(f"/jobs/{job}/{action}")
        stderr.print(f"{job}: {answer['state']}, {_states(answer)}")


def _posted(api: Api, files: list[Path], wanted: dict[str, Any]) -> dict[str, Any]:
    """Send the documents of files as they are read, and print the identifier of the job."""
    for path in files:
        reader_of(path)
    records = records_of_files(files, longest=api.settings.max_text_chars)
    wanted["name"] = wanted["name"] or files[0].name
    job = api.upload("/jobs", _lines(records), "application/x-ndjson", **wanted)
    print(job["id"])
    return job


def _lines(records: Iterable[Record]) -> Iterator[bytes]:
    for record in records:
        members = {"text": record.text, "name": record.name, "source": record.source}
        kept = {name: value for name, value in members.items() if value is not None}
        yield json.dumps(kept, ensure_ascii=False).encode() + b"\n"


def _follow(api: Api, identifier: str) -> int:
    """Show the progress of a job to its end; 1 when a document failed, or it was canceled.

    A job of a folder that nothing works on is shown as it is.
    """
    job: dict[str, Any] = {}
    progress = _Progress()
    for job in _states_of(api, identifier):
        progress.show(job)
    stderr.print(f"{job['id']}: {job['state']}, {_states(job)}", markup=False)
    failed = job["documents"]["failed"] + job["documents"]["rejected"]
    if failed:
        stderr.print(f"`urbankg jobs show {job['id']} --state failed` shows why.")
    return 1 if failed or job["state"] == "cancelled" else 0


def _states_of(api: Api, identifier: str) -> Iterator[dict[str, Any]]:
    """The job whenever something changes, up to its end, also across a restart of the server."""
    known, lost_at = None, None
    while True:
        try:
            job = api.get(f"/jobs/{identifier}")
            if not api.works:
                yield job
                return
            for number, name, data in api.events(f"/jobs/{identifier}/events", known):
                known, lost_at = number, None
                if name == "job":
                    job = json.loads(data)
                    yield job
            if job["ended"] is not None:
                yield job
                return
        except RemoteFailed as error:
            leaves = error.problem.get("status") == _LEAVING
            if not (isinstance(error, RemoteBrokeOff) or leaves):
                raise
            lost_at = lost_at or monotonic()
            if monotonic() - lost_at > _RECONNECT_S:
                raise
            time.sleep(_PAUSE_S)
            api.find_again()


class _Progress:
    """Prints how far a job is, on standard error: a line from time to time."""

    def __init__(self) -> None:
        self._next = 0.0
        self._last = ""

    def show(self, job: dict[str, Any]) -> None:
        """Print the job, unless that was done a moment ago and it has not ended."""
        line = f"{job['finished']} of {job['total']}: {_states(job)}"
        line += f" ({job['problem']})" if job["problem"] else ""
        if line != self._last and (monotonic() >= self._next or job["ended"]):
            self._next, self._last = monotonic() + _PRINT_EVERY_S, line
            stderr.print(line, markup=False, soft_wrap=True)


def _row(job: dict[str, Any]) -> tuple[str, ...]:
    finished = f"{job['finished']} of {job['total']}"
    return job["id"], job["name"] or "", job["state"], finished, _states(job), job["created"][:19]


def _states(job: dict[str, Any]) -> str:
    return ", ".join(f"{count} {state}" for state, count in job["documents"].items() if count) or "none"

"""The jobs of a folder for the command line: through the server that holds it, or in its database."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from server.cli.running_server import RemoteBrokeOff, RemoteFailed, RunningServer, running_server
from server.jobs.body import accept
from server.jobs.job import DocumentState, JobRequest
from server.jobs.record import Record
from server.jobs.store import JobStore

_RECONNECT_S = 60.0
_PAUSE_S = 0.5
_LEAVING = 503


class JobClient(Protocol):
    """What the commands do with jobs; answers are those of the HTTP routes."""

    def add(self, records: Iterable[Record], request: JobRequest) -> dict[str, Any]:
        """Make a job."""
        ...

    def jobs(self, offset: int, limit: int) -> dict[str, Any]:
        """A page of the jobs."""
        ...

    def job(self, identifier: str) -> dict[str, Any]:
        """One job."""
        ...

    def documents(self, identifier: str, state: str | None, offset: int, limit: int) -> dict[str, Any]:
        """A page of a job's documents."""
        ...

    def act(self, what: str, identifier: str) -> dict[str, Any] | None:
        """`pause`, `resume`, `cancel`, `retry`, which give the job then, or `forget`."""
        ...

    def follow(self, identifier: str) -> Iterator[dict[str, Any]]:
        """The job whenever something changes, up to its end."""
        ...


@dataclass(frozen=True)
class ServedJobs:
    """Through a running server; ``folder`` is where a new one is looked up after a restart."""

    server: RunningServer
    folder: Path

    def add(self, records: Iterable[Record], request: JobRequest) -> dict[str, Any]:
        """Send the records as they are read."""
        wanted = {"name": request.name, "source": request.source, "concurrency": request.concurrency}
        wanted |= {"method": request.method}
        wanted |= {"again": request.again or None, "paused": request.paused or None}
        parameters = {name: str(value).lower() if value is True else str(value)
                      for name, value in wanted.items() if value is not None}  # fmt: skip
        return self.server.upload("/jobs", _lines(records), "application/x-ndjson", parameters)

    def jobs(self, offset: int, limit: int) -> dict[str, Any]:
        """A page of the jobs."""
        return self.server.get("/jobs", {"offset": str(offset), "limit": str(limit)})

    def job(self, identifier: str) -> dict[str, Any]:
        """One job."""
        return self.server.get(f"/jobs/{identifier}")

    def documents(self, identifier: str, state: str | None, offset: int, limit: int) -> dict[str, Any]:
        """A page of a job's documents."""
        parameters = {"offset": str(offset), "limit": str(limit), **({"state": state} if state else {})}
        return self.server.get(f"/jobs/{identifier}/documents", parameters)

    def act(self, what: str, identifier: str) -> dict[str, Any] | None:
        """Send the request to the server."""
        if what == "forget":
            self.server.remove(f"/jobs/{identifier}")
            return None
        return self.server.post(f"/jobs/{identifier}/{what}", {})

    def follow(self, identifier: str) -> Iterator[dict[str, Any]]:
        """By its events, also across a restart of the server."""
        server, known, lost_at = self.server, None, None
        while True:
            try:
                job = server.get(f"/jobs/{identifier}")
                for number, name, data in server.events(f"/jobs/{identifier}/events", known):
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
                lost_at = lost_at or time.monotonic()
                if time.monotonic() - lost_at > _RECONNECT_S:
                    raise
                time.sleep(_PAUSE_S)
                server = running_server(self.folder, server.api_key) or server


@dataclass(frozen=True)
class StoredJobs:
    """In the database of a folder that no server holds; new and resumed jobs wait for a server."""

    store: JobStore

    def add(self, records: Iterable[Record], request: JobRequest) -> dict[str, Any]:
        """Store the records."""
        return accept(self.store, request, records).json()

    def jobs(self, offset: int, limit: int) -> dict[str, Any]:
        """A page of the jobs."""
        total, found = self.store.jobs(offset, limit)
        return {"total": total, "offset": offset, "limit": limit, "jobs": [job.json() for job in found]}

    def job(self, identifier: str) -> dict[str, Any]:
        """One job."""
        return self.store.job(identifier).json()

    def documents(self, identifier: str, state: str | None, offset: int, limit: int) -> dict[str, Any]:
        """A page of a job's documents."""
        wanted = None if state is None else DocumentState(state)
        total, found = self.store.documents(identifier, wanted, offset, limit)
        documents = [one.json() for one in found]
        return {"total": total, "offset": offset, "limit": limit, "documents": documents}

    def act(self, what: str, identifier: str) -> dict[str, Any] | None:
        """Change the job in the database."""
        acts: dict[str, Callable[[str], Any]] = {
            "pause": self.store.pause,
            "resume": self.store.resume,
            "cancel": self.store.cancel,
            "retry": self.store.retry,
            "forget": self.store.forget,
        }
        job = acts[what](identifier)
        return None if what == "forget" else job.json()

    def follow(self, identifier: str) -> Iterator[dict[str, Any]]:
        """Its current state: nothing works on it without a server."""
        yield self.job(identifier)


def _lines(records: Iterable[Record]) -> Iterator[bytes]:
    for record in records:
        members = {"text": record.text, "name": record.name, "source": record.source}
        kept = {name: value for name, value in members.items() if value is not None}
        yield json.dumps(kept, ensure_ascii=False).encode() + b"\n"

"""Jobs and their documents: states, counts, results, and what the server refuses about them.

ServerError
├── JobUnknown          no job has this identifier
├── JobConflict         a job whose state does not allow the request
├── JobEmpty            a job without documents
├── RecordUnreadable    a record of a job's documents that cannot be used
├── RecordTooLong       a record whose text is over the limit
└── ClusterUnavailable  the Dask cluster that is to extract cannot be reached
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pyoxigraph import NamedNode

from server.errors import ServerError
from sparql.model.vocabulary import RECORD
from sparql.provenance.records import digest


class JobUnknown(ServerError):
    """No job has this identifier, or it was forgotten."""

    def __init__(self, identifier: str) -> None:
        super().__init__(f"There is no job '{identifier}'. GET /jobs lists those there are.")


class JobConflict(ServerError):
    """A job is in a state that does not allow what is asked of it."""

    def __init__(self, identifier: str, state: str, advice: str) -> None:
        self.state = state
        super().__init__(f"Job '{identifier}' is {state}. {advice}")


class JobEmpty(ServerError):
    """A body of documents without one."""

    def __init__(self) -> None:
        super().__init__('The body holds no documents. Send at least one: {"text": "..."}.')


class RecordUnreadable(ServerError):
    """A record that is not what the body's type says, or has no text; ``line`` is where it begins."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        super().__init__(f"Line {line}: {reason} Nothing was taken; fix it and send everything again.")


class RecordTooLong(ServerError):
    """A record with a longer text than one extraction takes."""

    def __init__(self, line: int, limit: int) -> None:
        self.line = line
        self.limit = limit
        super().__init__(
            f"Line {line}: the text is longer than {limit} characters (max_text_chars). Nothing was taken; "
            "cut it into parts and send everything again."
        )


class ClusterUnavailable(ServerError):
    """No Dask scheduler answers, it has no workers, or this program's part for it is not installed."""


class JobState(StrEnum):
    """`accepting`: its documents are still being received, and it is not listed yet."""

    ACCEPTING = "accepting"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELED = "cancelled"
    DONE = "done"


class DocumentState(StrEnum):
    """How far a document is.

    `extracted`: the model's replies are stored, and the commit waits for its turn. `committed`: at least one
    statement of it is in the graph. `nothing found`: it was read and gave no statement. `waits for review`:
    all of its statements wait for a person. `rejected`: the text is unusable (empty, too long, another
    language). `failed`: the model gave no usable reply. `duplicate`: the same text is in the job already, or
    in the graph.
    """

    PENDING = "pending"
    EXTRACTING = "extracting"
    EXTRACTED = "extracted"
    COMMITTED = "committed"
    NOTHING_FOUND = "nothing found"
    WAITS_FOR_REVIEW = "waits for review"
    REJECTED = "rejected"
    FAILED = "failed"
    DUPLICATE = "duplicate"
    CANCELED = "cancelled"


UNDER_WAY = (DocumentState.PENDING, DocumentState.EXTRACTING, DocumentState.EXTRACTED)
"""The states of unfinished documents."""
READ = (DocumentState.COMMITTED, DocumentState.NOTHING_FOUND, DocumentState.WAITS_FOR_REVIEW)
"""The states of documents that were read and judged."""
RETRIED = (DocumentState.FAILED, DocumentState.REJECTED)
"""The states that `retry` starts again."""
FINISHED = (JobState.DONE, JobState.CANCELED)


@dataclass(frozen=True)
class JobRequest:
    """What a client asks for beside the documents.

    `source` is for documents without their own. `concurrency` is how many documents may be processed at a
    time, within the limits of server and model. With `again`, texts that the graph already has are extracted
    once more. `method` names how texts are read, if not as the settings say.
    """

    name: str | None = None
    source: str | None = None
    concurrency: int | None = None
    again: bool = False
    paused: bool = False
    by: str | None = None
    method: str | None = None


@dataclass(frozen=True)
class Job:
    """A job as it is now. Times are seconds since 1970, UTC; `sequence` numbers its latest change."""

    number: int
    identifier: str
    request: JobRequest
    state: JobState
    created: float
    ended: float | None
    problem: str | None
    sequence: int
    counts: Mapping[DocumentState, int]

    @property
    def total(self) -> int:
        """How many documents it has."""
        return sum(self.counts.values())

    def json(self) -> dict[str, Any]:
        """As clients see it."""
        return {
            "id": self.identifier,
            "name": self.request.name,
            "state": self.state,
            "created": _time(self.created),
            "ended": _time(self.ended),
            "by": self.request.by,
            "source": self.request.source,
            "concurrency": self.request.concurrency,
            "again": self.request.again,
            "method": self.request.method,
            "problem": self.problem,
            "total": self.total,
            "finished": self.total - sum(self.counts.get(state, 0) for state in UNDER_WAY),
            "documents": {state.value: self.counts.get(state, 0) for state in DocumentState},
        }


@dataclass(frozen=True)
class JobDocument:
    """A document of a job; `position` counts from 1 in the order of posting.

    `document` names it in the graph, `run` its extraction by this job. `same_as` is the position of an equal
    text before it in the job. `incomplete` is JSON that says why not all of it was read, and up to where.
    """

    position: int
    name: str | None
    source: str | None
    state: DocumentState
    characters: int
    document: str
    run: str
    attempts: int
    error: str | None
    same_as: int | None
    revision: int | None
    accepted: int | None
    refused: int | None
    warned: int | None
    incomplete: str | None
    changed: int

    def json(self) -> dict[str, Any]:
        """As clients see it."""
        return {
            "position": self.position,
            "name": self.name,
            "source": self.source,
            "state": self.state,
            "characters": self.characters,
            "document": self.document,
            "run": run_iri(self.run).value if self.state in READ else None,
            "attempts": self.attempts,
            "error": self.error,
            "same_as": self.same_as,
            "revision": self.revision,
            "accepted": self.accepted,
            "refused": self.refused,
            "warned": self.warned,
            "incomplete": None if self.incomplete is None else json.loads(self.incomplete),
        }


@dataclass(frozen=True)
class Work:
    """A document with its text, for the worker; `attempts` counts those that failed."""

    job: int
    position: int
    text: str
    source: str | None
    document: str
    run: str
    attempts: int
    again: bool
    state: DocumentState = DocumentState.PENDING
    method: str | None = None

    @property
    def key(self) -> tuple[int, int]:
        """Identifies the document among those of all jobs."""
        return self.job, self.position


@dataclass(frozen=True)
class Committed:
    """The result of a commit; None for what is not known of one found in the graph after a crash.

    `incomplete` says why not all of the text was read, and up to where.
    """

    accepted: int
    refused: int | None = None
    warned: int | None = None
    revision: int | None = None
    incomplete: Mapping[str, Any] | None = None

    @property
    def state(self) -> DocumentState:
        """The state of the document."""
        if self.accepted:
            return DocumentState.COMMITTED
        return DocumentState.WAITS_FOR_REVIEW if self.refused else DocumentState.NOTHING_FOUND


def run_of(job: str, position: int) -> str:
    """The name of the run that commits a document; the same after a crash, so that the run is found again."""
    return digest("job", job, str(position))


def run_iri(run: str) -> NamedNode:
    """The run in the graph's provenance."""
    return RECORD.term("run/" + run)


def document_iri(document: str) -> NamedNode:
    """The document in the graph's provenance."""
    return RECORD.term("document/" + document)


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()

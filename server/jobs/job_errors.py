"""What the server refuses about jobs and their documents.

ServerError
├── JobUnknown          no job has this identifier
├── JobConflict         a job whose state does not allow the request
├── JobEmpty            a job without documents
├── RecordUnreadable    a record of a job's documents that cannot be used
├── RecordTooLong       a record whose text is over the limit
└── ClusterUnavailable  the Dask cluster that is to extract cannot be reached
"""

from __future__ import annotations

from server.errors import ServerError


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

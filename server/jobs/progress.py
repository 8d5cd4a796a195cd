"""The steps of a document, each one transaction: claimed, extracted, committed or failed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from server.jobs.job import UNDER_WAY, Committed, DocumentState, JobState, Work
from server.jobs.store import JobStore, states

_COLUMNS = "d.job, d.position, d.text, d.source, d.document, d.run, d.attempts, d.state, j.again, j.method"
_WORK = f"{_COLUMNS} FROM document d JOIN job j ON j.number = d.job"
# Waits while the same text of another running document is being extracted: it will be a duplicate.
_TWIN_UNDER_WAY = (
    "EXISTS (SELECT 1 FROM document o JOIN job oj ON oj.number = o.job AND oj.state = 'running' "
    "WHERE o.document = d.document AND o.state IN ('extracting', 'extracted') "
    "AND (o.job <> d.job OR o.position <> d.position))"
)


class Progress:
    """The worker's view of the documents. Each call blocks until the change is on the disk."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._database = store.database

    def claim(self, limit: int) -> list[Work]:
        """Claim up to ``limit`` documents that are due, from the running jobs in turn."""
        now = self._store.clock()
        with self._database.writing() as connection:
            jobs = connection.execute(
                "SELECT number, concurrency, (SELECT COUNT(*) FROM document WHERE job = job.number AND "
                "state = 'extracting') AS busy FROM job WHERE state = 'running' ORDER BY busy, number"
            ).fetchall()
            found: list[Work] = []
            shares = _shares(
                limit, [limit if j["concurrency"] is None else j["concurrency"] - j["busy"] for j in jobs]
            )
            for job, share in zip(jobs, shares, strict=True):
                rows = connection.execute(
                    f"SELECT {_WORK} WHERE d.job = ? AND d.state = 'pending' AND d.due <= ? "
                    f"AND NOT {_TWIN_UNDER_WAY} ORDER BY d.due, d.position LIMIT ?",
                    (job["number"], now, min(share, limit - len(found))),
                ).fetchall()
                taken = [_work(row) for row in rows]
                for work in taken:
                    _change(connection, work, "state = ?", DocumentState.EXTRACTING)
                found += taken
        if found:
            self._store.notify()
        return found

    def waits(self) -> bool:
        """Whether any document of a running job waits to be extracted, due or not."""
        return self._store.count(DocumentState.PENDING) > 0

    def next_due(self) -> float | None:
        """The seconds until the next waiting document of a running job is due."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT MIN((SELECT MIN(due) FROM document WHERE job = number AND state = 'pending' AND "
                "due > 0)) FROM job WHERE state = 'running'"
            ).fetchone()[0]
        return None if found is None else max(0.0, float(found) - self._store.clock())

    def commits(self) -> list[Work]:
        """The next document to commit of each running job, if it is extracted.

        Documents are committed in the order of posting, so that a job leads to the same graph in whatever
        order extractions end, and however often it is interrupted.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM job j CROSS JOIN document d ON d.job = j.number AND d.position = "
                f"(SELECT MIN(position) FROM document WHERE job = j.number AND state IN {states(UNDER_WAY)}) "
                "WHERE j.state = 'running' AND d.state = 'extracted'"
            ).fetchall()
            return [_work(row) for row in rows]

    def interrupted(self) -> list[Work]:
        """The documents that were being extracted, or waited for their commit, when the server stopped."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_WORK} WHERE d.state IN ('extracting', 'extracted') ORDER BY d.job, d.position"
            ).fetchall()
            return [_work(row) for row in rows]

    # --- the model's replies

    def exchanges(self, work: Work) -> list[tuple[bytes, bytes]]:
        """The questions to the model for a document, with the answers, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT question, answer FROM exchange WHERE job = ? AND position = ? ORDER BY number",
                work.key,
            ).fetchall()
            return [(row[0], row[1]) for row in rows]

    def keep_exchanges(self, work: Work, exchanges: Sequence[tuple[bytes, bytes]]) -> None:
        """Store more of them, unless the document is finished."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO exchange SELECT d.job, d.position, (SELECT COUNT(*) FROM exchange e WHERE "
                "e.job = d.job AND e.position = d.position), ?, ? FROM document d WHERE d.job = ? AND "
                f"d.position = ? AND d.state IN {states(UNDER_WAY)}",
                [(question, answer, *work.key) for question, answer in exchanges],
            )

    # --- the steps

    def extracted(self, work: Work) -> None:
        """The model has answered all questions about a document."""
        self._step(work, "state = ?", DocumentState.EXTRACTED)

    def put_back(
        self, work: Work, error: str | None = None, *, wait_s: float = 0.0, counts: bool = False
    ) -> None:
        """A document waits again, for some seconds; ``counts``: this was one of its attempts.

        The model's answers are kept unless the attempt counts: then it is asked again.
        """
        due = self._store.clock() + wait_s if wait_s else 0.0
        with self._database.writing() as connection:
            if counts:
                _forget_exchanges(connection, work)
            _change(
                connection,
                work,
                "state = ?, due = ?, error = ?, attempts = attempts + ?",
                DocumentState.PENDING,
                due,
                error,
                int(counts),
            )
        self._store.notify()

    def committed(self, work: Work, result: Committed) -> None:
        """A document was judged: its text is in the graph or gave nothing, so the job drops the text."""
        self._finish(
            work,
            "state = ?, error = NULL, text = NULL, accepted = ?, refused = ?, warned = ?, revision = ?, "
            "incomplete = ?",
            result.state,
            result.accepted,
            result.refused,
            result.warned,
            result.revision,
            None if result.incomplete is None else json.dumps(result.incomplete),
        )

    def duplicate(self, work: Work) -> None:
        """The graph has this text already."""
        self._finish(work, "state = ?, error = NULL, text = NULL", DocumentState.DUPLICATE)

    def rejected(self, work: Work, error: str) -> None:
        """The text cannot be extracted from; it is kept for a retry with other settings."""
        self._finish(work, "state = ?, error = ?", DocumentState.REJECTED, error)

    def failed(self, work: Work, error: str) -> None:
        """The model gave no usable reply in any allowed attempt."""
        self._finish(work, "state = ?, error = ?, attempts = attempts + 1", DocumentState.FAILED, error)

    def wait_for(self, problem: str | None) -> None:
        """Record what all running jobs wait for; None: nothing."""
        with self._database.reading() as connection:
            same = connection.execute(
                "SELECT NOT EXISTS (SELECT 1 FROM job WHERE state = 'running' AND problem IS NOT ?)",
                (problem,),
            ).fetchone()[0]
        if same:
            return
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE job SET problem = ?, sequence = sequence + 1 "
                "WHERE state = 'running' AND problem IS NOT ?",
                (problem, problem),
            )
        self._store.notify()

    def _step(self, work: Work, changes: str, *values: object) -> None:
        with self._database.writing() as connection:
            _change(connection, work, changes, *values)
        self._store.notify()

    def _finish(self, work: Work, changes: str, *values: object) -> None:
        with self._database.writing() as connection:
            _forget_exchanges(connection, work)
            _change(connection, work, changes, *values)
            connection.execute(
                f"UPDATE job SET state = '{JobState.DONE}', ended = ?, problem = NULL WHERE number = ? AND "
                f"state = '{JobState.RUNNING}' AND NOT EXISTS "
                f"(SELECT 1 FROM document WHERE job = number AND state IN {states(UNDER_WAY)})",
                (self._store.clock(), work.job),
            )
        self._store.notify()


def _shares(limit: int, wanted: Sequence[int]) -> list[int]:
    """Distribute ``limit`` places evenly over jobs that take at most ``wanted`` each."""
    shares = [0] * len(wanted)
    left = limit
    while left > 0:
        open_jobs = [n for n, share in enumerate(shares) if share < wanted[n]]
        if not open_jobs:
            break
        for number in open_jobs[:left]:
            shares[number] += 1
        left -= len(open_jobs[:left])
    return shares


def _change(connection: sqlite3.Connection, work: Work, changes: str, *values: object) -> None:
    """Change an unfinished document; one that was canceled meanwhile stays so."""
    sequence = connection.execute(
        "UPDATE job SET sequence = sequence + 1 WHERE number = ? RETURNING sequence", (work.job,)
    ).fetchall()
    if sequence:
        connection.execute(
            f"UPDATE document SET {changes}, changed = ? WHERE job = ? AND position = ? "
            f"AND state IN {states(UNDER_WAY)}",
            (*values, sequence[0][0], *work.key),
        )


def _forget_exchanges(connection: sqlite3.Connection, work: Work) -> None:
    connection.execute("DELETE FROM exchange WHERE job = ? AND position = ?", work.key)


def _work(row: sqlite3.Row) -> Work:
    values = dict(row)
    values["again"] = bool(values["again"])
    values["state"] = DocumentState(values["state"])
    return Work(**values)

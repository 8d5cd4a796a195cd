"""The steps of a document, each one transaction: taken up, answered by the model, committed or given up."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from server.jobs.job import UNDER_WAY, Committed, DocumentState, JobState, Work
from server.jobs.store import JobStore, states

_COLUMNS = "d.job, d.position, d.text, d.source, d.document, d.run, d.attempts, d.state, j.again, j.method"
_WORK = f"{_COLUMNS} FROM document d JOIN job j ON j.number = d.job"
# A text that another document, of a job that runs, is being extracted for waits: it will be a duplicate.
_TWIN_UNDER_WAY = (
    "EXISTS (SELECT 1 FROM document o JOIN job oj ON oj.number = o.job AND oj.state = 'running' "
    "WHERE o.document = d.document AND o.state IN ('extracting', 'extracted') "
    "AND (o.job <> d.job OR o.position <> d.position))"
)


class Progress:
    """What the worker reads and writes of documents; each call blocks until the disk has it."""

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._database = store.database

    def claim(self, limit: int) -> list[Work]:
        """Take up to ``limit`` documents that wait and are due, from the jobs that run, in turn."""
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
            self._store.tell()
        return found

    def waits(self) -> bool:
        """Whether any document of a job that runs waits to be extracted, due or not."""
        return self._store.count(DocumentState.PENDING) > 0

    def next_due(self) -> float | None:
        """The seconds until the next document is due, of those that wait in jobs that run."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT MIN((SELECT MIN(due) FROM document WHERE job = number AND state = 'pending' AND "
                "due > 0)) FROM job WHERE state = 'running'"
            ).fetchone()[0]
        return None if found is None else max(0.0, float(found) - self._store.clock())

    def commits(self) -> list[Work]:
        """Of each job that runs the next document to commit, where the model has answered for it.

        Documents are committed in the order of posting, so that a job comes to the same graph however its
        extractions overtake one another, and however often it was interrupted.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM job j CROSS JOIN document d ON d.job = j.number AND d.position = "
                f"(SELECT MIN(position) FROM document WHERE job = j.number AND state IN {states(UNDER_WAY)}) "
                "WHERE j.state = 'running' AND d.state = 'extracted'"
            ).fetchall()
            return [_work(row) for row in rows]

    def interrupted(self) -> list[Work]:
        """The documents that were being extracted, or waited for their commit, when the server ended."""
        with self._database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_WORK} WHERE d.state IN ('extracting', 'extracted') ORDER BY d.job, d.position"
            ).fetchall()
            return [_work(row) for row in rows]

    # --- the model's replies

    def exchanges(self, work: Work) -> list[tuple[bytes, bytes]]:
        """What the model was asked for a document, and answered, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT question, answer FROM exchange WHERE job = ? AND position = ? ORDER BY number",
                work.key,
            ).fetchall()
            return [(row[0], row[1]) for row in rows]

    def keep_exchanges(self, work: Work, exchanges: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep more of them; those of a document that nobody works on any longer are let go."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO exchange SELECT d.job, d.position, (SELECT COUNT(*) FROM exchange e WHERE "
                "e.job = d.job AND e.position = d.position), ?, ? FROM document d WHERE d.job = ? AND "
                f"d.position = ? AND d.state IN {states(UNDER_WAY)}",
                [(question, answer, *work.key) for question, answer in exchanges],
            )

    # --- the steps

    def extracted(self, work: Work) -> None:
        """The model has answered all that it is asked about a document."""
        self._step(work, "state = ?", DocumentState.EXTRACTED)

    def put_back(
        self, work: Work, error: str | None = None, *, wait_s: float = 0.0, counts: bool = False
    ) -> None:
        """A document waits again, for some seconds; ``counts``: this was one of its attempts.

        What the model answered is kept, but for an attempt that counts: it is to be asked anew.
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
        self._store.tell()

    def committed(self, work: Work, told: Committed) -> None:
        """A document's statements are in the graph; its text is there, too, and leaves the job."""
        self._finish(
            work,
            "state = ?, error = NULL, text = NULL, accepted = ?, refused = ?, warned = ?, revision = ?",
            DocumentState.COMMITTED,
            told.accepted,
            told.refused,
            told.warned,
            told.revision,
        )

    def duplicate(self, work: Work) -> None:
        """The graph has this text already."""
        self._finish(work, "state = ?, error = NULL, text = NULL", DocumentState.DUPLICATE)

    def rejected(self, work: Work, error: str) -> None:
        """The text cannot be worked on; it is kept for a retry under other settings."""
        self._finish(work, "state = ?, error = ?", DocumentState.REJECTED, error)

    def failed(self, work: Work, error: str) -> None:
        """The model gave no usable reply as often as it may fail."""
        self._finish(work, "state = ?, error = ?, attempts = attempts + 1", DocumentState.FAILED, error)

    def wait_for(self, problem: str | None) -> None:
        """Say what all jobs that run wait for; None: nothing any longer."""
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
        self._store.tell()

    def _step(self, work: Work, changes: str, *values: object) -> None:
        with self._database.writing() as connection:
            _change(connection, work, changes, *values)
        self._store.tell()

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
        self._store.tell()


def _shares(limit: int, wanted: Sequence[int]) -> list[int]:
    """Deal ``limit`` places out, one after the other, to jobs that take at most so many each."""
    shares = [0] * len(wanted)
    left = limit
    while left > 0:
        hungry = [n for n, share in enumerate(shares) if share < wanted[n]]
        if not hungry:
            break
        for number in hungry[:left]:
            shares[number] += 1
        left -= len(hungry[:left])
    return shares


def _change(connection: sqlite3.Connection, work: Work, changes: str, *values: object) -> None:
    """Change a document that is still to be worked on; one that was cancelled meanwhile stays so."""
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

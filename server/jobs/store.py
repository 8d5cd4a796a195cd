"""Jobs and their documents in the database `FOLDER/jobs.sqlite`: creation, reports, what clients do to a job.

Every transaction is on the disk before it is reported (WAL, synchronous=FULL). Triggers keep a table that
counts documents by state, so that progress costs the same for ten documents and for ten million.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from server.errors import StateUnreadable
from server.jobs.job import (
    FINISHED,
    RETRIED,
    UNDER_WAY,
    DocumentState,
    Job,
    JobConflict,
    JobDocument,
    JobEmpty,
    JobRequest,
    JobState,
    JobUnknown,
    run_of,
)
from server.jobs.record import Record
from server.state_file import StateFile
from sparql.model.request_mark import current_mark
from sparql.provenance.records import Document

FILE = "jobs.sqlite"
_LAYOUT = 3
_SCHEMA = """
CREATE TABLE IF NOT EXISTS job (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT, source TEXT, concurrency INTEGER,
  again INTEGER NOT NULL, made_by TEXT, state TEXT NOT NULL, created REAL NOT NULL, ended REAL,
  problem TEXT, sequence INTEGER NOT NULL DEFAULT 0, method TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS document (
  job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE, position INTEGER NOT NULL,
  name TEXT, source TEXT, state TEXT NOT NULL, characters INTEGER NOT NULL, document TEXT NOT NULL,
  run TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0, error TEXT,
  same_as INTEGER, revision INTEGER, accepted INTEGER, refused INTEGER, warned INTEGER,
  changed INTEGER NOT NULL DEFAULT 0, text TEXT, incomplete TEXT, PRIMARY KEY (job, position)
) STRICT;
CREATE INDEX IF NOT EXISTS document_by_state ON document (job, state, due, position);
CREATE INDEX IF NOT EXISTS document_by_change ON document (job, changed);
DROP INDEX IF EXISTS document_by_content;
CREATE INDEX IF NOT EXISTS document_by_text ON document (document, job, state);
CREATE INDEX IF NOT EXISTS document_under_way ON document (job, position)
  WHERE state IN ('pending', 'extracting', 'extracted');
CREATE TABLE IF NOT EXISTS exchange (
  job INTEGER NOT NULL, position INTEGER NOT NULL, number INTEGER NOT NULL, question BLOB NOT NULL,
  answer BLOB NOT NULL, PRIMARY KEY (job, position, number),
  FOREIGN KEY (job, position) REFERENCES document (job, position) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tally (
  job INTEGER NOT NULL REFERENCES job (number) ON DELETE CASCADE, state TEXT NOT NULL,
  documents INTEGER NOT NULL, PRIMARY KEY (job, state)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS document_added AFTER INSERT ON document BEGIN
  INSERT INTO tally VALUES (NEW.job, NEW.state, 1)
    ON CONFLICT (job, state) DO UPDATE SET documents = documents + 1;
END;
CREATE TRIGGER IF NOT EXISTS document_moved AFTER UPDATE OF state ON document
WHEN OLD.state <> NEW.state BEGIN
  UPDATE tally SET documents = documents - 1 WHERE job = OLD.job AND state = OLD.state;
  INSERT INTO tally VALUES (NEW.job, NEW.state, 1)
    ON CONFLICT (job, state) DO UPDATE SET documents = documents + 1;
END;
"""


class Database(StateFile):
    """One connection, shared by the threads of the server. Raises `StateUnreadable`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / FILE, _SCHEMA)
        # One transaction: an upgrade that is interrupted starts from the old layout again.
        with self.writing() as connection:
            self._check_layout(connection)

    def _check_layout(self, connection: sqlite3.Connection) -> None:
        """Upgrade the layout. Raises `StateUnreadable` for a file of a later version of the program."""
        layout = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if layout > _LAYOUT:
            raise StateUnreadable(self.path, f"it has layout {layout}, and this program knows {_LAYOUT}")
        if layout == 1:
            # Layout 1 had no method per job.
            connection.execute("ALTER TABLE job ADD COLUMN method TEXT")
        if layout in (1, 2):
            # Layouts 1 and 2 did not know where a document's reading stopped.
            connection.execute("ALTER TABLE document ADD COLUMN incomplete TEXT")
        connection.execute(f"PRAGMA user_version={_LAYOUT}")


_DOCUMENT = (
    "position, name, source, state, characters, document, run, attempts, error, same_as, revision, accepted, "
    "refused, warned, incomplete, changed"
)
_CLEARED = "text = NULL"


def states(some: Iterable[DocumentState | JobState]) -> str:
    """States as the list of an SQL IN."""
    return "(" + ", ".join(f"'{state.value}'" for state in some) + ")"


class JobStore:
    """The jobs of a folder; safe to use from several threads. Raises `StateUnreadable`.

    Listeners are notified of every change once it is on the disk.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.database = Database(folder)
        self.clock = clock
        self._lock = threading.Lock()
        self._listeners: set[Callable[[], None]] = set()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after every change, in the thread that made it, until the result is called."""
        with self._lock:
            self._listeners.add(listener)

        def stop() -> None:
            with self._lock:
                self._listeners.discard(listener)

        return stop

    def notify(self) -> None:
        """Call the listeners."""
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()

    # --- creation

    def begin(self, request: JobRequest) -> Job:
        """Make a job that takes documents. Until `accept` it is not listed, and a restart drops it."""
        mark = current_mark()
        identifier = uuid.uuid4().hex if mark is None else mark.identifier
        with self.database.writing() as connection:
            connection.execute(
                "INSERT INTO job (id, name, source, concurrency, again, made_by, method, state, created) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    identifier,
                    request.name,
                    request.source,
                    request.concurrency,
                    int(request.again),
                    request.by,
                    request.method,
                    JobState.ACCEPTING,
                    self.clock(),
                ),
            )
            return _job(connection, identifier)

    def requested(self) -> Job | None:
        """The job that the request under way has made already, before a crash."""
        mark = current_mark()
        if mark is None:
            return None
        try:
            return self.job(mark.identifier)
        except JobUnknown:
            return None

    def add(self, job: Job, records: Sequence[Record], first: int) -> None:
        """Add documents to a job that takes them; the first one gets the position ``first``.

        A text that the job already has becomes a duplicate of the first one.
        """
        with self.database.writing() as connection:
            for position, record in enumerate(records, first):
                document = Document(record.text).iri.value.rpartition("/")[2]
                twin = connection.execute(
                    # The first one waits as long as the job takes documents; the index finds it alone.
                    "SELECT position FROM document WHERE document = ? AND job = ? AND state = ?",
                    (document, job.number, DocumentState.PENDING),
                ).fetchone()
                connection.execute(
                    "INSERT INTO document (job, position, name, source, state, characters, document, run, "
                    "same_as, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        job.number,
                        position,
                        record.name,
                        record.source or job.request.source,
                        DocumentState.PENDING if twin is None else DocumentState.DUPLICATE,
                        len(record.text),
                        document,
                        run_of(job.identifier, position),
                        None if twin is None else twin[0],
                        record.text if twin is None else None,
                    ),
                )

    def accept(self, job: Job, *, paused: bool = False) -> Job:
        """Start a job whose documents are all stored. Raises `JobEmpty` and drops the job if it has none."""
        with self.database.writing() as connection:
            found = _job(connection, job.identifier)
            if found.total:
                state = JobState.PAUSED if paused else JobState.RUNNING
                _set_state(connection, found, state, self.clock())
                found = _job(connection, job.identifier)
        if not found.total:
            self.drop(job)
            raise JobEmpty
        self.notify()
        return found

    def drop(self, job: Job) -> None:
        """Delete a job with its documents."""
        with self.database.writing() as connection:
            connection.execute("DELETE FROM job WHERE number = ?", (job.number,))

    def drop_unaccepted(self) -> None:
        """Delete jobs that were still being received when the server stopped: no client knows of them."""
        with self.database.writing() as connection:
            connection.execute("DELETE FROM job WHERE state = ?", (JobState.ACCEPTING,))

    # --- reports

    def jobs(self, offset: int = 0, limit: int = 50) -> tuple[int, list[Job]]:
        """How many jobs there are, and a page of them, the newest first."""
        with self.database.reading() as connection:
            accepted = f"state <> '{JobState.ACCEPTING}'"
            total = connection.execute(f"SELECT COUNT(*) FROM job WHERE {accepted}").fetchone()[0]
            rows = connection.execute(
                f"SELECT * FROM job WHERE {accepted} ORDER BY number DESC LIMIT ? OFFSET ?", (limit, offset)
            ).fetchall()
            return int(total), [_read_job(connection, row) for row in rows]

    def job(self, identifier: str) -> Job:
        """One job. Raises `JobUnknown`."""
        with self.database.reading() as connection:
            return _job(connection, identifier)

    def documents(
        self, identifier: str, state: DocumentState | None = None, offset: int = 0, limit: int = 200
    ) -> tuple[int, list[JobDocument]]:
        """How many documents of a job are in a state (or at all), and a page in the order of posting."""
        with self.database.reading() as connection:
            job = _job(connection, identifier)
            total = job.total if state is None else job.counts.get(state, 0)
            where, values = ("", ()) if state is None else (" AND state = ?", (state,))
            rows = connection.execute(
                f"SELECT {_DOCUMENT} FROM document WHERE job = ?{where} ORDER BY position LIMIT ? OFFSET ?",
                (job.number, *values, limit, offset),
            ).fetchall()
            return total, [_read_document(row) for row in rows]

    def changes(self, job: Job, after: int, limit: int) -> list[JobDocument]:
        """Documents that changed after that number, each as it is now, in the order of their last change."""
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT {_DOCUMENT} FROM document WHERE job = ? AND changed > ? ORDER BY changed LIMIT ?",
                (job.number, after, limit),
            ).fetchall()
            return [_read_document(row) for row in rows]

    def count(self, state: DocumentState = DocumentState.PENDING) -> int:
        """Documents in a state, in all running jobs."""
        with self.database.reading() as connection:
            found = connection.execute(
                "SELECT SUM(documents) FROM tally JOIN job ON job.number = tally.job "
                "WHERE tally.state = ? AND job.state = ?",
                (state, JobState.RUNNING),
            ).fetchone()[0]
            return int(found or 0)

    def running(self) -> int:
        """How many jobs are running."""
        with self.database.reading() as connection:
            row = connection.execute("SELECT COUNT(*) FROM job WHERE state = ?", (JobState.RUNNING,))
            return int(row.fetchone()[0])

    # --- what clients do to a job

    def pause(self, identifier: str) -> Job:
        """Start and commit no more of its documents. Raises `JobUnknown` and `JobConflict`."""
        return self._move(identifier, "pause", (JobState.RUNNING,), JobState.PAUSED)

    def resume(self, identifier: str) -> Job:
        """Continue a paused job. Raises `JobUnknown` and `JobConflict`."""
        return self._move(identifier, "resume", (JobState.PAUSED,), JobState.RUNNING)

    def cancel(self, identifier: str) -> Job:
        """End a job: what is committed stays, the rest is dropped. Raises `JobUnknown` and `JobConflict`."""
        with self.database.writing() as connection:
            job = self._expect(connection, identifier, "cancel", (JobState.RUNNING, JobState.PAUSED))
            under_way = f"job = ? AND state IN {states(UNDER_WAY)}"
            connection.execute(
                f"DELETE FROM exchange WHERE job = ? AND position IN "
                f"(SELECT position FROM document WHERE {under_way})",
                (job.number, job.number),
            )
            connection.execute(
                f"UPDATE document SET state = '{DocumentState.CANCELED}', {_CLEARED} WHERE {under_way}",
                (job.number,),
            )
            _set_state(connection, job, JobState.CANCELED, self.clock())
            found = _job(connection, identifier)
        self.notify()
        return found

    def retry(self, identifier: str) -> Job:
        """Try again what failed or was rejected. Raises `JobUnknown` and `JobConflict`."""
        with self.database.writing() as connection:
            job = self._expect(
                connection, identifier, "retry", (JobState.RUNNING, JobState.PAUSED, JobState.DONE)
            )
            if not any(job.counts.get(state) for state in RETRIED):
                raise JobConflict(identifier, job.state, "No document of it failed or was rejected.")
            connection.execute(
                f"UPDATE document SET state = '{DocumentState.PENDING}', attempts = 0, due = 0, error = NULL "
                f"WHERE job = ? AND state IN {states(RETRIED)}",
                (job.number,),
            )
            state = JobState.PAUSED if job.state is JobState.PAUSED else JobState.RUNNING
            _set_state(connection, job, state, self.clock())
            found = _job(connection, identifier)
        self.notify()
        return found

    def forget(self, identifier: str) -> Job:
        """Delete a finished job; its documents stay in the graph. Raises `JobUnknown` and `JobConflict`."""
        with self.database.writing() as connection:
            job = self._expect(connection, identifier, "forget", FINISHED)
        self.drop(job)
        self.notify()
        return job

    def _move(self, identifier: str, what: str, allowed: Sequence[JobState], state: JobState) -> Job:
        with self.database.writing() as connection:
            job = self._expect(connection, identifier, what, allowed)
            _set_state(connection, job, state, self.clock())
            found = _job(connection, identifier)
        self.notify()
        return found

    def _expect(
        self, connection: sqlite3.Connection, identifier: str, what: str, allowed: Sequence[JobState]
    ) -> Job:
        job = _job(connection, identifier)
        if job.state not in allowed:
            wanted = " or ".join(state.value for state in allowed)
            raise JobConflict(identifier, job.state, f"Only a job that is {wanted} takes '{what}'.")
        return job


def _job(connection: sqlite3.Connection, identifier: str) -> Job:
    row = connection.execute("SELECT * FROM job WHERE id = ?", (identifier,)).fetchone()
    if row is None:
        raise JobUnknown(identifier)
    return _read_job(connection, row)


def _read_job(connection: sqlite3.Connection, row: sqlite3.Row) -> Job:
    tally = connection.execute("SELECT state, documents FROM tally WHERE job = ?", (row["number"],))
    counts = {DocumentState(state): int(documents) for state, documents in tally if documents}
    request = JobRequest(
        row["name"],
        row["source"],
        row["concurrency"],
        bool(row["again"]),
        by=row["made_by"],
        method=row["method"],
    )
    return Job(
        row["number"],
        row["id"],
        request,
        JobState(row["state"]),
        row["created"],
        row["ended"],
        row["problem"],
        row["sequence"],
        counts,
    )


def _read_document(row: sqlite3.Row) -> JobDocument:
    values = dict(row)
    values["state"] = DocumentState(values["state"])
    return JobDocument(**values)


def _set_state(connection: sqlite3.Connection, job: Job, state: JobState, now: float) -> None:
    """Set a job's state; one that would run and has nothing left to do is done."""
    left = connection.execute(
        f"SELECT EXISTS (SELECT 1 FROM document WHERE job = ? AND state IN {states(UNDER_WAY)})",
        (job.number,),
    ).fetchone()[0]
    if state is JobState.RUNNING and not left:
        state = JobState.DONE
    connection.execute(
        "UPDATE job SET state = ?, ended = ?, problem = NULL, sequence = sequence + 1 WHERE number = ?",
        (state, now if state in FINISHED else None, job.number),
    )

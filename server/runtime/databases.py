"""Checks the SQLite files beside the graph at the start, before anything is acknowledged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from time import monotonic

from server.errors import StateUnreadable

_TIMEOUT_S = 30.0
_LONGEST_S = 1.0
_STEPS = 10_000


def check_databases(folder: Path) -> None:
    """Raises `StateUnreadable` for the first SQLite file of a folder that is damaged or cannot be opened.

    The check of a large file ends after a second, so that the start does not depend on its size.
    """
    for path in sorted(folder.glob("*.sqlite")):
        try:
            with closing(sqlite3.connect(path, timeout=_TIMEOUT_S)) as connection:
                problem = _problem(connection)
        except sqlite3.Error as error:
            raise StateUnreadable(path, str(error)) from error
        if problem is not None:
            raise StateUnreadable(path, problem)


def _problem(connection: sqlite3.Connection) -> str | None:
    """What is wrong with a database, in SQLite's words."""
    connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
    deadline = monotonic() + _LONGEST_S
    connection.set_progress_handler(lambda: monotonic() > deadline, _STEPS)
    try:
        found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return None
        raise
    return None if found == "ok" else " ".join(found.split())

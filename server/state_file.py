"""SQLite files beside the graph: what the server keeps that the graph does not know of."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from server.errors import state_error


def open_state(
    path: Path, schema: str, *, synchronous: Literal["FULL", "NORMAL"] = "FULL", timeout_s: float = 30
) -> sqlite3.Connection:
    """A connection in WAL mode that commits each statement by itself. Raises `StateUnreadable`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Created first with these permissions: other users must never be able to read what is in it.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.executescript(schema)
    except (OSError, sqlite3.Error) as error:
        raise state_error(path, error) from error
    return connection


class StateFile:
    """One connection, shared by the threads of the server. Raises `StateUnreadable`."""

    def __init__(self, path: Path, schema: str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection = open_state(path, schema)
        self._connection.row_factory = sqlite3.Row

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for statements that only read, or for a single one that writes."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise state_error(self.path, error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: on the disk when the block ends, undone when it raises."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

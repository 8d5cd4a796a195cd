"""The database of replies: `FOLDER/replies.sqlite`, beside the graph, for a day.

A request is entered before it may write, and its reply before it is sent. An entry without a reply is a
request under way, or one that a crash ended; then the mark in the graph says whether it was committed.
"""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.state_file import StateFile

FILE: Final = "replies.sqlite"
KEY: Final = "idempotency-key"
KEPT_S: Final = 24 * 3600.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS request (
  client TEXT NOT NULL, key TEXT NOT NULL, mark TEXT NOT NULL, address TEXT NOT NULL, body TEXT NOT NULL,
  made REAL NOT NULL, status INTEGER, headers TEXT, reply BLOB, PRIMARY KEY (client, key)
) STRICT;
CREATE INDEX IF NOT EXISTS request_by_age ON request (made);
"""


@dataclass(frozen=True)
class KeptReply:
    """What was answered. `body` is None where it was too large to keep."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


@dataclass(frozen=True)
class KnownRequest:
    """An earlier request: digests of its address and body, the identifier of its mark, and its reply."""

    mark: str
    address: str
    body: str
    reply: KeptReply | None


class KeptReplies:
    """One connection, shared by threads. Raises `StateUnreadable`."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._file = StateFile(folder / FILE, _SCHEMA)

    def find(self, client: str, key: str) -> KnownRequest | None:
        """The request that a client sent with this key, within the last day."""
        row = self._execute(
            "SELECT mark, address, body, status, headers, reply FROM request "
            "WHERE client = ? AND key = ? AND made > ?",
            (client, key, self._clock() - KEPT_S),
        ).fetchone()
        if row is None:
            return None
        mark, address, body, status, headers, reply = row
        if status is None:
            return KnownRequest(mark, address, body, None)
        kept = KeptReply(status, tuple((name, value) for name, value in json.loads(headers)), reply)
        return KnownRequest(mark, address, body, kept)

    def begin(self, client: str, key: str, *, address: str, body: str, mark: str | None = None) -> str:
        """Enter a request before it may write; returns the identifier of its mark."""
        now = self._clock()
        mark = mark or uuid.uuid4().hex
        self._execute("DELETE FROM request WHERE made <= ?", (now - KEPT_S,))
        self._execute(
            "INSERT OR REPLACE INTO request (client, key, mark, address, body, made) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (client, key, mark, address, body, now),
        )
        return mark

    def keep(self, client: str, key: str, reply: KeptReply) -> None:
        """Keep the reply to a request."""
        self._execute(
            "UPDATE request SET status = ?, headers = ?, reply = ? WHERE client = ? AND key = ?",
            (reply.status, json.dumps(reply.headers), reply.body, client, key),
        )

    def forget(self, client: str, key: str) -> None:
        """Forget a request that did nothing: it may be sent again."""
        self._execute("DELETE FROM request WHERE client = ? AND key = ?", (client, key))

    def unanswered(self) -> frozenset[str]:
        """The marks of requests whose reply is not kept."""
        rows = self._execute(
            "SELECT mark FROM request WHERE status IS NULL AND made > ?", (self._clock() - KEPT_S,)
        ).fetchall()
        return frozenset(row[0] for row in rows)

    def _execute(self, statement: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        with self._file.reading() as connection:
            return connection.execute(statement, values)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

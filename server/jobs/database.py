"""The database of jobs: `FOLDER/jobs.sqlite`, beside the graph.

Every transaction is on the disk before it is reported (WAL, synchronous=FULL). Triggers keep a table that
counts documents by state, so that progress costs the same for ten documents and for ten million.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from server.errors import StateUnreadable
from server.state_file import StateFile

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

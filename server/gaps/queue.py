"""The queue of gaps: `FOLDER/gaps.sqlite`, beside the graph. Nothing in it is known to the graph.

A gap is recorded with the question, the query that was tried and who asked. Questions that miss the same
triple are one gap. What the model or a text proposes for it is kept here until a person accepts it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from server.gaps.gap_errors import GapUnknown
from server.state_file import StateFile
from sparql.ask.answer import GapKind

FILE: Final = "gaps.sqlite"
MOST_OPEN: Final = 10_000
"""At most so many gaps wait, so that questions cannot fill the disk: see `GapQueue.record`."""
MOST_QUESTIONS: Final = 20
"""At most so many different questions are kept with a gap."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS gap (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, relation TEXT NOT NULL,
  object TEXT NOT NULL, message TEXT NOT NULL, attempt TEXT, status TEXT NOT NULL, completion TEXT,
  passages TEXT NOT NULL DEFAULT '[]', decisions TEXT NOT NULL DEFAULT '[]', first TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS gap_by_status ON gap (status);
CREATE TABLE IF NOT EXISTS question (
  gap TEXT NOT NULL REFERENCES gap (id) ON DELETE CASCADE, asker TEXT NOT NULL, question TEXT NOT NULL,
  context TEXT NOT NULL, history TEXT NOT NULL, last TEXT NOT NULL, times INTEGER NOT NULL,
  PRIMARY KEY (gap, asker, question, context, history)
) STRICT;
CREATE TABLE IF NOT EXISTS sender (
  gap TEXT PRIMARY KEY REFERENCES gap (id) ON DELETE CASCADE, client TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS sender_by_client ON sender (client);
"""
_OPEN: Final = "SELECT COUNT(*) FROM gap LEFT JOIN sender ON sender.gap = gap.id WHERE status = 'open'"
_HEAVIEST: Final = """
SELECT COALESCE(client, '') AS client, COUNT(*) AS held FROM gap LEFT JOIN sender ON sender.gap = gap.id
WHERE status = 'open' GROUP BY 1 ORDER BY held DESC, client LIMIT 1
"""
_LAST_OF_CLIENT: Final = """
SELECT id FROM gap LEFT JOIN sender ON sender.gap = gap.id
WHERE status = 'open' AND completion IS NULL AND COALESCE(client, '') = ? ORDER BY first DESC, id LIMIT 1
"""
_LISTED: Final = """
SELECT gap.*, COUNT(DISTINCT question.asker) AS askers, SUM(question.times) AS asked,
  MAX(question.last) AS last FROM gap JOIN question ON question.gap = gap.id
"""


class GapStatus(StrEnum):
    """The status of a gap."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True)
class Asked:
    """A question as it was asked."""

    question: str
    context: str = ""
    history: tuple[str, ...] = ()


@dataclass(frozen=True)
class GapFilter:
    """Which gaps; all given parts must match. `text` is searched in triples and questions."""

    status: GapStatus | None = GapStatus.OPEN
    kind: GapKind | None = None
    text: str | None = None
    askers: int = 1
    """How many must have asked at least."""


@dataclass(frozen=True)
class StoredGap:
    """A gap as it is kept; "?" is what is missing of its triple."""

    id: str
    kind: GapKind
    subject: str
    relation: str
    object: str
    message: str
    attempt: str | None
    status: GapStatus
    completion: dict[str, Any] | None
    passages: tuple[dict[str, Any], ...]
    decisions: tuple[dict[str, Any], ...]
    first: str
    last: str
    askers: int
    asked: int
    questions: tuple[dict[str, Any], ...]

    @property
    def latest(self) -> Asked:
        """The question that was asked last."""
        found = self.questions[0]
        return Asked(found["question"], found["context"], tuple(found["history"]))


def recorded_gaps(gaps: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The gaps of an answer that are worth recording.

    A gap in the data comes of a plan that used every word. A name or word that the graph lacks is recorded
    only where it is the one thing that is missing: else the question was not understood.
    """
    if len(gaps) > 1 and any(gap["kind"] != GapKind.DATA for gap in gaps):
        return []
    return [gap for gap in gaps if gap["kind"] != GapKind.AMBIGUOUS and set(_triple(gap)) != {"?"}]


class GapQueue:
    """One connection, shared by threads. Raises `StateUnreadable`."""

    def __init__(self, folder: Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._clock = clock
        self._file = StateFile(folder / FILE, _SCHEMA)

    def record(
        self,
        gaps: Sequence[Mapping[str, Any]],
        asked: Asked,
        attempt: str | None,
        asker: str,
        client: str = "",
    ) -> list[str]:
        """Record the gaps of an answer; their identifiers.

        Where the queue is full, the client that holds most of it gives way: its newest gap goes for one of a
        client that holds fewer. A gap of that client itself is not recorded.
        """
        found = []
        sender = hashlib.sha256(client.encode()).hexdigest()[:16]
        for gap in recorded_gaps(gaps):
            identifier = _identifier(gap)
            with self._file.writing() as connection:
                known = connection.execute("SELECT 1 FROM gap WHERE id = ?", (identifier,)).fetchone()
                if known is None and not _make_room(connection, sender):
                    continue
                now = self._clock().isoformat()
                values = (identifier, gap["kind"], *_triple(gap), gap["message"], attempt, now)
                connection.execute(
                    "INSERT OR IGNORE INTO gap (id, kind, subject, relation, object, message, attempt, "
                    "status, first) VALUES (?, ?, ?, ?, ?, ?, ?, 'open', ?)",
                    values,
                )
                connection.execute("INSERT OR IGNORE INTO sender VALUES (?, ?)", (identifier, sender))
                # What was accepted and is missed again has left the graph since, with what was proposed.
                connection.execute(
                    "UPDATE gap SET status = 'open', completion = NULL, passages = '[]' "
                    "WHERE id = ? AND status = 'accepted'",
                    (identifier,),
                )
                _add_question(connection, identifier, asked, asker, now)
            found.append(identifier)
        return found

    def find(self, wanted: GapFilter) -> list[str]:
        """The identifiers of the gaps that match, the most asked first."""
        conditions, values = ["1"], list[Any]()
        for name, value in (("status", wanted.status), ("kind", wanted.kind)):
            if value is not None:
                conditions.append(f"gap.{name} = ?")
                values.append(value.value)
        if wanted.text:
            conditions.append(
                "instr(lower(gap.subject || ' ' || gap.relation || ' ' || gap.object || ' ' || gap.message "
                "|| ' ' || question.question), lower(?))"
            )
            values.append(wanted.text)
        ordered = "HAVING askers >= ? ORDER BY askers DESC, asked DESC, last DESC, gap.id"
        query = f"{_LISTED} WHERE {' AND '.join(conditions)} GROUP BY gap.id {ordered}"
        with self._file.reading() as connection:
            return [row["id"] for row in connection.execute(query, (*values, wanted.askers))]

    def get(self, identifier: str) -> StoredGap:
        """One gap. Raises `GapUnknown`."""
        with self._file.reading() as connection:
            row = connection.execute(f"{_LISTED} WHERE gap.id = ? GROUP BY gap.id", (identifier,)).fetchone()
            if row is None:
                raise GapUnknown(identifier)
            questions = connection.execute(
                "SELECT question, context, history, MAX(last) AS last, SUM(times) AS times FROM question "
                "WHERE gap = ? GROUP BY question, context, history ORDER BY last DESC",
                (identifier,),
            ).fetchall()
        kept = {name: row[name] for name in row.keys()}  # noqa: SIM118 - a row is not a dict
        kept |= {name: tuple(json.loads(row[name])) for name in ("passages", "decisions")}
        completion = None if row["completion"] is None else json.loads(row["completion"])
        read = [{**dict(one), "history": json.loads(one["history"])} for one in questions]
        kept |= {"kind": GapKind(row["kind"]), "status": GapStatus(row["status"]), "completion": completion}
        return StoredGap(**kept, questions=tuple(read))

    def complete(
        self, gap: StoredGap, completion: Mapping[str, Any] | None, passages: Sequence[Mapping[str, Any]]
    ) -> StoredGap:
        """Keep what is proposed for a gap, and the passages that it was looked for in."""
        with self._file.writing() as connection:
            connection.execute(
                "UPDATE gap SET completion = ?, passages = ? WHERE id = ?",
                (None if completion is None else json.dumps(completion), json.dumps(passages), gap.id),
            )
        return self.get(gap.id)

    def decide(self, gap: StoredGap, status: GapStatus, decision: Mapping[str, Any]) -> StoredGap:
        """Keep a decision, and the status that it leads to."""
        made = {"outcome": status.value, "at": self._clock().isoformat(), **decision}
        with self._file.writing() as connection:
            connection.execute(
                "UPDATE gap SET status = ?, decisions = ? WHERE id = ?",
                (status.value, json.dumps([*gap.decisions, made]), gap.id),
            )
        return replace(self.get(gap.id), status=status)

    def forget_text(self, document: str) -> None:
        """Forget what was found in a document, since it was removed."""
        with self._file.writing() as connection:
            rows = connection.execute(
                "SELECT id, completion, passages FROM gap WHERE instr(passages, ?) OR instr(completion, ?)",
                (document, document),
            ).fetchall()
            for row in rows:
                left = [one for one in json.loads(row["passages"]) if one["document"] != document]
                proposed = None if row["completion"] is None else json.loads(row["completion"])
                gone = proposed is not None and proposed.get("document") == document
                connection.execute(
                    "UPDATE gap SET passages = ?, completion = ? WHERE id = ?",
                    (json.dumps(left), None if gone else row["completion"], row["id"]),
                )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _make_room(connection: sqlite3.Connection, sender: str) -> bool:
    """Whether a client may add a gap, perhaps in place of one of the client that holds most."""
    if connection.execute(_OPEN).fetchone()[0] < MOST_OPEN:
        return True
    own = connection.execute(f"{_OPEN} AND client = ?", (sender,)).fetchone()[0]
    heaviest = connection.execute(_HEAVIEST).fetchone()
    if own + 1 >= heaviest["held"]:
        return False
    last = connection.execute(_LAST_OF_CLIENT, (heaviest["client"],)).fetchone()
    if last is not None:
        connection.execute("DELETE FROM gap WHERE id = ?", (last["id"],))
    return last is not None


def _add_question(
    connection: sqlite3.Connection, identifier: str, asked: Asked, asker: str, now: str
) -> None:
    history = json.dumps(list(asked.history))
    key = (identifier, asker, asked.question, asked.context, history)
    updated = connection.execute(
        "UPDATE question SET times = times + 1, last = ? WHERE gap = ? AND asker = ? AND question = ? "
        "AND context = ? AND history = ?",
        (now, *key),
    )
    kept = connection.execute("SELECT COUNT(*) FROM question WHERE gap = ?", (identifier,)).fetchone()[0]
    if not updated.rowcount and kept < MOST_QUESTIONS:
        connection.execute("INSERT INTO question VALUES (?, ?, ?, ?, ?, ?, 1)", (*key, now))


def _triple(gap: Mapping[str, Any]) -> tuple[str, str, str]:
    return gap["subject"], gap["property"], gap["object"]


def _identifier(gap: Mapping[str, Any]) -> str:
    """The same for the same kind of gap in the same triple."""
    parts = (gap["kind"], *(part.casefold() for part in _triple(gap)))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]

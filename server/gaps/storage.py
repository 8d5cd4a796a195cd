"""What is kept of gaps: the queue, and the index of passages that may fill them.

`FOLDER/gaps.sqlite` has the gaps of questions, which the graph does not know. A gap is recorded with the
question, the query that was tried and who asked. Questions that miss the same triple are one gap. What the
model or a text proposes for it is kept here until a person accepts it.

`FOLDER/passages.sqlite` (SQLite's FTS5, ranked by BM25) has 256-token chunks of the graph's documents and of
an encyclopedia, and follows the documents and files with each search: what is new is added, what went is
removed. It can be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from server.errors import state_error
from server.gaps import EncyclopediaUnreadable, GapUnknown
from server.state_file import StateFile
from sparql.ask.answer import GapKind

GAPS_FILE: Final = "gaps.sqlite"
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
        self._file = StateFile(folder / GAPS_FILE, _SCHEMA)

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


PASSAGES_FILE: Final = "passages.sqlite"
TOKENS: Final = 256
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\w+")
_MOST_WORDS: Final = 64
_PLAIN: Final = (".txt", ".md")
_LINES: Final = (".jsonl", ".ndjson")
_PASSAGES_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS origin (name TEXT PRIMARY KEY, stamp TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE IF NOT EXISTS passage USING fts5 (
  title, text, origin UNINDEXED, source UNINDEXED, document UNINDEXED, start UNINDEXED,
  tokenize = 'porter unicode61'
);
"""


@dataclass(frozen=True)
class Passage:
    """A part of a text. `document` is the IRI of a document of the graph, None for the encyclopedia."""

    text: str
    title: str
    source: str
    document: str | None
    start: int
    score: float = 0.0


@dataclass(frozen=True)
class GraphDocuments:
    """The documents of the graph: their IRIs, and the text and source of one (None: it has no text)."""

    names: Callable[[], Iterable[str]]
    read: Callable[[str], tuple[str, str] | None]


class Passages:
    """The index; one connection, shared by threads. Raises `StateUnreadable` and `EncyclopediaUnreadable`."""

    def __init__(self, folder: Path, documents: GraphDocuments, encyclopedia: Path | None) -> None:
        self._documents = documents
        self._encyclopedia = encyclopedia
        self._lock = threading.Lock()
        self._path = folder / PASSAGES_FILE
        try:
            self._connection = sqlite3.connect(
                self._path, isolation_level=None, check_same_thread=False, timeout=30
            )
            self._connection.executescript(_PASSAGES_SCHEMA)
        except sqlite3.Error as error:
            raise state_error(self._path, error) from error

    def search(self, name: str, words: str, limit: int = 10) -> list[Passage]:
        """The passages that have a name, those that fit the words best first, after indexing what is new.

        A passage about another thing states nothing of the one that is named, however well its words fit.
        """
        named = [word.casefold() for word in _WORD.findall(name)][:_MOST_WORDS]
        others = dict.fromkeys(word.casefold() for word in _WORD.findall(words))
        any_of = " OR ".join(f'"{word}"' for word in (*named, *others)[:_MOST_WORDS])
        with self._lock:
            try:
                self._follow()
                if not named:
                    return []
                rows = self._connection.execute(
                    "SELECT text, title, source, document, start, -bm25(passage, 2.0, 1.0) FROM passage "
                    "WHERE passage MATCH ? ORDER BY bm25(passage, 2.0, 1.0), rowid LIMIT ?",
                    (f'"{" ".join(named)}" AND ({any_of})', limit),
                ).fetchall()
            except sqlite3.Error as error:
                raise state_error(self._path, error) from error
        return [Passage(a, b, c, d, e, round(score, 3)) for a, b, c, d, e, score in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _follow(self) -> None:
        """Index the documents and files that are new or changed, and forget those that went."""
        known = dict(self._connection.execute("SELECT name, stamp FROM origin"))
        now = dict.fromkeys(self._documents.names(), "") | _files(self._encyclopedia)
        for name in known:
            if now.get(name) != known[name]:
                self._connection.execute("BEGIN")
                self._connection.execute("DELETE FROM passage WHERE origin = ?", (name,))
                self._connection.execute("DELETE FROM origin WHERE name = ?", (name,))
                self._connection.execute("COMMIT")
        for name, stamp in now.items():
            if known.get(name) == stamp:
                continue
            made = list(self._of_file(Path(name)) if stamp else self._of_document(name))
            self._connection.execute("BEGIN")
            self._connection.executemany(
                "INSERT INTO passage (text, title, source, document, start, origin) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [(one.text, one.title, one.source, one.document, one.start, name) for one in made],
            )
            self._connection.execute("INSERT INTO origin VALUES (?, ?)", (name, stamp))
            self._connection.execute("COMMIT")

    def _of_document(self, iri: str) -> Iterator[Passage]:
        found = self._documents.read(iri)
        if found is not None:
            text, source = found
            yield from (Passage(text[a:b], "", source, iri, a) for a, b in chunks(text))

    def _of_file(self, path: Path) -> Iterator[Passage]:
        for title, text, source in _records(path):
            for start, end in chunks(text):
                part = text[start:end]
                named = part if title.casefold() in part.casefold() else f"{title}. {part}"
                yield Passage(named, title, source, None, start)


def chunks(text: str) -> Iterator[tuple[int, int]]:
    """The places of parts of 256 tokens: words, and marks between them."""
    tokens = [found.span() for found in _TOKEN.finditer(text)]
    for first in range(0, len(tokens), TOKENS):
        part = tokens[first : first + TOKENS]
        yield part[0][0], part[-1][1]


def _files(place: Path | None) -> dict[str, str]:
    """The files of the encyclopedia with what changes when they do."""
    if place is None:
        return {}
    if not place.exists():
        raise EncyclopediaUnreadable(place, "there is no such file or folder")
    found = sorted(place.rglob("*")) if place.is_dir() else [place]
    kinds = (*_PLAIN, *_LINES)
    stamps = {str(one.resolve()): one.stat() for one in found if one.suffix in kinds and one.is_file()}
    return {name: f"{stamp.st_mtime_ns} {stamp.st_size}" for name, stamp in stamps.items()}


def _records(path: Path) -> Iterator[tuple[str, str, str]]:
    """Title, text and source of each article of a file."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EncyclopediaUnreadable(path, str(error)) from error
    if path.suffix in _PLAIN:
        yield path.stem.replace("_", " "), content, path.name
        return
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            record = _record(path, number, line)
            title = str(record.get("title", path.stem))
            yield title, record["text"], str(record.get("source") or record.get("url") or title)


def _record(path: Path, number: int, line: str) -> Mapping[str, str]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise EncyclopediaUnreadable(path, f"line {number} is not JSON ({error.msg})") from error
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise EncyclopediaUnreadable(path, f'line {number} has no "text"')
    return record

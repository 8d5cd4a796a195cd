"""Passages that may fill a gap: 256-token chunks of the graph's documents and of an encyclopedia.

They are indexed in `FOLDER/passages.sqlite` (SQLite's FTS5, ranked by BM25), which follows the documents and
files with each search: what is new is added, what went is removed. The file can be deleted at any time.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from server.errors import state_error
from server.gaps.gap_errors import EncyclopediaUnreadable

FILE: Final = "passages.sqlite"
TOKENS: Final = 256
_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\w+")
_MOST_WORDS: Final = 64
_PLAIN: Final = (".txt", ".md")
_LINES: Final = (".jsonl", ".ndjson")
_SCHEMA: Final = """
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
        self._path = folder / FILE
        try:
            self._connection = sqlite3.connect(
                self._path, isolation_level=None, check_same_thread=False, timeout=30
            )
            self._connection.executescript(_SCHEMA)
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

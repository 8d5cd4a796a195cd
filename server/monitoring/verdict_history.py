"""How many statements the gate accepted, refused and warned of, by shape, hour and day: `verdicts.sqlite`.

Verdicts are counted in memory and written every minute and at the end; a killed server loses the last minute.
Hours are kept for eight days and days for 400. At most `MOST_SHAPES` shapes are counted apart in a period, so
that neither memory nor the file grows with what clients send.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode

from server.errors import StateUnreadable, state_error
from sparql.model.change import Rejection, Verdict

_log = logging.getLogger("urbankg.verdicts")
FILE: Final = "verdicts.sqlite"
MOST_SHAPES: Final = 200
_MOST_PENDING: Final = 10_000
_WRITTEN_EVERY_S: Final = 60.0
_ALL: Final = "*"
"""In place of a shape: every statement that was judged."""
_OTHERS: Final = ""
"""Shapes without an IRI, reasons that are no shape, and shapes beyond `MOST_SHAPES`."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS verdict_count (
  step TEXT NOT NULL, start INTEGER NOT NULL, shape TEXT NOT NULL, verdict TEXT NOT NULL,
  statements INTEGER NOT NULL, PRIMARY KEY (step, start, shape, verdict)
) STRICT, WITHOUT ROWID
"""
_ADD: Final = """
INSERT INTO verdict_count VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET statements = statements + excluded.statements
"""


class Step(StrEnum):
    """The length of a period."""

    HOUR = "hour"
    DAY = "day"

    @property
    def seconds(self) -> int:
        return 3600 if self is Step.HOUR else 86_400

    @property
    def kept(self) -> int:
        """How many periods are kept."""
        return 192 if self is Step.HOUR else 400


class Kind(StrEnum):
    """A verdict on a statement. One with a warning is accepted too."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    WARNED = "warned"


@dataclass(frozen=True)
class Period:
    """The verdicts of one hour or day (UTC); `start` in seconds since 1970."""

    start: int
    accepted: int
    refused: int
    warned: int


@dataclass(frozen=True)
class ShapeVerdicts:
    """What one shape refused and warned of, in all and in each period; `shape` is None for all others."""

    shape: str | None
    refused: tuple[int, ...]
    warned: tuple[int, ...]

    @property
    def statements(self) -> int:
        return sum(self.refused) + sum(self.warned)


_Key = tuple[int, str, Kind]
"""The beginning of an hour, a shape and a verdict."""


class VerdictHistory:
    """Counts verdicts from any thread. `later` runs a function in the background."""

    def __init__(
        self,
        folder: Path,
        later: Callable[[Callable[[], object]], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = folder / FILE
        self._later = later
        self._clock = clock
        self._lock = threading.Lock()
        self._file_lock = threading.Lock()
        self._pending: dict[_Key, int] = {}
        self._written = clock()
        self._connection: sqlite3.Connection | None = None

    def note(self, verdicts: Iterable[Verdict]) -> None:
        """Count the verdicts on changes that were meant (no dry runs)."""
        now = self._clock()
        hour = int(now) // 3600 * 3600
        with self._lock:
            for verdict in verdicts:
                if verdict.accepted:
                    self._add(hour, _ALL, Kind.ACCEPTED, len(verdict.accepted))
                if verdict.rejected:
                    self._note(hour, Kind.REFUSED, verdict.rejected)
                if verdict.warnings:
                    self._note(hour, Kind.WARNED, verdict.warnings)
            due = now - self._written > _WRITTEN_EVERY_S
            if due:
                # Once: the next one is due a minute later, also where the disk is full.
                self._written = now
        if due:
            self._later(self.write)

    def read(self, step: Step, periods: int) -> tuple[list[Period], list[ShapeVerdicts]]:
        """The last periods, the oldest first, and the shapes, those with most statements first.

        Raises `StateUnreadable`.
        """
        last = self._start(step)
        starts = range(last - (periods - 1) * step.seconds, last + 1, step.seconds)
        rows = self._rows(step, starts[0])
        found = {(shape, kind): [0] * periods for _, shape, kind, _ in rows}
        for start, shape, kind, statements in rows:
            if start <= last:
                found[shape, kind][(start - starts[0]) // step.seconds] += statements

        def counts(shape: str, kind: Kind) -> list[int]:
            return found.get((shape, kind), [0] * periods)

        totals = zip(starts, *(counts(_ALL, kind) for kind in Kind), strict=True)
        shapes = [
            ShapeVerdicts(
                shape or None, tuple(counts(shape, Kind.REFUSED)), tuple(counts(shape, Kind.WARNED))
            )
            for shape in {shape for shape, _ in found} - {_ALL}
        ]
        shapes.sort(key=lambda one: (-one.statements, one.shape or ""))
        return [Period(*total) for total in totals], shapes[:MOST_SHAPES]

    def write(self) -> None:
        """Write what was counted, and forget periods that are over. Raises `StateUnreadable`."""
        with self._file_lock:
            with self._lock:
                pending, self._pending = self._pending, {}
                self._written = self._clock()
            if not pending:
                return
            try:
                self._store(pending)
            except (OSError, sqlite3.Error) as error:
                with self._lock:
                    for key, number in pending.items():
                        self._add(*key, number)
                raise state_error(self._path, error) from error

    def close(self) -> None:
        """Write the rest; where that fails, its counts are lost, and the log says so."""
        try:
            self.write()
        except StateUnreadable as error:
            _log.warning("The counts of the last verdicts are lost: %s", error)
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _note(self, hour: int, kind: Kind, found: Sequence[Rejection]) -> None:
        self._add(hour, _ALL, kind, len(found))
        for rejection in found:
            for shape in _shapes(rejection):
                self._add(hour, shape, kind, 1)

    def _add(self, hour: int, shape: str, kind: Kind, number: int) -> None:
        key = (hour, shape, kind)
        if len(self._pending) >= _MOST_PENDING and key not in self._pending and shape != _ALL:
            key = (hour, _OTHERS, kind)
        self._pending[key] = self._pending.get(key, 0) + number

    def _start(self, step: Step) -> int:
        return _beginning(step, int(self._clock()))

    def _rows(self, step: Step, since: int) -> Sequence[tuple[int, str, Kind, int]]:
        """The counts since a time, also those that are not written yet."""
        with self._file_lock:
            with self._lock:
                pending = [
                    (_beginning(step, hour), shape, kind, number)
                    for (hour, shape, kind), number in self._pending.items()
                    if _beginning(step, hour) >= since
                ]
            try:
                written = self._opened().execute(
                    "SELECT start, shape, verdict, statements FROM verdict_count "
                    "WHERE step = ? AND start >= ?",
                    (step, since),
                )
                return [*((start, shape, Kind(kind), n) for start, shape, kind, n in written), *pending]
            except (OSError, sqlite3.Error) as error:
                raise state_error(self._path, error) from error

    def _store(self, pending: Mapping[_Key, int]) -> None:
        with self._opened() as connection:
            for step in Step:
                self._store_step(connection, step, pending)
                oldest = self._start(step) - step.kept * step.seconds
                connection.execute("DELETE FROM verdict_count WHERE step = ? AND start < ?", (step, oldest))

    def _store_step(self, connection: sqlite3.Connection, step: Step, pending: Mapping[_Key, int]) -> None:
        known: dict[int, set[str]] = {}
        for (hour, shape, kind), number in pending.items():
            start = _beginning(step, hour)
            if start not in known:
                known[start] = self._shapes_of(connection, step, start)
            among = known[start]
            if shape not in (_ALL, _OTHERS):
                shape = shape if shape in among or len(among) < MOST_SHAPES else _OTHERS
                among.update({shape} - {_OTHERS})
            connection.execute(_ADD, (step, start, shape, kind, number))

    @staticmethod
    def _shapes_of(connection: sqlite3.Connection, step: Step, start: int) -> set[str]:
        rows = connection.execute(
            "SELECT DISTINCT shape FROM verdict_count WHERE step = ? AND start = ?", (step, start)
        )
        return {shape for (shape,) in rows} - {_ALL, _OTHERS}

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            self._connection = sqlite3.connect(self._path, check_same_thread=False, timeout=30)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_SCHEMA)
        return self._connection


def _beginning(step: Step, seconds: int) -> int:
    """When the period began that a time is in."""
    return seconds // step.seconds * step.seconds


def _shapes(rejection: Rejection) -> set[str]:
    """The shapes by which a statement was refused or warned of."""
    return {one.shape.value if isinstance(one.shape, NamedNode) else _OTHERS for one in rejection.violations}

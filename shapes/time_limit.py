"""The time limit of one judgment: a shape's query can join everything with everything.

The engines call `check_time` wherever their work can multiply: at every node, at every row of a join, at
every triple that a query reads; what is left is the timeout of a regular expression. Any other step is not
interrupted: a dry run of new rules therefore runs in a process of its own (`shapes.authoring.impact`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import NoReturn, TypeVar

from sparql.model.errors import JudgingTimeout, StoreClosing

Row = TypeVar("Row")


class TimeLimit:
    """The limit of all judgments of a server. Each judgment may take `seconds`."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds
        self.end = math.inf
        """When running judgments are given up, because the server stops."""

    def close(self, grace_s: float = 0.0) -> None:
        """The server stops: judgments that are not done after so many seconds raise `StoreClosing`."""
        self.end = monotonic() + grace_s

    @contextmanager
    def running(self) -> Iterator[None]:
        """Limit what this thread judges in the block. The limit of an outer block applies too."""
        outer = _current.judgment
        deadline = monotonic() + self.seconds
        if outer is None or deadline < outer.deadline:
            _current.judgment = _Judgment(self, deadline)
        try:
            yield
        finally:
            _current.judgment = outer


class _Judgment:
    """The running judgment of a thread."""

    def __init__(self, limit: TimeLimit, deadline: float) -> None:
        self.limit = limit
        self.deadline = deadline
        self.shape = ""


class _Current(threading.local):
    judgment: _Judgment | None = None


_current = _Current()


def check_time(shape: str | None = None) -> None:
    """Raise `JudgingTimeout` when the judgment takes too long, `StoreClosing` when the server stops.

    `shape` is the name of the shape judged from now on, for the message.
    """
    judgment = _current.judgment
    if judgment is None:
        return
    if shape is not None:
        judgment.shape = shape
    now = monotonic()
    if now > judgment.deadline:
        raise JudgingTimeout(judgment.limit.seconds, judgment.shape)
    if now > judgment.limit.end:
        raise StoreClosing


def remaining_s() -> float | None:
    """How many seconds the running judgment of this thread has left, for a step with a timeout of its own.

    At least a millisecond; None when there is no limit.
    """
    judgment = _current.judgment
    if judgment is None:
        return None
    end = min(judgment.deadline, judgment.limit.end)
    return None if end == math.inf else max(end - monotonic(), 0.001)


def end_judgment() -> NoReturn:
    """A step of the running judgment reached its timeout: raise what `check_time` would."""
    check_time()
    judgment = _current.judgment
    assert judgment is not None, "without a judgment there is no timeout"
    raise JudgingTimeout(judgment.limit.seconds, judgment.shape)


def checked(rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows, with the time checked at each."""
    for row in rows:
        check_time()
        yield row

"""How long one judgement may take: a shape's query can join everything with everything.

What judges asks `check_time` wherever its work can multiply: at every node, at every row of a join, at every
triple that a query reads. It runs in pure Python, so nothing else needs to end it. What the engines do in one
step (a regular expression that backtracks without end, for one) is not interrupted; a dry run of new rules
therefore runs in a process of its own (`shapes.authoring.dry_run`).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from sparql.model.errors import JudgingTimeout, StoreClosing

Row = TypeVar("Row")


class TimeLimit:
    """The limit of all judgements of a server. Each judgement may take `seconds`."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds
        self.end = math.inf
        """When the judgements under way are given up, because the server ends."""

    def close(self, grace_s: float = 0.0) -> None:
        """The server ends: judgements that are not done after so many seconds raise `StoreClosing`."""
        self.end = monotonic() + grace_s

    @contextmanager
    def running(self) -> Iterator[None]:
        """Limit what this thread judges in the block. A limit around it holds, too."""
        outer = _current.judgement
        deadline = monotonic() + self.seconds
        if outer is None or deadline < outer.deadline:
            _current.judgement = _Judgement(self, deadline)
        try:
            yield
        finally:
            _current.judgement = outer


class _Judgement:
    """What one thread judges now."""

    def __init__(self, limit: TimeLimit, deadline: float) -> None:
        self.limit = limit
        self.deadline = deadline
        self.shape = ""


class _Current(threading.local):
    judgement: _Judgement | None = None


_current = _Current()


def check_time(shape: str | None = None) -> None:
    """Raise `JudgingTimeout` when this thread's judgement has taken too long, `StoreClosing` at the end.

    `shape` is the name of the shape that is judged from here on, for the message.
    """
    judgement = _current.judgement
    if judgement is None:
        return
    if shape is not None:
        judgement.shape = shape
    now = monotonic()
    if now > judgement.deadline:
        raise JudgingTimeout(judgement.limit.seconds, judgement.shape)
    if now > judgement.limit.end:
        raise StoreClosing


def checked(rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows, with the time checked at each."""
    for row in rows:
        check_time()
        yield row

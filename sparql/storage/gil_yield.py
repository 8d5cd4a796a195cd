"""Lets other threads run during long work in Python."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final, TypeVar

Item = TypeVar("Item")

# A few milliseconds of light work each.
_A_TURN: Final = 4000
_REST_S: Final = 0.0002
# A fifth of Python's default.
_SHORT_S: Final = 0.001
_lock: Final = threading.Lock()
_usual_s: list[float] = []


def with_pauses(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, with a pause after every few thousand."""
    left = iter(items)
    while turn := list(islice(left, _A_TURN)):
        yield from turn
        if len(turn) == _A_TURN:
            rest()


def rest() -> None:
    """Let waiting threads have the interpreter at once."""
    time.sleep(_REST_S)


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """Meanwhile, no thread that runs Python makes another one wait for more than a millisecond.

    A request needs the interpreter several times, and waits each time.
    """
    with _lock:
        _usual_s.append(sys.getswitchinterval() if not _usual_s else _usual_s[0])
        sys.setswitchinterval(_SHORT_S)
    try:
        yield
    finally:
        with _lock:
            usual_s = _usual_s.pop()
            if not _usual_s:
                sys.setswitchinterval(usual_s)

"""Long work in Python that lets other threads have the interpreter."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final, TypeVar

Item = TypeVar("Item")

# Some milliseconds of little work each.
_A_TURN: Final = 4000
_REST_S: Final = 0.0002
# A fifth of what Python leaves a thread.
_SHORT_S: Final = 0.001
_lock: Final = threading.Lock()
_usual_s: list[float] = []


def with_pauses(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, with a rest after each few thousand."""
    left = iter(items)
    while turn := list(islice(left, _A_TURN)):
        yield from turn
        if len(turn) == _A_TURN:
            rest()


def rest() -> None:
    """Let whoever waits for the interpreter have it at once."""
    time.sleep(_REST_S)


@contextmanager
def short_switch_interval() -> Iterator[None]:
    """While this lasts, no thread that runs Python keeps another one waiting for more than a millisecond.

    A request needs the interpreter several times, and waits as often.
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

"""Long loops that let other threads have the interpreter now and then."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, TypeVar

Item = TypeVar("Item")

# Some milliseconds of little work each.
_A_TURN: Final = 4000
_REST_S: Final = 0.0002


def in_turns(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, with a rest after each few thousand.

    A thread that waits for the interpreter has it at once in that moment, instead of after the five
    milliseconds that threads otherwise leave one another.
    """
    left = iter(items)
    while turn := list(islice(left, _A_TURN)):
        yield from turn
        if len(turn) == _A_TURN:
            rest()


def rest() -> None:
    """Let whoever waits for the interpreter have it."""
    time.sleep(_REST_S)

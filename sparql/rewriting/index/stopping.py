"""When work that holds a thread is to end early: its time is up, or nobody waits for it any more."""

from __future__ import annotations

import time
from math import inf


class Stopped(Exception):
    """The work was stopped. It never leaves this room."""


class Stop:
    """Asked by the work, every few milliseconds, whether to go on; told by those who wait, from any thread.

    `timeout_s` are seconds from now.
    """

    def __init__(self, timeout_s: float = inf) -> None:
        self._deadline = time.monotonic() + timeout_s

    def now(self) -> None:
        """Nobody waits any more."""
        self._deadline = -inf

    def check(self) -> None:
        """Raise `Stopped` where the work is to end."""
        if time.monotonic() >= self._deadline:
            raise Stopped

"""Ends work that holds a thread early: its time is up, or no one waits for it."""

from __future__ import annotations

import time
from math import inf
from typing import Final


class Stopped(Exception):
    """The work was stopped. Never leaves this package."""


class Stop:
    """The work checks it every few milliseconds; those who wait set it, from any thread.

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


UNLIMITED: Final = Stop()

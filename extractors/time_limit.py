"""The time that one extraction may take, checked wherever its work goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Incomplete", "OutOfTime", "TimeLimit"]


@dataclass(frozen=True)
class Incomplete:
    """Why an extraction ended early, and the code point of the text where it stopped."""

    reason: str
    at: int


class OutOfTime(Exception):
    """The time is over, or nobody waits for the result any more."""


class TimeLimit:
    """Ends work in threads, which cannot be cancelled from outside.

    `seconds` is the whole time (None: no limit); a part of it can be given to a part of the work.
    """

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock = clock
        self._ends = None if seconds is None else clock() + seconds
        self._cancelled = False

    @property
    def left(self) -> float | None:
        """The seconds that are left; None without a limit."""
        return None if self._ends is None else max(0.0, self._ends - self._clock())

    def cancel(self) -> None:
        """End the work at its next check."""
        self._cancelled = True

    def check(self) -> None:
        """Raise `OutOfTime` when the work has to end."""
        if self._cancelled or (self._ends is not None and self._clock() >= self._ends):
            raise OutOfTime

    def part(self, share: float) -> Callable[[], None]:
        """A check that ends after this share of what is left, and with the whole."""
        left = self.left
        ends = None if left is None else self._clock() + share * left

        def check() -> None:
            self.check()
            if ends is not None and self._clock() >= ends:
                raise OutOfTime

        return check

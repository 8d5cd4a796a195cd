"""Stops calls to a server that keeps failing, and tries it again after a pause."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from extractors.errors import ModelError, ModelTimeout, ModelUnavailable


class Circuit:
    """Opens after `failures` calls in a row that found the server down, failing or silent.

    While it is open calls are refused at once. After `rest_seconds` one call is let through: its success
    closes the circuit, its failure opens it for as long again. An overloaded server (429) is alive, and an
    unusable reply is no failure of the server.
    """

    def __init__(
        self, *, failures: int = 3, rest_seconds: float = 15.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = failures
        self._rest = rest_seconds
        self._clock = clock
        self._failed = 0
        self._opened: float | None = None
        self._trying = False
        self._last = ""

    @property
    def state(self) -> str:
        """`closed` (asked as usual), `open`, or `half-open` (the next call is the trial)."""
        if self._opened is None:
            return "closed"
        return "half-open" if self._resting() <= 0 else "open"

    def check(self) -> None:
        """Raise `ModelUnavailable` while calls are refused."""
        if self._opened is None:
            return
        resting = self._resting()
        if resting > 0 or self._trying:
            when = f"in {resting:.0f} s" if resting > 0 else "just now"
            raise ModelUnavailable(
                f"the model server failed {self._failed} times in a row and is tried again {when}; "
                f"the last time: {self._last}"
            )

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run a call under the circuit. Raises `ModelUnavailable` while calls are refused."""
        self.check()
        trial = self._opened is not None
        self._trying = self._trying or trial
        try:
            yield
        except ModelError as error:
            overloaded = isinstance(error, ModelUnavailable) and error.overloaded
            down = isinstance(error, ModelUnavailable | ModelTimeout) and not overloaded
            self._note(error if down else None)
            raise
        else:
            self._note(None)
        finally:
            if trial:
                self._trying = False

    def _resting(self) -> float:
        return 0.0 if self._opened is None else self._opened + self._rest - self._clock()

    def _note(self, failure: ModelError | None) -> None:
        """Count a failure, or close the circuit after a sign of life."""
        if failure is None:
            self._failed, self._opened = 0, None
            return
        self._failed, self._last = self._failed + 1, str(failure)
        if self._failed >= self._most:
            self._opened = self._clock()

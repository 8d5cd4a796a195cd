"""The slowest queries of the last day. A fixed number of them is kept, in memory alone.

A query's text may be private: each entry has the name of the key that sent it, so that others see only how
long it took.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

QUERY_TEXT: Final = "urbankg.query"
"""In the scope of a request (ASGI): the query that it runs."""
MOST_QUERIES: Final = 100
MOST_CHARS: Final = 4000
"""Of a longer text the rest is left out."""
_KEPT_S: Final = 86_400.0


@dataclass(frozen=True)
class SlowQuery:
    """A query that took long at least once. Times in seconds; `last` since 1970."""

    text: str
    complete: bool
    """Whether the text is all of the query."""
    key: str | None
    times: int
    longest: float
    total: float
    last: float
    status: int
    """How the last one ended (HTTP)."""


class SlowQueries:
    """Keeps queries that take at least `threshold_s`; 0: none. For the thread of the event loop."""

    def __init__(self, threshold_s: float = 1.0, clock: Callable[[], float] = time.time) -> None:
        self.threshold_s = threshold_s
        self._clock = clock
        self._found: dict[tuple[str, str | None], SlowQuery] = {}

    def is_slow(self, seconds: float) -> bool:
        """Whether a query that took so long is kept."""
        return 0 < self.threshold_s <= seconds

    def note(self, query: str, key: str | None, seconds: float, status: int) -> None:
        """Keep a query. Where there are too many, the quickest goes."""
        now = self._clock()
        self._forget_old(now)
        text = query[:MOST_CHARS]
        known = self._found.get((text, key)) or SlowQuery(
            text, len(text) == len(query), key, 0, 0.0, 0.0, now, status
        )
        self._found[text, key] = replace(
            known,
            times=known.times + 1,
            longest=max(known.longest, seconds),
            total=known.total + seconds,
            last=now,
            status=status,
        )
        if len(self._found) > MOST_QUERIES:
            del self._found[min(self._found, key=lambda one: self._found[one].longest)]

    def listed(self) -> list[SlowQuery]:
        """Those of the last day, the slowest first."""
        self._forget_old(self._clock())
        return sorted(self._found.values(), key=lambda one: -one.longest)

    def _forget_old(self, now: float) -> None:
        for key in [key for key, one in self._found.items() if now - one.last > _KEPT_S]:
            del self._found[key]

"""What the clients of a soak got: how long each kind of request took, minute by minute, and what failed."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

_KEPT_FAILURES = 20


@dataclass
class Record:
    """Requests by minute and kind; failures are counted, and the first of them kept."""

    begin: float = field(default_factory=time.monotonic)
    seconds: dict[int, dict[str, list[float]]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    failed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, kind: str, seconds: float) -> None:
        """A request was answered."""
        minute = int((time.monotonic() - self.begin) / 60)
        with self._lock:
            self.seconds.setdefault(minute, defaultdict(list))[kind].append(seconds)

    def fail(self, what: str) -> None:
        """A request failed, or an answer is not what it should be."""
        with self._lock:
            self.failed += 1
            if len(self.failures) < _KEPT_FAILURES:
                self.failures.append(what)

    @property
    def requests(self) -> int:
        """How many requests were answered."""
        with self._lock:
            return sum(len(times) for kinds in self.seconds.values() for times in kinds.values())

    def table(self) -> Iterator[str]:
        """A line for each minute and kind: how many requests, p50 and p99 in milliseconds."""
        yield f"{'minute':>6} {'request':<12} {'count':>6} {'p50 ms':>8} {'p99 ms':>8}"
        for minute, kinds in sorted(self.seconds.items()):
            for kind, times in sorted(kinds.items()):
                middle, high = (1000 * percentile(times, share) for share in (0.5, 0.99))
                yield f"{minute:>6} {kind:<12} {len(times):>6} {middle:>8.1f} {high:>8.1f}"


def percentile(values: list[float], share: float) -> float:
    """The value that this share of the values does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

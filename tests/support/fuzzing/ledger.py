"""What became of each request: statuses by class, and those that failed."""

from __future__ import annotations

import sys
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field

HANG_S = 30.0
ALLOWED = frozenset({501, 503, 504})
"""The statuses of 500 and above that report a state and not of a mistake in the server."""


@dataclass(frozen=True)
class Answer:
    """One answer, or why there was none: `status` is None where the server closed the connection."""

    status: int | None
    seconds: float
    hung: bool = False
    body: bytes = b""


@dataclass
class Ledger:
    """All answers by group; may be filled by several threads."""

    answers: dict[str, list[tuple[str, Answer]]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, group: str, name: str, answer: Answer, *, must_answer: bool = False) -> None:
        """Note an answer, and whether it is one that no request may get."""
        with self.lock:
            self.answers[group].append((name, answer))
            label = f"{group}: {name}"
            if answer.hung:
                self._failed(f"{label}: no end within {HANG_S:g} s")
            elif answer.status is None and must_answer:
                self._failed(f"{label}: closed without an answer")
            elif answer.status is not None and answer.status >= 500 and answer.status not in ALLOWED:
                self._failed(f"{label}: {answer.status} {answer.body[:300]!r}")

    def fail(self, label: str) -> None:
        """Note a failure that is not one of an answer."""
        with self.lock:
            self._failed(label)

    def _failed(self, label: str) -> None:
        self.failures.append(label)
        print(f"FAILURE {label}", file=sys.stderr, flush=True)

    @property
    def cases(self) -> int:
        return sum(len(found) for found in self.answers.values())

    def table(self) -> str:
        """A row per group: cases, statuses by class, the slowest."""
        lines = [
            f"{'group':<26} {'cases':>6} {'2xx':>6} {'3xx':>5} {'4xx':>6} {'5xx':>5} {'closed':>6}  slowest"
        ]
        for group, found in self.answers.items():
            classes = Counter(
                "closed" if one.status is None else f"{one.status // 100}xx" for _, one in found
            )
            name, slowest = max(found, key=lambda pair: pair[1].seconds)
            counts = f"{classes['2xx']:>6} {classes['3xx']:>5} {classes['4xx']:>6} {classes['5xx']:>5}"
            lines.append(
                f"{group:<26} {len(found):>6} {counts} {classes['closed']:>6}  "
                f"{slowest.seconds:6.2f} s  {name[:60]}"
            )
        statuses = Counter(one.status for found in self.answers.values() for _, one in found)
        by_status = (f"{status or 'closed'}: {count}" for status, count in sorted(statuses.items(), key=str))
        lines.append("by status: " + ", ".join(by_status))
        return "\n".join(lines)

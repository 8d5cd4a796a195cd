"""When a failed request to a model server is worth sending again, and after how long."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

__all__ = ["RetryPolicy"]

# Overloaded or starting: worth asking again. None stands for a broken connection.
_PASSING = (429, 503, None)
_GENERATION_FAILED = 424


@dataclass(frozen=True)
class RetryPolicy:
    """Back-off with jitter: 429, 503 and broken connections several times, 424 once, nothing else.

    Seconds double with each attempt from `first_seconds` up to `longest_seconds`, spread by half either way
    so that clients that failed together do not come back together.
    """

    attempts: int = 5
    first_seconds: float = 0.5
    longest_seconds: float = 20.0
    random: Random = field(default_factory=Random)

    def wait(self, status: int | None, attempt: int, retry_after: str | None = None) -> float | None:
        """Give the seconds to wait after the failed `attempt` (counted from 1), or None to give up."""
        most = self.attempts if status in _PASSING else 2 if status == _GENERATION_FAILED else 1
        if attempt >= most:
            return None
        seconds = self.first_seconds * 2.0 ** (attempt - 1)
        if retry_after is not None and retry_after.isdigit():
            seconds = max(seconds, float(retry_after))
        return min(seconds, self.longest_seconds) * self.random.uniform(0.5, 1.5)

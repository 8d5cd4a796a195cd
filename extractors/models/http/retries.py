"""When a failed request to a model server is worth sending again, and after how long."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

# Overloaded or starting: worth another attempt. None is a broken connection.
_PASSING = (429, 503, None)
_GENERATION_FAILED = 424


@dataclass(frozen=True)
class RetryPolicy:
    """Back-off with jitter: 429, 503 and broken connections several times, 424 once, nothing else.

    Seconds double with each attempt from `first_seconds` up to `longest_seconds`, spread by half either way
    so that clients that failed together do not come back together. A pause that the server asks for is
    waited out, up to `longest_asked_seconds`, and spread upwards only.
    """

    attempts: int = 5
    first_seconds: float = 0.5
    longest_seconds: float = 20.0
    longest_asked_seconds: float = 60.0
    random: Random = field(default_factory=Random)

    def wait(self, status: int | None, attempt: int, asked_seconds: float | None = None) -> float | None:
        """Give the seconds to wait after the failed `attempt` (counted from 1), or None to give up."""
        most = self.attempts if status in _PASSING else 2 if status == _GENERATION_FAILED else 1
        if attempt >= most:
            return None
        seconds = min(self.first_seconds * 2.0 ** (attempt - 1), self.longest_seconds)
        seconds *= self.random.uniform(0.5, 1.5)
        if asked_seconds is not None:
            asked = min(asked_seconds, self.longest_asked_seconds)
            seconds = max(seconds, asked * self.random.uniform(1.0, 1.25))
        return seconds


def pause_of(retry_after: str | None, now: datetime | None = None) -> float | None:
    """Read the header Retry-After (RFC 9110, 10.2.3), seconds or a date; None for what is neither."""
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        pass
    try:
        seconds = (parsedate_to_datetime(retry_after or "") - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError):
        return None
    return max(0.0, seconds)

"""Which clients may use the express worker.

A query that takes too long there costs a process, and while the next one starts, nobody's short query is
answered. So a client whose queries repeatedly do so is excluded from the express for longer and longer, as
long as there are other clients.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from sparql.workers.queue.client import OURSELVES

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0
_REMEMBERED_S = 60.0
"""For this long a client counts as present, and its last long query against it."""
_MOST_PAUSES = 1000


class ExpressAccess:
    """Clients that were present recently, and their long queries; ``clock`` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        # The time of each client's last query; the oldest first.
        self._asked: OrderedDict[str, float] = OrderedDict()
        # How many consecutive queries were too long, and until when the client is excluded from the express.
        self._pauses: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def asks(self, client: str) -> None:
        """A client sends a query."""
        if client == OURSELVES:
            return
        now = self._clock()
        self._asked[client] = now
        self._asked.move_to_end(client)
        while (oldest := next(iter(self._asked.items())))[1] < now - _REMEMBERED_S:
            del self._asked[oldest[0]]

    def took_too_long(self, client: str) -> float:
        """A query of a client was too long; returns for how many seconds it is now excluded."""
        now = self._clock()
        times, until = self._pauses.get(client, (0, now))
        times = 1 if until + _REMEMBERED_S <= now else times + 1
        pause: float = min(_FIRST_PAUSE_S * 2.0 ** (times - 1), _LONGEST_PAUSE_S)
        self._pauses[client] = times, now + pause
        self._pauses.move_to_end(client)
        if len(self._pauses) > _MOST_PAUSES:
            self._pauses.popitem(last=False)
        return pause

    def allows(self, client: str) -> bool:
        """Whether its queries may use the express now."""
        if client not in self._pauses:
            return True
        return self._clock() >= self._pauses[client][1] or not self._others_than(client)

    def _others_than(self, client: str) -> bool:
        since = self._clock() - _REMEMBERED_S
        for other in reversed(self._asked):
            if other != client:
                return self._asked[other] >= since
        return False

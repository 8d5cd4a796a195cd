"""The slots of a model server, shared fairly among callers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class Slots:
    """Admits so many callers (`places`) at a time; waiting parties take turns, in order within a party.

    So a job with a thousand texts does not keep one person's text waiting for all of them. `taken` is how
    many are in. For one event loop.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self.taken = 0
        self._queues: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(not place.done() for queue in self._queues.values() for place in queue)

    def resize(self, places: int) -> None:
        """Change the number of slots; running calls stay."""
        self.places = max(1, places)
        self._admit()

    @asynccontextmanager
    async def turn(self, party: Hashable = None) -> AsyncIterator[None]:
        """Wait for a place and keep it for the length of the block."""
        place = asyncio.get_running_loop().create_future()
        self._queues.setdefault(party, deque()).append(place)
        self._admit()
        try:
            await place
            yield
        finally:
            # A caller may leave as its place comes.
            if not place.cancelled():
                self.taken -= 1
                self._admit()

    def _admit(self) -> None:
        while self.taken < self.places and self._queues:
            party, queue = self._queues.popitem(last=False)
            place = queue.popleft()
            if queue:
                self._queues[party] = queue
            if not place.done():
                self.taken += 1
                place.set_result(None)

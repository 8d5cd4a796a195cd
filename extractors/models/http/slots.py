"""The slots of a model server, shared fairly among callers."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

__all__ = ["Slots"]


class Slots:
    """Admits a number of callers at a time; waiting parties take turns, in order within a party.

    So a job with a thousand texts does not keep one person's text waiting for all of them. For one event
    loop.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._taken = 0
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def places(self) -> int:
        """How many may be in at a time."""
        return self._places

    @property
    def taken(self) -> int:
        """How many are in."""
        return self._taken

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(len(queue) for queue in self._waiting.values())

    def resize(self, places: int) -> None:
        """Change the number of slots; running calls stay."""
        self._places = max(1, places)
        self._admit()

    @asynccontextmanager
    async def turn(self, party: Hashable = None) -> AsyncIterator[None]:
        """Wait for a place and keep it for the length of the block."""
        await self._enter(party)
        try:
            yield
        finally:
            self._taken -= 1
            self._admit()

    async def _enter(self, party: Hashable) -> None:
        if self._taken < self._places and not self._waiting:
            self._taken += 1
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(party, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                # The place was given to a caller who has just gone.
                self._taken -= 1
                self._admit()
            else:
                self._forget(party, place)
            raise

    def _admit(self) -> None:
        while self._taken < self._places and self._waiting:
            party, queue = self._waiting.popitem(last=False)
            place = queue.popleft()
            if queue:
                self._waiting[party] = queue
            if not place.done():
                self._taken += 1
                place.set_result(None)

    def _forget(self, party: Hashable, place: asyncio.Future[None]) -> None:
        queue = self._waiting.get(party)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self._waiting[party]

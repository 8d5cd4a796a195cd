"""A queue in which clients take turns, however many entries each of them has."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from sparql.workers.queue.client import CLIENT

T = TypeVar("T")


@dataclass(eq=False)
class Waiting(Generic[T]):
    """An entry: its client, whether it may use the express, and its future result."""

    client: str
    avoid_express: bool
    given: asyncio.Future[T]


class FairQueue(Generic[T]):
    """Entries in the order in which they should be served.

    The client that holds the least is served first, among several the one served longest ago; a client's own
    entries keep their order. When `limit` entries wait, one more costs the client with the most of them its
    last one: that one fails with the error that `refusal` creates.
    """

    def __init__(self, limit: int, refusal: Callable[[], Exception]) -> None:
        self._limit = limit
        self._refusal = refusal
        # By client, those served longest ago first.
        self._entries: dict[str, deque[Waiting[T]]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Waiting[T]]:
        for entries in self._entries.values():
            yield from entries

    def add(self, client: str, *, avoid_express: bool = False, first: bool = False) -> Waiting[T]:
        """A new entry; with `first` before the client's others. Raises the refusal when there is no space."""
        if self._size >= self._limit:
            self._make_room(client, first=first)
        waiting = Waiting[T](client, avoid_express, asyncio.get_running_loop().create_future())
        entries = self._entries.setdefault(client, deque())
        if first:
            entries.appendleft(waiting)
        else:
            entries.append(waiting)
        self._size += 1
        return waiting

    def next(self, held: Mapping[str, int], suits: Callable[[Waiting[T]], bool]) -> Waiting[T] | None:
        """Remove the entry to serve, of those that suit; `held` says how much each client already has."""
        for client in sorted(self._entries, key=lambda one: held.get(one, 0)):
            for waiting in self._entries[client]:
                if not waiting.given.done() and suits(waiting):
                    self.leave(waiting)
                    if (others := self._entries.pop(client, None)) is not None:
                        self._entries[client] = others
                    return waiting
        return None

    def leave(self, waiting: Waiting[T]) -> None:
        """Remove an entry, if it is still there."""
        entries = self._entries.get(waiting.client)
        if entries is None or waiting not in entries:
            return
        entries.remove(waiting)
        self._size -= 1
        if not entries:
            del self._entries[waiting.client]

    def fail_all(self, error: Exception) -> None:
        """No more entries will be served."""
        for waiting in list(self):
            self.leave(waiting)
            if not waiting.given.done():
                waiting.given.set_exception(error)

    def _make_room(self, client: str, *, first: bool) -> None:
        own = len(self._entries.get(client, ())) + 1
        most = max(self._entries, key=lambda one: len(self._entries[one]), default=client)
        if len(self._entries.get(most, ())) <= own:
            most = client
        if most == client and (own == 1 or not first):
            raise self._refusal()
        last = self._entries[most][-1]
        self.leave(last)
        if not last.given.done():
            last.given.set_exception(self._refusal())


class Places:
    """A limited number of places, shared among clients, of which none gets all."""

    def __init__(self, count: int, limit: int, refusal: Callable[[], Exception]) -> None:
        self._free = count
        self._most = max(1, count - 1)
        self._held: Counter[str] = Counter()
        self._queue: FairQueue[None] = FairQueue(limit, refusal)

    @property
    def waiting(self) -> int:
        """How many wait for a place."""
        return len(self._queue)

    async def take(self) -> None:
        """Return when there is a place for the client of this task. Raises the refusal when too many wait."""
        client = CLIENT.get()
        if self._free and self._held[client] < self._most:
            self._occupy(client)
            return
        waiting = self._queue.add(client)
        try:
            await waiting.given
        except BaseException:
            self._queue.leave(waiting)
            if was_given(waiting):
                self.give_back()
            raise

    def give_back(self) -> None:
        """The client of this task no longer needs its place."""
        client = CLIENT.get()
        self._held[client] -= 1
        if not self._held[client]:
            del self._held[client]
        self._free += 1
        while self._free and (waiting := self._queue.next(self._held, self._suits)) is not None:
            self._occupy(waiting.client)
            waiting.given.set_result(None)

    def _suits(self, waiting: Waiting[None]) -> bool:
        return self._held.get(waiting.client, 0) < self._most

    def _occupy(self, client: str) -> None:
        self._free -= 1
        self._held[client] += 1


def was_given(waiting: Waiting[T]) -> bool:
    """Whether an abandoned entry was served in the meantime."""
    given = waiting.given
    return given.done() and not given.cancelled() and given.exception() is None

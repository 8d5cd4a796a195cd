"""A queue in which clients take turns, however many entries each of them has."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

R = TypeVar("R")

OURSELVES: Final = ""
"""The client of the program's own work."""
CLIENT: Final[ContextVar[str]] = ContextVar("client", default=OURSELVES)
"""The client that the current task works for: an identifier, the same for all of its requests."""


@dataclass(eq=False)
class _Waiting(Generic[R]):
    """An entry: its client, and the resource that it will get."""

    client: str
    given: asyncio.Future[R]


class FairQueue(Generic[R]):
    """Resources, such as workers, and the clients that wait for one; belongs to one event loop.

    A free resource goes to the client that holds the fewest, among several to the one served longest ago; a
    client's own entries keep their order. No client holds more than `most_each`. When `limit` entries wait,
    one more costs the client with the most of them its last one: that one fails with the error that `refusal`
    creates.
    """

    def __init__(
        self, most_each: int, limit: int, refusal: Callable[[], Exception], idle: Iterable[R] = ()
    ) -> None:
        self._most_each = most_each
        self._limit = limit
        self._refusal = refusal
        # By client, those served longest ago first.
        self._entries: dict[str, deque[_Waiting[R]]] = {}
        self.idle: list[R] = [*idle]
        """The most recently used are at the end."""
        self.holders: dict[R, str] = {}
        """The client of each resource in use."""

    @property
    def waiting(self) -> int:
        """How many entries wait."""
        return sum(map(len, self._entries.values()))

    async def take(self) -> R:
        """A resource for the client of this task, once there is one; `give_back` or `discard` must follow.

        Raises the refusal when too many wait.
        """
        client = CLIENT.get()
        if self.idle and self._held()[client] < self._most_each:
            return self._hand_out(client)
        waiting = self._add(client)
        try:
            return await waiting.given
        except BaseException:
            self._remove(waiting)
            given = waiting.given
            if given.done() and not given.cancelled() and given.exception() is None:
                # It was assigned just when the wait ended.
                self.give_back(given.result())
            raise

    def give_back(self, resource: R) -> None:
        """A resource is free, again or for the first time."""
        self.holders.pop(resource, None)
        self.idle.append(resource)
        while self.idle and (waiting := self._next()) is not None:
            waiting.given.set_result(self._hand_out(waiting.client))

    def discard(self, resource: R) -> None:
        """A resource that was handed out no longer exists."""
        self.holders.pop(resource, None)

    def fail_all(self, error: Exception) -> None:
        """Fail all entries that wait."""
        for waiting in [waiting for entries in self._entries.values() for waiting in entries]:
            self._fail(waiting, error)

    def _held(self) -> Counter[str]:
        return Counter(self.holders.values())

    def _hand_out(self, client: str) -> R:
        resource = self.idle.pop()
        self.holders[resource] = client
        return resource

    def _add(self, client: str) -> _Waiting[R]:
        if self.waiting >= self._limit:
            self._make_room(client)
        waiting = _Waiting[R](client, asyncio.get_running_loop().create_future())
        self._entries.setdefault(client, deque()).append(waiting)
        return waiting

    def _next(self) -> _Waiting[R] | None:
        """Remove and return the entry to serve, if there is one that may be served."""
        held = self._held()
        for client in sorted(self._entries, key=lambda client: held[client]):
            if held[client] >= self._most_each:
                return None
            for waiting in self._entries[client]:
                if not waiting.given.done():
                    self._remove(waiting)
                    if (others := self._entries.pop(client, None)) is not None:
                        self._entries[client] = others
                    return waiting
        return None

    def _remove(self, waiting: _Waiting[R]) -> None:
        """Remove an entry, if it is still there."""
        entries = self._entries.get(waiting.client)
        if entries is not None and waiting in entries:
            entries.remove(waiting)
            if not entries:
                del self._entries[waiting.client]

    def _fail(self, waiting: _Waiting[R], error: Exception) -> None:
        self._remove(waiting)
        if not waiting.given.done():
            waiting.given.set_exception(error)

    def _make_room(self, client: str) -> None:
        most = max(self._entries, key=lambda other: len(self._entries[other]), default=client)
        if len(self._entries.get(most, ())) <= len(self._entries.get(client, ())) + 1:
            raise self._refusal()
        self._fail(self._entries[most][-1], self._refusal())

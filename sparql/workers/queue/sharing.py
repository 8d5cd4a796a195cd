"""Which worker works for which client, and who gets the next idle one.

A client holds at most a given number of workers beside the express, which is for short work. This module does
not check whether a worker is alive.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from typing import Generic, TypeVar

from sparql.workers.queue.express_access import ExpressAccess
from sparql.workers.queue.fair_queue import FairQueue, Waiting

R = TypeVar("R")


class Sharing(Generic[R]):
    """The idle workers, the held ones, and the queue for them."""

    def __init__(self, most_each: int, queue: FairQueue[R]) -> None:
        self._most_each = most_each
        self.queue = queue
        self.access = ExpressAccess(time.monotonic)
        self.idle: list[R] = []
        """The most recently used are at the end."""
        self.held: dict[R, str] = {}
        """The client of each busy worker."""
        self.express: R | None = None

    def is_express(self, worker: R) -> bool:
        """Whether this worker is the express now."""
        return worker is self.express

    def take_idle(self, client: str, avoid_express: bool) -> R | None:
        """The most recently used idle worker, now held; the express only where there is no other."""
        found: R | None = None
        if self._held_beside_express()[client] < self._most_each:
            found = next((one for one in reversed(self.idle) if not self.is_express(one)), None)
        if found is None and self.express in self.idle and self._may_take_express(client, avoid_express):
            found = self.express
        if found is not None:
            self.idle.remove(found)
            self.held[found] = client
        return found

    def deal(self) -> None:
        """Give idle workers to those that wait; an idle one takes over from an express that is busy."""
        while self.queue and self._give_one():
            pass
        if self.idle and self._express_may_keep_on():
            self.express = self.idle[-1]
            if self.queue and self._give_one():
                self.deal()

    def one_client_has_all(self, workers: Iterable[R]) -> bool:
        """Whether one client holds all of these but the express, and another waits that may not use it."""
        holders = {self.held.get(worker) for worker in workers if not self.is_express(worker)}
        if len(holders) != 1 or None in holders:
            return False
        return any(
            one.client not in holders and not self._may_take_express(one.client, one.avoid_express)
            for one in self.queue
        )

    def _held_beside_express(self) -> Counter[str]:
        return Counter(client for worker, client in self.held.items() if not self.is_express(worker))

    def _may_take_express(self, client: str, avoid_express: bool) -> bool:
        return self.express is not None and not avoid_express and self.access.allows(client)

    def _express_may_keep_on(self) -> bool:
        """Whether the express is busy, and may take as long as any other worker for its query."""
        if self.express is None or self.express in self.idle:
            return False
        client = self.held.get(self.express)
        return client is None or self._held_beside_express()[client] < self._most_each

    def _give_one(self) -> bool:
        """Give one idle worker, preferably not the express, to the next in the queue."""
        held = self._held_beside_express()

        def suits(waiting: Waiting[R]) -> bool:
            if self.is_express(worker):
                return self._may_take_express(waiting.client, waiting.avoid_express)
            return held[waiting.client] < self._most_each

        for worker in sorted(self.idle, key=self.is_express):
            waiting = self.queue.next(held, suits)
            if waiting is not None:
                self.idle.remove(worker)
                self.held[worker] = waiting.client
                waiting.given.set_result(worker)
                return True
        return False

"""Clients that wait take turns, and a full queue costs the client that has most in it."""

from __future__ import annotations

import asyncio

import pytest

from sparql.workers.fair_queue import CLIENT, FairQueue


class Full(Exception):
    """There is no room."""


class Waiting:
    """A queue for resources that are numbers, and clients that wait for one, in tasks of their own."""

    def __init__(self, resources: int = 0, most_each: int = 100, limit: int = 100) -> None:
        self.queue: FairQueue[int] = FairQueue(most_each, limit, Full, range(resources))
        self.served = ""
        self.refused = ""

    async def wait(self, clients: str) -> list[asyncio.Task[int | None]]:
        """Each of these clients, a letter each, waits for a resource, in this order."""
        tasks = [asyncio.create_task(self._take(client)) for client in clients]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return tasks

    async def serve(self, count: int, *, keeps: bool) -> str:
        """So many resources become free; who gets them, where clients keep them or give them back at once."""
        for number in range(100, 100 + count):
            self.queue.give_back(number)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            if not keeps:
                self.queue.discard(number)
        return self.served

    async def _take(self, client: str) -> int | None:
        CLIENT.set(client)
        try:
            taken = await self.queue.take()
        except Full:
            self.refused += client
            return None
        self.served += client
        return taken


async def test_the_client_that_has_least_goes_first_and_the_others_in_turns() -> None:
    waiting = Waiting()
    await waiting.wait("aaaaabbc")
    assert await waiting.serve(8, keeps=True) == "abcabaaa"
    assert waiting.queue.waiting == 0


async def test_who_has_much_already_comes_after_those_who_have_nothing() -> None:
    waiting = Waiting(resources=2)
    await waiting.wait("aaaab")
    assert waiting.served == "aa"
    assert await waiting.serve(3, keeps=True) == "aabaa"


async def test_turns_go_round_where_everything_is_given_back_at_once() -> None:
    waiting = Waiting()
    await waiting.wait("aaabbc")
    assert await waiting.serve(6, keeps=False) == "abcaba"


async def test_no_client_holds_more_than_its_share_even_if_nobody_else_waits() -> None:
    waiting = Waiting(resources=3, most_each=2)
    await waiting.wait("aaaa")
    assert waiting.served == "aa"
    assert waiting.queue.idle == [0]
    await waiting.wait("b")
    assert waiting.served == "aab"
    # Another resource does not help the client that has its share.
    assert await waiting.serve(1, keeps=True) == "aab"
    held = next(number for number, client in waiting.queue.holders.items() if client == "a")
    waiting.queue.give_back(held)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert waiting.served == "aaba"


async def test_a_full_queue_turns_away_the_last_entry_of_the_client_with_most() -> None:
    waiting = Waiting(limit=4)
    await waiting.wait("aaaabc")
    assert waiting.refused == "aa"
    # With a second one b would have as many as a.
    await waiting.wait("ab")
    assert waiting.refused == "aaab"
    assert await waiting.serve(4, keeps=True) == "abca"


async def test_a_queue_without_space_refuses_everybody() -> None:
    waiting = Waiting(limit=0)
    await waiting.wait("a")
    assert waiting.refused == "a"


async def test_an_entry_whose_client_leaves_is_not_served() -> None:
    waiting = Waiting()
    gone, _ = await waiting.wait("ab")
    gone.cancel()
    await asyncio.sleep(0)
    assert waiting.queue.waiting == 1
    assert await waiting.serve(1, keeps=True) == "b"


async def test_a_resource_that_comes_as_its_client_leaves_is_not_lost() -> None:
    waiting = Waiting()
    (leaving,) = await waiting.wait("a")
    waiting.queue.give_back(1)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert waiting.queue.idle == [1]
    assert waiting.queue.holders == {}


async def test_at_the_end_all_entries_fail() -> None:
    waiting = Waiting()
    await waiting.wait("ab")
    waiting.queue.fail_all(Full())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert waiting.refused == "ab"

"""Clients that wait take turns, and a full queue costs the one that has most in it."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from sparql.workers.queue.client import CLIENT
from sparql.workers.queue.fair_queue import FairQueue, Places, Waiting, was_given


class Full(Exception):
    """There is no room."""


def queue(limit: int = 100) -> FairQueue[int]:
    return FairQueue(limit, Full)


def served(queue: FairQueue[int], held: dict[str, int] | None = None) -> str:
    """The clients in the order in which they are served, where none gives back what it has."""
    order, has = "", Counter(held or {})
    while (waiting := queue.next(has, lambda one: True)) is not None:
        has[waiting.client] += 1
        order += waiting.client
    return order


async def test_the_client_that_has_least_goes_first_and_the_others_in_turns() -> None:
    waiting = queue()
    for client in "aaaaabbc":
        waiting.add(client)
    assert served(waiting) == "abcabaaa"
    assert len(waiting) == 0


async def test_who_has_much_already_comes_after_those_who_have_nothing() -> None:
    waiting = queue()
    for client in "aab":
        waiting.add(client)
    assert served(waiting, {"a": 2}) == "baa"


async def test_turns_go_round_where_everything_is_given_back_at_once() -> None:
    waiting = queue()
    for client in "aaabbc":
        waiting.add(client)
    assert "".join(one.client for _ in range(6) if (one := waiting.next({}, lambda _: True))) == "abcaba"


async def test_entries_of_one_client_keep_their_order_and_what_starts_again_goes_before_them() -> None:
    waiting = queue()
    first, second = waiting.add("a"), waiting.add("a")
    again = waiting.add("a", first=True)
    assert [waiting.next({}, lambda _: True) for _ in range(3)] == [again, first, second]


async def test_an_unsuitable_entry_is_skipped_and_keeps_its_place() -> None:
    waiting = queue()
    long, short = waiting.add("a", avoid_express=True), waiting.add("a")
    assert waiting.next({}, lambda one: not one.avoid_express) is short
    assert waiting.next({}, lambda one: not one.avoid_express) is None
    assert waiting.next({}, lambda one: True) is long


async def test_a_full_queue_turns_away_the_last_entry_of_the_client_with_most() -> None:
    waiting = queue(4)
    greedy = [waiting.add("a") for _ in range(4)]
    kept = [waiting.add(client) for client in "bc"]
    assert [one.given.done() for one in greedy] == [False, False, True, True]
    for one in greedy[2:]:
        with pytest.raises(Full):
            one.given.result()
    assert not any(one.given.done() for one in kept)
    with pytest.raises(Full):
        waiting.add("a")
    # With a second one b would have as many as a.
    with pytest.raises(Full):
        waiting.add("b")
    assert len(waiting) == 4


async def test_a_restarted_entry_costs_its_own_client_an_entry() -> None:
    waiting = queue(2)
    first, last = waiting.add("a"), waiting.add("a")
    again = waiting.add("a", first=True)
    with pytest.raises(Full):
        last.given.result()
    assert [waiting.next({}, lambda _: True) for _ in range(2)] == [again, first]


async def test_a_queue_without_space_refuses_everybody() -> None:
    with pytest.raises(Full):
        queue(0).add("a")


async def test_an_abandoned_entry_is_not_served() -> None:
    waiting = queue()
    gone, cancelled, last = (waiting.add("a") for _ in range(3))
    waiting.leave(gone)
    waiting.leave(gone)
    cancelled.given.cancel()
    assert waiting.next({}, lambda _: True) is last


async def test_places_are_given_in_turns_and_never_all_to_one_client() -> None:
    places = Places(3, 100, Full)
    order: list[str] = []
    release = asyncio.Event()

    async def work(client: str) -> None:
        CLIENT.set(client)
        await places.take()
        order.append(client)
        await release.wait()
        places.give_back()

    tasks = [asyncio.create_task(work("a")) for _ in range(5)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert order == ["a", "a"]
    tasks += [asyncio.create_task(work(client)) for client in "bb"]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert order == ["a", "a", "b"]
    assert places.waiting == 4
    release.set()
    async with asyncio.timeout(10):
        await asyncio.gather(*tasks)
    # Both have one when the third comes free, and the turn of the first is longer ago.
    assert order[3:5] == ["a", "b"]
    assert places.waiting == 0


async def test_a_place_that_comes_as_its_client_leaves_is_not_lost() -> None:
    places = Places(2, 100, Full)
    await places.take()
    leaving = asyncio.create_task(places.take())
    await asyncio.sleep(0)
    assert places.waiting == 1
    places.give_back()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    async with asyncio.timeout(10):
        await places.take()


async def test_whether_an_entry_was_served_is_known() -> None:
    def entry() -> Waiting[int]:
        return Waiting("a", False, asyncio.get_running_loop().create_future())

    given, failed, cancelled, waiting = (entry() for _ in range(4))
    given.given.set_result(1)
    failed.given.set_exception(Full())
    cancelled.given.cancel()
    assert [was_given(one) for one in (given, failed, cancelled, waiting)] == [True, False, False, False]

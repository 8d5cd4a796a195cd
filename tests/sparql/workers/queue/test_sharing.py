"""Workers among clients: who gets which, and when one client has all."""

from __future__ import annotations

from sparql.workers.queue.fair_queue import FairQueue, Waiting
from sparql.workers.queue.sharing import Sharing


def sharing(*idle: str, express: str | None = None) -> Sharing[str]:
    made: Sharing[str] = Sharing(2, FairQueue(10, RuntimeError))
    made.idle = list(idle)
    made.express = express
    return made


def given(*waiting: Waiting[str]) -> list[str | None]:
    return [one.given.result() if one.given.done() else None for one in waiting]


async def test_the_express_is_taken_last_and_not_by_what_may_take_long() -> None:
    shared = sharing("express", "one", express="express")
    assert shared.take_idle("a", avoid_express=False) == "one"
    assert shared.take_idle("a", avoid_express=True) is None
    assert shared.take_idle("a", avoid_express=False) == "express"
    assert shared.take_idle("a", avoid_express=False) is None


async def test_no_client_gets_more_than_its_share_and_another_gets_the_rest() -> None:
    shared = sharing("one", "two", "spare")
    assert [shared.take_idle("a", avoid_express=True) for _ in range(3)] == ["spare", "two", None]
    mine, other = shared.queue.add("a", avoid_express=True), shared.queue.add("b", avoid_express=True)
    shared.deal()
    assert given(mine, other) == [None, "one"]


async def test_one_client_has_all_where_only_another_waits_that_takes_no_express() -> None:
    shared = sharing("one", "two", "express", express="express")
    workers = ("one", "two", "express")
    for _ in range(2):
        shared.take_idle("a", avoid_express=True)
    shared.queue.add("a", avoid_express=True)
    assert not shared.one_client_has_all(workers)
    short = shared.queue.add("b")
    assert not shared.one_client_has_all(workers)
    shared.queue.add("b", avoid_express=True)
    assert shared.one_client_has_all(workers)
    shared.deal()
    assert given(short) == ["express"]
    shared.held["one"] = "c"
    assert not shared.one_client_has_all(workers)


async def test_an_idle_worker_becomes_the_express_while_that_is_busy() -> None:
    shared = sharing("one", "express", express="express")
    assert [shared.take_idle("a", avoid_express=False) for _ in range(2)] == ["one", "express"]
    del shared.held["one"]
    shared.idle.append("one")
    shared.deal()
    assert shared.express == "one"
    # What the former express runs now counts.
    assert shared.take_idle("a", avoid_express=True) is None


async def test_a_client_that_has_its_share_does_not_keep_the_express_beside_it() -> None:
    shared = sharing("one", "two", "express", express="express")
    for avoid_express in (True, True, False):
        shared.take_idle("a", avoid_express=avoid_express)
    shared.idle.append("spare")
    shared.deal()
    assert shared.express == "express"

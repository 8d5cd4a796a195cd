"""Clients whose queries are too long for the express are excluded from it, as long as there are others."""

from __future__ import annotations

from sparql.workers.queue.client import OURSELVES
from sparql.workers.queue.express_access import ExpressAccess


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_client_alone_may_always_use_it() -> None:
    access = ExpressAccess(Clock())
    for _ in range(10):
        access.asks("a")
        access.took_too_long("a")
    access.asks(OURSELVES)
    assert access.allows("a")


def test_beside_others_the_pauses_of_a_client_get_longer_and_others_have_none() -> None:
    clock = Clock()
    access = ExpressAccess(clock)
    for client in "ba":
        access.asks(client)
    pauses = [access.took_too_long("a") for _ in range(9)]
    assert pauses == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    assert not access.allows("a")
    assert access.allows("b")
    clock.now = 59.9
    access.asks("b")
    assert not access.allows("a")
    clock.now = 60.0
    assert access.allows("a")


def test_a_client_that_others_have_left_may_take_it() -> None:
    clock = Clock()
    access = ExpressAccess(clock)
    for client in "ba":
        access.asks(client)
    for _ in range(9):
        access.took_too_long("a")
    clock.now = 61.0
    for _ in range(2):
        access.took_too_long("a")
    assert access.allows("a")


def test_what_was_long_ago_is_forgotten() -> None:
    clock = Clock()
    access = ExpressAccess(clock)
    assert [access.took_too_long("a"), access.took_too_long("a")] == [0.5, 1]
    clock.now = 62.0
    assert access.took_too_long("a") == 0.5


def test_only_so_many_clients_are_remembered() -> None:
    clock = Clock()
    access = ExpressAccess(clock)
    for number in range(5_000):
        clock.now = number / 10
        access.asks(f"client {number}")
        access.took_too_long(f"client {number}")
    assert len(access._asked) <= 601
    assert len(access._pauses) <= 1000

"""Slow queries are kept for a day, the slowest of them, and their texts are cut."""

from __future__ import annotations

from server.monitoring.slow_queries import MOST_CHARS, MOST_QUERIES, SlowQueries


def test_a_query_is_slow_from_the_threshold_on() -> None:
    kept = SlowQueries(0.5)
    assert [kept.is_slow(seconds) for seconds in (0.1, 0.5, 2)] == [False, True, True]
    assert not SlowQueries(0).is_slow(100)


def test_runs_of_one_query_by_one_key_are_one_entry() -> None:
    now = [1000.0]
    kept = SlowQueries(0.5, lambda: now[0])
    kept.note("ASK {}", "ada", 1.0, 200)
    now[0] += 5
    kept.note("ASK {}", "ada", 3.0, 504)
    kept.note("ASK {}", "bob", 2.0, 200)
    first, second = kept.listed()
    assert (first.key, first.times, first.longest, first.total, first.last, first.status) == (
        "ada",
        2,
        3.0,
        4.0,
        1005.0,
        504,
    )
    assert (second.key, second.times) == ("bob", 1)


def test_memory_is_bounded_and_the_slowest_stay() -> None:
    kept = SlowQueries(0.5)
    for number in range(10 * MOST_QUERIES):
        kept.note(f"{number} " + "x" * 2 * MOST_CHARS, None, 1.0 + number % 777, 200)
    found = kept.listed()
    assert len(found) == MOST_QUERIES
    assert all(len(one.text) == MOST_CHARS and not one.complete for one in found)
    assert found[0].longest == 777.0
    assert found[-1].longest > 600


def test_a_query_is_forgotten_after_a_day() -> None:
    now = [0.0]
    kept = SlowQueries(0.5, lambda: now[0])
    kept.note("ASK {}", None, 1.0, 200)
    now[0] = 86_400.0
    assert len(kept.listed()) == 1
    now[0] += 1
    assert kept.listed() == []

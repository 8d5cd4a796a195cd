"""A question keeps to its time, and ends when it is stopped."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from sparql.ask.budget import Budget, budgeted, current_budget
from sparql.ask.errors import QuestionTooInvolved
from tests.sparql.ask.conftest import City


def _compute(budget: Budget) -> None:
    while True:
        budget.tick()


def test_computing_ends_at_the_limit_and_what_was_used_is_gone():
    budget = Budget(computing_s=0.05)
    with budget.computing():
        budget.check()
    with pytest.raises(QuestionTooInvolved, match=r"0\.05 s"), budget.computing():
        _compute(budget)
    with pytest.raises(QuestionTooInvolved), budget.computing():
        raise AssertionError("nothing is left")


def test_a_block_within_another_ends_before_it():
    budget = Budget(computing_s=10)
    with budget.computing():
        with pytest.raises(QuestionTooInvolved), budget.computing(0.01):
            _compute(budget)
        budget.check()


def test_waiting_is_not_counted_as_computing():
    budget = Budget(computing_s=0.05)
    with budget.computing():
        pass
    time.sleep(0.1)
    with budget.computing():
        budget.check()


def test_queries_share_their_time():
    budget = Budget(querying_s=0.05)
    with budget.querying() as left_s:
        assert left_s == 0.05
        time.sleep(0.06)
    with pytest.raises(QuestionTooInvolved, match="queries took longer"), budget.querying():
        raise AssertionError("nothing is left")


def test_another_thread_stops_what_computes():
    budget = Budget(computing_s=60)
    threading.Timer(0.05, budget.stop).start()
    with pytest.raises(asyncio.CancelledError), budget.computing():
        _compute(budget)


def test_without_a_question_there_is_no_limit():
    with current_budget().computing():
        current_budget().check()


@pytest.mark.parametrize("times", [6, 8, 20, 39])
async def test_a_name_many_times_ends_in_time(city: City, times: int):
    """A reading of names that was extended while it was iterated over never ended."""
    started = time.perf_counter()
    try:
        with budgeted(Budget()):
            result = await city.asker().ask(" ".join(["Northside"] * times))
        assert result.answer is None
    except QuestionTooInvolved:
        pass
    assert time.perf_counter() - started < 1.5


async def test_a_question_that_was_stopped_ends_within_the_parse(city: City):
    budget = Budget()
    asker = city.asker()
    await asker.prepare()
    threading.Timer(0.05, budget.stop).start()
    started = time.perf_counter()
    with budgeted(budget), pytest.raises(asyncio.CancelledError):
        await asker.ask(" ".join(["museums and parks in Northside"] * 7))
    assert time.perf_counter() - started < 0.5


async def test_more_words_than_are_planned_are_refused_in_words(city: City):
    with pytest.raises(QuestionTooInvolved, match="at most 40 are planned"):
        await city.asker().ask("museums in Northside " * 14)
    with pytest.raises(QuestionTooInvolved, match="at most 120 are read"):
        await city.asker().ask("museums in " * 70)


async def test_each_level_of_a_chain_of_near_is_worked_out_by_itself(city: City):
    result = await city.asker().ask("museums near museums in boroughs near parks in boroughs")
    assert result.sparql is not None
    assert result.sparql.count("SELECT DISTINCT ?there") >= 2
    assert "Museum" in str(result.answer)

"""The soak's verdict, and a short soak of a real server."""

from pathlib import Path

import pytest

from benchmarks.soak import soak
from benchmarks.soaking.readings import Disk, Process, Reading
from benchmarks.soaking.record import Record
from benchmarks.soaking.verdict import problems


def readings(
    memory: float = 0.0,
    descriptors: float = 0.0,
    checkpoints_mb: float = 5.0,
    count: int = 60,
    reader: float = 0.0,
) -> list[Reading]:
    """A server, or its reader, that grows by so much with each reading."""
    return [
        Reading(
            5.0 * number,
            (
                Process("server", 1, 400 + memory * number, 300.0, int(80 + descriptors * number)),
                Process("reader", 2, 95 + reader * number, 50.0, 8 + number % 20),
            ),
            Disk(10.0, checkpoints_mb, 1.0),
        )
        for number in range(count)
    ]


def test_a_server_that_stays_as_it_is_has_no_problems() -> None:
    assert problems(readings(), Record(), 60) == []


@pytest.mark.parametrize(
    ("grown", "message"),
    [
        (readings(memory=1), "the memory of the server grew"),
        (readings(descriptors=0.5), "the descriptors of the server grew"),
        (readings(checkpoints_mb=21), "checkpoints take 21.0 MB"),
        (readings(count=13), "too few"),
    ],
)
def test_growth_is_a_problem(grown: list[Reading], message: str) -> None:
    (problem,) = problems(grown, Record(), 60)
    assert message in problem


def test_a_reader_may_hold_what_a_new_one_holds_of_the_same_store() -> None:
    grown = readings(reader=0.5)
    (problem,) = problems(grown, Record(), 60)
    assert "the memory of the reader grew from 102 to 122 MB" in problem
    assert problems(grown, Record(), 60, grown[-5:]) == []
    assert problems(grown, Record(), 60, grown[:5]) == [problem]


def test_a_server_may_not_hold_more_because_its_readers_are_new() -> None:
    grown = readings(memory=1)
    assert len(problems(grown, Record(), 60, grown[-5:])) == 1


def test_growth_during_the_warm_up_is_none() -> None:
    warming = [*readings(memory=5, count=12), *(readings()[12:])]
    assert problems(warming, Record(), 60) == []


def test_a_failed_request_is_a_problem() -> None:
    record = Record()
    record.fail("lookup: 500")
    (problem,) = problems(readings(), record, 60)
    assert "1 requests failed, the first with: lookup: 500" in problem


@pytest.mark.slow
def test_five_minutes_of_mixed_load_leave_the_server_as_it_was(tmp_path: Path) -> None:
    # A fifth of the usual warm-up: the test is to end within ten minutes.
    assert soak(5, tmp_path, warm_up=20_000) == []

"""The gate's verdicts are counted by shape and period, written, and bounded in number."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, NamedNode, Triple

from server.errors import StateUnreadable
from server.monitoring.verdict_history import FILE, MOST_SHAPES, Period, Step, VerdictHistory
from sparql.model.change import Rejection, Statement, Verdict, Violation
from sparql.model.vocabulary import SH

DAY = 20_000 * 86_400
TRIPLE = Triple(NamedNode("urn:a"), NamedNode("urn:b"), NamedNode("urn:c"))


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.now = float(DAY)

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def history(folder: Path, clock: Clock, later: Callable[[Callable[[], object]], None] = lambda _: None):
    return VerdictHistory(folder, later, clock)


def refused(*shapes: str | None) -> Rejection:
    """A statement that these shapes refuse; None is one without an IRI."""
    nodes = [BlankNode("s") if shape is None else NamedNode(shape) for shape in shapes]
    found = [Violation(NamedNode("urn:a"), "no", SH.MinCount, node) for node in nodes]
    return Rejection(Statement(TRIPLE), tuple(found))


def test_verdicts_are_counted_for_all_statements_and_for_each_shape(tmp_path: Path, clock: Clock) -> None:
    counted = history(tmp_path, clock)
    both = refused("urn:one", "urn:two", "urn:one")
    counted.note(
        [Verdict(accepted=(Statement(TRIPLE),) * 3, rejected=(both,), warnings=(refused("urn:two"),))]
    )
    clock.now += 3600
    counted.note([Verdict(rejected=(refused(None),))])
    periods, shapes = counted.read(Step.HOUR, 3)
    assert periods == [
        Period(DAY - 3600, 0, 0, 0),
        Period(DAY, 3, 1, 1),
        Period(DAY + 3600, 0, 1, 0),
    ]
    assert [(one.shape, one.refused, one.warned) for one in shapes] == [
        ("urn:two", (0, 1, 0), (0, 1, 0)),
        (None, (0, 0, 1), (0, 0, 0)),
        ("urn:one", (0, 1, 0), (0, 0, 0)),
    ]
    assert counted.read(Step.DAY, 1)[0] == [Period(DAY, 3, 2, 1)]


def test_counts_outlast_the_server_and_add_up(tmp_path: Path, clock: Clock) -> None:
    for _ in range(2):
        counted = history(tmp_path, clock)
        counted.note([Verdict(rejected=(refused("urn:one"),))])
        counted.close()
    periods, shapes = history(tmp_path, clock).read(Step.DAY, 1)
    assert periods == [Period(DAY, 0, 2, 0)]
    assert [(one.shape, one.refused) for one in shapes] == [("urn:one", (2,))]


def test_counts_are_written_in_the_background_once_a_minute(tmp_path: Path, clock: Clock) -> None:
    works: list[Callable[[], object]] = []
    counted = history(tmp_path, clock, works.append)
    for _ in range(130):
        counted.note([Verdict(rejected=(refused("urn:one"),))])
        clock.now += 1
    assert len(works) == 2
    works[0]()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        found = connection.execute(
            "SELECT statements FROM verdict_count WHERE shape = 'urn:one' AND step = 'day'"
        )
        assert found.fetchall() == [(130,)]
    assert counted.read(Step.DAY, 1)[0] == [Period(DAY, 0, 130, 0)]


def test_many_shapes_do_not_grow_the_file_without_end(tmp_path: Path, clock: Clock) -> None:
    counted = history(tmp_path, clock)
    for number in range(3 * MOST_SHAPES):
        counted.note([Verdict(rejected=(refused(f"urn:s{number}"),))])
        if number % 50 == 0:
            counted.write()
    counted.write()
    _, shapes = counted.read(Step.DAY, 1)
    assert len(shapes) == MOST_SHAPES
    assert shapes[0].shape is None
    assert sum(one.refused[0] for one in shapes) == 3 * MOST_SHAPES - 1
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM verdict_count").fetchone()[0] <= 2 * (MOST_SHAPES + 2)


def test_memory_is_bounded_where_nothing_can_be_written(tmp_path: Path, clock: Clock) -> None:
    counted = history(tmp_path, clock)
    for number in range(12_000):
        counted.note([Verdict(rejected=(refused(f"urn:s{number}"),))])
    assert len(counted._pending) < 10_010
    assert counted.read(Step.DAY, 1)[0] == [Period(DAY, 0, 12_000, 0)]


def test_periods_that_are_over_are_forgotten(tmp_path: Path, clock: Clock) -> None:
    counted = history(tmp_path, clock)
    counted.note([Verdict(rejected=(refused("urn:one"),))])
    counted.write()
    clock.now += 500 * 86_400
    counted.note([Verdict(rejected=(refused("urn:two"),))])
    counted.write()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert {shape for (shape,) in connection.execute("SELECT shape FROM verdict_count")} == {
            "*",
            "urn:two",
        }


def test_what_cannot_be_written_is_kept_for_the_next_time(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / FILE).mkdir()
    counted = history(tmp_path, clock)
    counted.note([Verdict(rejected=(refused("urn:one"),))])
    with pytest.raises(StateUnreadable):
        counted.write()
    (tmp_path / FILE).rmdir()
    counted.write()
    assert counted.read(Step.DAY, 1)[0] == [Period(DAY, 0, 1, 0)]

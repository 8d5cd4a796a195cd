"""A function in its own process ends at its limits, when it is canceled, and with its parent."""

import itertools
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from sparql.model.errors import ReaderLost, StoreClosing
from sparql.workers.task import Task, TaskMemoryExceeded, TaskTimeout
from tests.support.processes import family
from tests.support.waiting import wait_until

LARGE = 2**31
HUNG = (map, time.sleep, [1000])


def test_what_the_function_yields_comes_back_piece_by_piece() -> None:
    task = Task(LARGE)
    assert list(task.run(zip, [1, 2], ["a", "b"], timeout_s=60)) == [(1, "a"), (2, "b")]
    assert task.pid is None


@pytest.mark.parametrize("function", [HUNG, (itertools.filterfalse, operator.not_, itertools.repeat(False))])
def test_a_function_that_gives_nothing_ends_at_its_deadline(function: tuple[object, ...]) -> None:
    task = Task(LARGE)
    with pytest.raises(TaskTimeout):
        list(task.run(*function, timeout_s=0.2))  # type: ignore[arg-type]
    assert task.pid is None


def test_a_function_that_takes_too_much_memory_is_ended() -> None:
    task = Task(64 * 2**20)
    grow = map(operator.call, [partial(operator.mul, b"x", 2 * 10**8), partial(time.sleep, 1000)])
    with pytest.raises(TaskMemoryExceeded):
        list(task.run(sorted, grow, timeout_s=60))
    assert task.pid is None


def test_a_failing_function_is_reported() -> None:
    with pytest.raises(ReaderLost):
        list(Task(LARGE).run(map, len, [3], timeout_s=60))


def test_it_can_be_canceled_before_and_while_it_runs() -> None:
    task = Task(LARGE)

    def cancel() -> None:
        wait_until(lambda: task.pid is not None)
        task.cancel(StoreClosing())

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(StoreClosing):
        list(task.run(*HUNG, timeout_s=1000))
    thread.join()
    with pytest.raises(StoreClosing):
        list(task.run(*HUNG, timeout_s=1000))


def test_it_ends_when_nobody_wants_its_results_any_more() -> None:
    task = Task(LARGE)
    assert list(task.run(*HUNG, timeout_s=1000, wanted=lambda: task.pid is None)) == []
    assert task.pid is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_dies_with_its_parent() -> None:
    program = "from sparql.workers.task import Task; import time\n"
    program += "list(Task(2**31).run(map, time.sleep, [1000], timeout_s=1000))"
    with subprocess.Popen([sys.executable, "-c", program]) as parent:
        # The starter, and what it forked.
        wait_until(lambda: len(family(parent.pid)) == 3)
        found = family(parent.pid)[1:]
        os.kill(parent.pid, signal.SIGKILL)
    wait_until(lambda: all(map(_is_dead, found)), seconds=10)


def _is_dead(pid: int) -> bool:
    """Whether it is gone, or only waits for somebody to ask how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True

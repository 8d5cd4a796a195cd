"""Processes are forked from one that has imported their modules, and are ended and reported one by one."""

import fcntl
import json
import os
import resource
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparql.model.errors import ReaderLost
from sparql.workers.forking import _NUMBER_BYTES, ForkedProcess, Forking
from tests.support.waiting import wait_until

ECHO = "tests.support.echoing"
TESTS = {"PYTHONPATH": str(Path(__file__).parents[3])}


@pytest.fixture
def forking() -> Iterator[Forking]:
    forking = Forking(environment=TESTS)
    yield forking
    forking.end()


def begun(forking: Forking) -> int:
    """The process id of the starter."""
    assert forking._starter is not None
    return forking._starter[0].pid


def test_a_process_has_its_descriptors_and_arguments_and_its_exit_status_is_reported(
    forking: Forking,
) -> None:
    read, write = os.pipe()
    process = forking.start(ECHO, [write], ["a", "b"])
    os.close(write)
    with open(read) as pipe:
        assert json.loads(pipe.readline()) == {
            "pid": process.pid,
            "parent": begun(forking),
            "given": ["a", "b"],
        }
    assert process.wait() == 2
    assert process.poll() == 2


def test_a_server_with_many_connections_has_one_too() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    ours, theirs = socket.socketpair()
    high = fcntl.fcntl(ours, fcntl.F_DUPFD, 1500)
    ours.close()
    try:
        process = ForkedProcess(1, high)
        assert process.poll() is None
        theirs.send((3).to_bytes(_NUMBER_BYTES, "big", signed=True))
        assert process.wait() == 3
    finally:
        theirs.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_all_are_forked_from_one_process(forking: Forking) -> None:
    for _ in range(2):
        read, write = os.pipe()
        forking.start(ECHO, [write], []).wait()
        os.close(write)
        with open(read) as pipe:
            assert json.loads(pipe.readline())["parent"] == begun(forking)


def test_one_is_killed_while_another_thread_waits_for_it_and_others_go_on(forking: Forking) -> None:
    read, write = os.pipe()
    first, second = (forking.start(ECHO, [write], ["wait"]) for _ in range(2))
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(first.wait()))
    thread.start()
    first.kill()
    thread.join()
    assert found == [-signal.SIGKILL]
    first.kill()
    assert second.poll() is None
    second.kill()
    assert second.wait() == -signal.SIGKILL
    os.close(read)
    os.close(write)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends them with their parent")
def test_the_end_of_the_starter_is_the_end_of_its_processes_and_the_next_one_has_a_new_one(
    forking: Forking,
) -> None:
    read, write = os.pipe()
    first = forking.start(ECHO, [write], ["wait"])
    former = begun(forking)
    os.kill(former, signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    wait_until(lambda: not _runs(first.pid))
    second = forking.start(ECHO, [write], [])
    assert (second.wait(), begun(forking) != former) == (0, True)
    os.close(read)
    os.close(write)


def test_a_module_that_cannot_be_imported_starts_no_process(
    forking: Forking, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ReaderLost):
        forking.start("no_such_module", [], [])
    assert "no_such_module" in capfd.readouterr().err


def test_a_starter_that_was_idle_for_long_ends_and_the_next_process_has_a_new_one() -> None:
    forking = Forking(idle_s=0.01, environment=TESTS)
    with open(os.devnull, "w") as nothing:
        assert forking.start(ECHO, [nothing.fileno()], []).wait() == 0
        assert forking._starter is not None
        assert forking._starter[0].wait(timeout=60) == 0
        assert forking.start(ECHO, [nothing.fileno()], ["a"]).wait() == 1
    forking.end()


def _runs(pid: int) -> bool:
    """Whether it is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

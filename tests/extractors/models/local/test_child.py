"""The child process: answers, crashes, silence, and coming back; and what is reported about missing files."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from extractors.errors import ModelTimeout, ModelUnavailable
from extractors.models.local import weights
from extractors.models.local.embedded import Child, EmbeddedModel
from extractors.models.local.weights import find_adapter

ECHO = """
import json, os, sys, time
print(json.dumps({"ready": True}), flush=True)
for seen, line in enumerate(sys.stdin):
    request = json.loads(line)
    if request.get("crash"):
        sys.stderr.write("out of luck\\n")
        os._exit(3)
    if request.get("said"):
        sys.stderr.write(request["said"] + "\\n")
    time.sleep(request.get("sleep", 0))
    print(json.dumps({"pid": os.getpid(), "seen": seen, "echo": request}), flush=True)
"""


@pytest.fixture
def child() -> Iterator[Child]:
    child = Child(lambda: [sys.executable, "-c", ECHO], start_seconds=30)
    yield child
    child.stop()


def test_one_process_answers_request_after_request(child: Child) -> None:
    first, second = child.ask({"text": "Kraków"}, 30), child.ask({"text": "Łódź"}, 30)
    assert first["echo"] == {"text": "Kraków"}
    assert second["echo"] == {"text": "Łódź"}
    assert first["pid"] == second["pid"]


def test_a_crash_is_reported_with_its_last_words_and_the_next_request_works(child: Child) -> None:
    with pytest.raises(ModelUnavailable, match=r"status 3.*out of luck"):
        child.ask({"crash": True}, 30)
    assert child.ask({"text": "again"}, 30)["echo"] == {"text": "again"}


def test_silence_ends_in_a_timeout_and_a_fresh_process(child: Child) -> None:
    before = child.ask({}, 30)["pid"]
    with pytest.raises(ModelTimeout, match=r"0\.2 s"):
        child.ask({"sleep": 20}, 0.2)
    assert child.ask({}, 30)["pid"] != before


async def test_the_work_on_a_request_ends_soon_after_nobody_waits_for_its_answer(child: Child) -> None:
    pid = child.ask({}, 30)["pid"]
    working = asyncio.create_task(child.answer({"sleep": 60}, 60))
    await asyncio.sleep(0.5)
    waiting = asyncio.create_task(child.answer({"sleep": 60}, 60))
    await asyncio.sleep(0.1)
    began = time.monotonic()
    for task in (working, waiting):
        task.cancel()
    answer = await child.answer({"text": "next"}, 30)
    assert time.monotonic() - began < 20
    # Of the one that waited, the new process was never asked.
    assert (answer["seen"], answer["echo"]) == (0, {"text": "next"})
    assert answer["pid"] != pid
    assert not Path(f"/proc/{pid}").exists()


async def test_a_request_that_is_nearly_done_ends_by_itself_and_leaves_the_process(child: Child) -> None:
    pid = child.ask({}, 30)["pid"]
    working = asyncio.create_task(child.answer({"sleep": 0.7}, 60))
    await asyncio.sleep(0.3)
    working.cancel()
    answer = await child.answer({}, 30)
    assert (answer["pid"], answer["seen"]) == (pid, 2)


def test_a_process_that_reads_nothing_ends_in_a_timeout_however_long_the_request(child: Child) -> None:
    raised: list[Exception] = []

    def ask() -> None:
        # It sleeps over the first line, and what follows is more than a pipe takes.
        child.start()
        assert child._process is not None
        assert child._process.stdin is not None
        child._process.stdin.write('{"sleep": 60}\n')
        child._process.stdin.flush()
        try:
            child.ask({"text": "x" * 2**20}, 0.5)
        except ModelTimeout as error:
            raised.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(30)
    assert len(raised) == 1
    assert child.ask({"text": "again"}, 30)["echo"] == {"text": "again"}


def test_processes_that_die_between_requests_leave_nothing_open(child: Child) -> None:
    opened = []
    for _ in range(5):
        pid = child.ask({}, 30)["pid"]
        opened.append(len(os.listdir("/proc/self/fd")))
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert opened == [opened[0]] * 5


@pytest.mark.parametrize("count", [1_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_many_requests_of_every_size_pass_one_process_and_none_gets_slower(child: Child, count: int) -> None:
    large = {"text": "ß" * 300_000}
    seconds = []
    pids = set()
    for number in range(count):
        # Errors are answers too; what goes to standard error must not fill its pipe.
        request = large if number % 100 == 50 else {"said": "x" * 500, "text": str(number)}
        started = time.perf_counter()
        answer = child.ask(request, 60)
        if request is not large:
            seconds.append(time.perf_counter() - started)
        assert answer["echo"] == request
        pids.add(answer["pid"])
    assert len(pids) == 1
    tenth = len(seconds) // 10
    assert statistics.median(seconds[-tenth:]) < 3 * statistics.median(seconds[:tenth]) + 0.002


def test_a_process_that_cannot_start_is_unavailable() -> None:
    child = Child(lambda: [sys.executable, "-c", "raise SystemExit('no such model')"], start_seconds=30)
    with pytest.raises(ModelUnavailable, match="no such model"):
        child.start()


def test_a_missing_adapter_says_which_command_brings_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelUnavailable, match="model_adapter"):
        EmbeddedModel(adapter=tmp_path / "adapter.gguf")
    monkeypatch.setattr(weights, "ADAPTER_PATH", tmp_path / "adapter.gguf")
    with pytest.raises(ModelUnavailable, match="git checkout"):
        find_adapter(tmp_path / "adapter.gguf")


def test_an_adapter_that_is_no_gguf_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "adapter.gguf"
    path.write_bytes(b"version https://git-lfs")
    with pytest.raises(ModelUnavailable, match="no GGUF file"):
        find_adapter(path)

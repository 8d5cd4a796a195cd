"""The child process: answers, crashes, silence, and coming back; and what is told about missing files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from extractors.errors import ModelTimeout, ModelUnavailable
from extractors.models import EmbeddedModel
from extractors.models.child import Child
from extractors.models.weights import find_adapter

ECHO = """
import json, os, sys, time
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request.get("crash"):
        sys.stderr.write("out of luck\\n")
        os._exit(3)
    time.sleep(request.get("sleep", 0))
    print(json.dumps({"pid": os.getpid(), "echo": request}), flush=True)
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


def test_a_crash_is_told_with_its_last_words_and_the_next_request_works(child: Child) -> None:
    with pytest.raises(ModelUnavailable, match=r"status 3.*out of luck"):
        child.ask({"crash": True}, 30)
    assert child.ask({"text": "again"}, 30)["echo"] == {"text": "again"}


def test_silence_ends_in_a_timeout_and_a_fresh_process(child: Child) -> None:
    before = child.ask({}, 30)["pid"]
    with pytest.raises(ModelTimeout, match=r"0\.2 s"):
        child.ask({"sleep": 20}, 0.2)
    assert child.ask({}, 30)["pid"] != before


def test_a_process_that_cannot_start_is_unavailable() -> None:
    child = Child(lambda: [sys.executable, "-c", "raise SystemExit('no such model')"], start_seconds=30)
    with pytest.raises(ModelUnavailable, match="no such model"):
        child.start()


def test_a_missing_adapter_says_which_command_brings_it_back(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="git checkout"):
        EmbeddedModel(adapter=tmp_path / "adapter.gguf")


def test_an_adapter_that_is_no_gguf_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "adapter.gguf"
    path.write_bytes(b"version https://git-lfs")
    with pytest.raises(ModelUnavailable, match="no GGUF file"):
        find_adapter(path)

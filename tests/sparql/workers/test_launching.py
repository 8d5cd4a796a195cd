"""The environment of worker processes."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sparql.workers.process import LIBRARIES, worker_environment
from tests.support.prepared_readers import start_anew

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the libraries are those of Linux")


def test_workers_use_an_installed_allocator(tmp_path: Path) -> None:
    library = tmp_path / "with" / "cmeel.prefix" / "lib" / "libmimalloc.so"
    library.parent.mkdir(parents=True)
    library.touch()
    found = worker_environment(str(tmp_path / "without"), str(tmp_path / "with"))
    assert found["LD_PRELOAD"] == str(library)


def test_workers_use_the_system_allocator_where_none_is_installed(tmp_path: Path) -> None:
    assert "LD_PRELOAD" not in worker_environment(str(tmp_path))


def test_an_allocator_that_lacks_a_library_of_the_system_is_left_out(tmp_path: Path) -> None:
    installed = Path(worker_environment(*LIBRARIES)["LD_PRELOAD"]).read_bytes()
    assert b"libatomic.so.1" in installed
    library = tmp_path / "cmeel.prefix" / "lib" / "libmimalloc.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(installed.replace(b"libatomic.so.1", b"libabsent.so.1"))
    assert "LD_PRELOAD" not in worker_environment(str(tmp_path))


def test_the_environment_of_the_server_comes_before_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0")
    ours, theirs = socket.socketpair()
    control, other = os.pipe()
    process = start_anew(theirs.fileno(), control, 2**30)
    try:
        ours.settimeout(120)
        assert ours.recv(1), "it is there"
        environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
    finally:
        process.kill()
        process.wait()
        for end in (ours, theirs):
            end.close()
        for descriptor in (control, other):
            os.close(descriptor)
    assert b"LD_PRELOAD=" in environment
    assert b"GLIBC_TUNABLES=glibc.malloc.hugetlb=0" in environment


def test_a_worker_whose_server_has_ended_ends_without_a_word() -> None:
    """The server may refuse to start, in one line, while its workers are starting."""
    ours, theirs = socket.socketpair()
    control, other = os.pipe()
    ours.close()
    with theirs:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "sparql.workers.worker", str(theirs.fileno()), str(control), "0"],
            pass_fds=(theirs.fileno(), control),
            capture_output=True,
            text=True,
            timeout=120,
        )
    os.close(control)
    os.close(other)
    assert (done.returncode, done.stderr) == (0, "")

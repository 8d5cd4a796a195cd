"""Threads of a process share two heaps of the C library."""

import os
import platform
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc's allocator")

_HEAPS = """
import ctypes, threading
from pathlib import Path
from sparql.workers.limits import share_arenas

assert share_arenas() is SHARED
library, barrier = ctypes.CDLL(None), threading.Barrier(8)
library.malloc.restype = ctypes.c_void_p

def take():
    barrier.wait()
    taken = [library.malloc(10_000) for _ in range(100)]
    barrier.wait()

threads = [threading.Thread(target=take) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
library.fopen.restype = ctypes.c_void_p
library.malloc_info.argtypes = (ctypes.c_int, ctypes.c_void_p)
library.fclose.argtypes = (ctypes.c_void_p,)
file = library.fopen(b"info", b"w")
library.malloc_info(0, file)
library.fclose(file)
print(Path("info").read_text().count("<heap nr="))
"""


def heaps(folder: object, shared: bool, **environment: str) -> int:
    surroundings = {k: v for k, v in os.environ.items() if k not in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")}
    surroundings["PYTHONPATH"] = os.getcwd()
    command = [sys.executable, "-c", _HEAPS.replace("SHARED", str(shared))]
    done = subprocess.run(
        command, cwd=str(folder), env=surroundings | environment, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_many_threads_share_two_heaps(tmp_path: object) -> None:
    assert heaps(tmp_path, shared=True) <= 2


def test_the_environment_has_precedence(tmp_path: object) -> None:
    assert heaps(tmp_path, shared=False, MALLOC_ARENA_MAX="5") > 2

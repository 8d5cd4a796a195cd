"""The limits of a process: it ends with its parent, stays within its memory, has no network, and yields the
processor.

Uses Linux features where needed: elsewhere the lifeline to the parent and the memory watch still work.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import sys

MEMORY_EXIT_STATUS = 79
"""The exit status of a worker that ended itself because of its memory use."""

# A tenth of the processor beside a process that needs all of it (sched(7)).
_LOWER_BY = 10
_LOWEST = 19
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_ALLOW = 0x7FFF0000
_FAIL_WITH_EPERM = 0x00050001
_LOAD_SYSCALL_NUMBER = 0x20
_JUMP_IF_EQUAL = 0x15
_RETURN = 0x06
_M_ARENA_MAX = -8
_M_MMAP_THRESHOLD = -3
_ARENAS = 2
_LARGE_BYTES = 256 * 1024
# The system call numbers of socket and connect.
_NETWORK_CALLS = {"x86_64": (41, 42), "aarch64": (198, 203)}


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("jump_true", ctypes.c_ubyte),
        ("jump_false", ctypes.c_ubyte),
        ("value", ctypes.c_uint),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction)))


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies for any reason (prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def forbid_network() -> bool:
    """Have the kernel refuse new sockets to this process; returns whether that worked (seccomp(2)).

    SERVICE is already refused from the query's text. This is a second barrier.
    """
    numbers = _NETWORK_CALLS.get(platform.machine())
    if sys.platform != "linux" or numbers is None:
        return False
    steps = (
        _Instruction(_LOAD_SYSCALL_NUMBER, 0, 0, 0),
        _Instruction(_JUMP_IF_EQUAL, 1, 0, numbers[0]),
        _Instruction(_JUMP_IF_EQUAL, 0, 1, numbers[1]),
        _Instruction(_RETURN, 0, 0, _FAIL_WITH_EPERM),
        _Instruction(_RETURN, 0, 0, _ALLOW),
    )
    program = _Program(len(steps), (_Instruction * len(steps))(*steps))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)


def slow_down(thread: int) -> None:
    """Give a thread of this process, by its native id, lower priority than others.

    This cannot be undone without privileges, so the thread should end after its current work.
    """
    if sys.platform == "linux":
        lower = os.getpriority(os.PRIO_PROCESS, thread) + _LOWER_BY
        os.setpriority(os.PRIO_PROCESS, thread, min(lower, _LOWEST))


class OwnMemory:
    """The private memory of this process: resident pages without those of mapped files."""

    def __init__(self) -> None:
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        try:
            self._statm: int | None = os.open("/proc/self/statm", os.O_RDONLY)
        except OSError:
            self._statm = None

    def read_bytes(self) -> int:
        """Its size in bytes; 0 where the system does not report it."""
        if self._statm is None:
            return 0
        _, resident, shared, *_ = os.pread(self._statm, 256, 0).split()
        return (int(resident) - int(shared)) * self._page_bytes


def share_arenas() -> bool:
    """Let the threads of this process share two heaps; returns whether that worked (mallopt(3)).

    glibc gives threads up to eight heaps for each processor. Memory freed in one of them cannot be used by
    the next request on another thread, so a server with many threads grows for hours. Large blocks, such as
    the engine's write buffers, are taken from the system and returned to it at once. Call it before there are
    threads. Environment variables with other values have precedence.
    """
    if sys.platform != "linux" or any(name in os.environ for name in ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(
        mallopt(_M_ARENA_MAX, _ARENAS) and mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
    )

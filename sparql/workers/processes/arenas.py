"""Limits the number of heaps of the C library's allocator.

glibc gives threads up to eight heaps for each processor. Memory freed in one of them cannot be used by the
next request on another thread, so a server with many threads grows for hours. Large blocks, such as the
engine's write buffers, are taken from the system and returned to it at once.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Final

__all__ = ["share_arenas"]

_M_ARENA_MAX: Final = -8
_M_MMAP_THRESHOLD: Final = -3
_ARENAS: Final = 2
_LARGE_BYTES: Final = 256 * 1024
_OWN: Final = ("MALLOC_ARENA_MAX", "GLIBC_TUNABLES")


def share_arenas() -> bool:
    """Let the threads of this process share two heaps; returns whether that worked (mallopt(3)).

    Call it before there are threads. Environment variables with other values have precedence.
    """
    if sys.platform != "linux" or any(name in os.environ for name in _OWN):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(
        mallopt(_M_ARENA_MAX, _ARENAS) and mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
    )

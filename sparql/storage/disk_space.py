"""Detects a full disk, and whether there is space again."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from sparql.model.store_errors import DiskFull, StoreUnwritable

# A limit on file sizes (RLIMIT_FSIZE) or a quota has the same effect as a full disk.
_NUMBERS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# The engine reports only the operating system's message.
_WORDS = tuple(os.strerror(number) for number in sorted(_NUMBERS))
_PROBE = ".room"
LEAST_SPACE = 4 * 2**20
"""The space that a database needs to open, beyond the content of its logs."""


def is_full(error: BaseException) -> bool:
    """Whether an error means that the disk is full."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if not isinstance(error, OSError):
        return False
    return error.errno in _NUMBERS or any(words in str(error) for words in _WORDS)


def has_space(folder: Path, size: int = LEAST_SPACE) -> bool:
    """Whether a file of this size can be written in a folder: tested by writing, since limits and quotas
    count.
    """
    probe = folder / f"{_PROBE}-{os.getpid()}"
    try:
        handle = os.open(probe, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        try:
            os.posix_fallocate(handle, 0, size)
        finally:
            os.close(handle)
            probe.unlink()
    except OSError as error:
        return not is_full(error)
    return True


def is_full_for_sqlite(error: BaseException, folder: Path) -> bool:
    """The same for an error of SQLite, which does not include the operating system's error."""
    if is_full(error):
        return True
    return isinstance(error, sqlite3.Error) and "I/O" in str(error) and not has_space(folder)


def unwritable(folder: Path, error: OSError | RuntimeError) -> StoreUnwritable:
    """Our error for an operating system error during a write."""
    kind = DiskFull if is_full(error) else StoreUnwritable
    return kind(folder, (error.strerror if isinstance(error, OSError) else None) or str(error))

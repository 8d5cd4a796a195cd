"""Whether a disk is full, and whether there is room again."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from sparql.model.errors import DiskFull, StoreUnwritable

# A limit on the size of files (RLIMIT_FSIZE) or a quota is a full disk to whoever meets it.
_NUMBERS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# The engine reports the operating system's words only.
_WORDS = tuple(os.strerror(number) for number in sorted(_NUMBERS))
_PROBE = ".room"
LEAST_ROOM = 4 * 2**20
"""What a database needs to be opened, beside what its logs hold."""


def is_full(error: BaseException) -> bool:
    """Whether an error says that the disk took no more."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if not isinstance(error, OSError):
        return False
    return error.errno in _NUMBERS or any(words in str(error) for words in _WORDS)


def has_room(folder: Path, size: int = LEAST_ROOM) -> bool:
    """Whether a file of so many bytes can be written in a folder: tried, since limits and quotas count."""
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
    """The same for an error of SQLite, which does not say what the operating system said."""
    if is_full(error):
        return True
    return isinstance(error, sqlite3.Error) and "I/O" in str(error) and not has_room(folder)


def unwritable(folder: Path, error: OSError | RuntimeError) -> StoreUnwritable:
    """The error of this program for an error of the operating system at a write."""
    kind = DiskFull if is_full(error) else StoreUnwritable
    return kind(folder, (error.strerror if isinstance(error, OSError) else None) or str(error))

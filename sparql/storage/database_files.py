"""Detects damage to database files that the engine itself would not notice, and would make worse.

If the list of files (manifest) is truncated, the engine (RocksDB) assumes that its end was not written before
a crash. It then opens an old state of the database and deletes every file that the truncated list does not
name. If the pointer to the list is missing, it creates a new database in the same place. Both cases are
detected here before it opens.
"""

from __future__ import annotations

from pathlib import Path

_CURRENT = "CURRENT"
_BLOCK = 32 * 1024
_HEADER = 7
"""Bytes of a record's header: checksum (4), length (2), type (1)."""
_FULL, _LAST = 1, 4


def check_files(database: Path) -> None:
    """Raise OSError for a database whose list of files is missing or truncated; a new one passes."""
    try:
        name = (database / _CURRENT).read_bytes().strip().decode("ascii", "replace")
    except FileNotFoundError as error:
        if any(database.glob("*.sst")):
            raise OSError("the file CURRENT is missing beside the files of a database") from error
        return
    # The engine itself refuses an invalid name.
    if name.startswith("MANIFEST-") and "/" not in name and "\0" not in name:
        content = (database / name).read_bytes()
        if breaks_off(content):
            raise OSError(f"the file {name} is truncated after {len(content)} bytes")


def breaks_off(content: bytes) -> bool:
    """Whether a log of RocksDB ends in the middle of a record.

    Records are split into fragments within blocks; a remainder too short for a header ends a block.
    """
    place, kind = 0, _FULL
    while place < len(content):
        left = _BLOCK - place % _BLOCK
        if left < _HEADER:
            place += left
            continue
        header = content[place : place + _HEADER]
        if not any(header):
            # Space that the file system allocated before the engine wrote to it.
            break
        end = place + _HEADER + int.from_bytes(header[4:6], "little")
        if len(header) < _HEADER or end > len(content):
            return True
        place, kind = end, header[6]
    return kind not in (_FULL, _LAST)

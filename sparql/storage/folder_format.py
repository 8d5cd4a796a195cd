"""The version of a data folder's format, in its file `format`.

A folder without the file is of format 1, which had none at first. When the format changes, the number grows
by one, and `check_format` converts an older folder or names the command that does.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from sparql.model.store_errors import FormatUnknown

FORMAT: Final = 1
_FILE: Final = "format"


def check_format(folder: Path) -> None:
    """Check before anything is opened. Raises `FormatUnknown` for a newer folder, or an unreadable file."""
    try:
        found = (folder / _FILE).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return
    if found != str(FORMAT):
        raise FormatUnknown(folder, found, FORMAT)


def mark_format(folder: Path) -> None:
    """Write the file, if it is missing. Where nothing can be written, its absence says the same."""
    with suppress(OSError), (folder / _FILE).open("x", encoding="utf-8") as file:
        file.write(f"{FORMAT}\n")

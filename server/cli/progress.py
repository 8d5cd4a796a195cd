"""The progress of long work, on standard error; only a terminal shows it."""

from __future__ import annotations

import os
from pathlib import Path

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column
from rich.text import Text

from server.cli.output import stderr


def progress_bar(*columns: str | ProgressColumn, transient: bool = False) -> Progress:
    """Progress on standard error, shown on a terminal only; without columns, those of rich."""
    return Progress(*columns, console=stderr, transient=transient, disable=not stderr.is_terminal)


def counting(what: str) -> Progress:
    """A bar for things that are counted."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return progress_bar(*columns)


def working(what: str, grows: Path | None = None) -> Progress:
    """Shows for how long something is at work, and the size of what it writes; on a terminal only."""
    size = () if grows is None else (_Size(grows),)
    # A narrow terminal cuts the words and nothing else.
    time = TimeElapsedColumn(table_column=Column(min_width=7, no_wrap=True))
    words = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
    shown = progress_bar(SpinnerColumn(), time, *size, words, transient=True)
    shown.add_task(what, total=None)
    return shown


class _Size(ProgressColumn):
    """The bytes of a file, or of a folder with everything in it."""

    max_refresh = 0.5

    def __init__(self, path: Path) -> None:
        super().__init__(Column(min_width=10, no_wrap=True))
        self._path = path

    def render(self, task: Task) -> Text:  # noqa: ARG002
        return Text(f"{size_of(self._path) / 1e6:,.1f} MB")


def size_of(path: Path) -> int:
    """The bytes of a file, or of all files in a folder, also while it is written; 0 for neither."""
    if not path.is_dir():
        return path.stat().st_size if path.exists() else 0
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue
    return total

"""What commands print: data on standard output, everything else on standard error.

Tables are drawn and progress is shown on a terminal only; elsewhere a table is lines that programs read.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from pyoxigraph import NamedNode
from rich.console import Console
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
from rich.table import Column, Table
from rich.text import Text

_HIDDEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with its control and bidirectional characters as JSON escapes.

    A terminal would obey them: labels of a graph could hide, reorder or recolor what is beside them.
    """
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class VisibleConsole(Console):
    """A console that prints texts as `visible` shows them."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as `rich` does."""
        super().print(*(visible(part) if isinstance(part, str) else part for part in objects), **options)


stdout = VisibleConsole(highlight=False)
stderr = VisibleConsole(stderr=True, highlight=False, soft_wrap=True)


def print_json(found: Any) -> int:
    """Print an answer as JSON; the exit code 0."""
    print(visible(json.dumps(found, ensure_ascii=False, indent=2)))
    return 0


def iri(text: str) -> NamedNode:
    """The IRI of an argument. Raises `typer.BadParameter`."""
    try:
        return NamedNode(text)
    except ValueError as error:
        raise typer.BadParameter(f"'{text}' is not an absolute IRI: {error}") from error


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, header: bool = True, errors: bool = False
) -> None:
    """Draw a table on a terminal; elsewhere print its rows with tabs (as CSV's dialect for them quotes).

    ``errors``: on standard error. A column called `id` is never shortened: other commands need it.
    """
    file = sys.stderr if errors else sys.stdout
    if file.isatty():
        _drawn(columns, rows, header=header, file=file)
        return
    writer = csv.writer(file, "excel-tab", lineterminator="\n")
    writer.writerows([columns, *rows] if header else rows)


def print_rows(columns: Sequence[str], rows: Iterable[Sequence[str]], *, as_json: bool) -> None:
    """Print rows as a table, or as a JSON list of objects."""
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(columns, rows)


def print_page(
    page: Mapping[str, Any],
    member: str,
    columns: Sequence[str],
    row: Callable[[dict[str, Any]], Sequence[str]],
    *,
    as_json: bool,
) -> None:
    """Print a page of a list as a table with the number of items, or its JSON as it came.

    `member` is the page's member that holds the items; `row` gives the cells of an item.
    """
    if as_json:
        print_json(page)
        return
    print_table(columns, map(row, page[member]))
    stderr.print(f"{len(page[member])} of {page['total']}")


def print_report(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Draw a table with a title on a terminal; elsewhere print it as one line of JSON."""
    if sys.stdout.isatty():
        _drawn(columns, rows, title=title, file=sys.stdout)
        return
    found = [dict(zip(columns, row, strict=True)) for row in rows]
    print(json.dumps({"table": title, "rows": found}, ensure_ascii=False))


def _drawn(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    file: Any,
    title: str | None = None,
    header: bool = True,
) -> None:
    heads = (Column(name, no_wrap=name == "id", overflow="fold") for name in columns)
    table = Table(*heads, title=title, show_header=header)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    Console(file=file, highlight=False).print(table)


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

"""What commands print: data on standard output, everything else on standard error.

Tables are drawn on a terminal only; elsewhere a table is lines that programs read.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import typer
from pyoxigraph import NamedNode
from rich.console import Console

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
        super().print(*(visible(one) if isinstance(one, str) else one for one in objects), **options)


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
    # Takes a while to import, and most commands draw nothing.
    from rich.table import Column, Table
    from rich.text import Text

    heads = (Column(name, no_wrap=name == "id", overflow="fold") for name in columns)
    table = Table(*heads, title=title, show_header=header)
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    Console(file=file, highlight=False).print(table)

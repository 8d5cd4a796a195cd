"""What commands print: data on standard output, everything else on standard error.

Tables are drawn on a terminal only; elsewhere a table is lines that programs read.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from pyoxigraph import NamedNode
from rich.console import Console

stdout = Console(highlight=False)
stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(found: Any) -> int:
    """Print an answer as JSON; the exit code 0."""
    print(json.dumps(found, ensure_ascii=False, indent=2))
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
        table.add_row(*(Text(cell) for cell in row))
    Console(file=file, highlight=False).print(table)

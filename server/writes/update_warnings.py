"""Warnings about parts of an update's patterns that are errors and so match nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparql.syntax.nesting import parses_safely

if TYPE_CHECKING:
    from sparql.rewriting.steps import Report

_LONGEST = 16_384
"""The longest update that is examined, in characters."""
_CALL = re.compile(r"(?:>|:[\w.\-]*)\s*\(")
"""Matches every call of a function by its IRI, and some other text."""


def warnings_of(text: str, base: str | None, *, own_functions: bool) -> Sequence[str]:
    """Warnings about unreadable geometry literals, unknown functions and unfitting arguments.

    `text` is an update that was executed; with `own_functions` it called those of this server.
    """
    if len(text) > _LONGEST or "WHERE" not in text.upper():
        return ()
    calls = own_functions and _CALL.search(text) is not None
    if not calls and "opengis.net" not in text:
        return ()
    from sparql.rewriting.query_warnings import geometry_literals, warn_of_unreadable
    from sparql.rewriting.steps import Report
    from sparql.syntax.tokens import read_prologue

    report = Report()
    warn_of_unreadable(geometry_literals(text, read_prologue(text)), report)
    if calls and parses_safely(text):
        _warn_of_calls(text, base, report)
    return report.warnings


def _warn_of_calls(text: str, base: str | None, report: Report) -> None:
    from sparql.rewriting.query_warnings import warn_of_misuse, warn_of_unknown
    from sparql.syntax.parser import parse_query
    from sparql.syntax.tokens import NotUnderstood
    from sparql.syntax.updates import Modify
    from sparql.writing.updates import read_update

    for operation in read_update(text, base):
        if isinstance(operation, Modify) and operation.where is not None:
            text_of_where = f"{operation.prologue.as_text()} SELECT * WHERE {operation.where}"
            try:
                query = parse_query(text_of_where, base).query
            except NotUnderstood:
                continue
            warn_of_misuse(query, report)
            warn_of_unknown(query, report)

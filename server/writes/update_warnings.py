"""What whoever sent an update should hear of its patterns: parts that are errors and so match nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparql.syntax.nesting import parses_safely

if TYPE_CHECKING:
    from sparql.rewriting.report import Report

_LONGEST = 16_384
"""Characters of an update that is looked through."""
_CALL = re.compile(r"(?:>|:[\w.\-]*)\s*\(")
"""What a call of a function by its IRI looks like; other things may look so too."""


def warnings_of(text: str, base: str | None, *, own_functions: bool) -> Sequence[str]:
    """On geometry literals that cannot be read, functions that nobody knows and arguments that do not fit.

    `text` is an update that was carried out; `own_functions` tells that it called those of this server.
    """
    if len(text) > _LONGEST or "WHERE" not in text.upper():
        return ()
    calls = own_functions and _CALL.search(text) is not None
    if not calls and "opengis.net" not in text:
        return ()
    from sparql.rewriting.meaning.unreadable import geometry_literals, warn_of_unreadable
    from sparql.rewriting.report import Report
    from sparql.syntax.request_facts import read_prologue

    report = Report()
    warn_of_unreadable(geometry_literals(text, read_prologue(text)), report)
    if calls and parses_safely(text):
        _warn_of_calls(text, base, report)
    return report.warnings


def _warn_of_calls(text: str, base: str | None, report: Report) -> None:
    from sparql.rewriting.ast.parser import parse_query
    from sparql.rewriting.ast.term_reader import NotUnderstood
    from sparql.rewriting.meaning.unreadable import warn_of_misuse, warn_of_unknown
    from sparql.syntax.operations import Modify
    from sparql.writing.updates import read_update

    for operation in read_update(text, base):
        if isinstance(operation, Modify) and operation.where is not None:
            asked = f"{operation.prologue.as_text()} SELECT * WHERE {operation.where}"
            try:
                query = parse_query(asked, base).query
            except NotUnderstood:
                continue
            warn_of_misuse(query, report)
            warn_of_unknown(query, report)

"""The answer of a query that has no plan: its first column, by labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sparql.ask.answer.sentence import rows_of
from sparql.ask.plan.json_form import FindTerm

__all__ = ["plain_answer"]

_NAMED: Final = 10


def plain_answer(results: Mapping[str, Any], find: FindTerm) -> str:
    """Return what a query found; `find` gives the term of an IRI."""
    if "boolean" in results:
        return "Yes." if results["boolean"] else "No."
    rows = rows_of(results)
    said = f"The query gives {len(rows):,} row{'' if len(rows) == 1 else 's'}"
    first = [row[name] for row in rows for name in results["head"]["vars"][:1] if name in row]
    names = [_name(cell, find) for cell in first[:_NAMED]]
    more = f" and {len(first) - _NAMED:,} more" if len(first) > _NAMED else ""
    return f"{said}: {', '.join(names)}{more}." if names else f"{said}."


def _name(cell: Mapping[str, str], find: FindTerm) -> str:
    term = find(cell["value"]) if cell["type"] == "uri" else None
    return term.words if term is not None else cell["value"]

"""The columns of `SELECT *` in the order in which their variables appear; the engine sorts them by name.

SPARQL leaves the order open (18.2.1), but who writes `*` expects subject before object, as in other stores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from sparql.syntax.tokens import TokenKind, read_tokens

_MAYBE = re.compile(r"SELECT\s*(?:(?:DISTINCT|REDUCED)\s*)?(?:#|\*)", re.IGNORECASE)
_AT_ONCE = re.compile(r"\s*SELECT\s*(?:(?:DISTINCT|REDUCED)\s*)?\*", re.IGNORECASE)


def with_columns(text: str, columns: Callable[[], Iterable[str]]) -> str:
    """The query with these names in place of the `*` of its outer SELECT; as it is where that has none."""
    place = _star(text) if _MAYBE.search(text) else None
    shown = " ".join("?" + name for name in columns()) if place is not None else ""
    return f"{text[:place]} {shown} {text[place + 1 :]}" if place is not None and shown else text


def as_in(text: str, names: Iterable[str]) -> list[str]:
    """The names of variables in the order of their first appearance in a text; others come last."""
    wanted = set(names)
    named = (token.text[1:] for token in read_tokens(text) if token.kind is TokenKind.VARIABLE)
    ordered = [name for name in dict.fromkeys(named) if name in wanted]
    return ordered + sorted(wanted.difference(ordered))


def _star(text: str) -> int | None:
    """Where the `*` of the outer SELECT is."""
    if (found := _AT_ONCE.match(text)) is not None:
        return found.end() - 1
    selecting = False
    for token in read_tokens(text):
        if selecting and not token.is_word("DISTINCT", "REDUCED"):
            return token.start if token.text == "*" else None
        if token.is_word("CONSTRUCT", "DESCRIBE", "ASK"):
            return None
        selecting = selecting or token.is_word("SELECT")
    return None

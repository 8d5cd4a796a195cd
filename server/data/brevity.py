"""Keeps what a load prints short: no geometry is printed whole, and of long lists the first five."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from pyoxigraph import Literal, Triple

__all__ = ["FIRST", "brief", "first_of", "listed", "shortened"]

FIRST: Final = 5
"""How many of a list are printed."""
_LONGEST_VALUE: Final = 40
_LONGEST_MESSAGE: Final = 320


def brief(triple: Triple) -> str:
    """A statement in N-Triples, with the middle of a long literal left out."""
    return " ".join(_term(term) for term in (triple.subject, triple.predicate, triple.object))


def shortened(message: str, longest: int = _LONGEST_MESSAGE) -> str:
    """A message of one line; of a longer one its length, its beginning, and its end with the reason."""
    line = " ".join(message.split())
    if len(line) <= longest:
        return line
    note = f" ... ({len(line)} characters) ... "
    each = (longest - len(note)) // 2
    return f"{line[:each].rstrip()}{note}{line[-each:].lstrip()}"


def first_of(messages: Sequence[str], count: int | None = None) -> list[str]:
    """The first messages, shortened, and how many more there are of `count`."""
    shown = [shortened(message) for message in messages[:FIRST]]
    left = (len(messages) if count is None else count) - len(shown)
    return [*shown, f"(and {left} more)"] if left > 0 else shown


def listed(names: Iterable[object]) -> str:
    """The first names with commas between, and how many more there are."""
    every = [str(name) for name in names]
    more = f" and {len(every) - FIRST} more" if len(every) > FIRST else ""
    return ", ".join(every[:FIRST]) + more


def _term(term: object) -> str:
    if not isinstance(term, Literal) or len(term.value) <= _LONGEST_VALUE:
        return str(term)
    return f'"{term.value[:_LONGEST_VALUE]} ..." ({len(term.value)} characters)'

"""What lists and brackets say without a sentence: "Owner: Oak Trust", "(architect: Ada Stone)"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from extractors.english.wording.clause import Clause, Governor
from extractors.english.wording.units import Kind, Unit

__all__ = ["is_entry", "keyed", "of_address"]

_OPENERS: Final = frozenset({"(", "|", "•", ";", "*", "-", "–", ","})
_BEFORE_ADDRESS: Final = frozenset({"at", ",", ":", "*", "•", "|", "("})
_LONGEST_KEY: Final = 3


def keyed(clause: Clause) -> Governor | None:
    """A label with a colon before the value, that opens a line, brackets or an entry of a list."""
    units, at = clause.units, clause.value - 1
    if at < 1 or units[at].text != ":":
        return None
    for one in clause.occurrences:
        if one.last == at and clause.term.iri in one.terms and _opens(units, one.first, _LONGEST_KEY):
            return Governor(one.first, one.last)
    first = at - 1
    while first > max(0, at - _LONGEST_KEY) and units[first].kind is Kind.WORD and not _opens(units, first):
        first -= 1
    key = " ".join(unit.text for unit in units[first:at])
    named = _opens(units, first) and clause.phrases.has(clause.term.iri, key)
    return Governor(first, at) if named else None


def is_entry(units: Sequence[Unit], found: Governor) -> bool:
    """Whether words are the key of an entry."""
    return found.last < len(units) and units[found.last].text == ":"


def of_address(clause: Clause) -> Governor | None:
    """A number of a house with its street, for a relation that leads to an address: "at 41 Elm Row"."""
    units, at = clause.units, clause.value
    if not clause.phrases.has_noun(clause.term.iri, "address") or at < 1:
        return None
    words = units[at].text.split()
    numbered = len(words) > 1 and (words[0][0].isdigit() != words[-1][0].isdigit())
    if not numbered or units[at - 1].text not in _BEFORE_ADDRESS:
        return None
    return Governor(at - 1, at)


def _opens(units: Sequence[Unit], at: int, most: int = 1) -> bool:
    """Whether an entry begins with a unit, or fewer than `most` before it: behind a mark, on a new line."""
    if most > 1 and at > 0 and units[at - 1].kind is Kind.WORD and not _opens(units, at):
        return _opens(units, at - 1, most - 1)
    if at <= 0:
        return True
    before = units[at - 1]
    return before.text in _OPENERS or units[at].start - before.end > 1 or before.text == "."

"""Checks of one clause: its objects, "it" among them, and other subjects than the one of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from extractors.english.wording.governing import Clause, Governor
from extractors.english.wording.units import Kind, Unit

__all__ = ["has_it_too", "is_behind", "is_half", "is_region", "objects_of", "other_subject", "says_of_a_part"]

_LISTING: Final = frozenset({"and", "or", "the", "with"})
_OPEN: Final = frozenset("it him her them itself this these".split())  # noqa: SIM905
_LONGEST_OBJECT: Final = 3
_PRONOUNS: Final = frozenset("it its he she they his her their this these both which who that".split())  # noqa: SIM905
_POSSESSIVE: Final = frozenset({"its", "his", "her", "their"})
_PARTICLES: Final = frozenset("in on at from within inside along".split())  # noqa: SIM905


def is_half(clause: Clause, found: Governor) -> bool:
    """Whether an agent is one of two single words: "designed by Reed and Stem" may name one firm."""
    units, at = clause.units, clause.value
    if units[max(found.last - 1, 0)].text != "by" or " " in units[at].text:
        return False
    for word, other in ((at + 1, at + 2), (at - 1, at - 2)):
        if 0 <= other < len(units) and units[word].text in ("and", "&"):
            return units[other].kind is Kind.NAME and " " not in units[other].text
    return False


def other_subject(units: Sequence[Unit], first: int, value: int) -> Unit | None:
    """The name that opens a sentence that has no pronoun before the words: "Elm Bridge connects"."""
    before = units[: min(first, value)]
    if any(unit.text in _PRONOUNS for unit in before):
        return None
    at = next((n for n, unit in enumerate(before) if unit.kind is Kind.NAME), None)
    opens = at is not None and all(one.kind is Kind.MARK or one.text == "the" for one in before[:at])
    return units[at] if at is not None and opens else None


def is_behind(clause: Clause, found: Governor) -> bool:
    """Whether "it" stands before the words, and the subject only behind the object."""
    said = any(unit.text == "it" for unit in clause.units[: found.first])
    return said and bool(clause.others) and min(clause.others) > clause.value


def is_region(clause: Clause, found: Governor) -> bool:
    """Whether the subject is named only right behind the object, as its region: "in Ash Village, Norton"."""
    behind = clause.units[clause.value + 1 : clause.value + 2]
    fronted = all(unit.kind is Kind.MARK for unit in clause.units[: found.first])
    return not fronted and clause.others == {clause.value + 2} and behind[0].text == ","


def objects_of(units: Sequence[Unit], at: int) -> Sequence[Unit] | None:
    """The names that a verb has as its objects; None for "it", "the hall", or nothing that follows it."""
    found: list[Unit] = []
    for place, unit in enumerate(units[at:], at):
        if unit.kind is Kind.NAME:
            found.append(unit)
        elif found and (unit.text not in _LISTING or unit.kind is Kind.MARK) and unit.text != ",":
            break
        elif not found and (unit.text in _OPEN or (unit.kind is Kind.MARK and place == at)):
            return None
        elif not found and (unit.kind is Kind.MARK or place > at + _LONGEST_OBJECT):
            break
    described = at < len(units) and units[at].text in ("the", "this", "that", "both")
    return None if not found and (described or at >= len(units)) else found


def has_it_too(units: Sequence[Unit], clause: Clause, found: Governor) -> bool:
    """Whether the subject acts on "it" as well: "Stone & Co. built it and Jo Reed designed it"."""
    if found.last >= len(units) or units[found.last].text != "it":
        return False
    before = [at for at in clause.others if at < clause.value]
    return bool(before) and any(unit.text == "it" for unit in units[max(before) : clause.value])


def says_of_a_part(units: Sequence[Unit], found: Governor) -> bool:
    """Whether a preposition belongs to another thing: "unlike its namesake in London"."""
    first = found.first
    if found.last != first + 1 or units[first].text not in _PARTICLES or first < 2:
        return False
    nouns = units[max(0, first - 3) : first]
    return nouns[-1].kind is Kind.WORD and any(unit.text in _POSSESSIVE for unit in nouns[-3:-1])

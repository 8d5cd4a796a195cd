"""A sentence around an object, and the words in it that say a relation; entries of lists as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from extractors.english.wording.phrases import Occurrence, Phrases
from extractors.english.wording.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb
from ontology.terms import OntologyProperty, PropertyKind

__all__ = [
    "Clause",
    "Governor",
    "is_compound",
    "is_entry",
    "is_fronted",
    "is_glued",
    "is_half",
    "is_owner",
    "is_part_of_words",
    "keyed",
    "names_role",
    "of_address",
]

_OPENERS: Final = frozenset({"(", "|", "•", ";", "*", "-", "–", ","})
_BEFORE_ADDRESS: Final = frozenset({"at", ",", ":", "*", "•", "|", "("})
_BEING: Final = frozenset({"is", "was", "are", "were"})
_LONGEST_KEY: Final = 3
_PLACED: Final = frozenset("located situated set standing lying built found based".split())  # noqa: SIM905


@dataclass(frozen=True)
class Clause:
    """A sentence around an object: its units, where the object and the subject are, and the labels in it.

    `value` and `others` are indexes of units; `others` those of the subject, if the sentence has it.
    """

    units: Sequence[Unit]
    value: int
    others: frozenset[int]
    occurrences: Sequence[Occurrence]
    term: OntologyProperty
    phrases: Phrases


@dataclass(frozen=True)
class Governor:
    """The words that say the relation, at `units[first:last]`. `converse`: the object is their subject.

    `subject`: the unit of which they say it, where the construction itself says so.
    """

    first: int
    last: int
    converse: bool = False
    subject: int | None = None


def is_glued(units: Sequence[Unit], at: int) -> bool:
    """Whether a mark joins two words without a blank: "St. Mary's-in-the-Fields"."""
    before, after = units[at - 1] if at else None, units[at + 1] if at + 1 < len(units) else None
    return (
        before is not None
        and after is not None
        and (before.end, units[at].end) == (units[at].start, after.start)
    )


def is_fronted(units: Sequence[Unit], place: int, at: int) -> bool:
    """Whether only a place opens the sentence, before its subject: "Located in Norton, Elm Hall was"."""
    opening = [one.text for one in units[:place] if one.text not in ("the", "now", "today")]
    opens = len(opening) == 1 or (len(opening) == 2 and opening[0] in _PLACED)
    return opens and at + 1 < len(units) and units[at + 1].text in AUXILIARIES


def keyed(clause: Clause) -> Governor | None:
    """A label with a colon before the value, that opens a line, brackets or an entry of a list."""
    units, at = clause.units, clause.value - 1
    if at < 1 or units[at].text != ":":
        return None
    at -= units[at - 1].text == "."  # "Tel.:"
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
    behind = [unit.text for unit in units[found.last : found.last + 2]]
    return behind[:1] == [":"] or behind == [".", ":"]


def names_role(clause: Clause, found: Governor) -> bool:
    """Whether the words are a role that a name is said to have: "its architect was Ada Stone"."""
    units, last = clause.units, found.last
    led = found.first > 0 and units[found.first - 1].text in ("its", "the")
    verb = last - 1 if units[last - 1].text in _BEING else last
    return led and verb < clause.value <= verb + 2 and units[verb].text in _BEING


def of_address(clause: Clause) -> Governor | None:
    """A number of a house with its street, for a relation that leads to an address: "at 41 Elm Row"."""
    units, at = clause.units, clause.value
    if not clause.phrases.has_noun(clause.term.iri, "address") or at < 1:
        return None
    words = units[at].text.split()
    numbered = len(words) > 1 and _is_house(words[0]) != _is_house(words[-1]) and ":" not in units[at].text
    if not numbered or units[at - 1].text not in _BEFORE_ADDRESS:
        return None
    return Governor(at - 1, at)


def _is_house(word: str) -> bool:
    """Whether a word is the number of a house: "41", "41a", "41-43"; not "86th"."""
    return word[0].isdigit() and not word.endswith(("st", "nd", "rd", "th"))


def _opens(units: Sequence[Unit], at: int, most: int = 1) -> bool:
    """Whether an entry begins with a unit, or fewer than `most` before it: behind a mark, on a new line."""
    if most > 1 and at > 0 and units[at - 1].kind is Kind.WORD and not _opens(units, at):
        return _opens(units, at - 1, most - 1)
    if at <= 0:
        return True
    before = units[at - 1]
    return before.text in _OPENERS or units[at].start - before.end > 1 or before.text == "."


def is_half(clause: Clause, found: Governor) -> bool:
    """Whether an agent is one of two single words: "designed by Reed and Stem" may name one firm."""
    units, at = clause.units, clause.value
    if units[max(found.last - 1, 0)].text != "by" or " " in units[at].text:
        return False
    firm = [unit.text for unit in units[at + 1 : at + 4 : 2]] == [",", "and"]
    if firm and all(unit.kind is Kind.NAME and " " not in unit.text for unit in units[at + 2 : at + 5 : 2]):
        return True  # "by Stone, Reed and White"
    for word, other in ((at + 1, at + 2), (at - 1, at - 2)):
        if 0 <= other < len(units) and units[word].text in ("and", "&"):
            return units[other].kind is Kind.NAME and " " not in units[other].text
    return False


def is_compound(units: Sequence[Unit], at: int) -> bool:
    """Whether a dash without blanks joins a name to another: "at Elm Hall–42nd Street"."""
    return any(
        units[n].text in ("–", "—", "-", "/") and is_glued(units, n)
        for n in (at - 1, at + 1)
        if n > 0 and n + 1 < len(units)
    )


def is_owner(clause: Clause, found: Governor) -> bool:
    """Whether an object has "'s" behind it: "designed by Norton's Ada Stone"; after "in" a place may."""
    after = clause.value + 1
    owns = after < len(clause.units) and clause.units[after].text == "'s"
    return owns and found.first < clause.value and not clause.phrases.has(clause.term.iri, "in")


def is_part_of_words(clause: Clause) -> bool:
    """Whether a value is one end of a dash, or describes: "built as a War factory", "owns the Elm rights"."""
    units, at = clause.units, clause.value
    described = at > 0 and units[at - 1].text in ("a", "an") and clause.term.kind is not PropertyKind.OBJECT
    return described or is_compound(units, at) or _describes_several(units, at)


def _describes_several(units: Sequence[Unit], at: int) -> bool:
    """Whether a name stands before a noun in the plural that ends its phrase: "the Elm trademarks"."""
    after = units[at + 1 : at + 3]
    plural = len(after) > 1 and after[0].text.isalpha() and after[0].text.endswith("s")
    led = at > 0 and units[at - 1].text in ("the", "by", "for") and plural and after[0].kind is Kind.WORD
    ends = len(after) > 1 and (after[1].kind is Kind.MARK or after[1].text in ("and", "or"))
    return led and ends and after[0].text not in AUXILIARIES | PREPOSITIONS and not is_adverb(after[0])

"""Common nouns that stand for a name ("the tower", "its towers") or another thing, and words before names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from extractors.english.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb

POSSESSIVE: Final = frozenset({"its", "his", "her", "their"})
OTHERS: Final = frozenset("original former previous earlier older other another".split())
"""Words that set a thing apart from the one that is spoken of: "the former station"."""
_FURTHER: Final = frozenset("second third fourth fifth further separate".split())
_HOLDING: Final = frozenset("in inside within on at near beside behind opposite above below".split())
_SUBORDINATING: Final = frozenset("where when while since after before until because as that though".split())
ELSEWHERE: Final = frozenset(
    "cast made manufactured fabricated forged produced assembled signed printed quarried".split()
)
"""What is done to a thing at another place than its own: "was cast in Weston"."""
STRONG: Final = frozenset(";:•|")
BEFORE_NAMES: Final = frozenset(
    """the a an nearby old new former famous number no downtown central midtown greater northern southern
    eastern western""".split()
)


@dataclass(frozen=True)
class Description:
    """A common noun as the subject of a clause: "the tower", or with a possessive "its towers".

    `mid`: it does not open the sentence. `inner`: it is the subject of an inner clause, as in "where a hall
    was built" and "since the dam was built".
    """

    noun: str
    possessive: bool
    inner: bool = False
    mid: bool = False


def description_at(units: Sequence[Unit], at: int, start: int, last: int = -1) -> Description | None:
    """ "The tower" or "its towers" where it opens a clause; a verb follows, or it ends at `last`."""
    unit = units[at]
    in_clause = all(one.kind is not Kind.MARK for one in units[at : last + 1])
    if unit.text == "whose" and in_clause and (owned := _head(units, at + 1)):
        return Description(" ".join(owned), possessive=True, inner=True)
    if unit.text not in POSSESSIVE | {"the", "this", "a", "an"} or unit.kind is not Kind.WORD:
        return None
    before = units[at - 1].text if at else ""
    indefinite = unit.text in ("a", "an")
    if indefinite and all(one.kind is Kind.MARK for one in units[:at]) and " ".join(_head(units, at + 1)):
        return Description(" ".join(_head(units, at + 1)), possessive=False, inner=True)
    inner = before in _SUBORDINATING or (indefinite and before in ("and", "but"))
    opens = at == start or before in ("", ",", "and", "but") or _is_when(units, at, start)
    if not (inner or (opens and not indefinite)) or at + 1 >= len(units) or _is_aside(units, at, start):
        return None
    noun = at + 1
    while (
        noun + 1 < len(units)
        and units[noun + 1].kind is Kind.WORD
        and units[noun].kind is Kind.WORD
        and units[noun + 1].text not in AUXILIARIES | PREPOSITIONS | {"and", "or"}
        and not is_adverb(units[noun + 1])
        and noun < at + 3
    ):
        noun += 1
    if units[noun].kind is not Kind.WORD:
        return None
    if inner and noun != last and (noun + 1 >= len(units) or units[noun + 1].text not in AUXILIARIES):
        return None
    mid = any(one.kind is not Kind.MARK for one in units[:at])
    return Description(nouns(units, at + 1, noun), unit.text in POSSESSIVE, inner, mid)


def _head(units: Sequence[Unit], at: int) -> Sequence[str]:
    """The words of a noun phrase: "bronze statue" of "A bronze statue of Ada Stone"."""
    end = at
    while (
        end < len(units)
        and units[end].kind is Kind.WORD
        and units[end].text not in AUXILIARIES | PREPOSITIONS
    ):
        end += 1
    return [unit.text for unit in units[at:end]][:3]


def _is_when(units: Sequence[Unit], at: int, start: int) -> bool:
    """Whether a date that opens a clause stands right before: "in 1821 the walls were pulled down"."""
    year = at - 2 >= start and units[at - 1].text[-4:].isdigit() and units[at - 2].text in ("in", "on", "by")
    return year and (
        at - 2 == start or units[at - 3].kind is Kind.MARK or units[at - 3].text in ("and", "but")
    )


def _is_aside(units: Sequence[Unit], at: int, start: int) -> bool:
    """Whether "the" opens what is said between commas about the name before: "Elm Line, the bus, opened".

    What "its" opens is about any name: "was designed by Ada Stone, its first director, and opened".
    """
    if at < start + 2 or units[at - 1].text != "," or units[at - 2].kind is not Kind.NAME:
        return False
    opens = lead_of(units, at - 2, start) in ("", ",") or units[at].text in POSSESSIVE
    closed = next((n for n in range(at + 1, len(units)) if units[n].text in {",", *STRONG}), None)
    verb = any(unit.text in AUXILIARIES for unit in units[at:closed])
    return opens and closed is not None and units[closed].text == "," and not verb


def is_attributive(units: Sequence[Unit], at: int) -> bool:
    """Whether a name only describes a noun: "an Art Nouveau house"."""
    noun = units[at + 1] if at + 1 < len(units) else None
    return (
        at > 0
        and units[at - 1].text in ("a", "an")
        and noun is not None
        and noun.text.isalpha()
        and noun.kind is Kind.WORD
        and noun.text not in AUXILIARIES | PREPOSITIONS | {"and", "or", "which", "who", "that"}
    )


def nouns(units: Sequence[Unit], first: int, last: int) -> str:
    """The words of a description before its verb, which the words of the clause do not separate: all."""
    return " ".join(unit.text for unit in units[first : last + 1])


def lead_of(units: Sequence[Unit], at: int, start: int = 0) -> str:
    """The word before a name in its clause, without its article and words that describe it."""
    here = at - 1
    if here > start and units[here].text == "'s" and units[here - 1].kind is Kind.NAME:
        owners = lead_of(units, here - 1, start)
        return owners if owners in PREPOSITIONS else "'s"  # "in Hell's Kitchen"
    while here >= start and (units[here].text in BEFORE_NAMES or units[here].text.isdigit()):
        here -= 1
    return units[here].text if here >= start else ""


def without_verb(about: Description, verb: str) -> Description:
    """A description without the verb behind its noun: "Its restaurant seats 48"."""
    *nouns, last = about.noun.split()
    return replace(about, noun=" ".join(nouns)) if nouns and last == verb else about


def is_closed_region(units: Sequence[Unit], at: int) -> bool:
    """Whether a name is the region of a place, between commas: "in Weston, Norton, beside"."""
    placed = at > 2 and units[at - 1].text == "," and units[at - 2].kind is Kind.NAME
    closed = at + 1 < len(units) and units[at + 1].text == ","
    verb = units[at + 2].text if at + 2 < len(units) else ""
    return placed and closed and verb not in AUXILIARIES and lead_of(units, at - 2) in PREPOSITIONS


def is_another(units: Sequence[Unit]) -> bool:
    """Whether a sentence opens with another thing than it goes on about: "The original hospital on the site".

    So does one that says what happened ("This came to be called the Elm Affair"), or what is in it ("In it
    stands the oldest house"), and what is in brackets is about the name before them.
    """
    opened = max((n for n, unit in enumerate(units) if unit.text == "("), default=0)
    if opened and units[-1].text == ")" and units[opened - 1].kind is Kind.NAME:
        return True
    first, second = (units[n].text if n < len(units) else "" for n in (0, 1))
    if first == "this" and second in AUXILIARIES | {"came"}:
        return True
    if _is_numbered_part(units) or (first in _HOLDING and second == "it"):
        return True
    opening = [unit.text for unit in units if unit.kind is not Kind.MARK][:5]
    if opening[:1] == ["another"] or (opening[:1] == ["the"] and opening[2:4] == ["of", "its"]):
        return True  # "The oldest of its three parts was"
    if len(opening) < 2 or _is_placed_noun(units):
        return len(opening) > 1
    numbered = opening[0] == "a" and opening[1] in _FURTHER
    return numbered or (opening[0] in ("the", "an", "its") and opening[1] in OTHERS)


def _is_placed_noun(units: Sequence[Unit]) -> bool:
    """Whether a sentence is about one of several things, by where it is: "The depot at Ash Hill opened"."""
    at = next((n for n, unit in enumerate(units[:4]) if unit.text == "at"), 0)
    if at < 2 or units[0].text != "the" or any(unit.kind is not Kind.WORD for unit in units[:at]):
        return False
    named = [unit for unit in units[at + 1 : at + 4] if unit.text != "the"][:2]
    verb = named[-1].text if len(named) > 1 else ""
    return named[:1] != [] and named[0].kind is Kind.NAME and (verb in AUXILIARIES or verb.endswith("ed"))


def _is_numbered_part(units: Sequence[Unit]) -> bool:
    """Whether a sentence opens with one of several parts: "Terminal 4 opened", "Phase 2 was"."""
    if len(units) < 3 or units[0].text in PREPOSITIONS or is_adverb(units[0]):
        return False
    number, verb = units[1], units[2]
    numbered = number.text.isdigit() and len(number.text) < 4 and number.start == units[0].end + 1
    return numbered and (verb.text in AUXILIARIES or verb.text.endswith("ed"))


def opening_noun(units: Sequence[Unit]) -> Sequence[str]:
    """The words of "The pedestrian tunnel" at the start of a sentence."""
    found: list[str] = []
    for unit in [one for one in units if one.kind is not Kind.MARK][1:4]:
        if unit.kind is not Kind.WORD or unit.text in AUXILIARIES | PREPOSITIONS or is_adverb(unit):
            break
        found.append(unit.text)
    return found

"""Which words of a sentence a number belongs to: its own unit of measure, or words close to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from extractors.english.wording.clause import Clause, Governor
from extractors.english.wording.descriptions import lead_of
from extractors.english.wording.phrases import Occurrence
from extractors.english.wording.units import AUXILIARIES, PREPOSITIONS, Kind, Unit

__all__ = ["of_number"]

_VALUE_REACH: Final = 5
_ABOUT: Final = frozenset(
    "about some around approximately roughly nearly almost over just only a total".split()  # noqa: SIM905
)
_LENGTHS: Final = frozenset(
    """mile miles mi kilometer kilometers kilometre kilometres km meter meters metre metres m foot feet ft
    yard yards""".split()  # noqa: SIM905
)
_MEASURING: Final = frozenset(
    """is was are were be runs run ran running stretches stretched stretching extends extended extending spans
    spanned spanning measures measured measuring reaches reached rises rose rising stands stood totals covers
    covered continues goes winds length height long tall for of at""".split()  # noqa: SIM905
)
"""What stands before a bare length: "stretches 3 miles", "a length of 3 miles"."""
_NUMBERED: Final = frozenset(
    "grade grades age ages aged pier piers line lines route routes room rooms floor floors no number".split()  # noqa: SIM905
)
_WHERE: Final = frozenset({"in", "at", "of", "near", "on"})
_ADDED: Final = frozenset({"more", "additional", "extra", "further", "fewer", "new"})
_BESIDE: Final = frozenset("includes including include plus another additional extra further".split())  # noqa: SIM905
_COUNTED: Final = frozenset(
    """people persons inhabitants residents visitors spectators students pupils passengers riders seats guests
    souls citizens places years stories storeys floors levels beds rooms worshippers worshipers fans patients
    children pilgrims inmates prisoners delegates diners couples listeners""".split()  # noqa: SIM905
)
_SHORT_TIMES: Final = frozenset({"daily", "weekly", "monthly", "hourly"})
_SHORT: Final = frozenset("day week month hour night weekday weekend".split())  # noqa: SIM905
_EACH: Final = frozenset({"a", "an", "per", "each", "every"})
_APART: Final = frozenset(
    """north south east west northeast northwest southeast southwest northern southern eastern western from
    away off inland upstream downstream apart outside beyond past radius distance further underground
    below""".split()  # noqa: SIM905
)
"""What stands behind a distance to something else: "5 miles south of"."""
"""How many words may stand between a number and what it measures."""


def of_number(clause: Clause) -> Governor | None:
    """What a number measures: words within it, right behind it, or shortly before it."""
    units, value = clause.units, clause.value
    iri = clause.term.iri
    if _is_alternative(units, value) or _is_part(units, value) or _is_of_other_time(clause):
        return None
    if _is_added(units, value) or _is_of_listed(units, value):
        return None
    after = [
        one
        for one in clause.occurrences
        if value < one.first <= value + 3 and not _parted(units[value + 1 : one.first])
    ]
    before = [
        one
        for one in clause.occurrences
        if value - _VALUE_REACH <= one.last <= value and not _parted(units[one.last : value])
    ]
    behind = [one for one in after if one.first == value + 1]
    if (around := _around(clause, before)) is not None:
        return around
    if behind and not any(iri in one.terms for one in behind):
        return None  # "100 feet wide" is no height, though that may be said in feet
    if _is_apart(units, value):
        return None
    own = _described(units, value)
    if behind:
        last = next(one.last for one in behind if iri in one.terms)
        return Governor(value, last, subject=own if own is not None else _apposed(units, value))
    if clause.phrases.within(iri, units[value].text):
        return Governor(value, value + 1, subject=own) if own or _is_measured(units, value) else None
    nearest = max((one.last for one in before), default=None)
    for one in before:
        if one.last == nearest and iri in one.terms and not _counts_other(clause):
            return Governor(one.first, value + 1)
    for one in after:
        if iri in one.terms:
            return Governor(value, one.last, subject=own)
    return None


def _apposed(units: Sequence[Unit], value: int) -> int | None:
    """The name that a measure behind a comma describes: "links it with Elm Park, 727 m above sea level"."""
    named = value > 1 and units[value - 1].text == "," and units[value - 2].kind is Kind.NAME
    return value - 2 if named and lead_of(units, value - 2) not in _WHERE else None


def _is_added(units: Sequence[Unit], value: int) -> bool:
    """Whether a number comes on top of another: "100 more riders", not "100 more than"."""
    after = [unit.text for unit in units[value + 1 : value + 3]]
    return len(after) > 1 and after[0] in _ADDED and after[1] != "than"


def _described(units: Sequence[Unit], value: int) -> int | None:
    """The name that a number with a hyphen describes: "the 42-story Elm Tower"."""
    said = units[value].text
    at = value + 1
    if not ("-" in said or (at < len(units) and units[at].text == "-")):
        return None
    while at < len(units) and at <= value + _VALUE_REACH:
        if units[at].kind is Kind.NAME:
            after = units[at + 1] if at + 1 < len(units) else None
            noun = (
                after is not None and after.kind is Kind.WORD and after.text not in AUXILIARIES | PREPOSITIONS
            )
            return None if noun and after is not None and not after.text.endswith("ed") else at
        if units[at].text in AUXILIARIES | PREPOSITIONS or (
            units[at].kind is Kind.MARK and units[at].text != "-"
        ):
            return None
        if units[at].text in ("that", "which", "who", "and"):
            return None
        at += 1
    return None


def _around(clause: Clause, before: Sequence[Occurrence]) -> Governor | None:
    """A label of several words before the number or around it: "room for 8,000", "home to 900 people"."""
    iri, value = clause.term.iri, clause.value
    led = [one for one in before if one.last == value and one.last - one.first > 1]
    if any(iri in one.terms for one in led):
        return Governor(led[0].first, value + 1)
    around = clause.phrases.around(clause.units, value, iri)
    return None if around is None else Governor(*around)


def _is_of_other_time(clause: Clause) -> bool:
    """Whether a number counts those of a day, a week or a month, and is sought for a year."""
    behind = clause.units[clause.value + 1 : clause.value + 1 + _VALUE_REACH]
    return "annual" in clause.term.label.split() and any(
        unit.text in _SHORT_TIMES or (unit.text in _SHORT and behind[max(n - 1, 0)].text in _EACH)
        for n, unit in enumerate(behind)
    )


def _is_part(units: Sequence[Unit], value: int) -> bool:
    """Whether a number numbers or is one of several: "grade 9", "including 5,197 club seats"."""
    before = units[value - 1].text if value else ""
    address = before == "at" and units[value].text.isdigit()
    numbered = before in _NUMBERED and units[value].text.replace(",", "").isdigit()
    return address or numbered or before in _BESIDE


def _counts_other(clause: Clause) -> bool:
    """Whether a number behind its measure counts other things: "students of 170 countries"."""
    units, after = clause.units, clause.value + 1
    while after + 1 < len(units) and after < clause.value + _VALUE_REACH and _goes_on(units, after):
        after += 1  # "85 parochial and public schools"
    if after >= len(units) or units[after].kind is not Kind.WORD or not units[after].text.endswith("s"):
        return False
    noun = units[after]
    plain = noun.text in AUXILIARIES | PREPOSITIONS | _COUNTED or noun.text.isdigit()
    return not plain and not clause.phrases.has_noun(clause.term.iri, noun.text)


def _is_of_listed(units: Sequence[Unit], value: int) -> bool:
    """Whether a number describes another thing of a list: "has the Elm Gallery, and an 18-floor tower"."""
    led = [unit.text for unit in units[max(0, value - 2) : value]]
    hyphen = "-" in units[value].text or [unit.text for unit in units[value + 1 : value + 2]] == ["-"]
    named = value > 3 and any(unit.kind is Kind.NAME for unit in units[value - 4 : value - 2])
    return hyphen and named and led in (["and", "a"], ["and", "an"])


def _goes_on(units: Sequence[Unit], at: int) -> bool:
    """Whether a word only describes the noun behind it."""
    plain = units[at].kind is Kind.WORD and not units[at].text.endswith("s")
    return plain and units[at].text not in AUXILIARIES | PREPOSITIONS and units[at + 1].kind is Kind.WORD


def _is_apart(units: Sequence[Unit], value: int) -> bool:
    """Whether a number says how far away something is: "5 miles (8 km) south-east of Norton"."""
    after = value + 1
    if after < len(units) and units[after].text == "(":
        after = next((n + 1 for n in range(after, len(units)) if units[n].text == ")"), after)
    return after < len(units) and units[after].text in _APART


def _is_measured(units: Sequence[Unit], value: int) -> bool:
    """Whether a bare number with its unit is a measure of what the sentence speaks of.

    An area may also be a part of it: "on 40 acres", "a 40-acre park"; a length needs a verb, and neither
    may be a measure of what follows: "538 miles of waterfront".
    """
    after = units[value + 1].text if value + 1 < len(units) else ""
    if after == "of":
        return False
    said = units[value].text.split()
    if said[-1] not in _LENGTHS or said[-2] in ("square", "sq"):
        return True
    before = [one for one in units[max(0, value - 4) : value] if one.text not in _ABOUT]
    return bool(before) and before[-1].text in _MEASURING


def _is_alternative(units: Sequence[Unit], at: int) -> bool:
    """Whether a number is one of two: "either 23 or 26 floors", "4 to 6 m", "grades 9 through 12"."""
    for word, other in ((at - 1, at - 2), (at + 1, at + 2)):
        if 0 <= other < len(units) and word >= 0 and units[word].text in ("or", "to", "through", "-", "–"):
            return units[other].text[0].isdigit()
    return False


def _parted(between: Iterable[Unit]) -> bool:
    """Whether other things than words such as "about" and "of" stand between a number and its measure."""
    return any(
        unit.kind is Kind.NAME
        or (unit.kind is Kind.MARK and unit.text not in "-~$€£")
        or unit.text in ("and", "but", "or")
        for unit in between
    )

"""Which words of a sentence a date belongs to: the nearest label of a date in its clause."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from extractors.english.wording.clause import Clause, Governor, is_glued
from extractors.english.wording.phrases import Occurrence
from extractors.english.wording.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb

__all__ = ["of_date"]

_CONJUNCTIONS: Final = frozenset({"and", "or", "&", "with", "to", "well", "plus"})
_ARTICLES: Final = frozenset({"the", "a", "an", "its", "his", "her", "their", "this", "that"})
_BREAKS: Final = frozenset(";:.!?—–()•|")
_TURNS: Final = frozenset({"but", "while", "whereas", "although", "though", "where", "when"})
_PARTICLES: Final = frozenset(
    "in on at as from to since until through between within inside along across".split()  # noqa: SIM905
)
_TAILS: Final = frozenset({"in", "on", "at"})
_YEAR = re.compile(r"\d{4}$")
_DATE_REACH: Final = 8
_LIMITS: Final = frozenset("until till before after".split())  # noqa: SIM905
_DETERMINED: Final = frozenset("the early late about around in on of circa".split())  # noqa: SIM905
_ALMOST: Final = frozenset("nearly almost partially practically virtually not never".split())  # noqa: SIM905
_OWN_OBJECTS: Final = frozenset("its his her their a an another two three several many".split())  # noqa: SIM905
_CLAUSE_SUBJECTS: Final = frozenset("it he she they its".split())  # noqa: SIM905
_PASSIVE: Final = frozenset("is was are were be been being".split())  # noqa: SIM905
_HAVING: Final = frozenset({"has", "had", "have"})
_DOERS: Final = frozenset("he she they who which and ,".split())  # noqa: SIM905
_LINKS: Final = frozenset({"and", "which", "who", "that", "or"})
_NAMING: Final = frozenset({"designated", "declared", "named"})
"""What makes a thing something else: "were designated landmarks in 1960"."""
_PAST: Final = frozenset("bought sold given taken made rebuilt run lent left".split())  # noqa: SIM905
_TIMES: Final = frozenset("year years month months week weeks day days decade decades few".split())  # noqa: SIM905


def of_date(clause: Clause) -> Governor | None:
    """The nearest label of a date before it in its clause, else after it."""
    units, value = clause.units, clause.value
    if _is_of_other(units, value):
        return None
    start = value
    while start > 0 and not _breaks(units, start - 1):
        start -= 1
    end = value
    while end + 1 < len(units) and not _breaks(units, end + 1):
        end += 1
    before = [
        one
        for one in clause.occurrences
        if start <= one.first
        and one.last <= value
        and (one.last == value or not _is_particle(one, units))
        and not _is_purpose(one, units)
    ]
    nearest = max((one.last for one in before), default=None)
    if nearest is not None:
        before = [one for one in before if one.last == nearest] + _with_tail(units, before, nearest)
        first = min(one.first for one in before)
        before = [one for one in before if one.first == first]
    taken = units[value + 1 : value + 2]
    if nearest is not None and ((taken and taken[0].text in AUXILIARIES) or _is_spent(units, nearest, value)):
        return None  # "built for 2,000 students, by 1964 had become"
    if nearest is not None:
        return _first_own(before, clause)
    after = [
        one
        for one in clause.occurrences
        if one.first > value and one.last <= end + 1 and not _is_limit(one, units)
    ]
    nearest = min((one.first for one in after), default=None)
    if nearest is not None and _has_own_date(units, nearest + 1):
        return None  # "In 1873 it was given away, and the park opened in 1876"
    return None if nearest is None else _first_own([one for one in after if one.first == nearest], clause)


def _with_tail(units: Sequence[Unit], found: Sequence[Occurrence], nearest: int) -> list[Occurrence]:
    """The labels that end before a tail, which is part of another label: "service began" of "began in"."""
    tail = units[nearest - 1].text in _TAILS
    return [one for one in found if tail and one.last == nearest - 1 and one.first < nearest - 2]


def _is_of_other(units: Sequence[Unit], value: int) -> bool:
    """Whether a date is part of what it describes, of today, or a limit: "the 2001 attacks", "as of 2023"."""
    before = [unit.text for unit in units[max(0, value - 2) : value]]
    if before == ["as", "of"] or before[-1:] in (["before"], ["after"]):
        return True
    after = units[value + 1] if value + 1 < len(units) else None
    if after is not None and after.text in "–-—" and is_glued(units, value + 1):
        return True  # "built in 1914–16"
    if before[-1:] == ["the"] and after is not None and after.kind is Kind.NAME:
        return True  # "built for the 1967 Elm Fair"
    described = after is not None and after.kind is Kind.WORD and after.text.isalpha()
    plain = PREPOSITIONS | AUXILIARIES | _CONJUNCTIONS | _ARTICLES
    return described and before[-1:] == ["the"] and after is not None and after.text not in plain


def _has_own_date(units: Sequence[Unit], at: int) -> bool:
    """Whether a date follows within a few words, before any mark."""
    for unit in units[at : at + _DATE_REACH]:
        if unit.kind is Kind.MARK:
            return False
        if _is_date(unit):
            return True
    return False


def _is_date(unit: Unit) -> bool:
    return _YEAR.search(unit.text) is not None and (unit.kind is Kind.NAME or unit.text.isdigit())


def _is_spent(units: Sequence[Unit], last: int, value: int) -> bool:
    """Whether another verb follows the label: "closed in 1987 and put up again in 1992", "began keeping"."""
    between = units[last:value]
    if between and between[0].kind is Kind.WORD and between[0].text.endswith("ing"):
        return True
    until = next((n for n, unit in enumerate(between) if unit.text in _LIMITS), None)
    if until is not None and any(
        one.kind is Kind.WORD and one.text not in _DETERMINED for one in between[until + 1 :]
    ):
        return True  # "completed until the closing of Elm Tower in 2019"
    passive = (n for n, unit in enumerate(between[:-1]) if unit.text in ("was", "were"))
    if any(_is_done(between, n) for n in passive):
        return True  # "Rebuilt twice, it was captured in 1814"
    if any(_is_other_verb(between, n) for n in range(1, len(between) - 1)):
        return True  # "founded by Ada Stone and bought by Jo Reed in 1980"
    dates = [n for n, unit in enumerate(between) if _YEAR.search(unit.text)]
    plain = PREPOSITIONS | _CONJUNCTIONS | _ARTICLES | {"again", "from", "until", "between", ","}
    rest = between[dates[0] + 1 :] if dates else ()
    return any(unit.kind is Kind.WORD and unit.text not in plain and not is_adverb(unit) for unit in rest)


def _is_done(between: Sequence[Unit], at: int) -> bool:
    """Whether "it was" or "the hall was" begins a clause with a verb of its own."""
    led = at > 0 and between[at - 1].kind is not Kind.MARK and between[at - 1].text not in _LINKS
    verb = next((unit for unit in between[at + 1 :] if not is_adverb(unit)), None)
    return led and verb is not None and verb.text.endswith("ed")


def _is_other_verb(between: Sequence[Unit], at: int) -> bool:
    """Whether "and" leads to a participle with its own agent or purpose: "and bought by Jo Reed in"."""
    verb, after = between[at + 1], between[at + 2] if at + 2 < len(between) else None
    past = verb.kind is Kind.WORD and (verb.text.endswith("ed") or verb.text in _PAST)
    return between[at].text == "and" and past and after is not None and after.text in ("by", "for", "to")


def _first_own(found: Iterable[Occurrence], clause: Clause) -> Governor | None:
    for one in found:
        if clause.term.iri in one.terms and not _is_particle(one, clause.units):
            if clause.units[clause.value - 1].text == "between" and one.last != clause.value:
                return None  # "built by Ada Stone between 1593 and 1596" ended with the second
            if one.gap is not None and clause.units[one.gap[1] - 1].kind is Kind.NAME:
                return Governor(
                    one.first, one.last, subject=one.gap[1] - 1
                )  # "construction of Elm Hall began"
            almost = one.first and clause.units[one.first - 1].text in _ALMOST
            if not almost and (acted := _acted_on(one, clause)) is not None:
                return Governor(one.first, one.last, subject=acted)
            return None if almost or _acts_on_other(one, clause) else Governor(one.first, one.last)
    return None


def _acted_on(one: Occurrence, clause: Clause) -> int | None:
    """The name that an active verb dates: "Ada Stone founded the Elm Works in 1871"."""
    units, before = clause.units, one.first - 1
    if units[one.last - 1].text in PREPOSITIONS:
        return None
    while before >= 0 and (is_adverb(units[before]) or units[before].text in _HAVING):
        before -= 1
    at = one.last + (one.last < len(units) and units[one.last].text in ("the", "its"))
    if (
        before < 0
        or at + 1 >= clause.value
        or units[at].kind is not Kind.NAME
        or units[before].text in _PASSIVE
    ):
        return None
    doer = units[before].kind is Kind.NAME or units[before].text in _DOERS
    plain = all(
        unit.kind is Kind.NAME or unit.text in PREPOSITIONS | _ARTICLES | {"early", "late", ","}
        for unit in units[at + 1 : clause.value]
    )
    return at if doer and plain and units[at + 1].text not in ("as", "a", "an") else None


def _acts_on_other(one: Occurrence, clause: Clause) -> bool:
    """Whether the verb has an object, which has the date: "the bank opened its first branch in 1940"."""
    units, after = clause.units, one.last
    before = one.first - 1
    while before >= 0 and is_adverb(units[before]):
        before -= 1
    if after + 1 >= len(units) or after == clause.value or units[after + 1].text in _TIMES:
        return False
    if units[max(before, 0)].text in _PASSIVE:
        made = units[one.last - 1].text in _NAMING and units[after].kind is Kind.WORD
        return units[after].text in ("a", "an") or (made and units[after].text not in PREPOSITIONS)
    active = any(at < one.first for at in clause.others) and after + 1 < clause.value
    return units[after].text in _OWN_OBJECTS or (active and units[after].text == "the")


def _is_purpose(one: Occurrence, units: Sequence[Unit]) -> bool:
    """Whether a noun only says what for: "closed for renovation in 2019"."""
    noun = units[one.first].text.endswith(("tion", "ment", "ing"))
    return noun and one.first > 0 and units[one.first - 1].text == "for"


def _is_limit(one: Occurrence, units: Sequence[Unit]) -> bool:
    """Whether a noun only says after what: "opened in July 2014, after a renovation"."""
    lead = one.first - 1 - (one.first > 0 and units[one.first - 1].text in _ARTICLES)
    return lead >= 0 and units[lead].text in _LIMITS | {"following"}


def _is_particle(one: Occurrence, units: Sequence[Unit]) -> bool:
    """Whether the words are one preposition, which says when, but not what: "free since 1997"."""
    if one.last != one.first + 1 or units[one.first].text not in _PARTICLES:
        return False
    opens = {"from": ("to", "until", "through"), "to": ("from",), "until": ("from",), "through": ("from",)}
    return not any(unit.text in opens.get(units[one.first].text, ()) for unit in units)


def _breaks(units: Sequence[Unit], at: int) -> bool:
    """Whether a clause ends here; not at the dash of "1942–43"."""
    unit = units[at]
    goes_on = [one.text for one in units[at + 1 : at + 3]]
    clause = unit.text == "," and goes_on[:1] == ["and"] and goes_on[1:] and goes_on[1] in _CLAUSE_SUBJECTS
    return (
        clause
        or (unit.kind is Kind.MARK and unit.text in _BREAKS and not is_glued(units, at))
        or unit.text in _TURNS
    )

"""Which words of a sentence a date or a number belongs to: the nearest label in its clause, its own unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from extractors.english.clause import Clause, Governor, is_glued
from extractors.english.descriptions import lead_of
from extractors.english.phrases import Occurrence
from extractors.english.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb

_CONJUNCTIONS: Final = frozenset({"and", "or", "&", "with", "to", "well", "plus"})
_ARTICLES: Final = frozenset({"the", "a", "an", "its", "his", "her", "their", "this", "that"})
_BREAKS: Final = frozenset(";:.!?—–()•|")
_TURNS: Final = frozenset({"but", "while", "whereas", "although", "though", "where", "when"})
_PARTICLES: Final = frozenset(
    "in on at as from to since until through between within inside along across".split()
)
_TAILS: Final = frozenset({"in", "on", "at"})
_YEAR = re.compile(r"\d{4}$")
_DATE_REACH: Final = 8
_LIMITS: Final = frozenset("until till before after".split())
_DETERMINED: Final = frozenset("the early late about around in on of circa".split())
_ALMOST: Final = frozenset("nearly almost partially practically virtually not never".split())
_OWN_OBJECTS: Final = frozenset("its his her their a an another two three several many".split())
_CLAUSE_SUBJECTS: Final = frozenset("it he she they its".split())
_PASSIVE: Final = frozenset("is was are were be been being".split())
_HAVING: Final = frozenset({"has", "had", "have"})
_DOERS: Final = frozenset("he she they who which and ,".split())
_LINKS: Final = frozenset({"and", "which", "who", "that", "or"})
_NAMING: Final = frozenset({"designated", "declared", "named"})
"""What makes a thing something else: "were designated landmarks in 1960"."""
_PAST: Final = frozenset("bought sold given taken made rebuilt run lent left".split())
_TIMES: Final = frozenset("year years month months week weeks day days decade decades few".split())


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


_VALUE_REACH: Final = 5
_ABOUT: Final = frozenset(
    "about some around approximately roughly nearly almost over just only a total".split()
)
_LENGTHS: Final = frozenset(
    """mile miles mi kilometer kilometers kilometre kilometres km meter meters metre metres m foot feet ft
    yard yards""".split()
)
_MEASURING: Final = frozenset(
    """is was are were be runs run ran running stretches stretched stretching extends extended extending spans
    spanned spanning measures measured measuring reaches reached rises rose rising stands stood totals covers
    covered continues goes winds length height long tall for of at""".split()
)
"""What stands before a bare length: "stretches 3 miles", "a length of 3 miles"."""
_NUMBERED: Final = frozenset(
    "grade grades age ages aged pier piers line lines route routes room rooms floor floors no number".split()
)
_WHERE: Final = frozenset({"in", "at", "of", "near", "on"})
_ADDED: Final = frozenset({"more", "additional", "extra", "further", "fewer", "new"})
_BESIDE: Final = frozenset("includes including include plus another additional extra further".split())
_COUNTED: Final = frozenset(
    """people persons inhabitants residents visitors spectators students pupils passengers riders seats guests
    souls citizens places years stories storeys floors levels beds rooms worshippers worshipers fans patients
    children pilgrims inmates prisoners delegates diners couples listeners""".split()
)
_SHORT_TIMES: Final = frozenset({"daily", "weekly", "monthly", "hourly"})
_SHORT: Final = frozenset("day week month hour night weekday weekend".split())
_EACH: Final = frozenset({"a", "an", "per", "each", "every"})
_APART: Final = frozenset(
    """north south east west northeast northwest southeast southwest northern southern eastern western from
    away off inland upstream downstream apart outside beyond past radius distance further underground
    below""".split()
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
    while after + 1 < len(units) and after < clause.value + _VALUE_REACH and _is_modifier(units, after):
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


def _is_modifier(units: Sequence[Unit], at: int) -> bool:
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

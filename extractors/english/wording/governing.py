"""Which words of a sentence an object belongs to: the nearest label before it, or its own unit of measure.

"It starts at Gansevoort Street, runs through Chelsea and ends at 34th Street" says of 34th Street that
something ends there, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from extractors.english.wording.phrases import Group, Occurrence, Phrases
from extractors.english.wording.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb
from ontology.terms import OntologyProperty

__all__ = ["Clause", "Governor", "governor", "is_glued"]

_JOINERS: Final = frozenset({"and", "or", "&", "with", "to", "both", "as", "well", "together", "plus", ","})
_BETWEEN_NAMES: Final = frozenset({"to", "with", "as", "well", "together"})
_POSSESSIVE: Final = frozenset({"its", "his", "her", "their"})
_CONJUNCTIONS: Final = frozenset({"and", "or", "&", "with", "to", "well", "plus"})
_ARTICLES: Final = frozenset({"the", "a", "an", "its", "his", "her", "their", "this", "that"})
_BREAKS: Final = frozenset(";:.!?—–()•|")
_TURNS: Final = frozenset({"but", "while", "whereas", "although", "though", "where", "when"})
_PARTS: Final = frozenset(
    """north south east west northern southern eastern western center centre heart middle edge side part
    end corner foot top bottom top banks bank shore outskirts city town borough district neighborhood
    neighbourhood village state county province region quarter area suburb island street""".split()  # noqa: SIM905
)
_PARTICLES: Final = frozenset(
    "in on at as from to since until through between within inside along across".split()  # noqa: SIM905
)
_INVERTED: Final = frozenset("lie lies lay stand stands stood sit sits sat".split())  # noqa: SIM905
"""Verbs whose subject may follow: "Next to the museum lies Elm Park"."""
_ENDS: Final = (
    _INVERTED
    | PREPOSITIONS
    | AUXILIARIES
    | _TURNS
    | {"he", "she", "it", "they", "we", "i", "you", "who", "which", "that"}
)
_AFTER_REGION: Final = AUXILIARIES | {"on", "opened", "that", "which", "with", "and", "by", "since", "so"}
_LONGEST_HEAD: Final = 5
_YEAR = re.compile(r"\d{4}$")
_VALUE_REACH: Final = 5
"""How many words may stand between a number and what it measures."""


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


def governor(clause: Clause, group: Group) -> Governor | None:
    """The words that say this relation of the object, or None where other words, or none, govern it."""
    if group is Group.DATES:
        return _of_date(clause)
    if group is Group.NUMBERS:
        return _of_number(clause)
    return _before(clause) or _behind(clause) or _as_subject(clause) or _as_role(clause) or _of_place(clause)


def _before(clause: Clause) -> Governor | None:
    """The label before a name, with a list, articles and a common noun between them at most."""
    units, at = clause.units, clause.value - 1
    joined = listed = crossed = parted = False
    words = since = 0
    while at >= 0:
        ending = [one for one in clause.occurrences if one.last == at + 1]
        if ending and not (joined and units[at].text in ("with", "to")):
            alone = all(one.last == one.first + 1 for one in ending) and units[at].text in PREPOSITIONS
            apart = (crossed and alone) or (listed and (parted or _acts(units, clause.value)))
            return None if apart else _own(ending, clause)
        unit = units[at]
        if unit.kind is Kind.NAME:
            if not joined or since or (unit.start, unit.end) == _span(units[clause.value]):
                return None  # "for Ada Stone, a merchant and former Mayor of Norton"
            joined = False
        elif unit.text in _JOINERS:
            if unit.text in _BETWEEN_NAMES and not _name_before(units, at):
                return None
            listed, crossed = listed or unit.text in _CONJUNCTIONS, crossed or unit.text in ("to", "with")
            if unit.text == "," and not (listed or _goes_on(units, clause.value)):
                return None
            joined, since = True, since if joined else 0
        elif unit.kind is Kind.MARK and (unit.text != "-" or is_glued(units, at)):
            return None
        elif unit.text == "of" and at and units[at - 1].text in _PARTS:
            at -= 1
        elif unit.text in _ENDS or (words and unit.text in _POSSESSIVE):
            return None
        else:
            words += unit.text not in _ARTICLES
            since += joined and unit.text not in _ARTICLES
            parted = parted or (listed and units[at + 1].text == ",")  # "in the park, and Elm Hall"
            if words > _LONGEST_HEAD:
                return None
        at -= 1
    return None


def _past_aside(units: Sequence[Unit], at: int) -> int:
    """The place behind a relative clause between commas: ", which Jo Reed built,"."""
    if at + 1 >= len(units) or units[at].text != "," or units[at + 1].text not in ("which", "who"):
        return at
    closed = (n for n in range(at + 2, len(units)) if units[n].text == ",")
    return next(closed, at - 1) + 1


def is_glued(units: Sequence[Unit], at: int) -> bool:
    """Whether a mark joins two words without a blank: "St. Mary's-in-the-Fields"."""
    before, after = units[at - 1] if at else None, units[at + 1] if at + 1 < len(units) else None
    return (
        before is not None
        and after is not None
        and (before.end, units[at].end) == (units[at].start, after.start)
    )


def _acts(units: Sequence[Unit], at: int) -> bool:
    """Whether a name has a verb of its own: "was founded by Jo Reed, and Ada Stone laid it out"."""
    after = _past_aside(units, at + 1)
    while after < len(units) and is_adverb(units[after]):
        after += 1
    if after >= len(units) or units[after].kind is not Kind.WORD:
        return False
    verb = units[after].text
    takes = after + 1 < len(units) and units[after + 1].text in _ARTICLES | {"it", "them", "there"}
    return verb in AUXILIARIES | _INVERTED or (
        verb not in PREPOSITIONS | _CONJUNCTIONS | _TURNS and (takes or verb.endswith("ed"))
    )


def _name_before(units: Sequence[Unit], at: int) -> bool:
    """Whether a name stands before "with" or "as well as"."""
    while at > 0 and units[at].text in _BETWEEN_NAMES | {","}:
        at -= 1
    return units[at].kind is Kind.NAME


def _own(ending: Iterable[Occurrence], clause: Clause) -> Governor | None:
    """The label of this relation among those that end at one place; not a verb that its object does."""
    for one in ending:
        if clause.term.iri in one.terms and not _is_active(one, clause):
            return Governor(one.first, one.last)
    return None


def _is_active(one: Occurrence, clause: Clause) -> bool:
    """Whether the words are a verb of which the relation's object is the subject: "designed"."""
    unit = clause.units[one.first]
    alone = one.last == one.first + 1 and not one.passive
    verb = unit.stem in clause.phrases.converse_verbs(clause.term.iri)
    return alone and verb and not unit.text.endswith(("er", "or", "ers", "ors"))


def _behind(clause: Clause) -> Governor | None:
    """A noun of the relation right behind its object: "Gothic Revival style"."""
    after = clause.value + 1
    if after < len(clause.units) and clause.units[after].text == "-":
        after += 1
    for one in clause.occurrences:
        if one.first == after and clause.term.iri in one.terms and not one.passive:
            rest = clause.units[one.last] if one.last < len(clause.units) else None
            plain = rest is None or rest.kind is Kind.MARK or rest.text in ("and", "by", "with", "to")
            if plain and not _is_active(one, clause) and not clause.units[one.first].text.endswith("s"):
                return Governor(clause.value, one.last)
    return None


def _as_subject(clause: Clause) -> Governor | None:
    """The verb of which the object is the subject: "Amtrak operates" for "operated by"."""
    units, at = clause.units, clause.value + 1
    verbs = clause.phrases.converse_verbs(clause.term.iri)
    while at < len(units) and (_goes_on_with_name(units, at) or units[at].kind is Kind.NAME):
        at += 1
    while at < len(units) and (is_adverb(units[at]) or units[at].text in ("has", "have", "had", "who", ",")):
        at += 1
    if at < len(units) and units[at].kind is Kind.WORD and units[at].stem in verbs:
        by = any(units[n].text == "by" for n in range(at + 1, min(at + 2, len(units))))
        if not by and not units[at].text.endswith(("er", "or", "ers", "ors")):
            return Governor(at, at + 1, converse=True)
    return None


def _as_role(clause: Clause) -> Governor | None:
    """The role of the object, and after it the subject: "Cass Gilbert was the architect of the tower"."""
    units = clause.units
    for one in clause.occurrences:
        end = one.last - (units[one.last - 1].text == "of")
        if clause.term.iri not in one.terms or one.first < clause.value or end <= one.first:
            continue
        is_role = units[end - 1].text.endswith(("er", "or", "ers", "ors", "ect", "ects"))
        if is_role and _is_of(units, end, clause.others):
            return Governor(one.first, end, converse=True)
    return None


def _is_of(units: Sequence[Unit], at: int, others: frozenset[int]) -> bool:
    if at >= len(units) or units[at].text != "of":
        return False
    return bool({at + 1, at + 2} & others)


def _of_place(clause: Clause) -> Governor | None:
    """Where something is, without a word for it, for relations that "in" says."""
    if not clause.phrases.has(clause.term.iri, "in"):
        return None
    return _genitive(clause) or _region(clause)


def _region(clause: Clause) -> Governor | None:
    """A region behind the place in it: "is in Elm Village, Norton"; not where a list goes on."""
    units, at = clause.units, clause.value
    place = at - 2
    if place < 1 or units[at - 1].text != "," or place not in clause.others:
        return None
    lead = place - 1
    while lead > 0 and units[lead].text in _ARTICLES:
        lead -= 1
    after = units[at + 1] if at + 1 < len(units) else None
    ends = after is None or after.text in _AFTER_REGION or after.kind is Kind.MARK
    listed = after is not None and _goes_on_with_name(units, at + 1)
    apart = any(units[n].text in ("between", "from", "both") for n in range(max(0, lead - 3), lead + 1))
    if units[lead].text not in ("in", "at", "near") or not ends or listed or apart:
        return None
    return Governor(place + 1, at, subject=place)


def _genitive(clause: Clause) -> Governor | None:
    """A possessor, for relations that "in" says: "Hamburg's Elbphilharmonie"."""
    units, at = clause.units, clause.value
    if at + 1 >= len(units) or units[at + 1].text != "'s":
        return None
    return Governor(at, at + 2) if {at + 2, at + 3} & clause.others else None


def _of_date(clause: Clause) -> Governor | None:
    """The nearest label of a date before it in its clause, else after it."""
    units, value = clause.units, clause.value
    start = value
    while start > 0 and not _breaks(units[start - 1]):
        start -= 1
    end = value
    while end + 1 < len(units) and not _breaks(units[end + 1]):
        end += 1
    before = [
        one
        for one in clause.occurrences
        if start <= one.first and one.last <= value and (one.last == value or not _is_particle(one, units))
    ]
    nearest = max((one.last for one in before), default=None)
    if nearest is not None and _is_spent(units, nearest, value):
        return None
    if nearest is not None:
        return _first_own([one for one in before if one.last == nearest], clause)
    after = [one for one in clause.occurrences if one.first > value and one.last <= end + 1]
    nearest = min((one.first for one in after), default=None)
    if nearest is not None and any(_is_date(unit) for unit in units[nearest + 1 : nearest + 5]):
        return None  # "In 1873 it was given away, and the park opened in 1876"
    return None if nearest is None else _first_own([one for one in after if one.first == nearest], clause)


def _is_date(unit: Unit) -> bool:
    return _YEAR.search(unit.text) is not None and (unit.kind is Kind.NAME or unit.text.isdigit())


def _is_spent(units: Sequence[Unit], last: int, value: int) -> bool:
    """Whether another verb follows the label: "closed in 1987 and put up again in 1992", "began keeping"."""
    between = units[last:value]
    if between and between[0].kind is Kind.WORD and between[0].text.endswith("ing"):
        return True
    dates = [n for n, unit in enumerate(between) if _YEAR.search(unit.text)]
    plain = PREPOSITIONS | _CONJUNCTIONS | _ARTICLES | {"again", "from", "until", "between", ","}
    rest = between[dates[0] + 1 :] if dates else ()
    return any(unit.kind is Kind.WORD and unit.text not in plain and not is_adverb(unit) for unit in rest)


def _first_own(found: Iterable[Occurrence], clause: Clause) -> Governor | None:
    for one in found:
        if clause.term.iri in one.terms and not _is_particle(one, clause.units):
            return Governor(one.first, one.last)
    return None


def _is_particle(one: Occurrence, units: Sequence[Unit]) -> bool:
    """Whether the words are one preposition, which says when, but not what: "free since 1997"."""
    if one.last != one.first + 1 or units[one.first].text not in _PARTICLES:
        return False
    opens = {"from": ("to", "until", "through"), "to": ("from",), "until": ("from",), "through": ("from",)}
    return not any(unit.text in opens.get(units[one.first].text, ()) for unit in units)


def _of_number(clause: Clause) -> Governor | None:
    """What a number measures: words within it, right behind it, or shortly before it."""
    units, value = clause.units, clause.value
    iri = clause.term.iri
    if _is_alternative(units, value):
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
    if behind and not any(iri in one.terms for one in behind):
        return None  # "100 feet wide" is no height, though that may be said in feet
    if clause.phrases.within(iri, units[value].text):
        return Governor(value, value + 1)
    nearest = max((one.last for one in before), default=None)
    for one in before:
        if one.last == nearest and iri in one.terms:
            return Governor(one.first, value + 1)
    for one in after:
        if iri in one.terms:
            return Governor(value, one.last)
    return None


def _is_alternative(units: Sequence[Unit], at: int) -> bool:
    """Whether a number is one of two: "either 23 or 26 floors", "4 to 6 m"."""
    for word, other in ((at - 1, at - 2), (at + 1, at + 2)):
        if 0 <= other < len(units) and word >= 0 and units[word].text in ("or", "to"):
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


def _breaks(unit: Unit) -> bool:
    return (unit.kind is Kind.MARK and unit.text in _BREAKS) or unit.text in _TURNS


def _goes_on(units: Sequence[Unit], at: int) -> bool:
    """Whether a list goes on behind a name: ", the Altes Museum and the Pergamon Museum"."""
    return any(_goes_on_with_name(units, n) for n in range(at + 1, min(at + 3, len(units))))


def _goes_on_with_name(units: Sequence[Unit], at: int) -> bool:
    if units[at].text not in {"and", "&", ",", "or"}:
        return False
    rest = [unit for unit in units[at + 1 : at + 4] if unit.text not in _ARTICLES | {"and", "or"}]
    return bool(rest) and rest[0].kind is Kind.NAME


def _span(unit: Unit) -> tuple[int, int]:
    return unit.start, unit.end

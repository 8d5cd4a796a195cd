"""What may stand between the words of a relation: "founded in 1838 by", "renamed in 2021 in honor of".

English puts when, where and as what between a verb and the preposition that leads to its agent, and from
where between a verb of motion and "to".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from extractors.english.wording.units import AUXILIARIES, WORKS, Kind, Unit, is_adverb

__all__ = ["after_adjuncts"]

_LEADS: Final = frozenset("in on at as for around during between from near".split())  # noqa: SIM905
_ENDS: Final = AUXILIARIES | frozenset(
    """by which who that whose while where when it he she they and but or to after before designs design plans
    drawings run led owned held made sold bought""".split()  # noqa: SIM905
)
_IN_PERIOD: Final = frozenset({"and", "to"})
_FINAL: Final = frozenset("by to as after for in at over across and".split())  # noqa: SIM905
_DIRECTIONS: Final = frozenset("up down out over on all the way north south east west across".split())  # noqa: SIM905
_PARTS: Final = frozenset("in of at near on through".split())  # noqa: SIM905
_ARTICLES: Final = frozenset({"the", "a", "an"})
_DATE: Final = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)?|\d{4}s?|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|early|late|mid|the|about|around|circa|spring|summer|autumn|fall|winter|,"
)
_HERE: Final = frozenset({"there", "here"})
_LONGEST_ADJUNCT: Final = 7
_LONGEST_ORIGIN: Final = 9
_LONGEST_PLACE: Final = 4


def after_adjuncts(units: Sequence[Unit], here: int, word: str, *, dated: bool) -> int:
    """Where the next word of a label may stand, past what says when, where or from where; else `here`.

    `dated`: the label leads to a date, and then only the first date of a period is passed over, and the
    name of what work is on.
    """
    if dated and word not in ("of", "on") and (end := _past_work(units, here)) != here:
        return end
    if here >= len(units) or word not in _FINAL or dated != (word == "and"):
        return here
    if dated:
        end = here
        while end < len(units) and (_is_dated(units[end]) or units[end].text == ","):
            end += 1
        return end if end > here and end < len(units) and units[end].text == word else here
    is_between, longest = (_is_origin, _LONGEST_ORIGIN) if word == "to" else (_is_date, _LONGEST_ADJUNCT)
    is_between = _is_adjunct if word == "by" else is_between
    if word in ("in", "at") and _is_often(units[here:]):
        here += 2  # "held every March in"
        if here < len(units) and units[here].text == word:
            return here
    if word == "in" and here < len(units) and units[here].text in ("on", "at"):
        is_between, longest = _is_place, _LONGEST_PLACE
    if word in ("over", "across"):
        is_between, longest = _is_load, _LONGEST_PLACE
    for end in range(here + 1, min(here + longest + 1, len(units))):
        if units[end].text == word:
            between = units[here:end]
            return end if is_between(between) or (word == "to" and _is_date(between)) else here
    return here


def _past_work(units: Sequence[Unit], here: int) -> int:
    """Where a verb may stand behind what work is on: "construction of the Elm Hall began"; else `here`."""
    if not 0 < here < len(units) or units[here - 1].text not in WORKS or units[here].text not in ("of", "on"):
        return here
    at = here + 1 + (here + 1 < len(units) and units[here + 1].text == "the")
    return at + 1 if at < len(units) and units[at].kind is Kind.NAME else here


def _is_often(units: Sequence[Unit]) -> bool:
    """Whether words say how often: "every March"."""
    return len(units) > 2 and units[0].text in ("every", "each") and units[1].text not in _ARTICLES


def _is_place(between: Sequence[Unit]) -> bool:
    """Whether words are a street or a site: "on Elm Street" of "born on Elm Street in Norton"."""
    rest = [unit for unit in between[1:] if unit.text not in _ARTICLES]
    return len(rest) == 1 and rest[0].kind is Kind.NAME


def _is_load(between: Sequence[Unit]) -> bool:
    """Whether words are what is carried: "the trains" of "carries the trains over"."""
    return all(
        unit.kind is Kind.NAME or unit.text in _ARTICLES | {"and"} or unit.text.isalpha() for unit in between
    ) and not any(unit.text in _ENDS or is_adverb(unit) for unit in between)


def _is_dated(unit: Unit) -> bool:
    return unit.text[0].isdigit() or _DATE.match(unit.text) is not None


def _is_date(between: Sequence[Unit]) -> bool:
    """Whether words say when: "in 2021", "on May 2, 1901"."""
    rest = between[1:]
    dated = any(any(c.isdigit() for c in unit.text) for unit in rest)
    return between[0].text in ("in", "on") and dated and all(_DATE.fullmatch(unit.text) for unit in rest)


def _is_adjunct(between: Sequence[Unit]) -> bool:
    """Whether words only say when, where, for what or as what; another verb or clause ends them."""
    period = any(unit.text[0].isdigit() for unit in between)
    if between[0].text in _HERE:
        between = between[1:]  # "put up there in 1897 by"
    return (not between or between[0].text in _LEADS) and all(
        _DATE.fullmatch(unit.text)
        or (period and unit.text in _IN_PERIOD)
        or unit.kind is Kind.NAME
        or (unit.kind is Kind.WORD and unit.text not in _ENDS and not unit.text.endswith(("ed", "ing")))
        for unit in between
    )


def _is_origin(between: Sequence[Unit]) -> bool:
    """Whether words say from where: "from the foot of Elm Hill in Norton up"."""
    names = sum(unit.kind is Kind.NAME for unit in between)
    return (
        between[0].text == "from"
        and 1 <= names <= 2
        and all(
            unit.kind is Kind.NAME
            or unit.text in _DIRECTIONS | _PARTS | _ARTICLES
            or (unit.kind is Kind.WORD and unit.text not in _ENDS and not is_adverb(unit))
            for unit in between[1:]
        )
    )

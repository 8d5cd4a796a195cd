"""Stretches of time that are no day, month or year, in the notation of ISO 8601-2 (EDTF).

"The 1920s" is 192X, "the 19th century" 18XX, "between 1889 and 1901" 1889/1901, "about 1754" 1754~, "before
1900" ../1900, "summer 1969" 1969-22. A property whose range has the datatype of EDTF takes them so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyoxigraph import NamedNode

__all__ = ["EDTF", "Period", "read_period"]

EDTF: Final = NamedNode("http://id.loc.gov/datatypes/edtf/EDTF")

_ORDINALS: Final = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
        fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first""".split(),  # noqa: SIM905
        1,
    )
}
_SEASONS: Final = {"spring": "21", "summer": "22", "autumn": "23", "fall": "23", "winter": "24"}
_LEAD = r"(?:(?:in|during|throughout|the|of|since|from)\s+)*"
_PART = (
    r"(?:(?:very\s+)?(?:early|mid|middle|late|later|beginning|end|first\s+half|second\s+half)"
    r"(?:\s+of)?[\s-]+(?:the\s+)?)?"
)
_BC = r"(?:\s+(?P<bc>b\.?\s?c\.?(?:\s?e\.?)?))?"
_DECADE = re.compile(rf"{_LEAD}{_PART}(?P<decade>\d{{2,3}})0['’]?s{_BC}")
_CENTURY = re.compile(
    rf"{_LEAD}{_PART}(?:(?P<number>\d{{1,2}})(?:st|nd|rd|th)|(?P<word>{'|'.join(_ORDINALS)}))[\s-]+century{_BC}"
)
_BETWEEN = re.compile(
    r"(?:(?:(?:built|held|lasted|active|open)\s+)?(?:between)\s+(?P<a>.+?)\s+and\s+(?P<b>.+)|"
    r"(?:from\s+)?(?P<c>.+?)\s+(?:to|until|till|through)\s+(?P<d>.+)|"
    r"(?P<e>\d{3,4})\s*[-–—/]\s*(?P<f>\d{2}|\d{4}))"
)
_BOUND = re.compile(r"(?P<word>before|prior\s+to|by|no\s+later\s+than|after|later\s+than)\s+(?P<date>.+)")
_ABOUT = re.compile(
    r"(?:in\s+)?(?:about|around|approximately|approx\.?|roughly|circa|ca?\.?|some\s+time\s+(?:in|around)|~)\s*"
    r"(?P<date>\d.*|[a-z]+\s+\d.*)"
)
_UNSURE = re.compile(r"(?P<date>.*\d)\s*\(?\?\)?")
_SEASON = re.compile(rf"{_LEAD}(?P<season>{'|'.join(_SEASONS)})\s+(?:of\s+)?(?P<year>\d{{4}})")
_PART_OF_YEAR = re.compile(
    r"(?:in\s+)?(?:the\s+)?(?:early|mid|late|beginning\s+of|end\s+of|middle\s+of)[\s-]+(?P<year>\d{4})"
)


@dataclass(frozen=True)
class Period:
    """A stretch of time: its ISO 8601-2 form, its kind, and the year that holds it, if one does."""

    edtf: str
    kind: str
    year: str | None = None


def read_period(words: str, exact: Callable[[str], str | None]) -> Period | None:
    """Read words as a stretch of time; None when they are none.

    `exact` reads a day, a month or a year as its ISO form, for the ends of ranges.
    """
    plain = " ".join(words.casefold().strip(" .,;()").split())
    if found := _DECADE.fullmatch(plain):
        return _digits(f"{found['decade']}X", found["bc"], "decade")
    if found := _CENTURY.fullmatch(plain):
        number = int(found["number"] or _ORDINALS[found["word"]])
        return _digits(f"{number - 1:02}XX", found["bc"], "century") if number else None
    if found := _SEASON.fullmatch(plain):
        return Period(f"{found['year']}-{_SEASONS[found['season']]}", "season", found["year"])
    if found := _PART_OF_YEAR.fullmatch(plain):
        return Period(found["year"], "part of a year", found["year"])
    if (found := _ABOUT.fullmatch(plain)) and (date := exact(found["date"])):
        return Period(f"{date}~", "approximate date")
    if (found := _UNSURE.fullmatch(plain)) and (date := exact(found["date"])):
        return Period(f"{date}?", "uncertain date")
    if (found := _BOUND.fullmatch(plain)) and (date := exact(found["date"])):
        later = found["word"].startswith(("after", "later"))
        return Period(f"{date}/.." if later else f"../{date}", "date that is only bounded")
    return _range(plain, exact)


def _range(plain: str, exact: Callable[[str], str | None]) -> Period | None:
    found = _BETWEEN.fullmatch(plain)
    if found is None:
        return None
    start = next(found[name] for name in "ace" if found[name])
    end = next(found[name] for name in "bdf" if found[name])
    if found["e"] and len(end) == 2:
        end = start[:-2] + end
    first, last = _end(start, exact), _end(end, exact)
    if first is None or last is None or _year(first) > _year(last):
        return None
    return Period(f"{first}/{last}", "range")


def _end(words: str, exact: Callable[[str], str | None]) -> str | None:
    """An end of a range, which may itself be a decade or a century."""
    date = exact(words)
    if date is not None:
        return date
    for form in (_DECADE, _CENTURY):
        if form.fullmatch(words):
            period = read_period(words, exact)
            return None if period is None else period.edtf
    return None


def _digits(text: str, bc: str | None, kind: str) -> Period | None:
    padded = text.rjust(4, "0")
    return Period(f"-{padded}" if bc else padded, kind) if len(padded) == 4 else None


def _year(edtf: str) -> int:
    sign = -1 if edtf.startswith("-") else 1
    return sign * int(edtf.lstrip("-")[:4].replace("X", "0"))

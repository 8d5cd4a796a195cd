"""Reading dates as precisely as a text gives them, and no more precisely."""

from __future__ import annotations

import datetime
import re
from typing import Final

from pyoxigraph import Literal, NamedNode

from extractors.english.unreadable import Unreadable

__all__ = ["DATE_DATATYPES", "read_date"]

_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_DATE, _YEAR_MONTH, _YEAR = (NamedNode(_XSD + name) for name in ("date", "gYearMonth", "gYear"))
DATE_DATATYPES: Final = frozenset((_DATE, _YEAR_MONTH, _YEAR))

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name[:size]: n for n, name in enumerate(_MONTH_NAMES.split(), 1) for size in (3, len(name))}
_MONTHS["sept"] = 9
_M = r"(?P<month>[a-z]{3,9})\.?"
_D = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_Y = r"(?P<year>\d{3,4})"
_DATE_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?:the\s+)?{_D}\s+(?:of\s+)?{_M},?\s+{_Y}",
        rf"{_M}\s+{_D},?\s+{_Y}",
        rf"{_M},?\s+(?:of\s+)?{_Y}",
        _Y,
        r"(?P<year>\d{4})-(?P<numeral>\d{2})-(?P<day>\d{2})",
        r"(?P<year>\d{4})-(?P<numeral>\d{2})",
    )
)
_DATE_LEAD = re.compile(
    r"(?:(?:in|on|since|from|until|as of|the year|year|mon|tues?|wednes|thurs?|fri|satur|sun)(?:day)?,?\s+)+"
    r"(?=\w)"
)
_ERA = re.compile(r"\s*(?:a\.?\s?d\.?|(?<!b)(?<!b\.)(?<!b\.\s)c\.?\s?e\.?)$|^a\.?\s?d\.?\s+(?=\d)")
_BEFORE_CHRIST = re.compile(r"(?P<year>\d{1,4})\s*b\.?\s?c\.?(?:\s?e\.?)?")
_NUMERIC = re.compile(r"(?P<a>\d{1,2})[/.](?P<b>\d{1,2})[/.](?P<year>\d{4})")
_TWELVE: Final = 12


def read_date(words: str) -> Literal | Unreadable:
    """Read a day, month or year as `xsd:date`, `xsd:gYearMonth` or `xsd:gYear`: as precise as the words.

    Years before Christ are counted as ISO 8601 does: 1 BC is the year 0. Decades, centuries, ranges, "about
    1900" and numeric dates whose order is open are unreadable here; `read_period` knows the former.
    """
    plain = " ".join(words.casefold().strip(" .,;()").split())
    plain = _ERA.sub("", plain)
    plain = _DATE_LEAD.sub("", plain, count=1) if _DATE_LEAD.match(plain) else plain
    if before := _BEFORE_CHRIST.fullmatch(plain):
        return _year_before_christ(words, int(before["year"]))
    for form in _DATE_FORMS:
        if match := form.fullmatch(plain):
            return _date_of(words, match.groupdict())
    if numeric := _NUMERIC.fullmatch(plain):
        return _numeric(words, int(numeric["a"]), int(numeric["b"]), numeric["year"])
    return Unreadable(f'"{words}" is not a day, a month or a year: write for instance 24 May 1883, or 1883.')


def _year_before_christ(words: str, year: int) -> Literal | Unreadable:
    if year == 0:
        return Unreadable(f'"{words}": there was no year 0 before Christ.')
    return Literal(f"-{year - 1:04}" if year > 1 else "0000", datatype=_YEAR)


def _numeric(words: str, a: int, b: int, year: str) -> Literal | Unreadable:
    """Read 25/4/1883 or 4/25/1883, where only one order gives a day; 5/4/1883 is open."""
    if a <= _TWELVE and b <= _TWELVE and a != b:
        return Unreadable(f'"{words}": it is open which number is the month. Write the month as a word.')
    day, month = (b, a) if b > _TWELVE else (a, b)
    return _date_of(words, {"year": year, "numeral": str(month), "day": str(day)})


def _date_of(words: str, found: dict[str, str | None]) -> Literal | Unreadable:
    year, name, numeral, day = (found.get(key) for key in ("year", "month", "numeral", "day"))
    if name is not None and name not in _MONTHS:
        return Unreadable(f'"{words}": "{name}" is no month.')
    month = _MONTHS[name] if name else int(numeral) if numeral else None
    try:
        datetime.date(int(year or 0), month or 1, int(day or 1))
    except ValueError:
        return Unreadable(f'"{words}" is no day of the calendar.')
    if month is None:
        return Literal(f"{int(year or 0):04}", datatype=_YEAR)
    if day is None:
        return Literal(f"{int(year or 0):04}-{month:02}", datatype=_YEAR_MONTH)
    return Literal(f"{int(year or 0):04}-{month:02}-{int(day):02}", datatype=_DATE)

"""Words as literals: dates with their precision, periods, numbers, quantities in the unit of a property.

The words are read for what they say and no more: a bound ("more than 500") or a range is not a number, and is
refused with the reason rather than rounded into one. Stretches of time that are no day, month or year are
written by ISO 8601-2 (EDTF) where the range of a property has its datatype: "the 1920s" is 192X, "the 19th
century" 18XX, "between 1889 and 1901" 1889/1901, "about 1754" 1754~, "before 1900" ../1900.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from pyoxigraph import Literal, NamedNode

from extractors.english.quantities import (
    PLAIN_NUMBER,
    Unreadable,
    convert,
    range_in,
    read_number,
    spelled_out,
    unit_of,
)
from geo.measure.units import QUDT_UNIT, UNITS
from ontology import OntologyProperty

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


EDTF: Final = NamedNode("http://id.loc.gov/datatypes/edtf/EDTF")

_ORDINALS: Final = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
        fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first""".split(),
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


_INTEGERS = tuple(
    NamedNode(_XSD + name)
    for name in (
        "nonNegativeInteger",
        "positiveInteger",
        "integer",
        "int",
        "long",
        "unsignedInt",
        "unsignedLong",
    )
)
_DECIMALS = tuple(NamedNode(_XSD + name) for name in ("decimal", "double", "float"))
_STRING = NamedNode(_XSD + "string")
_ANY_URI = NamedNode(_XSD + "anyURI")
_BOOLEAN = NamedNode(_XSD + "boolean")
_RDFS_LITERAL = NamedNode("http://www.w3.org/2000/01/rdf-schema#Literal")
_LANG_STRING = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")


def read_value(
    words: str, ranges: Set[NamedNode], unit: NamedNode | None = None, *, language: str = ""
) -> Literal | Unreadable:
    """Read words as a literal of one of a property's datatypes, in the property's unit.

    `ranges` are datatypes; where they ask for text, or for nothing, the words themselves are the value, with
    the language tag where `rdf:langString` is among them. `unit` is a QUDT unit.
    """
    words = " ".join(words.split())
    if not words:
        return Unreadable("There are no words to read.")
    if is_dated(ranges):
        return _date_literal(words, ranges)
    if is_measured(ranges, unit):
        return _number_literal(words, ranges, None if unit in PLAIN_NUMBER else unit)
    if _BOOLEAN in ranges:
        truth = {"yes": "true", "true": "true", "no": "false", "false": "false"}.get(words.casefold())
        return Literal(truth, datatype=_BOOLEAN) if truth else Unreadable(f'"{words}" is neither yes nor no.')
    if _ANY_URI in ranges and _STRING not in ranges:
        return _uri_literal(words)
    if _LANG_STRING in ranges and language:
        return Literal(words, language=language)
    if ranges and not ranges & {_STRING, _LANG_STRING, _RDFS_LITERAL}:
        wanted = ", ".join(sorted(datatype.value for datatype in ranges))
        return Unreadable(f'"{words}" cannot be read as <{wanted}>: no reader knows that datatype.')
    return Literal(words)


def is_dated(ranges: Set[NamedNode]) -> bool:
    """Tell whether the values of a property with these datatypes are dates."""
    return bool(ranges & DATE_DATATYPES) or EDTF in ranges


def is_measured(ranges: Set[NamedNode], unit: NamedNode | None) -> bool:
    """Tell whether the values of a property with these datatypes and this unit are numbers."""
    return not is_dated(ranges) and (unit is not None or bool(ranges & {*_INTEGERS, *_DECIMALS}))


def looks_like_value(words: str) -> bool:
    """Tell whether words are a date, a bare number or a quantity, and so no name of anything."""
    if isinstance(read_date(words), Literal) or read_period(words, lambda part: None) is not None:
        return True
    number = read_number(spelled_out(words))
    return isinstance(number, tuple) and (not number[1] or unit_of(number[1]) is not None)


def datatype_of(words: str) -> NamedNode | None:
    """The datatype that words have the form of: of a date or a number; None for a name or other text."""
    date = read_date(words)
    if isinstance(date, Literal):
        return date.datatype
    if read_period(words, lambda part: None) is not None:
        return EDTF
    return _DECIMALS[0] if looks_like_value(words) else None


def _date_literal(words: str, ranges: Set[NamedNode]) -> Literal | Unreadable:
    value = read_date(words)
    wanted = ", ".join(sorted(d.value.removeprefix(_XSD) for d in ranges & DATE_DATATYPES))
    if isinstance(value, Unreadable):
        return _period_literal(words, ranges, value, wanted)
    if value.datatype not in ranges:
        if EDTF in ranges:
            return Literal(value.value, datatype=EDTF)
        return Unreadable(f'"{words}" is not as precise as the property demands: it takes {wanted}.')
    return value


def _period_literal(
    words: str, ranges: Set[NamedNode], unread: Unreadable, wanted: str
) -> Literal | Unreadable:
    """Read a decade, a range and the like, as far as the property takes it."""

    def exact(part: str) -> str | None:
        read = read_date(part)
        return read.value if isinstance(read, Literal) else None

    period = read_period(words, exact)
    if period is None:
        return unread
    if EDTF in ranges:
        return Literal(period.edtf, datatype=EDTF)
    if period.year is not None and _YEAR in ranges:
        return Literal(period.year, datatype=_YEAR)
    return Unreadable(
        f'"{words}" is a {period.kind}, {period.edtf} in ISO 8601-2, and the property takes {wanted}: '
        f"give a date, or let the property's range include <{EDTF.value}>."
    )


def _number_literal(words: str, ranges: Set[NamedNode], unit: NamedNode | None) -> Literal | Unreadable:
    number = convert(words, unit) if unit is not None else _bare_number(words)
    if isinstance(number, str):
        bounds = range_in(words, unit) if unit is not None else None
        if bounds is not None and unit is not None:
            name = unit.value.rpartition("/")[2]
            number = (
                f'"{words}" is a range, {bounds[0]:f} to {bounds[1]:f} {name}, and the property takes one.'
            )
        return Unreadable(number)
    if isinstance(number, Unreadable):
        return number
    integer = next((datatype for datatype in _INTEGERS if datatype in ranges), None)
    decimal = next((datatype for datatype in _DECIMALS if datatype in ranges), None)
    whole = number == number.to_integral_value()
    if integer is not None and whole:
        least = {"positiveInteger": 1, "integer": None, "int": None, "long": None}.get(
            integer.value.removeprefix(_XSD), 0
        )
        if least is not None and number < least:
            return Unreadable(f'"{words}" is less than {least}.')
        return Literal(str(int(number)), datatype=integer)
    if integer is not None and decimal is None:
        return Unreadable(f'"{words}" is not a whole number.')
    return Literal(f"{number.normalize():f}", datatype=decimal or _DECIMALS[0])


def _bare_number(words: str) -> Decimal | Unreadable:
    found = read_number(spelled_out(words))
    if isinstance(found, Unreadable):
        return found
    number, rest = found
    if unit_of(rest) is not None:
        return Unreadable(f'"{words}" is a quantity in "{rest}", and the property takes a plain number.')
    if not re.fullmatch(r"[^\W\d]*(?:[ -][^\W\d]+){0,4}", rest):
        return Unreadable(f'"{words}" holds more than one number.')
    return number


def _uri_literal(words: str) -> Literal | Unreadable:
    if re.fullmatch(r"https?://[^\s<>\"{}|\\^`]+", words):
        return Literal(words, datatype=_ANY_URI)
    if re.fullmatch(r"(?:[\w-]+\.)+[a-z]{2,}(?:/[^\s<>\"{}|\\^`]*)?", words, re.IGNORECASE):
        return Literal("https://" + words, datatype=_ANY_URI)
    return Unreadable(f'"{words}" is not a web address.')


_LABEL: Final = re.compile(r"[(\[]([^()\[\]]+)[)\]]\s*$|[, ]in ([^\d\W][\w²³/ ]*)$", re.IGNORECASE)
_DEFINITION: Final = re.compile(
    r"\bin ([^\d\W][\w²³/]*(?: [\w²³/]+){0,2})(?=\s*(?:[.,;:()]|$))", re.IGNORECASE
)


def unit_of_property(term: OntologyProperty) -> NamedNode | None:
    """`qudt:hasUnit`; else the unit at the end of the label; else "in meters" in a definition of numbers."""
    if term.unit is not None:
        return term.unit
    name = unit_in_label(term.label)
    if name is None and is_measured(term.ranges, None):
        name = _unit_among(term.definition)
    return NamedNode(QUDT_UNIT + name) if name is not None else None


@lru_cache(maxsize=4_000)
def unit_in_label(label: str) -> str | None:
    """The QUDT name of the unit that a label ends with: "weight (g)", "height in feet"."""
    found = _LABEL.search(label)
    return _whole_unit(found[1] or found[2]) if found else None


@lru_cache(maxsize=4_000)
def _unit_among(definition: str) -> str | None:
    """The only unit that a definition says numbers are in; None where it says none, or several."""
    units = {name for found in _DEFINITION.finditer(definition) if (name := _whole_unit(found[1]))}
    return units.pop() if len(units) == 1 else None


def _whole_unit(words: str) -> str | None:
    """A unit that is all of some words: "feet tall" is none."""
    unit = unit_of(words)
    shorter = words.rpartition(" ")[0]
    return unit if unit in UNITS and not (shorter and unit_of(shorter) == unit) else None

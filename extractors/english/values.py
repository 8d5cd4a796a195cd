"""Reading a value's words as a literal: dates with their precision, numbers, quantities in a wanted unit.

The words are read for what they say and no more: a decade, a bound ("more than 500") or a range is not a
date or a number, and is refused with the reason rather than rounded into one.
"""

from __future__ import annotations

import re
from collections.abc import Set
from decimal import Decimal
from typing import Final

from pyoxigraph import Literal, NamedNode

from extractors.english.dates import DATE_DATATYPES, read_date
from extractors.english.numerals import read_number
from extractors.english.periods import EDTF, read_period
from extractors.english.quantities import PLAIN_NUMBER, convert, range_in, spelled_out, unit_of
from extractors.english.unreadable import Unreadable

__all__ = ["datatype_of", "is_dated", "is_measured", "looks_like_value", "read_value"]

_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
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
_YEAR = NamedNode(_XSD + "gYear")
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

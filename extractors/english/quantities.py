"""Quantities: the units that texts use, as QUDT names them, and their conversion.

Only units of measure stand here; which property takes which unit is said in the ontology.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.numerals import read_number
from extractors.text.unreadable import Unreadable

__all__ = ["PLAIN_NUMBER", "QUDT_CURRENCY", "QUDT_UNIT", "convert", "range_in", "spelled_out", "unit_of"]

QUDT_UNIT: Final = "http://qudt.org/vocab/unit/"
QUDT_CURRENCY: Final = "http://qudt.org/vocab/currency/"

PLAIN_NUMBER: Final = frozenset(NamedNode(QUDT_UNIT + name) for name in ("NUM", "UNITLESS", "COUNT"))
"""Units that say that a value is a count or a ratio."""

_FOOT, _MILE, _ACRE = Decimal("0.3048"), Decimal("1609.344"), Decimal("4046.8564224")
_DOLLAR: Final = "dollar"
"""Dollars of a country that the text does not name."""
_MEANT: Final = {(_DOLLAR, "USD"), (_DOLLAR, "CAD"), (_DOLLAR, "AUD"), ("LB", "GBP")}
"""Words that mean this unit where the property is in it."""
# QUDT local name -> what it measures, and how many of the SI unit of that it is.
_UNITS: Final[dict[str, tuple[str, Decimal]]] = {
    "M": ("length", Decimal(1)),
    "MilliM": ("length", Decimal("0.001")),
    "CentiM": ("length", Decimal("0.01")),
    "KiloM": ("length", Decimal(1000)),
    "IN": ("length", Decimal("0.0254")),
    "FT": ("length", _FOOT),
    "YD": ("length", Decimal("0.9144")),
    "MI": ("length", _MILE),
    "MI_N": ("length", Decimal(1852)),
    "M2": ("area", Decimal(1)),
    "KiloM2": ("area", Decimal(10**6)),
    "HA": ("area", Decimal(10**4)),
    "FT2": ("area", _FOOT**2),
    "YD2": ("area", Decimal("0.9144") ** 2),
    "MI2": ("area", _MILE**2),
    "AC": ("area", _ACRE),
    "GM": ("mass", Decimal("0.001")),
    "KiloGM": ("mass", Decimal(1)),
    "TONNE": ("mass", Decimal(1000)),
    "TON_Metric": ("mass", Decimal(1000)),
    "TON_SHORT": ("mass", Decimal("907.18474")),
    "LB": ("mass", Decimal("0.45359237")),
    "M-PER-SEC": ("speed", Decimal(1)),
    "KiloM-PER-HR": ("speed", Decimal(1) / Decimal("3.6")),
    "MI-PER-HR": ("speed", _MILE / 3600),
    "W": ("power", Decimal(1)),
    "KiloW": ("power", Decimal(10**3)),
    "MegaW": ("power", Decimal(10**6)),
    "L": ("volume", Decimal("0.001")),
    "M3": ("volume", Decimal(1)),
    "GAL_US": ("volume", Decimal("0.003785411784")),
    "PERCENT": ("share", Decimal("0.01")),
    "PERMILLE": ("share", Decimal("0.001")),
    "SEC": ("time", Decimal(1)),
    "MIN": ("time", Decimal(60)),
    "HR": ("time", Decimal(3600)),
    "DAY": ("time", Decimal(86400)),
    "WK": ("time", Decimal(604800)),
    "YR": ("time", Decimal(31557600)),
    "K": ("temperature", Decimal(1)),
    "DEG_C": ("temperature", Decimal(1)),
    "DEG_F": ("temperature", Decimal(5) / Decimal(9)),
    # Money is never converted: that would take the rates of a day.
    **{code: (f"money in {code}", Decimal(1)) for code in ("USD", "CAD", "AUD", "EUR", "GBP", "JPY", "CHF")},
    _DOLLAR: ("money", Decimal(1)),
}
# What is added to a number times its factor to make it one of the SI unit.
_OFFSETS: Final = {"DEG_C": Decimal("273.15"), "DEG_F": Decimal("459.67") * 5 / 9}
_WORDS: Final[dict[str, str]] = {
    word: name
    for name, words in {
        "M": "m,metre,metres,meter,meters",
        "MilliM": "mm,millimetre,millimetres,millimeter,millimeters",
        "CentiM": "cm,centimetre,centimetres,centimeter,centimeters",
        "KiloM": "km,kilometre,kilometres,kilometer,kilometers",
        "IN": "in,inch,inches",
        "FT": "ft,foot,feet",
        "YD": "yd,yard,yards",
        "MI": "mi,mile,miles",
        "MI_N": "nautical mile,nautical miles",
        "M2": "m2,sq m,square metre,square metres,square meter,square meters",
        "KiloM2": "km2,sq km,square kilometre,square kilometres,square kilometer,square kilometers",
        "HA": "ha,hectare,hectares",
        "FT2": "ft2,sq ft,square foot,square feet",
        "YD2": "yd2,sq yd,square yard,square yards",
        "MI2": "mi2,sq mi,square mile,square miles",
        "AC": "ac,acre,acres",
        "GM": "g,gram,grams",
        "KiloGM": "kg,kilogram,kilograms",
        "TONNE": "t,tonne,tonnes,metric ton,metric tons",
        "TON_SHORT": "ton,tons,short ton,short tons",
        "LB": "lb,lbs,pound,pounds",
        "M-PER-SEC": "m/s,metres per second,meters per second",
        "KiloM-PER-HR": "km/h,kilometres per hour,kilometers per hour",
        "MI-PER-HR": "mph,mi/h,miles per hour",
        "PERCENT": "%,percent,per cent,percentage points",
        "PERMILLE": "‰,per mille",
        "SEC": "sec,secs,seconds",
        "MIN": "min,minute,minutes",
        "HR": "h,hr,hrs,hour,hours",
        "DAY": "day,days",
        "WK": "week,weeks",
        "YR": "year,years",
        "K": "kelvin,kelvins",
        "DEG_C": "°c,degree celsius,degrees celsius,degrees c,celsius",
        "DEG_F": "°f,degree fahrenheit,degrees fahrenheit,degrees f,fahrenheit",
        _DOLLAR: "$,dollar,dollars",
        "USD": "us dollar,us dollars,usd,us$",
        "CAD": "canadian dollar,canadian dollars,cad,c$",
        "AUD": "australian dollar,australian dollars,aud,a$",
        "EUR": "euro,euros,eur,€",
        "GBP": "pound sterling,pounds sterling,british pounds,gbp,£",
        "JPY": "yen,jpy,¥",
        "CHF": "swiss franc,swiss francs,chf",
        "W": "w,watt,watts",
        "KiloW": "kw,kilowatt,kilowatts",
        "MegaW": "mw,megawatt,megawatts",
        "L": "l,litre,litres,liter,liters",
        "M3": "m3,cubic metre,cubic metres,cubic meter,cubic meters",
        "GAL_US": "gal,gallon,gallons",
    }.items()
    for word in words.split(",")
}
_SIGNS = str.maketrans({"²": "2", "³": "3", "′": " ft", "″": " in", "%": " %", "‰": " ‰"})
_MONEY = re.compile(
    r"(?P<sign>us\$|c\$|a\$|[$€£¥])\s*(?P<number>\d[\d,.]*)(?:\s*(?P<scale>hundred|thousand|[mb]illion|trillion|"
    r"k|m|mn|bn|b)\b)?",
    re.IGNORECASE,
)
_SCALES: Final = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "b": "billion"}
_ONE = re.compile(r"an?\s+", re.IGNORECASE)
_RANGE = re.compile(
    r"^(?:(?:between|from)\s+)?(?P<a>.*?\d.*?)\s*(?:[-–—]|\bto\b|\band\b)\s*(?P<b>\d.*)$", re.IGNORECASE
)
_LONGEST_UNIT = 3
_ALTERNATIVE = re.compile(r"\s*(?:[(\[\];)]|,\s+or\s+|\bor\b|\s/\s)\s*")
_LEAST_DIGITS, _MOST_DIGITS = 3, 15


def unit_of(words: str) -> str | None:
    """Return the QUDT local name of the unit that the words begin with ("feet tall" -> "FT"), or None."""
    found = _leading_unit(words)
    return found[0] if found else None


def spelled_out(words: str) -> str:
    """Return words with signs as words behind their number: "$2.1m" as "2.1 million $", "5%" as "5 %"."""

    def behind(found: re.Match[str]) -> str:
        scale = (found["scale"] or "").lower()
        return " ".join(part for part in (found["number"], _SCALES.get(scale, scale), found["sign"]) if part)

    return _MONEY.sub(behind, words).translate(_SIGNS)


def convert(words: str, unit: NamedNode) -> Decimal | str:
    """Read a quantity in a QUDT unit, or return the reason why it cannot be read.

    Of a quantity given twice ("1,454 feet (443 m)") the one in the wanted unit counts; "5 ft 6 in" adds up. A
    converted number keeps one digit more than the text gives, and three at least. Money is not converted.
    """
    wanted = _name_of(unit)
    if wanted not in _UNITS:
        return f"The property's unit <{unit.value}> is not one that can be converted to."
    readings: list[tuple[str, Decimal]] = []
    reason = f'"{words}" holds no quantity.'
    for part in _ALTERNATIVE.split(spelled_out(words)):
        if not part:
            continue
        read = _quantity(part)
        if isinstance(read, str):
            reason = read if not readings else reason
            continue
        name, number = read
        name = wanted if (name, wanted) in _MEANT else name
        if _UNITS[name][0] == _UNITS[wanted][0]:
            readings.append((name, number))
        else:
            reason = f'"{words}" is not a measure of {_UNITS[wanted][0]}.'
    if not readings:
        return reason
    name, number = next((r for r in readings if r[0] == wanted), readings[0])
    return number if name == wanted else _converted(name, number, wanted)


def range_in(words: str, unit: NamedNode) -> tuple[Decimal, Decimal] | None:
    """Read "100 to 200 feet" as its two ends in a unit; None for what is no range of it."""
    found = _RANGE.match(spelled_out(words))
    if found is None:
        return None
    last = convert(found["b"], unit)
    first = convert(found["a"], unit)
    if isinstance(first, str):
        # "100 to 200 feet": the unit stands at the second end only.
        tail = re.sub(r"^\d[\d,.]*", "", found["b"])
        first = convert(found["a"] + tail, unit)
    if isinstance(first, str) or isinstance(last, str) or first > last:
        return None
    return first, last


def _name_of(unit: NamedNode) -> str:
    return unit.value.removeprefix(QUDT_UNIT).removeprefix(QUDT_CURRENCY)


def _converted(name: str, number: Decimal, wanted: str) -> Decimal:
    in_si = number * _UNITS[name][1] + _OFFSETS.get(name, Decimal(0))
    return _rounded((in_si - _OFFSETS.get(wanted, Decimal(0))) / _UNITS[wanted][1], number)


def _quantity(words: str) -> tuple[str, Decimal] | str:
    """Read "1,250 feet" or "5 ft 6 in" as a unit's name and a number of that unit."""
    total: tuple[str, Decimal] | None = None
    rest = words
    if (one := _ONE.match(words)) and _leading_unit(words[one.end() :]) is not None:
        rest = f"1 {words[one.end() :]}"
    while True:
        read = read_number(rest)
        if isinstance(read, Unreadable):
            return read.reason if total is None else total
        number, after = read
        found = _leading_unit(after)
        if found is None:
            return f'"{words}" names no unit of measure.' if total is None else total
        name, rest = found
        if total is None:
            total = name, number
        elif _UNITS[name][0] == _UNITS[total[0]][0] and _UNITS[name][1] < _UNITS[total[0]][1]:
            total = total[0], total[1] + number * _UNITS[name][1] / _UNITS[total[0]][1]
        else:
            return total
        if not rest[:1].isdigit():
            return total


def _leading_unit(words: str) -> tuple[str, str] | None:
    parts = words.translate(_SIGNS).casefold().replace("-", " ").replace(".", "").split()
    for length in range(min(_LONGEST_UNIT, len(parts)), 0, -1):
        name = _WORDS.get(" ".join(parts[:length]).strip(","))
        if name is not None:
            rest = parts[length:]
            return name, " ".join(rest[1:] if rest[:1] == ["and"] else rest)
    return None


def _rounded(value: Decimal, given: Decimal) -> Decimal:
    digits = min(max(sum(c.isdigit() for c in f"{given:f}") + 1, _LEAST_DIGITS), _MOST_DIGITS)
    return Context(prec=digits).plus(value)

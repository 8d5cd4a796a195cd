"""Numbers in figures and words ("8,804,190", "1.5 million", "about twenty-two"), and quantities with a unit.

The units are in `geo.measure.units`; the ontology says which property takes which unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final

from pyoxigraph import NamedNode

from geo.measure.units import QUDT_UNIT, UNITS


@dataclass(frozen=True)
class Unreadable:
    """Why some words cannot be read as a value."""

    reason: str


_SCALE_WORDS = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_ONE_TO_NINETEEN = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TWENTY_TO_NINETY = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = {word: n for n, word in enumerate(["zero", *_ONE_TO_NINETEEN.split()])}
_TENS = {word: n * 10 for n, word in enumerate(_TWENTY_TO_NINETY.split(), 2)}
_FRACTIONS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}
_HALF = re.compile(r"(?:a\s+)?half\s+(?:an?\s+)?(?=[^\W\d])")
_NUMBER = re.compile(r"[-−]?(?:\d{1,3}(?:[, \u00a0\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?")
_BOUND = re.compile(
    r"\b(?:more|greater|less|fewer|larger|smaller|over|under|above|below|at least|at most|up to|between|"
    r"nearly|almost|exceed\w*|minimum|maximum|dozens|hundreds of|thousands of|millions of)\b"
)
_ABOUT = re.compile(
    r"^(?:(?:about|around|approximately|approx\.?|roughly|some|circa|ca?\.|a total of|a)\s+|~\s*)+"
)


def read_number(words: str) -> tuple[Decimal, str] | Unreadable:
    """Read the number at the start of the words; return it with the words after it, lower-cased."""
    plain = _ABOUT.sub("", words.casefold().strip(" .,;"))
    if _BOUND.search(plain):
        return Unreadable(f'"{words}" is a bound or an estimate, not a number.')
    if match := _NUMBER.match(plain):
        digits = re.sub(r"[, \u00a0\u202f]", "", match.group().replace("−", "-"))
        number = Decimal(digits)
        rest = plain[match.end() :]
        if rest[:1] in _FRACTIONS:
            number, rest = number + _FRACTIONS[rest[0]], rest[1:]
        elif rest.startswith(" and a half "):
            number, rest = number + _FRACTIONS["½"], rest.removeprefix(" and a half")
    elif plain[:1] in _FRACTIONS:
        number, rest = _FRACTIONS[plain[0]], plain[1:]
    elif match := _HALF.match(plain):
        number, rest = _FRACTIONS["½"], plain[match.end() :]
    elif plain.split(" ", 1)[0] in _SCALE_WORDS:
        number, rest = Decimal(1), plain
    else:
        spelled = _spelled_number(plain)
        if spelled is None:
            return Unreadable(f'"{words}" does not start with a number.')
        number, rest = spelled
    if re.match(r"\s*(?:[-–—/]|to\b)\s*\d", rest) or re.match(r"(?:st|nd|rd|th)\b|\.?\d|%", rest):
        return Unreadable(f'"{words}" is a range, an ordinal or a share, not one number.')
    rest = rest.strip(" -")
    while (scale := _SCALE_WORDS.get(rest.split(" ", 1)[0])) is not None:
        number, rest = number * scale, rest.partition(" ")[2].strip()
    return number, rest


def _spelled_number(plain: str) -> tuple[Decimal, str] | None:
    words = plain.replace("-", " ").split()
    value, used = 0, 0
    for word in words:
        if word in _TENS and used == 0:
            value = _TENS[word]
        elif word in _ONES and (used == 0 or (used == 1 and value >= 20 and 0 < _ONES[word] < 10)):
            value += _ONES[word]
        else:
            break
        used += 1
    if not used:
        return None
    rest = " " + " ".join(words[used:])
    if rest.startswith(" and a half "):
        return Decimal(value) + _FRACTIONS["½"], rest.removeprefix(" and a half")
    return Decimal(value), rest


QUDT_CURRENCY: Final = "http://qudt.org/vocab/currency/"

PLAIN_NUMBER: Final = frozenset(NamedNode(QUDT_UNIT + name) for name in ("NUM", "UNITLESS", "COUNT"))
"""Units that say that a value is a count or a ratio."""

_DOLLAR: Final = "dollar"
"""Dollars of a country that the text does not name."""
_MEANT: Final = {(_DOLLAR, "USD"), (_DOLLAR, "CAD"), (_DOLLAR, "AUD"), ("LB", "GBP")}
"""Words that mean this unit where the property is in it."""
_CURRENCIES: Final = ("USD", "CAD", "AUD", "EUR", "GBP", "JPY", "CHF")
_MEASURES: Final = {
    **{name: unit.quantity.value for name, unit in UNITS.items()},
    **{code: f"money in {code}" for code in _CURRENCIES},
    _DOLLAR: "money",
}
"""What each unit measures. Money is never converted: that would take the rates of a day."""
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
_SCALE_LETTERS: Final = {"k": "thousand", "m": "million", "mn": "million", "bn": "billion", "b": "billion"}
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
        return " ".join(
            part for part in (found["number"], _SCALE_LETTERS.get(scale, scale), found["sign"]) if part
        )

    return _MONEY.sub(behind, words).translate(_SIGNS)


def convert(words: str, unit: NamedNode) -> Decimal | str:
    """Read a quantity in a QUDT unit, or return the reason why it cannot be read.

    Of a quantity given twice ("1,454 feet (443 m)") the one in the wanted unit counts; "5 ft 6 in" adds up. A
    converted number keeps one digit more than the text gives, and three at least. Money is not converted.
    """
    wanted = _name_of(unit)
    if wanted not in _MEASURES:
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
        if _MEASURES[name] == _MEASURES[wanted]:
            readings.append((name, number))
        else:
            reason = f'"{words}" is not a measure of {_MEASURES[wanted]}.'
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
    unit, into = UNITS[name], UNITS[wanted]
    return _rounded((number * unit.factor + unit.offset - into.offset) / into.factor, number)


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
        elif (more := _in_larger(number, name, total[0])) is not None:
            total = total[0], total[1] + more
        else:
            return total
        if not rest[:1].isdigit():
            return total


def _in_larger(number: Decimal, name: str, larger: str) -> Decimal | None:
    """Convert a number to a larger unit of the same quantity; None for any other unit."""
    unit, into = UNITS.get(name), UNITS.get(larger)
    if unit is None or into is None or unit.quantity != into.quantity or unit.factor >= into.factor:
        return None
    return number * unit.factor / into.factor


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

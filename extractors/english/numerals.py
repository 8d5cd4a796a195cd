"""Reading numbers in figures and in words: "8,804,190", "1.5 million", "about twenty-two"."""

from __future__ import annotations

import re
from decimal import Decimal

from extractors.english.unreadable import Unreadable

__all__ = ["read_number"]

_SCALES = {
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
    elif plain.split(" ", 1)[0] in _SCALES:
        number, rest = Decimal(1), plain
    else:
        spelled = _spelled_number(plain)
        if spelled is None:
            return Unreadable(f'"{words}" does not start with a number.')
        number, rest = spelled
    if re.match(r"\s*(?:[-–—/]|to\b)\s*\d", rest) or re.match(r"(?:st|nd|rd|th)\b|\.?\d|%", rest):
        return Unreadable(f'"{words}" is a range, an ordinal or a share, not one number.')
    rest = rest.strip(" -")
    while (scale := _SCALES.get(rest.split(" ", 1)[0])) is not None:
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

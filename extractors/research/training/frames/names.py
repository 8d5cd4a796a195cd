"""Names for training sentences, out of hand-written pools and the patterns that combine them.

A pool is divided by hash into a training and a validation share, so validation sees no training name.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

__all__ = ["Name", "NameMaker", "held_out"]


def held_out(words: str) -> bool:
    """Say whether a pool entry or a frame belongs to validation (about one in eight), by its hash."""
    return zlib.crc32(words.encode()) % 8 == 0


@dataclass(frozen=True)
class Name:
    """A name as facts use it, whether prose puts "the" before it, and the slot type it was made for."""

    text: str
    article: bool = False
    kind: str = ""

    def in_prose(self) -> str:
        return f"the {self.text}" if self.article else self.text


def _sections(file: str) -> dict[str, tuple[str, ...]]:
    """Read a file of [heading] sections whose entries stand between semicolons."""
    sections: dict[str, str] = {}
    heading = ""
    for line in (_FRAMES / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            heading = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            sections[heading] = f"{sections.get(heading, '')} {line}"
    return {name: tuple(part.strip() for part in text.split(";")) for name, text in sections.items()}


_FRAMES = Path(__file__).resolve().parent
_ALL = _sections("pools.txt")
_PLAIN = ("city", "country", "region", "district", "river", "water", "island", "style", "function")
_PARTS = ("city", "district", "surname", "given", "word", "saint", "thing", "adj", "noun", "river", "region")
_PATTERNS = {
    name.removesuffix(" the"): (entries, name.endswith(" the"))
    for name, entries in _sections("patterns.txt").items()
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December",
)  # fmt: skip
_NUMBER_WORDS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "eight",
    "nine",
    "twelve",
    "fifteen",
    "twenty",
    "forty",
)


class NameMaker:
    """Makes a name of a type on demand, from the training or the validation share of every pool."""

    def __init__(self, random: Random, *, validation: bool) -> None:
        self._random = random
        self._validation = validation

    def _one(self, pool: Sequence[str]) -> str:
        share = [word for word in pool if held_out(word) == self._validation]
        return self._random.choice(share or pool)

    def _from(self, *patterns: str) -> str:
        pattern = self._random.choice(patterns)
        pattern = pattern.replace("<n>", str(self._random.randint(1, 1400)))
        for slot in _PARTS:
            while f"<{slot}>" in pattern:
                word = self._one(_ALL[slot]).removeprefix("the ")
                pattern = pattern.replace(f"<{slot}>", word, 1)
        return pattern

    def make(self, kind: str) -> Name:
        """Make one name (or phrase, number, date) of the slot type `kind`."""
        return replace(self._make(kind), kind=kind)

    def _make(self, kind: str) -> Name:
        if kind.endswith("_kind"):
            return Name(self._one(_ALL[kind]))
        if kind in _PLAIN:
            word = self._one(_ALL[kind])
            return Name(word.removeprefix("the "), word.startswith("the ") or kind == "river")
        if kind in _PATTERNS:
            patterns, article = _PATTERNS[kind]
            text = self._from(*patterns)
            return Name(text, article and self._random.random() < 0.75)
        return Name(_MEASURES[kind](self._random))


def _year(random: Random) -> str:
    return str(
        random.choice((random.randint(1180, 1799), random.randint(1800, 2023), random.randint(1850, 2023)))
    )


def _date(random: Random) -> str:
    form = random.random()
    if form < 0.55:
        return _year(random)
    if form < 0.7:
        return f"{random.choice(_MONTHS)} {_year(random)}"
    return _day(random)


def _day(random: Random) -> str:
    day, month, year = random.randint(1, 28), random.choice(_MONTHS), _year(random)
    return f"{day} {month} {year}" if random.random() < 0.5 else f"{month} {day}, {year}"


def _people(random: Random) -> str:
    number = random.choice(
        (random.randint(800, 9999), random.randint(10_000, 999_999), random.randint(10, 950) * 1000)
    )
    if random.random() < 0.12:
        return f"{random.randint(11, 99) / 10} million"
    return f"{number:,}"


_MEASURES: dict[str, Callable[[Random], str]] = {
    "year": _year, "date": _date, "day": _day, "people": _people,
    "metres": lambda r: f"{r.choice((r.randint(18, 420), r.randint(200, 4200) / 10))} "
        + r.choice(("metres", "meters", "m", "metres", "feet", "ft")),
    "kilometres": lambda r: f"{r.choice((r.randint(11, 990) / 10, r.randint(2, 140)))} "
        + r.choice(("kilometres", "km", "kilometers", "miles", "km", "metres")),
    "square": lambda r: f"{r.choice((r.randint(11, 990) / 10, r.randint(2, 3400)))} "
        + r.choice(("square kilometres", "km²", "hectares", "acres", "square miles", "ha")),
    "small": lambda r: str(r.randint(3, 98)) if r.random() < 0.8 else r.choice(_NUMBER_WORDS),
    "seats": lambda r: f"{r.randint(3, 990) * 100:,}",
    "postcode": lambda r: r.choice(
        (f"{r.randint(10000, 99999)}", f"{r.randint(1000, 9999)} {r.choice('ABX')}C")
    ),
    "phone": lambda r: f"+{r.randint(20, 98)} {r.randint(20, 99)} "
        + f"{r.randint(100, 999)} {r.randint(1000, 9999)}",
    "n": lambda r: str(r.randint(1, 1400)),
}  # fmt: skip

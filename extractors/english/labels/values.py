"""The dates and numbers of a sentence, as the reading by labels takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from extractors.english.quantities import unit_of
from extractors.english.wording.phrases import Group
from extractors.english.wording.units import Unit
from extractors.text.chunking import Span

__all__ = ["in_period", "is_dated_name", "is_month", "values_of"]

_MONTH: Final = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(
    rf"(?<!\w)(?:\d{{1,2}} {_MONTH} \d{{4}}|{_MONTH} \d{{1,2}}, \d{{4}}|{_MONTH} \d{{4}}|1[0-9]\d\d|20\d\d)"
    r"(?!\w|[.,]\d|\s?[-–—/]\s?\d|\s[A-Z])"
)
_MONTH_NAME = re.compile(rf"{_MONTH}(?!\w)", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?: (?:million|thousand))?"
    r"(?!\w|[.,]\d|[-–](?![a-z]))(?:-[a-z]+(?![\w-])|(?: [^\W\d]+){0,2})"
)
_PERIOD: Final = frozenset({"to", "until", "through", "between", "-", "–"})


def values_of(text: str, sentence: Span, group: Group) -> Iterator[Span]:
    """The dates or the numbers of a sentence, numbers with their unit of measure."""
    for match in (_NUMBER if group is Group.NUMBERS else _DATE).finditer(text, sentence.start, sentence.end):
        words = match.group()
        if group is Group.NUMBERS:
            if _DATE.fullmatch(words.split()[0]):
                continue
            if _is_day(text, match.start(), match.end()):
                continue
            plain, hyphen, noun = words.partition("-")
            if hyphen:  # "a 60-bed hospital", "the 118-metre bridge"
                words = words if unit_of(noun) is not None else plain
                yield Span(match.start(), match.start() + len(words))
                continue
            number = re.match(r"\S+(?: (?:million|thousand)(?!\w))?", words)
            assert number is not None
            rest = words[number.end() :].split()
            size = next((n for n in range(1, len(rest) + 1) if unit_of(" ".join(rest[:n])) is not None), 0)
            end = number.end() + sum(len(word) + 1 for word in rest[:size])
            words = words[:end]
        yield Span(match.start(), match.start() + len(words))


def _is_day(text: str, start: int, end: int) -> bool:
    """Whether a number is the day of a date: "6 April", "April 6"."""
    number = re.match(r"\d{1,2}(?!\d) ", text[start:end])
    behind = number is not None and _MONTH_NAME.match(text, start + number.end()) is not None
    return behind or re.search(rf"{_MONTH} $", text[max(0, start - 10) : start]) is not None


def is_month(words: str) -> bool:
    """Whether words begin with the name of a month."""
    return _MONTH_NAME.match(words) is not None


def is_dated_name(words: str) -> bool:
    """Whether a capitalized run is a date or a month."""
    return words[0].isdigit() or is_month(words)


def in_period(units: Sequence[Unit], at: int) -> bool:
    """Whether a date begins or ends a period."""
    near = [units[n].text for n in (at - 1, at + 1) if 0 <= n < len(units)]
    return bool(_PERIOD & set(near))

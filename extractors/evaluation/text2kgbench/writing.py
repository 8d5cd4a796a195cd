"""How Wikidata, and with it the TekGen part of the benchmark, writes what a text says in its own words."""

from __future__ import annotations

import calendar

from extractors.dates import read_date
from extractors.unreadable import Unreadable

__all__ = ["as_wikidata_writes"]

_LEAST_YEAR = 1000


def as_wikidata_writes(words: str) -> str:
    """Write a date as the gold does: `04 May 1959`, and the first of January where only the year is known.

    Other words, and numbers that are hardly years, stay as they are.
    """
    found = read_date(words)
    if isinstance(found, Unreadable) or found.value.startswith("-"):
        return words
    year, month, day = (*(int(part) for part in found.value.split("-")), 1, 1)[:3]
    if year < _LEAST_YEAR:
        return words
    return f"{day:02} {calendar.month_name[month]} {year}"

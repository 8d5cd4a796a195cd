"""How the two halves of the benchmark write what a text says in its own words."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.dates import read_date
from extractors.english.unreadable import Unreadable
from extractors.research.evaluation.text2kgbench.reading import TestSet
from ontology.vocabulary import XSD

__all__ = ["as_datatype_writes", "as_wikidata_writes", "writing_of"]

_LEAST_YEAR: Final = 1000
_DATES: Final = frozenset(NamedNode(XSD + name) for name in ("date", "gYear"))
_NUMBERS: Final = frozenset(NamedNode(XSD + name) for name in ("decimal", "integer"))
_NUMBER: Final = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|[+-]?\d+(?:\.\d+)?(?![\d,])")


def writing_of(test: TestSet) -> Callable[[str, str], str]:
    """How a test set writes the object of a relation: both in words in, the object's words out."""
    if test.wikidata:
        return lambda relation, words: as_wikidata_writes(words)
    ranges: dict[str, frozenset[NamedNode]] = {}
    for term in test.schema.properties.values():
        ranges.setdefault(term.label, term.ranges)
    return lambda relation, words: as_datatype_writes(words, ranges.get(relation, frozenset()))


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


def as_datatype_writes(words: str, ranges: frozenset[NamedNode]) -> str:
    """Write what a relation's datatype asks for: a date by ISO 8601, a number by its digits alone.

    Other words, and those of relations that lead to no date or number, stay as they are.
    """
    if ranges & _DATES:
        found = read_date(words)
        return words if isinstance(found, Unreadable) else found.value
    if ranges & _NUMBERS and (number := _NUMBER.match(words.strip())):
        return number.group().replace(",", "")
    return words

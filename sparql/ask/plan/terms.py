"""The terms of plans, and English for their names: plurals, participles, verbs and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from pyoxigraph import NamedNode

from ontology.labels import with_article as indefinite
from sparql.ask.linking.words import english

_LISTED: Final = 10
_IRREGULAR: Final = {"person": "people", "child": "children", "man": "men", "woman": "women"}
_UNITS: Final = {
    "M": "m",
    "KiloM": "km",
    "KiloM2": "km²",
    "M2": "m²",
    "NUM": "",
    "KiloGM": "kg",
    "GM": "g",
    "LB": "lb",
    "MI": "mi",
    "FT": "ft",
    "YD": "yd",
    "HA": "ha",
    "AC": "acres",
    "MI2": "mi²",
    "FT2": "ft²",
}
_DATED: Final = ("date", "year", "day", "time")
_PREPOSITIONS: Final = ("after", "at", "by", "for", "from", "in", "of", "on", "through", "to", "with")
_VERBS: Final = {"has": "have", "is": "are", "does": "do"}


class Op(StrEnum):
    """The relation of a value to the given one; for dates, less is before."""

    LESS = "less"
    AT_MOST = "at most"
    EQUAL = "equal"
    AT_LEAST = "at least"
    MORE = "more"


class Place(StrEnum):
    """How one thing lies to another: the subject of the link to its object."""

    WITHIN = "within"
    CONTAINS = "contains"
    TOUCHES = "touches"
    OVERLAPS = "overlaps"
    DISJOINT = "disjoint"

    @property
    def inverse(self) -> Place:
        """How the object of the link lies to its subject."""
        return {Place.WITHIN: Place.CONTAINS, Place.CONTAINS: Place.WITHIN}.get(self, self)


class Side(StrEnum):
    """On which side of a place something is."""

    NORTH = "north"
    NORTHEAST = "northeast"
    EAST = "east"
    SOUTHEAST = "southeast"
    SOUTH = "south"
    SOUTHWEST = "southwest"
    WEST = "west"
    NORTHWEST = "northwest"


class Size(StrEnum):
    """What is measured of a geometry."""

    AREA = "area"
    LENGTH = "length"


class Aggregate(StrEnum):
    """How many values become one."""

    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    LEAST = "least"
    MOST = "most"


class Operation(StrEnum):
    """An operation on two quantities."""

    PLUS = "plus"
    MINUS = "minus"
    TIMES = "times"
    PER = "per"


class QuantityKind(StrEnum):
    """The kind of a value."""

    NUMBER = "number"
    DATE = "date"
    TEXT = "text"


@dataclass(frozen=True)
class Term:
    """A class, property or entity: its IRI, and the words that name it in plans and answers.

    `unit` is the QUDT name of the unit of a property's values, such as KiloM2.
    """

    iri: NamedNode
    words: str = field(compare=False)
    unit: str = field(default="", compare=False)


def is_participle(words: str) -> bool:
    """Return whether the name of a property is a participle, such as "opened" or "built"."""
    last = words.rpartition(" ")[2].lower()
    return last.endswith("ed") or last in english()["verbs"]


def is_dated(words: str) -> bool:
    """Return whether the name of a property says that its values are dates."""
    return is_participle(words) or words.rpartition(" ")[2].lower() in _DATED


def link_words(name: str, *, singular: bool = False) -> str:
    """Return a property's name as words between two nouns: "designed by", "that crosses", 'with "owner"'."""
    first, _, rest = name.partition(" ")
    if is_participle(first):
        return name
    if first == "has" and rest:
        return f'with "{rest}"'
    if _is_verb(first) or first in _VERBS:
        return f"that {name if singular else f'{_base(first)} {rest}'.strip()}"
    if name.rpartition(" ")[2] in _PREPOSITIONS:
        return name
    return f'with "{name}"'


def inverse_words(name: str, of: str, *, singular: bool = True) -> str:
    """Return what a property of something leads to, as words behind a noun: "that X is designed by"."""
    first, _, rest = name.partition(" ")
    last = name.rpartition(" ")[2]
    if first == "has" and rest:
        return f'that {of} {"has" if singular else "have"} as "{rest}"'
    if _is_verb(first) or first in _VERBS:
        return f"that {of} {name if singular else f'{_base(first)} {rest}'.strip()}"
    if last in _PREPOSITIONS:
        return f"that {of} {'is' if singular else 'are'} {name}"
    return f'that {of} {"has" if singular else "have"} as "{name}"'


def unit_words(unit: str) -> str:
    """Return the symbol of a unit with a QUDT name."""
    return _UNITS.get(unit, unit)


def number_words(value: str, unit: str = "") -> str:
    """Return a value with its unit; a number of four digits may be a year, and stays as it is."""
    try:
        number = float(value)
    except ValueError:
        return value
    plain = value.isdigit() and len(value) == 4 and not unit_words(unit)
    shown = value if plain else f"{number:,.3f}".rstrip("0").rstrip(".")
    return f"{shown} {unit_words(unit)}".strip()


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an", a plural without."""
    if noun.endswith("s") and not noun.endswith("ss"):
        return noun
    return indefinite(noun)


def ordinal(number: int) -> str:
    """Return "second", "third", or "11th"."""
    names: dict[int, str] = {value: name for name, value in english()["ordinals"].items()}
    return names.get(number, f"{number}th")


def enumerate_labels(labels: Sequence[str]) -> str:
    """Return "A, B and C", at most ten of them."""
    if len(labels) > _LISTED:
        return f"{', '.join(labels[:_LISTED])} and {len(labels) - _LISTED:,} more"
    if len(labels) < 2:
        return "".join(labels)
    return f"{', '.join(labels[:-1])} and {labels[-1]}"


def kilometers(km: float) -> str:
    """Return a distance in words: "1.5 km"."""
    return f"{km:,.3f}".rstrip("0").rstrip(".") + " km"


def plural(words: str) -> str:
    """Return the English plural of a class label: "place of worship" becomes "places of worship"."""
    head, joint, rest = words.partition(" of ")
    before, _, last = head.rpartition(" ")
    return f"{before} {_plural_word(last)}{joint}{rest}".strip()


def _plural_word(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"


def _is_verb(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is")) and word.islower()


def _base(verb: str) -> str:
    """The form of a verb for several: "crosses" becomes "cross"."""
    if verb in _VERBS:
        return _VERBS[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zes", "goes", "does")):
        return verb[:-2]
    return verb[:-1]

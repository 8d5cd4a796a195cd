"""Readings: what a span of a question may mean; and its numbers, dates and texts: "1.5 km", "the 1930s"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

from pyoxigraph import Literal, NamedNode

from extractors.english.quantities import read_number, unit_of
from ontology import OntologyProperty, Schema
from ontology.labels import local_name, split_camel_case
from sparql.ask import penalties
from sparql.ask.linking.summary import DataSummary, RunQuery
from sparql.ask.linking.words import Token, english
from sparql.ask.plan.terms import Aggregate, Op, Place, Side, Size, Term
from sparql.model.vocabulary import RDF, XSD


class Question(StrEnum):
    """What kind of answer the words ask for."""

    WHICH = "which"
    IN_WHICH = "in which"
    WHO = "who"
    WHERE = "where"
    WHEN = "when"
    HOW_MANY = "how many"
    HOW_MANY_YEARS = "how many years"
    HOW_MANY_TIMES = "how many times"
    HOW_FAR = "how far"
    HOW_MUCH = "how much"
    HOW_LONG = "how long"
    HOW = "how"
    LIST = "list"
    YES_NO = "yes or no"
    IS = "is it"
    THERE = "there"


class Word(StrEnum):
    """A function word that is its own meaning."""

    NOT = "not"
    AND = "and"
    OR = "or"
    BOTH = "both"
    EXCEPT = "except"
    WITHOUT = "without"
    PER = "per"
    THAN = "than"
    THAN_TO = "than to"
    BETWEEN = "between"
    ALL = "all"
    OUTSIDE = "outside"
    DATE = "date"
    SAME = "same"
    OTHERS = "others"
    DIFFERENCE = "difference"
    COMMA = ","


@dataclass(frozen=True)
class Near:
    """Near, without a distance."""


@dataclass(frozen=True)
class Neighbor:
    """A thing of the same kind that touches another."""


@dataclass(frozen=True)
class On:
    """On a place, which is inside of it where it has an inside."""


@dataclass(frozen=True)
class Adjective:
    """An adjective of degree; see `english.toml`."""

    name: str
    words: tuple[str, ...] = ()
    size: Size | None = None
    age: bool = False
    least: bool = False
    verb: bool = False


@dataclass(frozen=True)
class Derived:
    """A quantity that is worked out of others: the product of some, or one by another."""

    times: tuple[str, ...] = ()
    per: tuple[str, str] | None = None


@dataclass(frozen=True)
class HowMuch:
    """ "How tall": the value that an adjective asks for."""

    adjective: Adjective


@dataclass(frozen=True)
class EntityName:
    """An entity of the graph and the classes that are stated for it."""

    term: Term
    classes: frozenset[NamedNode]


@dataclass(frozen=True)
class ClassName:
    """A class of the ontology or of the data."""

    term: Term


@dataclass(frozen=True)
class PropertyName:
    """A property of the ontology or of the data; `active` words have its ends the other way round.

    `partial`: the words are only a part of its label, or akin to it.

    "X designed Y" is said of Y "designed by" X.
    """

    term: Term
    known: OntologyProperty | None
    active: bool = False
    partial: bool = False


@dataclass(frozen=True)
class TextValue:
    """A text that is a value of a property in the graph."""

    property: Term
    value: Literal


@dataclass(frozen=True)
class Comparator:
    """A comparison: `dated` compares dates, `distant` distances, `adjective` says what is compared.

    `behind`: it comes after its value, as in "five or more".
    """

    op: Op
    dated: bool = False
    adjective: Adjective | None = None
    distant: bool = False
    behind: bool = False


@dataclass(frozen=True)
class More:
    """More or fewer of something: a comparison of counts."""

    op: Op


@dataclass(frozen=True)
class Superlative:
    """The most or least, of what the adjective says; None: of what other words say."""

    most: bool
    adjective: Adjective | None = None
    distance: bool = False
    dated: bool = False
    side: Side | None = None


@dataclass(frozen=True)
class Measure:
    """A measure of geometry; distance where `size` is None; `verb`: "what does it cover?"."""

    size: Size | None
    verb: bool = False


@dataclass(frozen=True)
class Number:
    """A number, perhaps with a unit (a QUDT local name); `words` as written."""

    value: Decimal
    words: str
    unit: str | None = None


@dataclass(frozen=True)
class UnitName:
    """The unit that a value is wanted in (a QUDT local name): "in miles"; `asked`: "how many miles"."""

    unit: str
    asked: bool = False


@dataclass(frozen=True)
class DateValue:
    """A date, as precise as it is written; `last` is the end of a range, such as a decade."""

    value: Literal
    last: Literal | None = None


@dataclass(frozen=True)
class Ordinal:
    """A place in an order."""

    number: int


Meaning = (
    Question
    | Word
    | Place
    | Side
    | Near
    | Neighbor
    | On
    | Adjective
    | HowMuch
    | Derived
    | EntityName
    | ClassName
    | PropertyName
    | TextValue
    | Comparator
    | More
    | Superlative
    | Measure
    | Number
    | DateValue
    | UnitName
    | Ordinal
    | Aggregate
)


@dataclass(frozen=True)
class Reading:
    """A meaning of the tokens from `start` to `end` (exclusive), and what it costs to believe it."""

    start: int
    end: int
    meaning: Meaning
    cost: float = 0.0


_YEAR = re.compile(r"1\d{3}|20\d{2}")
_DECADE = re.compile(r"(1\d|20)(\d)0s")
_CENTURY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_STRINGS: Final = frozenset({XSD.string, RDF.langString})
_MOST_TEXTS: Final = 40


def read_numbers(tokens: Sequence[Token]) -> Iterator[Reading]:
    """Yield numbers with and without a unit, and dates."""
    for start, token in enumerate(tokens):
        yield from _dates(tokens, start)
        yield from _wanted_units(tokens, start)
        if token.text == "half" and start + 2 < len(tokens) and tokens[start + 1].text in ("a", "an"):
            for size in (1, 2):
                words = " ".join(t.text for t in tokens[start + 2 : start + 2 + size])
                unit = unit_of(words)
                if unit is not None:
                    yield Reading(start, start + 2 + size, Number(Decimal("0.5"), f"0.5 {words}", unit))
                    break
        if token.text in ("a", "an") and start + 1 < len(tokens):
            for size in (1, 2):
                words = " ".join(t.text for t in tokens[start + 1 : start + 1 + size])
                unit = unit_of(words)
                if unit is not None and len(words) > 2:
                    yield Reading(start, start + 1 + size, Number(Decimal(1), f"1 {words}", unit))
                    break
        read = read_number(token.text)
        if not isinstance(read, tuple) or read[1] or token.text in ("a", "an", "no"):
            continue
        value, end = read[0], start + 1
        if end < len(tokens) and tokens[end].text in _SCALES:
            value, end = value * _SCALES[tokens[end].text], end + 1
        words = token.raw
        yield Reading(start, end, Number(value, words))
        for size in (3, 2, 1):
            after = " ".join(t.text for t in tokens[end : end + size])
            unit = unit_of(after) if len(tokens) >= end + size else None
            if (
                unit is not None
                and unit_of(" ".join(t.text for t in tokens[end : end + size - 1]) or "-") != unit
            ):
                yield Reading(start, end + size, Number(value, f"{value} {after}", unit))
                break


def _wanted_units(tokens: Sequence[Token], start: int) -> Iterator[Reading]:
    """Yield the unit that a value is wanted in: "in square kilometers", "how many hectares"."""
    texts = [token.text for token in tokens[start : start + 5]]
    asked = texts[:2] == ["how", "many"]
    if not asked and texts[0] not in ("in", "as"):
        return
    skip = 2 if asked else 1
    for end in range(skip + 1, len(texts) + 1):
        unit = unit_of(" ".join(texts[skip:end]))
        if unit is not None:
            yield Reading(start, start + end, UnitName(unit, asked))
            return


_SCALES: Final = {"thousand": Decimal(1000), "million": Decimal(10**6), "billion": Decimal(10**9)}


def _dates(tokens: Sequence[Token], start: int) -> Iterator[Reading]:
    text = tokens[start].text
    if _YEAR.fullmatch(text):
        yield Reading(start, start + 1, DateValue(_year(int(text))))
    if decade := _DECADE.fullmatch(text):
        first = int(f"{decade[1]}{decade[2]}0")
        yield Reading(start, start + 1, DateValue(_year(first), _year(first + 9)))
    following = tokens[start + 1].text if start + 1 < len(tokens) else ""
    century = _CENTURY.fullmatch(text)
    number = int(century[1]) if century else english()["centuries"].get(text)
    if following == "century" and number:
        first = (number - 1) * 100
        yield Reading(start, start + 2, DateValue(_year(first), _year(first + 99)))
    months: Sequence[str] = english()["months"]["names"]
    if text in months and _YEAR.fullmatch(following):
        month = f"{following}-{months.index(text) + 1:02}"
        yield Reading(start, start + 2, DateValue(Literal(month, datatype=XSD.gYearMonth)))


def _year(year: int) -> Literal:
    return Literal(f"{year:04}", datatype=XSD.gYear)


async def read_texts(
    question: str,
    tokens: Sequence[Token],
    spans: Sequence[tuple[int, int]],
    schema: Schema,
    summary: DataSummary,
    run_query: RunQuery,
) -> list[Reading]:
    """Return the spans that are, as they are written, the value of a property in the graph."""
    properties = [
        iri
        for iri, use in summary.uses.items()
        if any(found in _STRINGS for _, found in use.edges) and not iri.value.startswith(_LABELS)
    ]
    if not properties or not spans:
        return []
    spans = spans[:_MOST_TEXTS]
    texts: dict[str, list[tuple[int, int]]] = {}
    for start, end in spans:
        words = question[tokens[start].start : tokens[end - 1].end]
        for form in {words, words.title(), words.capitalize(), words.upper()}:
            texts.setdefault(form, []).append((start, end))
    values = " ".join(str(Literal(text)) for text in texts)
    values += " " + " ".join(f"{Literal(text)}@en" for text in texts)
    query = (
        f"SELECT ?v ?p WHERE {{ VALUES ?v {{ {values} }} VALUES ?p {{ {' '.join(map(str, properties))} }} "
        "FILTER EXISTS { ?s ?p ?v } }"
    )
    found = []
    for row in (await run_query(query))["results"]["bindings"]:
        iri, value = NamedNode(row["p"]["value"]), row["v"]["value"]
        known = schema.properties.get(iri)
        label = known.label if known and known.label else split_camel_case(local_name(iri.value))
        language = row["v"].get("xml:lang")
        literal = Literal(value, language=language) if language else Literal(value)
        for start, end in texts[value]:
            found.append(Reading(start, end, TextValue(Term(iri, label), literal), penalties.TEXT_VALUE))
    return found


_LABELS: Final = ("http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2004/02/skos/core#")

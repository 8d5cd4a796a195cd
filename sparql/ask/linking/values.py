"""Numbers, dates and texts of a question: "1.5 km", "the 1930s", "France"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from pyoxigraph import Literal, NamedNode

from extractors.english.numerals import read_number
from extractors.english.quantities import unit_of
from ontology import Schema
from ontology.labels import local_name, split_camel_case
from sparql.ask import penalties
from sparql.ask.linking.readings import DateValue, Number, Reading, TextValue, UnitName
from sparql.ask.linking.summary import DataSummary, RunQuery
from sparql.ask.linking.words import Token, english
from sparql.ask.plan.terms import Term
from sparql.model.vocabulary import RDF, XSD

_YEAR = re.compile(r"1\d{3}|20\d{2}")
_DECADE = re.compile(r"(1\d|20)(\d)0s")
_CENTURY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
        1,
    )
}
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
    if text in _MONTHS and _YEAR.fullmatch(following):
        month = f"{following}-{_MONTHS[text]:02}"
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
        if use.objects & _STRINGS and not iri.value.startswith(_LABELS)
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

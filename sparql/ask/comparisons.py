"""Comparisons in a question: "founded before 1900", "taller than 300 feet", "the largest".

A large model writes them in its plan (`compare` and `rank`). For a small one that was trained without these
steps, they are removed from the question and added to its plan. They are recognized by English words. The
ontology decides which property is meant: by its labels, including superlatives, and for age by an alignment
with a start date.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Literal, NamedNode

from extractors.english.dates import read_date
from extractors.english.quantities import unit_of
from extractors.english.values import is_dated, is_measured
from ontology import OntologyProperty, Schema
from ontology.labels import stem, words
from sparql.ask.naming import FoundName
from sparql.ask.offering import EMPTY_WORDS
from sparql.ask.places import ALIGNMENTS
from sparql.ask.plan import Bound, Choice, Extreme, Op, Step
from sparql.model.vocabulary import DCTERMS

__all__ = ["Comparisons", "read_comparisons", "superlatives"]

_BOUNDS: Final[Mapping[str, Bound]] = {
    **dict.fromkeys(("before", "prior to", "earlier than", "older than"), Bound.LESS),
    **dict.fromkeys(("fewer than", "less than", "under", "below"), Bound.LESS),
    **dict.fromkeys(("smaller than", "lower than", "shorter than", "narrower than"), Bound.LESS),
    **dict.fromkeys(("at most", "up to", "until", "no more than", "no later than"), Bound.AT_MOST),
    **dict.fromkeys(("in", "exactly"), Bound.EQUAL),
    **dict.fromkeys(
        ("at least", "since", "no less than", "no fewer than", "no earlier than"), Bound.AT_LEAST
    ),
    **dict.fromkeys(("after", "later than", "newer than", "younger than"), Bound.MORE),
    **dict.fromkeys(("more than", "over", "above", "exceeding"), Bound.MORE),
}
_OF_DATES: Final = frozenset(
    """before prior to earlier than older than until no later than in since no earlier than after later than
    newer than younger than""".split()  # noqa: SIM905
) - {"than", "no", "to"}
_BEGINNINGS: Final = frozenset(
    {DCTERMS.created}
    | {
        NamedNode(f"{base}{name}")
        for base in ("https://schema.org/", "http://schema.org/")
        for name in ("foundingDate", "dateCreated")
    }
)
_OF_AGE: Final = frozenset("oldest earliest newest youngest latest".split())  # noqa: SIM905
_SIZES: Final = frozenset(
    """tallest highest lowest largest biggest smallest longest shortest widest narrowest deepest busiest
    heaviest fastest slowest nearest closest farthest most fewest""".split()  # noqa: SIM905
)
_LEAST: Final = frozenset("smallest lowest shortest narrowest oldest earliest fewest least".split())  # noqa: SIM905
_MONTH = r"(?:Jan|Febr|Febru|March|April|May|June|July|Aug|Sept|Oct|Nov|Dec)[a-z]*"
_DATE = rf"(?:(?:\d{{1,2}}\s+)?{_MONTH}\s+(?:\d{{1,2}},\s+)?)?\d{{4}}(?![\d,.]*\d)"
_NUMBER = r"[$€£]?\d[\d,]*(?:\.\d+)?(?:\s+(?:thousand|million|billion))?"
_WORDS = "|".join(sorted(_BOUNDS, key=len, reverse=True))
_COMPARED = re.compile(
    rf"\b(?P<bound>{_WORDS}|(?P<adjective>\w{{3,}}er)\s+than)\s+(?P<value>{_DATE}|{_NUMBER})"
    r"(?P<after>(?:\s+[^\W\d_]+){0,2})",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"\b(?:(?P<degree>most|least|fewest)\s+(?P<word>\w+)|(?P<est>\w{3,}est))\b", re.IGNORECASE
)
_WHICH_IS = re.compile(r"^(?:what|which)\s+(?:is|are|was|were)\s+the\s+", re.IGNORECASE)
_ONLY_WHICH = re.compile(
    r"^((?:which|what|how many)(?:\s+(?!in\b|near\b|are\b|is\b)\w+){1,4})\s*\??$", re.IGNORECASE
)
# The rest of a clause whose words were removed.
_DANGLING = re.compile(
    r"(?:\s+(?:that|which|who|with|having|of|an?|is|are|was|were|has|have|had|been|be))+\s*"
    r"(?=(?:\s(?:is|are)\s+there)?\s*[?.!]?\s*$)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Comparisons:
    """The steps for the comparisons of a question, and the question without them, of the same length."""

    question: str
    steps: tuple[Step, ...] = ()

    def for_a_small_model(self) -> str:
        """The question as a model trained on plain questions knows it: "Which museums are there?"."""
        text = " ".join(self.question.split())
        if not self.steps:
            return text
        text = _WHICH_IS.sub("Which ", text)
        return _ONLY_WHICH.sub(r"\1 are there?", text)


@dataclass(frozen=True)
class _NamedProperty:
    """A property, and the words of the question that name it."""

    known: OntologyProperty
    spans: tuple[tuple[int, int], ...]


def read_comparisons(question: str, names: Sequence[FoundName], schema: Schema) -> Comparisons:
    """Read the comparisons of a question; those that name no property of the ontology stay in it.

    Spaces replace what was read, so that the spans of the names stay valid.
    """
    inside = [(name.start, name.end) for name in names]
    steps: list[Step] = []
    taken: list[tuple[int, int]] = []
    for match in _COMPARED.finditer(question):
        if _overlaps(match.span(), inside):
            continue
        read = _comparison(question, match, inside, schema)
        if read is not None:
            steps.append(read[0])
            taken += read[1]
    for match in _SUPERLATIVE.finditer(question):
        if _overlaps(match.span(), [*inside, *taken]):
            continue
        ranked = _ranking(question, match, inside, schema)
        if ranked is not None:
            steps.append(ranked[0])
            taken += ranked[1]
    return Comparisons(_without(question, taken), tuple(steps))


def _comparison(
    question: str, match: re.Match[str], inside: Sequence[tuple[int, int]], schema: Schema
) -> tuple[Step, list[tuple[int, int]]] | None:
    said = " ".join(match["bound"].casefold().split())
    bound = _BOUNDS.get(said, Bound.MORE)
    value, end = match["value"], match.end("value")
    dated = isinstance(read_date(value), Literal) and (said.split()[0] in _OF_DATES or said == "exactly")
    if not dated:
        if said == "in":
            return None
        value, end = _with_unit(match)
    # The words of the comparison may name the property: "taller than", "since 1900".
    near = (match.start(), end)
    meant = _property_meant(question, near, inside, schema, dated=dated)
    if meant is None:
        return None
    step = Step(Op.COMPARE, property_=Choice(meant.known.label, meant.known.iri), bound=bound, value=value)
    return step, [near, *meant.spans]


def _with_unit(match: re.Match[str]) -> tuple[str, int]:
    """The number with the unit that follows it, and their end."""
    after, end, unit = match["after"], 0, None
    for word in re.finditer(r"\S+", after):
        # "Square" is not a unit, but "square miles" is; "m are" is the unit "m".
        read = unit_of(after[: word.end()].strip())
        if read not in (None, unit):
            end, unit = word.end(), read
    return match["value"] + after[:end], match.end("value") + end


def _ranking(
    question: str, match: re.Match[str], inside: Sequence[tuple[int, int]], schema: Schema
) -> tuple[Step, list[tuple[int, int]]] | None:
    superlative = match[0].casefold()
    extreme = Extreme.LEAST if (match["est"] or match["degree"]).casefold() in _LEAST else Extreme.MOST
    forms = {superlative, *_positives(match["est"] or match["word"])}
    for known in _compared_properties(schema):
        if any(" ".join(words(label)) in forms for label in _labels(known)) or (
            superlative in _OF_AGE and _tells_age(known, schema)
        ):
            return Step(Op.RANK, property_=Choice(known.label, known.iri), extreme=extreme), [match.span()]
    return None


def _tells_age(known: OntologyProperty, schema: Schema) -> bool:
    return any(
        triple.subject == known.iri and triple.predicate in ALIGNMENTS and triple.object in _BEGINNINGS
        for triple in schema.triples
    )


def superlatives(question: str, names: Sequence[FoundName]) -> list[str]:
    """The words of a question, outside its names, that ask for the least or the most of something."""
    inside = [(name.start, name.end) for name in names]
    found = (match for match in re.finditer(r"\w+", question) if not _overlaps(match.span(), inside))
    return [match[0] for match in found if match[0].casefold() in _OF_AGE | _SIZES]


def _property_meant(
    question: str, near: tuple[int, int], inside: Sequence[tuple[int, int]], schema: Schema, *, dated: bool
) -> _NamedProperty | None:
    """The property that the words of the question name: by the most words, and those closest to the value."""
    found: dict[str, list[tuple[int, int]]] = {}
    for match in re.finditer(r"\w+", question):
        if not _overlaps(match.span(), inside):
            for form in {match[0].casefold(), *_positives(match[0])}:
                found.setdefault(stem(form), []).append(match.span())
    best: tuple[tuple[int, int], _NamedProperty] | None = None
    for known in _compared_properties(schema):
        if is_dated(known.ranges) is not dated:
            continue
        for label in _labels(known):
            wanted = [stem(word) for word in words(label) if word not in EMPTY_WORDS]
            if not wanted or any(word not in found for word in wanted):
                continue
            spans = tuple(min(found[word], key=lambda span: _distance(span, near)) for word in wanted)
            score = (len(wanted), -sum(_distance(span, near) for span in spans))
            if best is None or score > best[0]:
                best = score, _NamedProperty(known, spans)
    if best is None:
        return None
    # "Founded since": the word before repeats the same.
    said = {stem(word) for label in _labels(best[1].known) for word in words(label)} - EMPTY_WORDS
    beside = (span for word in said for span in found.get(word, ()) if _distance(span, near) <= 1)
    return _NamedProperty(best[1].known, (*best[1].spans, *beside))


def _compared_properties(schema: Schema) -> Iterator[OntologyProperty]:
    for known in schema.properties.values():
        if not known.deprecated and (is_dated(known.ranges) or is_measured(known.ranges, known.unit)):
            yield known


def _labels(known: OntologyProperty) -> tuple[str, ...]:
    return (known.label, *known.alternative_labels)


def _positives(word: str) -> Collection[str]:
    """The possible adjectives of a comparative or superlative: "bigger" -> "bigg", "big", "bigge"."""
    for ending in ("est", "er"):
        rest = word.casefold().removesuffix(ending)
        if rest != word.casefold() and len(rest) > 2:
            undoubled = rest[:-1] if rest[-1] == rest[-2] else rest
            return {rest, undoubled, f"{rest}e", f"{rest[:-1]}y" if rest.endswith("i") else rest}
    return {word.casefold()}


def _distance(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(0, one[0] - other[1], other[0] - one[1])


def _overlaps(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _without(question: str, spans: Sequence[tuple[int, int]]) -> str:
    letters = list(question)
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    text = "".join(letters)
    if not spans:
        return text
    return _DANGLING.sub(lambda found: " " * len(found[0]), text)

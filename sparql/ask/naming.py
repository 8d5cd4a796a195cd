"""Finds and links the names in a question before a model is called.

Words written as a name, with capitals or in quotation marks, that link to nothing are reported as unknown;
the question is then not answered as if the name were absent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Literal

from extractors.english.dates import read_date
from extractors.grounding.linking import Link, Linker, LinkReason, Word, words_of
from ontology.labels import normalise
from ontology.schema import Schema

__all__ = ["FoundName", "find_names"]

_QUOTED = re.compile(r"\"([^\"]{2,})\"|“([^”]{2,})”|«([^»]{2,})»")
_SENTENCE_START = re.compile(r"(?:^|[.!?:…]\s)[\s\"'“«(¿]*$")
_POSSESSIVE = re.compile(r"['’][sS]?$")
_JOINING: Final = frozenset({"of", "the", "de", "for", "at"})
_OPENING: Final = frozenset(
    """a about all an and any are as at by can compare count could did do does find for from give had has have
    how i in is list many me name near of on one please show tell that the there this to was were what when
    where which who whom whose why will with within would you""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class FoundName:
    """A name in the question, its span in code points, and what it was linked to."""

    words: str
    start: int
    end: int
    link: Link

    @property
    def is_unknown(self) -> bool:
        return self.link.reason in {LinkReason.UNKNOWN, LinkReason.WRONG_CLASS}


@dataclass(frozen=True)
class _Span:
    start: int
    end: int

    def touches(self, other: _Span) -> bool:
        return self.start < other.end and other.start < self.end


def find_names(question: str, linker: Linker, schema: Schema) -> tuple[FoundName, ...]:
    """Return the names of a question in order, linked or not."""
    unmarked = _has_no_capitals(question)
    quoted = [_Span(m.start(m.lastindex or 0), m.end(m.lastindex or 0)) for m in _QUOTED.finditer(question)]
    found = [_linked(question, span, linker) for span in quoted]
    mentioned = [
        (_Span(start, end), entries)
        for start, end, entries in linker.labels.mentions(question, any_case=unmarked)
        if not any(_Span(start, end).touches(span) for span in quoted)
    ]
    longer = [] if unmarked else _longer_names(question, [span for span, _ in mentioned], quoted, schema)
    found += [_linked(question, span, linker) for span in longer]
    for span, entries in mentioned:
        if not any(span.touches(other) for other in longer):
            words = question[span.start : span.end]
            found.append(FoundName(words, span.start, span.end, linker.choose(words, entries)))
    return tuple(sorted(found, key=lambda name: name.start))


def _linked(question: str, span: _Span, linker: Linker) -> FoundName:
    words = question[span.start : span.end]
    return FoundName(words, span.start, span.end, linker.link(words))


def _has_no_capitals(question: str) -> bool:
    """Return whether capitals carry no information: there are none, or every word has one."""
    inside = re.findall(r"[^\W\d_]+", question)[1:]
    capitals = sum(word[0].isupper() for word in inside)
    return capitals == 0 or (len(inside) > 3 and capitals == len(inside))


def _longer_names(
    question: str, mentioned: Sequence[_Span], quoted: Sequence[_Span], schema: Schema
) -> list[_Span]:
    """Return the capitalized runs that are longer than the labels found in them: names not (fully) known.

    "Central Park Zoo" is not a mention of "Central Park". A capitalized class or property, a date, and the
    first word of the question are not names.
    """
    found = []
    for run in _capitalised_runs(question):
        opens = bool(_SENTENCE_START.search(question[: run[0].start]))
        words = _without_openers(run) if opens else run
        # "List the 2 nearest": a number after an opening word is not a name either.
        if all(word.text in _OPENING or not question[word.start].isupper() for word in words):
            continue
        span = _Span(words[0].start, _end_of(question, words[-1]))
        covered = [other for other in mentioned if other.touches(span)]
        left = [w for w in words if w.text not in _JOINING and not _covers(covered, w)]
        if not left or any(span.touches(other) for other in quoted):
            continue
        text = question[span.start : span.end]
        if not covered and (
            _is_term(text, schema) or isinstance(read_date(text), Literal) or (opens and words == run[:1])
        ):
            continue
        found.append(_Span(min([span.start, *(o.start for o in covered)]), span.end))
    return found


def _capitalised_runs(question: str) -> list[list[Word]]:
    """Return the longest runs of capitalized words, joined by blanks, hyphens or words such as "of"."""
    words = list(words_of(question))
    runs: list[list[Word]] = []
    run: list[Word] = []
    waiting: list[Word] = []
    for i, word in enumerate(words):
        gap = question[words[i - 1].end : word.start] if i else ""
        if run and gap.strip(" -.&") and not gap.startswith("/"):
            runs.append(run)
            run, waiting = [], []
        if question[word.start].isupper() or (run and question[word.start].isdigit()):
            run, waiting = [*run, *waiting, word], []
        elif run and word.text in _JOINING:
            waiting.append(word)
        elif run:
            runs.append(run)
            run, waiting = [], []
    return [*runs, run] if run else runs


def _without_openers(run: list[Word]) -> list[Word]:
    start = 0
    while start < len(run) and run[start].text in _OPENING:
        start += 1
    return run[start:]


def _covers(spans: Sequence[_Span], word: Word) -> bool:
    return any(span.start <= word.start and word.start < span.end for span in spans)


def _end_of(question: str, word: Word) -> int:
    match = _POSSESSIVE.search(question[word.start : word.end])
    return word.start + match.start() if match else word.end


def _is_term(words: str, schema: Schema) -> bool:
    """Return whether words are just a class or property of the ontology, written with a capital."""
    if schema.find_property(words) is not None:
        return True
    found = schema.find_class(words)
    if found is None:
        return False
    return normalise(words) in {normalise(label) for label in (found.label, *found.alternative_labels)}

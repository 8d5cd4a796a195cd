"""Links a question: everything that its spans may mean, and the words that nothing explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode

from extractors.grounding.linking import LabelEntry, Labels, normalize
from ontology import Schema
from ontology.labels import local_name, singular, split_camel_case
from ontology.labels import normalize as label_key
from sparql.ask import penalties
from sparql.ask.budget import current_budget
from sparql.ask.errors import QuestionTooInvolved
from sparql.ask.linking.lexicon import LONGEST, FunctionWords, TermNames
from sparql.ask.linking.readings import (
    ClassName,
    DateValue,
    EntityName,
    Number,
    PropertyName,
    Question,
    Reading,
    Word,
    read_numbers,
    read_texts,
)
from sparql.ask.linking.summary import DataSummary, RunQuery
from sparql.ask.linking.words import ASKING, AUXILIARIES, Form, Token, forms_of, idle_words
from sparql.ask.plan.terms import Place, Side, Term
from sparql.names.labels import LabelIndex

Same = Callable[[NamedNode], NamedNode]
"""The entity that stands for those that are the same."""

_LONGEST: Final = 8
_MOST_CANDIDATES: Final = 12
_KEPT: Final = 6
_LEAST_SIMILAR: Final = 0.6
_SIDES: Final = frozenset(Side)
"""The points of the compass: "north" in lower case is no short form of a name."""


class EntityReader:
    """Finds the entities that spans of a question name, over one label index."""

    def __init__(self, labels: Labels, terms: TermNames, functions: FunctionWords, same: Same) -> None:
        self._labels = labels
        self._same = same
        self._terms = terms
        self._functions = functions

    def read(self, question: str, tokens: Sequence[Token], idle: frozenset[str]) -> list[Reading]:
        """Return the readings as names; an inexact one only where the span holds no exact one."""
        found: list[Reading] = []
        budget = current_budget()
        lower = not any(token.raw[:1].isupper() for token in tokens[1:])
        for start, end in _spans(len(tokens)):
            budget.check()
            found += self._exact(question, tokens, start, end, lower=lower, idle=idle)
        taken = {(reading.start, reading.end) for reading in found}
        for start, end in dict.fromkeys(self._unknown_runs(tokens, tuple(found), idle)):
            budget.check()
            if (start, end) not in taken:
                # A plain word is no short name, but may be a name with a typo.
                named = lower or any(token.capital for token in tokens[start:end])
                kinds = self._kinds_beside(tokens, start, end)
                found += [
                    reading
                    for reading in self._inexact(question, tokens, start, end, short_names=named)
                    if not kinds or _is_of(reading, kinds)
                ]
        return found

    def _exact(
        self,
        question: str,
        tokens: Sequence[Token],
        start: int,
        end: int,
        *,
        lower: bool,
        idle: frozenset[str],
    ) -> Iterator[Reading]:
        part = tokens[start:end]
        if "," in (part[0].text, part[-1].text):
            return
        if end - start == 1 and (part[0].text in idle or len(part[0].text) < 2):
            return
        words = question[part[0].start : part[-1].end]
        entries, inflected = self._labels.exact(words), 0.0
        last = part[-1].text
        if not entries and singular(last) != last and len(last) > 3:
            entries = self._labels.exact(words[: -len(part[-1].raw)] + singular(last))
            # "Brooklyn museums" are hardly the Brooklyn Museum.
            common = part[0].capital and not part[-1].capital
            inflected = penalties.PLURAL_NAME + (penalties.COMMON_NOUN if common else 0.0)
        if not entries:
            return
        plain = not any(token.capital for token in part)
        named_otherwise = plain and (self._is_term(part) or not lower)
        if (
            plain
            and not lower
            and any(e.label[:1].isupper() for e in entries)
            and end - start == 1
            and self._is_term(part)
        ):
            return
        for entry in _by_iri(entries)[:_KEPT]:
            cost = inflected + (0.0 if entry.main else penalties.OTHER_NAME)
            cost += penalties.LOWER_CASE_NAME if named_otherwise else 0.0
            yield Reading(start, end, self._name(entry), cost)

    def _name(self, entry: LabelEntry) -> EntityName:
        iri = self._same(entry.iri)
        return EntityName(Term(iri, entry.label), entry.classes)

    def _is_term(self, part: Sequence[Token]) -> bool:
        words = [token.text for token in part]
        return bool(self._terms.find(words)) or self._functions.knows(words)

    def _unknown_runs(
        self, tokens: Sequence[Token], exact: Sequence[Reading], idle: frozenset[str]
    ) -> Iterator[tuple[int, int]]:
        """Yield spans of words that may be a name which is not known in this form, longest first."""
        covered = {n for reading in exact for n in range(reading.start, reading.end)}
        open_ = [self._may_name(token, n, idle) and n not in covered for n, token in enumerate(tokens)]
        for start, end in sorted(_spans(len(tokens)), key=lambda span: span[0] - span[1]):
            if end - start > 5 or not (open_[start] and open_[end - 1]):
                continue
            if all(open_[n] or tokens[n].text in idle for n in range(start, end)):
                yield start, end
        # A known name with more words beside it: "Central Park Zoo" is not Central Park.
        for first, last in dict.fromkeys((reading.start, reading.end) for reading in exact):
            for start, end in ((first - 1, last), (first, last + 1)):
                if start >= 0 and end <= len(tokens):
                    extra = tokens[start if start < first else end - 1]
                    if extra.raw[:1].isupper() and start > 0 and extra.text not in idle:
                        yield start, end

    def _kinds_beside(self, tokens: Sequence[Token], start: int, end: int) -> frozenset[NamedNode]:
        """Return the classes that a capital word beside a span names: "Sunset Boulevard" is no park."""
        if not any(token.raw[:1].isupper() for token in tokens[start:end]):
            return frozenset()
        beside = [tokens[n] for n in (start - 1, end) if 0 < n < len(tokens)]
        return self._terms.classes_named([token.text for token in beside if token.raw[:1].isupper()])

    def _may_name(self, token: Token, number: int, idle: frozenset[str]) -> bool:
        if token.text in idle or self._functions.knows([token.text]):
            return False
        if not token.capital and token.text in _SIDES:
            return False
        has_digit = any(c.isdigit() for c in token.raw)
        if token.text.replace(",", "").replace(".", "").isdigit():
            return False
        if has_digit or (token.raw[:1].isupper() and number > 0):
            return True
        return not self._terms.find([token.text])

    def _inexact(
        self, question: str, tokens: Sequence[Token], start: int, end: int, *, short_names: bool
    ) -> Iterator[Reading]:
        words = question[tokens[start].start : tokens[end - 1].end]
        written = normalize(words).split()
        wanted = [singular(word) for word in written]
        if not wanted or len("".join(wanted)) < 3:
            return
        short: dict[LabelEntry, float] = {}
        typo: dict[LabelEntry, float] = {}
        for entry, score in self._labels.similar(words, 4 * _MOST_CANDIDATES):
            have = [singular(word) for word in normalize(entry.label).split()]
            if short_names and set(wanted) <= set(have):
                share = len("".join(wanted)) / len("".join(have))
                short[entry] = penalties.SHORT_NAME + penalties.SHORT_NAME_LEFT_OUT * (1 - share)
            elif score >= _LEAST_SIMILAR - 0.1 and _misspelled(written, normalize(entry.label).split()):
                typo[entry] = penalties.TYPO
        found = short or typo
        best = {e.iri: (e, c) for e, c in sorted(found.items(), key=lambda pair: -pair[1])}
        many = penalties.NAMESAKES * log(max(1, len(best)))
        if len(best) > _MOST_CANDIDATES:
            return
        for entry, cost in sorted(best.values(), key=lambda pair: pair[1])[:_KEPT]:
            yield Reading(start, end, self._name(entry), cost + many)


def _is_of(reading: Reading, kinds: frozenset[NamedNode]) -> bool:
    return isinstance(reading.meaning, EntityName) and bool(reading.meaning.classes & kinds)


def _spans(size: int) -> Iterator[tuple[int, int]]:
    for start in range(size):
        for end in range(start + 1, min(size, start + _LONGEST) + 1):
            yield start, end


def _by_iri(entries: Sequence[LabelEntry]) -> list[LabelEntry]:
    found: dict[str, LabelEntry] = {}
    for entry in entries:
        found.setdefault(entry.iri.value, entry)
    return list(found.values())


def _misspelled(wanted: Sequence[str], have: Sequence[str]) -> bool:
    """Whether each word is one of the name's, up to a typo in every fifth letter, in any order."""
    left = list(have)
    for word in wanted:
        match = next(
            (other for other in left if _edits(word, other) <= max(1, len(word) // 5) and len(word) > 3), None
        )
        match = word if word in left else match
        if match is None:
            return False
        left.remove(match)
    return len(left) <= (1 if len(have) > 2 else 0)


def _edits(word: str, other: str) -> int:
    """Return the Damerau-Levenshtein distance (with exchanges of neighbors)."""
    if word == other:
        return 0
    if abs(len(word) - len(other)) > 2:
        return 9
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(word, 1):
        now = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and word[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]


class TermFinder:
    """Finds entities, classes and properties: of the ontology, and of the data where it has none."""

    def __init__(self, schema: Schema, labels: LabelIndex, summary: DataSummary) -> None:
        self._schema = schema
        self._labels = labels
        self._summary = summary

    def find(self, words: str) -> Term | None:
        """Return the term of an IRI or of words, None for one that the graph does not have."""
        entries = self._labels.exact(words)
        if entries:
            return Term(entries[0].iri, entries[0].label)
        for terms in (self._schema.classes, self._schema.properties):
            for known in terms.values():
                if label_key(known.label) == label_key(words) != ():
                    return Term(known.iri, known.label)
        try:
            iri = NamedNode(words)
        except ValueError:
            return None
        term = self._schema.classes.get(iri) or self._schema.properties.get(iri)
        if term is not None:
            unit = getattr(term, "unit", None)
            return Term(iri, term.label, unit.value.rpartition("/")[2] if unit is not None else "")
        named = self._labels.entries_of(iri)
        if named:
            return Term(iri, named[0].label)
        used = iri in self._summary.classes or iri in self._summary.uses
        return Term(iri, split_camel_case(local_name(words))) if used else None


_EXACT, _SURE = 0.06, 0.2
_PHRASE = 4
_MOST_WORDS = 120
_POLITE: Final = frozenset({"can", "could", "would"})


@dataclass(frozen=True)
class LinkedQuestion:
    """A question, its words, and their readings; `idle` are the words that a plan need not use.

    `lists`: where it asks whether there is any, the things are wanted.
    """

    text: str
    tokens: Sequence[Token]
    readings: Sequence[Reading]
    idle: frozenset[str]
    lists: bool = False

    @property
    def asks_whether(self) -> bool:
        """Whether the question begins as one that is answered by yes or no: "Is ...?"."""
        return bool(self.tokens) and not self.lists and self.tokens[0].text in AUXILIARIES - _POLITE

    @property
    def unread(self) -> list[Token]:
        """The words that are not idle and that no reading covers."""
        covered = {n for reading in self.readings for n in range(reading.start, reading.end)}
        return [t for n, t in enumerate(self.tokens) if n not in covered and t.text not in self.idle]

    def words(self, reading: Reading) -> str:
        """Return the words of a reading as they are written."""
        return self.text[self.tokens[reading.start].start : self.tokens[reading.end - 1].end]

    def opens(self, reading: Reading) -> bool:
        """Return whether a reading begins the question, as "list all" does; "are all" does not."""
        before = [token.text for token in self.tokens[: reading.start]]
        return all(word in self.idle for word in before) and not (AUXILIARIES | ASKING).intersection(before)

    @cached_property
    def names(self) -> list[Reading]:
        """The readings as entities, the most believable of each span that lies in no longer one."""
        entities = [reading for reading in self.readings if isinstance(reading.meaning, EntityName)]
        spans = {(reading.start, reading.end) for reading in entities}
        inner = {span for span in spans if any(_lies_in(span, other) for other in spans)}
        return [reading for reading in entities if (reading.start, reading.end) not in inner]


class QuestionLinker:
    """Links questions over one ontology, one label index, and a summary of the data.

    `idle` is a file with further idle words, one a line.
    """

    def __init__(
        self,
        schema: Schema,
        labels: Labels,
        summary: DataSummary,
        idle: Path | None = None,
        same: Same = lambda iri: iri,
    ) -> None:
        self._schema = schema
        self._labels = labels
        self._summary = summary
        self._idle = idle_words(idle)
        self._same = same
        self.functions = FunctionWords()
        self._terms: tuple[object, TermNames] | None = None

    @property
    def terms(self) -> TermNames:
        """The names of classes and properties, as the ontology and the data have them now."""
        state = (self._summary.classes, frozenset(p for p, use in self._summary.uses.items() if use.edges))
        if self._terms is None or self._terms[0] != state:
            self._terms = state, TermNames(self._schema, self._summary)
        return self._terms[1]

    async def link(self, question: str, run_query: RunQuery) -> LinkedQuestion:
        """Return what the spans of a question may mean."""
        return await self.link_form(question, next(forms_of(question)), run_query)

    async def link_form(self, question: str, form: Form, run_query: RunQuery) -> LinkedQuestion:
        """Return what the spans of a question in one of its forms may mean.

        Raises `QuestionTooInvolved`.
        """
        budget = current_budget()
        with budget.computing():
            readings, idle, spans = self._read(question, form)
        texts = await read_texts(question, form.tokens, spans, self._schema, self._summary, run_query)
        with budget.computing():
            found = _classes_first(_without_parts([*readings, *texts]), form.tokens)
        return LinkedQuestion(question, form.tokens, found, idle, form.lists)

    def _read(self, question: str, form: Form) -> tuple[list[Reading], frozenset[str], list[tuple[int, int]]]:
        """Return the readings without the texts of the graph, the idle words, and what may be such texts."""
        tokens, terms = form.tokens, self.terms
        if len(tokens) > _MOST_WORDS:
            raise QuestionTooInvolved(
                f"it has {len(tokens)} words, and at most {_MOST_WORDS} are read. Ask in a shorter sentence."
            )
        entities = EntityReader(self._labels, terms, self.functions, self._same).read(
            question, tokens, self._idle
        )
        referring = _referring(tokens, entities)
        idle = self._idle - {"it"} if referring else self._idle
        readings = [*entities, *referring, *read_numbers(tokens)]
        for start in range(len(tokens)):
            current_budget().check()
            for end in range(start + 1, min(len(tokens), start + LONGEST) + 1):
                words = [token.text for token in tokens[start:end]]
                for meaning, cost in (*self.functions.find(words), *terms.find(words)):
                    readings.append(Reading(start, end, meaning, cost))
        readings += [Reading(n, n + 1, Word.COMMA) for n, token in enumerate(tokens) if token.text == ","]
        if tokens and tokens[0].text in AUXILIARIES:
            readings.append(Reading(0, 1, Question.YES_NO))
            if tokens[0].text in ("is", "are", "was", "were"):
                readings.append(Reading(0, 1, Question.IS))
        read = {n for reading in readings for n in range(reading.start, reading.end)}
        for n, token in enumerate(tokens):
            if n not in read and token.text not in self._idle:
                readings += [Reading(n, n + 1, meaning, cost) for meaning, cost in terms.akin(token.text)]
        sure = [reading for reading in entities if reading.cost < _SURE]
        covered = {n for reading in sure for n in range(reading.start, reading.end)}
        spans = [
            (start, end)
            for start in range(len(tokens))
            for end in range(start + 1, min(len(tokens), start + 4) + 1)
            if not covered & set(range(start, end))
            and tokens[start].text not in self._idle
            and any(t.capital or any(c.isdigit() for c in t.raw) for t in tokens[start:end])
            and not (start == 0 and end == 1)
        ]
        return readings, idle, spans


def _referring(tokens: Sequence[Token], entities: Sequence[Reading]) -> list[Reading]:
    """Return "it" as the last thing named before: "east of the park, and which border it"."""
    found = []
    for n, token in enumerate(tokens):
        before = [reading for reading in entities if reading.end < n and reading.cost < _SURE]
        if token.text == "it" and before and tokens[n - 1].text not in AUXILIARIES:
            end = max(reading.end for reading in before)
            last = [reading for reading in before if reading.end == end]
            found += [Reading(n, n + 1, reading.meaning, reading.cost) for reading in last]
    return found


def _without_parts(readings: Sequence[Reading]) -> list[Reading]:
    """Leave out what is part of a longer name ("bridge" in "Brooklyn Bridge") or date ("May 1935")."""
    whole = {
        (reading.start, reading.end)
        for reading in readings
        if reading.end - reading.start > 1
        and (
            isinstance(reading.meaning, DateValue)
            or (isinstance(reading.meaning, EntityName) and reading.cost < _EXACT)
            # "Part of" in "which part of town" is no relation.
            or (isinstance(reading.meaning, Question) and reading.end - reading.start >= _PHRASE)
        )
    }
    named = (EntityName, ClassName, PropertyName, Number, DateValue, Place)
    than_to = {reading.start for reading in readings if reading.meaning is Word.THAN_TO}
    return [
        reading
        for reading in readings
        if not (reading.meaning is Word.THAN and reading.start in than_to)
        if not isinstance(reading.meaning, named)
        or not any(_lies_in((reading.start, reading.end), longer) for longer in whole)
    ]


def _lies_in(span: tuple[int, int], longer: tuple[int, int]) -> bool:
    return longer[0] <= span[0] and span[1] <= longer[1] and span != longer


def _classes_first(readings: Sequence[Reading], tokens: Sequence[Token]) -> list[Reading]:
    """Where words name a class and a property, prefer one: "suppliers" are things, "supplier of" is not."""
    spans = {
        kind: {(reading.start, reading.end) for reading in readings if isinstance(reading.meaning, kind)}
        for kind in (ClassName, PropertyName)
    }
    found = []
    for reading in readings:
        meaning, span = reading.meaning, (reading.start, reading.end)
        of = reading.end < len(tokens) and tokens[reading.end].text == "of"
        if isinstance(meaning, ClassName) and of and span in spans[PropertyName]:
            continue
        if isinstance(meaning, PropertyName) and not of and span in spans[ClassName]:
            reading = replace(reading, cost=reading.cost + penalties.CLASS_RIVAL)
        found.append(reading)
    return found

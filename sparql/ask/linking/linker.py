"""Links a question: everything that its spans may mean, and the words that nothing explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from extractors.grounding.linking import Labels
from ontology import Schema
from sparql.ask.budget import current_budget
from sparql.ask.errors import QuestionTooInvolved
from sparql.ask.linking.entities import EntityReader, Same
from sparql.ask.linking.forms import ASKING, AUXILIARIES, Form, forms_of
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
)
from sparql.ask.linking.summary import DataSummary, RunQuery
from sparql.ask.linking.values import read_numbers, read_texts
from sparql.ask.linking.words import Token, idle_words
from sparql.ask.plan.terms import Place

__all__ = ["LinkedQuestion", "QuestionLinker"]

_EXACT, _SURE, _NOT_MEANT = 0.06, 0.2, 0.15
_PHRASE = 4
_MOST_WORDS = 120
_POLITE = frozenset("can could would".split())  # noqa: SIM905


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
        covered = {n for one in self.readings for n in range(one.start, one.end)}
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
        entities = [one for one in self.readings if isinstance(one.meaning, EntityName)]
        spans = {(one.start, one.end) for one in entities}
        inner = {span for span in spans if any(_lies_in(span, other) for other in spans)}
        return [one for one in entities if (one.start, one.end) not in inner]


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
        read = {n for one in readings for n in range(one.start, one.end)}
        for n, token in enumerate(tokens):
            if n not in read and token.text not in self._idle:
                readings += [Reading(n, n + 1, meaning, cost) for meaning, cost in terms.akin(token.text)]
        covered = {n for one in entities if one.cost < _SURE for n in range(one.start, one.end)}
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
        before = [one for one in entities if one.end < n and one.cost < _SURE]
        if token.text == "it" and before and tokens[n - 1].text not in AUXILIARIES:
            last = max(one.end for one in before)
            found += [Reading(n, n + 1, one.meaning, one.cost) for one in before if one.end == last]
    return found


def _without_parts(readings: Sequence[Reading]) -> list[Reading]:
    """Leave out what is part of a longer name ("bridge" in "Brooklyn Bridge") or date ("May 1935")."""
    whole = {
        (one.start, one.end)
        for one in readings
        if one.end - one.start > 1
        and (
            isinstance(one.meaning, DateValue)
            or (isinstance(one.meaning, EntityName) and one.cost < _EXACT)
            # "Part of" in "which part of town" is no relation.
            or (isinstance(one.meaning, Question) and one.end - one.start >= _PHRASE)
        )
    }
    named = (EntityName, ClassName, PropertyName, Number, DateValue, Place)
    than_to = {one.start for one in readings if one.meaning is Word.THAN_TO}
    return [
        one
        for one in readings
        if not (one.meaning is Word.THAN and one.start in than_to)
        if not isinstance(one.meaning, named)
        or not any(_lies_in((one.start, one.end), longer) for longer in whole)
    ]


def _lies_in(span: tuple[int, int], longer: tuple[int, int]) -> bool:
    return longer[0] <= span[0] and span[1] <= longer[1] and span != longer


def _classes_first(readings: Sequence[Reading], tokens: Sequence[Token]) -> list[Reading]:
    """Where words name a class and a property, prefer one: "suppliers" are things, "supplier of" is not."""
    spans = {
        kind: {(one.start, one.end) for one in readings if isinstance(one.meaning, kind)}
        for kind in (ClassName, PropertyName)
    }
    found = []
    for one in readings:
        of = one.end < len(tokens) and tokens[one.end].text == "of"
        if isinstance(one.meaning, ClassName) and of and (one.start, one.end) in spans[PropertyName]:
            continue
        rival = isinstance(one.meaning, PropertyName) and (one.start, one.end) in spans[ClassName]
        found.append(replace(one, cost=one.cost + _NOT_MEANT) if rival and not of else one)
    return found

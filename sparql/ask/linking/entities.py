"""Names of entities in a question: exact, with typos, short forms, another order of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log
from typing import Final

from pyoxigraph import NamedNode

from extractors.grounding.linking import LabelEntry, Labels, normalize
from ontology.labels import local_name, singular, split_camel_case
from ontology.labels import normalize as label_key
from ontology.schema import Schema
from sparql.ask.budget import current_budget
from sparql.ask.linking.lexicon import FunctionWords, TermNames
from sparql.ask.linking.readings import EntityName, Reading
from sparql.ask.linking.summary import DataSummary
from sparql.ask.linking.words import Token
from sparql.ask.plan.terms import Side, Term
from sparql.names.labels import LabelIndex

__all__ = ["EntityReader", "Same"]

Same = Callable[[NamedNode], NamedNode]
"""The entity that stands for those that are the same."""

_LONGEST: Final = 8
_MOST_CANDIDATES: Final = 12
_KEPT: Final = 6
_TYPO, _SHORT, _LOWER_CASE, _PLURAL, _COMMON = 0.5, 0.2, 0.25, 0.1, 0.7
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
        taken = {(one.start, one.end) for one in found}
        for start, end in dict.fromkeys(self._unknown_runs(tokens, tuple(found), idle)):
            budget.check()
            if (start, end) not in taken:
                # A plain word is no short name, but may be a name with a typo.
                named = lower or any(token.capital for token in tokens[start:end])
                kinds = self._kinds_beside(tokens, start, end)
                found += [
                    one
                    for one in self._inexact(question, tokens, start, end, short_names=named)
                    if not kinds or _is_of(one, kinds)
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
            inflected = _PLURAL + (_COMMON if common else 0.0)
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
            cost = inflected + (0.0 if entry.main else 0.05) + (_LOWER_CASE if named_otherwise else 0.0)
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
        covered = {n for one in exact for n in range(one.start, one.end)}
        open_ = [self._may_name(token, n, idle) and n not in covered for n, token in enumerate(tokens)]
        for start, end in sorted(_spans(len(tokens)), key=lambda span: span[0] - span[1]):
            if end - start > 5 or not (open_[start] and open_[end - 1]):
                continue
            if all(open_[n] or tokens[n].text in idle for n in range(start, end)):
                yield start, end
        # A known name with more words beside it: "Central Park Zoo" is not Central Park.
        for first, last in dict.fromkeys((one.start, one.end) for one in exact):
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
        return self._terms.classes_named([one.text for one in beside if one.raw[:1].isupper()])

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
                short[entry] = _SHORT + 0.6 * (1 - share)
            elif score >= _LEAST_SIMILAR - 0.1 and _misspelled(written, normalize(entry.label).split()):
                typo[entry] = _TYPO
        found = short or typo
        best = {e.iri: (e, c) for e, c in sorted(found.items(), key=lambda pair: -pair[1])}
        many = 0.3 * log(max(1, len(best)))
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
            (one for one in left if _edits(word, one) <= max(1, len(word) // 5) and len(word) > 3), None
        )
        match = word if word in left else match
        if match is None:
            return False
        left.remove(match)
    return len(left) <= (1 if len(have) > 2 else 0)


def _edits(one: str, other: str) -> int:
    """Return the Damerau-Levenshtein distance (with exchanges of neighbors)."""
    if one == other:
        return 0
    if abs(len(one) - len(other)) > 2:
        return 9
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        now = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
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

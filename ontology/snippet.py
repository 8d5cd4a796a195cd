"""Finds the terms of an ontology that fit a text: an index of label phrases and words, with a score.

A small model is offered only a few relations, so the right ones must be among them. Three kinds of evidence
count, in this order: a label or alternative label occurs in the text as a phrase; single words of a label
occur; words of the definition occur. Rare words count more (inverse document frequency).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from pyoxigraph import NamedNode

from ontology.labels import readable, stem, words

__all__ = ["Labeled", "TermIndex"]

PHRASE_WEIGHT = 4.0
WORD_WEIGHT = 1.0
DEFINITION_WEIGHT = 0.25
FUNCTION_WORD_WEIGHT = 0.4
FUNCTION_PHRASE_WEIGHT = 1.2
LONGEST_PHRASE = 6

_FUNCTION_WORDS = """
    a an the of in on at to by for from with and or as is are was were be been it its he she they
    his her their this that these those which who whom where when while than then there has have had
    not no but if into over under out up down off between through during about after before one each
    all any some other also more most such same so can may will would
"""
FUNCTION_WORDS = frozenset(stem(word) for word in _FUNCTION_WORDS.split())


class Labeled(Protocol):
    """The parts of a term that the index reads."""

    @property
    def iri(self) -> NamedNode: ...
    @property
    def label(self) -> str: ...
    @property
    def alternative_labels(self) -> tuple[str, ...]: ...
    @property
    def definition(self) -> str: ...


TermT = TypeVar("TermT", bound=Labeled)


class TermIndex(Generic[TermT]):
    """Terms in file order, found by the words of a text."""

    def __init__(self, terms: Sequence[TermT]) -> None:
        self._terms = tuple(terms)
        self._phrases: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._words: dict[str, dict[int, float]] = defaultdict(dict)
        for number, term in enumerate(self._terms):
            for label in (term.label, *term.alternative_labels):
                for form in dict.fromkeys((label, readable(label))):
                    self._add_label(number, form)
            for word in set(_stems(term.definition)) - FUNCTION_WORDS:
                self._words[word].setdefault(number, DEFINITION_WEIGHT)

    def _add_label(self, number: int, label: str) -> None:
        phrase = tuple(_stems(label))
        if not phrase:
            return
        if number not in self._phrases[phrase]:
            self._phrases[phrase].append(number)
        for word in set(phrase) - FUNCTION_WORDS:
            self._words[word][number] = WORD_WEIGHT

    def scores(self, text: str) -> dict[int, float]:
        """The score of each term for a text, by its number in file order, without terms that do not fit."""
        stems = _stems(text)
        found: dict[int, float] = defaultdict(float)
        for phrase in _phrases(stems):
            holders = self._phrases.get(phrase)
            if holders:
                weight = self._phrase_weight(phrase)
                for number in holders:
                    found[number] = max(found[number], weight)
        for word in set(stems):
            holding = self._words.get(word)
            if holding:
                rarity = self._rarity(len(holding))
                for number, weight in holding.items():
                    found[number] += weight * rarity
        return found

    def _phrase_weight(self, phrase: tuple[str, ...]) -> float:
        """Higher for longer and rarer phrases, lower for function words such as "in"."""
        meaning = sum(word not in FUNCTION_WORDS for word in phrase)
        sharing = 1 / math.sqrt(len(self._phrases[phrase]))
        if meaning == 0:
            return FUNCTION_PHRASE_WEIGHT * len(phrase) * sharing
        return PHRASE_WEIGHT * (meaning + FUNCTION_WORD_WEIGHT * (len(phrase) - meaning)) * sharing

    def _rarity(self, holders: int) -> float:
        return math.log1p(len(self._terms) / holders) / math.log1p(len(self._terms) or 1)

    def best(self, text: str, limit: int, boosts: dict[int, float] | None = None) -> tuple[TermT, ...]:
        """The terms that best fit a text, then others in file order, `limit` in all."""
        found = self.scores(text)
        for number, boost in (boosts or {}).items():
            found[number] = found.get(number, 0.0) + boost
        order = sorted(range(len(self._terms)), key=lambda number: (-found.get(number, 0.0), number))
        return tuple(self._terms[number] for number in order[: max(limit, 0)])


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def _phrases(stems: Sequence[str]) -> set[tuple[str, ...]]:
    """Every run of up to `LONGEST_PHRASE` words."""
    return {
        tuple(stems[start : start + length])
        for start in range(len(stems))
        for length in range(1, min(LONGEST_PHRASE, len(stems) - start) + 1)
    }

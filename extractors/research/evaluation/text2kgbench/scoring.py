"""What predictions are worth: strict scores, those of the benchmark's own scorer, and what was made up.

Strict: micro-averaged over sentences, every predicted triple counts. Official: as the benchmark's program
counts, sentence by sentence, then averaged; it looks only at predicted triples whose relation is one of that
sentence's gold, and a sentence with empty gold scores 0, so gold given as the answer does not reach 1.
Words are compared without case, white space and underscores, by both.

Hallucination follows section 4.3 of the paper: an end that is not in the sentence nor among the concepts,
compared by Porter's stems, and a relation that is not in the ontology. Our words are cut by a regular
expression where the benchmark takes a tokenizer, which moves single triples.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import snowballstemmer

from extractors.research.evaluation.text2kgbench.reading import Fact

__all__ = ["Counts", "Ratio", "count", "same_fact"]

_BLANK: Final = re.compile(r"(?:_|\s)+")
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_FIRST_OF_JANUARY: Final = "01januari"


@dataclass(frozen=True)
class Ratio:
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """0 where both are."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True)
class Counts:
    """What one sentence adds to the scores. Shares are between 0 and 1.

    `judged` is 1 when there is gold for the sentence; at 0 it counts nothing towards precision and recall.
    """

    judged: int
    right: int
    told: int
    gold: int
    official_precision: float
    official_recall: float
    official_f1: float
    triples: int
    conforming: int
    official_conformance: float
    made_up_subjects: float
    made_up_objects: float
    made_up_relations: float


def count(
    told: Sequence[Fact],
    gold: Collection[Fact] | None,
    *,
    sentence: str,
    relations: Collection[str],
    concepts: Sequence[str],
) -> Counts:
    """Count one sentence's predictions; `gold` is None where nobody knows it."""
    official = _official(told, gold or ())
    told_keys, gold_keys = {_key(fact) for fact in told}, {_key(fact) for fact in gold or ()}
    allowed = {_underscored(relation) for relation in relations}
    conforming = sum(_underscored(fact.relation) in allowed for fact in told)
    subjects, objects = _made_up(told, sentence, concepts)
    conformance = conforming / len(told) if told else 1.0
    return Counts(
        judged=int(gold is not None),
        right=len(told_keys & gold_keys),
        told=len(told_keys) if gold is not None else 0,
        gold=len(gold_keys),
        official_precision=official.precision,
        official_recall=official.recall,
        official_f1=official.f1,
        triples=len(told),
        conforming=conforming,
        official_conformance=conformance,
        made_up_subjects=subjects,
        made_up_objects=objects,
        made_up_relations=1 - conformance,
    )


def _official(told: Iterable[Fact], gold: Iterable[Fact]) -> Ratio:
    known = {"".join(_key(fact)) for fact in gold}
    offered = {_underscored(fact.relation) for fact in gold}
    kept = {"".join(_key(fact)) for fact in told if _underscored(fact.relation) in offered}
    if not kept:
        return Ratio(0.0, 0.0)
    right = len(known & kept)
    return Ratio(right / len(kept), right / len(known))


def same_fact(one: Fact, other: Fact) -> bool:
    """Whether two facts are one as both scores compare them."""
    return _key(one) == _key(other)


def _key(fact: Fact) -> tuple[str, str, str]:
    return _joined(fact.subject), _joined(fact.relation), _joined(fact.object)


def _joined(words: str) -> str:
    return _BLANK.sub("", words).lower()


def _underscored(relation: str) -> str:
    return relation.replace(" ", "_")


def _made_up(told: Sequence[Fact], sentence: str, concepts: Sequence[str]) -> tuple[float, float]:
    """The shares of subjects and of objects that stand nowhere."""
    if not told:
        return 0.0, 0.0
    # Without a blank between, as the benchmark's program joins them.
    held = _stemmed(sentence + " ".join(concepts))

    def missing(ends: Iterable[str]) -> float:
        # A year alone is told as the first of January of that year.
        return sum(_stemmed(end).replace(_FIRST_OF_JANUARY, "") not in held for end in ends) / len(told)

    return missing(fact.subject for fact in told), missing(fact.object for fact in told)


def _stemmed(text: str) -> str:
    tokens = _TOKEN.findall(text.lower())
    return _BLANK.sub("", "".join(_stemmer().stemWords(tokens)))


@cache
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("porter")

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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from typing import Final

import numpy
import snowballstemmer

from research.estimates import MIDDLE, RESAMPLES, Estimate, Numbers
from research.text2kgbench.reading import Fact

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


_COLUMNS: Final = {field.name: place for place, field in enumerate(fields(Counts))}
_AVERAGED: Final = (
    "official_conformance",
    "made_up_subjects",
    "made_up_objects",
    "made_up_relations",
    "triples",
)


def estimate(
    samples: Sequence[Sequence[Sequence[Counts]]], *, seed: int, resamples: int = RESAMPLES
) -> Mapping[str, Estimate]:
    """Give every score of a run: `samples` hold, for each ontology, the counts of its sentences.

    All samples have the same sentences in the same order. Scores that need gold are left out where no
    sentence has any.
    """
    groups = [[_matrix(ontology) for ontology in sample if ontology] for sample in samples]
    if not groups or not groups[0]:
        return {}
    drawn = _draws([len(matrix) for matrix in groups[0]], seed, resamples)
    ones = [numpy.ones((1, len(matrix))) for matrix in groups[0]]
    judged = any(matrix[:, _COLUMNS["judged"]].any() for matrix in groups[0])
    values = _mean([_scores(sample, ones) for sample in groups])
    spread = _mean([_scores(sample, drawn) for sample in groups])
    return {
        name: Estimate(
            float(values[name][0]), *(float(end) for end in numpy.percentile(spread[name], MIDDLE))
        )
        for name in values
        if judged or not name.startswith(("strict", "official_precision", "official_recall", "official_f1"))
    }


def _matrix(ontology: Sequence[Counts]) -> Numbers:
    return numpy.array([astuple(counts) for counts in ontology], dtype=numpy.float64)


def _draws(sizes: Sequence[int], seed: int, resamples: int) -> list[Numbers]:
    """How often each sentence is drawn, for each ontology: one row per resample."""
    random = numpy.random.default_rng(seed)
    return [
        random.multinomial(size, numpy.full(size, 1 / size), size=resamples).astype(numpy.float64)
        for size in sizes
    ]


def _scores(groups: Sequence[Numbers], weights: Sequence[Numbers]) -> dict[str, Numbers]:
    """Every score, once per row of the weights."""
    sums = [weight @ group for weight, group in zip(weights, groups, strict=True)]
    sizes = [weight.sum(axis=1) for weight in weights]

    def of(ontology: Numbers, name: str) -> Numbers:
        return ontology[:, _COLUMNS[name]]

    def total(name: str) -> Numbers:
        added: Numbers = numpy.sum([of(ontology, name) for ontology in sums], axis=0)
        return added

    def macro(values: Sequence[Numbers]) -> Numbers:
        averaged: Numbers = numpy.mean(values, axis=0)
        return averaged

    right, told, gold = total("right"), total("told"), total("gold")
    found = {
        "strict_precision": _ratio(right, told),
        "strict_recall": _ratio(right, gold),
        "strict_f1": _f1(right, told, gold),
        "strict_f1_macro": macro([_f1(of(one, "right"), of(one, "told"), of(one, "gold")) for one in sums]),
    }
    for name in ("official_precision", "official_recall", "official_f1"):
        found[name] = macro([_ratio(of(one, name), of(one, "judged")) for one in sums])
    found["ontology_conformance"] = _ratio(total("conforming"), total("triples"), empty=1.0)
    for name in _AVERAGED:
        found[name] = macro([_ratio(of(one, name), size) for one, size in zip(sums, sizes, strict=True)])
    return found


def _ratio(part: Numbers, whole: Numbers, empty: float = 0.0) -> Numbers:
    return numpy.divide(part, whole, out=numpy.full_like(part, empty), where=whole > 0)


def _f1(right: Numbers, told: Numbers, gold: Numbers) -> Numbers:
    """2 right / (told + gold): the harmonic mean of right / told and right / gold."""
    return _ratio(2 * right, told + gold)


def _mean(samples: Sequence[Mapping[str, Numbers]]) -> dict[str, Numbers]:
    return {name: numpy.mean([sample[name] for sample in samples], axis=0) for name in samples[0]}

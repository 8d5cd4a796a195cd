"""From the counts of sentences to scores with intervals.

Scores are averaged over the samples of a run. An interval is the middle 95% of what comes out when the
sentences of each ontology are drawn anew, with replacement (percentile bootstrap); its seed is part of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Final

import numpy
from numpy.typing import NDArray

from extractors.research.evaluation.text2kgbench.scoring import Counts

__all__ = ["Estimate", "estimate"]

RESAMPLES: Final = 1000
_MIDDLE: Final = (2.5, 97.5)
_COLUMNS: Final = {field.name: place for place, field in enumerate(fields(Counts))}
_Numbers = NDArray[numpy.float64]
_AVERAGED: Final = (
    "official_conformance",
    "made_up_subjects",
    "made_up_objects",
    "made_up_relations",
    "triples",
)


@dataclass(frozen=True)
class Estimate:
    """A score with the ends of its 95% interval."""

    value: float
    low: float
    high: float


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
            float(values[name][0]), *(float(end) for end in numpy.percentile(spread[name], _MIDDLE))
        )
        for name in values
        if judged or not name.startswith(("strict", "official_precision", "official_recall", "official_f1"))
    }


def _matrix(ontology: Sequence[Counts]) -> _Numbers:
    return numpy.array([astuple(counts) for counts in ontology], dtype=numpy.float64)


def _draws(sizes: Sequence[int], seed: int, resamples: int) -> list[_Numbers]:
    """How often each sentence is drawn, for each ontology: one row per resample."""
    random = numpy.random.default_rng(seed)
    return [
        random.multinomial(size, numpy.full(size, 1 / size), size=resamples).astype(numpy.float64)
        for size in sizes
    ]


def _scores(groups: Sequence[_Numbers], weights: Sequence[_Numbers]) -> dict[str, _Numbers]:
    """Every score, once per row of the weights."""
    sums = [weight @ group for weight, group in zip(weights, groups, strict=True)]
    sizes = [weight.sum(axis=1) for weight in weights]

    def of(ontology: _Numbers, name: str) -> _Numbers:
        return ontology[:, _COLUMNS[name]]

    def total(name: str) -> _Numbers:
        added: _Numbers = numpy.sum([of(ontology, name) for ontology in sums], axis=0)
        return added

    def macro(values: Sequence[_Numbers]) -> _Numbers:
        averaged: _Numbers = numpy.mean(values, axis=0)
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


def _ratio(part: _Numbers, whole: _Numbers, empty: float = 0.0) -> _Numbers:
    return numpy.divide(part, whole, out=numpy.full_like(part, empty), where=whole > 0)


def _f1(right: _Numbers, told: _Numbers, gold: _Numbers) -> _Numbers:
    """2 right / (told + gold): the harmonic mean of right / told and right / gold."""
    return _ratio(2 * right, told + gold)


def _mean(samples: Sequence[Mapping[str, _Numbers]]) -> dict[str, _Numbers]:
    return {name: numpy.mean([sample[name] for sample in samples], axis=0) for name in samples[0]}

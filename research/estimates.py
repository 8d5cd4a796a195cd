"""Scores over items with 95% intervals: the items drawn anew, with replacement (percentile bootstrap)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy
from numpy.typing import NDArray

RESAMPLES: Final = 1000
MIDDLE: Final = (2.5, 97.5)
"""The percentiles at the ends of an interval."""
Numbers = NDArray[numpy.float64]
_Values = Sequence[float] | Numbers


@dataclass(frozen=True)
class Estimate:
    """A score with the ends of its 95% interval."""

    value: float
    low: float
    high: float


def ratio(parts: _Values, wholes: _Values, *, seed: int = 0) -> Estimate | None:
    """The sum of the parts over the sum of the wholes, one of each an item; None without any whole."""
    part, whole = _array(parts), _array(wholes)
    if not whole.sum():
        return None
    drawn = _draws(len(part), seed)
    return _estimate(part.sum() / whole.sum(), _divided(drawn @ part, drawn @ whole))


def f1(right: _Values, told: _Values, gold: _Values, *, seed: int = 0) -> Estimate | None:
    """The micro-averaged F1, 2 right / (told + gold), from the counts of each item."""
    return ratio(2 * _array(right), _array(told) + _array(gold), seed=seed)


def cell(found: Estimate | None) -> str:
    """A score for a table, with its interval."""
    return "-" if found is None else f"{found.value:.3f} ({found.low:.3f}-{found.high:.3f})"


def estimate_json(found: Estimate | None) -> dict[str, Any] | None:
    """A score as JSON."""
    if found is None:
        return None
    return {"value": round(found.value, 4), "low": round(found.low, 4), "high": round(found.high, 4)}


def _array(values: _Values) -> Numbers:
    return numpy.asarray(values, dtype=numpy.float64)


def _draws(size: int, seed: int) -> Numbers:
    """How often each item is drawn: one row a resample."""
    random = numpy.random.default_rng(seed)
    return random.multinomial(size, numpy.full(size, 1 / size), size=RESAMPLES).astype(numpy.float64)


def _divided(part: Numbers, whole: Numbers) -> Numbers:
    return numpy.divide(part, whole, out=numpy.zeros_like(part), where=whole > 0)


def _estimate(value: float, spread: Numbers) -> Estimate:
    low, high = (float(end) for end in numpy.percentile(spread, MIDDLE))
    return Estimate(float(value), low, high)

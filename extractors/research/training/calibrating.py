"""Fits the map from raw scores to probabilities, and measures how good these probabilities are.

Isotonic regression (pool adjacent violators) follows the data and needs some hundreds of judged statements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from extractors.checks.calibration import Calibration
from extractors.errors import CalibrationError

__all__ = ["Reliability", "ReliabilityBin", "fit_isotonic", "reliability"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ReliabilityBin:
    """Statements whose probability lies in [low, high): how many, how sure, and how often right."""

    low: float
    high: float
    count: int
    mean_probability: float
    right: float


@dataclass(frozen=True)
class Reliability:
    """How far probabilities are from what happens: 0 is perfect for both measures.

    `ece` is the expected calibration error, the mean gap between a bin's probability and its share of right
    statements, weighed by its size; `brier` the mean squared error, which also rewards telling apart.
    """

    bins: tuple[ReliabilityBin, ...]
    ece: float
    brier: float
    count: int

    def as_text(self) -> str:
        """A table for people."""
        lines = [f"{self.count} statements, ECE {self.ece:.3f}, Brier {self.brier:.3f}"]
        lines += [
            f"{one.low:.2f}-{one.high:.2f}  {one.count:6}  said {one.mean_probability:.2f}  "
            f"right {one.right:.2f}"
            for one in self.bins
        ]
        return "\n".join(lines)


def fit_isotonic(scores: Sequence[float], right: Sequence[bool], *, data: str = "") -> Calibration:
    """Fit by isotonic regression: the closest rising steps, joined at the middles of their scores.

    Half a right and half a wrong statement are counted with the first and the last step (Laplace's rule), so
    that nothing is ever certain. Raises `CalibrationError` for too little data.
    """
    x, y = _judged(scores, right)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    unique, starts = np.unique(x, return_index=True)
    weights = np.diff(np.append(starts, len(x))).astype(np.float64)
    sums = np.add.reduceat(y, starts)
    blocks: list[tuple[float, float, float]] = []  # weighed sum of scores, right ones, statements
    for score, total, weight in zip(unique, sums, weights, strict=True):
        block = (float(score * weight), float(total), float(weight))
        while blocks and _share(blocks[-1]) >= _share(block):
            earlier = blocks.pop()
            block = (earlier[0] + block[0], earlier[1] + block[1], earlier[2] + block[2])
        blocks.append(block)
    shares = [_share(block) for block in blocks]
    for end in (0, -1):
        shares[end] = (blocks[end][1] + 0.5) / (blocks[end][2] + 1)
    rising = np.maximum.accumulate(np.asarray(shares))
    middles = (block[0] / block[2] for block in blocks)
    pairs = {round(s, 6): round(float(p), 6) for s, p in zip(middles, rising, strict=True)}
    return Calibration("isotonic", tuple(sorted(pairs.items())), len(x), data)


def reliability(probabilities: Sequence[float], right: Sequence[bool], *, bins: int = 10) -> Reliability:
    """Measure probabilities against what was right, in bins of equal width. Raises `CalibrationError`."""
    p, y = _judged(probabilities, right, least=1)
    places = np.minimum((p * bins).astype(int), bins - 1)
    found = tuple(
        ReliabilityBin(
            low=place / bins,
            high=(place + 1) / bins,
            count=int((places == place).sum()),
            mean_probability=float(p[places == place].mean()),
            right=float(y[places == place].mean()),
        )
        for place in sorted(set(places.tolist()))
    )
    ece = sum(one.count * abs(one.mean_probability - one.right) for one in found) / len(p)
    return Reliability(found, float(ece), float(((p - y) ** 2).mean()), len(p))


def _judged(values: Sequence[float], right: Sequence[bool], *, least: int = 2) -> tuple[Floats, Floats]:
    if len(values) != len(right):
        raise CalibrationError(f"There are {len(values)} scores and {len(right)} judgments: give one each.")
    if len(values) < least:
        raise CalibrationError(f"{len(values)} judged statements are too few: judge at least {least}.")
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all() or x.min() < 0 or x.max() > 1:
        raise CalibrationError("Scores and probabilities lie between 0 and 1.")
    return x, np.asarray(right, dtype=np.float64)


def _share(block: tuple[float, float, float]) -> float:
    return block[1] / block[2]

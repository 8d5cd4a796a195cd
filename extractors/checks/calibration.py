"""Maps a model's raw score to a probability, and measures how good these probabilities are.

The raw score of a statement is the geometric mean of its tokens' probabilities; models are surer than they
are right. A monotone map, fitted on statements that people or gold data judged, is stored with the adapter
as a small JSON file. Isotonic regression (pool adjacent violators) follows the data and needs some hundreds
of them. A file may hold Platt's logistic curve (method "platt") as knots as well.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from extractors.errors import CalibrationError

__all__ = [
    "FILE_NAME",
    "Calibration",
    "Reliability",
    "ReliabilityBin",
    "fit_isotonic",
    "load_calibration",
    "read_calibration",
    "reliability",
]

FILE_NAME: Final = "calibration.json"
"""The name of the file in an adapter's folder."""

_VERSION: Final = 1
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """A monotone map from raw scores to probabilities, both 0 to 1.

    `knots` are (score, probability) pairs, rising in both; between them the map is linear, outside it is
    flat. `fitted_on` counts the judged statements it was fitted on, and `data` says which they were.
    """

    method: Literal["isotonic", "platt"]
    knots: tuple[tuple[float, float], ...]
    fitted_on: int
    data: str = ""

    def __post_init__(self) -> None:
        scores, probabilities = ([knot[place] for knot in self.knots] for place in (0, 1))
        values = [*scores, *probabilities]
        if not self.knots or not all(math.isfinite(v) and 0 <= v <= 1 for v in values):
            raise CalibrationError("A calibration needs knots of numbers between 0 and 1. Fit it again.")
        if any(b <= a for a, b in pairwise(scores)):
            raise CalibrationError("The scores of a calibration's knots must rise. Fit it again.")
        if any(b < a for a, b in pairwise(probabilities)):
            raise CalibrationError("The probabilities of a calibration must not fall. Fit it again.")

    def probability(self, score: float) -> float:
        """The probability that a statement of this raw score is right."""
        scores, probabilities = zip(*self.knots, strict=True)
        return float(np.interp(score, scores, probabilities))

    def as_json(self) -> str:
        """The file's content."""
        knots = [[round(score, 6), round(probability, 6)] for score, probability in self.knots]
        told = {"version": _VERSION, "method": self.method, "fitted_on": self.fitted_on, "data": self.data}
        return json.dumps({**told, "knots": knots}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Calibration:
        """Read a file's content. Raises `CalibrationError`."""
        try:
            found: Any = json.loads(text)
            if found["version"] != _VERSION or found["method"] not in ("isotonic", "platt"):
                raise CalibrationError(f"It is of version {found['version']!r}, method {found['method']!r}.")
            knots = tuple((float(score), float(probability)) for score, probability in found["knots"])
            return cls(found["method"], knots, int(found["fitted_on"]), str(found.get("data", "")))
        except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise CalibrationError(f"Not a calibration file ({error}). Fit it again.") from error


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


def load_calibration(folder: Path) -> Calibration | None:
    """Return the calibration of an adapter, if it has one. Raises `CalibrationError`."""
    path = folder / FILE_NAME
    return read_calibration(path) if path.is_file() else None


def read_calibration(path: Path) -> Calibration:
    """Read a calibration file. Raises `CalibrationError` with its name."""
    try:
        return Calibration.from_json(path.read_text(encoding="utf-8"))
    except (CalibrationError, OSError, UnicodeDecodeError) as error:
        raise CalibrationError(f"{path}: {error}") from error


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
        raise CalibrationError(f"There are {len(values)} scores and {len(right)} judgements: give one each.")
    if len(values) < least:
        raise CalibrationError(f"{len(values)} judged statements are too few: judge at least {least}.")
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all() or x.min() < 0 or x.max() > 1:
        raise CalibrationError("Scores and probabilities lie between 0 and 1.")
    return x, np.asarray(right, dtype=np.float64)


def _share(block: tuple[float, float, float]) -> float:
    return block[1] / block[2]

"""Maps a model's raw score to a probability.

The raw score of a statement is the geometric mean of its tokens' probabilities; models are surer than they
are right. A monotone map, fitted on statements that people or gold data judged, is stored with the adapter
as a small JSON file (see `research.training.evaluate`). Platt's logistic curve (method
"platt") is read as well, as knots.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from extractors.errors import CalibrationError

FILE_NAME: Final = "calibration.json"
"""The name of the file in an adapter's folder."""

_VERSION: Final = 1


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
        members = {"version": _VERSION, "method": self.method, "fitted_on": self.fitted_on, "data": self.data}
        return json.dumps({**members, "knots": knots}, indent=1) + "\n"

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


CONFIRMED: Final = Calibration(
    "isotonic",
    ((0.0, 0.0), (0.5, 0.5), (0.55, 0.8), (0.8, 0.84), (1.0, 0.88)),
    76,
    "practice sentences and texts, as they were read first",
)
"""From the probability of a relation by the model alone to that of one that the second look confirms."""


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

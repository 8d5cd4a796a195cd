"""Relates very many features in strips that are independent of each other.

Features are ranked by the western edge of their boxes. A strip owns a run of ranks; a pair belongs to the
strip that owns its later feature. So a strip needs the features it owns and, of earlier ones, those that
reach into it. Strips share nothing, so any `concurrent.futures` executor can run them, in processes or on
other machines, and the result of a strip can be kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy
import shapely
from numpy.typing import NDArray

from geo.relate.bulk import Codes, Pairs, Positions, relate_all
from geo.relate.tolerance import Tolerance, grown_bounds

Bounds = NDArray[numpy.float64]


@dataclass(frozen=True)
class Tile:
    """One portion of work: `rows` of the features it needs, by rank; it owns those from `first` on."""

    number: int
    rows: Positions
    first: int


@dataclass(frozen=True)
class TileTask:
    """A strip with its geometries as concatenated well-known binary, split at `offsets` (n + 1).

    The tolerance is one for all, or one for each geometry (n,).
    """

    number: int
    data: bytes
    offsets: NDArray[numpy.int64]
    first: int
    tolerance_m: Tolerance


@dataclass(frozen=True)
class TilePairs:
    """The related pairs of a strip, as positions among its rows, and how many pairs were examined."""

    number: int
    left: Positions
    right: Positions
    codes: Codes
    looked_at: int


def tiles_of(bounds: Bounds, tolerance_m: float, owned: int) -> Iterator[Tile]:
    """Cut n features into strips of `owned` each, given their boxes (n, 4: west, south, east, north).

    The tolerance is the largest one. Empty geometries (boxes of NaN) are in no strip.
    """
    rows = numpy.flatnonzero(~numpy.isnan(bounds[:, 0]))
    ranked = rows[numpy.argsort(bounds[rows, 0], kind="stable")]
    reach = grown_bounds(bounds[ranked], tolerance_m)
    for number, start in enumerate(range(0, len(ranked), owned)):
        west = reach[start : start + owned, 0].min()
        guests = ranked[:start][reach[:start, 2] >= west]
        yield Tile(number, numpy.concatenate([guests, ranked[start : start + owned]]), len(guests))


def relate_tile(task: TileTask) -> TilePairs:
    """Relate a strip. Prepares geometries: run one at a time per process."""
    pieces = [task.data[a:b] for a, b in zip(task.offsets[:-1], task.offsets[1:], strict=True)]
    shapes = numpy.asarray(shapely.from_wkb(pieces), dtype=object)
    looked_at = 0

    def count(pairs: int) -> None:
        nonlocal looked_at
        looked_at += pairs

    found: list[Pairs] = list(relate_all(shapes, task.tolerance_m, count, first=task.first))
    none: Positions = numpy.zeros(0, dtype=numpy.intp)
    return TilePairs(
        task.number,
        numpy.concatenate([none, *(pairs.left for pairs in found)]),
        numpy.concatenate([none, *(pairs.right for pairs in found)]),
        numpy.concatenate([numpy.zeros(0, dtype=numpy.int8), *(pairs.codes for pairs in found)]),
        looked_at,
    )

"""The relations of all pairs of many geometries at once.

A tree gives the pairs whose boxes meet. The geometry with more vertices is the left one, then GEOS computes
one DE-9IM matrix per pair; where the left has many vertices it is prepared, and cheaper predicates decide
most area pairs first. All methods give the same classes. GEOS holds the GIL: call this in a separate process
where others wait. Prepared geometries must not be shared between threads.

For very many features there are tiles, which are independent of each other. Features are ranked by the
western edge of their boxes. A tile owns a run of ranks; a pair belongs to the tile of its later feature. So a
tile needs the features it owns and, of earlier ones, those that reach into it. Any `concurrent.futures`
executor can run tiles, in processes or on other machines, and the result of each can be kept.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from shapely import STRtree

from geo.relate.rcc8 import INVERSE_CODES, RCC8, code_of, relate_pairs
from geo.relate.tolerance import Tolerance, grown_bounds, grown_boxes, recheck

Shapes = NDArray[numpy.object_]
Positions = NDArray[numpy.intp]
Codes = NDArray[numpy.int8]
Truths = NDArray[numpy.bool_]

_DC: Final = code_of(RCC8.DC)
_EC: Final = code_of(RCC8.EC)
_PO: Final = code_of(RCC8.PO)
_NTPPI: Final = code_of(RCC8.NTPPi)
# A pair that is not decided yet.
_OPEN: Final = -1
# From this many vertices on, a prepared predicate is cheaper than a matrix (measured: US counties
# of 21 vertices are faster by matrices, New York layers of 213 by predicates).
_MANY_VERTICES: Final = 64
# The pairs of one feature: for so few, computing all matrices costs less than finding out which are needed.
_FEW_PAIRS: Final = 16
_FEW_VERTICES: Final = 256
# Features whose pairs are found and related together, to bound memory.
_FEATURES_A_CHUNK: Final = 8192


@dataclass(frozen=True)
class Pairs:
    """Related pairs: shapes (n,), positions in the given array and codes as in `rcc8.CODES`; no DC."""

    left: Positions
    right: Positions
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)


def relate_all(
    shapes: Shapes,
    tolerance_m: Tolerance = 0.0,
    on_pairs: Callable[[int], None] | None = None,
    *,
    first: int = 0,
    classify: Callable[[Shapes, Shapes, Positions, Positions, Tolerance], Codes] | None = None,
) -> Iterator[Pairs]:
    """Every pair of geometries that are not disconnected, once, in chunks; left position < right position.

    `tolerance_m` is one for all, or one for each geometry (n,); a pair gets the larger of its two. Geometries
    are prepared and released with each chunk: no one else may use the shapes meanwhile. `on_pairs` is called
    with the number of pairs in each chunk. Pairs whose right position is before `first` are left out.
    `classify` is called instead of `classify_pairs`.
    """
    largest = float(numpy.max(tolerance_m, initial=0.0))
    tree = STRtree(shapes)
    for start in range(first, len(shapes), _FEATURES_A_CHUNK):
        right, left = box_pairs(tree, shapes[start : start + _FEATURES_A_CHUNK], largest)
        right = right + start
        once = left < right
        left, right = left[once], right[once]
        if on_pairs:
            on_pairs(len(left))
        codes = (classify or classify_pairs)(
            shapes, shapes, left, right, pair_tolerance(tolerance_m, left, tolerance_m, right)
        )
        used = numpy.zeros(len(shapes), dtype=numpy.bool_)
        used[left] = used[right] = True
        shapely.destroy_prepared(shapes[used])
        related = codes != _DC
        if related.any():
            yield Pairs(left[related], right[related], codes[related])


def box_pairs(tree: STRtree, shapes: Shapes, tolerance_m: float = 0.0) -> tuple[Positions, Positions]:
    """The pairs (position in `shapes`, position in the tree) whose boxes, grown by the tolerance, meet."""
    left, right = tree.query(grown_boxes(shapes, tolerance_m) if tolerance_m else shapes)
    return left, right


def pair_tolerance(left_m: Tolerance, left: Positions, right_m: Tolerance, right: Positions) -> Tolerance:
    """The tolerances of n pairs: the larger of those of their geometries, given as positions."""
    a = left_m[left] if isinstance(left_m, numpy.ndarray) else left_m
    b = right_m[right] if isinstance(right_m, numpy.ndarray) else right_m
    if isinstance(a, numpy.ndarray) or isinstance(b, numpy.ndarray):
        return numpy.asarray(numpy.maximum(a, b), dtype=numpy.float64)
    return max(a, b)


def classify_pairs(
    left_shapes: Shapes, right_shapes: Shapes, left: Positions, right: Positions, tolerance_m: Tolerance = 0.0
) -> Codes:
    """The relation codes of n pairs, given as positions in two arrays of geometries (or twice the same).

    `tolerance_m` is one for all or one per pair (n,).
    """
    if not len(left):
        return numpy.zeros(0, dtype=numpy.int8)
    codes = _exact_codes(left_shapes[left], right_shapes[right])
    if not isinstance(tolerance_m, numpy.ndarray):
        return recheck(left_shapes[left], right_shapes[right], codes, tolerance_m) if tolerance_m else codes
    for meters in filter(None, numpy.unique(tolerance_m).tolist()):
        chosen = numpy.flatnonzero(tolerance_m == meters)
        a, b = left_shapes[left[chosen]], right_shapes[right[chosen]]
        codes[chosen] = recheck(a, b, codes[chosen], meters)
    return codes


def _exact_codes(a: Shapes, b: Shapes) -> Codes:
    """The relation codes of n pairs of geometries, without a tolerance."""
    vertices_a, vertices_b = shapely.get_num_coordinates(a), shapely.get_num_coordinates(b)
    if len(a) <= _FEW_PAIRS and max(vertices_a.max(), vertices_b.max()) <= _FEW_VERTICES:
        return relate_pairs(a, b)
    turned = vertices_a < vertices_b
    big, small = numpy.where(turned, b, a), numpy.where(turned, a, b)
    by_predicates = numpy.maximum(vertices_a, vertices_b) >= _MANY_VERTICES
    shapely.prepare(big[by_predicates])
    codes = numpy.empty(len(a), dtype=numpy.int8)
    codes[~by_predicates] = relate_pairs(big[~by_predicates], small[~by_predicates])
    codes[by_predicates] = _by_predicates(big[by_predicates], small[by_predicates])
    return numpy.where(turned, INVERSE_CODES[codes], codes)


def _by_predicates(big: Shapes, small: Shapes) -> Codes:
    """Codes of pairs whose left is prepared, by predicates where these decide, else by the matrix."""
    codes = numpy.full(len(big), _OPEN, dtype=numpy.int8)
    inside, outside = _box_inside(small, big), _box_inside(big, small)
    # T**FF*FF* allows only NTPPi, whatever the dimensions.
    open_pairs = numpy.flatnonzero(inside)
    properly = shapely.contains_properly(big[open_pairs], small[open_pairs])
    codes[open_pairs[properly]] = _NTPPI
    open_pairs = numpy.flatnonzero(codes == _OPEN)
    meeting = shapely.intersects(big[open_pairs], small[open_pairs])
    codes[open_pairs[~meeting]] = _DC
    open_pairs = open_pairs[meeting]
    # Areas that meet and do not touch overlap, unless one covers the other.
    areas = open_pairs[_is_areal(big[open_pairs]) & _is_areal(small[open_pairs])]
    # A point in the interior of both rules out that they touch, in a fortieth of the time.
    middles = shapely.point_on_surface(small[areas])
    in_big = shapely.contains(big[areas], middles)
    in_small = shapely.contains(small[areas], middles)
    doubtful = areas[~(in_big & in_small)]
    codes[doubtful[shapely.touches(big[doubtful], small[doubtful])]] = _EC
    is_open = codes[areas] == _OPEN
    covered = areas[is_open & inside[areas]]
    covering = areas[is_open & outside[areas]]
    codes[areas[is_open]] = _PO
    codes[covered[shapely.covers(big[covered], small[covered])]] = _OPEN
    codes[covering[shapely.covers(small[covering], big[covering])]] = _OPEN
    rest = numpy.flatnonzero(codes == _OPEN)
    codes[rest] = relate_pairs(big[rest], small[rest])
    return codes


def _box_inside(content: Shapes, container: Shapes) -> Truths:
    inner, outer = shapely.bounds(content), shapely.bounds(container)
    low, high = inner[:, :2] >= outer[:, :2], inner[:, 2:] <= outer[:, 2:]
    return numpy.asarray(low[:, 0] & low[:, 1] & high[:, 0] & high[:, 1])


def _is_areal(shapes: Shapes) -> Truths:
    kinds = shapely.get_type_id(shapes)
    result: Truths = (kinds == 3) | (kinds == 6)
    return result


@dataclass(frozen=True)
class Tile:
    """One portion of work: `rows` of the features it needs, by rank; it owns those from `first` on."""

    number: int
    rows: Positions
    first: int


@dataclass(frozen=True)
class TileTask:
    """A tile with its geometries as concatenated well-known binary, split at `offsets` (n + 1).

    The tolerance is one for all, or one for each geometry (n,).
    """

    number: int
    data: bytes
    offsets: NDArray[numpy.int64]
    first: int
    tolerance_m: Tolerance


@dataclass(frozen=True)
class TilePairs:
    """The related pairs of a tile, as positions among its rows, and how many pairs were examined."""

    number: int
    left: Positions
    right: Positions
    codes: Codes
    looked_at: int


def tiles_of(bounds: NDArray[numpy.float64], tolerance_m: float, owned: int) -> Iterator[Tile]:
    """Cut n features into tiles of `owned` each, given their boxes (n, 4: west, south, east, north).

    The tolerance is the largest one. Empty geometries (boxes of NaN) are in no tile.
    """
    rows = numpy.flatnonzero(~numpy.isnan(bounds[:, 0]))
    ranked = rows[numpy.argsort(bounds[rows, 0], kind="stable")]
    reach = grown_bounds(bounds[ranked], tolerance_m)
    for number, start in enumerate(range(0, len(ranked), owned)):
        west = reach[start : start + owned, 0].min()
        guests = ranked[:start][reach[:start, 2] >= west]
        yield Tile(number, numpy.concatenate([guests, ranked[start : start + owned]]), len(guests))


def relate_tile(task: TileTask) -> TilePairs:
    """Relate a tile. Prepares geometries: run one at a time per process."""
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

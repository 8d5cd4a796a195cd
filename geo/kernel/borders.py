"""The relations of areas from their borders, for very many pairs at once, without a DE-9IM matrix.

In a coverage (counties, census tracts) neighbors share whole runs of vertices, and elsewhere the borders of
most areas do not meet at all or properly cross. A matrix recomputes for each pair what the common vertices
already show. If the borders of two valid areas meet only at common vertices, each run of one border between
them lies entirely inside or entirely outside the other area, which the corner at its start decides, or
entirely along its border, in the same or the opposite direction. Then

- the interiors meet if a run of one is inside the other, or both run along in the same direction;
- part of the left is outside the right if a run of it is outside the right, or one of the right is inside it,
  or both run along in opposite directions; and likewise with left and right exchanged;
- the areas touch if they have a vertex in common.

This holds because the intersection and the difference of two areas are bounded by such runs. A ring without a
common vertex is one run, inside or outside like any of its points. Segments that properly cross imply an
overlap. All of it is exact, so the result equals that of the matrix. GEOS decides the rest: borders that
touch in the middle of a segment, or cross so near an end that a rounded point may fall there; areas that are
not valid, or have a repeated vertex or a corner without an angle; and geometries other than areas.
"""

import logging
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray

Shapes = NDArray[numpy.object_]
Positions = NDArray[numpy.intp]
Codes = NDArray[numpy.int8]
Truths = NDArray[numpy.bool_]
Floats = NDArray[numpy.float64]

#: The code of an undecided pair.
OPEN: Final = -1
# Below this many pairs GEOS finishes before the kernel is loaded.
_WORTH_LOADING: Final = 10_000
# For areas with more rings than this, GEOS checks faster whether they are nested.
_MOST_RINGS: Final = 1000

_log = logging.getLogger(__name__)


def settle(left_shapes: Shapes, right_shapes: Shapes, left: Positions, right: Positions) -> Codes:
    """The relation code of each of n pairs, as in `geo.relate.rcc8.CODES`, or OPEN: shape (n,).

    Pairs are positions in two arrays of geometries, which may be the same. All are OPEN where there are few,
    or where this machine has no compiled kernel.
    """
    codes: Codes = numpy.full(len(left), OPEN, dtype=numpy.int8)
    if len(left) < _WORTH_LOADING:
        return codes
    left_areas = _is_area(left_shapes)
    right_areas = left_areas if right_shapes is left_shapes else _is_area(right_shapes)
    both = numpy.flatnonzero(left_areas[left] & right_areas[right])
    if len(both) < _WORTH_LOADING or (kernel := compiled_kernel()) is None:
        return codes
    shapes, others = left_shapes, right[both]
    if right_shapes is not left_shapes:
        shapes, others = numpy.concatenate([left_shapes, right_shapes]), others + len(left_shapes)
    is_involved = numpy.zeros(len(shapes), dtype=numpy.bool_)
    is_involved[left[both]] = is_involved[others] = True
    involved, place = numpy.flatnonzero(is_involved), numpy.cumsum(is_involved) - 1
    codes[both] = settle_areas(kernel, shapes[involved], place[left[both]], place[others])
    return codes


def box_pairs(shapes: Shapes) -> tuple[Positions, Positions] | None:
    """The pairs of n geometries whose boxes meet, left before right; None where the kernel is not loaded."""
    kernel = sys.modules.get("geo.kernel.border_kernel")
    if kernel is None:
        return None
    boxes = shapely.bounds(shapes)
    there = numpy.flatnonzero(~numpy.isnan(boxes[:, 0]))
    found = there[meeting_boxes(kernel, boxes[there])]
    return found.min(axis=1), found.max(axis=1)


def settle_areas(kernel: ModuleType, areas: Shapes, left: Positions, right: Positions) -> Codes:
    """As `settle`, for positions in one array of areas that are not empty."""
    x, y, rings = _read(kernel, areas)
    number, following, preceding = (numpy.zeros(len(x), dtype=numpy.int64) for _ in range(3))
    kernel.number_vertices(x, y, x.view(numpy.uint64), y.view(numpy.uint64), number)
    has_direction = numpy.ones(len(rings.start) - 1, dtype=numpy.bool_)
    kernel.link(x, y, rings.start, rings.is_shell, following, preceding, has_direction)
    counts, start = numpy.diff(rings.first), rings.start[rings.first]
    usable = numpy.ones(len(areas), dtype=numpy.bool_)
    usable[numpy.repeat(numpy.arange(len(areas)), counts)[~has_direction]] = False
    area = numpy.repeat(numpy.arange(len(areas)), numpy.diff(start))
    bearers, bearer_start = numpy.empty(len(x), dtype=numpy.int64), numpy.empty(len(x) + 2, dtype=numpy.int64)
    kernel.list_bearers(number, area, usable, bearer_start, bearers)
    borders = x, y, following, preceding, number, area, bearer_start, bearers
    kernel.judge_corners(*borders, usable)

    order, pair_start = numpy.empty_like(left), numpy.zeros(len(areas) + 1, dtype=numpy.int64)
    second = numpy.maximum(left, right)
    kernel.order_pairs(numpy.minimum(left, right), second, order, pair_start)
    pairs, seen = (pair_start, second[order]), numpy.zeros(len(left), dtype=numpy.int64)
    segments = numpy.empty(len(x), dtype=numpy.int64)
    leaf_start = numpy.empty(len(x) + 1, dtype=numpy.int64)
    leaves = numpy.empty((kernel.list_segments(*borders[2:], usable, segments, leaf_start), 4))
    lines = numpy.empty((leaf_start[len(leaves)], 4))
    kernel.box_leaves(x, y, following, segments, leaf_start, lines, leaves)
    meeting = meeting_boxes(kernel, leaves)
    kernel.meet_segments(*borders, segments, leaf_start, lines, leaves, meeting, *pairs, usable, seen)
    kernel.meet_vertices(*borders, start, *pairs, usable, seen)

    block_start = numpy.concatenate([[0], numpy.cumsum(-(-numpy.diff(start) // kernel.BLOCK))])
    boxes = tuple(numpy.empty((count, 4)) for count in (block_start[-1], len(rings.start) - 1, len(areas)))
    kernel.box_areas(x, y, following, rings.start, rings.first, start, block_start, *boxes)
    kernel.judge_nesting(
        x, y, following, rings.start, rings.first, boxes[1], rings.is_shell, _MOST_RINGS, usable
    )
    many = counts > _MOST_RINGS
    usable[many] &= shapely.is_valid(areas[many])
    ring = numpy.repeat(numpy.arange(len(rings.start) - 1), numpy.diff(rings.start))
    codes = numpy.empty(len(left), dtype=numpy.int8)
    kernel.conclude(
        left, right, order, pairs[1], seen, x, y, following, *borders[4:], start, ring, rings.start,
        rings.first, block_start, *boxes, usable, codes,
    )  # fmt: skip
    return codes


def meeting_boxes(kernel: ModuleType, boxes: Floats) -> Positions:
    """The pairs of n boxes (n, 4: west, south, east, north) that meet, each once: shape (k, 2)."""
    if len(boxes) < 2:
        return numpy.empty((0, 2), dtype=numpy.int64)
    places = numpy.empty(len(boxes), dtype=numpy.uint64)
    kernel.place_boxes(boxes, places)
    found: Positions = kernel.meeting_boxes(boxes, numpy.argsort(places))
    return found


@dataclass(frozen=True)
class _Rings:
    """The start of each ring's vertices and of each area's rings, with the end; which rings are shells."""

    start: Positions
    first: Positions
    is_shell: Truths


def _read(kernel: ModuleType, areas: Shapes) -> tuple[Floats, Floats, _Rings]:
    """The vertices of areas, without the repeated last one of each ring and other repetitions."""
    is_plain = (shapely.get_type_id(areas) == 3) & (shapely.get_num_interior_rings(areas) == 0)
    plain = areas[is_plain]
    sizes = numpy.zeros(len(areas), dtype=numpy.int64)
    sizes[is_plain] = shapely.get_num_coordinates(plain)
    coordinates = shapely.get_coordinates(plain)
    # As one collection: thousands of separate binaries would take longer than reading all of them.
    others = shapely.geometrycollections(areas[~is_plain])
    binary = shapely.to_wkb(others, output_dimension=2, byte_order=1)
    data = numpy.frombuffer(bytearray(binary), dtype=numpy.uint8)
    count, vertices = kernel.count_rings(data)
    count, vertices = count + len(plain), vertices + len(coordinates)
    x, y, start = numpy.empty(vertices), numpy.empty(vertices), numpy.empty(count + 1, dtype=numpy.int64)
    first, is_shell = numpy.empty(len(areas) + 1, dtype=numpy.int64), numpy.empty(count, dtype=numpy.bool_)
    point = numpy.empty(2)
    kept = kernel.read_rings(
        data, point.view(numpy.uint8), point, coordinates, sizes, x, y, start, first, is_shell
    )
    return x[:kept], y[:kept], _Rings(start, first, is_shell)


@cache
def compiled_kernel() -> ModuleType | None:
    """The compiled kernel; None, logged once, where numba is missing or has no place for its cache.

    The compiled code is cached beside the source, or else in the account's cache folder, for later processes.
    """
    try:
        return import_module("geo.kernel.border_kernel")
    except (ImportError, RuntimeError, OSError) as error:
        _log.info("areas are related by GEOS alone, without the compiled kernel: %s", error)
        return None


def _is_area(shapes: Shapes) -> Truths:
    kinds = shapely.get_type_id(shapes)
    return numpy.asarray(((kinds == 3) | (kinds == 6)) & ~shapely.is_empty(shapes))


if __name__ == "__main__":
    # Compiling takes some twenty seconds: better at installation than at first use.
    compiled_kernel()

"""Compiled code for `geo.kernel.borders`: areas as numbered vertices, and what happens where two meet.

All results are exact. The sign of a turn is computed in doubles where rounding cannot change it, and as an
expansion otherwise (Shewchuk 1997, Adaptive Precision Floating-Point Arithmetic, sections 2 and 4). Importing
this module compiles it, or loads what an earlier process compiled: import it only through
`geo.kernel.borders`, which handles machines where that is not possible. Functions that call each other must
be in one file (see `geo.kernel.numba_options`); reading areas and finding boxes are in files of their own.

Vertices are in the order of the rings, each ring with the interior on the left, and a vertex also represents
the segment that starts there: `x`, `y`, `following` and `preceding` (positions), `number` (equal for equal
vertices), `area`. Areas and rings are given by their start positions, with one more entry for the end.
`bearers` are the positions of the vertices with each number, in order, starting at `bearer_start`; unusable
areas have none there.

Work is done for all pairs at once where possible: each vertex is examined once with all areas that have it,
and each segment once with those it meets. The observations are added to the pair's `seen`, as bits, from the
point of view of the first area.
"""

from typing import Final

import numpy

from geo.kernel.border_boxes import box_leaves, list_segments, meeting_boxes, place_boxes
from geo.kernel.border_reading import count_rings, list_bearers, number_vertices, read_rings
from geo.kernel.numba_options import Codes, Floats, Positions, Truths, compiled

__all__ = [
    "BLOCK",
    "OPEN",
    "box_areas",
    "box_leaves",
    "conclude",
    "count_rings",
    "judge_corners",
    "judge_nesting",
    "link",
    "list_bearers",
    "list_segments",
    "meet_segments",
    "meet_vertices",
    "meeting_boxes",
    "number_vertices",
    "order_pairs",
    "place_boxes",
    "read_rings",
    "turn",
]

#: The number of consecutive segments with a common box.
BLOCK: Final = 16
#: The code of an undecided pair, which is left to GEOS.
OPEN: Final = -1
# Positions in geo.relate.rcc8.CODES; numba takes plain numbers for constants.
_DC, _EC, _PO, _EQ, _TPP, _NTPP, _TPPI, _NTPPI = range(8)
# Observations of a pair: a common vertex; runs of the first inside and outside of the second, and vice versa;
# runs along each other in the same and in opposite directions; anything uncertain; segments that properly
# cross, and segments that meet otherwise.
_TOUCH, _FIRST_IN, _FIRST_OUT, _SECOND_IN, _SECOND_OUT = 1, 2, 4, 8, 16
_ALONG, _AGAINST, _UNSURE, _CROSS, _MEET = 32, 64, 128, 256, 512
_SPLITTER: Final = 134217729.0
_LEAST, _MOST = 1e-120, 1e120
# How far from parallel, and relative to coordinates how far from an end, a crossing counts as proper.
_SLANT, _NEAR = 1e-8, 2.0**-44
_TURN_ERROR: Final = 3.3306690738754716e-16


@compiled()
def _grown(expansion: Floats, size: int, term: float) -> int:
    """Add a term to an expansion in place; its new number of components, the largest last."""
    kept = 0
    for i in range(size):
        one = expansion[i]
        both = term + one
        virtual = both - term
        rest = (term - (both - virtual)) + (one - virtual)
        if rest != 0.0:
            expansion[kept] = rest
            kept += 1
        term = both
    if term != 0.0:
        expansion[kept] = term
        kept += 1
    return kept


@compiled()
def _rest_of_product(one: float, other: float) -> float:
    """The rounding error of the product of two numbers."""
    product = one * other
    big = _SPLITTER * one
    one_high = big - (big - one)
    one_low = one - one_high
    big = _SPLITTER * other
    other_high = big - (big - other)
    other_low = other - other_high
    rest = product - one_high * other_high
    return one_low * other_low - ((rest - one_low * other_high) - one_high * other_low)


@compiled()
def _with_product(expansion: Floats, size: int, one: float, other: float) -> int:
    """Add the product of two numbers to an expansion."""
    return _grown(expansion, _grown(expansion, size, _rest_of_product(one, other)), one * other)


@compiled()
def _exact_turn(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> int:
    expansion = numpy.empty(12, dtype=numpy.float64)
    size = _with_product(expansion, 0, ax, by)
    size = _with_product(expansion, size, -ay, bx)
    size = _with_product(expansion, size, bx, cy)
    size = _with_product(expansion, size, -by, cx)
    size = _with_product(expansion, size, cx, ay)
    size = _with_product(expansion, size, -cy, ax)
    if size == 0:
        return 0
    return 1 if expansion[size - 1] > 0.0 else -1


@compiled()
def _is_exact(one: float, other: float) -> bool:
    """Whether the difference of two numbers is exact."""
    rest = one - other
    virtual = one - rest
    return (one - (rest + virtual)) + (virtual - other) == 0.0


@compiled("int64(float64, float64, float64, float64, float64, float64)")
def turn(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> int:
    """1 where c is left of the line from a to b, -1 where right of it, 0 where on it."""
    one, two = (ax - cx) * (by - cy), (ay - cy) * (bx - cx)
    area = one - two
    error = _TURN_ERROR * (abs(one) + abs(two))
    if area > error:
        return 1
    if -area > error:
        return -1
    if (ax == bx and ay == by) or (one == 0.0 and two == 0.0):
        return 0
    # Collinear points are common, and differences of near numbers are exact.
    if one == two and _is_exact(ax, cx) and _is_exact(ay, cy) and _is_exact(bx, cx) and _is_exact(by, cy):
        more, less = _rest_of_product(ax - cx, by - cy), _rest_of_product(ay - cy, bx - cx)
        return int(more > less) - int(more < less)
    return _exact_turn(ax, ay, bx, by, cx, cy)


@compiled()
def _cross_far_from_ends(
    px: float, py: float, qx: float, qy: float, rx: float, ry: float, sx: float, sy: float
) -> bool:
    """Whether two segments cross where rounding cannot move the crossing point to an end of one.

    GEOS computes the point, and if it falls on an end, the segments touch there. So this is about agreement
    with GEOS, not about exactness.
    """
    across_x, across_y, along_x, along_y = qx - px, qy - py, sx - rx, sy - ry
    across, along = max(abs(across_x), abs(across_y)), max(abs(along_x), abs(along_y))
    far = max(max(abs(px), abs(py)), max(abs(rx), abs(ry))) + across + along
    of_r = abs(across_x * (ry - py) - across_y * (rx - px))
    of_s = abs(across_x * (sy - py) - across_y * (sx - px))
    of_p = abs(along_x * (py - ry) - along_y * (px - rx))
    of_q = abs(along_x * (qy - ry) - along_y * (qx - rx))
    least = min(of_r, of_s) / (of_r + of_s) * along, min(of_p, of_q) / (of_p + of_q) * across
    return bool(min(of_r + of_s, of_p + of_q) > _SLANT * across * along and min(least) > _NEAR * far)


@compiled()
def _meeting(px: float, py: float, qx: float, qy: float, rx: float, ry: float, sx: float, sy: float) -> int:
    """How the segments p-q and r-s, whose boxes meet, relate: 0 disjoint, 1 properly crossing, 2 else."""
    to_r = turn(px, py, qx, qy, rx, ry)
    to_s = turn(px, py, qx, qy, sx, sy)
    if to_r * to_s > 0:
        return 0
    to_p = turn(rx, ry, sx, sy, px, py)
    to_q = turn(rx, ry, sx, sy, qx, qy)
    if to_p * to_q > 0:
        return 0
    if to_r * to_s < 0 and to_p * to_q < 0 and _cross_far_from_ends(px, py, qx, qy, rx, ry, sx, sy):
        return 1
    return 2


@compiled()
def _along(px: float, py: float, one_x: float, one_y: float, other_x: float, other_y: float) -> bool:
    """Whether the rays from a corner to two points coincide, or nearly, so that GEOS may round them to it."""
    one_x, one_y, other_x, other_y = one_x - px, one_y - py, other_x - px, other_y - py
    ahead = one_x * other_x + one_y * other_y
    return bool(ahead > 0.0 and abs(one_x * other_y - one_y * other_x) <= _SLANT * ahead)


@compiled()
def _side(
    on_x: float, on_y: float, px: float, py: float, back_x: float, back_y: float, x: float, y: float
) -> int:
    """Where the ray from a corner of an area to a point leads: 1 inside, -1 outside, 0 along its border."""
    if _along(px, py, on_x, on_y, x, y) or _along(px, py, back_x, back_y, x, y):
        return 0
    opening = turn(px, py, on_x, on_y, back_x, back_y)
    from_on = turn(px, py, on_x, on_y, x, y)
    from_back = turn(px, py, back_x, back_y, x, y)
    if opening > 0:
        return 1 if from_on > 0 and from_back < 0 else -1
    if opening < 0:
        return -1 if from_on < 0 and from_back > 0 else 1
    return 1 if from_on > 0 else -1


@compiled("void(float64[::1], float64[::1], int64[::1], boolean[::1], int64[::1], int64[::1], boolean[::1])")
def link(
    x: Floats,
    y: Floats,
    ring_start: Positions,
    is_shell: Truths,
    following: Positions,
    preceding: Positions,
    usable: Truths,
) -> None:
    """Link the vertices of each ring so that the interior is on the left; `usable` by ring.

    Rings without a direction are unusable, and those where products of coordinates overflow or lose digits.
    """
    for ring in range(len(ring_start) - 1):
        first, last = ring_start[ring], ring_start[ring + 1]
        if last - first < 3:
            usable[ring] = False
            continue
        least = first
        for i in range(first, last):
            if x[i] < x[least] or (x[i] == x[least] and y[i] < y[least]):
                least = i
        one = least - 1 if least > first else last - 1
        other = least + 1 if least + 1 < last else first
        way = turn(x[one], y[one], x[least], y[least], x[other], y[other])
        usable[ring] = way != 0
        onward = (way > 0) == is_shell[ring]
        for i in range(first, last):
            for size in (abs(x[i]), abs(y[i])):
                usable[ring] &= size == 0.0 or _LEAST <= size <= _MOST
            after = i + 1 if i + 1 < last else first
            if onward:
                following[i], preceding[after] = after, i
            else:
                following[after], preceding[i] = i, after


@compiled(
    "void(float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " boolean[::1])"
)
def judge_corners(
    x: Floats,
    y: Floats,
    following: Positions,
    preceding: Positions,
    number: Positions,
    area: Positions,
    bearer_start: Positions,
    bearers: Positions,
    usable: Truths,
) -> None:
    """Mark areas with a repeated vertex or a corner without an angle as unusable."""
    for i in range(len(x)):
        one = area[i]
        if not usable[one]:
            continue
        on, back = following[i], preceding[i]
        if _along(x[i], y[i], x[on], y[on], x[back], y[back]):
            usable[one] = False
        for k in range(bearer_start[number[i]], bearer_start[number[i] + 1]):
            if bearers[k] != i and area[bearers[k]] == one:
                usable[one] = False


@compiled("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def order_pairs(first: Positions, second: Positions, order: Positions, pair_start: Positions) -> None:
    """Order pairs by their first area, then by the second; where the pairs of each area start."""
    areas = len(pair_start) - 1
    by_second, place = numpy.empty(len(first), dtype=numpy.int64), numpy.zeros(areas + 1, dtype=numpy.int64)
    for pair in range(len(first)):
        place[second[pair] + 1] += 1
        pair_start[first[pair] + 1] += 1
    for area in range(areas):
        place[area + 1] += place[area]
        pair_start[area + 1] += pair_start[area]
    for pair in range(len(first)):
        by_second[place[second[pair]]] = pair
        place[second[pair]] += 1
    for area in range(areas):
        place[area] = pair_start[area]
    for k in range(len(first)):
        pair = by_second[k]
        order[place[first[pair]]] = pair
        place[first[pair]] += 1


@compiled()
def _pair_of(pair_start: Positions, ordered: Positions, one: int, other: int) -> int:
    """The index of a pair of areas among the ordered pairs, the first of equal ones; -1 where there is none.

    `ordered` is the second area of each.
    """
    least, most = min(one, other), max(one, other)
    low, high = pair_start[least], pair_start[least + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < most:
            low = middle + 1
        else:
            high = middle
    return low if low < end and ordered[low] == most else -1


@compiled(
    "void(float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], float64[:, ::1], float64[:, ::1], int64[:, ::1], int64[::1], int64[::1],"
    " boolean[::1], int64[::1])"
)
def meet_segments(
    x: Floats,
    y: Floats,
    following: Positions,
    preceding: Positions,
    number: Positions,
    area: Positions,
    bearer_start: Positions,
    bearers: Positions,
    segments: Positions,
    leaf_start: Positions,
    lines: Floats,
    leaves: Floats,
    meeting: Positions,
    pair_start: Positions,
    ordered: Positions,
    usable: Truths,
    seen: Positions,
) -> None:
    """Record segments that meet other than at common vertices; an area whose own segments do is unusable.

    `meeting` are the pairs of leaves whose boxes meet.
    """
    for k in range(len(leaves) + len(meeting)):
        is_one = k < len(leaves)
        one, other = (k, k) if is_one else (meeting[k - len(leaves), 0], meeting[k - len(leaves), 1])
        for e in range(leaf_start[one], leaf_start[one + 1]):
            west, south, east, north = lines[e, 0], lines[e, 1], lines[e, 2], lines[e, 3]
            beside = (leaves[other, 0] > east) | (west > leaves[other, 2])
            if beside | (leaves[other, 1] > north) | (south > leaves[other, 3]):
                continue
            i, end = segments[e], following[segments[e]]
            a, b = number[i], number[end]
            for f in range(e + 1 if is_one else leaf_start[other], leaf_start[other + 1]):
                beside = (lines[f, 0] > east) | (west > lines[f, 2])
                if beside | (lines[f, 1] > north) | (south > lines[f, 3]):
                    continue
                j, far = segments[f], following[segments[f]]
                c, d = number[j], number[far]
                if (a == c) | (a == d) | (b == c) | (b == d):
                    continue
                how = _meeting(x[i], y[i], x[end], y[end], x[j], y[j], x[far], y[far])
                if how == 0:
                    continue
                bit = _CROSS if how == 1 else _MEET
                for m in range(bearer_start[a], bearer_start[a + 1]):
                    owner = bearers[m]
                    if number[following[owner]] != b and number[preceding[owner]] != b:
                        continue
                    for n in range(bearer_start[c], bearer_start[c + 1]):
                        neighbor = bearers[n]
                        if number[following[neighbor]] != d and number[preceding[neighbor]] != d:
                            continue
                        if area[owner] == area[neighbor]:
                            usable[area[owner]] = False
                            continue
                        place = _pair_of(pair_start, ordered, area[owner], area[neighbor])
                        if place >= 0:
                            seen[place] |= bit


@compiled()
def _way(side: int, inside: int, outside: int) -> int:
    """The observation for a run that leads to a side, as of `_side`: one of two bits, or uncertain."""
    if side == 0:
        return _UNSURE
    return inside if side > 0 else outside


@compiled(
    "void(float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], boolean[::1], int64[::1])"
)
def meet_vertices(
    x: Floats,
    y: Floats,
    following: Positions,
    preceding: Positions,
    number: Positions,
    area: Positions,
    bearer_start: Positions,
    bearers: Positions,
    start: Positions,
    pair_start: Positions,
    ordered: Positions,
    usable: Truths,
    seen: Positions,
) -> None:
    """Record how pairs of areas relate at their common vertices."""
    # The index of the current area's pair with each other, and for which area it is valid: never cleared.
    place, of = numpy.empty(len(usable), dtype=numpy.int64), numpy.full(len(usable), -1, dtype=numpy.int64)
    for one in range(len(usable)):
        if not usable[one]:
            continue
        for k in range(pair_start[one + 1] - 1, pair_start[one] - 1, -1):
            place[ordered[k]], of[ordered[k]] = k, one
        for i in range(start[one], start[one + 1]):
            on, back = following[i], preceding[i]
            for k in range(bearer_start[number[i]], bearer_start[number[i] + 1]):
                j = bearers[k]
                other = area[j]
                if other <= one or of[other] != one:
                    continue
                j_on, j_back = following[j], preceding[j]
                to, fro, other_to, other_fro = number[on], number[back], number[j_on], number[j_back]
                found = _TOUCH
                if to == other_to or fro == other_fro:
                    found |= _ALONG
                if to == other_fro or fro == other_to:
                    found |= _AGAINST
                px, py, on_x, on_y, back_x, back_y = x[i], y[i], x[on], y[on], x[back], y[back]
                to_x, to_y, fro_x, fro_y = x[j_on], y[j_on], x[j_back], y[j_back]
                if to != other_to and to != other_fro:
                    side = _side(to_x, to_y, px, py, fro_x, fro_y, on_x, on_y)
                    found |= _way(side, _FIRST_IN, _FIRST_OUT)
                if fro != other_to and fro != other_fro:
                    side = _side(to_x, to_y, px, py, fro_x, fro_y, back_x, back_y)
                    found |= _way(side, _FIRST_IN, _FIRST_OUT)
                if other_to != to and other_to != fro:
                    side = _side(on_x, on_y, px, py, back_x, back_y, to_x, to_y)
                    found |= _way(side, _SECOND_IN, _SECOND_OUT)
                if other_fro != to and other_fro != fro:
                    side = _side(on_x, on_y, px, py, back_x, back_y, fro_x, fro_y)
                    found |= _way(side, _SECOND_IN, _SECOND_OUT)
                seen[place[other]] |= found


@compiled(
    "void(float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " float64[:, ::1], float64[:, ::1], float64[:, ::1])"
)
def box_areas(
    x: Floats,
    y: Floats,
    following: Positions,
    ring_start: Positions,
    first_ring: Positions,
    start: Positions,
    block_start: Positions,
    blocks: Floats,
    rings: Floats,
    boxes: Floats,
) -> None:
    """Put a box around each BLOCK segments of each area, and around each ring and each area."""
    for area in range(len(start) - 1):
        for row in range(block_start[area], block_start[area + 1]):
            begin = start[area] + (row - block_start[area]) * BLOCK
            west = south = numpy.inf
            east = north = -numpy.inf
            for i in range(begin, min(begin + BLOCK, start[area + 1])):
                end = following[i]
                west, south = min(west, x[i], x[end]), min(south, y[i], y[end])
                east, north = max(east, x[i], x[end]), max(north, y[i], y[end])
            blocks[row, 0], blocks[row, 1], blocks[row, 2], blocks[row, 3] = west, south, east, north
        boxes[area, 0] = boxes[area, 1] = numpy.inf
        boxes[area, 2] = boxes[area, 3] = -numpy.inf
        for ring in range(first_ring[area], first_ring[area + 1]):
            west = south = numpy.inf
            east = north = -numpy.inf
            for i in range(ring_start[ring], ring_start[ring + 1]):
                west, south, east, north = (
                    min(west, x[i]),
                    min(south, y[i]),
                    max(east, x[i]),
                    max(north, y[i]),
                )
            rings[ring, 0], rings[ring, 1], rings[ring, 2], rings[ring, 3] = west, south, east, north
            boxes[area, 0], boxes[area, 1] = min(boxes[area, 0], west), min(boxes[area, 1], south)
            boxes[area, 2], boxes[area, 3] = max(boxes[area, 2], east), max(boxes[area, 3], north)


@compiled()
def _crossings(
    x: Floats, y: Floats, following: Positions, first: int, last: int, px: float, py: float
) -> int:
    """The parity of crossings of a ray to the east: 1 odd, -1 even, 0 for a point on a segment."""
    side = -1
    for i in range(first, last):
        on = following[i]
        if (y[i] > py) == (y[on] > py):
            continue
        way = turn(x[i], y[i], x[on], y[on], px, py)
        if way == 0:
            return 0
        if (way > 0) == (y[on] > y[i]):
            side = -side
    return side


@compiled()
def _holds(
    x: Floats,
    y: Floats,
    following: Positions,
    start: Positions,
    block_start: Positions,
    blocks: Floats,
    area: int,
    corner: int,
) -> int:
    """Where a vertex of another area is: 1 in the area, -1 outside, 0 on its border."""
    side = -1
    px, py = x[corner], y[corner]
    for row in range(block_start[area], block_start[area + 1]):
        if blocks[row, 1] > py or blocks[row, 3] < py or blocks[row, 2] < px:
            continue
        begin = start[area] + (row - block_start[area]) * BLOCK
        side *= -_crossings(x, y, following, begin, min(begin + BLOCK, start[area + 1]), px, py)
    return side


@compiled()
def _box_inside(boxes: Floats, one: int, others: Floats, other: int) -> bool:
    """Whether a box, given by its row, lies within another one."""
    return bool(
        boxes[one, 0] >= others[other, 0]
        and boxes[one, 1] >= others[other, 1]
        and boxes[one, 2] <= others[other, 2]
        and boxes[one, 3] <= others[other, 3]
    )


@compiled(
    "void(float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], float64[:, ::1], boolean[::1],"
    " int64, boolean[::1])"
)
def judge_nesting(
    x: Floats,
    y: Floats,
    following: Positions,
    ring_start: Positions,
    first_ring: Positions,
    rings: Floats,
    is_shell: Truths,
    most: int,
    usable: Truths,
) -> None:
    """Mark areas whose rings do not meet but are not properly nested as unusable.

    An even number of rings lies around a shell, and one more around a hole than around its shell, which is
    one of them. Areas with more than `most` rings are left out.
    """
    depth = numpy.zeros(most, dtype=numpy.int64)
    for area in range(len(first_ring) - 1):
        first, last = first_ring[area], first_ring[area + 1]
        if not usable[area] or last - first == 1 or last - first > most:
            continue
        shell, in_shell = first, True
        for ring in range(first, last):
            if is_shell[ring]:
                shell, in_shell = ring, True
            else:
                in_shell = False
            px, py = x[ring_start[ring]], y[ring_start[ring]]
            around = 0
            for other in range(first, last):
                if other == ring or not _box_inside(rings, ring, rings, other):
                    continue
                if _crossings(x, y, following, ring_start[other], ring_start[other + 1], px, py) > 0:
                    around += 1
                    in_shell |= other == shell
            depth[ring - first] = around
            fits = around % 2 == 0 if is_shell[ring] else around == depth[shell - first] + 1
            usable[area] &= fits and in_shell


@compiled()
def _sides(
    x: Floats,
    y: Floats,
    following: Positions,
    ring_start: Positions,
    first_ring: Positions,
    start: Positions,
    block_start: Positions,
    blocks: Floats,
    rings: Floats,
    boxes: Floats,
    met: Positions,
    pair: int,
    one: int,
    other: int,
    inside: int,
    outside: int,
) -> int:
    """The observations for the rings without a common vertex with the other area: where each lies."""
    seen = 0
    for ring in range(first_ring[one], first_ring[one + 1]):
        if met[ring] == pair:
            continue
        side = -1
        if _box_inside(rings, ring, boxes, other):
            side = _holds(x, y, following, start, block_start, blocks, other, ring_start[ring])
        if side == 0:
            seen |= _UNSURE
        else:
            seen |= inside if side > 0 else outside
    return seen


@compiled(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], int64[::1],"
    " int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1],"
    " int64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], boolean[::1], int8[::1])"
)
def conclude(
    left: Positions,
    right: Positions,
    order: Positions,
    ordered: Positions,
    seen: Positions,
    x: Floats,
    y: Floats,
    following: Positions,
    number: Positions,
    area: Positions,
    bearer_start: Positions,
    bearers: Positions,
    start: Positions,
    ring: Positions,
    ring_start: Positions,
    first_ring: Positions,
    block_start: Positions,
    blocks: Floats,
    rings: Floats,
    boxes: Floats,
    usable: Truths,
    codes: Codes,
) -> None:
    """The relation of each pair of areas from its observations; OPEN where these do not decide."""
    met = numpy.full(len(rings) + 1, -1, dtype=numpy.int64)
    for k in range(len(order)):
        pair = order[k]
        codes[pair] = OPEN
        one, other = min(left[pair], right[pair]), max(left[pair], right[pair])
        if one == other or not (usable[one] and usable[other]):
            continue
        if k > 0 and ordered[k - 1] == other and min(left[order[k - 1]], right[order[k - 1]]) == one:
            seen[k] = seen[k - 1]
        found = seen[k]
        if found & _UNSURE:
            continue
        if found & (_CROSS | _MEET):
            if found & _CROSS:
                codes[pair] = _PO
            continue
        single = first_ring[one + 1] - first_ring[one] == 1 and first_ring[other + 1] - first_ring[other] == 1
        if not (single and found & _TOUCH):
            if found & _TOUCH:
                fewer = start[one + 1] - start[one] < start[other + 1] - start[other]
                small, big = (one, other) if fewer else (other, one)
                for i in range(start[small], start[small + 1]):
                    for m in range(bearer_start[number[i]], bearer_start[number[i] + 1]):
                        if area[bearers[m]] == big:
                            met[ring[i]] = met[ring[bearers[m]]] = k
            found |= _sides(
                x, y, following, ring_start, first_ring, start, block_start, blocks, rings, boxes,
                met, k, one, other, _FIRST_IN, _FIRST_OUT,
            ) | _sides(
                x, y, following, ring_start, first_ring, start, block_start, blocks, rings, boxes,
                met, k, other, one, _SECOND_IN, _SECOND_OUT,
            )  # fmt: skip
            if found & _UNSURE:
                continue
        if not found & (_FIRST_IN | _SECOND_IN | _ALONG):
            codes[pair] = _EC if found & _TOUCH else _DC
            continue
        first_out = bool(found & (_FIRST_OUT | _SECOND_IN | _AGAINST))
        second_out = bool(found & (_SECOND_OUT | _FIRST_IN | _AGAINST))
        if left[pair] != one:
            first_out, second_out = second_out, first_out
        if first_out and second_out:
            codes[pair] = _PO
        elif first_out:
            codes[pair] = _TPPI if found & _TOUCH else _NTPPI
        elif second_out:
            codes[pair] = _TPP if found & _TOUCH else _NTPP
        else:
            codes[pair] = _EQ

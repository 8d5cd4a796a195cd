"""What `geo.borders` has compiled: areas as numbered vertices, then every pair walked along its borders.

All is exact. The sign of a turn is computed in doubles where rounding cannot change it, and as an expansion
otherwise (Shewchuk 1997, Adaptive Precision Floating-Point Arithmetic, sections 2 and 4). Importing
this module compiles it, or loads what an earlier process compiled: import it through `geo.borders` only,
which tells what becomes of a machine where that is not possible. It is one file, since numba's cache looks
at no other.

Vertices stand in the order of the rings, each ring with the interior on the left, and a vertex stands for the
segment that begins there too: `x`, `y`, `following` and `preceding` (positions), `number` (equal for equal
vertices), `ring`. Areas and rings are given by where each begins, and one entry more for the end.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba
import numpy
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])
Floats = NDArray[numpy.float64]
Positions = NDArray[numpy.int64]
Truths = NDArray[numpy.bool_]
Bytes = NDArray[numpy.uint8]
Codes = NDArray[numpy.int8]

#: So many segments in a row have a box of their own, and so many of these boxes another.
BLOCK: Final = 16
STRIDE: Final = 256
#: The code of a pair that is left to GEOS.
OPEN: Final = -1
# Positions in geo.rcc8.CODES; numba takes plain numbers for constants.
_DC, _EC, _PO, _EQ, _TPP, _NTPP, _TPPI, _NTPPI = range(8)
# Up to so many pairs of segments are compared without looking at boxes of several.
_FEW: Final = 512
# The bytes of well-known binary before the members of a collection, the last four of which count them.
_COLLECTION: Final = 9
_SPLITTER: Final = 134217729.0
_LEAST, _MOST = 1e-120, 1e120
# How far from parallel, and in terms of coordinates how far from an end, segments plainly cross.
_SLANT, _NEAR = 1e-8, 2.0**-44
_TURN_ERROR: Final = 3.3306690738754716e-16


def _compiled(signature: str | None = None) -> Callable[[Function], Function]:
    """A function compiled by numba; with a signature as soon as it is defined."""

    def compiled(function: Function) -> Function:
        kernel: Any = numba.njit(signature, cache=True, nogil=True, error_model="numpy")(function)
        return cast("Function", kernel)

    return compiled


@_compiled()
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


@_compiled()
def _with_product(expansion: Floats, size: int, one: float, other: float) -> int:
    """Add the product of two numbers to an expansion."""
    product = one * other
    big = _SPLITTER * one
    one_high = big - (big - one)
    one_low = one - one_high
    big = _SPLITTER * other
    other_high = big - (big - other)
    other_low = other - other_high
    rest = product - one_high * other_high
    rest = one_low * other_low - ((rest - one_low * other_high) - one_high * other_low)
    return _grown(expansion, _grown(expansion, size, rest), product)


@_compiled()
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


@_compiled("int64(float64, float64, float64, float64, float64, float64)")
def turn(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> int:
    """1 where c is left of the line from a to b, -1 where right of it, 0 where on it."""
    one, two = (ax - cx) * (by - cy), (ay - cy) * (bx - cx)
    area = one - two
    error = _TURN_ERROR * (abs(one) + abs(two))
    if area > error:
        return 1
    if -area > error:
        return -1
    if (ax == bx and ay == by) or (ax == cx and ay == cy) or (bx == cx and by == cy):
        return 0
    return _exact_turn(ax, ay, bx, by, cx, cy)


@_compiled()
def _cross_far_from_ends(x: Floats, y: Floats, p: int, q: int, r: int, s: int) -> bool:
    """Whether two segments that cross do so where no rounding of the point takes it for an end of one.

    GEOS computes the point, and what then falls on an end touches there. So this is no matter of exactness.
    """
    across_x, across_y, along_x, along_y = x[q] - x[p], y[q] - y[p], x[s] - x[r], y[s] - y[r]
    across, along = max(abs(across_x), abs(across_y)), max(abs(along_x), abs(along_y))
    far = max(max(abs(x[p]), abs(y[p])), max(abs(x[r]), abs(y[r]))) + across + along
    of_r = abs(across_x * (y[r] - y[p]) - across_y * (x[r] - x[p]))
    of_s = abs(across_x * (y[s] - y[p]) - across_y * (x[s] - x[p]))
    of_p = abs(along_x * (y[p] - y[r]) - along_y * (x[p] - x[r]))
    of_q = abs(along_x * (y[q] - y[r]) - along_y * (x[q] - x[r]))
    least = min(of_r, of_s) / (of_r + of_s) * along, min(of_p, of_q) / (of_p + of_q) * across
    return bool(min(of_r + of_s, of_p + of_q) > _SLANT * across * along and min(least) > _NEAR * far)


@_compiled()
def _meeting(x: Floats, y: Floats, p: int, q: int, r: int, s: int) -> int:
    """How the segments p-q and r-s, whose boxes meet, do: 0 not, 1 they plainly cross, 2 else."""
    to_r = turn(x[p], y[p], x[q], y[q], x[r], y[r])
    to_s = turn(x[p], y[p], x[q], y[q], x[s], y[s])
    if to_r * to_s > 0:
        return 0
    to_p = turn(x[r], y[r], x[s], y[s], x[p], y[p])
    to_q = turn(x[r], y[r], x[s], y[s], x[q], y[q])
    if to_p * to_q > 0:
        return 0
    if to_r * to_s < 0 and to_p * to_q < 0 and _cross_far_from_ends(x, y, p, q, r, s):
        return 1
    return 2


@_compiled()
def _along(x: Floats, y: Floats, corner: int, one: int, other: int) -> bool:
    """Whether the ways from a corner to two points are one, or so near that GEOS may round them to it."""
    one_x, one_y = x[one] - x[corner], y[one] - y[corner]
    other_x, other_y = x[other] - x[corner], y[other] - y[corner]
    ahead = one_x * other_x + one_y * other_y
    return bool(ahead > 0.0 and abs(one_x * other_y - one_y * other_x) <= _SLANT * ahead)


@_compiled()
def _side(x: Floats, y: Floats, on: int, corner: int, back: int, end: int) -> int:
    """Where the way from a corner of an area to a point goes: 1 inside, -1 outside, 0 along its border."""
    if _along(x, y, corner, on, end) or _along(x, y, corner, back, end):
        return 0
    px, py = x[corner], y[corner]
    opening = turn(px, py, x[on], y[on], x[back], y[back])
    from_on = turn(px, py, x[on], y[on], x[end], y[end])
    from_back = turn(px, py, x[back], y[back], x[end], y[end])
    if opening > 0:
        return 1 if from_on > 0 and from_back < 0 else -1
    if opening < 0:
        return -1 if from_on < 0 and from_back > 0 else 1
    return 1 if from_on > 0 else -1


@_compiled("void(float64[::1], float64[::1], uint64[::1], uint64[::1], int64[::1])")
def number_vertices(
    x: Floats, y: Floats, x_bits: NDArray[numpy.uint64], y_bits: NDArray[numpy.uint64], number: Positions
) -> None:
    """Give equal vertices equal numbers, counted from 0."""
    slots = 16
    while slots < 2 * len(x):
        slots *= 2
    mask = numpy.uint64(slots - 1)
    table = numpy.full(slots, -1, dtype=numpy.int64)
    numbers = 0
    for i in range(len(x)):
        mixed = (x_bits[i] * numpy.uint64(0x9E3779B97F4A7C15)) ^ (
            y_bits[i] * numpy.uint64(0xC2B2AE3D27D4EB4F)
        )
        slot = (mixed ^ (mixed >> numpy.uint64(29))) * numpy.uint64(0x94D049BB133111EB)
        slot = (slot >> numpy.uint64(20)) & mask
        while True:
            first = table[slot]
            if first < 0:
                table[slot] = i
                number[i] = numbers
                numbers += 1
                break
            if x[first] == x[i] and y[first] == y[i]:
                number[i] = number[first]
                break
            slot = (slot + numpy.uint64(1)) & mask


@_compiled()
def _number_at(data: Bytes, place: int) -> int:
    """The unsigned number of four bytes, the least first."""
    number = 0
    for i in range(4):
        number |= int(data[place + i]) << (8 * i)
    return number


@_compiled("UniTuple(int64, 2)(uint8[::1])")
def count_rings(data: Bytes) -> tuple[int, int]:
    """How many rings and vertices areas have, as a collection in binary (little endian, two dimensions)."""
    rings = vertices = 0
    place = _COLLECTION
    for _ in range(_number_at(data, place - 4)):
        polygons = 1
        if data[place + 1] == 6:
            polygons = _number_at(data, place + 5)
            place += 9
        for _ in range(polygons):
            here = _number_at(data, place + 5)
            place += 9
            for _ in range(here):
                size = _number_at(data, place)
                place += 4 + 16 * size
                rings += 1
                vertices += size
    return rings, vertices


@_compiled("int64(uint8[::1], uint8[::1], float64[::1], int64[::1], int64[::1], boolean[::1])")
def read_rings(
    data: Bytes,
    room: Bytes,
    points: Floats,
    ring_start: Positions,
    first_ring: Positions,
    is_shell: Truths,
) -> int:
    """Read the vertices of a collection of areas, x and y in turns, into `points`; how many there are.

    `room` is the memory of `points`. What repeats the vertex before is left out, and the end of a ring is.
    """
    ring = kept = 0
    place = _COLLECTION
    for area in range(len(first_ring) - 1):
        first_ring[area] = ring
        polygons = 1
        if data[place + 1] == 6:
            polygons = _number_at(data, place + 5)
            place += 9
        for _ in range(polygons):
            here = _number_at(data, place + 5)
            place += 9
            for number in range(here):
                is_shell[ring] = number == 0
                ring_start[ring] = kept
                first = kept
                size = _number_at(data, place)
                place += 4
                for _ in range(size):
                    for i in range(16):
                        room[16 * kept + i] = data[place + i]
                    place += 16
                    # No negative zeros: equal vertices are equal bit by bit.
                    points[2 * kept] += 0.0
                    points[2 * kept + 1] += 0.0
                    same = kept > first and points[2 * kept] == points[2 * kept - 2]
                    if not (same and points[2 * kept + 1] == points[2 * kept - 1]):
                        kept += 1
                while (
                    kept - first > 1
                    and points[2 * kept - 2] == points[2 * first]
                    and (points[2 * kept - 1] == points[2 * first + 1])
                ):
                    kept -= 1
                ring += 1
    first_ring[len(first_ring) - 1] = ring
    ring_start[ring] = kept
    return kept


@_compiled("void(float64[::1], float64[::1], int64[::1], boolean[::1], int64[::1], int64[::1], boolean[::1])")
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

    No use is what has no direction, and what has coordinates whose products would overflow or lose digits.
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


@_compiled("void(float64[::1], float64[::1], int64[::1], int64[::1], int64, float64[:, ::1])")
def box_segments(
    x: Floats, y: Floats, following: Positions, start: Positions, length: int, boxes: Floats
) -> None:
    """Put a box around each `length` segments of each area, one row a box; `start` by area."""
    row = -1
    for area in range(len(start) - 1):
        for segment in range(start[area], start[area + 1]):
            end = following[segment]
            if (segment - start[area]) % length == 0:
                row += 1
                boxes[row, 0], boxes[row, 1] = min(x[segment], x[end]), min(y[segment], y[end])
                boxes[row, 2], boxes[row, 3] = max(x[segment], x[end]), max(y[segment], y[end])
            else:
                boxes[row, 0] = min(boxes[row, 0], x[segment], x[end])
                boxes[row, 1] = min(boxes[row, 1], y[segment], y[end])
                boxes[row, 2] = max(boxes[row, 2], x[segment], x[end])
                boxes[row, 3] = max(boxes[row, 3], y[segment], y[end])


@_compiled()
def _apart(boxes: Floats, one: int, others: Floats, other: int) -> bool:
    """Whether two boxes, given by their rows (west, south, east, north), have no point in common."""
    # All four compared whatever the first says: a branch that cannot be foretold costs more than they do.
    beside = (boxes[one, 0] > others[other, 2]) | (others[other, 0] > boxes[one, 2])
    return bool(beside | (boxes[one, 1] > others[other, 3]) | (others[other, 1] > boxes[one, 3]))


@_compiled()
def _rows_meet(
    x: Floats,
    y: Floats,
    following: Positions,
    number: Positions,
    lines: Floats,
    own: Truths,
    segments: Positions,
    first: int,
    last: int,
    others: Positions,
    other_first: int,
    other_last: int,
    boxes: Floats,
    box: int,
    once: bool,
) -> int:
    """As `_borders_meet`, for some of a list of segments and some of another, which lie in a box.

    With `once` both are of one list, and each pair of its segments is looked at once.
    """
    touched = 0
    for i in range(first, last):
        one = segments[i]
        if _apart(lines, one, boxes, box) or not own[one]:
            continue
        end = following[one]
        a, b = number[one], number[end]
        for j in range(max(i + 1, other_first) if once else other_first, other_last):
            other = others[j]
            if _apart(lines, one, lines, other) or not own[other]:
                continue
            other_end = following[other]
            c, d = number[other], number[other_end]
            if (a != c) & (a != d) & (b != c) & (b != d):
                meeting = _meeting(x, y, one, end, other, other_end)
                if meeting == 1:
                    return 1
                touched |= meeting
    return touched


@_compiled()
def _borders_meet(
    x: Floats,
    y: Floats,
    following: Positions,
    number: Positions,
    lines: Floats,
    own: Truths,
    every: Positions,
    start: Positions,
    block_start: Positions,
    blocks: Floats,
    stride_start: Positions,
    strides: Floats,
    area: int,
    other: int,
) -> int:
    """How segments of an area that are its `own` meet those of another, or of itself: 1 before 2.

    As `_meeting` says; what two segments do at a vertex that both have is not looked at.
    `every` counts the vertices.
    """
    touched = 0
    for i in range(stride_start[area], stride_start[area + 1]):
        first_stride = i if area == other else stride_start[other]
        for j in range(first_stride, stride_start[other + 1]):
            if _apart(strides, i, strides, j):
                continue
            first_row = block_start[area] + (i - stride_start[area]) * (STRIDE // BLOCK)
            for row in range(first_row, min(first_row + STRIDE // BLOCK, block_start[area + 1])):
                if _apart(blocks, row, strides, j):
                    continue
                begin = start[area] + (row - block_start[area]) * BLOCK
                first = block_start[other] + (j - stride_start[other]) * (STRIDE // BLOCK)
                last = min(first + STRIDE // BLOCK, block_start[other + 1])
                for column in range(row if i == j else first, last):
                    if _apart(blocks, row, blocks, column):
                        continue
                    other_begin = start[other] + (column - block_start[other]) * BLOCK
                    meeting = _rows_meet(
                        x, y, following, number, lines, own,
                        every, begin, min(begin + BLOCK, start[area + 1]),
                        every, other_begin, min(other_begin + BLOCK, start[other + 1]),
                        blocks, column, row == column,
                    )  # fmt: skip
                    if meeting == 1:
                        return 1
                    touched |= meeting
    return touched


@_compiled(
    "void(float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], float64[:, ::1], int64[::1],"
    " boolean[::1], int64[::1], float64[:, ::1], int64[::1], float64[:, ::1], boolean[::1])"
)
def judge_rings(
    x: Floats,
    y: Floats,
    following: Positions,
    preceding: Positions,
    number: Positions,
    lines: Floats,
    start: Positions,
    is_ring: Truths,
    block_start: Positions,
    blocks: Floats,
    stride_start: Positions,
    strides: Floats,
    usable: Truths,
) -> None:
    """Find areas that have a vertex twice, and among those that are one ring what meets itself."""
    owner = numpy.full(len(x) + 1, -1, dtype=numpy.int64)
    own, every = numpy.ones(len(x) + 1, dtype=numpy.bool_), numpy.arange(len(x))
    for area in range(len(start) - 1):
        first, last = start[area], start[area + 1]
        for i in range(first, last):
            if owner[number[i]] == area:
                usable[area] = False
            owner[number[i]] = area
        if not (usable[area] and is_ring[area]):
            continue
        for i in range(first, last):
            on, back = following[i], preceding[i]
            if _along(x, y, i, on, back):
                usable[area] = False
        meeting = _borders_meet(
            x,
            y,
            following,
            number,
            lines,
            own,
            every,
            start,
            block_start,
            blocks,
            stride_start,
            strides,
            area,
            area,
        )
        usable[area] &= meeting == 0


@_compiled()
def _collect(
    lines: Floats,
    start: Positions,
    block_start: Positions,
    blocks: Floats,
    stride_start: Positions,
    strides: Floats,
    area: int,
    box: Floats,
    found: Positions,
) -> int:
    """Find the segments of an area, by position, whose boxes meet a box of one row; how many."""
    count = 0
    for i in range(stride_start[area], stride_start[area + 1]):
        if _apart(strides, i, box, 0):
            continue
        first_row = block_start[area] + (i - stride_start[area]) * (STRIDE // BLOCK)
        for row in range(first_row, min(first_row + STRIDE // BLOCK, block_start[area + 1])):
            if _apart(blocks, row, box, 0):
                continue
            begin = start[area] + (row - block_start[area]) * BLOCK
            for segment in range(begin, min(begin + BLOCK, start[area + 1])):
                if not _apart(lines, segment, box, 0):
                    found[count] = segment
                    count += 1
    return count


@_compiled()
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
    """Where another area's vertex is: 1 in an area, -1 outside, 0 on its border. A ray goes to the east."""
    side = -1
    px, py = x[corner], y[corner]
    for row in range(block_start[area], block_start[area + 1]):
        if blocks[row, 1] > py or blocks[row, 3] < py or blocks[row, 2] < px:
            continue
        begin = start[area] + (row - block_start[area]) * BLOCK
        for i in range(begin, min(begin + BLOCK, start[area + 1])):
            on = following[i]
            if (y[i] > py) == (y[on] > py):
                continue
            way = turn(x[i], y[i], x[on], y[on], px, py)
            if way == 0:
                return 0
            if (way > 0) == (y[on] > y[i]):
                side = -side
    return side


@_compiled()
def _ring_inside(
    x: Floats,
    y: Floats,
    following: Positions,
    start: Positions,
    block_start: Positions,
    blocks: Floats,
    box: Floats,
    area: int,
    ring_box: Floats,
    ring: int,
    corner: int,
) -> int:
    """Where a ring is that has no point of an area's border: 1 inside, -1 outside."""
    if (
        ring_box[ring, 0] < box[area, 0]
        or ring_box[ring, 1] < box[area, 1]
        or ring_box[ring, 2] > box[area, 2]
        or ring_box[ring, 3] > box[area, 3]
    ):
        return -1
    return _holds(x, y, following, start, block_start, blocks, area, corner)


@_compiled(
    "void(int64[::1], int64[::1], float64[::1], float64[::1], int64[::1], int64[::1], int64[::1],"
    " float64[:, ::1], int64[::1], int64[::1], int64[::1], int64[::1], float64[:, ::1], float64[:, ::1],"
    " boolean[::1],"
    " int64[::1], float64[:, ::1], int64[::1], float64[:, ::1], int8[::1])"
)
def settle(
    left: Positions,
    right: Positions,
    x: Floats,
    y: Floats,
    following: Positions,
    preceding: Positions,
    number: Positions,
    lines: Floats,
    ring: Positions,
    start: Positions,
    ring_start: Positions,
    first_ring: Positions,
    ring_box: Floats,
    box: Floats,
    usable: Truths,
    block_start: Positions,
    blocks: Floats,
    stride_start: Positions,
    strides: Floats,
    codes: Codes,
) -> None:
    """The relation of each pair of areas, given by their positions; OPEN where this cannot tell it."""
    longest = 1
    for area in range(len(start) - 1):
        longest = max(longest, start[area + 1] - start[area])
    in_left, in_right = numpy.empty(longest, dtype=numpy.int64), numpy.empty(longest, dtype=numpy.int64)
    # What belongs to the pair at hand is marked with its position, so that nothing has to be cleared.
    met = numpy.full(len(x) + 1, -1, dtype=numpy.int64)
    met_at = numpy.empty(len(x) + 1, dtype=numpy.int64)
    own, every = numpy.ones(len(x) + 1, dtype=numpy.bool_), numpy.arange(len(x))
    ring_met = numpy.full(len(ring_box) + 1, -1, dtype=numpy.int64)
    shared = numpy.empty((1, 4), dtype=numpy.float64)
    for pair in range(len(left)):
        codes[pair] = OPEN
        a, b = left[pair], right[pair]
        if a == b or not (usable[a] and usable[b]):
            continue
        shared[0, 0], shared[0, 1] = max(box[a, 0], box[b, 0]), max(box[a, 1], box[b, 1])
        shared[0, 2], shared[0, 3] = min(box[a, 2], box[b, 2]), min(box[a, 3], box[b, 3])
        if shared[0, 0] > shared[0, 2] or shared[0, 1] > shared[0, 3]:
            codes[pair] = _DC
            continue
        lefts = _collect(lines, start, block_start, blocks, stride_start, strides, a, shared, in_left)
        rights = _collect(lines, start, block_start, blocks, stride_start, strides, b, shared, in_right)
        for k in range(rights):
            met[number[in_right[k]]] = pair
            met_at[number[in_right[k]]] = in_right[k]
        touching = a_in = a_out = b_in = b_out = along = against = False
        sure = True
        for k in range(lefts):
            i = in_left[k]
            if met[number[i]] != pair:
                continue
            touching = True
            j = met_at[number[i]]
            ring_met[ring[i]] = ring_met[ring[j]] = pair
            i_on, i_back, j_on, j_back = following[i], preceding[i], following[j], preceding[j]
            to, fro = number[i_on], number[i_back]
            other_to, other_fro = number[j_on], number[j_back]
            along |= to == other_to or fro == other_fro
            against |= to == other_fro or fro == other_to
            if to in (other_to, other_fro):
                own[i] = False
            else:
                side = _side(x, y, j_on, j, j_back, i_on)
                sure &= side != 0
                a_in |= side > 0
                a_out |= side < 0
            if fro != other_to and fro != other_fro:
                side = _side(x, y, j_on, j, j_back, i_back)
                sure &= side != 0
                a_in |= side > 0
                a_out |= side < 0
            if other_to in (to, fro):
                own[j] = False
            else:
                side = _side(x, y, i_on, i, i_back, j_on)
                sure &= side != 0
                b_in |= side > 0
                b_out |= side < 0
            if other_fro != to and other_fro != fro:
                side = _side(x, y, i_on, i, i_back, j_back)
                sure &= side != 0
                b_in |= side > 0
                b_out |= side < 0
        meeting = 2
        if sure and lefts * rights <= _FEW:
            meeting = _rows_meet(
                x, y, following, number, lines, own, in_left, 0, lefts, in_right, 0, rights, shared, 0, False
            )
        elif sure:
            meeting = _borders_meet(
                x,
                y,
                following,
                number,
                lines,
                own,
                every,
                start,
                block_start,
                blocks,
                stride_start,
                strides,
                a,
                b,
            )
        for k in range(lefts):
            own[in_left[k]] = True
        for k in range(rights):
            own[in_right[k]] = True
        if meeting != 0:
            if meeting == 1:
                codes[pair] = _PO
            continue
        for r in range(first_ring[a], first_ring[a + 1]):
            if ring_met[r] != pair:
                corner = ring_start[r]
                side = _ring_inside(x, y, following, start, block_start, blocks, box, b, ring_box, r, corner)
                sure &= side != 0
                a_in |= side > 0
                a_out |= side < 0
        for r in range(first_ring[b], first_ring[b + 1]):
            if ring_met[r] != pair:
                corner = ring_start[r]
                side = _ring_inside(x, y, following, start, block_start, blocks, box, a, ring_box, r, corner)
                sure &= side != 0
                b_in |= side > 0
                b_out |= side < 0
        if not sure:
            continue
        if not (a_in or b_in or along):
            codes[pair] = _EC if touching else _DC
            continue
        left_sticks_out, right_sticks_out = a_out or b_in or against, b_out or a_in or against
        if left_sticks_out and right_sticks_out:
            codes[pair] = _PO
        elif left_sticks_out:
            codes[pair] = _TPPI if touching else _NTPPI
        elif right_sticks_out:
            codes[pair] = _TPP if touching else _NTPP
        else:
            codes[pair] = _EQ

"""Finds intersecting boxes of areas and of short runs of segments, with a packed tree."""

from typing import Final

import numpy
from numpy.typing import NDArray

from geo.kernel.numba_options import Floats, Positions, Truths, compiled

# The most segments in a leaf, and the number of consecutive boxes under one parent box.
_LEAF: Final = 8
_FAN: Final = 4
# Segments of an area that are further apart than this share no box.
_GAP: Final = 4


@compiled(
    "int64(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], boolean[::1], int64[::1],"
    " int64[::1])"
)
def list_segments(
    following: Positions,
    preceding: Positions,
    number: Positions,
    area: Positions,
    bearer_start: Positions,
    bearers: Positions,
    usable: Truths,
    segments: Positions,
    leaf_start: Positions,
) -> int:
    """List each segment once, even if several areas share it, in leaves of nearby ones; how many leaves."""
    count = leaves = 0
    for i in range(len(following)):
        one = area[i]
        if not usable[one]:
            continue
        end, is_new = number[following[i]], True
        for k in range(bearer_start[number[i]], bearer_start[number[i] + 1]):
            j = bearers[k]
            if area[j] >= one:
                break
            if usable[area[j]] and (number[following[j]] == end or number[preceding[j]] == end):
                is_new = False
                break
        if not is_new:
            continue
        last = segments[count - 1] if count else -1
        full = leaves > 0 and count - leaf_start[leaves - 1] == _LEAF
        if leaves == 0 or full or area[last] != one or i - last > _GAP:
            leaf_start[leaves] = count
            leaves += 1
        segments[count] = i
        count += 1
    leaf_start[leaves] = count
    return leaves


@compiled(
    "void(float64[::1], float64[::1], int64[::1], int64[::1], int64[::1], float64[:, ::1], float64[:, ::1])"
)
def box_leaves(
    x: Floats,
    y: Floats,
    following: Positions,
    segments: Positions,
    leaf_start: Positions,
    lines: Floats,
    leaves: Floats,
) -> None:
    """Put a box around each segment of a list and around each leaf."""
    for leaf in range(len(leaves)):
        west = south = numpy.inf
        east = north = -numpy.inf
        for k in range(leaf_start[leaf], leaf_start[leaf + 1]):
            i, end = segments[k], following[segments[k]]
            lines[k, 0], lines[k, 1] = min(x[i], x[end]), min(y[i], y[end])
            lines[k, 2], lines[k, 3] = max(x[i], x[end]), max(y[i], y[end])
            west, south = min(west, lines[k, 0]), min(south, lines[k, 1])
            east, north = max(east, lines[k, 2]), max(north, lines[k, 3])
        leaves[leaf, 0], leaves[leaf, 1], leaves[leaf, 2], leaves[leaf, 3] = west, south, east, north


@compiled("void(float64[:, ::1], uint64[::1])")
def place_boxes(boxes: Floats, places: NDArray[numpy.uint64]) -> None:
    """Number boxes (n, 4) by their middles along a Z-curve, so that near numbers are near in space."""
    west = south = numpy.inf
    east = north = -numpy.inf
    for i in range(len(boxes)):
        west, south = min(west, boxes[i, 0]), min(south, boxes[i, 1])
        east, north = max(east, boxes[i, 2]), max(north, boxes[i, 3])
    scale_x, scale_y = 65535.0 / max(east - west, 1e-300), 65535.0 / max(north - south, 1e-300)
    for i in range(len(boxes)):
        place = numpy.uint64(0)
        for side in range(2):
            low, scale = (west, scale_x) if side == 0 else (south, scale_y)
            middle = ((boxes[i, side] - low) * 0.5 + (boxes[i, side + 2] - low) * 0.5) * scale
            bits = numpy.uint64(min(max(middle, 0.0), 65535.0))
            bits = (bits | (bits << numpy.uint64(8))) & numpy.uint64(0x00FF00FF)
            bits = (bits | (bits << numpy.uint64(4))) & numpy.uint64(0x0F0F0F0F)
            bits = (bits | (bits << numpy.uint64(2))) & numpy.uint64(0x33333333)
            bits = (bits | (bits << numpy.uint64(1))) & numpy.uint64(0x55555555)
            place |= bits << numpy.uint64(side)
        places[i] = place


@compiled("int64[:, ::1](float64[:, ::1], int64[::1])")
def meeting_boxes(boxes: Floats, order: Positions) -> Positions:
    """The pairs of different boxes (n, 4) that intersect, each once: shape (k, 2).

    `order` sorts them along a curve on which near boxes are near each other.
    """
    size = len(order)
    level_start = numpy.zeros(64, dtype=numpy.int64)
    levels, rows, width = 1, size, size
    while width > 1:
        level_start[levels] = rows
        width = -(-width // _FAN)
        rows += width
        levels += 1
    level_start[levels] = rows
    tree = numpy.empty((rows, 4), dtype=numpy.float64)
    for i in range(rows):
        for side in range(4):
            tree[i, side] = boxes[order[i], side] if i < size else numpy.inf if side < 2 else -numpy.inf
    for level in range(1, levels):
        below, begin = level_start[level - 1], level_start[level]
        for child in range(begin - below):
            row, node = below + child, begin + child // _FAN
            for side in range(2):
                tree[node, side] = min(tree[node, side], tree[row, side])
                tree[node, side + 2] = max(tree[node, side + 2], tree[row, side + 2])
    found, count = numpy.empty((4 * size + 16, 2), dtype=numpy.int64), 0
    waiting = numpy.empty((_FAN * 64, 2), dtype=numpy.int64)
    for i in range(size):
        west, south, east, north = tree[i, 0], tree[i, 1], tree[i, 2], tree[i, 3]
        waiting[0, 0], waiting[0, 1], left = levels - 1, 0, 1
        while left:
            left -= 1
            level, node = waiting[left, 0], waiting[left, 1]
            row = level_start[level] + node
            # All four are compared in any case: a mispredicted branch costs more.
            beside = (tree[row, 0] > east) | (west > tree[row, 2])
            if beside | (tree[row, 1] > north) | (south > tree[row, 3]):
                continue
            if level == 0:
                if count == len(found):
                    more = numpy.empty((2 * count, 2), dtype=numpy.int64)
                    for k in range(count):
                        more[k, 0], more[k, 1] = found[k, 0], found[k, 1]
                    found = more
                found[count, 0], found[count, 1] = order[i], order[node]
                count += 1
                continue
            span = 1
            for _ in range(level - 1):
                span *= _FAN
            width = level_start[level] - level_start[level - 1]
            for child in range(node * _FAN, min(node * _FAN + _FAN, width)):
                # Only later ones, so that each pair is found once.
                if (child + 1) * span - 1 > i:
                    waiting[left, 0], waiting[left, 1] = level - 1, child
                    left += 1
    return found[:count]

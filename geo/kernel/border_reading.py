"""Reads areas into arrays: rings from well-known binary, numbers of equal vertices, vertices by number.

`geo.kernel.border_kernel` describes the arrays.
"""

from typing import Final

import numpy
from numpy.typing import NDArray

from geo.kernel.numba_options import Bytes, Floats, Positions, Truths, compiled

# The bytes of well-known binary before the members of a collection; the last four are their count.
_COLLECTION: Final = 9


@compiled()
def _number_at(data: Bytes, place: int) -> int:
    """The unsigned little-endian number of four bytes."""
    number = 0
    for i in range(4):
        number |= int(data[place + i]) << (8 * i)
    return number


@compiled("UniTuple(int64, 2)(uint8[::1])")
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


@compiled(
    "int64(uint8[::1], uint8[::1], float64[::1], float64[:, ::1], int64[::1],"
    " float64[::1], float64[::1], int64[::1], int64[::1], boolean[::1])"
)
def read_rings(
    data: Bytes,
    scratch: Bytes,
    point: Floats,
    coordinates: Floats,
    sizes: Positions,
    x: Floats,
    y: Floats,
    ring_start: Positions,
    first_ring: Positions,
    is_shell: Truths,
) -> int:
    """Read the vertices of areas into `x` and `y`; their number.

    `sizes` says by area how many of the `coordinates` form its one ring, or 0 where it is read from a binary
    collection. `scratch` is the memory of `point`. Repeated vertices are left out, and the end of each ring.
    """
    ring = kept = row = 0
    place = _COLLECTION
    for area in range(len(first_ring) - 1):
        first_ring[area] = ring
        is_plain = sizes[area] > 0
        polygons = 1
        if not is_plain and data[place + 1] == 6:
            polygons = _number_at(data, place + 5)
            place += 9
        for _ in range(polygons):
            here = 1
            if not is_plain:
                here = _number_at(data, place + 5)
                place += 9
            for number in range(here):
                is_shell[ring] = number == 0
                ring_start[ring] = first = kept
                size = sizes[area]
                if not is_plain:
                    size = _number_at(data, place)
                    place += 4
                for _ in range(size):
                    # No negative zeros: equal vertices must be bitwise equal.
                    if is_plain:
                        x[kept], y[kept] = coordinates[row, 0] + 0.0, coordinates[row, 1] + 0.0
                        row += 1
                    else:
                        for i in range(16):
                            scratch[i] = data[place + i]
                        x[kept], y[kept] = point[0] + 0.0, point[1] + 0.0
                        place += 16
                    if not (kept > first and x[kept] == x[kept - 1] and y[kept] == y[kept - 1]):
                        kept += 1
                while kept - first > 1 and x[kept - 1] == x[first] and y[kept - 1] == y[first]:
                    kept -= 1
                ring += 1
    first_ring[len(first_ring) - 1] = ring
    ring_start[ring] = kept
    return kept


@compiled("void(float64[::1], float64[::1], uint64[::1], uint64[::1], int64[::1])")
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


@compiled("void(int64[::1], int64[::1], boolean[::1], int64[::1], int64[::1])")
def list_bearers(
    number: Positions, area: Positions, usable: Truths, bearer_start: Positions, bearers: Positions
) -> None:
    """List the vertices by number; `bearer_start` has two more entries than there are numbers."""
    bearer_start[:] = 0
    for i in range(len(number)):
        if usable[area[i]]:
            bearer_start[number[i] + 2] += 1
    for i in range(2, len(bearer_start)):
        bearer_start[i] += bearer_start[i - 1]
    for i in range(len(number)):
        if usable[area[i]]:
            bearers[bearer_start[number[i] + 1]] = i
            bearer_start[number[i] + 1] += 1

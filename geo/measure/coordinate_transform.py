"""Transforms the coordinates of a shape and keeps its heights and measures.

shapely's own `transform` loses measures (M), and turns the heights of a shape with both into NaN.
"""

import struct
from collections.abc import Callable

import numpy
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

Coordinates = NDArray[numpy.float64]
Convert = Callable[[Coordinates], Coordinates]

_POINT, _LINE, _POLYGON = 1, 2, 3


def move(shape: BaseGeometry, convert: Convert) -> BaseGeometry:
    """The shape with `convert` applied to its positions: (n, 2) to (n, 2), in two dimensions."""
    if not shapely.has_m(shape):
        has_z = bool(shapely.has_z(shape))
        moved: BaseGeometry = shapely.transform(shape, lambda c: _first_two(c, convert), include_z=has_z)
        return moved
    wkb = bytearray(shapely.to_wkb(shape, flavor="iso", byte_order=1))
    _move_geometry(wkb, 0, convert)
    found: BaseGeometry = shapely.from_wkb(bytes(wkb))
    return found


def _first_two(coordinates: Coordinates, convert: Convert) -> Coordinates:
    moved = convert(coordinates[:, :2])
    return moved if coordinates.shape[1] == 2 else numpy.column_stack([moved, coordinates[:, 2:]])


def _move_geometry(wkb: bytearray, at: int, convert: Convert) -> int:
    """Move the geometry of ISO WKB at a byte offset, in place; the offset of the next one."""
    (code,) = struct.unpack_from("<I", wkb, at + 1)
    kind, size, at = code % 1000, 2 + (1, 1, 2)[code // 1000 - 1] if code >= 1000 else 2, at + 5
    if kind == _POINT:
        return _move_positions(wkb, at, 1, size, convert)
    (count,) = struct.unpack_from("<I", wkb, at)
    at += 4
    for _ in range(1 if kind == _LINE else count):
        if kind == _POLYGON:
            (length,) = struct.unpack_from("<I", wkb, at)
            at = _move_positions(wkb, at + 4, length, size, convert)
        elif kind == _LINE:
            at = _move_positions(wkb, at, count, size, convert)
        else:
            at = _move_geometry(wkb, at, convert)
    return at


def _move_positions(wkb: bytearray, at: int, count: int, size: int, convert: Convert) -> int:
    positions = numpy.frombuffer(wkb, "<f8", count * size, at).reshape(count, size)
    if not numpy.isnan(positions[:, :2]).any():  # NaN is how WKB says that a point is empty
        positions[:, :2] = convert(positions[:, :2].copy())
    return at + 8 * count * size

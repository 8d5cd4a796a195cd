"""How often the edges of shapes cross, as an estimate that takes milliseconds.

The work of an overlay, a repair or a relation grows with the crossings, which grow with the square of the
vertices where every edge meets every other: then a few kilobytes take minutes, and nothing stops GEOS.
"""

from __future__ import annotations

from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

_PAIRS: Final = 10_000_000
"""Pairs of edges that are compared, at most; of that many edges, ten are compared with all others."""
_Edges = NDArray[numpy.float64]
"""(edges, 2 ends, 2 coordinates)"""


def crossings(shape: BaseGeometry, other: BaseGeometry | None = None) -> float:
    """About how many pairs of edges of two shapes, or of one with itself, cross; touching does not count."""
    edges = _edges(shape)
    others = edges
    if other is not None:
        edges, others = _within(edges, other), _within(_edges(other), shape)
    if not len(edges) or not len(others):
        return 0.0
    # At even distances: the same shape always has the same estimate.
    count = min(len(edges), 100, max(10, _PAIRS // len(others)))
    sample = edges[numpy.linspace(0, len(edges) - 1, count).astype(int)]
    with numpy.errstate(over="ignore", invalid="ignore"):
        found = sum(_crossed(edge, others) for edge in sample) * len(edges) / count
    return found / 2 if other is None else found


def _edges(shape: BaseGeometry) -> _Edges:
    parts = shapely.get_parts(shape)
    areas = shapely.get_dimensions(parts) == 2
    lines = [*shapely.get_rings(parts[areas]), *parts[shapely.get_dimensions(parts) == 1]]
    points, owners = shapely.get_coordinates(lines, return_index=True)
    together = owners[1:] == owners[:-1]
    edges: _Edges = numpy.stack((points[:-1], points[1:]), axis=1)[together]
    return edges


def _within(edges: _Edges, other: BaseGeometry) -> _Edges:
    """The edges whose boxes meet that of another shape: of a coast and a park, hardly any."""
    low, high = numpy.split(numpy.array(other.bounds), 2)
    near: _Edges = edges[((edges.max(axis=1) >= low) & (edges.min(axis=1) <= high)).all(axis=1)]
    return near


def _crossed(edge: _Edges, others: _Edges) -> int:
    """How many of the others the edge crosses: the ends of each lie on both sides of the other."""
    start, end = edge
    starts, ends = others[:, 0], others[:, 1]
    apart = _side(start, end, starts) * _side(start, end, ends) < 0
    return int(numpy.count_nonzero(apart & (_side(starts, ends, start) * _side(starts, ends, end) < 0)))


def _side(start: _Edges, end: _Edges, point: _Edges) -> NDArray[numpy.float64]:
    along, across = end - start, point - start
    side: NDArray[numpy.float64] = along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0]
    return side

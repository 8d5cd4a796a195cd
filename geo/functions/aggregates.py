"""The spatial aggregate functions of GeoSPARQL 1.1 (clause 9.7): one geometry out of a group of them."""

from collections.abc import Callable
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from shapely import GeometryCollection
from shapely.geometry.base import BaseGeometry

from geo.functions.construction import CONCAVITY, bounding_circle, envelope

Combine = Callable[[NDArray[numpy.object_]], BaseGeometry]


def _collected(calculate: Callable[[BaseGeometry], BaseGeometry]) -> Combine:
    return lambda shapes: calculate(GeometryCollection(list(shapes)))


def _concat_lines(shapes: NDArray[numpy.object_]) -> BaseGeometry:
    """The lines joined end to end where they meet."""
    return shapely.line_merge(shapely.union_all(shapes))


#: What each aggregate makes of n shapes.
AGGREGATIONS: Final[dict[str, Combine]] = {
    "aggBoundingBox": _collected(envelope),
    "aggBoundingCircle": _collected(bounding_circle),
    "aggCentroid": _collected(shapely.centroid),
    "aggConcatLines": _concat_lines,
    "aggConcaveHull": _collected(lambda shape: shapely.concave_hull(shape, ratio=CONCAVITY)),
    "aggConvexHull": _collected(shapely.convex_hull),
    "aggUnion": shapely.union_all,
    # What the register of functions, other than the specification, calls two of them.
    "concatLines": _concat_lines,
    "union2": shapely.union_all,
}

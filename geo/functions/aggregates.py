"""The spatial aggregate functions of GeoSPARQL 1.1 (clause 9.7): one geometry from a group."""

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
    """Lines joined end to end where they meet."""
    return shapely.line_merge(shapely.union_all(shapes))


#: How each aggregate combines n shapes.
AGGREGATIONS: Final[dict[str, Combine]] = {
    "aggBoundingBox": _collected(envelope),
    "aggBoundingCircle": _collected(bounding_circle),
    "aggCentroid": _collected(shapely.centroid),
    "aggConcatLines": _concat_lines,
    "aggConcaveHull": _collected(lambda shape: shapely.concave_hull(shape, ratio=CONCAVITY)),
    "aggConvexHull": _collected(shapely.convex_hull),
    "aggUnion": shapely.union_all,
    # Names of two of them in the function register, which differ from the specification.
    "concatLines": _concat_lines,
    "union2": shapely.union_all,
}

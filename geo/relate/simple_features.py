"""The simple-feature relations between two geometries (GeoSPARQL 1.1, 9.3); several can hold at once."""

from collections.abc import Callable
from typing import Final

import shapely
from shapely.geometry.base import BaseGeometry

_PREDICATES: Final[dict[str, Callable[[BaseGeometry, BaseGeometry], object]]] = {
    "sfEquals": shapely.equals,
    "sfDisjoint": shapely.disjoint,
    "sfIntersects": shapely.intersects,
    "sfTouches": shapely.touches,
    "sfCrosses": shapely.crosses,
    "sfWithin": shapely.within,
    "sfContains": shapely.contains,
    "sfOverlaps": shapely.overlaps,
}


def simple_features(left: BaseGeometry, right: BaseGeometry) -> tuple[str, ...]:
    """The names of the relations of the left to the right, such as sfIntersects and sfWithin."""
    return tuple(name for name, holds in _PREDICATES.items() if holds(left, right))

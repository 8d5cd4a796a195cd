"""Two places, as prompts describe them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import shapely
from shapely.geometry.base import BaseGeometry

from geo.relate.rcc8 import RCC5, relate

__all__ = ["Pair", "Place", "described"]

_DIGITS: Final = 7
_TOLERANCES: Final = (1e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True)
class Place:
    """A place by its name; `type` is what sort of place it is, in words. The geometry is in CRS84."""

    name: str
    type: str = ""
    geometry: BaseGeometry | None = None


@dataclass(frozen=True)
class Pair:
    """A place, and the one that it is compared with."""

    head: Place
    tail: Place

    @property
    def computed(self) -> RCC5 | None:
        """The relation that the geometries themselves have; None where one is missing."""
        if self.head.geometry is None or self.tail.geometry is None:
            return None
        return relate(self.head.geometry, self.tail.geometry).rcc5


def described(place: Place, vertices: int) -> str:
    """A place for a prompt: its name, type and geometry, drawn with at most so many vertices."""
    name = f"{place.name} ({place.type})" if place.type else place.name
    shape = place.geometry
    if shape is None:
        return f"{name}, whose geometry is not known"
    count = shapely.get_num_coordinates(shape)
    shown, note = shape, ""
    if count > vertices:
        shown = _simpler(shape, vertices)
        note = f" (drawn with {shapely.get_num_coordinates(shown)} of its {count} vertices)"
    return f"{name}{note}: {shapely.to_wkt(shown, rounding_precision=_DIGITS, trim=True)}"


def _simpler(shape: BaseGeometry, vertices: int) -> BaseGeometry:
    """The shape with ever fewer vertices until there are few enough; at the end its convex hull or box."""
    tries = (shapely.simplify(shape, tolerance) for tolerance in _TOLERANCES)
    hull = shapely.convex_hull(shape)
    last = (*(shapely.simplify(hull, tolerance) for tolerance in _TOLERANCES), shapely.envelope(shape))
    few = (one for one in (*tries, *last) if 0 < shapely.get_num_coordinates(one) <= vertices)
    return next(few, shapely.envelope(shape))

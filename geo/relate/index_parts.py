"""The two parts of the index of features: static trees, and the delta of the newest features."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Generic, TypeVar

import numpy
import shapely
from numpy.typing import NDArray
from shapely import STRtree
from shapely.geometry.base import BaseGeometry

Key = TypeVar("Key", bound=Hashable)
Shapes = NDArray[numpy.object_]

DELTA_SIZE: Final = 1000
"""A delta of so many features becomes a tree."""


@dataclass
class StaticTree(Generic[Key]):
    """Features that no longer change, but can be marked dead."""

    keys: list[Key]
    shapes: Shapes
    alive: NDArray[numpy.bool_]
    tree: STRtree
    dead: int = 0

    @cached_property
    def numbers(self) -> NDArray[numpy.intp]:
        """The keys, where they are numbers."""
        return numpy.array(self.keys, dtype=numpy.intp)

    def positions(self, box: BaseGeometry) -> NDArray[numpy.intp]:
        # The tree answers an array of one faster than a single geometry.
        found: NDArray[numpy.intp] = self.tree.query(array_of([box]))[1]
        return found[self.alive[found]] if self.dead else found


@dataclass
class Delta(Generic[Key]):
    """The newest features, with their boxes in columns; the box of a dead one is NaN and meets nothing."""

    keys: list[Key] = field(default_factory=list)
    shapes: Shapes = field(default_factory=lambda: numpy.empty(DELTA_SIZE, dtype=object))
    boxes: NDArray[numpy.float64] = field(default_factory=lambda: numpy.full((4, DELTA_SIZE), numpy.nan))

    @property
    def numbers(self) -> NDArray[numpy.intp]:
        return numpy.array(self.keys, dtype=numpy.intp)

    def positions(self, box: BaseGeometry) -> NDArray[numpy.intp]:
        count = len(self.keys)
        west, south, east, north = box.bounds
        wests, souths, easts, norths = self.boxes[:, :count]
        meeting = (wests <= east) & (easts >= west) & (souths <= north) & (norths >= south)
        found: NDArray[numpy.intp] = numpy.asarray(meeting).nonzero()[0]
        return found


def found_in(
    parts: list[tuple[StaticTree[Key] | Delta[Key], NDArray[numpy.intp]]],
) -> tuple[list[Key], Shapes]:
    """The keys and shapes at some positions of each part."""
    keys = [part.keys[position] for part, positions in parts for position in positions.tolist()]
    shapes = [part.shapes[positions] for part, positions in parts]
    return keys, shapes[0] if len(shapes) == 1 else numpy.concatenate([array_of([]), *shapes])


def living_in(part: StaticTree[Key] | Delta[Key]) -> tuple[list[Key], Shapes]:
    """The keys and shapes of a part that are not dead."""
    if isinstance(part, StaticTree):
        alive = numpy.flatnonzero(part.alive)
    else:
        alive = numpy.array(
            [i for i in range(len(part.keys)) if part.shapes[i] is not None], dtype=numpy.intp
        )
    return [part.keys[position] for position in alive.tolist()], part.shapes[alive]


def array_of(shapes: list[BaseGeometry]) -> Shapes:
    """The geometries as a column."""
    array = numpy.empty(len(shapes), dtype=object)
    array[:] = shapes
    return array


def copy_of(geometry: BaseGeometry) -> BaseGeometry:
    """A copy, which may be prepared without affecting other threads."""
    # Setting the SRID clones a geometry, several times faster than through WKB.
    copy: BaseGeometry = shapely.set_srid(geometry, 0)
    return copy


def copies_of(shapes: Shapes) -> Shapes:
    """Copies of several geometries."""
    copies: Shapes = shapely.set_srid(shapes, 0)
    return copies

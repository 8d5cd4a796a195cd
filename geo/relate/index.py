"""The two parts of the index of features: static trees, and the delta of the newest features."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, repeat
from typing import Final, Generic, TypeVar

import numpy
import shapely
from numpy.typing import NDArray
from shapely import Point, STRtree
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError, MissingFeatureError
from geo.measure.measures import FURTHEST_M, box_around, distance_m, distances_m
from geo.relate.bulk import Codes, Positions, classify_pairs, pair_tolerance, relate_all
from geo.relate.rcc8 import CODES, RCC8, code_of
from geo.relate.tolerance import Tolerance, grown_boxes

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


# A tree is merged with the one before it when that one is less than this many times larger.
_MERGE_RATIO: Final = 4
_RELATED_TOGETHER: Final = 1000
_WATCHED_EDGES: Final = 1_000_000
"""Pairs of edges, all of two geometries with one another, that are related between two looks at the time."""
_FIRST_RADIUS_M: Final = 200.0
_DC: Final = code_of(RCC8.DC)


class FeatureIndex(Generic[Key]):
    """Keys (any hashable) and their CRS84 geometries, indexed so that related features are found fast.

    `tolerance_m` is how far borders may be off, in meters (see `geo.relate.tolerance`); 0 is exact. Where
    features differ, `tolerance_of` returns that of each, and `tolerance_m` is the largest; a pair gets the
    larger of two. `pairs_related` counts the pairs whose relation was computed, for tests and measurements.
    The index copies the geometries and prepares them: use it from one thread at a time.
    """

    def __init__(
        self,
        features: Iterable[tuple[Key, BaseGeometry]] = (),
        *,
        tolerance_m: float = 0.0,
        tolerance_of: Callable[[Key], float] | None = None,
    ) -> None:
        if not 0 <= tolerance_m < 100_000:
            raise ArgumentError(
                f"A tolerance of {tolerance_m:g} m is not possible. Give meters, 0 for exact relations."
            )
        self.tolerance_m = tolerance_m
        self._tolerance_of = tolerance_of
        self.pairs_related = 0
        self.watch: Callable[[], None] | None = None
        """Called again and again while many pairs are related; what it raises ends that."""
        self._trees: list[StaticTree[Key]] = []
        self._delta: Delta[Key] = Delta()
        self._places: dict[Key, tuple[StaticTree[Key] | Delta[Key], int]] = {}
        self._fill(features)

    @classmethod
    def holding(cls, keys: list[Key], shapes: Shapes) -> "FeatureIndex[Key]":
        """An exact index of n different keys and their shapes (n,), none empty, which are not copied.

        Other threads may read these shapes as long as nothing is related, which prepares them.
        """
        index = cls()
        index._add_tree(keys, shapes)
        return index

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[Key]:
        return iter(self._places)

    def get(self, key: Key) -> BaseGeometry | None:
        """A copy of the geometry of a feature, None where it is not in the index."""
        place = self._places.get(key)
        return None if place is None else copy_of(place[0].shapes[place[1]])

    def insert(self, key: Key, geometry: BaseGeometry) -> None:
        """Add a feature. Raises MissingFeatureError where the key exists already (use replace)."""
        self.insert_all([(key, geometry)])

    def insert_all(self, features: Sequence[tuple[Key, BaseGeometry]]) -> None:
        """Add several features, faster than one by one. Raises as `insert`."""
        shapes = copies_of(array_of([geometry for _, geometry in features]))
        boxes = shapely.bounds(shapes)
        for (key, _), shape, box in zip(features, shapes, boxes, strict=True):
            if key in self._places:
                raise MissingFeatureError(
                    f"{key} is in the index already. Use replace to give it another geometry."
                )
            delta, position = self._delta, len(self._delta.keys)
            delta.keys.append(key)
            delta.shapes[position] = shape
            delta.boxes[:, position] = box
            self._places[key] = (delta, position)
            if position + 1 == DELTA_SIZE:
                self._flush()

    def remove(self, key: Key) -> None:
        """Remove a feature. Raises MissingFeatureError where it does not exist."""
        if key not in self._places:
            raise MissingFeatureError(
                f"{key} is not in the index. Insert it first, or leave the removal out."
            )
        part, position = self._places.pop(key)
        if isinstance(part, Delta):
            part.boxes[:, position] = numpy.nan
            part.shapes[position] = None
            return
        part.alive[position] = False
        part.dead += 1
        if part.dead * 2 > len(part.keys):
            self._trees.remove(part)
            self._add_tree(*living_in(part))

    def replace(self, key: Key, geometry: BaseGeometry) -> None:
        """Give a feature another geometry, or add it."""
        if key in self._places:
            self.remove(key)
        self.insert(key, geometry)

    def relations_of(self, geometry: BaseGeometry, exclude: Key | None = None) -> list[tuple[Key, RCC8]]:
        """The features that a geometry is not disconnected from, and its relation to each.

        `exclude` is the key of the feature whose geometry it is, if any. The relation reads from the geometry
        to the feature: NTPP says that the geometry lies in the feature.
        """
        if geometry.is_empty:
            return []
        box = grown_boxes(array_of([geometry]), self.tolerance_m)[0] if self.tolerance_m else geometry
        keys, shapes = self._candidates(box, exclude)
        if not keys:
            return []
        self.pairs_related += len(keys)
        first = numpy.zeros(len(keys), dtype=numpy.intp)
        left = array_of([copy_of(geometry)])
        second = numpy.arange(len(keys))
        own = 0.0 if exclude is None else self._tolerances([exclude])
        meters = pair_tolerance(own, first, self._tolerances(keys), second)
        codes = classify_pairs(left, shapes, first, second, meters)
        return [(key, CODES[code]) for key, code in zip(keys, codes.tolist(), strict=True) if code != _DC]

    def relations_among(self, keys: Iterable[Key]) -> Iterator[tuple[Key, Key, RCC8]]:
        """As `relations_of` for many features of the index at once."""
        waiting = iter(keys)
        while part := list(islice(waiting, _RELATED_TOGETHER)):
            places = [self._places[key] for key in part]
            yield from self._related(part, array_of([held.shapes[position] for held, position in places]))

    def _related(self, keys: list[Key], shapes: Shapes) -> Iterator[tuple[Key, Key, RCC8]]:
        boxes = grown_boxes(shapes, self.tolerance_m) if self.tolerance_m else shapes
        left: list[int] = []
        others: list[Key] = []
        found: list[Shapes] = []
        for place, key in enumerate(keys):
            near, there = self._candidates(boxes[place], key)
            left += [place] * len(near)
            others += near
            found.append(there)
        if not others:
            return
        self.pairs_related += len(others)
        first = numpy.array(left, dtype=numpy.intp)
        right = numpy.concatenate(found)
        second = numpy.arange(len(others))
        meters = pair_tolerance(self._tolerances(keys), first, self._tolerances(others), second)
        codes = self._classified(shapes, right, first, second, meters)
        for place, other, code in zip(left, others, codes.tolist(), strict=True):
            if code != _DC:
                yield keys[place], other, CODES[code]

    def relate_all(self, of: Collection[Key] | None = None) -> Iterator[tuple[Key, Key, RCC8]]:
        """Every pair of features that are not disconnected, once, and how the first relates.

        With `of`, only pairs with at least one of these keys.
        """
        chosen: Mapping[Key, object] = self._places if of is None else dict.fromkeys(of)
        others = [key for key in self._places if key not in chosen]
        keys = [*others, *chosen]
        shapes = array_of([part.shapes[position] for part, position in map(self._places.__getitem__, keys)])
        related = relate_all(
            shapes, self._tolerances(keys), self._count, first=len(others), classify=self._classified
        )
        for pairs in related:
            rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.codes.tolist(), strict=True)
            for left, right, code in rows:
                yield keys[left], keys[right], CODES[code]

    def candidates(self, box: BaseGeometry) -> list[Key]:
        """The features whose boxes meet the box of a geometry."""
        return self.search(box)[0]

    def search(self, box: BaseGeometry) -> tuple[list[Key], Shapes]:
        """As `candidates`, with the index's own shapes: to read, never to prepare or keep."""
        return found_in(self._parts(box))

    def count(self, box: BaseGeometry) -> int:
        """How many features there are whose boxes meet the box of a geometry."""
        return sum(len(positions) for _, positions in self._parts(box))

    def search_few(self, box: BaseGeometry, most: int) -> tuple[list[Key], Shapes] | None:
        """As `search`; None where there are more than `most`."""
        parts = self._parts(box)
        return found_in(parts) if sum(len(positions) for _, positions in parts) <= most else None

    def numbers(self: "FeatureIndex[int]", box: BaseGeometry) -> NDArray[numpy.intp]:
        """As `candidates` for an index whose keys are numbers: shape (n,)."""
        parts: list[StaticTree[int] | Delta[int]] = [] if box.is_empty else [*self._trees, self._delta]
        found = [part.numbers[part.positions(box)] for part in parts if part.keys]
        return numpy.concatenate(found) if found else numpy.zeros(0, dtype=numpy.intp)

    def vertices(self, box: BaseGeometry, most: int) -> int:
        """How many vertices the candidates have together; where more than `most`, some number above it."""
        count = 0
        for part, positions in self._parts(box):
            few = positions[: most + 1]
            count += int(shapely.get_num_coordinates(part.shapes[few]).sum()) + len(positions) - len(few)
        return count

    def search_all(self, shapes: Shapes) -> Iterator[tuple[NDArray[numpy.intp], list[Key], Shapes]]:
        """As `search` for the boxes of many geometries at once, none of them empty.

        In parts: the position of each geometry, and the key and the shape of each feature it may meet.
        """
        for tree in self._trees:
            left, right = tree.tree.query(shapes)
            if tree.dead:
                alive = tree.alive[right]
                left, right = left[alive], right[alive]
            if len(left):
                yield left, [tree.keys[position] for position in right.tolist()], tree.shapes[right]
        found = [self._delta.positions(shape) for shape in shapes] if self._delta.keys else []
        right = numpy.concatenate([numpy.zeros(0, dtype=numpy.intp), *found])
        if len(right):
            left = numpy.repeat(numpy.arange(len(found)), [len(one) for one in found])
            yield left, [self._delta.keys[position] for position in right.tolist()], self._delta.shapes[right]

    def shape(self, key: Key) -> BaseGeometry | None:
        """As `get`, but the index's own shape instead of a copy: to read, never to prepare or keep."""
        place = self._places.get(key)
        return None if place is None else place[0].shapes[place[1]]

    def within_distance(self, geometry: BaseGeometry, distance: float) -> list[tuple[Key, float]]:
        """The features within `distance` meters of a geometry, nearest first, with their distance."""
        found = [(key, meters) for key, meters in self._measured(geometry, distance) if meters <= distance]
        return sorted(found, key=lambda pair: pair[1])

    def nearest(
        self, geometry: BaseGeometry, count: int, exclude: Key | None = None
    ) -> list[tuple[Key, float]]:
        """The `count` features nearest to a geometry, nearest first, with their distance in meters."""
        radius = _FIRST_RADIUS_M
        while True:
            found = [
                pair
                for pair in self.within_distance(geometry, radius)
                if exclude is None or pair[0] != exclude
            ]
            if len(found) >= count or radius >= FURTHEST_M:
                return found[:count]
            radius = min(radius * (2 if found else 8), FURTHEST_M)

    def _tolerances(self, keys: Sequence[Key]) -> Tolerance:
        """One tolerance for all features, or one for each of n: shape (n,)."""
        if self._tolerance_of is None:
            return self.tolerance_m
        return numpy.array([self._tolerance_of(key) for key in keys], dtype=numpy.float64)

    def _classified(
        self, left_shapes: Shapes, right_shapes: Shapes, left: Positions, right: Positions, meters: Tolerance
    ) -> Codes:
        """As `classify_pairs`, in portions of bounded work where there is a `watch`."""
        if self.watch is None:
            return classify_pairs(left_shapes, right_shapes, left, right, meters)
        vertices = [
            shapely.get_num_coordinates(shapes)[positions].astype(numpy.float64)
            for shapes, positions in ((left_shapes, left), (right_shapes, right))
        ]
        portions = numpy.cumsum(vertices[0] * vertices[1]) // _WATCHED_EDGES
        borders = numpy.flatnonzero(numpy.diff(portions)) + 1
        codes = numpy.zeros(len(left), dtype=numpy.int8)
        for part in numpy.split(numpy.arange(len(left)), borders):
            self.watch()
            own = meters[part] if isinstance(meters, numpy.ndarray) else meters
            codes[part] = classify_pairs(left_shapes, right_shapes, left[part], right[part], own)
        return codes

    def _count(self, pairs: int) -> None:
        self.pairs_related += pairs

    def _candidates(self, box: BaseGeometry, exclude: Key | None) -> tuple[list[Key], Shapes]:
        keys, shapes = self.search(box)
        if exclude is not None and exclude in keys:
            kept = [place for place, key in enumerate(keys) if key != exclude]
            keys, shapes = [keys[place] for place in kept], shapes[kept]
        return keys, shapes

    def _parts(self, box: BaseGeometry) -> list[tuple[StaticTree[Key] | Delta[Key], NDArray[numpy.intp]]]:
        """The trees and the delta with candidates, and their positions in each."""
        parts: list[StaticTree[Key] | Delta[Key]] = [] if box.is_empty else [*self._trees]
        if self._delta.keys and not box.is_empty:
            parts.append(self._delta)
        found = [(part, part.positions(box)) for part in parts]
        return [(part, positions) for part, positions in found if len(positions)]

    def _measured(self, geometry: BaseGeometry, radius: float) -> Iterator[tuple[Key, float]]:
        if geometry.is_empty:
            return
        boxes = shapely.get_parts(box_around(geometry, radius))
        near = {key: shape for box in boxes for key, shape in zip(*self._candidates(box, None), strict=True)}
        keys, shapes = list(near), array_of(list(near.values()))
        points = shapely.get_type_id(shapes) == 0 if len(keys) else numpy.zeros(0, dtype=bool)
        if isinstance(geometry, Point) and points.all() and len(keys):
            yield from zip(keys, distances_m(geometry, shapes).tolist(), strict=True)
            return
        for key, shape in zip(keys, shapes, strict=True):
            yield key, distance_m(geometry, shape)

    def _fill(self, features: Iterable[tuple[Key, BaseGeometry]]) -> None:
        keys: list[Key] = []
        shapes: list[BaseGeometry] = []
        seen: set[Key] = set()
        for key, geometry in features:
            if key in seen:
                raise MissingFeatureError(
                    f"{key} is given twice. Give every feature one geometry, or a collection."
                )
            seen.add(key)
            keys.append(key)
            shapes.append(geometry)
        if keys:
            self._add_tree(keys, copies_of(array_of(shapes)))

    def _flush(self) -> None:
        """Turn the delta into a tree, and merge trees of similar size."""
        keys, shapes = living_in(self._delta)
        self._delta = Delta()
        while self._trees and len(self._trees[-1].keys) < _MERGE_RATIO * max(len(keys), 1):
            older_keys, older_shapes = living_in(self._trees.pop())
            keys, shapes = older_keys + keys, numpy.concatenate([older_shapes, shapes])
        self._add_tree(keys, shapes)

    def _add_tree(self, keys: list[Key], shapes: Shapes) -> None:
        if not keys:
            return
        tree = StaticTree(keys, shapes, numpy.ones(len(keys), dtype=bool), STRtree(shapes))
        self._trees.append(tree)
        self._trees.sort(key=lambda part: -len(part.keys))
        # No Python loop: there may be a million.
        self._places.update(zip(keys, zip(repeat(tree), range(len(keys))), strict=True))

"""What the index of geometries holds (see `sparql.rewriting.index.geometries`): shapes by place.

A geometry is a number here, its place in the columns `nodes` and `literals`: terms of their own would take
half a kilobyte more each, and thousands are looked up by arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import Literal
from shapely import Point
from shapely.geometry.base import BaseGeometry

from geo.errors import GeometryError
from geo.formats.literals import parse_geometry
from geo.formats.many_literals import parse_many
from geo.relate.index import FeatureIndex
from sparql.model.geometry import Text, literal_of, literal_text, node_of, text_of
from sparql.rewriting.index.features import FeatureMap, Places
from sparql.rewriting.index.notes import SERIALIZATIONS, Key, Named, Node, Note, QuadSource
from sparql.spatial.geometry_reading import GeometryReading, literal_columns, read_geometries
from sparql.storage.gil_yield import with_pauses

_FEWEST_TO_SWEEP: Final = 1000


class GeometryState:
    """What the index holds; complete for every revision from `since` on."""

    def __init__(self, since: int) -> None:
        self.since = since
        self.nodes: list[str] = []
        self.literals: list[Text] = []
        self.shapes: FeatureIndex[int] = FeatureIndex()
        self.unreadable: dict[int, str] = {}
        self.empty: set[int] = set()
        self.unlisted = False
        """Whether there are, or were, serializations that are no literals."""
        self.features = FeatureMap(self.nodes, self.literals, self._shaped, self._places_of)
        # Where points are, in degrees (n, 2); NaN for what is none. There may be rows to spare.
        self._points = numpy.zeros((0, 2))
        # Of most nodes one.
        self._places: dict[str, int | tuple[int, ...]] = {}
        self._gone: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.shapes) + len(self.unreadable) + len(self.empty)

    def fill(self, source: QuadSource, reading: GeometryReading | None = None) -> None:
        """Read all geometry statements of the store, or take those of its default graph as they were read."""
        reading = reading or read_geometries(source)
        self.nodes += reading.nodes
        self.literals += ("" if literal is None else literal for literal in reading.literals)
        shapes = [reading.shapes]
        held = numpy.ones(len(self.nodes), dtype=bool)
        for place, literal in with_pauses(enumerate(reading.literals)):
            if literal is None:
                self.unlisted = True
            held[place] = literal is not None and self._name(place)
        self.unreadable = {place: why for place, why in reading.faults.items() if held[place]}
        for serialization in SERIALIZATIONS:
            for nodes, literals in literal_columns(source, serialization, elsewhere=True):
                self.unlisted = self.unlisted or None in literals
                shapes.append(self._add(nodes, literals))
        found = numpy.concatenate(shapes)
        held = numpy.concatenate([held, numpy.ones(len(found) - len(held), dtype=bool)])
        empty = held & shapely.is_empty(found)
        self.empty.update(numpy.flatnonzero(empty).tolist())
        shaped = held & ~empty & ~shapely.is_missing(found)
        there = numpy.flatnonzero(shaped)
        self.shapes = FeatureIndex.holding(there.tolist(), found[there])
        self._points = numpy.full((len(found), 2), numpy.nan)
        self._points[there] = numpy.column_stack([shapely.get_x(found[there]), shapely.get_y(found[there])])
        self.features.fill(source, reading, shaped.tolist())

    def take(self, note: Note) -> None:
        """Take in a commit."""
        self.unlisted = self.unlisted or note.others
        self.features.touch(note.touched, note.revision)
        for named in note.added:
            self._gone.pop(self._insert(named), None)
        for named in note.removed:
            # Known or not: a checkpoint from before this commit may hold it.
            self._gone[self._insert(named)] = note.revision

    def keys(self, places: Iterable[int]) -> list[Key]:
        """The nodes and literals of geometries."""
        return [(node_of(self.nodes[place]), literal_of(self.literals[place])) for place in places]

    def literals_of(self, node: Node) -> tuple[Literal, ...]:
        """The literals that a geometry node has or has had."""
        return tuple(literal_of(self.literals[place]) for place in self._places_of(text_of(node)))

    def shape_of(self, key: Key) -> BaseGeometry | None:
        """The shape of a key's literal, to look at only; None where it has none, or an empty one."""
        place = self._place(text_of(key[0]), literal_text(key[1]))
        found = None if place is None else self.shapes.shape(place)
        if found is None and place not in self.unreadable:
            try:
                found = parse_geometry(key[1])
            except GeometryError:
                return None
        return None if found is None or found.is_empty else found

    def points_at(self, places: Places) -> NDArray[numpy.float64]:
        """Where points are, in degrees (n, 2); NaN for what is none."""
        points: NDArray[numpy.float64] = self._points[places]
        return points

    def shapes_at(self, places: Places) -> NDArray[numpy.object_]:
        """The shapes of geometries, to look at only; None for what has none to search for."""
        shapes = numpy.empty(len(places), dtype=object)
        shapes[:] = [self.shapes.shape(place) for place in places.tolist()]
        return shapes

    def removed_before(self, source: QuadSource, revision: int) -> dict[int, int]:
        """What no query can read any more that reads `revision` or later, once it is much."""
        if len(self._gone) < max(_FEWEST_TO_SWEEP, len(self) // 10):
            return {}
        old = {place: removed for place, removed in self._gone.items() if removed <= revision}
        for place, (node, literal) in zip(list(old), self.keys(list(old)), strict=True):
            if any(quad.predicate in SERIALIZATIONS for quad in source.match_quads(node, None, literal)):
                del self._gone[place], old[place]
        return old

    def drop(self, swept: dict[int, int], revision: int) -> None:
        """Forget what `removed_before` found, unless a note has come about it."""
        for place, removed in swept.items():
            if self._gone.get(place) == removed:
                del self._gone[place]
                self._drop(place)
        self.since = max(self.since, revision)

    @property
    def wasted(self) -> int:
        """How many places nothing is at any more."""
        return len(self.nodes) - len(self)

    def _insert(self, named: Named) -> int:
        """The place of a geometry, new or not."""
        known = self._place(*named)
        if known is not None:
            return known
        place = len(self.nodes)
        self.nodes.append(named[0])
        self.literals.append(named[1])
        self._name(place)
        self.features.extend(place + 1)
        if place >= len(self._points):
            spare = numpy.full((place * 5 // 4 + 1, 2), numpy.nan)
            spare[: len(self._points)] = self._points
            self._points = spare
        try:
            # The gate has read it already.
            shape = parse_geometry(literal_of(named[1]))
        except GeometryError as error:
            self.unreadable[place] = str(error)
            return place
        if shape.is_empty:
            self.empty.add(place)
        else:
            self.shapes.insert(place, shape)
            if isinstance(shape, Point):
                self._points[place] = shape.x, shape.y
        return place

    def _add(self, nodes: list[str], literals: list[Text | None]) -> NDArray[numpy.object_]:
        """Put what is not here yet at the end of the columns; the shapes of that, None for the unreadable."""
        start = len(self.nodes)
        for node, literal in zip(nodes, literals, strict=True):
            if literal is not None:
                self.nodes.append(node)
                self.literals.append(literal)
                if not self._name(len(self.nodes) - 1):
                    del self.nodes[-1], self.literals[-1]
        read = parse_many(self.literals[start:])
        self.unreadable.update((start + position, why) for position, why in read.faults.items())
        return read.shapes

    def _name(self, place: int) -> bool:
        """Let a place be found by its node; whether there was none with the same literal yet."""
        node = self.nodes[place]
        others = self._places.setdefault(node, place)
        if others == place:
            return True
        others = (others,) if isinstance(others, int) else others
        if any(self.literals[one] == self.literals[place] for one in others):
            return False
        self._places[node] = (*others, place)
        return True

    def _places_of(self, node: str) -> tuple[int, ...]:
        """Where the literals are that a geometry node has or has had."""
        found = self._places.get(node, ())
        return (found,) if isinstance(found, int) else found

    def _place(self, node: str, literal: Text) -> int | None:
        return next((one for one in self._places_of(node) if self.literals[one] == literal), None)

    def _shaped(self, node: str, literal: Text) -> int | None:
        """Where a literal of a node is that has a shape to search for."""
        place = self._place(node, literal)
        return place if place is not None and place in self.shapes else None

    def _drop(self, place: int) -> None:
        if place in self.shapes:
            self.shapes.remove(place)
        self.unreadable.pop(place, None)
        self.empty.discard(place)
        node = self.nodes[place]
        rest = tuple(one for one in self._places_of(node) if one != place)
        if rest:
            self._places[node] = rest if len(rest) > 1 else rest[0]
        else:
            self._places.pop(node, None)

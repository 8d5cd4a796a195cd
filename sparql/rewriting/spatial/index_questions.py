"""Questions that the index of geometries knows the answer to, and their answers at a revision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import Literal
from shapely import GEOSException, Point
from shapely.geometry.base import BaseGeometry, BaseMultipartGeometry

from geo.errors import GeoError
from geo.functions import FUNCTIONS
from geo.measure.measures import FURTHEST_M, box_around, distance_m, distances_m
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.index.features import Form, Places
from sparql.rewriting.index.geometry_state import GeometryState
from sparql.rewriting.index.stopping import UNLIMITED, Stop
from sparql.rewriting.index.table import Column, Table, literal_column, node_column
from sparql.rewriting.spatial.candidates import find
from sparql.rewriting.spatial.constants import NotConstant, UnreadableConstant, term_of
from sparql.rewriting.spatial.feature_rows import times_of
from sparql.rewriting.spatial.geometry_paths import GeometryPath
from sparql.rewriting.spatial.spatial_filters import SpatialFilter

# An answer is made in one piece, and no other thread runs meanwhile.
_MOST_ROWS: Final = 50_000
# The same of a join, and how many features of the side that has fewer, so many of them at a time.
_MOST_PAIRS: Final = 100_000
_MOST_DRIVING: Final = 20_000
_TOGETHER: Final = 128
# More than so many around a place, of any class, and the engine is asked.
_MOST_AROUND: Final = 20_000
_FIRST_RADIUS_M: Final = 200.0
# So many times as many as are asked for lie in a box when as many as are asked for lie in the circle in it.
_PLENTY: Final = 1.5
# So much is looked at in a few milliseconds, in which no other thread would get the interpreter anyway.
_MOST_BRIEFLY: Final = 2_000


class TakesLong(Exception):
    """An answer that is to be brief would look at too much. Never leaves this package."""


@dataclass(frozen=True)
class Question:
    """A query that the index can answer: `shown` are the variables that it selects."""

    spatial: SpatialFilter
    geometry_path: GeometryPath
    classed: tuple[n.TriplePattern, ...]
    shown: tuple[str, ...]
    distinct: bool
    offset: int
    limit: int | None

    def answer(
        self, state: GeometryState, revision: int, stop: Stop = UNLIMITED, *, brief: bool = False
    ) -> Table | None:
        """Its solutions at a revision; None where they are not all known, or too many. Raises `Stopped`.

        Raises `TakesLong` where it is to be `brief` and cannot.
        """
        if brief:
            operand = self.spatial.operands[0]
            _keep_brief(state, self.spatial.area(self.spatial.constant, operand))
        found = find(self.spatial, self.spatial.operands[0], state)
        if not found.exact or len(found) > _MOST_ROWS:
            return None
        stop.check()
        places = state.features.solutions(found.places, revision, times_of(self.geometry_path, self.classed))
        if places is None:
            return None
        sides = ((self.geometry_path, places),)
        return table_of(self.shown, sides, state, self.distinct, self.offset, self.limit)


@dataclass(frozen=True)
class NearestQuestion:
    """The features nearest to a constant place, by the distance that `measured` calls."""

    measured: n.Call
    variable: str
    place: BaseGeometry
    geometry_path: GeometryPath
    classed: tuple[n.TriplePattern, ...]
    shown: tuple[str, ...]
    offset: int
    limit: int

    def answer(
        self, state: GeometryState, revision: int, stop: Stop = UNLIMITED, *, brief: bool = False
    ) -> Table | None:
        """As `Question.answer`.

        The index says which geometries can be among the nearest, and only of features that are asked for it
        is found out how far they are; how far each of the nearest is says the function itself.
        """
        if state.unlisted or state.unreadable or state.empty:
            # They have no distance, which comes first.
            return None
        wanted, times = self.offset + self.limit, times_of(self.geometry_path, self.classed)
        radius, patient = _FIRST_RADIUS_M, False
        while True:
            stop.check()
            around = _places_around(self.place, radius, state, brief=brief)
            if around is None:
                return None
            enough = wanted if patient or radius >= FURTHEST_M else _PLENTY * wanted
            found, places = len(around), None
            if found >= enough:
                places = state.features.solutions(around, revision, times)
                if places is None:
                    return None
                found = len(places)
            if places is not None and found >= enough:
                meters, exactly = self._meters(state.shapes_at(places), stop, brief=brief)
                # Distances are the same from both ends to a part in a hundred only.
                reach = float(numpy.partition(meters, wanted - 1)[wanted - 1]) * 1.05 + 1
                if reach <= radius:
                    near = numpy.flatnonzero(meters <= reach)
                    return self._ordered(places[near], meters[near] if exactly else None, state)
                # So many are so near: the next round is the last one.
                following = reach
            else:
                # As large as it has to be where they lie as densely further out.
                following = radius * (min(max((2 * wanted / found) ** 0.5, 1.2), 8) if found else 8)
                patient = found >= wanted
            if radius >= FURTHEST_M:
                return None
            radius = min(following, FURTHEST_M)

    def _meters(
        self, shapes: NDArray[numpy.object_], stop: Stop, *, brief: bool
    ) -> tuple[NDArray[numpy.float64], bool]:
        """How far n geometries are from the place: shape (n,); infinitely where there is none any more.

        And whether that is what the function says, in meters, to the last digit.
        """
        if isinstance(self.place, Point) and (shapely.get_type_id(shapes) == 0).all():
            towards = isinstance(self.measured.arguments[0], n.VariableUse)
            return distances_m(self.place, shapes, towards=towards), True
        if brief:
            raise TakesLong
        found = []
        for shape in shapes:
            stop.check()
            found.append(inf if shape is None else distance_m(self.place, shape))
        return numpy.array(found), False

    def _ordered(
        self, places: Places, measured: NDArray[numpy.float64] | None, state: GeometryState
    ) -> Table | None:
        if measured is None:
            try:
                distances = [self._distance(literal) for _, literal in state.keys(places.tolist())]
            except (GeoError, NotConstant, UnreadableConstant):
                return None
            measured = numpy.array(distances)
        order = numpy.argsort(measured, kind="stable")[self.offset : self.offset + self.limit]
        return table_of(self.shown, ((self.geometry_path, places[order]),), state)

    def _distance(self, literal: Literal) -> float:
        measured = FUNCTIONS[self.measured.iri](
            *(
                literal if isinstance(one, n.VariableUse) and one.name == self.variable else term_of(one, {})
                for one in self.measured.arguments
            )
        )
        if not isinstance(measured, Literal):
            raise NotConstant
        return float(measured.value)


@dataclass(frozen=True)
class JoinQuestion:
    """The pairs of features that a filter is true of; the geometry paths and classes of its two sides."""

    spatial: SpatialFilter
    geometry_paths: tuple[GeometryPath, GeometryPath]
    classed: tuple[tuple[n.TriplePattern, ...], tuple[n.TriplePattern, ...]]
    shown: tuple[str, ...]
    distinct: bool
    offset: int
    limit: int | None

    def answer(
        self, state: GeometryState, revision: int, stop: Stop = UNLIMITED, *, brief: bool = False
    ) -> Table | None:
        """As `Question.answer`; never brief."""
        if brief:
            raise TakesLong
        features = state.features
        if not features.settled(revision) or features.odd or (self.spatial.of_empty and state.empty):
            return None
        times = [times_of(*side) for side in zip(self.geometry_paths, self.classed, strict=True)]
        first, second = (features.count(one) for one in times)
        if first is None or second is None or min(first, second) > _MOST_DRIVING:
            return None
        driving = 0 if first <= second else 1
        driven = features.bearing(times[driving])
        left: list[Places] = [numpy.zeros(0, dtype=numpy.intp)]
        right = list(left)
        pairs = 0
        for start in range(0, len(driven), _TOGETHER):
            stop.check()
            together = driven[start : start + _TOGETHER]
            try:
                found = list(self._pairs(together, driving, state, times[1 - driving]))
            except GEOSException:
                # The engine reports the pair, as an error of the function.
                return None
            for one, other in found:
                left.append(one)
                right.append(other)
                pairs += len(one)
            if pairs > _MOST_PAIRS:
                return None
        stop.check()
        sides = (
            (self.geometry_paths[driving], numpy.concatenate(left)),
            (self.geometry_paths[1 - driving], numpy.concatenate(right)),
        )
        return table_of(self.shown, sides, state, self.distinct, self.offset, self.limit)

    def _pairs(
        self, places: Places, driving: int, state: GeometryState, times: Callable[[Form], int]
    ) -> Iterator[tuple[Places, Places]]:
        """What some geometries of one side are joined with: these, as often as needed, and the others."""
        shapes = shapely.from_wkb(shapely.to_wkb(state.shapes_at(places)))
        shapely.prepare(shapes)
        for left, others, there in state.shapes.search_all(shapes):
            holds = self.spatial.holds_of(shapes[left], there, prepared_left=driving == 0)
            joined = numpy.array(others, dtype=numpy.intp)[holds]
            bears = state.features.bears(joined, times)
            yield places[left[holds]][bears], joined[bears]


def _keep_brief(state: GeometryState, box: BaseGeometry) -> None:
    """Raise `TakesLong` where many vertices are in this box."""
    if state.shapes.vertices(box, _MOST_BRIEFLY) > _MOST_BRIEFLY:
        raise TakesLong


def _places_around(
    place: BaseGeometry, radius_m: float, state: GeometryState, *, brief: bool
) -> Places | None:
    """The geometries whose boxes are within `radius_m` meters of a place; None where they are too many.

    Raises `TakesLong` where it is to be `brief` and they have many vertices.
    """
    most = _MOST_BRIEFLY if brief else _MOST_AROUND
    box = box_around(place, radius_m)
    around: list[int] = []
    for part in box.geoms if isinstance(box, BaseMultipartGeometry) else (box,):
        found = state.shapes.search_few(part, most)
        if found is None or (brief and int(shapely.get_num_coordinates(found[1]).sum()) > most):
            if brief:
                raise TakesLong
            return None
        around += found[0]
    places = numpy.array(around, dtype=numpy.intp)
    return numpy.unique(places) if isinstance(box, BaseMultipartGeometry) else places


def table_of(
    shown: tuple[str, ...],
    sides: Sequence[tuple[GeometryPath, Places]],
    state: GeometryState,
    distinct: bool = False,
    offset: int = 0,
    limit: int | None = None,
) -> Table:
    """The part of the solutions that is asked for, given by the geometries of each geometry path."""
    part = slice(None) if distinct else slice(offset, None if limit is None else offset + limit)
    columns = [
        _column(geometry_path, name, places[part].tolist(), state)
        for name in shown
        for geometry_path, places in sides
        if name in names_of(geometry_path)
    ]
    table = Table(shown, tuple(columns))
    return table.distinct(offset, limit) if distinct else table


def names_of(geometry_path: GeometryPath) -> set[str | None]:
    """The variables of an geometry path; None may be among them."""
    return {geometry_path.feature, geometry_path.node, geometry_path.binding.variable}


def _column(geometry_path: GeometryPath, name: str, places: list[int], state: GeometryState) -> Column:
    """What a variable of an geometry path is in solutions given by geometries."""
    if name == geometry_path.feature:
        return node_column(state.features.owners_of(places))
    if name == geometry_path.binding.variable:
        return literal_column([state.literals[place] for place in places])
    return node_column([state.nodes[place] for place in places])

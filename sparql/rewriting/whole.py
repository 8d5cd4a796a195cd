"""Queries that the index of geometries answers whole, without a reader: what is where, of which class.

One spatial filter that the index decides for sure, with a constant or of two features, or the nearest to a
place; the patterns from a feature to its literal; classes: all of it is known of the revision, so that
nothing is left for the engine to look up. A row costs some microseconds so, and thirty as a candidate that it
joins and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Final

import numpy
import pyoxigraph
import shapely
from numpy.typing import NDArray
from pyoxigraph import Literal
from shapely import Point
from shapely.geometry.base import BaseGeometry

from geo import GeoError
from geo.functions import FUNCTIONS
from geo.measures import FURTHEST_M, box_around, distance_m, distances_m
from sparql.rewriting import nodes as n
from sparql.rewriting.anchors import Anchor, anchor_of
from sparql.rewriting.by_feature import class_patterns, times_of
from sparql.rewriting.candidates import find
from sparql.rewriting.constants import NotConstant, UnreadableConstant, term_of
from sparql.rewriting.features import Form
from sparql.rewriting.geometries import Key, Node
from sparql.rewriting.geometry_state import GeometryState
from sparql.rewriting.nearest import place_of
from sparql.rewriting.parser import parse_query
from sparql.rewriting.runs import binding_in, runs_of
from sparql.rewriting.spatial_filters import SpatialFilter, conjuncts_of, local_name, recognise
from sparql.rewriting.stopping import Stop
from sparql.rewriting.table import Table, Term
from sparql.rewriting.term_reader import NotUnderstood
from sparql.syntax import QueryForm

# An answer is made in one piece, and nobody else has the interpreter meanwhile.
_MOST_ROWS: Final = 50_000
# The same of a join, and how many features of the side that has fewer, so many of them at a time.
_MOST_PAIRS: Final = 100_000
_MOST_DRIVING: Final = 20_000
_TOGETHER: Final = 128
_REMEMBERED: Final = 512
_LONGEST_REMEMBERED: Final = 16_384
# More than so many around a place, of any class, and the engine is asked.
_MOST_AROUND: Final = 20_000
_FIRST_RADIUS_M: Final = 200.0
# So much is looked at in a few milliseconds, in which no other thread would get the interpreter anyway.
_MOST_BRIEFLY: Final = 2_000
UNHURRIED: Final = Stop()


class TakesLong(Exception):
    """An answer that is to be brief would look at too much. It never leaves this room."""


@dataclass(frozen=True)
class Question:
    """A query that can be answered whole: `shown` are the variables that it asks for."""

    spatial: SpatialFilter
    anchor: Anchor
    classed: tuple[n.TriplePattern, ...]
    shown: tuple[str, ...]
    distinct: bool
    offset: int
    limit: int | None

    def answer(
        self, state: GeometryState, revision: int, stop: Stop = UNHURRIED, *, brief: bool = False
    ) -> Table | None:
        """Its solutions at a revision; None where they are not all known, or too many. Raises `Stopped`.

        Raises `TakesLong` where it is to be `brief` and cannot.
        """
        if brief:
            operand = self.spatial.operands[0]
            _keep_brief(state, self.spatial.area(self.spatial.constant, operand))
        found = find(self.spatial, self.spatial.operands[0], state)
        if not found.exact or len(found.keys) > _MOST_ROWS:
            return None
        stop.check()
        rows = state.features.solutions(found.keys, revision, times_of(self.anchor, self.classed))
        if rows is None:
            return None
        columns = [column_of(self.anchor, name, *rows) for name in self.shown]
        return table_of(self.shown, columns, self.distinct, self.offset, self.limit)


@dataclass(frozen=True)
class NearestQuestion:
    """The features nearest to a constant place, by the distance that `measured` calls."""

    measured: n.Call
    variable: str
    place: BaseGeometry
    anchor: Anchor
    classed: tuple[n.TriplePattern, ...]
    shown: tuple[str, ...]
    offset: int
    limit: int

    def answer(
        self, state: GeometryState, revision: int, stop: Stop = UNHURRIED, *, brief: bool = False
    ) -> Table | None:
        """As `Question.answer`.

        The index says which geometries can be among the nearest, and only of features that are asked for it
        is found out how far they are; how far each of the nearest is says the function itself.
        """
        if state.unlisted or state.unreadable or state.empty:
            # They have no distance, which comes first.
            return None
        wanted, times = self.offset + self.limit, times_of(self.anchor, self.classed)
        radius = _FIRST_RADIUS_M
        while True:
            stop.check()
            boxes = shapely.get_parts(box_around(self.place, radius))
            if brief:
                _keep_brief(state, *boxes)
            keys = list(dict.fromkeys(key for box in boxes for key in state.shapes.candidates(box)))
            rows = None if len(keys) > _MOST_AROUND else state.features.solutions(keys, revision, times)
            if rows is None:
                return None
            if len(rows[0]) >= wanted:
                metres, exactly = self._metres(rows[0], state, stop, brief=brief)
                # Distances are the same from both ends to a part in a hundred only.
                reach = float(numpy.partition(metres, wanted - 1)[wanted - 1]) * 1.05 + 1
                if reach <= radius:
                    near = numpy.flatnonzero(metres <= reach)
                    measured = metres[near] if exactly else None
                    chosen = near.tolist()
                    keys, owners = [rows[0][one] for one in chosen], [rows[1][one] for one in chosen]
                    return self._ordered(keys, owners, measured)
                # So many are so near: the next round is the last one.
                following = reach
            else:
                following = radius * (2 if rows[0] else 8)
            if radius >= FURTHEST_M:
                return None
            radius = min(following, FURTHEST_M)

    def _metres(
        self, keys: list[Key], state: GeometryState, stop: Stop, *, brief: bool
    ) -> tuple[NDArray[numpy.float64], bool]:
        """How far geometries are from the place: shape (n,); infinitely where there is none any more.

        And whether that is what the function says, in metres, to the last digit.
        """
        shapes = [state.shape_of(key) for key in keys]
        if isinstance(self.place, Point) and all(isinstance(shape, Point) for shape in shapes):
            points = numpy.empty(len(shapes), dtype=object)
            points[:] = shapes
            towards = isinstance(self.measured.arguments[0], n.VariableUse)
            return distances_m(self.place, points, towards=towards), True
        if brief:
            raise TakesLong
        found = []
        for shape in shapes:
            stop.check()
            found.append(inf if shape is None else distance_m(self.place, shape))
        return numpy.array(found), False

    def _ordered(
        self, keys: list[Key], features: list[Node], measured: NDArray[numpy.float64] | None
    ) -> Table | None:
        try:
            distances = [self._distance(key[1]) for key in keys] if measured is None else measured.tolist()
        except (GeoError, NotConstant, UnreadableConstant):
            return None
        order = sorted(range(len(keys)), key=distances.__getitem__)[self.offset : self.offset + self.limit]
        keys, features = [keys[one] for one in order], [features[one] for one in order]
        return Table(self.shown, tuple(column_of(self.anchor, name, keys, features) for name in self.shown))

    def _distance(self, literal: Literal) -> float:
        measured = FUNCTIONS[self.measured.iri](
            *(
                literal if one == n.VariableUse(self.variable, one.start, one.end) else term_of(one, {})
                for one in self.measured.arguments
            )
        )
        if not isinstance(measured, Literal):
            raise NotConstant
        return float(measured.value)


@dataclass(frozen=True)
class JoinQuestion:
    """The pairs of features that a filter is true of; the anchors and classes of its two sides."""

    spatial: SpatialFilter
    anchors: tuple[Anchor, Anchor]
    classed: tuple[tuple[n.TriplePattern, ...], tuple[n.TriplePattern, ...]]
    shown: tuple[str, ...]
    distinct: bool
    offset: int
    limit: int | None

    def answer(
        self, state: GeometryState, revision: int, stop: Stop = UNHURRIED, *, brief: bool = False
    ) -> Table | None:
        """As `Question.answer`; never brief."""
        if brief:
            raise TakesLong
        features = state.features
        if not features.settled(revision) or features.odd:
            return None
        times = [times_of(*side) for side in zip(self.anchors, self.classed, strict=True)]
        first, second = (features.count(one) for one in times)
        if first is None or second is None or min(first, second) > _MOST_DRIVING:
            return None
        driving = 0 if first <= second else 1
        driven = features.bearing(times[driving])
        found: tuple[list[Key], list[Node], list[Key], list[Node]] = ([], [], [], [])
        for start in range(0, len(driven[0]), _TOGETHER):
            stop.check()
            keys, owners = driven[0][start : start + _TOGETHER], driven[1][start : start + _TOGETHER]
            for position, key, owner in self._pairs(keys, driving, state, times[1 - driving]):
                found[0].append(keys[position])
                found[1].append(owners[position])
                found[2].append(key)
                found[3].append(owner)
            if len(found[0]) > _MOST_PAIRS:
                return None
        stop.check()
        one, other = (self.anchors[driving], found[:2]), (self.anchors[1 - driving], found[2:])
        columns = [
            column_of(anchor, name, *rows)
            for name in self.shown
            for anchor, rows in (one, other)
            if name in names_of(anchor)
        ]
        return table_of(self.shown, columns, self.distinct, self.offset, self.limit)

    def _pairs(
        self, keys: list[Key], driving: int, state: GeometryState, times: Callable[[Form], int]
    ) -> Iterator[tuple[int, Key, Node]]:
        """What some geometries of one side are joined with: position, geometry and feature of each."""
        shapes = numpy.empty(len(keys), dtype=object)
        shapes[:] = [state.shape_of(key) for key in keys]
        shapes = shapely.from_wkb(shapely.to_wkb(shapes))
        shapely.prepare(shapes)
        for left, others, there in state.shapes.search_all(shapes):
            holds = self.spatial.holds_of(shapes[left], there, prepared_left=driving == 0)
            kept = numpy.flatnonzero(holds).tolist()
            joined = [others[one] for one in kept]
            owners = state.features.owners(joined, times)
            for position, key, owner in zip(left[kept].tolist(), joined, owners, strict=True):
                if owner is not None:
                    yield position, key, owner


def _keep_brief(state: GeometryState, *boxes: BaseGeometry) -> None:
    """Raise `TakesLong` where many vertices are in these boxes."""
    if sum(state.shapes.vertices(box, _MOST_BRIEFLY) for box in boxes) > _MOST_BRIEFLY:
        raise TakesLong


def table_of(
    shown: tuple[str, ...], columns: list[list[Term]], distinct: bool, offset: int, limit: int | None
) -> Table:
    """The part of the solutions that is asked for."""
    if distinct:
        columns = [list(column) for column in zip(*dict.fromkeys(zip(*columns, strict=True)), strict=True)]
        columns = columns or [[] for _ in shown]
    end = None if limit is None else offset + limit
    return Table(shown, tuple(column[offset:end] for column in columns))


def names_of(anchor: Anchor) -> set[str | None]:
    """The variables of an anchor; None may be among them."""
    return {anchor.feature, anchor.node, anchor.binding.variable}


def column_of(anchor: Anchor, name: str, keys: list[Key], features: list[Node]) -> list[Term]:
    """What a variable of an anchor is in solutions given by geometry and feature."""
    if name == anchor.feature:
        return list(features)
    return [key[1] if name == anchor.binding.variable else key[0] for key in keys]


def question_of(text: str, base: str | None) -> Question | NearestQuestion | JoinQuestion | None:
    """The question that a query is, if it is one; None for the long way. Texts that repeat are remembered."""
    return _remembered(text, base) if len(text) <= _LONGEST_REMEMBERED else _question_of(text, base)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(text: str, base: str | None) -> Question | NearestQuestion | JoinQuestion | None:
    return _question_of(text, base)


def _question_of(text: str, base: str | None) -> Question | NearestQuestion | JoinQuestion | None:
    try:
        parsed = parse_query(text, base)
    except NotUnderstood:
        return None
    query = parsed.query
    if query.form is not QueryForm.SELECT or query.where is None or not query.projection:
        return None
    if query.dataset_clause or query.grouped or query.values is not None:
        return None
    if any(one.expression is not None for one in query.projection):
        return None
    shown = tuple(one.variable for one in query.projection)
    if len(set(shown)) < len(shown):
        return None
    found = _nearest(query, query.where, shown) if query.order else _filtered(query, query.where, shown)
    return found if found is not None and _is_valid(parsed.text, base) else None


def _filtered(query: n.Query, where: n.Group, shown: tuple[str, ...]) -> Question | JoinQuestion | None:
    spatial = _only_filter(where)
    if spatial is None:
        return None
    anchors = _only_anchors(where, [one.name for one in spatial.operands], shown)
    if anchors is None:
        return None
    classed = [class_patterns(one) for one in anchors]
    part = (shown, query.distinct, query.offset, query.limit)
    if len(anchors) == 1:
        return Question(spatial, anchors[0], classed[0], *part)
    return JoinQuestion(spatial, (anchors[0], anchors[1]), (classed[0], classed[1]), *part)


def _nearest(query: n.Query, where: n.Group, shown: tuple[str, ...]) -> NearestQuestion | None:
    measured = query.order[0].expression
    if len(query.order) > 1 or query.distinct or not isinstance(measured, n.Call):
        return None
    if local_name(measured) not in ("distance", "metricDistance"):
        return None
    if not all(isinstance(one, n.Statement) for one in where.elements):
        return None
    sought = place_of(query, where, measured)
    if isinstance(sought, str) or query.limit is None:
        return None
    binding, place = sought
    anchors = _only_anchors(where, [binding.variable], shown)
    if anchors is None:
        return None
    classed = class_patterns(anchors[0])
    return NearestQuestion(
        measured, binding.variable, place, anchors[0], classed, shown, query.offset, query.limit
    )


def _only_filter(where: n.Group) -> SpatialFilter | None:
    """The filter of a group of triple patterns that has no other and is decided for sure."""
    if not all(isinstance(one, n.Statement | n.Filter) for one in where.elements):
        return None
    filters = [one for one in where.elements if isinstance(one, n.Filter)]
    if len(filters) != 1 or len(conjuncts_of(filters[0].expression)) != 1:
        return None
    try:
        spatial = recognise(filters[0].expression, {})
    except UnreadableConstant:
        return None
    return spatial if isinstance(spatial, SpatialFilter) and spatial.exact else None


def _only_anchors(where: n.Group, variables: list[str], shown: tuple[str, ...]) -> list[Anchor] | None:
    """The anchors of a group that has nothing else but classes, and of whose variables these are."""
    runs = runs_of(where)
    bindings = [binding_in(runs[0], one) for one in variables] if len(runs) == 1 else []
    found = [None if binding is None else anchor_of(binding) for binding in bindings]
    anchors = [anchor for anchor in found if anchor is not None]
    if not anchors or len(anchors) < len(variables):
        return None
    names = [name for anchor in anchors for name in names_of(anchor) if name is not None]
    if len(set(names)) < len(names) or not set(shown) <= set(names):
        return None
    known = [triple for anchor in anchors for triple in (*anchor.triples, *class_patterns(anchor))]
    if any(one not in known for one in runs[0].triples):
        return None
    return anchors


def _is_valid(text: str, base: str | None) -> bool:
    """Whether it is a query to the engine too, which tells what is wrong with it if it is none."""
    try:
        pyoxigraph.Store().query(text, base_iri=base, custom_functions=dict(FUNCTIONS))
    except (SyntaxError, ValueError):
        return False
    return True

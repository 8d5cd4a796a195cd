"""Queries that the index of geometries answers without a reader: what is where, of which class.

One spatial filter that the index decides for sure, with a constant or of two features, or the nearest to a
place; the patterns from a feature to its literal; classes: all of it is known of the revision, so that
nothing is left for the engine to look up. A row costs some microseconds so, and thirty as a candidate that it
joins and writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import inf
from typing import Final

import numpy
import pyoxigraph
import shapely
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, QuerySolutions
from shapely import Point
from shapely.geometry.base import BaseGeometry, BaseMultipartGeometry

from geo.errors import GeoError
from geo.functions import FUNCTIONS
from geo.measure.measures import FURTHEST_M, box_around, distance_m, distances_m
from geo.vocabulary import WKT_LITERAL
from sparql.model.geometry import Text, literal_of, node_of
from sparql.model.vocabulary import XSD
from sparql.protocol.formats import Format
from sparql.rewriting.basic_patterns import GeometryPath, basic_patterns_of, binding_in, geometry_path_of
from sparql.rewriting.candidates import class_patterns, find, place_of, times_of
from sparql.rewriting.geometry_state import GeometryState, Places
from sparql.rewriting.joins import pairs_of
from sparql.rewriting.spatial_filters import (
    NotConstant,
    SpatialFilter,
    UnreadableConstant,
    conjuncts_of,
    local_name,
    recognize,
    term_of,
)
from sparql.rewriting.steps import UNLIMITED, Stop
from sparql.syntax import nodes as n
from sparql.syntax.parser import parse_query
from sparql.syntax.request_facts import QueryForm
from sparql.syntax.tokens import NotUnderstood

Term = NamedNode | BlankNode | Literal

# What is no IRI as it is begins so.
_MARKED: Final = ("_", "<")
_encoded: Final[Callable[[str], str]] = json.encoder.encode_basestring


@dataclass(frozen=True)
class Column:
    """The terms of a variable as they are written: `before`, what is each one's own, `after`."""

    texts: Sequence[str]
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Table:
    """The solutions of a SELECT, each of its variables bound in all of them, by columns of like length."""

    variables: tuple[str, ...]
    columns: tuple[Column, ...]

    def distinct(self, offset: int, limit: int | None) -> Table:
        """The same without repetitions, and of that a part."""
        rows = list(dict.fromkeys(zip(*(column.texts for column in self.columns), strict=True)))
        part = rows[offset : None if limit is None else offset + limit]
        texts = zip(*part, strict=True) if part else [()] * len(self.columns)
        columns = [replace(column, texts=own) for column, own in zip(self.columns, texts, strict=True)]
        return Table(self.variables, tuple(columns))

    def written(self, format_: Format) -> bytes:
        """The answer in a format of results."""
        body = self._json()
        if format_.engine == QueryResultsFormat.JSON:
            return body
        results = pyoxigraph.parse_query_results(body, format=QueryResultsFormat.JSON)
        assert isinstance(results, QuerySolutions)
        assert isinstance(format_.engine, QueryResultsFormat)
        written = results.serialize(format=format_.engine)
        assert written is not None
        return written

    def _json(self) -> bytes:
        """What is between the texts of a row, and between rows, is always the same."""
        named = list(zip(self.variables, self.columns, strict=True))
        first, last = f'{{"{self.variables[0]}":{self.columns[0].before}', f"{self.columns[-1].after}}}"
        rows: Sequence[str] = self.columns[0].texts
        for (_, left), (name, right) in pairwise(named):
            between = f'{left.after},"{name}":{right.before}'
            rows = [f"{row}{between}{text}" for row, text in zip(rows, right.texts, strict=True)]
        bindings = f"{first}{f'{last},{first}'.join(rows)}{last}" if rows else ""
        head = json.dumps({"vars": self.variables}, separators=(",", ":"))
        return f'{{"head":{head},"results":{{"bindings":[{bindings}]}}}}'.encode()


def node_column(nodes: Sequence[str]) -> Column:
    """A column of nodes, given as in `sparql.model.geometry`."""
    # Where no IRI needs escapes, as none does that is one, and none is marked.
    if _is_plain(nodes):
        return Column(nodes, '{"type":"uri","value":"', '"}')
    return Column([cell_of(node_of(node)) for node in nodes])


def literal_column(literals: Sequence[Text]) -> Column:
    """A column of literals, given as in `sparql.model.geometry`."""
    texts = [literal for literal in literals if isinstance(literal, str)]
    if len(texts) < len(literals):
        return Column([cell_of(literal_of(literal)) for literal in literals])
    datatype = _encoded(WKT_LITERAL.value)
    return Column(
        [_encoded(text) for text in texts], '{"type":"literal","value":', f',"datatype":{datatype}}}'
    )


def _is_plain(nodes: Sequence[str]) -> bool:
    """Whether all are IRIs that are written as they are."""
    together = " ".join(nodes)
    marked = together.startswith(_MARKED) or any(f" {one}" in together for one in _MARKED)
    return not marked and _encoded(together) == f'"{together}"'


def cell_of(term: Term) -> str:
    """A term as it is written."""
    if isinstance(term, NamedNode):
        return f'{{"type":"uri","value":{_encoded(term.value)}}}'
    if isinstance(term, BlankNode):
        return f'{{"type":"bnode","value":"{term.value}"}}'
    value = f'"type":"literal","value":{_encoded(term.value)}'
    if term.language is not None:
        return f'{{{value},"xml:lang":"{term.language}"}}'
    if term.datatype == XSD.string:
        return f"{{{value}}}"
    return f'{{{value},"datatype":{_encoded(term.datatype.value)}}}'


# An answer is made in one piece, and no other thread runs meanwhile.
_MOST_ROWS: Final = 50_000
# The same of a join, and how many features of the side that has fewer.
_MOST_PAIRS: Final = 100_000
_MOST_DRIVING: Final = 20_000
# More than so many around a place, of any class, and the engine is asked.
_MOST_AROUND: Final = 20_000
_FIRST_RADIUS_M: Final = 200.0
# So many times as many as are asked for lie in a box when as many as are asked for lie in the circle in it.
_PLENTY: Final = 1.5


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

    def answer(self, state: GeometryState, revision: int, stop: Stop = UNLIMITED) -> Table | None:
        """Its solutions at a revision; None where they are not all known, or too many. Raises `Stopped`."""
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

    def answer(self, state: GeometryState, revision: int, stop: Stop = UNLIMITED) -> Table | None:
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
            around = _places_around(self.place, radius, state)
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
                meters, exactly = self._meters(state.shapes_at(places), stop)
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

    def _meters(self, shapes: NDArray[numpy.object_], stop: Stop) -> tuple[NDArray[numpy.float64], bool]:
        """How far n geometries are from the place: shape (n,); infinitely where there is none any more.

        And whether that is what the function says, in meters, to the last digit.
        """
        if isinstance(self.place, Point) and (shapely.get_type_id(shapes) == 0).all():
            towards = isinstance(self.measured.arguments[0], n.VariableUse)
            return distances_m(self.place, shapes, towards=towards), True
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

    def answer(self, state: GeometryState, revision: int, stop: Stop = UNLIMITED) -> Table | None:
        """As `Question.answer`."""
        features = state.features
        if not features.settled(revision) or features.odd or (self.spatial.of_empty and state.empty):
            return None
        times = [times_of(*side) for side in zip(self.geometry_paths, self.classed, strict=True)]
        first, second = (features.count(one) for one in times)
        if first is None or second is None or min(first, second) > _MOST_DRIVING:
            return None
        driving = 0 if first <= second else 1
        sides = [features.bearing(one) for one in times]
        found = pairs_of(self.spatial, sides[driving], driving, sides[1 - driving], state, stop)
        if found is None or not found.exact or len(found) > _MOST_PAIRS:
            return None
        stop.check()
        both = tuple(zip(self.geometry_paths, found.sides, strict=True))
        return table_of(self.shown, both, state, self.distinct, self.offset, self.limit)


def _places_around(place: BaseGeometry, radius_m: float, state: GeometryState) -> Places | None:
    """The geometries whose boxes are within `radius_m` meters of a place; None where they are too many."""
    box = box_around(place, radius_m)
    around: list[int] = []
    for part in box.geoms if isinstance(box, BaseMultipartGeometry) else (box,):
        found = state.shapes.search_few(part, _MOST_AROUND)
        if found is None:
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


_REMEMBERED: Final = 512
_LONGEST_REMEMBERED: Final = 16_384


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
    geometry_paths = _only_geometry_paths(where, [one.name for one in spatial.operands], shown)
    if geometry_paths is None:
        return None
    classed = [class_patterns(one) for one in geometry_paths]
    part = (shown, query.distinct, query.offset, query.limit)
    if len(geometry_paths) == 1:
        return Question(spatial, geometry_paths[0], classed[0], *part)
    return JoinQuestion(spatial, (geometry_paths[0], geometry_paths[1]), (classed[0], classed[1]), *part)


def _nearest(query: n.Query, where: n.Group, shown: tuple[str, ...]) -> NearestQuestion | None:
    measured = query.order[0].expression
    if len(query.order) > 1 or query.distinct or not isinstance(measured, n.Call):
        return None
    if local_name(measured) not in ("distance", "metricDistance"):
        return None
    if not all(isinstance(one, n.Statement) for one in where.elements):
        return None
    measured_from = place_of(query, where, measured)
    if isinstance(measured_from, str) or query.limit is None:
        return None
    binding, place = measured_from
    geometry_paths = _only_geometry_paths(where, [binding.variable], shown)
    if geometry_paths is None:
        return None
    classed = class_patterns(geometry_paths[0])
    return NearestQuestion(
        measured, binding.variable, place, geometry_paths[0], classed, shown, query.offset, query.limit
    )


def _only_filter(where: n.Group) -> SpatialFilter | None:
    """The filter of a group of triple patterns that has no other and is decided for sure."""
    if not all(isinstance(one, n.Statement | n.Filter) for one in where.elements):
        return None
    filters = [one for one in where.elements if isinstance(one, n.Filter)]
    if len(filters) != 1 or len(conjuncts_of(filters[0].expression)) != 1:
        return None
    try:
        spatial = recognize(filters[0].expression, {})
    except UnreadableConstant:
        return None
    return spatial if isinstance(spatial, SpatialFilter) and spatial.exact else None


def _only_geometry_paths(
    where: n.Group, variables: list[str], shown: tuple[str, ...]
) -> list[GeometryPath] | None:
    """The geometry paths of a group that has nothing else but classes, and of whose variables these are."""
    bgps = basic_patterns_of(where)
    bindings = [binding_in(bgps[0], one) for one in variables] if len(bgps) == 1 else []
    found = [None if binding is None else geometry_path_of(binding) for binding in bindings]
    geometry_paths = [geometry_path for geometry_path in found if geometry_path is not None]
    if not geometry_paths or len(geometry_paths) < len(variables):
        return None
    names = [name for geometry_path in geometry_paths for name in names_of(geometry_path) if name is not None]
    if len(set(names)) < len(names) or not set(shown) <= set(names):
        return None
    known = [
        triple
        for geometry_path in geometry_paths
        for triple in (*geometry_path.triples, *class_patterns(geometry_path))
    ]
    if any(one not in known for one in bgps[0].triples):
        return None
    return geometry_paths


def _is_valid(text: str, base: str | None) -> bool:
    """Whether the engine accepts it too; else the engine says what is wrong with it."""
    try:
        pyoxigraph.Store().query(text, base_iri=base, custom_functions=dict(FUNCTIONS))
    except (SyntaxError, ValueError):
        return False
    return True

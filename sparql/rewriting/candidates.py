"""From geometries that a filter can be true of, or that are nearest to a place, to rows of VALUES.

They are named as features where it is known whose they are: then the patterns from a feature to its geometry
need not be asked any more; else by literal or by geometry node.

The nearest k (ORDER BY a distance to a constant, LIMIT k) are put in front and the query is asked for its
number of solutions (a probe). As many as its LIMIT: whatever was left out is further away, so the answer is
complete. Fewer, since other patterns or filters turn some away: more of them, and at last all. Geometries
without a distance (unreadable or empty ones) sort first and are always among the candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Variable
from shapely import GEOSException, Point
from shapely.geometry.base import BaseGeometry

from geo.measure.measures import distances_m, may_be_near
from sparql.model.geometry import node_of
from sparql.model.vocabulary import RDF
from sparql.rewriting.basic_patterns import (
    Binding,
    GeometryPath,
    Plan,
    Split,
    basic_patterns_of,
    binding_in,
    split_path,
    with_plans,
)
from sparql.rewriting.filter_sites import FilterSite
from sparql.rewriting.geometry_state import Form, GeometryState, Places
from sparql.rewriting.notes import Key
from sparql.rewriting.spatial_filters import (
    NotConstant,
    Operand,
    SpatialFilter,
    UnreadableConstant,
    constants_in,
    distance_call,
    geometry_of,
    local_name,
)
from sparql.rewriting.steps import Probe, Report, Steps
from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.parser import ParsedQuery
from sparql.syntax.request_facts import QueryForm

_SHORT_LITERAL = 200
MOST_TEXT = 8_000_000
"""How many characters of candidates a query may gain."""


class TooMuchText(Exception):
    """The candidates would make the query too long."""


@dataclass(frozen=True)
class Found:
    """The candidates of one variable, by their places in the index.

    `exact` means that the filter is true of each and of no other.
    """

    places: Places
    exact: bool

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class VariableCandidates:
    """Candidates for a variable of one basic graph pattern; the filters `decided` are true of each."""

    sites: tuple[FilterSite, ...]
    binding: Binding
    places: Places
    decided: tuple[FilterSite, ...]

    @classmethod
    def of(cls, site: FilterSite, binding: Binding, found: Found) -> VariableCandidates:
        """Of one filter."""
        decided = (site,) if found.exact and site.own_pattern else ()
        return cls((site,), binding, found.places, decided)

    def and_also(self, other: VariableCandidates) -> VariableCandidates:
        """With those of another filter of the same variable."""
        places = numpy.intersect1d(self.places, other.places, assume_unique=True)
        sites, decided = (*self.sites, *other.sites), (*self.decided, *other.decided)
        return VariableCandidates(sites, self.binding, places, decided)


def find(filter_: SpatialFilter, operand: Operand, state: GeometryState) -> Found:
    """What a filter with one constant side can be true of."""
    return around(filter_, filter_.constant, operand, state, constant_left=filter_.left is filter_.constant)


def around(
    filter_: SpatialFilter,
    constant: BaseGeometry,
    operand: Operand,
    state: GeometryState,
    *,
    constant_left: bool,
) -> Found:
    """What a filter can be true of when its other side is `constant`."""
    area = filter_.area(constant, operand)
    places = state.shapes.numbers(area)
    if not len(places):
        return Found(places, exact=filter_.exact)
    try:
        if filter_.exact:
            holds = _holds(filter_, _copy(constant), places, state, constant_left=constant_left)
            return Found(places[holds], exact=True)
        if filter_.function == "distance" and all(one.plain for one in filter_.operands):
            places = places[_may_be_near(constant, places, filter_.slack.meters, state)]
    except GEOSException:
        pass
    return Found(places, exact=False)


def _may_be_near(
    constant: BaseGeometry, places: Places, meters: float, state: GeometryState
) -> NDArray[numpy.bool_]:
    shapes = state.shapes_at(places)
    if isinstance(constant, Point) and (shapely.get_type_id(shapes) == 0).all():
        return distances_m(constant, shapes) <= meters
    return may_be_near(constant, shapes, meters)


def _holds(
    filter_: SpatialFilter,
    constant: BaseGeometry,
    places: Places,
    state: GeometryState,
    *,
    constant_left: bool,
) -> NDArray[numpy.bool_]:
    """Which of some geometries an exact filter is true of, the other side being `constant`."""
    if not filter_.covers_points(constant_left=constant_left):
        # Whatever it is, it is not true of what does not even meet, which is several times faster to check.
        meeting = replace(filter_, function="sfIntersects", patterns=())
        holds = _holds(meeting, constant, places, state, constant_left=constant_left)
        shapes = state.shapes_at(places[holds])
        holds[holds] = filter_.holds(constant, shapes, constant_left=constant_left)
        return holds
    points = state.points_at(places)
    pointed = ~numpy.isnan(points[:, 0])
    holds = numpy.zeros(len(places), dtype=bool)
    holds[pointed] = filter_.holds_at(constant, points[pointed], constant_left=constant_left)
    if not pointed.all():
        shapes = state.shapes_at(places[~pointed])
        holds[~pointed] = filter_.holds(constant, shapes, constant_left=constant_left)
    return holds


@dataclass
class Column:
    """How one variable's candidates are written: the variable of VALUES and the term of each key."""

    variable: str
    by_node: bool
    split: Split = field(default_factory=dict)

    def term(self, key: Key) -> NamedNode | Literal:
        """The term of a key in VALUES."""
        node, literal = key
        return node if self.by_node and isinstance(node, NamedNode) else literal

    def exact(self, keys: Iterable[Key], state: GeometryState) -> bool:
        """Whether the candidates are these literals and no others."""
        return not self.by_node or all(len(state.literals_of(node)) == 1 for node, _ in keys)


def written_length(keys: Iterable[Key]) -> int:
    """How many characters the literals of some keys take in a query, each as often as it occurs."""
    return sum(len(literal.value) + 64 for _, literal in keys)


def column_for(binding: Binding, keys: Sequence[Key], length: int, *, fresh: str | None) -> Column:
    """By literal where they are short or must be, else by geometry node.

    `length` are the characters of all literals that would be written; `fresh` names a variable that may be
    made for a node hidden in a path, None where none may. Raises TooMuchText.
    """
    if all(isinstance(node, NamedNode) for node, _ in keys) and length > _SHORT_LITERAL * len(keys):
        if not binding.through_path and isinstance(binding.triple.subject, Variable):
            return Column(binding.triple.subject.value, by_node=True)
        if binding.through_path and fresh is not None and (split := split_path(binding, fresh)) is not None:
            return Column(fresh, by_node=True, split=split)
    if length > MOST_TEXT:
        raise TooMuchText
    return Column(binding.variable, by_node=False)


def _copy(shape: BaseGeometry) -> BaseGeometry:
    copy: BaseGeometry = shapely.from_wkb(shapely.to_wkb(shape))
    return copy


@dataclass(frozen=True)
class FeatureRows:
    """Candidates as VALUES with the patterns that they replace, the variables first."""

    variables: tuple[str, ...]
    values: n.Values
    count: int
    gone: tuple[n.TriplePattern, ...]


def feature_rows(
    geometry_path: GeometryPath,
    places: Places,
    state: GeometryState,
    revision: int,
    needed: Callable[[str, Collection[n.TriplePattern]], bool],
) -> FeatureRows | None:
    """The solutions of an geometry path's patterns for these geometries; None where they are not all known.

    Patterns that give the feature a class are answered too.
    """
    classed = class_patterns(geometry_path)
    gone = (*geometry_path.triples, *classed)
    with_literal = needed(geometry_path.binding.variable, gone)
    with_node = geometry_path.node is not None and needed(geometry_path.node, gone)
    known = state.features.solutions(places, revision, times_of(geometry_path, classed))
    if known is None:
        return None
    found = known.tolist()
    rows: list[tuple[NamedNode | Literal, ...]] = []
    length = 0
    owners = state.features.owners_of(found)
    for (node, literal), owner in zip(state.keys(found), owners, strict=True):
        feature = node_of(owner)
        if not isinstance(feature, NamedNode):
            return None
        row: tuple[NamedNode | Literal, ...] = (feature,)
        if with_node:
            if not isinstance(node, NamedNode):
                return None
            row += (node,)
        if with_literal:
            row += (literal,)
            length += len(literal.value)
        rows.append(row)
    if length > MOST_TEXT:
        return None
    node_name = (geometry_path.node,) if with_node and geometry_path.node is not None else ()
    variables = (
        geometry_path.feature,
        *node_name,
        *((geometry_path.binding.variable,) if with_literal else ()),
    )
    return FeatureRows(variables, b.values(variables, rows), len(rows), gone)


def class_patterns(geometry_path: GeometryPath) -> tuple[n.TriplePattern, ...]:
    """The patterns of its basic graph pattern that ask for a class of the feature."""
    feature = Variable(geometry_path.feature)
    return tuple(
        one
        for one in geometry_path.binding.bgp.triples
        if one.subject == feature and one.predicate == RDF.type and isinstance(one.object, NamedNode)
    )


def times_of(geometry_path: GeometryPath, classed: Collection[n.TriplePattern]) -> Callable[[Form], int]:
    """How many solutions an geometry path's patterns and these have for a feature of a form."""
    wanted = frozenset(one.object for one in classed if isinstance(one.object, NamedNode))
    return lambda form: geometry_path.solutions(form) if wanted <= form.classes else 0


NEAREST = "nearest"
_ROUNDS = 2
_FEW_SOLUTIONS = 500
_GROWTH = 32
_MOST_NEAREST = 10_000


def with_nearest(
    parsed: ParsedQuery,
    state: GeometryState,
    plans: Mapping[n.Statement, Plan],
    filters: Mapping[n.Filter, n.Filter],
    report: Report,
    fresh: Callable[[], str | None],
    rival: Callable[[Binding, int], str | None],
) -> Steps[n.Query | None]:
    """The query with its nearest geometries in front, None where it is left alone.

    `plans` and `filters` are those of filters (`with_plans`); `rival` names a pattern that leaves few
    solutions by itself.
    """
    query = parsed.query
    if query.where is None or not query.order or query.form is not QueryForm.SELECT:
        return None
    measured = _measured(query, query.where)
    if measured is None:
        return None
    part = parsed.text_of(query.order[0].expression)
    measured_from = place_of(query, query.where, measured)
    if isinstance(measured_from, str):
        report.leave(NEAREST, part, measured_from)
        return None
    binding, place = measured_from
    if state.unlisted:
        report.leave(NEAREST, part, "the graph has geometries that are no literals, which come first")
        return None
    if binding.bgp.first in plans:
        report.leave(NEAREST, part, "a filter's candidates are few already")
        return None
    if (reason := rival(binding, 4 * _FEW_SOLUTIONS)) is not None:
        report.leave(NEAREST, part, reason)
        return None
    wanted = (query.limit or 0) + query.offset
    count = 4 * wanted + 32
    for _ in range(_ROUNDS):
        near = state.shapes.nearest(place, count)
        if len(near) < count or count > _MOST_NEAREST:
            break
        radius = near[-1][1]
        queries = []
        # Distances are the same from both ends to a part in a hundred only, so what is handed out reaches
        # further than what is counted.
        for reach in (radius, radius * 1.05 + 1):
            reached = [one for one, _ in state.shapes.within_distance(place, reach)]
            keys = state.keys([*reached, *state.unreadable, *state.empty])
            plan = _plan(binding, keys, fresh)
            if plan is None:
                report.leave(NEAREST, part, "its candidates would make the query too long")
                return None
            queries.append(with_plans(query, {**plans, binding.bgp.first: plan}, filters))
        inner, outer = queries
        head, body = parsed.text[: query.start], parsed.text_of(inner)
        rows = yield Probe(f"{head} SELECT (COUNT(*) AS ?solutions) WHERE {{ {body} }}")
        solutions = rows[0].get("solutions") if rows else None
        if isinstance(solutions, Literal) and int(solutions.value) == query.limit:
            report.did(NEAREST, part, f"the nearest to ?{binding.variable} from the index", candidates=count)
            return outer
        count *= _GROWTH
    report.leave(NEAREST, part, "the nearest geometries of the index do not give enough solutions")
    return None


def _measured(query: n.Query, where: n.Group) -> n.Expression | None:
    """The distance that the first key of ORDER BY is, by itself or by a name."""
    expression = query.order[0].expression
    if isinstance(expression, n.VariableUse):
        name = expression.name
        named = [one.expression for one in query.projection or () if one.variable == name and one.expression]
        named += [
            one.expression for one in where.elements if isinstance(one, n.Bind) and one.variable == name
        ]
        if len(named) != 1 or named[0] is None:
            return None
        expression = named[0]
    return expression if local_name(expression) in ("distance", "metricDistance") else None


def place_of(query: n.Query, where: n.Group, measured: n.Expression) -> tuple[Binding, BaseGeometry] | str:
    """The pattern whose geometry is measured, and the constant that it is measured to; or why not."""
    if query.order[0].descending:
        return "it asks for the furthest"
    if query.limit is None or not query.limit:
        return "it has no LIMIT"
    if query.grouped or query.dataset_clause or query.values is not None:
        return "the query groups, or names its dataset, or ends in VALUES"
    known = constants_in(where.elements)
    found = distance_call(measured, known)
    if found is None:
        return "only distances in a constant unit of length are searched for"
    variable, shape = None, None
    for side in found[:2]:
        if isinstance(side, n.VariableUse) and side.name not in known:
            variable = side.name
        else:
            try:
                shape = geometry_of(side, known).shape
            except NotConstant:
                continue
            except UnreadableConstant as error:
                return f"a geometry in it cannot be read: {error.reason}"
    if variable is None or shape is None or shape.is_empty:
        return "it does not measure from a variable to a constant geometry"
    for bgp in basic_patterns_of(where):
        binding = binding_in(bgp, variable)
        if binding is not None:
            earlier = where.elements[: where.elements.index(bgp.first)]
            if any(isinstance(one, n.Bind) and one.expression is measured for one in earlier):
                return "its BIND is before the pattern that gives it its geometry"
            return binding, shape
    return f"no triple pattern at the top gives ?{variable} a geometry"


def _plan(binding: Binding, keys: Sequence[Key], fresh: Callable[[], str | None]) -> Plan | None:
    try:
        column = column_for(binding, keys, written_length(keys), fresh=fresh())
    except TooMuchText:
        return None
    rows: dict[tuple[NamedNode | Literal], None] = dict.fromkeys((column.term(key),) for key in keys)
    return Plan(binding.bgp, b.values([column.variable], rows), column.split)

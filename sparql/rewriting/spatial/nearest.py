"""The nearest k: ORDER BY a distance to a constant, LIMIT k, from the index instead of measuring everything.

The nearest geometries are put in front and the query is asked for its number of solutions (a probe). As many
as its LIMIT: whatever was left out is further away, so the answer is complete. Fewer, since other patterns or
filters turn some away: more of them, and at last all. Geometries without a distance (unreadable or empty
ones) sort first and are always among the candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyoxigraph import Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.parser import ParsedQuery
from sparql.rewriting.index.geometry_state import GeometryState
from sparql.rewriting.index.notes import Key
from sparql.rewriting.meaning.probes import Probe, Steps
from sparql.rewriting.report import Report
from sparql.rewriting.spatial.basic_patterns import Binding, Plan, basic_patterns_of, binding_in, with_plans
from sparql.rewriting.spatial.candidates import TooMuchText, column_for, written_length
from sparql.rewriting.spatial.constants import NotConstant, UnreadableConstant, constants_in, geometry_of
from sparql.rewriting.spatial.spatial_filters import distance_call, local_name
from sparql.syntax.request_facts import QueryForm

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

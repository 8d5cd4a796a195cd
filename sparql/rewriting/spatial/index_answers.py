"""Queries that the index of geometries answers without a reader: what is where, of which class.

One spatial filter that the index decides for sure, with a constant or of two features, or the nearest to a
place; the patterns from a feature to its literal; classes: all of it is known of the revision, so that
nothing is left for the engine to look up. A row costs some microseconds so, and thirty as a candidate that it
joins and writes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import pyoxigraph

from geo.functions import FUNCTIONS
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.parser import parse_query
from sparql.rewriting.ast.term_reader import NotUnderstood
from sparql.rewriting.spatial.basic_patterns import basic_patterns_of, binding_in
from sparql.rewriting.spatial.constants import UnreadableConstant
from sparql.rewriting.spatial.feature_rows import class_patterns
from sparql.rewriting.spatial.geometry_paths import GeometryPath, geometry_path_of
from sparql.rewriting.spatial.index_questions import JoinQuestion, NearestQuestion, Question, names_of
from sparql.rewriting.spatial.nearest import place_of
from sparql.rewriting.spatial.spatial_filters import SpatialFilter, conjuncts_of, local_name, recognize
from sparql.syntax.request_facts import QueryForm

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

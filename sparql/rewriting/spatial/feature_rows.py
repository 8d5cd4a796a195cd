"""Candidates named as features: the patterns from a feature to its geometry need not be asked any more."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Variable

from sparql.model.geometry import node_of
from sparql.model.vocabulary import RDF
from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.index.features import Form, Places
from sparql.rewriting.index.geometry_state import GeometryState
from sparql.rewriting.spatial.candidates import MOST_TEXT
from sparql.rewriting.spatial.geometry_paths import GeometryPath


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

"""Candidates named as features: the patterns from a feature to its geometry need not be asked any more."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Variable

from sparql.model.geometry_names import node_of
from sparql.model.vocabulary import RDF
from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.index.features import Form, Places
from sparql.rewriting.index.geometry_state import GeometryState
from sparql.rewriting.spatial.candidates import MOST_TEXT
from sparql.rewriting.spatial.geometry_paths import Anchor


@dataclass(frozen=True)
class FeatureRows:
    """Candidates as VALUES with the patterns that they stand for, the variables first."""

    variables: tuple[str, ...]
    values: n.Values
    count: int
    gone: tuple[n.TriplePattern, ...]


def feature_rows(
    anchor: Anchor,
    places: Places,
    state: GeometryState,
    revision: int,
    needed: Callable[[str, Collection[n.TriplePattern]], bool],
) -> FeatureRows | None:
    """The solutions of an anchor's patterns for these geometries; None where they are not all known.

    Patterns that give the feature a class are answered too.
    """
    classed = class_patterns(anchor)
    gone = (*anchor.triples, *classed)
    with_literal = needed(anchor.binding.variable, gone)
    with_node = anchor.node is not None and needed(anchor.node, gone)
    known = state.features.solutions(places, revision, times_of(anchor, classed))
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
    node_name = (anchor.node,) if with_node and anchor.node is not None else ()
    variables = (anchor.feature, *node_name, *((anchor.binding.variable,) if with_literal else ()))
    return FeatureRows(variables, b.values(variables, rows), len(rows), gone)


def class_patterns(anchor: Anchor) -> tuple[n.TriplePattern, ...]:
    """The patterns of its run that ask for a class of the feature."""
    feature = Variable(anchor.feature)
    return tuple(
        one
        for one in anchor.binding.run.triples
        if one.subject == feature and one.predicate == RDF.type and isinstance(one.object, NamedNode)
    )


def times_of(anchor: Anchor, classed: Collection[n.TriplePattern]) -> Callable[[Form], int]:
    """How many solutions an anchor's patterns and these have for a feature of a form."""
    wanted = frozenset(one.object for one in classed if isinstance(one.object, NamedNode))
    return lambda form: anchor.solutions(form) if wanted <= form.classes else 0

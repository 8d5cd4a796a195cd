"""Candidates named as features: the patterns from a feature to its geometry need not be asked any more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode

from sparql.rewriting import nodes as n
from sparql.rewriting.anchors import Anchor
from sparql.rewriting.candidates import MOST_TEXT
from sparql.rewriting.features import FeatureMap
from sparql.rewriting.geometries import Key
from sparql.rewriting.runs import values


@dataclass(frozen=True)
class FeatureRows:
    """Candidates as VALUES with the patterns that they stand for, the variables first."""

    variables: tuple[str, ...]
    values: str
    count: int
    gone: tuple[n.TriplePattern, ...]


def feature_rows(
    anchor: Anchor,
    keys: Sequence[Key],
    features: FeatureMap,
    revision: int,
    needed: Callable[[str, Collection[n.TriplePattern]], bool],
) -> FeatureRows | None:
    """The solutions of an anchor's patterns for these keys; None where they are not all known."""
    with_literal = needed(anchor.binding.variable, anchor.triples)
    with_node = anchor.node is not None and needed(anchor.node, anchor.triples)
    rows: list[tuple[NamedNode | Literal, ...]] = []
    length = 0
    for node, literal in keys:
        located = features.located(node, revision)
        if located is None or not isinstance(located.feature, NamedNode):
            return None
        if with_node and not isinstance(node, NamedNode):
            return None
        if located.literal != literal:
            # It is that of another revision.
            continue
        row: tuple[NamedNode | Literal, ...] = (located.feature,)
        if with_node and isinstance(node, NamedNode):
            row += (node,)
        if with_literal:
            row += (literal,)
            length += len(literal.value)
        rows += [row] * anchor.solutions(located.form)
    if length > MOST_TEXT:
        return None
    node_name = (anchor.node,) if with_node and anchor.node is not None else ()
    variables = (anchor.feature, *node_name, *((anchor.binding.variable,) if with_literal else ()))
    return FeatureRows(variables, values(variables, rows), len(rows), anchor.triples)

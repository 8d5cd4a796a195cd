"""Which handwritten shapes demand only what generated shapes would demand without them.

The shapes are compared by what they state, not by verdicts: a shape that says the same in other words is
not found, one that is found can be removed without a change of any verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

import rdflib
from rdflib.collection import Collection as RdfList
from rdflib.namespace import OWL, RDF, RDFS, SH

from ontology import Schema
from shapes.authoring.generating import generate_shapes
from shapes.authoring.overrides import Overrides
from shapes.engine.triple_memory import add_all, graph_in_memory
from shapes.generation import Generation
from shapes.model import TARGETS
from shapes.terms import to_rdflib

__all__ = ["RepeatedAxioms"]

_DOCUMENTING = frozenset(
    (SH.name, SH.description, SH.message, SH.order, SH.group, RDFS.label, RDFS.comment, RDFS.isDefinedBy)
)
_LISTS = frozenset((SH["and"], SH["or"], SH.xone))
_MEMBERS = frozenset((SH["in"], SH.languageIn))
_NESTED = frozenset((SH["not"], SH.node))
_DEEPEST = 10
"""Generated shapes nest less."""
Demand = tuple[rdflib.term.Node, object]
Key = tuple[rdflib.term.Node, rdflib.term.Node, rdflib.term.Node | None]
"""Kind of target, target and path."""


class RepeatedAxioms:
    """Compares shapes with those generated from a schema in a mode, which are made when first asked for."""

    def __init__(self, graph: rdflib.Graph, schema: Schema, mode: Generation) -> None:
        self._graph = graph
        self._schema = schema
        self._mode = mode

    def includes(self, shape: rdflib.term.Node) -> bool:
        """Whether the generated shapes demand all that a shape demands, of all its targets."""
        keys = _keys(self._graph, shape)
        if (
            self._mode == "off"
            or not keys
            or self._graph.value(shape, SH.severity) not in (None, SH.Violation)
        ):
            return False
        demands = _demands(self._graph, shape)
        return bool(demands) and all(demands <= self._demanded(key) for key in keys)

    def _demanded(self, key: Key) -> frozenset[Demand]:
        """What the generated shapes of a target and path demand when nothing is written by hand."""
        graph, by_key = self._generated
        return frozenset(one for shape in by_key.get(key, ()) for one in _demands(graph, shape))

    @cached_property
    def _generated(self) -> tuple[rdflib.Graph, dict[Key, list[rdflib.term.Node]]]:
        """The generated shapes, and those of each target and path: few of them are ever compared."""
        graph = graph_in_memory()
        made = generate_shapes(self._schema, Overrides(graph_in_memory()), self._mode)
        add_all(graph, (tuple(map(to_rdflib, triple)) for triple in made))  # type: ignore[misc]
        by_key: dict[Key, list[rdflib.term.Node]] = {}
        for shape in graph.subjects(SH.severity, SH.Violation):
            for key in _keys(graph, shape):
                by_key.setdefault(key, []).append(shape)
        return graph, by_key


def _keys(graph: rdflib.Graph, shape: rdflib.term.Node) -> list[Key]:
    """The targets of a shape; none where it has a path that is not one property."""
    path = graph.value(shape, SH.path)
    if path is not None and not isinstance(path, rdflib.URIRef):
        return []
    return [(predicate, target, path) for predicate in TARGETS for target in graph.objects(shape, predicate)]


def _demands(graph: rdflib.Graph, node: rdflib.term.Node) -> frozenset[Demand]:
    """All that a shape demands, comparable: blank nodes as what they demand, lists as sets."""
    return frozenset(_stated(graph, node, {*TARGETS, SH.path, SH.severity}))


def _stated(
    graph: rdflib.Graph,
    node: rdflib.term.Node,
    left_out: Collection[rdflib.term.Node],
    above: tuple[rdflib.term.Node, ...] = (),
) -> Iterator[Demand]:
    if node in above or len(above) > _DEEPEST:
        # Comparable with nothing that is generated.
        yield node, node
        return
    within = (*above, node)
    for predicate, value in graph.predicate_objects(node):
        if predicate in _DOCUMENTING or predicate in left_out:
            continue
        if predicate == RDF.type and value in (SH.NodeShape, SH.PropertyShape, OWL.NamedIndividual):
            continue
        if predicate in _LISTS:
            yield (
                predicate,
                frozenset(frozenset(_stated(graph, one, (), within)) for one in RdfList(graph, value)),
            )
        elif predicate in _MEMBERS:
            yield predicate, frozenset(RdfList(graph, value))
        elif predicate in _NESTED:
            yield predicate, frozenset(_stated(graph, value, (), within))
        else:
            yield predicate, value

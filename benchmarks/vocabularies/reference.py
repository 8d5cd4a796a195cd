"""What pySHACL finds in a whole graph, each result with the shape with targets that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import rdflib
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shapes_graph import ShapesGraph
from rdflib.namespace import RDFS
from rdflib.plugins.sparql import prepareQuery

from benchmarks.shacl_conformance import Result, of_gate, result_of
from shapes.engine.reference import DataGraph
from shapes.graph import to_rdflib
from sparql.model.change import Violation
from sparql.model.source import TripleSource

__all__ = ["Reference", "ShapeResult", "results_of_gate"]

ShapeResult = tuple[str, Result]
"""The shape, and the result by focus node, path, value, component and severity.

Without the shape, a result that is there before a change would hide that another shape begins to fail by it.
"""


class Reference:
    """pySHACL over copies of everything; its shapes are read once."""

    def __init__(self, shapes: rdflib.Graph) -> None:
        self._graph = rdflib.Graph()
        for triple in shapes:
            self._graph.add(triple)
        # Which shapes are classes, pySHACL finds by one rdfs:subClassOf only (SHACL, 2.1.3.3: any number).
        for kind in shapes.transitive_subjects(RDFS.subClassOf, RDFS.Class):
            if kind is not None:
                self._graph.add((kind, RDFS.subClassOf, RDFS.Class))
        for prefix, namespace in shapes.namespaces():
            self._graph.bind(prefix, namespace)
        self._shapes = ShapesGraph(self._graph)

    def results(self, source: TripleSource) -> frozenset[ShapeResult]:
        """Everything that the shapes find in a source."""
        copied = _Copy()
        for triple in DataGraph(source).triples((None, None, None)):
            copied.add(triple)
        for prefix, namespace in self._graph.namespaces():
            copied.bind(prefix, namespace)
        executor = SHACLExecutor()
        found = set()
        for shape in self._shapes.shapes:
            _, reports = shape.validate(executor, copied)
            for _, node, parts in reports:
                report = rdflib.Graph()
                for subject, predicate, value in parts:
                    report.add((subject, predicate, value[1] if isinstance(value, tuple) else value))
                found |= {(shape.node.n3(), one) for one in result_of(report, self._graph, node)}
        return frozenset(found)


class _Copy(rdflib.Graph):
    """A graph that parses each query once, not once for each focus node."""

    def query(self, query_object: Any, *args: Any, **options: Any) -> Any:
        if isinstance(query_object, str):
            namespaces = options.pop("initNs", None) or dict(self.namespaces())
            query_object = _prepared(query_object, tuple(sorted(dict(namespaces).items())))
        return super().query(query_object, *args, **options)


_prepared = lru_cache(maxsize=1024)(lambda text, namespaces: prepareQuery(text, initNs=dict(namespaces)))


def results_of_gate(violations: Iterable[Violation]) -> frozenset[ShapeResult]:
    """The gate's violations in the same form."""
    found = set()
    for violation in violations:
        shape = None if violation.shape is None else to_rdflib(violation.shape)
        name = "" if shape is None else shape.n3()
        found |= {(name, one) for one in of_gate([violation])}
    return frozenset(found)

"""What handwritten shapes already cover, so that it is not generated from the ontology as well.

A handwritten shape disables what would be generated on the same target and path, kind by kind. It need not
agree with the ontology; with `sh:deactivated true` it only disables.
"""

from __future__ import annotations

import rdflib
from pyoxigraph import NamedNode
from rdflib.collection import Collection
from rdflib.namespace import SH

__all__ = ["Overrides"]

_VALUES = tuple(
    SH[name]
    for name in ("class", "datatype", "nodeKind", "node", "or", "xone", "in", "pattern", "not", "deactivated")
)
_COUNTS = (SH.maxCount, SH.minCount, SH.deactivated)


class Overrides:
    """The handwritten shapes of a graph, looked up once per generated shape."""

    def __init__(self, graph: rdflib.Graph) -> None:
        self._graph = graph
        self._disjoint = {
            frozenset((str(target), str(other)))
            for shape, target in graph.subject_objects(SH.targetClass)
            if (shape, SH.path, None) not in graph
            for negated in graph.objects(shape, SH["not"])
            for other in self._classes(negated)
        }

    def domain(self, property_: NamedNode) -> bool:
        """A shape on what has the property, about the thing itself."""
        shapes = self._graph.subjects(SH.targetSubjectsOf, _node(property_))
        return any((shape, SH.path, None) not in self._graph for shape in shapes)

    def reflexive(self, property_: NamedNode) -> bool:
        """A shape on what has the property that compares it with its values, or does so by a query."""
        shapes = self._graph.subjects(SH.targetSubjectsOf, _node(property_))
        compares = ((SH.disjoint, _node(property_)), (SH.sparql, None), (SH.deactivated, None))
        return any((shape, *one) in self._graph for shape in shapes for one in compares)

    def disjoint_values(self, one: NamedNode, other: NamedNode) -> bool:
        """A shape on a path of one property, or the other way through it, with sh:disjoint of the other."""
        for first, second in ((one, other), (other, one)):
            for shape in self._graph.subjects(SH.disjoint, _node(second)):
                path = self._graph.value(shape, SH.path)
                if _node(first) in (path, None if path is None else self._graph.value(path, SH.inversePath)):
                    return True
        return False

    def values(self, property_: NamedNode) -> bool:
        """A shape on the property's values."""
        objects = self._graph.subjects(SH.targetObjectsOf, _node(property_))
        if any((shape, SH.path, None) not in self._graph for shape in objects):
            return True
        return self._on_path(property_, _VALUES)

    def counts(self, property_: NamedNode) -> bool:
        """A shape on how many values the property has."""
        return self._on_path(property_, _COUNTS)

    def restriction(self, class_: NamedNode, property_: NamedNode) -> bool:
        """A shape on the property of the instances of the class."""
        for shape in self._graph.subjects(SH.targetClass, _node(class_)):
            inner = (shape, *self._graph.objects(shape, SH.property))
            if any((node, SH.path, _node(property_)) in self._graph for node in inner):
                return True
        return False

    def enumeration(self, class_: NamedNode) -> bool:
        """A shape that lists the instances of the class."""
        shapes = self._graph.subjects(SH.targetClass, _node(class_))
        wanted = (SH["in"], SH.deactivated)
        return any((shape, predicate, None) in self._graph for shape in shapes for predicate in wanted)

    def disjoint(self, one: NamedNode, other: NamedNode) -> bool:
        """A shape that keeps the two classes apart."""
        return frozenset((one.value, other.value)) in self._disjoint

    def _on_path(self, property_: NamedNode, parameters: tuple[rdflib.URIRef, ...]) -> bool:
        shapes = self._graph.subjects(SH.path, _node(property_))
        return any((shape, parameter, None) in self._graph for shape in shapes for parameter in parameters)

    def _classes(self, node: rdflib.term.Node) -> list[rdflib.term.Node]:
        found = list(self._graph.objects(node, SH["class"]))
        for head in self._graph.objects(node, SH["or"]):
            for member in Collection(self._graph, head):
                found += self._classes(member)
        return found


def _node(iri: NamedNode) -> rdflib.URIRef:
    return rdflib.URIRef(iri.value)

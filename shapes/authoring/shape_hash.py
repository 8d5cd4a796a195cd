"""A digest of a shape: equal for two versions of a file exactly when the shape is unchanged."""

import hashlib
from collections.abc import Iterable

import rdflib
from rdflib.namespace import RDF, SH

from shapes.engine.components import CustomComponent, custom_components

__all__ = ["shape_digests"]

_FOLLOWED = frozenset(
    (
        SH.property, SH.node, SH["not"], SH.qualifiedValueShape, SH["and"], SH["or"], SH.xone, SH.sparql,
        SH.prefixes, SH.declare, SH.path, RDF.first, RDF.rest, SH.parameter, SH.validator, SH.nodeValidator,
        SH.propertyValidator,
    )
)  # fmt: skip
"""Besides blank nodes, only the values of these belong to a shape."""


def shape_digests(graph: rdflib.Graph, shapes: Iterable[rdflib.term.Node]) -> dict[rdflib.term.Node, str]:
    """A digest over each shape, its messages, the shapes it refers to, and the components it uses."""
    digester = _Digester(graph)
    return {shape: digester.digest(shape, frozenset()) for shape in shapes}


class _Digester:
    def __init__(self, graph: rdflib.Graph) -> None:
        self._graph = graph
        self._components = custom_components(graph)
        self._of_components: dict[CustomComponent, str] = {}

    def digest(self, node: rdflib.term.Node, above: frozenset[rdflib.term.Node]) -> str:
        if node in above:
            return "circle"
        inside = above | {node}
        said = []
        for predicate, value in self._graph.predicate_objects(node):
            part = value.n3() if not isinstance(value, rdflib.BNode) else ""
            if isinstance(value, rdflib.BNode) or (
                isinstance(value, rdflib.URIRef) and predicate in _FOLLOWED
            ):
                part += self.digest(value, inside)
            said.append(f"{predicate} {part}")
        said += [self._component(one) for one in self._components if one.applies_to(self._graph, node)]
        return hashlib.sha256("\n".join(sorted(said)).encode()).hexdigest()

    def _component(self, component: CustomComponent) -> str:
        """What a constraint component says: a shape that uses it judges by its validators."""
        known = self._of_components.get(component)
        if known is None:
            # A component that uses itself ends here.
            self._of_components[component] = "circle"
            known = self._of_components[component] = self.digest(component.node, frozenset())
        return f"component {known}"

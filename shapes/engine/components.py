"""Custom constraint components: constraints that a shapes file declares itself by SPARQL (SHACL, 6)."""

from collections.abc import Iterator
from dataclasses import dataclass

import rdflib
from rdflib.namespace import RDF, SH


@dataclass(frozen=True)
class CustomComponent:
    """A `sh:ConstraintComponent` of the shapes graph; it applies where its parameters are given."""

    node: rdflib.term.Node
    required: frozenset[rdflib.term.Node]

    def applies_to(self, graph: rdflib.Graph, shape: rdflib.term.Node) -> bool:
        """Whether a shape gives every parameter that is not optional."""
        return all((shape, parameter, None) in graph for parameter in self.required)

    def validators(self, graph: rdflib.Graph, *, property_shape: bool) -> Iterator[rdflib.term.Node]:
        """The validators for a shape of this kind (6.2.3)."""
        kind = SH.propertyValidator if property_shape else SH.nodeValidator
        found = list(graph.objects(self.node, kind))
        yield from found or graph.objects(self.node, SH.validator)


def custom_components(graph: rdflib.Graph) -> tuple[CustomComponent, ...]:
    """Every component declared in the graph, in stable order."""
    found = []
    for node in sorted(set(graph.subjects(RDF.type, SH.ConstraintComponent)), key=str):
        required = {
            graph.value(parameter, SH.path)
            for parameter in graph.objects(node, SH.parameter)
            if graph.value(parameter, SH.optional) != rdflib.Literal(True)
        }
        paths = frozenset(path for path in required if path is not None)
        if paths:
            found.append(CustomComponent(node, paths))
    return tuple(found)

"""The part of a shapes graph by which some of its shapes are judged."""

from collections.abc import Iterable

import rdflib
from rdflib.namespace import OWL, RDF, RDFS, SH

from shapes.engine.triple_memory import add_all, graph_in_memory

__all__ = ["excerpt"]

Node = rdflib.term.Node


def excerpt(graph: rdflib.Graph, shapes: Iterable[Node]) -> rdflib.Graph:
    """All that is stated of shapes and of what they refer to, directly or not, with the prefixes.

    Some is found without a reference: the siblings of a property shape (SHACL, 4.7.3), the ontologies whose
    prefixes apply to queries that name none, and the components that apply wherever their parameters are.
    """
    part = graph_in_memory()
    for prefix, namespace in graph.namespaces():
        part.bind(prefix, namespace)
    kinds = {SH.ConstraintComponent, *graph.subjects(RDFS.subClassOf, SH.ConstraintComponent), OWL.Ontology}
    waiting = [*shapes, *(node for kind in kinds for node in graph.subjects(RDF.type, kind))]
    found: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in found or isinstance(node, rdflib.Literal):
            continue
        found.add(node)
        triples = list(graph.triples((node, None, None)))
        add_all(part, triples)
        waiting += (value for _, _, value in triples)
        waiting += graph.subjects(SH.property, node)
    return part

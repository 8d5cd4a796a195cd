"""A digest of a shape: equal for two versions of a file exactly when the shape is unchanged."""

import hashlib

import rdflib
from rdflib.namespace import RDF, SH

__all__ = ["shape_digest"]

_FOLLOWED = frozenset(
    (
        SH.property, SH.node, SH["not"], SH.qualifiedValueShape, SH["and"], SH["or"], SH.xone, SH.sparql,
        SH.prefixes, SH.declare, SH.path, RDF.first, RDF.rest,
    )
)  # fmt: skip
"""Besides blank nodes, only the values of these belong to a shape."""


def shape_digest(graph: rdflib.Graph, shape: rdflib.term.Node) -> str:
    """A digest over a shape, its messages, and the shapes it refers to."""
    return _digest(graph, shape, frozenset())


def _digest(graph: rdflib.Graph, node: rdflib.term.Node, above: frozenset[rdflib.term.Node]) -> str:
    if node in above:
        return "circle"
    inside = above | {node}
    said = []
    for predicate, value in graph.predicate_objects(node):
        part = value.n3() if not isinstance(value, rdflib.BNode) else ""
        if isinstance(value, rdflib.BNode) or (isinstance(value, rdflib.URIRef) and predicate in _FOLLOWED):
            part += _digest(graph, value, inside)
        said.append(f"{predicate} {part}")
    return hashlib.sha256("\n".join(sorted(said)).encode()).hexdigest()

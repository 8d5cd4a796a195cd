"""Conversion of RDF terms between pyoxigraph and rdflib."""

import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from sparql.model.source import Term

Node = rdflib.URIRef | rdflib.BNode | rdflib.Literal


def to_rdflib(term: Term) -> Node | None:
    """The same term in rdflib, lexical form untouched; None for an RDF 1.2 triple term, which it lacks."""
    if isinstance(term, NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, BlankNode):
        return rdflib.BNode(term.value)
    if isinstance(term, Triple):
        return None
    if term.language is not None:
        return rdflib.Literal(term.value, lang=term.language)
    return rdflib.Literal(term.value, datatype=rdflib.URIRef(term.datatype.value), normalize=False)


def to_oxigraph(node: rdflib.term.Node) -> NamedNode | BlankNode | Literal:
    """The same term in pyoxigraph."""
    if isinstance(node, rdflib.URIRef):
        return NamedNode(str(node))
    if isinstance(node, rdflib.BNode):
        return BlankNode(str(node))
    if isinstance(node, rdflib.Literal):
        if node.language:
            return Literal(str(node), language=node.language)
        if node.datatype is not None:
            return Literal(str(node), datatype=NamedNode(str(node.datatype)))
        return Literal(str(node))
    raise TypeError(f"{node!r} is not an RDF term")

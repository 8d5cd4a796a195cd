"""Converts terms for a remote store and back.

Blank nodes become skolem IRIs (RDF 1.1 Concepts, 3.5), since SPARQL cannot name a stored blank node. Literals
of datatypes that the store would change are sent under a datatype of our own, which contains the real one;
answers are converted back by `sparql.remote.answers`.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from sparql.model.errors import RemoteUnsupported
from sparql.model.source import Term

SKOLEM = "https://w3id.org/urbankg/.well-known/genid/"
KEPT_APART = "urn:x-urbankg:datatype:"
NODE_ID = "nodeID://"
NODE_LABEL = "nodeID-"
"""Virtuoso's blank nodes are IRIs in a query and labels elsewhere."""


class Terms:
    """Converts terms for the store at `url`; literals of `kept_apart` datatypes are wrapped."""

    def __init__(self, url: str, kept_apart: Iterable[NamedNode] = ()) -> None:
        self._url = url
        self.kept_apart = frozenset(kept_apart)

    def outgoing(self, term: Term) -> NamedNode | Literal:
        """The term as the store holds it. Raises RemoteUnsupported for triple terms."""
        if isinstance(term, Triple):
            raise RemoteUnsupported(
                self._url, "triple terms of RDF 1.2 outside the system graphs in the local store"
            )
        if isinstance(term, BlankNode):
            label = term.value
            if label.startswith(NODE_LABEL):
                return NamedNode(NODE_ID + label.removeprefix(NODE_LABEL))
            return NamedNode(SKOLEM + label)
        if isinstance(term, Literal) and term.language is None and term.datatype in self.kept_apart:
            return Literal(term.value, datatype=NamedNode(KEPT_APART + term.datatype.value))
        return term

    def incoming(self, term: Term) -> Term:
        """The term as it was before `outgoing`."""
        if isinstance(term, NamedNode) and term.value.startswith(SKOLEM):
            return BlankNode(term.value.removeprefix(SKOLEM))
        if isinstance(term, Literal) and term.datatype.value.startswith(KEPT_APART):
            return Literal(term.value, datatype=NamedNode(term.datatype.value.removeprefix(KEPT_APART)))
        return term

    def written(self, quad: Quad) -> tuple[str, GraphKey]:
        """A quad's triple as N-Triples without the dot, and its graph."""
        graph = quad.graph_name
        if isinstance(graph, BlankNode):
            raise RemoteUnsupported(self._url, "blank nodes as graph names; use an IRI")
        parts = (self.outgoing(quad.subject), quad.predicate, self.outgoing(quad.object))
        return " ".join(map(str, parts)), graph


GraphKey = NamedNode | DefaultGraph

"""Reads the graphs of any store triple by triple; everything is based on one pattern lookup."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from sparql.model.source import Term
from sparql.model.vocabulary import DEFAULT


class QuadSource(Protocol):
    """Pattern lookups over named graphs."""

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]: ...


@dataclass(frozen=True)
class NamedGraphSource:
    """A named graph of the store, read like the default graph."""

    store: QuadSource
    graph: NamedNode

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the graph that match the pattern; `None` is a wildcard."""
        for quad in self.store.match_quads(subject, predicate, object_, self.graph):
            yield quad.triple


class GraphReading(ABC):
    """The default graph and the named ones as sources of triples."""

    @abstractmethod
    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that match the pattern, of one graph or (None) of all."""

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the default graph that match the pattern; `None` is a wildcard."""
        for quad in self.match_quads(subject, predicate, object_, DEFAULT):
            yield quad.triple

    def named(self, graph: NamedNode) -> NamedGraphSource:
        """One named graph as a source of triples."""
        return NamedGraphSource(self, graph)

"""Reading the engine's database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, QuerySolutions, Triple

from sparql.model.graph_reading import GraphReading
from sparql.model.source import Term
from sparql.model.vocabulary import RDFS

_CLASSES = 10_000
"""The number of classes whose direct superclasses are cached."""


class DatabaseReading(GraphReading):
    """The triples of an Oxigraph database, which lies in `folder` or (None) in memory."""

    def __init__(self, graph: pyoxigraph.Store, folder: Path | None) -> None:
        self.graph = graph
        self.folder = folder
        self.forget_classes()

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the default graph that match the pattern; `None` is a wildcard."""
        if predicate != RDFS.subClassOf or subject is None or object_ is not None:
            return super().match(subject, predicate, object_)
        # Every change reads this and hardly any changes it. A change replaces the dictionary, so results that
        # were read before it go to the old one.
        known = self._superclasses
        above = known.get(subject)
        if above is None:
            above = tuple(super().match(subject, predicate, None))
            if len(known) < _CLASSES:
                known[subject] = above
        return iter(above)

    def forget_classes(self) -> None:
        """The subclass axioms changed."""
        self._superclasses: dict[Term, tuple[Triple, ...]] = {}

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that match the pattern, of one graph or (None) of all."""
        if isinstance(subject, Literal | Triple):
            return iter(())
        return iter(self.graph.quads_for_pattern(subject, predicate, object_, graph))

    def values_of(self, predicate: NamedNode) -> Iterator[Term]:
        """The objects of all triples with a predicate; on disk each once, at a third of the cost."""
        # Sorted by object as they are there, REDUCED leaves out all repetitions.
        solutions = self.graph.query(f"SELECT REDUCED ?o {{ ?s {predicate} ?o }}")
        assert isinstance(solutions, QuerySolutions)
        return (solution[0] for solution in solutions)

    def subjects_of(self, predicate: NamedNode, value: Term) -> Iterator[Term]:
        """The subjects of all triples with a predicate and an object, at a third of the cost of `match`."""
        solutions = self.graph.query(f"SELECT ?s {{ ?s {predicate} {value} }}")
        assert isinstance(solutions, QuerySolutions)
        return (solution[0] for solution in solutions)

    @property
    def is_ordered(self) -> bool:
        """Whether quads of one graph are sorted by subject, and those with a given predicate by object.

        On disk the engine reads them from an index in that order, in memory from an unsorted list.
        """
        return self.folder is not None

    def contains(self, quad: Quad) -> bool:
        return quad in self.graph

    def has_graph(self, graph: NamedNode) -> bool:
        """Whether the named graph exists, even if empty."""
        return self.graph.contains_named_graph(graph)

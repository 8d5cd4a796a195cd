"""What a commit changes about geometries: the notes that the index takes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from sparql.model import geometry as geometry_terms
from sparql.model import source as graph_reading
from sparql.model.geometry import Text, literal_text, text_of
from sparql.model.source import Term
from sparql.model.vocabulary import DEFAULT, RDF, UKG

Node = NamedNode | BlankNode
Key = tuple[Node, Literal]
"""A geometry node and a literal that it has, or has had."""
Named = tuple[str, Text]
"""The same as texts (see `sparql.model.geometry`)."""

SERIALIZATIONS: Final = frozenset(geometry_terms.SERIALIZATIONS)
LINKS: Final = frozenset(geometry_terms.HAS_GEOMETRY)
_BULK: Final = UKG.bulkLoadPending


class Side:
    """What one side of a commit says of geometries: statements, others than literals, a bulk load's mark."""

    def __init__(self, quads: Iterable[Quad]) -> None:
        self.keys: list[Named] = []
        self.touched: list[str] = []
        self.classed: list[str] = []
        self.others = self.bulk = False
        self.characters = 0
        for quad in quads:
            predicate = quad.predicate
            if predicate in LINKS:
                self._touch(quad, quad.subject, quad.object)
            elif predicate in SERIALIZATIONS:
                self._touch(quad, quad.subject)
                if isinstance(quad.object, Literal) and isinstance(quad.subject, NamedNode | BlankNode):
                    self.keys.append((text_of(quad.subject), literal_text(quad.object)))
                    self.characters += len(quad.object.value)
                else:
                    self.others = True
            elif predicate == RDF.type:
                if quad.graph_name == DEFAULT and isinstance(quad.subject, NamedNode | BlankNode):
                    self.classed.append(text_of(quad.subject))
            elif predicate == _BULK:
                self.bulk = True

    def _touch(self, quad: Quad, *terms: Term) -> None:
        """Features and geometry nodes of the default graph that a statement is about."""
        if quad.graph_name == DEFAULT:
            self.touched += (text_of(term) for term in terms if isinstance(term, NamedNode | BlankNode))


@dataclass(frozen=True)
class Note:
    """A commit, as far as it concerns geometries."""

    revision: int
    added: list[Named]
    removed: list[Named]
    others: bool
    touched: list[str]


class QuadSource(graph_reading.QuadSource, Protocol):
    """The store as the index reads it."""

    def revision(self) -> int: ...

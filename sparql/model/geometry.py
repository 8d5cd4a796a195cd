"""Geometry in the graph: its properties, its nodes and literals as strings, the tolerances of its classes.

The state graph records the tolerances with which all stored relations were derived. Where it has no record,
or another one, a stored relation must not be used as the value of a function.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple

from geo.vocabulary import WKT_LITERAL
from sparql.model.source import QuadSource, Term, TripleSource
from sparql.model.vocabulary import DERIVED, GEO, RDF, STATE, UKG

DEFAULT_GEOMETRY: Final = (GEO.hasDefaultGeometry, GEO.defaultGeometry)
HAS_GEOMETRY: Final = (*DEFAULT_GEOMETRY, GEO.hasGeometry)
SLACK_M: Final = 500.0
"""How far apart two features may be, in meters, that a text states to be in or beside each other, before that
counts as a contradiction: a text names a place, and a map draws one point of it."""
SERIALIZATIONS: Final = (GEO.asWKT, GEO.asGeoJSON, GEO.asGML, GEO.asKML)
_ANY: Final[frozenset[NamedNode]] = frozenset((*HAS_GEOMETRY, *SERIALIZATIONS))


def states_geometry(triple: Triple) -> bool:
    """Whether this triple may change the place of a feature, and so a relation."""
    return triple.predicate in _ANY


# Geometry nodes and their literals as strings, which take a fifth of the memory of terms.
#
# A node is a string: an IRI as it is, a blank node as `_:name`. So is a wktLiteral; other literals stay
# terms.
Node = NamedNode | BlankNode
Text = str | Literal
"""A literal of a geometry: the text of a wktLiteral, or any other literal as a term."""


def text_of(node: Node) -> str:
    """A node as a string."""
    if isinstance(node, BlankNode):
        return f"_:{node.value}"
    value: str = node.value
    # No valid IRI begins like this, but unchecked loads may hold one that does.
    return f"<{value}>" if value.startswith(("_", "<")) else value


def node_of(text: str) -> Node:
    """The node for a string."""
    if text.startswith("_:"):
        return BlankNode(text[2:])
    value = text[1:-1] if text.startswith("<") else text
    try:
        return NamedNode(value)
    except ValueError:
        # From an unchecked load.
        found = term_in(f"<{value}>")
        assert isinstance(found, NamedNode)
        return found


def literal_text(literal: Literal) -> Text:
    """A literal in its compact form."""
    return literal.value if literal.datatype == WKT_LITERAL else literal


def literal_of(text: Text) -> Literal:
    """The literal for a compact form."""
    return Literal(text, datatype=WKT_LITERAL) if isinstance(text, str) else text


def term_in(turtle: str) -> Term:
    """Parse a term in Turtle syntax without checking it."""
    (quad,) = pyoxigraph.parse(f"<urn:s> <urn:p> {turtle} .", format=RdfFormat.TURTLE, lenient=True)
    found: Term = quad.object
    return found


# How inaccurate borders may be when features are related: a default, and values for layers of features.
#
# A layer is a class: a district may be drawn roughly where a parcel is surveyed. Of two features, the less
# accurate one counts.


@dataclass(frozen=True)
class Tolerances:
    """Meters, 0 for exact relations: `default_m`, and by class for features with their own tolerance.

    A feature in several layers has the largest of their tolerances.
    """

    default_m: float = 0.0
    layers: Mapping[NamedNode, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def largest_m(self) -> float:
        """The largest of all."""
        return max((self.default_m, *self.layers.values()))

    @property
    def description(self) -> str:
        """The mark that the store keeps for relations derived with these tolerances."""
        layers = sorted((str(layer), meters) for layer, meters in self.layers.items())
        return f"RCC8, tolerance {self.default_m:g} m" + "".join(f"; {one} {m:g} m" for one, m in layers)

    def concerns(self, triple: Triple) -> bool:
        """Whether a statement assigns something to a layer."""
        return bool(self.layers) and triple.predicate == RDF.type and triple.object in self.layers

    def own(self, source: TripleSource, feature: Node) -> float | None:
        """The tolerance of a feature's layers in a source; None where it is in none."""
        if not self.layers:
            return None
        return self._of(triple.object for triple in source.match(feature, RDF.type, None))

    def all_own(self, source: TripleSource) -> dict[Node, float]:
        """The tolerances of all features that are in a layer."""
        found: dict[Node, float] = {}
        for layer, meters in self.layers.items():
            for triple in source.match(None, RDF.type, layer):
                if isinstance(triple.subject, NamedNode | BlankNode):
                    found[triple.subject] = max(found.get(triple.subject, meters), meters)
        return found

    def _of(self, classes: Iterable[Term]) -> float | None:
        found = [
            self.layers[layer] for layer in classes if isinstance(layer, NamedNode) and layer in self.layers
        ]
        return max(found, default=None)


EXACT = Tolerances()


_MIXED: Final = "mixed"


def basis_quad(tolerances: Tolerances | None) -> Quad:
    """The mark of relations that were all derived with these tolerances; None: with several."""
    basis = _MIXED if tolerances is None else tolerances.description
    return Quad(UKG.store, UKG.relations, Literal(basis), STATE)


def marks(store: QuadSource) -> list[Quad]:
    """The current mark; empty where nothing is known."""
    return list(store.match_quads(UKG.store, UKG.relations, None, STATE))


def are_exact(store: QuadSource) -> bool:
    """Whether all relations of the store are known to have been derived without a tolerance."""
    return is_marked(store, EXACT)


def is_marked(store: QuadSource, tolerances: Tolerances) -> bool:
    """Whether all relations of the store are known to have been derived with these tolerances."""
    return marks(store) == [basis_quad(tolerances)]


def marked(
    store: QuadSource, tolerances: Tolerances, *, whole: bool, first: bool
) -> tuple[list[Quad], list[Quad]]:
    """The marks to add and remove with derived relations.

    `whole` means that all relations are derived again, `first` that there was no geometry before. Unmarked
    relations stay unmarked.
    """
    found, wanted = marks(store), basis_quad(tolerances)
    if found == [wanted]:
        return [], []
    if whole or (not found and first and next(store.match_quads(None, None, None, DERIVED), None) is None):
        return [wanted], found
    mixed = basis_quad(None)
    return ([mixed], found) if found and found != [mixed] else ([], [])

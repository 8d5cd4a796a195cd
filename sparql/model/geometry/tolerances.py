"""How inaccurate borders may be when features are related: a default, and values for layers of features.

A layer is a class: a district may be drawn roughly where a parcel is surveyed. Of two features, the less
accurate one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pyoxigraph import BlankNode, NamedNode, Triple

from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF

Node = NamedNode | BlankNode


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
        found = [self.layers[one] for one in classes if isinstance(one, NamedNode) and one in self.layers]
        return max(found, default=None)


EXACT = Tolerances()

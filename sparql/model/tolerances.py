"""How far borders may be off when features are related: usually, and in layers of features.

A layer is a class: a district may be drawn roughly where a parcel is surveyed. Of two features the one that
is drawn more roughly counts.
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
    """Metres, 0 for exact relations: `usual_m`, and by class where the features of one have their own.

    What is in several layers has the largest tolerance of these.
    """

    usual_m: float = 0.0
    layers: Mapping[NamedNode, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def largest_m(self) -> float:
        """The largest of all."""
        return max((self.usual_m, *self.layers.values()))

    @property
    def told(self) -> str:
        """What the store says of relations that were derived with these."""
        layers = sorted((str(layer), metres) for layer, metres in self.layers.items())
        return f"RCC8, tolerance {self.usual_m:g} m" + "".join(f"; {one} {m:g} m" for one, m in layers)

    def concerns(self, triple: Triple) -> bool:
        """Whether a statement says of something that it is in a layer."""
        return bool(self.layers) and triple.predicate == RDF.type and triple.object in self.layers

    def own(self, source: TripleSource, feature: Node) -> float | None:
        """The tolerance of the layers that a source has a feature in; None where it is in none."""
        if not self.layers:
            return None
        return self._of(triple.object for triple in source.match(feature, RDF.type, None))

    def all_own(self, source: TripleSource) -> dict[Node, float]:
        """The same of all features that are in a layer."""
        found: dict[Node, float] = {}
        for layer, metres in self.layers.items():
            for triple in source.match(None, RDF.type, layer):
                if isinstance(triple.subject, NamedNode | BlankNode):
                    found[triple.subject] = max(found.get(triple.subject, metres), metres)
        return found

    def _of(self, classes: Iterable[Term]) -> float | None:
        found = [self.layers[one] for one in classes if isinstance(one, NamedNode) and one in self.layers]
        return max(found, default=None)


EXACT = Tolerances()

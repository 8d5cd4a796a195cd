"""How near is "near", where the question gives no distance: by annotations of the ontology's classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pyoxigraph import Literal, NamedNode

from ontology import Schema
from sparql.model.vocabulary import UKG

__all__ = ["NearDistances"]

_DEFAULT_METERS: Final = 1000


class NearDistances:
    """Default distances by class; the most specific annotated class decides, else one kilometer."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._meters = {
            triple.subject: _meters(triple.object.value)
            for triple in schema.triples
            if triple.predicate == UKG.nearDistance and isinstance(triple.object, Literal)
        }

    def of(self, classes: Iterable[NamedNode] | None) -> int:
        """Return the distance in meters that "near" means for things of some classes."""
        above = {c for iri in classes or () for c in self._schema.superclasses(iri)} & self._meters.keys()
        lowest = [c for c in above if not any(self._is_below(other, c) for other in above)]
        return min((self._meters[c] for c in lowest), default=_DEFAULT_METERS)

    def _is_below(self, lower: NamedNode, upper: NamedNode) -> bool:
        return lower != upper and upper in self._schema.superclasses(lower)


def _meters(kilometers: str) -> int:
    try:
        return round(float(kilometers) * 1000)
    except ValueError:
        return _DEFAULT_METERS

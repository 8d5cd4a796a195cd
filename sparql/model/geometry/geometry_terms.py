"""The properties from features to geometries and from geometries to literals (GeoSPARQL 1.1, 8)."""

from typing import Final

from pyoxigraph import NamedNode, Triple

from sparql.model.vocabulary import GEO

DEFAULT_GEOMETRY: Final = (GEO.hasDefaultGeometry, GEO.defaultGeometry)
HAS_GEOMETRY: Final = (*DEFAULT_GEOMETRY, GEO.hasGeometry)
SERIALIZATIONS: Final = (GEO.asWKT, GEO.asGeoJSON, GEO.asGML, GEO.asKML)
_ANY: Final[frozenset[NamedNode]] = frozenset((*HAS_GEOMETRY, *SERIALIZATIONS))


def states_geometry(triple: Triple) -> bool:
    """Whether this triple may change the place of a feature, and so a relation."""
    return triple.predicate in _ANY

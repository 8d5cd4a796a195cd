"""By which properties a feature has a geometry, and a geometry its literal (GeoSPARQL 1.1, 8)."""

from typing import Final

from pyoxigraph import NamedNode, Triple

from sparql.model.vocabulary import GEO

DEFAULT_GEOMETRY: Final = (GEO.hasDefaultGeometry, GEO.defaultGeometry)
HAS_GEOMETRY: Final = (*DEFAULT_GEOMETRY, GEO.hasGeometry)
SERIALIZATIONS: Final = (GEO.asWKT, GEO.asGeoJSON, GEO.asGML, GEO.asKML)
_ANY: Final[frozenset[NamedNode]] = frozenset((*HAS_GEOMETRY, *SERIALIZATIONS))


def states_geometry(triple: Triple) -> bool:
    """Whether a change with this triple may change where a feature is, and so a relation."""
    return triple.predicate in _ANY

"""The IRIs of the OGC standards that this package reads and writes."""

from typing import Final

from pyoxigraph import NamedNode

GEO: Final = "http://www.opengis.net/ont/geosparql#"
GEOF: Final = "http://www.opengis.net/def/function/geosparql/"
#: The functions of this program: the eight tools.
UKGF: Final = "https://w3id.org/urbankg/function/"
SF: Final = "http://www.opengis.net/ont/sf#"
UOM: Final = "http://www.opengis.net/def/uom/OGC/1.0/"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

CRS84: Final = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

WKT_LITERAL: Final = NamedNode(GEO + "wktLiteral")
GEOJSON_LITERAL: Final = NamedNode(GEO + "geoJSONLiteral")
GML_LITERAL: Final = NamedNode(GEO + "gmlLiteral")
KML_LITERAL: Final = NamedNode(GEO + "kmlLiteral")
GEOMETRY_LITERALS: Final = frozenset({WKT_LITERAL, GEOJSON_LITERAL, GML_LITERAL, KML_LITERAL})

ANY_URI: Final = NamedNode(XSD + "anyURI")
BOOLEAN: Final = NamedNode(XSD + "boolean")
DOUBLE: Final = NamedNode(XSD + "double")
INTEGER: Final = NamedNode(XSD + "integer")
STRING: Final = NamedNode(XSD + "string")

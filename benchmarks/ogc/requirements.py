"""The requirements of GeoSPARQL 1.0 by number, and the request parameters that some of them call for."""

from __future__ import annotations

TITLES = {
    1: "SPARQL 1.1 query, protocol and results",
    2: "geo:SpatialObject",
    3: "geo:Feature",
    4: "Simple-feature properties",
    5: "Egenhofer properties",
    6: "RCC8 properties",
    7: "geo:Geometry",
    8: "geo:hasGeometry, geo:hasDefaultGeometry",
    9: "Properties of geometries",
    10: "WKT literals",
    11: "WKT: CRS84 when none is named",
    12: "WKT: axis order of the reference system",
    13: "WKT: empty geometry",
    14: "geo:asWKT",
    15: "GML literals",
    16: "GML: empty geometry",
    17: "GML profile is named",
    18: "geo:asGML",
    19: "Non-topological functions",
    20: "geof:getSRID",
    21: "geof:relate",
    22: "Simple-feature functions",
    23: "Egenhofer functions",
    24: "RCC8 functions",
    25: "RDFS entailment",
    26: "RDFS entailment: WKT class hierarchy",
    27: "RDFS entailment: GML class hierarchy",
    28: "Query rewriting: simple features",
    29: "Query rewriting: Egenhofer",
    30: "Query rewriting: RCC8",
}

_STATED_ONLY = {"derived": "false"}
_INFERENCE = {"inference": "rdfs"}
# By the rules of the standard, without relations that are kept of points and lines too.
_REWRITING = {"rewrite": "true", "derived": "false"}
_SWITCHES = {
    **dict.fromkeys((4, 5, 6), _STATED_ONLY),
    **dict.fromkeys((25, 26, 27), _INFERENCE),
    **dict.fromkeys((28, 29, 30), _REWRITING),
}


def switches_of(requirement: int) -> dict[str, str]:
    """What the requests of a requirement ask for besides the query."""
    return dict(_SWITCHES.get(requirement, {}))

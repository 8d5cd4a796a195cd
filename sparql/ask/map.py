"""The result on a map: GeoJSON features of the entities found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyoxigraph import Literal, NamedNode

from geo.errors import GeometryError
from sparql.ask.answer import rows_of
from sparql.ask.checking import Result
from sparql.ask.compiler import Query

__all__ = ["draw_map"]


def draw_map(query: Query, results: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a GeoJSON FeatureCollection (RFC 7946, CRS84), or None where the answer needs no map.

    Counts, plain values and entities without a geometry need none. A geometry that cannot be read is left
    out; its entity stays in the results.
    """
    if query.result not in (Result.ENTITIES, Result.MEASURES):
        return None
    features = [feature for row in rows_of(results) if (feature := _feature(query, row)) is not None]
    return {"type": "FeatureCollection", "features": features} if features else None


def _feature(query: Query, row: Mapping[str, Mapping[str, str]]) -> dict[str, Any] | None:
    from shapely.geometry import mapping

    from geo.formats.literals import parse_geometry

    term, wkt = row.get(query.variable), row.get("wkt")
    if term is None or wkt is None or "datatype" not in wkt:
        return None
    try:
        shape = parse_geometry(Literal(wkt["value"], datatype=NamedNode(wkt["datatype"])))
    except GeometryError:
        return None
    label = row["label"]["value"] if "label" in row else None
    return {
        "type": "Feature",
        "id": term["value"],
        "geometry": mapping(shape),
        "properties": {"iri": term["value"], "label": label},
    }

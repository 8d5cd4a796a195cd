"""The result on a map: GeoJSON features of the entities found, and of the place they were found by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyoxigraph import Literal, NamedNode

from geo.errors import GeometryError
from sparql.ask.answer.sentence import rows_of
from sparql.ask.compile.compiler import Query, Result

__all__ = ["draw_map"]


def draw_map(
    query: Query, results: Mapping[str, Any], references: Sequence[dict[str, Any]] = ()
) -> dict[str, Any] | None:
    """Return a GeoJSON FeatureCollection (RFC 7946, CRS84), or None where the answer needs no map.

    Counts, plain values and entities without a geometry need none. A geometry that cannot be read is left
    out; its entity stays in the results. `references` are features of the places that the question names.
    """
    if query.result is not Result.ENTITIES:
        return None
    features = [feature for row in rows_of(results) if (feature := _feature(query, row)) is not None]
    return {"type": "FeatureCollection", "features": [*features, *references]} if features else None


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
    values = {column: row[column]["value"] for column in query.columns if column in row}
    return {
        "type": "Feature",
        "id": term["value"],
        "geometry": mapping(shape),
        "properties": {"iri": term["value"], "label": label, **values},
    }

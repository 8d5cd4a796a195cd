"""`GET /features`: the places of the graph as GeoJSON, simplified for drawing."""

from __future__ import annotations

import hashlib
import json
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pyoxigraph import NamedNode
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.http.pages import NUMBERS, Needed
from server.message import IRI_FORM, AbsoluteIri
from server.services import Services
from sparql.model.vocabulary import GEO
from sparql.protocol.requests import Conditions

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from sparql.model.geometry import Node

_KEPT = 8
_MOST_NAMED = 500
_MOST_AROUND = 3
_FINEST = 1e-9
"""Degrees, a tenth of a millimeter: below it nothing is simplified, and no grid can be made."""
Box = tuple[float, float, float, float]
_INSIDE = (GEO.rcc8tpp, GEO.rcc8ntpp)
_Sort = Literal["points", "lines", "areas"]
_DIMENSIONS: dict[_Sort, int] = {"points": 0, "lines": 1, "areas": 2}


@dataclass(frozen=True)
class Wanted:
    """Which features, and how exactly they are drawn: see the parameters of `GET /features`."""

    iris: tuple[str, ...]
    dimensions: frozenset[int]
    tolerance: float
    limit: int
    box: Box | None = None
    distance_from: str | None = None
    within: bool = False


def router(services: Services, *needs: Needed) -> APIRouter:
    """The route that draws."""
    routes = APIRouter(tags=["geometry"], dependencies=[*needs, Depends(services.guard.requires(Scope.READ))])
    drawing = Drawing(services)

    @routes.get("/features")
    async def get_features(
        request: Request,
        iri: Annotated[
            list[AbsoluteIri] | None, Query(max_length=_MOST_NAMED, description="Only these; else all.")
        ] = None,
        of: Annotated[
            list[_Sort] | None, Query(description="Only geometry of these sorts; else all.")
        ] = None,
        tolerance: Annotated[
            float, Query(ge=0, le=10, description="Degrees by which a drawn border may differ.")
        ] = 0,
        limit: Annotated[
            int, Query(ge=1, le=100_000, description="At most so many, the largest first.")
        ] = 10_000,
        bbox: Annotated[
            str | None,
            Query(
                description="Only what touches this box: west,south,east,north in degrees.",
                json_schema_extra={"pattern": NUMBERS, "examples": ["-74,40.7,-73.9,40.8"]},
            ),
        ] = None,
        distance_from: Annotated[
            str | None,
            Query(
                description="An entity; each feature gets its `distance_m` from it.",
                json_schema_extra=IRI_FORM,
            ),
        ] = None,
        within: Annotated[
            bool, Query(description="Each feature gets the areas `within` which it lies, the smallest first.")
        ] = False,
    ) -> Response:
        """A GeoJSON FeatureCollection (RFC 7946), with `iri`, `label` and `classes` of each feature."""
        dimensions = frozenset(_DIMENSIONS[name] for name in of or _DIMENSIONS)
        box = None if bbox is None else _box(bbox)
        wanted = Wanted(tuple(iri or ()), dimensions, tolerance, limit, box, distance_from, within)
        tag, body = await run_in_threadpool(drawing.draw, wanted)
        headers = {"Content-Type": "application/geo+json", "ETag": f'"{tag}"', "Cache-Control": "no-cache"}
        if Conditions.read(None, request.headers.get("if-none-match")).is_known(tag):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers)

    return routes


class Drawing:
    """Draws features, and keeps the last drawings until the graph changes; blocks."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = Lock()
        self._drawn: OrderedDict[str, bytes] = OrderedDict()

    def draw(self, wanted: Wanted) -> tuple[str, bytes]:
        """The tag and the text of a feature collection. Raises `InvalidBody` for what is no IRI."""
        form = hashlib.blake2b(repr(wanted).encode(), digest_size=8).hexdigest()
        key = f"{self._services.store.revision()}-{form}"
        # One at a time: who asks for the same meanwhile gets what was drawn.
        with self._lock:
            if key not in self._drawn:
                self._drawn[key] = self._collection(wanted)
                while len(self._drawn) > _KEPT:
                    self._drawn.popitem(last=False)
            return key, self._drawn[key]

    def _collection(self, wanted: Wanted) -> bytes:
        import numpy
        import shapely

        located = self._located(wanted.iris)
        shapes = numpy.array([shape for _, shape in located], dtype=object)
        fits = numpy.isin(shapely.get_dimensions(shapes), list(wanted.dimensions))
        if wanted.box:
            fits &= shapely.intersects(shapes, shapely.box(*wanted.box))
        fitting = numpy.flatnonzero(fits)
        sizes = (-shapely.length(shapes[fitting]), -shapely.area(shapes[fitting]))
        chosen = fitting[numpy.lexsort(sizes)][: wanted.limit]
        drawn = shapes[chosen]
        if wanted.tolerance >= _FINEST:
            drawn = shapely.simplify(drawn, wanted.tolerance)
            rounded = shapely.set_precision(drawn, wanted.tolerance / 10, mode="pointwise")
            drawn = numpy.where(shapely.is_empty(rounded), drawn, rounded)
        geometries = shapely.to_geojson(drawn)
        more = self._placing(wanted)
        features = [
            self._feature(located[row][0], text, more(located[row]))
            for row, text in zip(chosen, geometries, strict=True)
        ]
        head = f'{{"type":"FeatureCollection","numberMatched":{len(fitting)},"features":['
        return (head + ",".join(features) + "]}").encode()

    def _located(self, iris: Iterable[str]) -> Sequence[tuple[Node, BaseGeometry]]:
        relations = self._services.relations
        nodes = [_iri(text) for text in iris]
        if not nodes:
            return relations.located()
        return [(node, shape) for node in nodes for shape in relations.geometry_of(node)]

    def _placing(self, wanted: Wanted) -> Callable[[tuple[Node, BaseGeometry]], dict[str, Any]]:
        """What shows where a feature lies, as the request wants it."""
        from geo.measure.measures import distance_m

        relations = self._services.relations
        origin = () if wanted.distance_from is None else relations.geometry_of(_iri(wanted.distance_from))
        if wanted.distance_from is not None and not origin:
            raise InvalidBody(
                [("distance_from", f"<{wanted.distance_from}> has no geometry to measure from")]
            )

        def more(located: tuple[Node, BaseGeometry]) -> dict[str, Any]:
            node, shape = located
            found: dict[str, Any] = {}
            if origin and not shape.is_empty:
                found["distance_m"] = round(min(distance_m(shape, one) for one in origin), 1)
            if wanted.within:
                found["within"] = self._areas_around(node)
            return found

        return more

    def _areas_around(self, node: Node) -> list[dict[str, str | None]]:
        """The areas that a feature lies in, by the stored relations, the smallest first."""
        relations, store = self._services.relations, self._services.store
        areas = {
            triple.object
            for relation in _INSIDE
            for triple in store.match(node, relation, None)
            if isinstance(triple.object, NamedNode)
        }
        sizes = {one: sum(shape.area for shape in relations.geometry_of(one)) for one in areas}
        smallest = sorted(areas, key=lambda one: (sizes[one], one.value))[:_MOST_AROUND]
        return [{"iri": one.value, "label": self._label(one)} for one in smallest]

    def _label(self, node: NamedNode) -> str | None:
        entries = self._services.labels.entries_of(node)
        return entries[0].label if entries else None

    def _feature(self, node: Node, geometry: str, more: dict[str, Any]) -> str:
        entries = self._services.labels.entries_of(node) if isinstance(node, NamedNode) else ()
        properties = {
            "iri": node.value,
            "label": entries[0].label if entries else None,
            "classes": sorted(one.value for one in entries[0].classes) if entries else [],
            **more,
        }
        name, written = (json.dumps(one, ensure_ascii=False) for one in (node.value, properties))
        return f'{{"type":"Feature","id":{name},"geometry":{geometry},"properties":{written}}}'


def _box(text: str) -> Box:
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        west = south = east = north = math.nan
    if not (west <= east and south <= north and all(map(math.isfinite, (west, south, east, north)))):
        raise InvalidBody([("bbox", f"'{text}' is not west,south,east,north in degrees")])
    return west, south, east, north


def _iri(text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise InvalidBody([("iri", f"'{text}' is not an absolute IRI")]) from error

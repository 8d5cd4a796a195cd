"""`GET /features`: the places of the graph as GeoJSON, simplified for drawing."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pyoxigraph import NamedNode
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.http.page_parameters import Needed
from server.runtime.context import Services
from sparql.protocol.conditions import Conditions

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from sparql.model.geometry_names import Node

_KEPT = 8
_MOST_NAMED = 500
_Sort = Literal["points", "lines", "areas"]
_DIMENSIONS: dict[_Sort, int] = {"points": 0, "lines": 1, "areas": 2}


@dataclass(frozen=True)
class Wanted:
    """Which features, and how exactly they are drawn: see the parameters of `GET /features`."""

    iris: tuple[str, ...]
    dimensions: frozenset[int]
    tolerance: float
    limit: int


def router(services: Services, *needs: Needed) -> APIRouter:
    """The route that draws."""
    routes = APIRouter(tags=["geometry"], dependencies=[*needs, Depends(services.guard.requires(Scope.READ))])
    drawing = Drawing(services)

    @routes.get("/features")
    async def get_features(
        request: Request,
        iri: Annotated[
            list[str] | None, Query(max_length=_MOST_NAMED, description="Only these; else all.")
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
    ) -> Response:
        """A GeoJSON FeatureCollection (RFC 7946), with `iri`, `label` and `classes` of each feature."""
        dimensions = frozenset(_DIMENSIONS[name] for name in of or _DIMENSIONS)
        wanted = Wanted(tuple(iri or ()), dimensions, tolerance, limit)
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
        fitting = numpy.flatnonzero(numpy.isin(shapely.get_dimensions(shapes), list(wanted.dimensions)))
        sizes = (-shapely.length(shapes[fitting]), -shapely.area(shapes[fitting]))
        chosen = fitting[numpy.lexsort(sizes)][: wanted.limit]
        drawn = shapes[chosen]
        if wanted.tolerance:
            drawn = shapely.simplify(drawn, wanted.tolerance)
            rounded = shapely.set_precision(drawn, wanted.tolerance / 10, mode="pointwise")
            drawn = numpy.where(shapely.is_empty(rounded), drawn, rounded)
        geometries = shapely.to_geojson(drawn)
        features = [
            self._feature(located[row][0], text) for row, text in zip(chosen, geometries, strict=True)
        ]
        head = f'{{"type":"FeatureCollection","numberMatched":{len(fitting)},"features":['
        return (head + ",".join(features) + "]}").encode()

    def _located(self, iris: Iterable[str]) -> Sequence[tuple[Node, BaseGeometry]]:
        relations = self._services.relations
        nodes = [_iri(text) for text in iris]
        if not nodes:
            return relations.located()
        return [(node, shape) for node in nodes for shape in relations.geometry_of(node)]

    def _feature(self, node: Node, geometry: str) -> str:
        entries = self._services.labels.entries_of(node) if isinstance(node, NamedNode) else ()
        properties = {
            "iri": node.value,
            "label": entries[0].label if entries else None,
            "classes": sorted(one.value for one in entries[0].classes) if entries else [],
        }
        name, told = (json.dumps(one, ensure_ascii=False) for one in (node.value, properties))
        return f'{{"type":"Feature","id":{name},"geometry":{geometry},"properties":{told}}}'


def _iri(text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise InvalidBody([("iri", f"'{text}' is not an absolute IRI")]) from error

"""`GET /features`: the places of the graph as GeoJSON, simplified for drawing."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pyoxigraph import BlankNode, NamedNode
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.runtime.context import Services
from sparql.protocol.conditions import Conditions

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

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


def router(services: Services) -> APIRouter:
    """The route that draws."""
    routes = APIRouter(tags=["geometry"], dependencies=[Depends(services.guard.requires(Scope.READ))])
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
        with self._lock:
            if key in self._drawn:
                return key, self._drawn[key]
        body = json.dumps(self._collection(wanted), ensure_ascii=False, separators=(",", ":")).encode()
        with self._lock:
            self._drawn[key] = body
            while len(self._drawn) > _KEPT:
                self._drawn.popitem(last=False)
        return key, body

    def _collection(self, wanted: Wanted) -> dict[str, Any]:
        located = self._located(wanted.iris)
        found = [(node, shape) for node, shape in located if _dimension(shape) in wanted.dimensions]
        found.sort(key=lambda one: (-one[1].area, -one[1].length, one[0].value))
        features = [self._feature(node, shape, wanted.tolerance) for node, shape in found[: wanted.limit]]
        return {"type": "FeatureCollection", "numberMatched": len(found), "features": features}

    def _located(self, iris: Iterable[str]) -> Iterator[tuple[NamedNode | BlankNode, BaseGeometry]]:
        from sparql.spatial.relations import geometries_in, located_features

        nodes = [_iri(text) for text in iris]
        store = self._services.store
        if not nodes:
            yield from located_features(store)
        for node in nodes:
            for shape in geometries_in(store, node):
                yield node, shape

    def _feature(self, node: NamedNode | BlankNode, shape: BaseGeometry, tolerance: float) -> dict[str, Any]:
        from shapely import set_precision
        from shapely.geometry import mapping

        if tolerance:
            shape = shape.simplify(tolerance)
            digits = set_precision(shape, tolerance / 10, mode="pointwise")
            shape = shape if digits.is_empty else digits
        entries = self._services.labels.entries_of(node) if isinstance(node, NamedNode) else ()
        return {
            "type": "Feature",
            "id": node.value,
            "geometry": mapping(shape),
            "properties": {
                "iri": node.value,
                "label": entries[0].label if entries else None,
                "classes": sorted(one.value for one in entries[0].classes) if entries else [],
            },
        }


def _dimension(shape: BaseGeometry) -> int:
    from shapely import get_dimensions

    return int(get_dimensions(shape))


def _iri(text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise InvalidBody([("iri", f"'{text}' is not an absolute IRI")]) from error

"""OGC API - Features: the features of the graph for GIS programs, one collection for each class.

Core and GeoJSON of OGC 17-069r4. The landing page is at `/` for clients that accept JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Query
from pyoxigraph import NamedNode
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from server.errors import ParameterUnusable, UnknownResource
from server.http.access.guard import refuse_key_in_address
from server.http.access.keys import Scope
from server.http.pages import Needed, known_parameters
from server.services import Services
from sparql.model.answer_warnings import unknown_name

if TYPE_CHECKING:
    from sparql.spatial.feature_collections import Box, Collections, FeatureCatalog, FeatureClass

_MOST: Final = 1000
_USUAL: Final = 100
_CRS84: Final = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
_CONFORMANCE: Final = tuple(
    f"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/{part}" for part in ("core", "geojson")
)
_PARAMETERS: Final = ("bbox", "datetime", "f", "limit", "offset")
_GEOJSON: Final = "application/geo+json"
_HEADERS: Final = {"Content-Crs": f"<{_CRS84}>", "Cache-Control": "no-cache"}
_OPENAPI: Final = "application/vnd.oai.openapi+json;version=3.1"

Text = Annotated[str | None, Query()]
_NUMBERS: Final = r"^-?[0-9]+(\.[0-9]+)?(,-?[0-9]+(\.[0-9]+)?){3}((,-?[0-9]+(\.[0-9]+)?){2})?$"
_MOMENTS: Final = (
    r"^(\.\.|[0-9]{4}(-[0-9]{2}){0,2}(T[0-9:.]+Z?)?)?(/(\.\.|[0-9]{4}(-[0-9]{2}){0,2}(T[0-9:.]+Z?)?)?)?$"
)


def landing_page(services: Services, request: Request) -> JSONResponse:
    """What `/` answers to programs: where everything is (OGC 17-069r4, 7.2)."""
    _known(request)
    base = _base(services, request)
    links = [
        _link(f"{base}/", "self", "application/json", "This page"),
        _link(f"{base}/openapi.json", "service-desc", _OPENAPI, "The description of the API"),
        _link(f"{base}/docs", "service-doc", "text/html", "The same for people"),
        _link(f"{base}/conformance", "conformance", "application/json", "What this API conforms to"),
        _link(f"{base}/collections", "data", "application/json", "Features by class"),
        _link(f"{base}/sparql", "describedby", "text/turtle", "The SPARQL endpoint and its description"),
        _link(f"{base}/.well-known/void", "describedby", "text/turtle", "The dataset in VoID"),
    ]
    page = {"title": "UrbanKG", "description": "A knowledge graph of features and their relations."}
    return JSONResponse({**page, "links": links}, headers={"Vary": "Accept"})


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of the standard, which wants 400 for parameters it lacks: these are checked here."""
    others = [need for need in needs if need.dependency is not known_parameters]
    read = Depends(services.guard.requires(Scope.READ))
    routes = APIRouter(tags=["features"], dependencies=[Depends(_known), *others, read])
    reading = _Reading(services)

    @routes.get("/conformance")
    async def get_conformance(f: Text = None) -> dict[str, Any]:
        """The conformance classes of OGC API - Features that the API has."""
        return {"conformsTo": _CONFORMANCE}

    @routes.get("/collections")
    async def list_collections(request: Request, f: Text = None) -> dict[str, Any]:
        """A collection for each class that features are in, itself or by a class below it."""
        found = await reading.collections()
        base = _base(services, request) + "/collections"
        described = [_described(found, one, base) for one in found.classes.values()]
        links = [_link(base, "self", "application/json", "The collections")]
        return {"links": links, "collections": described}

    @routes.get("/collections/{collection}")
    async def get_collection(request: Request, collection: str, f: Text = None) -> dict[str, Any]:
        """One collection: what it is, and the box around it."""
        found = await reading.collections()
        return _described(found, _find(found, collection), _base(services, request) + "/collections")

    @routes.get("/collections/{collection}/items", response_class=JSONResponse)
    async def list_items(
        request: Request,
        collection: str,
        bbox: Annotated[
            str | None,
            Query(
                description="Smallest and largest longitude and latitude: w,s,e,n; six numbers with heights.",
                json_schema_extra={"pattern": _NUMBERS, "examples": ["-74,40.7,-73.9,40.8"]},
            ),
        ] = None,
        datetime: Annotated[
            str | None,
            Query(
                description="A date, or two with a slash between; '..' leaves an end open.",
                json_schema_extra={"pattern": _MOMENTS, "examples": ["1995-07-01", "1995-07-01/.."]},
            ),
        ] = None,
        limit: Annotated[
            str | None,
            Query(
                description=f"At most so many, {_MOST} in any case; {_USUAL} without it.",
                json_schema_extra={"pattern": "^[1-9][0-9]{0,8}$"},
            ),
        ] = None,
        offset: Annotated[
            str | None,
            Query(description="So many are skipped.", json_schema_extra={"pattern": "^[0-9]{1,9}$"}),
        ] = None,
        f: Text = None,
    ) -> JSONResponse:
        """A page of features as GeoJSON with their properties, in the order of their IRIs."""
        wanted = _Wanted.read(bbox, datetime, limit, offset)
        address = f"{_base(services, request)}/collections/{quote(collection, safe='')}"
        sent = [(n, v) for n, v in request.query_params.multi_items() if n not in ("offset", "limit")]
        return JSONResponse(
            await reading.items(collection, wanted, address, sent), headers=_HEADERS, media_type=_GEOJSON
        )

    @routes.get("/collections/{collection}/items/{feature:path}", response_class=JSONResponse)
    async def get_item(request: Request, collection: str, feature: str, f: Text = None) -> Response:
        """One feature by its IRI, percent-encoded or as it is."""
        if not feature:
            query = request.url.query
            return RedirectResponse("../items" + (f"?{query}" if query else ""))
        address = f"{_base(services, request)}/collections/{quote(collection, safe='')}"
        return JSONResponse(
            await reading.item(collection, feature, address), headers=_HEADERS, media_type=_GEOJSON
        )

    return routes


def _known(request: Request) -> None:
    """Raises `ParameterUnusable` for parameters that the route lacks (17-069r4, 7.15.8 wants 400)."""
    refuse_key_in_address(request)
    known = _PARAMETERS if request.url.path.rstrip("/").endswith("/items") else ("f",)
    for name in request.query_params:
        if name not in known:
            raise ParameterUnusable(name, unknown_name("parameter", name, known))
    if request.query_params.get("f", "json") not in ("json", "geojson"):
        raise ParameterUnusable("f", "the answer is JSON; send f=json or leave it out")


@dataclass(frozen=True)
class _Wanted:
    """Which features of a collection."""

    box: Box | None
    moments: tuple[str, str] | None
    limit: int
    offset: int

    @classmethod
    def read(cls, bbox: str | None, moments: str | None, limit: str | None, offset: str | None) -> _Wanted:
        """Raises `ParameterUnusable`."""
        return cls(
            None if bbox is None else _box(bbox),
            None if moments is None else _moments(moments),
            min(_number("limit", limit, 1), _MOST) if limit is not None else _USUAL,
            _number("offset", offset, 0) if offset is not None else 0,
        )


def _number(name: str, text: str, least: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < least:
        raise ParameterUnusable(name, f"'{text[:40]}' is no whole number from {least} to 999999999")
    return int(text)


def _box(text: str) -> Box:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) == 6:
        numbers = [*numbers[:2], *numbers[3:5]]
    if len(numbers) != 4 or not all(abs(number) <= 360 for number in numbers) or numbers[1] > numbers[3]:
        raise ParameterUnusable("bbox", f"'{text[:80]}' is not four numbers west,south,east,north in degrees")
    west, south, east, north = numbers
    return west, south, east, north


def _moments(text: str) -> tuple[str, str]:
    from sparql.spatial.feature_collections import interval_of

    ends = text.split("/")
    first, last = (interval_of(end) for end in (ends[0], ends[-1]))
    if first is None and ends[0] in ("", "..") and len(ends) == 2:
        first = ("", "")
    if last is None and ends[-1] in ("", "..") and len(ends) == 2:
        last = ("", "9999-12-31T23:59:60")
    if first is None or last is None or len(ends) > 2 or first[0] > last[1]:
        raise ParameterUnusable(
            "datetime",
            f"'{text[:80]}' is no date or moment, such as 1995-07-01, and no two with a slash between",
        )
    return first[0], last[1]


class _Reading:
    """Reads collections and features; the geometries of the last revision are kept."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._catalog: FeatureCatalog | None = None

    async def collections(self) -> Collections:
        """All of them at the current revision."""
        if self._catalog is None:
            from sparql.spatial.feature_collections import FeatureCatalog

            self._catalog = FeatureCatalog(self._services.relations, self._services.labels)
        revision, schema = self._services.store.revision(), self._services.schema
        return await run_in_threadpool(self._catalog.at, revision, schema)

    async def items(
        self, name: str, wanted: _Wanted, address: str, sent: Sequence[tuple[str, str]]
    ) -> dict[str, Any]:
        """A page of features (17-069r4, 7.16), with links to those around it."""
        found = await self.collections()
        rows = _find(found, name).rows
        if wanted.box is not None:
            rows = await run_in_threadpool(found.within, rows, wanted.box)
        if wanted.moments is not None:
            from sparql.spatial.feature_collections import during

            run_query = self._services.readers.solutions
            there = await during([found.iris[row] for row in rows], *wanted.moments, run_query)
            rows = rows[[found.iris[row] in there for row in rows]] if len(rows) else rows
        page = rows[wanted.offset : wanted.offset + wanted.limit]
        links = [_link(f"{address}", "collection", "application/json", "The collection")]
        starts = {"self": wanted.offset}
        if wanted.offset > 0:
            starts["prev"] = max(0, wanted.offset - wanted.limit)
        if wanted.offset + wanted.limit < len(rows):
            starts["next"] = wanted.offset + wanted.limit
        for relation, start in starts.items():
            query = urlencode([*sent, ("offset", start), ("limit", wanted.limit)])
            links.append(_link(f"{address}/items?{query}", relation, _GEOJSON, f"The {relation} page"))
        return {
            "type": "FeatureCollection",
            "timeStamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "numberMatched": len(rows),
            "numberReturned": len(page),
            "links": links,
            "features": await self._features(found, page.tolist()),
        }

    async def item(self, name: str, iri: str, address: str) -> dict[str, Any]:
        """One feature of a collection."""
        from bisect import bisect_left

        found = await self.collections()
        collection = _find(found, name)
        row = bisect_left(found.iris, iri, key=lambda one: one.value)
        if row == len(found.iris) or found.iris[row].value != iri or row not in collection.rows:
            raise UnknownResource(
                f"The collection '{collection.identifier}' has no feature '{iri[:200]}'; send its IRI."
            )
        links = [
            _link(f"{address}/items/{quote(iri, safe='')}", "self", _GEOJSON, "This feature"),
            _link(address, "collection", "application/json", "The collection"),
        ]
        return {**(await self._features(found, [row]))[0], "links": links}

    async def _features(self, found: Collections, rows: Sequence[int]) -> list[dict[str, Any]]:
        import json

        import shapely

        from sparql.spatial.feature_collections import properties_of

        iris = [found.iris[row] for row in rows]
        known = await properties_of(iris, self._services.schema, self._services.readers.solutions)
        drawn = shapely.to_geojson(found.shapes[rows]).tolist() if rows else []
        return [
            {
                "type": "Feature",
                "id": iri.value,
                "geometry": json.loads(geometry),
                "properties": {**self._named(iri), **known.get(iri.value, {})},
            }
            for iri, geometry in zip(iris, drawn, strict=True)
        ]

    def _named(self, iri: NamedNode) -> dict[str, Any]:
        kinds = self._services.labels.classes_of(iri)
        return {"iri": iri.value, "classes": sorted(kind.value for kind in kinds)}


def _find(found: Collections, name: str) -> FeatureClass:
    known = found.classes.get(name)
    if known is None:
        listed = unknown_name("collection", name[:200], list(found.classes))
        raise UnknownResource(f"Here {listed}")
    return known


def _described(found: Collections, one: FeatureClass, base: str) -> dict[str, Any]:
    address = f"{base}/{quote(one.identifier, safe='')}"
    return {
        "id": one.identifier,
        "title": one.title,
        "description": one.description,
        "itemType": "feature",
        "extent": {"spatial": {"bbox": [found.extent(one.rows)], "crs": _CRS84}},
        "crs": [_CRS84],
        "links": [
            _link(address, "self", "application/json", one.title),
            _link(f"{address}/items", "items", _GEOJSON, f"The features of '{one.title}'"),
            {"href": one.iri.value, "rel": "describedby", "title": "The class"},
        ],
    }


def _link(href: str, rel: str, kind: str, title: str) -> dict[str, str]:
    return {"href": href, "rel": rel, "type": kind, "title": title}


def _base(services: Services, request: Request) -> str:
    """The server's address as the client knows it: by `public_url`, else as it was just called."""
    return (services.settings.public_url or str(request.base_url)).rstrip("/")

"""`POST /relations`: two geometries in, their topological relation out."""

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field
from pyoxigraph import Literal
from starlette.requests import Request

from geo.errors import GeometryError
from server.bodies import body_schema, read_json
from server.errors import InvalidBody
from server.keys import Scope
from server.services import Services
from sparql.vocabulary import GEO

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


class RelationsRequest(BaseModel):
    """Two geometries as well-known text, longitude first (or with a CRS IRI before it)."""

    a: str = Field(description="WKT, for example POINT(-73.96 40.81)")
    b: str = Field(description="WKT")


def router(services: Services) -> APIRouter:
    """The route that relates two geometries."""
    routes = APIRouter(tags=["geometry"], dependencies=[Depends(services.guard.requires(Scope.READ))])

    @routes.post("/relations", openapi_extra=body_schema(RelationsRequest))
    async def post_relations(request: Request) -> dict[str, Any]:
        """RCC8, RCC5, the DE-9IM matrix and the geodesic distance in metres between two geometries."""
        from geo import distance_m, relate

        message = await read_json(request, RelationsRequest, services.settings.max_body_bytes)
        a, b = _geometry("a", message.a), _geometry("b", message.b)
        relation = relate(a, b)
        return {
            "rcc8": relation.rcc8.value,
            "rcc5": relation.rcc5.value,
            "relate": relation.matrix,
            "distance_m": distance_m(a, b),
        }

    return routes


def _geometry(place: str, text: str) -> "BaseGeometry":
    from geo import parse_geometry

    try:
        geometry = parse_geometry(Literal(text, datatype=GEO.wktLiteral))
    except GeometryError as error:
        raise InvalidBody([(place, str(error))]) from error
    if geometry.is_empty:
        raise InvalidBody([(place, "an empty geometry relates to nothing; send one with coordinates")])
    return geometry

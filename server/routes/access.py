"""`GET /access`: what the sender of a request may do."""

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request

from server.http.pages import known_parameters
from server.services import Services


def router(services: Services) -> APIRouter:
    """The route that shows a client its scopes, so that it need not offer what would be refused."""
    routes = APIRouter(tags=["operations"], dependencies=[Depends(known_parameters)])

    @routes.get("/access")
    async def get_access(request: Request) -> dict[str, Any]:
        """The name of the key that came with the request (null: none), and the scopes it has here."""
        name, scopes = services.guard.access(request)
        return {"key": name, "scopes": sorted(scope.value for scope in scopes)}

    return routes

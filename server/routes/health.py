"""`GET /healthz`: whether the server is up, and at which revision."""

from typing import Any

from fastapi import APIRouter

from server.services import Services


def router(services: Services) -> APIRouter:
    """The route that monitors ask."""
    routes = APIRouter(tags=["operations"])

    @routes.get("/healthz")
    async def get_health() -> dict[str, Any]:
        """Answers 200 as soon as queries and writes are taken."""
        return {
            "status": "ok",
            "revision": services.store.revision(),
            "model": services.model.name,
            "ontology": services.schema.version,
            "shapes": services.gate.version,
        }

    return routes

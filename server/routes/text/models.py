"""`GET /models` and `POST /models/probe`: the language model behind extraction and questions."""

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request

from server.http.access.keys import Scope
from server.http.bodies.streaming import while_connected
from server.http.pages import Needed
from server.intake.language_model import model_json, prices_of, probed
from server.services import Services


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes that describe the model."""
    routes = APIRouter(tags=["operations"], dependencies=needs)
    prices = prices_of(services.settings)

    @routes.get("/models", dependencies=[Depends(services.guard.requires(Scope.READ))])
    async def get_models() -> dict[str, Any]:
        """What is known of the model and its server, and what it did and cost since the start."""
        return model_json(services.model, prices)

    @routes.post("/models/probe", dependencies=[Depends(services.guard.requires(Scope.EXTRACT))])
    async def post_probe(request: Request) -> dict[str, Any]:
        """The same after a short question to the model, with how long its answer took."""
        return await while_connected(request, probed(services.model, prices))

    return routes

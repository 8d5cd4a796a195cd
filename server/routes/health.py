"""`GET /healthz`, `/readyz` and `/metrics`: what monitors ask."""

import asyncio
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from server.http.access.keys import Scope
from server.http.pages import known_parameters
from server.http.readiness import Readiness
from server.http.version import API_VERSION
from server.intake.language_model import model_health
from server.monitoring.metrics import CONTENT_TYPE
from server.services import Services
from server.stores import capabilities


def router(services: Services, readiness: Readiness) -> APIRouter:
    """The routes that monitors ask."""
    routes = APIRouter(tags=["operations"], dependencies=[Depends(known_parameters)])
    read = [Depends(services.guard.requires(Scope.READ))]

    @routes.get("/healthz")
    async def get_health() -> dict[str, Any]:
        """Answers 200 while the process lives; restart it when it does not."""
        return {
            "status": "ok",
            "version": version("urbankg"),
            "api": API_VERSION,
            "revision": services.store.revision(),
            "store": capabilities(services.store),
            "model": services.model.name,
            "model_state": model_health(services.model),
            "ontology": services.schema.version,
            "shapes": services.gate.version if services.is_open else None,
        }

    @routes.get("/readyz", responses={503: {"description": "Not ready; `checks` says what is missing."}})
    async def get_readiness(request: Request) -> Response:
        """Answers 200 while readers answer and the store takes writes; send no traffic when it does not.

        After a start, writes, extraction and questions may wait a moment longer for what judges them.
        """
        return await readiness.answer(request)

    @routes.get("/metrics", dependencies=read, response_class=Response)
    async def get_metrics() -> Response:
        """Counters and measurements in Prometheus' text format."""
        text = await asyncio.get_running_loop().run_in_executor(readiness.threads, services.metrics.text)
        return Response(text, headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})

    return routes

"""`GET /extractions` and `GET /extractions/{id}/trace`: what was asked of the model, and what it said."""

from typing import Any

from fastapi import APIRouter, Depends
from starlette.concurrency import run_in_threadpool

from server.http.access.keys import Scope
from server.http.pages import Limit, Links, Needed, Offset
from server.intake.outcome import Traces
from server.services import Services


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of past extractions."""
    routes = APIRouter(
        tags=["extraction"], dependencies=[*needs, Depends(services.guard.requires(Scope.READ))]
    )
    traces = Traces(services.store)

    @routes.get("/extractions")
    async def get_extractions(links: Links, offset: Offset = 0, limit: Limit = 50) -> dict[str, Any]:
        """One page of the extractions that the graph knows of, the last first, with the total."""
        total, page = await run_in_threadpool(traces.latest, offset, limit)
        return links({"total": total, "offset": offset, "limit": limit, "extractions": page})

    @routes.get("/extractions/{identifier}/trace")
    async def get_trace(identifier: str) -> dict[str, Any]:
        """An extraction's model, adapter, prompt and versions, and every message and reply."""
        return await run_in_threadpool(traces.get, identifier)

    return routes

"""`GET /review`: what the gate refused or warned of, waiting for a person."""

from typing import Any, Literal

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool

from server.keys import Scope
from server.services import Services
from server.statements import review_json
from sparql.vocabulary import UKG

_STATUS = {"open": UKG.Open, "accepted": UKG.Accepted, "rejected": UKG.Rejected, "any": None}


def router(services: Services) -> APIRouter:
    """The routes of the review queue."""
    routes = APIRouter(tags=["review"], dependencies=[Depends(services.guard.requires(Scope.READ))])

    @routes.get("/review")
    async def get_review(
        status: Literal["open", "accepted", "rejected", "any"] = "open",
        offset: int = Query(0, ge=0, le=10**9),
        limit: int = Query(50, ge=1, le=1000),
    ) -> dict[str, Any]:
        """One page of review items, newest first, with the total."""
        wanted = _STATUS[status]
        total = await run_in_threadpool(services.review.count, wanted)
        items = await run_in_threadpool(services.review.page, status=wanted, offset=offset, limit=limit)
        return {
            "total": total,
            "offset": offset,
            "limit": limit,
            "items": [review_json(item) for item in items],
        }

    return routes

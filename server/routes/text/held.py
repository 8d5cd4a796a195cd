"""`/held`: batches on which very much depends, while they wait to be judged and after."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool

from server.http.access.keys import Scope
from server.http.pages import Limit, Links, Needed, Offset
from server.services import Services

Status = Literal["waiting", "committed", "refused", "withdrawn", "any"]


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of the held batches."""
    routes = APIRouter(tags=["extraction"], dependencies=needs)
    reads = [Depends(services.guard.requires(Scope.READ))]
    extracts = [Depends(services.guard.requires(Scope.EXTRACT))]
    holding = services.held_judge

    @routes.get("/held", dependencies=reads)
    async def get_held(
        links: Links,
        status: Annotated[Status, Query(description="Only batches that stand so.")] = "waiting",
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """One page of held batches, in the order in which they are judged, with the total."""
        return links(await run_in_threadpool(holding.page, status, offset, limit))

    @routes.get("/held/{identifier}", dependencies=reads)
    async def get_held_batch(identifier: str) -> dict[str, Any]:
        """A batch that is or was held; `outcome` is what became of it, as the client would have received it.

        `problem` is what kept one that waits from being judged: `POST /held/judge` tries again.
        """
        return await run_in_threadpool(holding.describe, identifier)

    @routes.post("/held/judge", dependencies=extracts, status_code=202)
    async def judge_held() -> dict[str, Any]:
        """Judge what waits once more, beside other requests; the batches say what becomes of them."""
        await services.opened()
        holding.try_again()
        services.judge_held()
        return await run_in_threadpool(holding.page, "waiting", 0, 50)

    @routes.delete("/held/{identifier}", dependencies=extracts)
    async def delete_held_batch(identifier: str) -> dict[str, Any]:
        """Take back a batch that waits; 409 when it was judged already."""
        return await run_in_threadpool(holding.withdraw, identifier)

    return routes

"""`/review`: what the gate refused or warned of, and what people decide about it."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from pyoxigraph import NamedNode
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from curation.decisions import Reviewer
from curation.review import named_item
from server.curation.reviewing import ReviewService, filter_of
from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.http.bodies import body_schema, read_json
from server.http.page_parameters import Limit, Offset
from server.http.pages import Links
from server.http.reporting.decisions import AcceptRequest, DecisionRequest
from server.http.reporting.problems import TYPE_BASE, problem_response
from server.http.reporting.statements import statement_of
from server.message import Message
from server.runtime.context import Services

Status = Literal["open", "accepted", "rejected", "superseded", "any"]
_MOST_AT_ONCE = 1000


class FilterJson(Message):
    """Which items; the same parts as the parameters of `GET /review`."""

    status: Status = "open"
    document: str | None = None
    shape: str | None = None
    predicate: str | None = None
    entity: str | None = None
    text: str | None = None


class DecisionsRequest(DecisionRequest):
    """One decision for many items: those named, or all that a filter lets through."""

    decision: Literal["accept", "reject", "reopen"]
    items: list[str] | None = Field(None, max_length=_MOST_AT_ONCE)
    filter: FilterJson | None = None


def router(services: Services) -> APIRouter:
    """The routes of the review queue."""
    routes = APIRouter(tags=["review"])
    reads = [Depends(services.guard.requires(Scope.READ))]
    decides = [Depends(services.guard.requires(Scope.REVIEW))]
    service = ReviewService(services)
    limit = services.settings.max_body_bytes

    def reviewer(request: Request, message: DecisionRequest) -> Reviewer:
        key = services.guard.key_name(request)
        return Reviewer(message.by or key or "anonymous", key)

    @routes.get("/review", dependencies=reads)
    async def get_review(
        links: Links,
        status: Status = "open",
        document: Annotated[str | None, Query(description="IRI or identifier of a document.")] = None,
        shape: Annotated[str | None, Query(description="IRI of a shape that was broken.")] = None,
        predicate: Annotated[str | None, Query(description="IRI of the statement's property.")] = None,
        entity: Annotated[str | None, Query(description="IRI of the statement's subject or object.")] = None,
        text: Annotated[str | None, Query(description="Words in names, quotes, replies or reasons.")] = None,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """One page of review items, newest first, with the total."""
        wanted = filter_of(status, document, shape, predicate, entity, text)
        return links(await run_in_threadpool(service.page, wanted, offset, limit))

    @routes.get("/review/{item}", dependencies=reads)
    async def get_item(item: str) -> dict[str, Any]:
        """One item, with existing entities that its names may mean."""
        return await run_in_threadpool(service.show, named_item(item))

    @routes.post("/review/decisions", dependencies=decides, openapi_extra=body_schema(DecisionsRequest))
    async def post_decisions(request: Request) -> dict[str, Any]:
        """Decide many items in one commit; what the gate still refuses stays open and is listed."""
        message = await read_json(request, DecisionsRequest, limit)
        if (message.items is None) == (message.filter is None):
            raise InvalidBody([("items", "give either items or filter")])
        by = reviewer(request, message)

        def decide() -> dict[str, Any]:
            items: Sequence[NamedNode]
            if message.filter is not None:
                items = service.find(filter_of(**message.filter.model_dump()))
            else:
                items = [named_item(item) for item in message.items or ()]
            decided = service.decide(message.decision, items[:_MOST_AT_ONCE], by, message.reason)
            return {**decided.json(), "left": max(0, len(items) - _MOST_AT_ONCE)}

        return await run_in_threadpool(decide)

    @routes.post(
        "/review/{item}/accept",
        dependencies=decides,
        response_model=None,
        openapi_extra=body_schema(AcceptRequest),
    )
    async def accept(request: Request, item: str) -> Response | dict[str, Any]:
        """Accept the statement, as it is or corrected; 422 with the reasons when the gate refuses it."""
        message = await read_json(request, AcceptRequest, limit)
        given = message.statements
        statements = None if given is None else [statement_of(one)[0] for one in given]
        by = reviewer(request, message)
        decided = await run_in_threadpool(
            service.decide, "accept", [named_item(item)], by, message.reason, statements
        )
        if decided.refused:
            return problem_response(
                422,
                "Statement does not conform",
                "Nothing was changed: the statement breaks a shape. Fix it and send it as 'statements'.",
                type_=TYPE_BASE + "statement-does-not-conform",
                instance=request.url.path,
                members={"refused": decided.json()["refused"]},
            )
        return decided.json()

    @routes.post("/review/{item}/reject", dependencies=decides, openapi_extra=body_schema(DecisionRequest))
    async def reject(request: Request, item: str) -> dict[str, Any]:
        """Keep the statement out, or take it out; `reason` says why."""
        message = await read_json(request, DecisionRequest, limit)
        by = reviewer(request, message)
        decided = await run_in_threadpool(service.decide, "reject", [named_item(item)], by, message.reason)
        return decided.json()

    @routes.post("/review/{item}/reopen", dependencies=decides, openapi_extra=body_schema(DecisionRequest))
    async def reopen(request: Request, item: str) -> dict[str, Any]:
        """Take a decision back; what it accepted leaves the graph and waits again."""
        message = await read_json(request, DecisionRequest, limit)
        by = reviewer(request, message)
        decided = await run_in_threadpool(service.decide, "reopen", [named_item(item)], by, message.reason)
        return decided.json()

    return routes

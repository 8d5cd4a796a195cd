"""`/gaps`: what questions missed, and what administrators decide about it."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from curation.review.review_item import Reviewer
from server.errors import InvalidBody
from server.gaps.service import MOST_AT_ONCE, GapService
from server.gaps.storage import GapFilter, GapStatus
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import body_schema, read_json
from server.http.bodies.streaming import while_connected
from server.http.pages import Limit, Links, Needed, Offset
from server.http.reporting.statements import AcceptRequest
from server.intake.language_model import prices_of, spending
from server.message import Message, Name, Words
from server.services import Services
from sparql.ask.answer import GapKind

Status = Literal["open", "accepted", "rejected", "any"]
Kind = Annotated[Literal["data", "entity", "schema"] | None, Query(description="What is missing.")]
Text = Annotated[str | None, Query(description="Words in the triple, its message or a question.")]
Askers = Annotated[int, Query(ge=1, description="How many must have asked at least.")]


class GapFilterJson(Message):
    """Which gaps; all given members must match."""

    status: Status = "open"
    kind: Literal["data", "entity", "schema"] | None = None
    text: Words | None = None
    askers: int = Field(1, ge=1)


class GapDecision(Message):
    """Why, and who decides where the request's key does not say."""

    reason: str | None = Field(None, max_length=10_000, description="Why, for who reads it later.")
    by: str | None = Field(None, min_length=1, max_length=200, description="The person's name.")


class GapAcceptRequest(AcceptRequest):
    """`value` or `statements` take the place of what is proposed."""

    value: str | None = Field(
        None, min_length=1, max_length=1000, description='The words in place of "?": a name, date, number.'
    )


class GapDecisionsRequest(GapDecision):
    """One decision for many gaps: those named, or all of a filter."""

    decision: Literal["accept", "reject", "reopen"]
    items: list[Name] | None = Field(None, max_length=MOST_AT_ONCE)
    filter: GapFilterJson | None = None
    expect: int | None = Field(None, ge=0, description="How many gaps; needed above 20.")


def filter_of(status: str, kind: str | None, text: str | None, askers: int) -> GapFilter:
    """A filter from what a client sent."""
    wanted = None if status == "any" else GapStatus(status)
    return GapFilter(wanted, None if kind is None else GapKind(kind), text, askers)


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of the gaps."""
    routes = APIRouter(tags=["gaps"], dependencies=needs)
    reads = [Depends(services.guard.requires(Scope.READ))]
    decides = [Depends(services.guard.requires(Scope.REVIEW))]
    service = GapService(services)
    prices = prices_of(services.settings)
    limit = services.settings.max_body_bytes

    def reviewer(request: Request, by: str | None) -> Reviewer:
        key = services.guard.key_name(request)
        return Reviewer(by or key or "anonymous", key)

    @routes.get("/gaps", dependencies=reads)
    async def get_gaps(
        links: Links,
        status: Status = "open",
        kind: Kind = None,
        text: Text = None,
        askers: Askers = 1,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """One page of gaps, those that most have asked for first, with the total."""
        return links(
            await run_in_threadpool(service.page, filter_of(status, kind, text, askers), offset, limit)
        )

    @routes.post("/gaps/decisions", dependencies=decides, openapi_extra=body_schema(GapDecisionsRequest))
    async def post_decisions(request: Request) -> dict[str, Any]:
        """Decide many gaps, each by itself; those that cannot be decided so are listed in `failed`."""
        message = await read_json(request, GapDecisionsRequest, limit)
        if (message.items is None) == (message.filter is None):
            raise InvalidBody([("items", "give either items or filter")])
        sent = message.filter
        wanted = None if sent is None else filter_of(sent.status, sent.kind, sent.text, sent.askers)
        found, left = await run_in_threadpool(service.selected, message.items, wanted, message.expect)
        by = reviewer(request, message.by)
        return {**await service.decide(message.decision, found, by, message.reason), "left": left}

    @routes.get("/gaps/{gap}", dependencies=reads)
    async def get_gap(gap: str) -> dict[str, Any]:
        """One gap, with the terms of the graph that its words stand for."""
        return await run_in_threadpool(service.show, gap)

    @routes.post("/gaps/{gap}/complete", dependencies=decides)
    async def complete(request: Request, gap: str) -> dict[str, Any]:
        """Let the model fill in what it believes; it is marked as the model's, and known to nobody."""
        with spending(prices) as usage:
            found = await while_connected(request, service.complete(gap))
        return {"gap": found, "usage": usage}

    @routes.post("/gaps/{gap}/verify", dependencies=decides)
    async def verify(request: Request, gap: str) -> dict[str, Any]:
        """Look the gap up in the graph's documents and the encyclopedia, and propose what they state."""
        with spending(prices) as usage:
            found = await while_connected(request, service.verify(gap))
        return {"gap": found, "usage": usage}

    @routes.post("/gaps/{gap}/accept", dependencies=decides, openapi_extra=body_schema(GapAcceptRequest))
    async def accept(request: Request, gap: str) -> dict[str, Any]:
        """Commit what fills the gap, through the gate, and answer its question again."""
        message = await read_json(request, GapAcceptRequest, limit)
        if message.value is not None and message.statements is not None:
            raise InvalidBody([("value", "give either value or statements")])
        return await service.accept(
            gap,
            reviewer(request, message.by),
            reason=message.reason,
            statements=message.statements,
            value=message.value,
            dry_run=message.dry_run,
        )

    @routes.post("/gaps/{gap}/reject", dependencies=decides, openapi_extra=body_schema(GapDecision))
    async def reject(request: Request, gap: str) -> dict[str, Any]:
        """Decide that the gap is not to be filled."""
        message = await read_json(request, GapDecision, limit)
        by = reviewer(request, message.by)
        return await run_in_threadpool(service.reject, gap, by, message.reason)

    @routes.post("/gaps/{gap}/reopen", dependencies=decides, openapi_extra=body_schema(GapDecision))
    async def reopen(request: Request, gap: str) -> dict[str, Any]:
        """Take a rejection back."""
        message = await read_json(request, GapDecision, limit)
        by = reviewer(request, message.by)
        return await run_in_threadpool(service.reopen, gap, by, message.reason)

    return routes

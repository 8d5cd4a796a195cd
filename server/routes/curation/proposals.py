"""`/proposals`: words that texts use and the ontology does not have, and what engineers decide about them."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from curation.proposals import named_proposal
from curation.review.review_item import Reviewer
from server.curation.proposing import ProposalService, proposal_filter, term_of
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import body_schema, read_json
from server.http.pages import Limit, Links, Needed, Offset
from server.message import IriText, Message
from server.services import Services

Status = Literal["open", "accepted", "dismissed", "any"]
Kind = Annotated[Literal["class", "property"] | None, Query(description="Which kind of term.")]
Text = Annotated[str | None, Query(description="Words in terms, names and quotes.")]
Least = Annotated[int, Query(ge=1, description="How often it must have been used.")]


class ProposalDecision(Message):
    """`as` is the IRI of the ontology's term that the word means, for `accept`."""

    model_config = ConfigDict(populate_by_name=True)

    decision: Literal["accept", "dismiss", "reopen", "retry"]
    as_: IriText | None = Field(None, alias="as", description="IRI of a term that the ontology has.")
    reason: str | None = Field(None, max_length=10_000, description="Why, for who reads it later.")
    by: str | None = Field(None, min_length=1, max_length=200, description="The person's name.")


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of the proposals."""
    routes = APIRouter(tags=["proposals"], dependencies=needs)
    reads = [Depends(services.guard.requires(Scope.READ))]
    decides = [Depends(services.guard.requires(Scope.REVIEW))]
    service = ProposalService(services)
    limit_bytes = services.settings.max_body_bytes

    @routes.get("/proposals", dependencies=reads)
    async def get_proposals(
        links: Links,
        status: Status = "open",
        kind: Kind = None,
        text: Text = None,
        least: Least = 1,
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """One page of proposals, the most used first, with the total."""
        wanted = proposal_filter(status, kind, text, least)
        return links(await run_in_threadpool(service.page, wanted, offset, limit))

    @routes.get("/proposals/export", dependencies=reads, response_class=Response)
    async def export(
        status: Status = "open", kind: Kind = None, text: Text = None, least: Least = 1
    ) -> Response:
        """The proposals as a fragment of OWL in Turtle, to paste into a file of the ontology."""
        wanted = proposal_filter(status, kind, text, least)
        turtle = await run_in_threadpool(service.export, wanted)
        return Response(turtle, media_type="text/turtle; charset=utf-8")

    @routes.get("/proposals/{proposal}", dependencies=reads)
    async def get_proposal(proposal: str) -> dict[str, Any]:
        """One proposal with its examples and decisions."""
        return await run_in_threadpool(service.show, named_proposal(proposal))

    @routes.post("/proposals/{proposal}", dependencies=decides, openapi_extra=body_schema(ProposalDecision))
    async def decide(request: Request, proposal: str) -> dict[str, Any]:
        """Accept a word as a term of the ontology, dismiss it, reopen it, or retry what waits for it."""
        message = await read_json(request, ProposalDecision, limit_bytes)
        key = services.guard.key_name(request)
        by = Reviewer(message.by or key or "anonymous", key)
        return await run_in_threadpool(
            service.decide,
            message.decision,
            named_proposal(proposal),
            by,
            term_of(message.as_),
            message.reason,
        )

    return routes

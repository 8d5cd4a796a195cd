"""`/entities`: two entities that are one are merged, and split again."""

from typing import Any

from fastapi import APIRouter, Depends
from pydantic import Field
from pyoxigraph import NamedNode
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from curation.merging.merging import Merged, named_merge
from curation.review.review_item import Reviewer
from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import body_schema, read_json
from server.http.pages import Limit, Links, Needed, Offset, page
from server.http.reporting.problems import TYPE_BASE, problem_response
from server.http.reporting.statements import merge_json, merged_json
from server.message import AbsoluteIri, Message
from server.services import Services


class SplitRequest(Message):
    """Why, and who where the request's key does not say."""

    reason: str | None = Field(None, max_length=10_000, description="Why, for who reads it later.")
    by: str | None = Field(None, min_length=1, max_length=200, description="The person's name.")


class MergeRequest(SplitRequest):
    """Two entities by their IRIs."""

    keep: AbsoluteIri = Field(description="The entity that stays.")
    merge: AbsoluteIri = Field(description="The entity whose statements become the other's.")
    drop_conflicts: bool = Field(False, description="Leave out what contradicts the kept entity.")


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of merging and splitting."""
    routes = APIRouter(tags=["entities"], dependencies=needs)
    reads = [Depends(services.guard.requires(Scope.READ))]
    decides = [Depends(services.guard.requires(Scope.REVIEW))]
    limit = services.settings.max_body_bytes
    merging = services.merging

    def who(request: Request, message: SplitRequest) -> Reviewer:
        key = services.guard.key_name(request)
        return Reviewer(message.by or key or "anonymous", key)

    @routes.get("/entities/merges", dependencies=reads)
    async def get_merges(links: Links, offset: Offset = 0, limit: Limit = 50) -> dict[str, Any]:
        """One page of merges, the last one first, with the total."""
        found = await run_in_threadpool(merging.all)
        return links(page("merges", found, offset, limit, merge_json))

    @routes.post(
        "/entities/merge",
        dependencies=decides,
        response_model=None,
        openapi_extra=body_schema(MergeRequest),
    )
    async def post_merge(request: Request) -> Response | dict[str, Any]:
        """Make two entities one; 409 when they cannot be, 422 with the reasons when the gate refuses it."""
        message = await read_json(request, MergeRequest, limit)
        keep, other = _iri("keep", message.keep), _iri("merge", message.merge)
        by = who(request, message)

        def merge() -> Merged:
            return merging.merge(
                keep, other, by, reason=message.reason, drop_conflicts=message.drop_conflicts
            )

        return _answer(request, await run_in_threadpool(merge))

    @routes.post(
        "/entities/merges/{merge}/split",
        dependencies=decides,
        response_model=None,
        openapi_extra=body_schema(SplitRequest),
    )
    async def post_split(request: Request, merge: str) -> Response | dict[str, Any]:
        """Take a merge back: each entity has what it had."""
        message = await read_json(request, SplitRequest, limit)
        by = who(request, message)
        merged = await run_in_threadpool(lambda: merging.split(named_merge(merge), by, reason=message.reason))
        return _answer(request, merged)

    return routes


def _answer(request: Request, merged: Merged) -> Response | dict[str, Any]:
    if merged.merge is not None:
        return merged_json(merged)
    return problem_response(
        422,
        "Entities do not fit together",
        f"Nothing was changed: {len(merged.rejected)} statements would break a shape. Correct one of them, "
        "or send drop_conflicts to keep what the kept entity has.",
        type_=TYPE_BASE + "entities-do-not-fit-together",
        instance=request.url.path,
        members={"rejected": merged_json(merged)["rejected"]},
    )


def _iri(name: str, text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise InvalidBody([(name, f"'{text}' is not an absolute IRI")]) from error

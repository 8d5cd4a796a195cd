"""`/review`: what the gate refused or warned of, and what people decide about it."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field, ValidationError
from pyoxigraph import NamedNode
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from curation.review.review_item import Reviewer
from curation.review.review_queue import named_item
from curation.review.review_search import ReviewFilter
from server.curation.identity_questions import answers_of
from server.curation.review_filter import FilterJson, filter_of, iri_of
from server.curation.reviewing import MOST_AT_ONCE, Correction, ReviewService
from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import body_schema, read_json
from server.http.pages import Limit, Links, Needed, Offset
from server.http.reporting.problems import TYPE_BASE, problem_response
from server.http.reporting.statements import (
    DecisionRequest,
    ItemAcceptRequest,
    TermJson,
    statement_of,
    term_of,
)
from server.message import IRI_FORM, IriText, Message
from server.services import Services

Status = Literal["open", "accepted", "rejected", "superseded", "any"]
Form = Annotated[Literal["csv", "shacl"], Query(alias="format")]
Severity = Literal["Violation", "Warning", "Info"]


class Selection(Message):
    """Many items: those named, or all that a filter lets through."""

    items: list[IriText] | None = Field(None, max_length=MOST_AT_ONCE)
    filter: FilterJson | None = None
    expect: int | None = Field(None, ge=0, description="How many items; needed above 20.")


class CorrectionJson(Message):
    """What is replaced in the statements of the items; whatever is not given stays."""

    property: IriText | None = None
    class_: IriText | None = Field(None, alias="class")
    value: TermJson | None = None
    datatype: IriText | None = None


class DecisionsRequest(DecisionRequest, Selection):
    """One decision for many items; with a `correction`, their statements are accepted as corrected by it."""

    decision: Literal["accept", "reject", "reopen"]
    correction: CorrectionJson | None = None


class AssignmentRequest(Selection):
    """Who is to work on items; null for nobody."""

    assignee: str | None = Field(min_length=1, max_length=200)


class CommentRequest(Message):
    """What a person says about an item."""

    text: str = Field(min_length=1, max_length=10_000)
    by: str | None = Field(None, min_length=1, max_length=200, description="The person's name.")


def _statement(
    status: Status = "open",
    document: Annotated[str | None, Query(description="IRI or identifier of a document.")] = None,
    predicate: Annotated[
        str | None, Query(description="IRI of the statement's property.", json_schema_extra=IRI_FORM)
    ] = None,
    entity: Annotated[
        str | None, Query(description="IRI of the statement's subject or object.", json_schema_extra=IRI_FORM)
    ] = None,
    text: Annotated[str | None, Query(description="Words in names, quotes, replies or reasons.")] = None,
    source: Annotated[str | None, Query(description="The client's name of the source.")] = None,
    class_: Annotated[
        str | None,
        Query(alias="class", description="IRI of a class of the subject.", json_schema_extra=IRI_FORM),
    ] = None,
    assignee: Annotated[str | None, Query(description="A person; empty for nobody.")] = None,
) -> dict[str, Any]:
    sent = {
        "assignee": assignee,
        "status": status,
        "document": document,
        "predicate": predicate,
        "entity": entity,
    }
    return sent | {"text": text, "source": source, "class": class_}


def _wanted(
    statement: Annotated[dict[str, Any], Depends(_statement)],
    shape: Annotated[
        str | None, Query(description="IRI of a shape that was broken.", json_schema_extra=IRI_FORM)
    ] = None,
    severity: Severity | None = None,
    component: Annotated[str | None, Query(description="IRI or name of a constraint component.")] = None,
    group: Annotated[str | None, Query(description="Identifier of a cause, of /review/groups.")] = None,
    min_confidence: Annotated[float | None, Query(ge=0, le=1)] = None,
    max_confidence: Annotated[float | None, Query(ge=0, le=1)] = None,
) -> ReviewFilter:
    reasons = {"shape": shape, "severity": severity, "component": component, "group": group}
    bounds = {"min_confidence": min_confidence, "max_confidence": max_confidence}
    try:
        return filter_of(FilterJson.model_validate(statement | reasons | bounds))
    except ValidationError as error:
        wrong = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
        raise InvalidBody(wrong) from None


def correction_of(message: DecisionsRequest) -> Correction:
    """The correction of a bulk decision. Raises `InvalidBody` for what cannot be one."""
    sent = message.correction
    if message.decision != "accept":
        raise InvalidBody([("correction", f"is used with 'accept', not with '{message.decision}'")])
    if sent is None or not sent.model_fields_set:
        raise InvalidBody([("correction", "give at least one of property, class, value and datatype")])
    if sent.class_ is not None and (sent.property or sent.value or sent.datatype):
        raise InvalidBody([("correction.class", "cannot be given with property, value or datatype")])

    def iri(name: str, text: str | None) -> NamedNode | None:
        return None if text is None else iri_of(f"correction.{name}", text)

    return Correction(
        iri("property", sent.property),
        iri("class", sent.class_),
        None if sent.value is None else term_of(sent.value),
        iri("datatype", sent.datatype),
    )


Wanted = Annotated[ReviewFilter, Depends(_wanted)]


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of the review queue."""
    routes = APIRouter(tags=["review"], dependencies=needs)
    reads = [Depends(services.guard.requires(Scope.READ))]
    decides = [Depends(services.guard.requires(Scope.REVIEW))]
    service = ReviewService(services)
    limit = services.settings.max_body_bytes

    def acting(message: DecisionRequest) -> ReviewService:
        return service.as_dry_run() if message.dry_run else service

    def select(message: Selection) -> tuple[list[NamedNode], int]:
        if (message.items is None) == (message.filter is None):
            raise InvalidBody([("items", "give either items or filter")])
        wanted = None if message.filter is None else filter_of(message.filter)
        return service.selected(message.items, wanted, message.expect)

    def reviewer(request: Request, message: DecisionRequest | CommentRequest) -> Reviewer:
        key = services.guard.key_name(request)
        return Reviewer(message.by or key or "anonymous", key)

    @routes.get("/review", dependencies=reads)
    async def get_review(
        links: Links, wanted: Wanted, offset: Offset = 0, limit: Limit = 50
    ) -> dict[str, Any]:
        """One page of review items, newest first, with the total."""
        return links(await run_in_threadpool(service.page, wanted, offset, limit))

    @routes.get("/review/facets", dependencies=reads)
    async def get_facets(wanted: Wanted) -> dict[str, Any]:
        """The values by which items can be filtered, with the number of items that have each."""
        return await run_in_threadpool(service.facets, wanted)

    @routes.get("/review/groups", dependencies=reads)
    async def get_groups(
        links: Links, wanted: Wanted, offset: Offset = 0, limit: Limit = 50
    ) -> dict[str, Any]:
        """The causes by which items wait, most items first; items of one cause are one group."""
        return links(await run_in_threadpool(service.groups, wanted, offset, limit))

    @routes.get("/review/export", dependencies=reads, response_class=Response)
    async def get_export(wanted: Wanted, form: Form = "csv") -> Response:
        """All items of a filter: a table in CSV, or a SHACL validation report in Turtle."""
        content = await run_in_threadpool(service.export, wanted, form)
        media = "text/csv; header=present" if form == "csv" else "text/turtle"
        return Response(content, media_type=media)

    @routes.get("/review/decisions", dependencies=reads)
    async def get_decisions(links: Links, offset: Offset = 0, limit: Limit = 50) -> dict[str, Any]:
        """The decisions that were made, newest first, each with its identifier for an undo."""
        return links(await run_in_threadpool(service.history, offset, limit))

    @routes.post(
        "/review/decisions/{decision}/undo", dependencies=decides, openapi_extra=body_schema(DecisionRequest)
    )
    async def undo(request: Request, decision: str) -> dict[str, Any]:
        """Undo a decision on all of its items that were not decided again since."""
        message = await read_json(request, DecisionRequest, limit)
        return await run_in_threadpool(
            acting(message).undo, decision, reviewer(request, message), message.reason
        )

    @routes.get("/review/{item}", dependencies=reads)
    async def get_item(item: str) -> dict[str, Any]:
        """One item, with existing entities that its names may mean."""
        return await run_in_threadpool(service.show, named_item(item))

    @routes.get("/review/{item}/suggestions", dependencies=reads)
    async def get_suggestions(item: str) -> dict[str, Any]:
        """Corrections of a refused statement; each was tried, and the gate would accept it."""
        return await run_in_threadpool(service.suggestions, named_item(item))

    @routes.post("/review/decisions", dependencies=decides, openapi_extra=body_schema(DecisionsRequest))
    async def post_decisions(request: Request) -> dict[str, Any]:
        """Decide many items in one commit; what the gate still refuses stays open and is listed."""
        message = await read_json(request, DecisionsRequest, limit)
        by = reviewer(request, message)

        def decide() -> dict[str, Any]:
            items, left = select(message)
            if message.correction is None:
                decided = acting(message).decide(message.decision, items, by, message.reason)
            else:
                decided = acting(message).correct(items, correction_of(message), by, message.reason)
            return {**decided.json(), "left": left}

        return await run_in_threadpool(decide)

    @routes.post("/review/assignments", dependencies=decides, openapi_extra=body_schema(AssignmentRequest))
    async def assign(request: Request) -> dict[str, Any]:
        """Assign items to a person, or to nobody."""
        message = await read_json(request, AssignmentRequest, limit)

        def do() -> dict[str, Any]:
            items, left = select(message)
            service.assign(items, message.assignee)
            return {"assignee": message.assignee, "items": len(items), "left": left}

        return await run_in_threadpool(do)

    @routes.post("/review/{item}/comments", dependencies=decides, openapi_extra=body_schema(CommentRequest))
    async def comment(request: Request, item: str) -> dict[str, Any]:
        """Add a comment, and return the item."""
        message = await read_json(request, CommentRequest, limit)
        by = reviewer(request, message)
        return await run_in_threadpool(service.comment, named_item(item), message.text, by)

    @routes.post(
        "/review/{item}/accept",
        dependencies=decides,
        response_model=None,
        openapi_extra=body_schema(ItemAcceptRequest),
    )
    async def accept(request: Request, item: str) -> Response | dict[str, Any]:
        """Accept the statement: as it is, corrected, or of the entity meant; 422 when the gate refuses it."""
        message = await read_json(request, ItemAcceptRequest, limit)
        given = message.statements
        statements = None if given is None else [statement_of(one)[0] for one in given]
        by, sent = reviewer(request, message), message.entities
        if sent is not None:
            decided = await run_in_threadpool(
                acting(message).choose, named_item(item), answers_of(sent), by, message.reason
            )
        else:
            decided = await run_in_threadpool(
                acting(message).decide, "accept", [named_item(item)], by, message.reason, statements
            )
        if decided.refused and not message.dry_run:
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
        decided = await run_in_threadpool(
            acting(message).decide, "reject", [named_item(item)], by, message.reason
        )
        return decided.json()

    @routes.post("/review/{item}/reopen", dependencies=decides, openapi_extra=body_schema(DecisionRequest))
    async def reopen(request: Request, item: str) -> dict[str, Any]:
        """Take a decision back; what it accepted leaves the graph and waits again."""
        message = await read_json(request, DecisionRequest, limit)
        by = reviewer(request, message)
        decided = await run_in_threadpool(
            acting(message).decide, "reopen", [named_item(item)], by, message.reason
        )
        return decided.json()

    return routes

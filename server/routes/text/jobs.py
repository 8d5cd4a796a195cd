"""`/jobs`: many documents at once, their progress, and what clients do to a job."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from extractors import MethodName
from extractors.prompting.methods import method_named
from server.http.access.keys import Scope
from server.http.bodies.event_stream import EVENT_HEADERS, EVENTS, events_form
from server.http.bodies.request_bodies import received
from server.http.pages import Limit, Links, Needed, Offset
from server.jobs.body import FORM, accept, records_of_body
from server.jobs.events import JobEvents
from server.jobs.job import DocumentState, JobRequest
from server.jobs.record import BY_TYPE
from server.services import Services

_CLIENT_CLOSED_REQUEST = 499
_BODY = {
    "requestBody": {
        "required": True,
        "description": "Records with `text`, and if you like `name` (or `id`) and `source`; files of them; "
        "or a plain text.",
        "content": {kind: {"schema": {"type": "string"}} for kind in (*BY_TYPE, FORM)},
    }
}


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes of the jobs."""
    routes = APIRouter(tags=["jobs"], dependencies=needs)
    reads = [Depends(services.guard.requires(Scope.READ))]
    extracts = [Depends(services.guard.requires(Scope.EXTRACT))]
    jobs, worker = services.jobs, services.job_worker
    progressions = JobEvents(jobs, services.draining)
    longest, limit = services.settings.max_text_chars, services.settings.max_job_bytes

    @routes.post(
        "/jobs",
        dependencies=extracts,
        status_code=202,
        response_class=JSONResponse,
        openapi_extra=_BODY,
        responses={202: {"description": "Accepted and on the disk; `Location` says where."}},
    )
    async def post_job(
        request: Request,
        name: Annotated[str | None, Query(max_length=200, description="What to call the job.")] = None,
        source: Annotated[
            str | None, Query(max_length=2000, description="The source of documents without their own.")
        ] = None,
        concurrency: Annotated[
            int | None, Query(ge=1, le=1000, description="Documents in work at a time, at most.")
        ] = None,
        again: Annotated[bool, Query(description="Extract also what the graph has already.")] = False,
        paused: Annotated[bool, Query(description="Take it, and wait for `resume`.")] = False,
        method: Annotated[
            MethodName | None, Query(description="How the texts are read, if not as the settings say.")
        ] = None,
    ) -> Response:
        """Take documents as a job; answered when all of them are on the disk."""
        by = services.guard.key_name(request)
        if method is not None:
            method_named(method).check(services.model.prompt_profile)
        wanted = JobRequest(name, source, concurrency, again, paused, by, method)
        kind = request.headers.get("content-type", "")
        coding = request.headers.get("content-encoding", "")
        try:
            async with received(request, services.settings.data, limit) as body:
                records = records_of_body(body, kind, coding, longest=longest, limit=limit)
                job = await asyncio.to_thread(accept, jobs, wanted, records)
        except ClientDisconnect:
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
        return JSONResponse(
            job.json(), 202, {"Location": f"{services.settings.base_url}/jobs/{job.identifier}"}
        )

    @routes.get("/jobs", dependencies=reads)
    async def get_jobs(links: Links, offset: Offset = 0, limit: Limit = 50) -> dict[str, Any]:
        """One page of the jobs, the newest first, with the total."""
        total, found = await run_in_threadpool(jobs.jobs, offset, limit)
        listed = [job.json() for job in found]
        return links({"total": total, "offset": offset, "limit": limit, "jobs": listed})

    @routes.get("/jobs/{job}", dependencies=reads)
    async def get_job(job: str) -> dict[str, Any]:
        """The progress of a job."""
        return (await run_in_threadpool(jobs.job, job)).json()

    @routes.get("/jobs/{job}/documents", dependencies=reads)
    async def get_job_documents(
        job: str,
        links: Links,
        state: Annotated[DocumentState | None, Query(description="Only documents in this state.")] = None,
        offset: Offset = 0,
        limit: Limit = 200,
    ) -> dict[str, Any]:
        """One page of a job's documents in the order of posting: what became of each."""
        total, found = await run_in_threadpool(jobs.documents, job, state, offset, limit)
        listed = [one.json() for one in found]
        return links({"total": total, "offset": offset, "limit": limit, "documents": listed})

    @routes.get(
        "/jobs/{job}/events",
        dependencies=reads,
        response_class=Response,
        responses={
            200: {
                "content": events_form(
                    "An event, each with a number as `id`.", {"job": "Job", "document": "JobDocument"}
                ),
                "description": "Events: `job`, whose data is what GET of the job answers, and `document`, "
                "whose data is one of its documents, each with a number as `id`; and comments between.",
            },
            204: {"description": "The job is finished, and all of it was sent."},
        },
    )
    async def get_job_events(
        job: str,
        since: Annotated[int | None, Query(ge=0, le=2**53, description="Only what came after it.")] = None,
        last_event_id: Annotated[int | None, Header(ge=0, le=2**53)] = None,
    ) -> Response:
        """What becomes of a job's documents, as it happens; ends when the job is finished."""
        events = await progressions.open(job, since if last_event_id is None else last_event_id)
        if events is None:
            return Response(status_code=204)
        return StreamingResponse(events, headers=EVENT_HEADERS, media_type=EVENTS)

    @routes.head("/jobs/{job}/events", include_in_schema=False, dependencies=reads)
    async def head_job_events(job: str) -> Response:
        """The headers alone: the events themselves take their time."""
        await run_in_threadpool(jobs.job, job)
        response = Response(headers=EVENT_HEADERS, media_type=EVENTS)
        del response.headers["content-length"]
        return response

    @routes.post("/jobs/{job}/pause", dependencies=extracts)
    async def post_pause(job: str) -> dict[str, Any]:
        """Begin and commit no more of a job's documents for now."""
        return (await run_in_threadpool(jobs.pause, job)).json()

    @routes.post("/jobs/{job}/resume", dependencies=extracts)
    async def post_resume(job: str) -> dict[str, Any]:
        """Go on with a paused job."""
        return (await run_in_threadpool(jobs.resume, job)).json()

    @routes.post("/jobs/{job}/cancel", dependencies=extracts)
    async def post_cancel(job: str) -> dict[str, Any]:
        """End a job; what it committed stays."""
        return (await worker.cancel(job)).json()

    @routes.post("/jobs/{job}/retry", dependencies=extracts)
    async def post_retry(job: str) -> dict[str, Any]:
        """Take up again the documents of a job that failed or were rejected."""
        return (await run_in_threadpool(jobs.retry, job)).json()

    @routes.delete("/jobs/{job}", dependencies=extracts, status_code=204, response_class=Response)
    async def delete_job(job: str) -> Response:
        """Forget a finished job; its documents stay, see `/documents`."""
        await run_in_threadpool(jobs.forget, job)
        return Response(status_code=204)

    return routes

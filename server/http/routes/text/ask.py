"""`POST /ask`: a question in, an answer with query and map out; `POST /ask/run`: edited ones."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.gaps.queue import Asked
from server.http.access.keys import Scope
from server.http.bodies import body_schema, read_json
from server.http.event_stream import Note, in_steps, step_events
from server.http.page_parameters import Needed
from server.intake.language_model import prices_of, spending
from server.message import Message
from server.runtime.context import Services


class AskRequest(Message):
    """A question."""

    question: str = Field(description="A question about what is in the graph.")
    context: str = Field("", description='Words that narrow the question, such as "in Queens".')
    history: list[str] = Field(
        default_factory=list, max_length=20, description='The questions before, for "And in Queens?".'
    )


class RunRequest(Message):
    """An edited plan, or an edited query."""

    plan: list[Any] | dict[str, Any] | None = Field(
        None, description="The plan of a reply, or the `tree` of its last step."
    )
    sparql: str | None = Field(None, description="A SELECT or ASK query.")


def router(services: Services, *needs: Needed) -> APIRouter:
    """The route for questions."""
    routes = APIRouter(tags=["ask"], dependencies=[*needs, Depends(services.guard.requires(Scope.READ))])

    prices = prices_of(services.settings)

    @routes.post(
        "/ask",
        response_class=JSONResponse,
        openapi_extra=body_schema(AskRequest),
        responses=step_events("step of the `trace`"),
    )
    async def post_ask(request: Request) -> Response:
        """Link the names, plan, compile to SPARQL, run it, answer; or say what is missing."""
        message = await read_json(request, AskRequest, services.settings.max_body_bytes)

        async def answered(note: Note) -> Response:
            with spending(prices) as usage:
                answer = await services.asker.ask(
                    message.question, context=message.context, history=message.history, watch=note
                )
            if answer.gaps and services.settings.record_gaps:
                asked = Asked(message.question, message.context, tuple(message.history))
                asker = services.guard.key_name(request) or "anonymous"
                await run_in_threadpool(services.gaps.record, answer.gaps, asked, answer.sparql, asker)
            return JSONResponse({**asdict(answer), "usage": usage})

        return await in_steps(request, answered)

    @routes.post("/ask/run", openapi_extra=body_schema(RunRequest))
    async def post_ask_run(request: Request) -> dict[str, Any]:
        """Run an edited plan or query, and give answer and map again."""
        message = await read_json(request, RunRequest, services.settings.max_body_bytes)
        with spending(prices) as usage:
            answer = await services.asker.run(plan=message.plan, sparql=message.sparql)
        return {**asdict(answer), "usage": usage}

    return routes

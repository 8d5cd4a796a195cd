"""`POST /ask`: a question in, an answer with query and map out; `POST /ask/run`: edited ones."""

import logging
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends
from pydantic import Field, model_validator
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.errors import StateUnreadable
from server.gaps.service import is_completable
from server.gaps.storage import Asked, recorded_gaps
from server.http.access.keys import Scope
from server.http.bodies.event_stream import Note, in_steps, step_events
from server.http.bodies.request_bodies import body_schema, described_as, read_json
from server.http.bodies.streaming import while_connected
from server.http.pages import Needed
from server.intake.language_model import prices_of, spending
from server.intake.plain_dialogue import PlainDialogue
from server.message import Message
from server.services import Services
from sparql.ask.service import LONGEST_QUESTION, AskResult

_log = logging.getLogger("urbankg.questions")
_MOST_PLAN_BYTES = 262_144
_Question = Annotated[str, Field(max_length=LONGEST_QUESTION)]


class AskRequest(Message):
    """A question."""

    question: _Question = Field(description="A question about what is in the graph.")
    context: _Question = Field("", description='Words that narrow the question, such as "in Queens".')
    history: list[_Question] = Field(
        default_factory=list, max_length=20, description='The questions before, for "And in Queens?".'
    )
    history_length: int | None = Field(
        None, ge=0, le=20, description="Only so many of the last questions before count; all if not given."
    )
    dialogue: Literal["augmented", "plain"] = Field(
        "augmented", description="`augmented`: answered from the graph; `plain`: by the model alone."
    )
    temperature: float | None = Field(
        None, ge=0, le=2, description="Of the model's answer, in a plain dialogue; 0 if not given."
    )

    @model_validator(mode="after")
    def _sampled(self) -> "AskRequest":
        if self.temperature is not None and self.dialogue != "plain":
            raise ValueError(
                'temperature is used with "dialogue": "plain"; an answer from the graph is not sampled'
            )
        return self

    @property
    def counted_history(self) -> list[str]:
        """The questions before that count."""
        wanted = len(self.history) if self.history_length is None else self.history_length
        return self.history[len(self.history) - wanted :] if wanted < len(self.history) else self.history


class RunRequest(Message):
    """An edited plan, or an edited query."""

    plan: (
        list[Annotated[Any, described_as("PlanStep")]]
        | Annotated[dict[str, Any], described_as("JsonObject")]
        | None
    ) = Field(
        None,
        description="The plan of a reply, or the `tree` of its last step, whose members differ by its `op`.",
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
                history = message.counted_history
                if message.dialogue == "plain":
                    plain = PlainDialogue(services.model, services.settings.prompts)
                    answer = await plain.ask(
                        message.question,
                        context=message.context,
                        history=history,
                        temperature=message.temperature or 0.0,
                        watch=note,
                    )
                else:
                    answer = await services.asker.ask(
                        message.question, context=message.context, history=history, watch=note
                    )
            if answer.gaps and services.settings.record_gaps:
                # Only the last one before is asked again with it.
                asked = Asked(message.question, message.context, tuple(history[-1:]))
                asker = services.guard.key_name(request) or "anonymous"
                client = services.clients.name_of(request.scope)
                await run_in_threadpool(_record, services, answer, asked, asker, client)
            return JSONResponse({**asdict(answer), "usage": usage})

        return await in_steps(request, answered)

    @routes.post("/ask/run", openapi_extra=body_schema(RunRequest))
    async def post_ask_run(request: Request) -> dict[str, Any]:
        """Run an edited plan or query, and give answer and map again."""
        message = await read_json(request, RunRequest, _MOST_PLAN_BYTES)
        with spending(prices) as usage:
            asked = services.asker.run(plan=message.plan, sparql=message.sparql)
            answer = await while_connected(request, asked)
        return {**asdict(answer), "usage": usage}

    return routes


def _record(services: Services, answer: AskResult, asked: Asked, asker: str, client: str) -> None:
    """Record what a question missed; the answer does not depend on it."""
    try:
        found = [gap for gap in recorded_gaps(answer.gaps) if is_completable(services, gap)]
        services.gaps.record(found, asked, answer.sparql, asker, client)
    except StateUnreadable as error:
        _log.warning("A gap was not recorded: %s", error)

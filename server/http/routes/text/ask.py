"""`POST /ask`: a question in plain language in; an answer, its query and a map out."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.requests import Request

from server.http.access.keys import Scope
from server.http.bodies import body_schema, read_json
from server.intake.language_model import prices_of, spending
from server.message import Message
from server.runtime.context import Services


class AskRequest(Message):
    """A question."""

    question: str = Field(description="A question about what is in the graph.")
    context: str = Field("", description="Advice that narrows the question.")


def router(services: Services) -> APIRouter:
    """The route for questions."""
    routes = APIRouter(tags=["ask"], dependencies=[Depends(services.guard.requires(Scope.READ))])

    prices = prices_of(services.settings)

    @routes.post("/ask", openapi_extra=body_schema(AskRequest))
    async def post_ask(request: Request) -> dict[str, Any]:
        """Link the names, plan, compile to SPARQL, run it, answer; or say what is missing."""
        message = await read_json(request, AskRequest, services.settings.max_body_bytes)
        with spending(prices) as usage:
            answer = await services.asker.ask(message.question, context=message.context)
        return {**asdict(answer), "usage": usage}

    return routes

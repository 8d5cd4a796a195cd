"""`POST /relations`: two geometries in, their relation out; on demand with the model's own reasoning."""

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from anyio import CapacityLimiter
from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from server.data.two_geometries import of_five, relate_within_limits
from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import GeoJson, Wkt, body_schema, read_json
from server.http.bodies.streaming import while_connected, while_wanted
from server.http.pages import Needed
from server.intake.language_model import prices_of, spending
from server.message import Message
from server.services import Services

if TYPE_CHECKING:
    from extractors.completion.completer import Completion

_MAXIMUM_ROUNDS = 3
_EXPLAINED: Final = 20_000
"""Characters of a geometry that a model and its tools may be asked about: the tools have no limit of time."""
_Geometry = Wkt | GeoJson | None


class RelationsRequest(Message):
    """Two geometries as WKT (longitude first, or with a CRS IRI before it) or GeoJSON."""

    a: _Geometry = Field(None, description="For example POINT(-73.96 40.81).")
    b: _Geometry = Field(None, description="WKT or GeoJSON.")
    a_name: str = Field("", max_length=200, description="What the first place is called; for the model.")
    b_name: str = Field("", max_length=200, description="What the second place is called; for the model.")
    a_type: str = Field("", max_length=200, description="What sort of place the first is; for the model.")
    b_type: str = Field("", max_length=200, description="What sort of place the second is; for the model.")
    rounds: int = Field(_MAXIMUM_ROUNDS, ge=0, le=_MAXIMUM_ROUNDS, description="Of verifier and updater.")


def router(services: Services, *needs: Needed) -> APIRouter:
    """The route that relates two geometries."""
    routes = APIRouter(tags=["geometry"], dependencies=[*needs, Depends(services.guard.requires(Scope.READ))])

    limiter = CapacityLimiter(services.settings.readers)

    @routes.post("/relations", openapi_extra=body_schema(RelationsRequest))
    async def post_relations(
        request: Request,
        explain: Annotated[
            Literal["model"] | None, Query(description="`model`: also what the model makes of it.")
        ] = None,
    ) -> dict[str, Any]:
        """The computed relation of two geometries (RCC8, of five, simple features, DE-9IM, distance)."""
        message = await read_json(request, RelationsRequest, services.settings.max_body_bytes)
        _check_given(message, explained=explain is not None)
        settings = services.settings
        related = partial(
            relate_within_limits,
            message.a,
            message.b,
            settings.tolerance_m,
            timeout_s=settings.query_timeout_s,
            memory_bytes=settings.query_memory_bytes,
        )
        found = await while_wanted(request, related, limiter)
        a, b, answer = found.a, found.b, found.answer
        if explain is not None:
            from extractors.completion.completer import Completer, CompletionSettings
            from extractors.completion.pair import Pair, Place

            completer = Completer(
                services.model, CompletionSettings(rounds=message.rounds, prompts=services.settings.prompts)
            )
            pair = Pair(
                Place(message.a_name or "the first place", message.a_type, a),
                Place(message.b_name or "the second place", message.b_type, b),
            )
            with spending(prices_of(services.settings)) as usage:
                completion = (
                    await while_connected(request, completer.complete(pair))
                    if completer.refusal is None
                    else await run_in_threadpool(completer.by_tools, pair)
                )
            answer["model"] = _model_answer(completion, answer["rcc5"], completer.prompt_version)
            answer["usage"] = usage
        return answer

    return routes


def _model_answer(completion: "Completion", computed: str | None, version: str) -> dict[str, Any]:
    """What the model said, apart from what was computed."""
    replies = [turn.reply for turn in completion.turns if turn.reply is not None]
    return {
        **of_five(completion.relation),
        "agrees": None
        if computed is None or completion.relation is None
        else completion.relation.value == computed,
        "error": completion.error,
        "reasoning": completion.reasoning,
        "tools": [
            {"tool": call.tool, "result": call.result, "by_model": call.by_model} for call in completion.tools
        ],
        "rounds": completion.rounds,
        "faithful": completion.faithful,
        "model": replies[-1].model if replies else None,
        "prompt_version": version,
        "prompt_tokens": sum(reply.prompt_tokens for reply in replies),
        "completion_tokens": sum(reply.completion_tokens for reply in replies),
        "seconds": round(sum(reply.seconds for reply in replies), 3),
        "turns": [
            {
                "stage": turn.stage,
                "messages": [{"role": one.role, "content": one.content} for one in turn.messages],
                "reply": turn.reply.text if turn.reply else None,
                "error": turn.error,
            }
            for turn in completion.turns
        ],
    }


def _check_given(message: RelationsRequest, *, explained: bool) -> None:
    """Raises `InvalidBody` where a geometry is missing, or is too long for a model."""
    for place, value, name in (("a", message.a, message.a_name), ("b", message.b, message.b_name)):
        if value is None and not (explained and name):
            raise InvalidBody(
                [(place, f"a geometry is needed; without one give {place}_name and ask with ?explain=model")]
            )
        if (
            explained
            and value is not None
            and len(value if isinstance(value, str) else json.dumps(value)) > _EXPLAINED
        ):
            raise InvalidBody(
                [(place, f"?explain=model takes a geometry of at most {_EXPLAINED:,} characters")]
            )

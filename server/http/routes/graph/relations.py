"""`POST /relations`: two geometries in, their relation out; on demand with the model's own reasoning."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import GeoJson, Wkt, body_schema, read_json
from server.http.bodies.streaming import while_connected
from server.http.page_parameters import Needed
from server.intake.language_model import prices_of, spending
from server.message import Message
from server.runtime.context import Services

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from extractors.completion import Completion
    from geo.relate.rcc8 import RCC5

_MAXIMUM_ROUNDS = 3
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

    @routes.post("/relations", openapi_extra=body_schema(RelationsRequest))
    async def post_relations(
        request: Request,
        explain: Annotated[
            Literal["model"] | None, Query(description="`model`: also what the model makes of it.")
        ] = None,
    ) -> dict[str, Any]:
        """The computed relation of two geometries (RCC8, of five, simple features, DE-9IM, distance)."""
        message = await read_json(request, RelationsRequest, services.settings.max_body_bytes)
        tolerance_m = services.settings.tolerance_m
        a, b, answer = await run_in_threadpool(_related, message, explain is not None, tolerance_m)
        if explain is not None:
            from extractors.completion import Completer, CompletionSettings, Pair, Place

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


def _related(
    message: RelationsRequest, explained: bool, tolerance_m: float
) -> "tuple[BaseGeometry | None, BaseGeometry | None, dict[str, Any]]":
    """Both geometries, and what they say."""
    a = _geometry("a", message.a, explained and bool(message.a_name))
    b = _geometry("b", message.b, explained and bool(message.b_name))
    return a, b, _computed(a, b, tolerance_m)


def _computed(a: "BaseGeometry | None", b: "BaseGeometry | None", tolerance_m: float) -> dict[str, Any]:
    """What the geometries say, within the tolerance of the graph's relations; nulls where one is missing."""
    from geo.measure.measures import distance_m
    from geo.relate.simple_features import simple_features
    from geo.relate.tolerance import relate_within

    if a is None or b is None:
        names = ("rcc8", "rcc5", "simple_features", "relate", "tolerance_m", "distance_m", "distance_km")
        return {"computed": False, **_of_five(None), **dict.fromkeys(names)}
    relation, meters = relate_within(a, b, tolerance_m), distance_m(a, b)
    return {
        "computed": True,
        **_of_five(relation.rcc5),
        "rcc8": relation.rcc8.value,
        "rcc5": relation.rcc5.value,
        "simple_features": list(simple_features(a, b)),
        "relate": relation.matrix,
        "tolerance_m": relation.tolerance_m,
        "distance_m": meters,
        "distance_km": meters / 1000,
    }


def _of_five(relation: "RCC5 | None") -> dict[str, str | None]:
    """A relation as one of five, and which geometry lies inside where one does."""
    if relation is None:
        return {"relation": None, "inside": None}
    inside = {"IN": "a", "INi": "b"}.get(relation.value)
    return {"relation": "IN" if inside else relation.value, "inside": inside}


def _model_answer(completion: "Completion", computed: str | None, version: str) -> dict[str, Any]:
    """What the model said, apart from what was computed."""
    replies = [turn.reply for turn in completion.turns if turn.reply is not None]
    return {
        **_of_five(completion.relation),
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


def _geometry(place: str, value: _Geometry, may_miss: bool) -> "BaseGeometry | None":
    from extractors.sources.reading import read_shape
    from geo.errors import GeoError

    if value is None:
        if may_miss:
            return None
        raise InvalidBody(
            [(place, f"a geometry is needed; without one give {place}_name and ask with ?explain=model")]
        )
    try:
        geometry = read_shape(value)
    except GeoError as error:
        raise InvalidBody([(place, str(error))]) from error
    if geometry is None:
        raise InvalidBody([(place, "an empty geometry relates to nothing; send one with coordinates")])
    return geometry

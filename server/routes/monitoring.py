"""`GET /verdicts` and `GET /queries/slow`: what operators look back at."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from server.http.access.keys import Scope
from server.http.pages import known_parameters
from server.monitoring.slow_queries import SlowQuery
from server.monitoring.verdict_history import Period, ShapeVerdicts, Step
from server.services import Services

_MOST_PERIODS = 400


def router(services: Services) -> APIRouter:
    """The routes about verdicts and queries of the past."""
    reads = [Depends(services.guard.requires(Scope.READ))]
    routes = APIRouter(tags=["operations"], dependencies=[Depends(known_parameters), *reads])

    @routes.get("/verdicts")
    async def get_verdicts(
        step: Annotated[Step, Query(description="Length of a period; they begin by UTC.")] = Step.DAY,
        periods: Annotated[
            int, Query(ge=1, le=_MOST_PERIODS, description="How many; hours are kept for eight days.")
        ] = 30,
    ) -> dict[str, Any]:
        """The gate's verdicts in each period, the oldest first, and by shape, those with most first.

        Dry runs are not counted.
        """
        count = min(periods, step.kept)
        totals, shapes = await run_in_threadpool(services.verdict_history.read, step, count)
        judged = sum(one.accepted + one.refused for one in totals)
        return {
            "step": step.value,
            "periods": [_period(one) for one in totals],
            "shapes": [_shape(one, judged) for one in shapes],
        }

    @routes.get("/queries/slow")
    async def get_slow_queries(request: Request) -> dict[str, Any]:
        """The slowest queries of the last day since the start, the slowest first.

        The text of a query is shown to the key that sent it and to those with the scope `admin`.
        """
        key, scopes = services.guard.access(request)
        found = services.slow_queries.listed()
        sees_all = Scope.ADMIN in scopes
        return {
            "threshold": services.slow_queries.threshold_s,
            "queries": [_query(one, sees_all or (key is not None and one.key == key)) for one in found],
        }

    return routes


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _period(one: Period) -> dict[str, Any]:
    return {
        "start": _time(one.start),
        "accepted": one.accepted,
        "refused": one.refused,
        "warned": one.warned,
    }


def _shape(one: ShapeVerdicts, judged: int) -> dict[str, Any]:
    refused, warned = sum(one.refused), sum(one.warned)
    return {
        "shape": one.shape,
        "refused": refused,
        "warned": warned,
        "refused_rate": refused / judged if judged else None,
        "warned_rate": warned / judged if judged else None,
        "refused_by_period": one.refused,
        "warned_by_period": one.warned,
    }


def _query(one: SlowQuery, is_shown: bool) -> dict[str, Any]:
    return {
        "query": one.text if is_shown else None,
        "complete": one.complete,
        "times": one.times,
        "longest": one.longest,
        "mean": one.total / one.times,
        "last": _time(one.last),
        "status": one.status,
    }

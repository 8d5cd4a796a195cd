"""`GET /healthz`, `/readyz` and `/metrics`: what monitors ask."""

import asyncio
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter, Depends
from starlette.responses import JSONResponse, Response

from server.keys import Scope
from server.language_model import model_health
from server.metrics import CONTENT_TYPE
from server.services import Services
from server.stores import capabilities
from sparql.errors import SparqlError

_PROBE = "ASK {}"
_PATIENCE_S = 5.0


def router(services: Services) -> APIRouter:
    """The routes that monitors ask."""
    routes = APIRouter(tags=["operations"])
    # Threads of its own: those of the loop may all be waiting behind a long write.
    threads = ThreadPoolExecutor(2, "monitors")
    read = [Depends(services.guard.requires(Scope.READ))]

    @routes.get("/healthz")
    async def get_health() -> dict[str, Any]:
        """Answers 200 while the process lives; restart it when it does not."""
        return {
            "status": "ok",
            "revision": services.store.revision(),
            "store": capabilities(services.store),
            "model": services.model.name,
            "model_state": model_health(services.model),
            "ontology": services.schema.version,
            "shapes": services.gate.version if services.is_open else None,
        }

    @routes.get("/readyz", responses={503: {"description": "Not ready; `checks` says what is missing."}})
    async def get_readiness() -> JSONResponse:
        """Answers 200 while readers answer and the store takes writes; send no traffic when it does not.

        After a start, writes, extraction and questions may wait a moment longer for what judges them.
        """
        readers, store = await asyncio.gather(_readers(services), _store(services, threads))
        ready = readers == store == "ok"
        body = {"status": "ready" if ready else "not ready", "checks": {"readers": readers, "store": store}}
        headers = {"Cache-Control": "no-store", **({} if ready else {"Retry-After": "1"})}
        return JSONResponse(body, 200 if ready else 503, headers=headers)

    @routes.get("/metrics", dependencies=read, response_class=Response)
    async def get_metrics() -> Response:
        """Counters and measurements in Prometheus' text format."""
        text = await asyncio.get_running_loop().run_in_executor(threads, services.metrics.text)
        return Response(text, headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})

    return routes


async def _readers(services: Services) -> str:
    """`ok` when a reader answers the simplest query in time, else why not."""
    try:
        await services.readers.solutions(_PROBE, timeout_s=_PATIENCE_S)
    except SparqlError as error:
        return str(error)
    return "ok"


async def _store(services: Services, threads: Executor) -> str:
    """`ok` when the store takes a write, which leaves nothing behind, else why not."""
    if services.store.bulk_pending and not services.is_open:
        return "An interrupted bulk load is being finished: relations of what it loaded may be missing."
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await asyncio.get_running_loop().run_in_executor(threads, services.store.probe)
    except TimeoutError:
        return f"The store took no write within {_PATIENCE_S:g} s; its disk may be overloaded."
    except SparqlError as error:
        return str(error)
    return "ok"

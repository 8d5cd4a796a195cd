"""Whether readers answer and the store takes writes: what a monitor asks before it sends traffic."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.http.pages import check_parameters
from server.services import Services
from sparql.model.errors import SparqlError
from sparql.workers.fair_queue import CLIENT, OURSELVES

_PROBE = "ASK {}"
_PATIENCE_S = 5.0


class Readiness:
    """Asks readers and store; `threads` are for questions that may take long."""

    def __init__(self, services: Services) -> None:
        self._services = services
        # Threads of its own: those of the loop may all be waiting behind a long write.
        self.threads = ThreadPoolExecutor(2, "monitors")

    async def answer(self, request: Request) -> Response:
        """200 or 503, with what was found."""
        check_parameters(request, ())
        readers, store = await asyncio.gather(self._readers(), self._store())
        ready = readers == store == "ok"
        # Rules that cannot be used keep nobody from working: the last good ones judge.
        rules = self._services.rule_registry.problem or "ok"
        checks = {"readers": readers, "store": store, "rules": rules}
        body = {"status": "ready" if ready else "not ready", "checks": checks}
        headers = {"Cache-Control": "no-store", **({} if ready else {"Retry-After": "1"})}
        return JSONResponse(body, 200 if ready else 503, headers=headers)

    async def _readers(self) -> str:
        """`ok` when a reader answers the simplest query in time, else why not."""
        # Not behind the queries of others at the monitor's address.
        CLIENT.set(OURSELVES)
        try:
            await self._services.readers.solutions(_PROBE, timeout_s=_PATIENCE_S)
        except SparqlError as error:
            return str(error)
        return "ok"

    async def _store(self) -> str:
        """`ok` when the store takes a write, which leaves nothing behind, else why not."""
        services = self._services
        if services.store.bulk_pending and not services.is_open:
            return "An interrupted bulk load is being finished: relations of what it loaded may be missing."
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await asyncio.get_running_loop().run_in_executor(self.threads, services.store.probe)
        except TimeoutError:
            return f"The store took no write within {_PATIENCE_S:g} s; its disk may be overloaded."
        except SparqlError as error:
            return str(error)
        return "ok"

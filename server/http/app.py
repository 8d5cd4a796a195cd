"""The ASGI application: the short path of SPARQL requests, and beside it everything else.

Everything else is built by a framework whose import takes longer than the start of a store. So queries and
updates are answered before it is there; it is built on a thread, and the first request that needs it waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.access.hosts import OwnHosts
from server.http.built_later import BuiltLater
from server.http.dataset_reading import vocabulary_of
from server.http.direct import Direct
from server.http.idempotency.repeats import IdempotentPosts
from server.http.readiness import Readiness
from server.http.reporting.problems import ProblemMap
from server.http.routes.graph.sparql import Endpoint
from server.rules.following import following
from server.runtime.background import beside
from server.runtime.telemetry.request_logging import RequestLogging
from sparql.model.errors import SparqlError

if TYPE_CHECKING:
    from server.runtime.context import Services

_log = logging.getLogger("urbankg.questions")


def create_app(services: Services) -> ASGIApp:
    """The application over built services; its lifespan starts and stops them."""
    problems = ProblemMap(later=_all_problems)
    readiness = Readiness(services)
    running: asyncio.AbstractEventLoop | None = None
    stack = AsyncExitStack()

    def build() -> ASGIApp:
        from server.http.framework import framework_app

        if running is not None:
            # Jobs arrive by these routes alone: what is begun here precedes the first of them.
            working = stack.enter_async_context(services.job_worker.working(services.opened))
            asyncio.run_coroutine_threadsafe(working, running).result()
        return framework_app(services, problems, readiness)

    async def take_candidates(request: Request) -> Response:
        # Imported with the first of them: the start need not wait for it.
        from server.intake.candidates import Candidates

        return await Candidates(services).answer(request)

    rest = BuiltLater(build)
    endpoint = Endpoint(
        services,
        services.updates,
        services.admission,
        vocabulary_of(services),
        # Until the ontology is read, which nothing waits for here, IRIs are written in full.
        lambda: services.schema.prefixes if services.is_open else {},
    )
    limited = services.settings.requests_per_second > 0
    direct = Direct(
        rest,
        endpoint,
        problems,
        services.draining,
        readiness=readiness.answer,
        candidates=take_candidates,
    )
    once = IdempotentPosts(rest if limited else direct, services, problems)
    served = OwnHosts(once, services.guard.hosts, problems)
    watched = RequestLogging(
        served,
        services.metrics,
        services.draining,
        services.answers,
        services.clients,
        services.slow_queries,
    )

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        nonlocal running
        running = asyncio.get_running_loop()
        await services.start()
        # Both want the one interpreter, and writes wait for the judges.
        services.startup.judging.add_done_callback(lambda judging: rest.begin())
        try:
            async with following(services), _connecting(services), beside(_prepare_questions(services)):
                yield
        finally:
            await rest.settled()
            await stack.aclose()
            await services.close()

    life = Router(lifespan=lifespan)

    async def app(scope: Scope, receive: Receive, send: Send) -> Any:
        await (life if scope["type"] == "lifespan" else watched)(scope, receive, send)

    return app


def _all_problems() -> ProblemMap:
    from server.http.reporting.problem_map import all_problems

    return all_problems()


async def _prepare_questions(services: Services) -> None:
    """Read what the first question needs. A failure here is met again, and reported, by that question."""
    opening = asyncio.wrap_future(services.startup.started)
    await asyncio.wait([opening])
    if opening.exception() is not None:
        return
    try:
        await services.asker.prepare()
    except (SparqlError, OSError) as error:
        _log.warning("The first question will read the summary of the data: %s", error)


@asynccontextmanager
async def _connecting(services: Services) -> AsyncIterator[None]:
    """Connect to the model's server, where there is one, while the block runs."""
    if not services.settings.model_url:
        yield
        return
    from server.intake.language_model import connecting, text_schemas

    model = services.model
    schemas = partial(text_schemas, services.settings, model.prompt_profile, services.schema)
    async with connecting(model, schemas):
        yield

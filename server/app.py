"""The ASGI application: the direct way of SPARQL requests, and beside it everything else.

Everything else is built by a framework whose import takes longer than the start of a store. So queries and
updates are answered before it is there; it is built on a thread, and whoever needs it first waits.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from server.built_later import BuiltLater
from server.direct import Direct
from server.following import following
from server.language_model import meeting
from server.problem_map import all_problems
from server.readiness import Readiness
from server.routes.sparql import Endpoint
from server.services import Services
from server.watching import Watched


def create_app(services: Services) -> ASGIApp:
    """The application over built services; its lifespan starts and stops them."""
    problems = all_problems()
    readiness = Readiness(services)

    def build() -> ASGIApp:
        from server.framework import framework_app

        return framework_app(services, problems, readiness)

    rest = BuiltLater(build)
    endpoint = Endpoint(services, services.updates, services.admission)
    limited = services.settings.requests_per_second > 0
    served = (
        rest if limited else Direct(rest, endpoint, problems, services.draining, readiness=readiness.answer)
    )
    watched = Watched(served, services.metrics, services.draining, services.answers)

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        await services.start()
        # Both want the one interpreter, and writes wait for the judges.
        services.opening.judging.add_done_callback(lambda judging: rest.begin())
        try:
            async with (
                following(services),
                meeting(services),
                services.job_worker.working(services.opened),
            ):
                yield
        finally:
            await services.close()

    life = Router(lifespan=lifespan)

    async def app(scope: Scope, receive: Receive, send: Send) -> Any:
        await (life if scope["type"] == "lifespan" else watched)(scope, receive, send)

    return app

"""The ASGI application: routes, errors and CORS around the services."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import Depends, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from server.compression import Compression
from server.direct import Direct
from server.following import following
from server.language_model import meeting
from server.limits import RateLimit
from server.methods import Methods
from server.openapi import complete
from server.problem_map import all_problems
from server.routes import (
    ask,
    changes,
    documents,
    entities,
    extractions,
    health,
    jobs,
    models,
    ontologies,
    proposals,
    relations,
    review,
    rules,
    sources,
    sparql,
    storage,
    store,
    traces,
)
from server.services import Services
from server.watching import REQUEST_ID, Leaving, Watched

_EXPOSED = ["ETag", "Location", "Retry-After", "Content-Length", "Warning", "WWW-Authenticate", REQUEST_ID]


def create_app(services: Services) -> ASGIApp:
    """The application over built services; its lifespan starts and stops them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await services.start()
        try:
            async with (
                following(services),
                meeting(services),
                services.job_worker.working(services.opened),
            ):
                yield
        finally:
            await services.close()

    app = FastAPI(
        title="UrbanKG",
        version=version("urbankg"),
        description="Text in, SHACL-gated and RCC8-related graph out, SPARQL over it.",
        lifespan=lifespan,
    )
    routers = [sparql.router(services, services.updates, services.admission)]
    # These need only the store, or wait by themselves where they write.
    routers += [room.router(services) for room in (store, changes, health, models, traces, ontologies)]
    for router in routers:
        app.include_router(router)
    for room in (
        extractions,
        jobs,
        sources,
        relations,
        review,
        proposals,
        documents,
        entities,
        ask,
        storage,
        rules,
    ):
        routers.append(room.router(services))
        app.include_router(routers[-1], dependencies=[Depends(services.opened)])
    problems = all_problems()
    problems.install(app)
    complete(app)
    routes = [*app.routes, *(route for router in routers for route in router.routes)]
    rate = services.settings.requests_per_second
    # CORS around all that answers, so that errors carry its headers too.
    layers = CORSMiddleware(
        Leaving(RateLimit(Compression(Methods(app, routes)), rate), services.draining),
        allow_origins=["*"],
        allow_methods=["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"],
        allow_headers=["*"],
        expose_headers=_EXPOSED,
    )
    endpoint = sparql.Endpoint(services, services.updates, services.admission)
    served = layers if rate > 0 else Direct(layers, endpoint, problems, services.draining)
    return Watched(served, services.metrics, services.draining, services.answers)

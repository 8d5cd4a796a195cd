"""The framework's application: all routes, errors and CORS around the services."""

from importlib.metadata import version

from fastapi import Depends, FastAPI
from starlette.types import ASGIApp

from server.compression import Compression
from server.cors import CrossOrigin, CrossOriginHeaders
from server.limits import RateLimit
from server.methods import Methods
from server.openapi import complete
from server.problems import ProblemMap
from server.readiness import Readiness
from server.routes import (
    api_page,
    ask,
    changes,
    documents,
    entities,
    extractions,
    health,
    held,
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
from server.watching import Leaving


def framework_app(services: Services, problems: ProblemMap, readiness: Readiness) -> ASGIApp:
    """Every route, with the layers around them."""
    app = FastAPI(
        docs_url=None,
        redoc_url=None,
        title="UrbanKG",
        version=version("urbankg"),
        description="Text in, SHACL-gated and RCC8-related graph out, SPARQL over it.",
    )
    routers = [sparql.router(services, services.updates, services.admission)]
    # These need only the store, or wait by themselves where they write.
    routers += [room.router(services) for room in (store, changes, models, traces, ontologies)]
    routers += [health.router(services, readiness), api_page.router(services)]
    for router in routers:
        app.include_router(router)
    for room in (
        extractions,
        held,
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
    problems.install(app)
    complete(app)
    routes = [*app.routes, *(route for router in routers for route in router.routes)]
    rate = services.settings.requests_per_second
    limited = RateLimit(Compression(Methods(app, routes)), rate, services.clients)
    # Around all that answers, so that errors carry the headers too.
    return CrossOriginHeaders(
        Leaving(limited, services.draining), CrossOrigin(services.settings.page_origins)
    )

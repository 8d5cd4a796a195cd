"""The framework's application: all routes, errors and CORS around the services."""

from importlib.metadata import version

from fastapi import Depends, FastAPI
from starlette.types import ASGIApp

from server.http.access.cors import CrossOrigin, CrossOriginHeaders
from server.http.access.limits import RateLimit
from server.http.bodies.compression import Compression
from server.http.dataset_reading import vocabulary_of
from server.http.methods import Methods
from server.http.openapi import complete
from server.http.page_parameters import known_parameters
from server.http.readiness import Readiness
from server.http.reporting.problems import ProblemMap
from server.http.routes import access, api_page, health, monitoring, page
from server.http.routes.curation import documents, gaps, ontologies, proposals, review, rules
from server.http.routes.graph import (
    changes,
    collections,
    entities,
    features,
    relations,
    sparql,
    storage,
    store,
    suggest,
)
from server.http.routes.text import ask, extractions, held, jobs, models, sources, traces
from server.http.validators import Validators
from server.mcp.route import mcp_route
from server.reader_language import ReaderLanguages
from server.runtime.context import Services
from server.runtime.telemetry.request_logging import RefuseWhileDraining


def framework_app(services: Services, problems: ProblemMap, readiness: Readiness) -> ASGIApp:
    """Every route, with the layers around them."""
    app = FastAPI(
        docs_url=None,
        redoc_url=None,
        title="UrbanKG",
        version=version("urbankg"),
        description="Text in, SHACL-gated and RCC8-related graph out, SPARQL over it.",
    )
    known, opened = Depends(known_parameters), Depends(services.opened)
    # The first of these read their parameters by themselves; the next ones need only the store, or wait by
    # themselves where they write.
    vocabulary = vocabulary_of(services)
    routers = [
        sparql.router(services, services.updates, services.admission, vocabulary),
        store.router(services),
    ]
    routers += [health.router(services, readiness), api_page.router(services)]
    routers += [page.router(services), access.router(services), monitoring.router(services)]
    routers += [part.router(services, known) for part in (changes, models, traces, ontologies)]
    for part in (
        extractions,
        held,
        jobs,
        sources,
        relations,
        review,
        proposals,
        gaps,
        documents,
        entities,
        features,
        collections,
        suggest,
        ask,
        storage,
        rules,
    ):
        routers.append(part.router(services, known, opened))
    for router in routers:
        # Not included: the framework would make each route anew, with the first request.
        app.router.routes.extend(router.routes)
    app.router.routes.append(mcp_route(services, app))
    problems.install(app)
    complete(app)
    rate = services.settings.requests_per_second
    limited = RateLimit(
        Compression(Methods(Validators(ReaderLanguages(app)), app.routes)), rate, services.clients
    )
    # Around all that answers, so that errors carry the headers too.
    return CrossOriginHeaders(
        RefuseWhileDraining(limited, services.draining), CrossOrigin(services.settings.page_origins)
    )

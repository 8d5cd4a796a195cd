"""The ASGI application: all routes, errors and layers around the services."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

from fastapi import Depends, FastAPI
from starlette.types import ASGIApp

from server.background import beside
from server.http.access.admission import RateLimit
from server.http.access.hosts import CrossOrigin, CrossOriginHeaders, OwnHosts
from server.http.bodies.content_coding import Compression
from server.http.dataset_reading import vocabulary_of
from server.http.idempotency.repeats import IdempotentPosts
from server.http.methods import Methods
from server.http.openapi import complete
from server.http.pages import known_parameters
from server.http.readiness import Readiness
from server.http.request_logging import RefuseWhileDraining, RequestLogging
from server.http.validators import Validators
from server.intake.language_model import connecting, text_schemas
from server.mcp.calling import mcp_route
from server.problem_map import all_problems
from server.reader_language import ReaderLanguages
from server.routes import access, api_page, health, monitoring, page
from server.routes.curation import documents, gaps, ontologies, proposals, review, rules
from server.routes.graph import (
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
from server.routes.text import ask, extractions, jobs, models, sources, traces
from server.rules.rule_registry import poll_files
from server.services import Services
from sparql.model.errors import SparqlError

_log = logging.getLogger("urbankg.questions")


def create_app(services: Services) -> ASGIApp:
    """The application over built services; its lifespan starts and stops them."""

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        await services.start()
        polling = poll_files(
            services.rule_registry,
            services.settings.watch_files_s,
            lambda: services.is_open and services.startup.started.exception() is None,
        )
        try:
            async with (
                services.job_worker.working(services.opened),
                beside(polling),
                _connecting(services),
                beside(_prepare_questions(services)),
            ):
                yield
        finally:
            await services.close()

    app = FastAPI(
        docs_url=None,
        redoc_url=None,
        title="UrbanKG",
        version=version("urbankg"),
        description="Text in, SHACL-gated and RCC8-related graph out, SPARQL over it.",
        lifespan=lifespan,
    )
    _add_routes(app, services)
    problems = all_problems()
    problems.install(app)
    complete(app)
    # Each layer is inside of those after it.
    routed = Compression(Methods(Validators(ReaderLanguages(app)), app.routes))
    limited = RateLimit(routed, services.settings.requests_per_second, services.clients)
    draining = RefuseWhileDraining(limited, services.draining)
    # Around all that answers, so that errors carry the headers too.
    readable = CrossOriginHeaders(draining, CrossOrigin(services.settings.page_origins))
    once = IdempotentPosts(readable, services, problems)
    own = OwnHosts(once, services.guard.hosts, problems)
    return RequestLogging(
        own,
        services.metrics,
        services.draining,
        services.answers,
        services.clients,
        services.slow_queries,
    )


def _add_routes(app: FastAPI, services: Services) -> None:
    known, opened = Depends(known_parameters), Depends(services.opened)
    # The first of these read their parameters by themselves; the next ones need only the store, or wait by
    # themselves where they write.
    routers = [
        sparql.router(
            services,
            services.updates,
            services.admission,
            vocabulary_of(services),
            # Until the ontology is read, which nothing waits for here, IRIs are written in full.
            lambda: services.schema.prefixes if services.is_open else {},
        ),
        store.router(services),
    ]
    routers += [health.router(services, Readiness(services)), api_page.router(services)]
    routers += [page.router(services), access.router(services), monitoring.router(services)]
    routers += [part.router(services, known) for part in (changes, models, traces, ontologies)]
    for part in (
        extractions,
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
    model = services.model
    schemas = partial(text_schemas, services.settings, model.prompt_profile, services.schema)
    async with connecting(model, schemas):
        yield

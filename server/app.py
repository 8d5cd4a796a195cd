"""The ASGI application: routes, errors and CORS around the services."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from server.problem_map import all_problems
from server.routes import ask, extractions, health, ontologies, relations, review, sparql
from server.services import Services

_EXPOSED = ["ETag", "Location", "Retry-After", "Content-Length", "Warning"]


def create_app(services: Services) -> ASGIApp:
    """The application over built services; its lifespan starts and stops them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with services:
            yield

    app = FastAPI(
        title="UrbanKG",
        version=version("urbankg"),
        description="Text in, SHACL-gated and RCC8-related graph out, SPARQL over it.",
        lifespan=lifespan,
    )
    for room in (sparql, extractions, relations, review, ask, health, ontologies):
        app.include_router(room.router(services))
    all_problems().install(app)
    # Outermost, so that errors carry the headers too.
    return CORSMiddleware(
        app,
        allow_origins=["*"],
        allow_methods=["GET", "HEAD", "POST", "OPTIONS"],
        allow_headers=["*"],
        expose_headers=_EXPOSED,
    )

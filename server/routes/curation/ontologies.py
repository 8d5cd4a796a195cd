"""The loaded ontologies under their own IRIs, and entities under theirs, by content negotiation."""

from collections.abc import Awaitable, Callable
from typing import Annotated
from urllib.parse import urlsplit

import pyoxigraph
from fastapi import APIRouter, Depends, Query
from pyoxigraph import NamedNode, RdfFormat
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from server.documentation.markup import POLICY
from server.documentation.pages import ShapeSections, ontology_page
from server.errors import UnknownResource
from server.http.access.keys import Scope
from server.http.pages import Needed
from server.message import IRI_FORM
from server.routes.page import page_of, prefers_html
from server.services import Services
from sparql.model.errors import TripleTermUnwritable
from sparql.protocol.formats import FOR_TRIPLE_TERMS, GRAPH_FORMATS, Format, choose
from sparql.workers.query import QueryRequest


def router(services: Services, *needs: Needed) -> APIRouter:
    """`/ontology`, the path of every ontology's IRI, and the paths under the base IRI of entities."""
    routes = APIRouter(tags=["ontology"], dependencies=[*needs, Depends(services.guard.requires(Scope.READ))])

    @routes.get("/ontology", response_class=Response)
    async def get_ontology(
        request: Request, iri: Annotated[str | None, Query(json_schema_extra=IRI_FORM)] = None
    ) -> Response:
        """The ontology (of that IRI, or all that are loaded) in an RDF format; one of them also as a page."""
        if iri is not None and iri not in {name.value for name in services.schema.ontologies}:
            known = ", ".join(sorted(name.value for name in services.schema.ontologies))
            raise UnknownResource(f"No ontology <{iri}> is loaded. There are: {known or 'none'}.")
        return await _shown(services, request, iri)

    @routes.get("/entities", response_class=Response, tags=["entities"])
    async def get_described(
        request: Request,
        iri: Annotated[str, Query(description="Any IRI that the graph knows.", json_schema_extra=IRI_FORM)],
    ) -> Response:
        """What the graph says of an IRI, as the page, Turtle, JSON-LD or another RDF format."""
        return await _described(services, request, iri)

    for name in services.schema.ontologies:
        routes.add_api_route(
            urlsplit(name.value).path or "/",
            _of(services, name.value),
            methods=["GET", "HEAD"],
            include_in_schema=False,
            response_class=Response,
        )
    base = urlsplit(services.settings.base_iri).path
    if base.endswith("/") and base != "/":
        routes.add_api_route(
            base + "{name:path}",
            _entity(services),
            methods=["GET", "HEAD"],
            include_in_schema=False,
            response_class=Response,
        )
    return routes


def _of(services: Services, iri: str) -> Callable[[Request], Awaitable[Response]]:
    async def get_own_iri(request: Request) -> Response:
        if NamedNode(iri) not in services.schema.ontologies:
            raise UnknownResource(f"The ontology <{iri}> is no longer loaded.")
        return await _shown(services, request, iri)

    return get_own_iri


def _entity(services: Services) -> Callable[[Request, str], Awaitable[Response]]:
    async def get_entity(request: Request, name: str) -> Response:
        return await _described(services, request, services.settings.base_iri + name)

    return get_entity


async def _described(services: Services, request: Request, text: str) -> Response:
    try:
        iri = NamedNode(text)
    except ValueError as error:
        raise UnknownResource(f"'{text}' is no IRI ({error}), so nothing has it.") from error
    places = ((iri, None, None), (None, None, iri), (None, iri, None))
    if not any(True for place in places for _ in services.store.match(*place)):
        raise UnknownResource(f"The graph knows nothing of <{iri.value}>.")
    if (shown := page_of(request, iri.value)) is not None:
        return shown
    accept = request.headers.get("accept")
    format_ = choose(accept, GRAPH_FORMATS)
    try:
        body = await _description(services, iri, format_)
    except TripleTermUnwritable:
        format_ = choose(accept, FOR_TRIPLE_TERMS)
        body = await _description(services, iri, format_)
    return Response(body, headers={"Content-Type": format_.content_type, "Vary": "Accept"})


async def _description(services: Services, iri: NamedNode, format_: Format) -> bytes:
    asked = QueryRequest(f"DESCRIBE {iri}", format_, prefixes=services.schema.prefixes)
    async with services.readers.query(asked) as result:
        return b"".join([chunk async for chunk in result])


async def _shown(services: Services, request: Request, iri: str | None) -> Response:
    """An ontology as a page for who prefers HTML, else in an RDF format."""
    if iri is None or not prefers_html(request):
        return await run_in_threadpool(_serialized, services, request, iri)
    return HTMLResponse(
        await run_in_threadpool(_documented, services, NamedNode(iri)),
        headers={"Vary": "Accept", "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"},
    )


def _documented(services: Services, iri: NamedNode) -> str:
    rules = services.rule_registry.current
    return ontology_page(rules.schema, iri, ShapeSections(rules.files.sources, rules.shapes_folder))


def _serialized(services: Services, request: Request, iri: str | None) -> Response:
    format_ = choose(request.headers.get("accept"), GRAPH_FORMATS)
    schema = services.schema
    triples = sorted(schema.triples if iri is None else schema.ontologies[NamedNode(iri)], key=str)
    assert isinstance(format_.engine, RdfFormat)
    text = pyoxigraph.serialize(triples, format=format_.engine, prefixes=dict(schema.prefixes))
    return Response(text, headers={"Content-Type": format_.content_type, "Vary": "Accept"})

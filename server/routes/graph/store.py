"""The graph store: `/store` (SPARQL 1.1 Graph Store HTTP Protocol), by `?graph=`, `?default` or the path."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO, Any, Protocol, cast
from urllib.parse import quote

from fastapi import APIRouter, Depends
from pyoxigraph import NamedNode, Triple
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from ontology import Schema
from server.http.access.admission import BYTES_PER_CHARACTER
from server.http.access.guard import Guard
from server.http.access.keys import Scope
from server.http.bodies.content_coding import unpacked
from server.http.bodies.multipart import boundary_of, read_parts
from server.http.bodies.request_bodies import media_type, received
from server.http.bodies.streaming import ClientLeft, ResultResponse, while_connected, while_wanted
from server.http.reporting.problems import warning_of
from server.http.reporting.statements import refusal, rejection_json
from server.settings import Settings
from sparql.model.errors import MalformedRequest, ProtectedGraph
from sparql.model.triple_store import TripleStore
from sparql.protocol.formats import GRAPH_FORMATS, Format, choose, choose_by_name
from sparql.protocol.requests import Conditions, graph_tag
from sparql.workers.query import QueryService
from sparql.writing.graph_store import (
    ChangeWriter,
    GraphRequest,
    GraphStore,
    Outcome,
    payload_format,
    read_address,
    read_payload,
)

_CLIENT_CLOSED_REQUEST = 499
_FORM = "multipart/form-data"


class StoreServices(Protocol):
    """The services this route uses."""

    @property
    def settings(self) -> Settings: ...

    @property
    def guard(self) -> Guard: ...

    @property
    def schema(self) -> Schema: ...

    @property
    def store(self) -> TripleStore: ...

    def writer_for(self, source: str) -> ChangeWriter: ...

    @property
    def readers(self) -> QueryService: ...


def router(services: StoreServices) -> APIRouter:
    """The routes of the graph store."""
    graphs = Graphs(services)
    reading = [Depends(services.guard.requires(Scope.READ))]
    writing = [Depends(services.guard.requires(Scope.WRITE))]
    routes = APIRouter(tags=["graph store"])
    for path in ("/store", "/store/{path:path}"):
        name = "store" if path == "/store" else "graph"
        for method, answer, summary in (
            ("GET", graphs.get, "Read a graph"),
            ("PUT", graphs.put, "Replace a graph, or make it"),
            ("POST", graphs.post, "Add triples to a graph, or make it; at the store itself: a new graph"),
            ("DELETE", graphs.delete, "Remove a graph"),
        ):
            routes.add_api_route(
                path,
                answer,
                methods=[method],
                operation_id=f"{name}_{method.lower()}",
                summary=summary,
                response_class=Response,
                dependencies=reading if method == "GET" else writing,
                openapi_extra=_described(path, method),
            )
        routes.add_api_route(
            path, graphs.get, methods=["HEAD"], include_in_schema=False, dependencies=reading
        )
    return routes


class Graphs:
    """Requests in, answers out; the work is done in `sparql`."""

    def __init__(self, services: StoreServices) -> None:
        self._services = services
        self._graphs = GraphStore(services.store, services.writer_for("graph store"))
        self._limit = services.settings.max_update_chars * BYTES_PER_CHARACTER

    async def get(self, request: Request) -> Response:
        """A graph in the format that the client likes best (5.2); HEAD only its headers (5.7)."""
        readers = self._services.readers
        wanted = self._address(request)
        format_ = _format_for(request, wanted)
        conditions = _conditions(request)
        tag = graph_tag(readers.revision(), wanted.graph, format_)
        fixed = readers.knows_every_change
        if (
            fixed
            and conditions.if_none_match is not None
            and not conditions.if_none_match.any
            and conditions.is_known(tag)
        ):
            return Response(status_code=304, headers=_headers(format_, tag))
        try:
            result = await while_connected(
                request,
                readers.open_dump(
                    wanted.graph,
                    format_,
                    prefixes=self._services.schema.prefixes,
                    timeout_s=self._services.settings.query_timeout_max_s,
                ),
            )
        except ClientLeft:
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
        tag = graph_tag(result.revision, wanted.graph, format_)
        try:
            conditions.check_read(tag)
            known = fixed and conditions.is_known(tag)
            body = b"" if known or request.method == "HEAD" else result.whole()
        except BaseException:
            readers.close_query(result)
            raise
        headers = {**_headers(format_, tag), **_warning(wanted)}
        if body is None:
            return ResultResponse(readers, result, headers)
        readers.close_query(result)
        response = Response(body, 304 if known else 200, headers)
        if request.method == "HEAD" and not known:
            # The length is known only to those who write the graph out.
            del response.headers["content-length"]
        return response

    async def put(self, request: Request) -> Response:
        """Replace a graph as a whole (5.3)."""
        return await self._write(request, replacing=True)

    async def post(self, request: Request) -> Response:
        """Add to a graph (5.5)."""
        return await self._write(request, replacing=False)

    async def delete(self, request: Request) -> Response:
        """Remove a graph (5.4)."""
        wanted = self._address(request)
        outcome = await asyncio.to_thread(self._graphs.delete, wanted.graph, _conditions(request))
        return self._written(request, wanted, outcome)

    async def _write(self, request: Request, *, replacing: bool) -> Response:
        wanted = self._address(request, minting=not replacing)
        if wanted.system:
            raise ProtectedGraph(wanted.graph)
        conditions = _conditions(request)
        write = self._graphs.replace if replacing else self._graphs.merge
        try:
            async with received(request, self._services.settings.data, self._limit) as body:
                reading = partial(_triples, request, body, self._base(wanted), self._limit)
                triples = await while_wanted(request, reading)
        except (ClientDisconnect, ClientLeft):
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
        outcome = await asyncio.to_thread(write, wanted.graph, triples, conditions, partial=wanted.partial)
        return self._written(request, wanted, outcome)

    def _address(self, request: Request, *, minting: bool = False) -> GraphRequest:
        """Which graph is meant; with ``minting``, a new one where the address is that of the store itself."""
        base = self._services.settings.base_url
        path = _raw_path(request)
        own = path.rstrip("/") == "/store"
        found = read_address(request.url.query, None if own else base + path)
        if found.names_graph:
            return found
        if not minting:
            raise MalformedRequest(
                "This is the store itself; name a graph by ?default, ?graph=IRI or by /store/ and a path."
            )
        new = NamedNode(f"{base}/store/{uuid.uuid4().hex}")
        return GraphRequest(new, direct=True, partial=found.partial, format=found.format)

    def _base(self, wanted: GraphRequest) -> str:
        """What relative IRIs of a body are relative to: the IRI that names the content (4.1, 4.2)."""
        if wanted.graph is None:
            return f"{self._services.settings.base_url}/store?default"
        return wanted.graph.value

    def _written(self, request: Request, wanted: GraphRequest, outcome: Outcome) -> Response:
        verdict = outcome.verdict
        if verdict.rejected and not wanted.partial:
            return refusal(request, verdict)
        headers = {**({"Location": self._location(wanted)} if outcome.created else {}), **_warning(wanted)}
        status = 201 if outcome.created else 204
        if not verdict.rejected and not verdict.warnings:
            return Response(status_code=status, headers=headers)
        members = {
            "revision": verdict.revision,
            "accepted": len(verdict.accepted),
            "rejected": [rejection_json(one, None) for one in verdict.rejected],
            "warnings": [rejection_json(one, None) for one in verdict.warnings],
        }
        return JSONResponse(members, 201 if outcome.created else 200, headers)

    def _location(self, wanted: GraphRequest) -> str:
        assert wanted.graph is not None
        if wanted.direct:
            return quote(wanted.graph.value, safe="/:?#[]@!$&'()*+,;=%~")
        return f"{self._services.settings.base_url}/store?graph={quote(wanted.graph.value, safe='')}"


def _triples(
    request: Request, body: IO[bytes], base: str, limit: int, *, wanted: Callable[[], bool]
) -> frozenset[Triple]:
    """The triples of a body or, of a form, of all its documents together."""
    with unpacked(body, request.headers.get("content-encoding"), limit, wanted) as content:
        if media_type(request) == _FORM:
            boundary = boundary_of(request.headers["content-type"])
            triples: set[Triple] = set()
            for part in read_parts(content, boundary):
                triples |= read_payload(part.body, payload_format(part.content_type), base)
            return frozenset(triples)
        if not media_type(request) and not content.read(1):
            return frozenset()
        content.seek(0)
        return read_payload(content, payload_format(request.headers.get("content-type")), base)


def _raw_path(request: Request) -> str:
    raw = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    try:
        return cast("bytes", raw).decode("ascii")
    except UnicodeDecodeError as error:
        raise MalformedRequest(
            "The path is not percent-encoded; encode it as UTF-8, then in percent."
        ) from error


def _format_for(request: Request, wanted: GraphRequest) -> Format:
    if wanted.format is not None:
        return choose_by_name(wanted.format, GRAPH_FORMATS)
    return choose(request.headers.get("accept"), GRAPH_FORMATS)


def _conditions(request: Request) -> Conditions:
    return Conditions.read(request.headers.get("if-match"), request.headers.get("if-none-match"))


def _headers(format_: Format, tag: str) -> dict[str, str]:
    return {
        "Content-Type": format_.content_type,
        "Vary": "Accept",
        "Cache-Control": "no-cache",
        "ETag": f'"{tag}"',
    }


def _warning(wanted: GraphRequest) -> dict[str, str]:
    warning = warning_of(wanted.warnings)
    return {} if warning is None else {"Warning": warning}


def _described(path: str, method: str) -> dict[str, Any]:
    """What `/docs` shows of the parameters and the body, which the route reads itself."""

    def parameter(name: str, where: str, schema: Mapping[str, Any], text: str) -> dict[str, Any]:
        members = {"name": name, "in": where, "schema": schema, "description": text}
        return {**members, "required": where == "path"}

    text, flag = {"type": "string"}, {"type": "boolean"}
    found = []
    if path == "/store":
        found.append(
            parameter("graph", "query", {"type": "string", "format": "iri"}, "IRI of a named graph.")
        )
        found.append(
            parameter(
                "default", "query", {"type": "string", "maxLength": 0}, "The default graph; takes no value."
            )
        )
    else:
        found.append(parameter("path", "path", text, "The address itself is the graph's IRI."))
    if method == "GET":
        names = [one.name for one in GRAPH_FORMATS]
        found.append(parameter("format", "query", {"type": "string", "enum": names}, "Instead of Accept."))
    if method in ("PUT", "POST"):
        found.append(parameter("partial", "query", flag, "Take what conforms and refuse only the rest."))
    described: dict[str, Any] = {"parameters": found}
    if method in ("PUT", "POST"):
        kinds = [*(one.media_type for one in GRAPH_FORMATS), _FORM]
        described["requestBody"] = {"content": {kind: {"schema": text} for kind in kinds}}
    return described

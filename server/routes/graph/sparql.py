"""The SPARQL endpoint: ``/sparql``, ``/query`` and ``/.well-known/void``."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, cast

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pyoxigraph import NamedNode
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.http.bodies.streaming import ClientLeft, ResultResponse, while_connected
from server.http.dataset_reading import DatasetReading, ReadVocabulary
from server.http.pages import check_parameters
from server.http.reporting.problems import warning_of
from server.http.validators import EntityTag, is_varying, matches
from server.monitoring.slow_queries import QUERY_TEXT
from sparql.model.answer_warnings import unused_parameters
from sparql.model.errors import MalformedRequest
from sparql.model.request_mark import current_mark
from sparql.protocol.description import describe_dataset, describe_service, write
from sparql.protocol.formats import (
    BY_NAME,
    FEATURE_FORMAT,
    GRAPH_FORMATS,
    RESULT_FORMATS,
    WITH_PREFIXES,
    Format,
    choose,
    first_known,
)
from sparql.protocol.requests import PARAMETERS, ProtocolRequest, read_request
from sparql.rewriting.rewriter import Preparation, Rewriter
from sparql.syntax.problems import unknown_function_message
from sparql.syntax.request_facts import Kind, QueryForm, facts_of
from sparql.workers.functions import load_aggregates, load_functions
from sparql.workers.query import QueryRequest, QueryService, StreamedResult

_CLIENT_CLOSED_REQUEST = 499


Prefixes: TypeAlias = Callable[[], Mapping[str, str]]
"""Gives the prefixes of the ontology in force."""


class QuerySettings(Protocol):
    """The settings this route reads; times in seconds."""

    @property
    def query_timeout_s(self) -> float: ...

    @property
    def query_timeout_max_s(self) -> float: ...

    @property
    def base_url(self) -> str: ...


class QueryServices(Protocol):
    """The services this route uses."""

    @property
    def readers(self) -> QueryService: ...

    @property
    def rewriter(self) -> Rewriter: ...

    @property
    def settings(self) -> QuerySettings: ...


class UpdateAnswerer(Protocol):
    """Carries out updates."""

    async def answer(
        self, request: Request, found: ProtocolRequest, timeout_s: float, base: str
    ) -> Response: ...


class Admitter(Protocol):
    """Decides what may run."""

    async def body(self, request: Request) -> bytes: ...

    async def admit(
        self, request: Request, found: ProtocolRequest, *, base: str, timeout_s: float
    ) -> ProtocolRequest: ...


class OwnReadingRoute(APIRoute):
    """A route whose endpoint reads the request itself: the framework's reading takes longer than a query."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The endpoint."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


def router(
    services: QueryServices,
    updates: UpdateAnswerer | None = None,
    admission: Admitter | None = None,
    vocabulary: ReadVocabulary | None = None,
    prefixes: Prefixes = dict,
) -> APIRouter:
    """The routes of the endpoint; without ``updates`` it is read-only, without ``admission`` unguarded."""
    endpoint = Endpoint(services, updates, admission, vocabulary, prefixes)
    routes = APIRouter(tags=["sparql"], route_class=OwnReadingRoute)
    for path in ("/sparql", "/query"):
        name = path.strip("/")
        routes.add_api_route(
            path,
            endpoint.answer,
            methods=["GET"],
            name=name,
            operation_id=f"{name}_get",
            summary="Run a SPARQL query; without one, the service description",
            response_class=Response,
        )
        routes.add_api_route(path, endpoint.answer, methods=["HEAD"], include_in_schema=False)
        routes.add_api_route(
            path,
            endpoint.answer,
            methods=["POST"],
            name=f"{name}_post",
            operation_id=f"{name}_post",
            summary="Run a SPARQL query sent as a form or as the body",
            response_class=Response,
        )
    routes.add_api_route(
        "/update",
        endpoint.take_update,
        methods=["POST"],
        operation_id="update_post",
        summary="Carry out a SPARQL update sent as a form or as the body",
        response_class=Response,
    )
    routes.add_api_route(
        "/.well-known/void",
        endpoint.describe_dataset,
        methods=["GET"],
        operation_id="void_get",
        summary="The VoID description of the dataset",
        response_class=Response,
    )
    return routes


class Endpoint:
    """Requests in, answers out; the work is done in `sparql`."""

    def __init__(
        self,
        services: QueryServices,
        updates: UpdateAnswerer | None,
        admission: Admitter | None = None,
        vocabulary: ReadVocabulary | None = None,
        prefixes: Prefixes = dict,
    ) -> None:
        self._prefixes = prefixes
        self._services = services
        self._updates = updates
        self._admission = admission
        self._dataset = DatasetReading(services.readers, vocabulary)

    async def answer(self, request: Request) -> Response:
        """A query's answer, or the service description for a bare GET."""
        found = await self._read(request)
        if found is None:
            return await self.describe_service(request)
        if found.kind is Kind.UPDATE and request.scope["path"] == "/query":
            raise MalformedRequest("Updates are not taken here; send them to /update.")
        found = await self._admitted(request, found)
        if found.kind is Kind.QUERY:
            if (mark := current_mark()) is not None:
                mark.only_reads = True
            return await self.answer_query(request, found)
        return await self.answer_update(request, found)

    async def take_update(self, request: Request) -> Response:
        """Carry out an update, and nothing else."""
        found = await self._read(request)
        assert found is not None
        if found.kind is Kind.QUERY:
            raise MalformedRequest("Queries are not taken here; send them to /query.")
        return await self.answer_update(request, await self._admitted(request, found))

    async def _read(self, request: Request) -> ProtocolRequest | None:
        body = await (request.body() if self._admission is None else self._admission.body(request))
        query_string = request.scope["query_string"].decode("latin-1")
        return read_request(request.method, query_string, request.headers.get("content-type"), body)

    async def _admitted(self, request: Request, found: ProtocolRequest) -> ProtocolRequest:
        if self._admission is None:
            return found
        settings = self._services.settings
        return await self._admission.admit(
            request, found, base=_base(settings), timeout_s=_timeout(found, settings)
        )

    async def answer_update(self, request: Request, found: ProtocolRequest) -> Response:
        """Carry out an update."""
        if self._updates is None:
            raise MalformedRequest("This endpoint is read-only; updates are not taken.")
        settings = self._services.settings
        return await self._updates.answer(request, found, _timeout(found, settings), _base(settings))

    async def answer_query(self, request: Request, found: ProtocolRequest) -> Response:
        """Run a query and stream its answer."""
        readers, settings = self._services.readers, self._services.settings
        request.scope[QUERY_TEXT] = found.text
        preparation = self._services.rewriter.preparation(
            found.text, found.options, base=_base(settings), own_dataset=found.has_dataset
        )
        if preparation is not None and found.options.explain:
            wanted = _reader_request(found, RESULT_FORMATS[0], settings, preparation, {})
            explained = preparation.explanation(*await readers.prepared(wanted))
            return JSONResponse(explained, headers=_warned({}, found.warnings))
        found, format_ = _with_format(request, found)
        tag = _tag_of(found, format_) if readers.knows_every_change else None
        if tag is not None and matches(request, known := tag.at(readers.revision())):
            return Response(status_code=304, headers=_headers(format_, known))
        try:
            if preparation is not None and tag is not None and format_ in RESULT_FORMATS:
                work = preparation.index_answer(format_, _timeout(found, settings))
                if (whole := await while_connected(request, work)) is not None:
                    headers = _warned(_headers(format_, tag.at(whole.revision)), found.warnings)
                    return Response(None if request.method == "HEAD" else whole.body, headers=headers)
            shortening = self._prefixes() if format_.name in WITH_PREFIXES else {}
            asked = _reader_request(found, _read_as(format_), settings, preparation, shortening)
            result = await while_connected(request, readers.open_query(asked))
        except ClientLeft:
            return Response(status_code=_CLIENT_CLOSED_REQUEST)
        headers = _headers(
            FEATURE_FORMAT if format_ is FEATURE_FORMAT else result.format,
            None if tag is None else tag.at(result.revision),
        )
        messages = (
            *found.warnings,
            *(() if preparation is None else preparation.warnings),
            *map(unknown_function_message, result.unknown_functions),
        )
        _warned(headers, messages)
        if format_ is FEATURE_FORMAT and request.method != "HEAD":
            return await self._features(found, result, headers)
        body = None if request.method == "HEAD" else result.whole()
        if request.method != "HEAD" and body is None:
            return ResultResponse(readers, result, headers)
        readers.close_query(result)
        return Response(body, headers=headers)

    async def _features(
        self, found: ProtocolRequest, result: StreamedResult, headers: dict[str, str]
    ) -> Response:
        """The rows as GeoJSON; what is wrong with their columns is known from the first of them."""
        # Shapely takes long to import, and few requests need it.
        from sparql.protocol.feature_rows import begun, features_of

        try:
            pieces = await begun(features_of(cast("AsyncGenerator[bytes]", aiter(result)), found.geometry))
        except BaseException:
            self._services.readers.close_query(result)
            raise
        return ResultResponse(self._services.readers, result, headers, pieces)

    async def describe_service(self, request: Request) -> Response:
        """What the endpoint can do (SPARQL 1.1 Service Description, 2)."""
        format_ = choose(request.headers.get("accept"), GRAPH_FORMATS)
        readers = self._services.readers
        tag = EntityTag("service", format_).at(readers.revision()) if readers.knows_every_change else None
        if tag is not None and matches(request, tag):
            return Response(status_code=304, headers=_headers(format_, tag))
        endpoint = self._address("/sparql")
        dataset = await self._dataset.facts()
        triples = describe_service(
            endpoint,
            load_functions(),
            dataset,
            updates=self._updates is not None,
            aggregates=load_aggregates(),
        )
        unused = unused_parameters(request.query_params, PARAMETERS)
        return Response(write(triples, format_), headers=_warned(_headers(format_, tag), unused))

    async def describe_dataset(self, request: Request) -> Response:
        """What the dataset holds, in VoID."""
        if self._admission is not None:
            await self._admission.body(request)
        check_parameters(request, ())
        format_ = choose(request.headers.get("accept"), GRAPH_FORMATS)
        # Its blank nodes have other names each time, so that a digest of it would not last.
        readers = self._services.readers
        tag = EntityTag("void", format_).at(readers.revision()) if readers.knows_every_change else None
        headers = _headers(format_, tag)
        if tag is not None and matches(request, tag):
            return Response(status_code=304, headers=headers)
        dataset_iri = self._address("/.well-known/void#dataset")
        triples = describe_dataset(dataset_iri, self._address("/sparql"), await self._dataset.facts())
        return Response(write(triples, format_), headers=headers)

    def _address(self, path: str) -> NamedNode:
        return NamedNode(self._services.settings.base_url.rstrip("/") + path)


def _with_format(request: Request, found: ProtocolRequest) -> tuple[ProtocolRequest, Format]:
    """The format of the answer; the request gets a warning where it names only unknown ones."""
    form = facts_of(found.text).form
    offers = _offers(form)
    known = first_known(found.formats, offers)
    if known is not None:
        return found, known
    if any(found.formats):
        names = ", ".join(offer.name for offer in offers)
        warning = f"No format '{found.formats[0][:80]}' for this answer; Accept decides. Known: {names}."
        found = replace(found, warnings=(*found.warnings, warning))
    if form is None:
        # No query at all: the parser's complaint matters more than the format of an answer.
        return found, offers[0]
    return found, _chosen(request.headers.get("accept"), offers)


def _read_as(format_: Format) -> Format:
    """The format that the rows are read in."""
    return BY_NAME["tsv"] if format_ is FEATURE_FORMAT else format_


def _offers(form: QueryForm | None) -> tuple[Format, ...]:
    if form is not None and form.gives_graph:
        return GRAPH_FORMATS
    return (*RESULT_FORMATS, FEATURE_FORMAT) if form is QueryForm.SELECT else RESULT_FORMATS


@lru_cache(maxsize=256)
def _chosen(accept: str | None, offers: tuple[Format, ...]) -> Format:
    return choose(accept, offers)


def _reader_request(
    found: ProtocolRequest,
    format_: Format,
    settings: QuerySettings,
    preparation: Preparation | None,
    prefixes: Mapping[str, str],
) -> QueryRequest:
    return QueryRequest(
        found.text,
        format_,
        found.default_graphs,
        found.named_graphs,
        _timeout(found, settings),
        _base(settings),
        preparation,
        prefixes,
    )


def _base(settings: QuerySettings) -> str:
    """What relative IRIs of a request are relative to: the endpoint's own address (RFC 3986, 5.1.3)."""
    return settings.base_url.rstrip("/") + "/sparql"


def _timeout(found: ProtocolRequest, settings: QuerySettings) -> float:
    return min(found.timeout_s or settings.query_timeout_s, settings.query_timeout_max_s)


def _tag_of(found: ProtocolRequest, format_: Format) -> EntityTag | None:
    """None for a query that varies by itself."""
    if is_varying(found.text):
        return None
    return EntityTag(
        found.text,
        format_,
        found.default_graphs,
        found.named_graphs,
        found.options.tag + (found.geometry or ""),
    )


def _warned(headers: dict[str, str], messages: Sequence[str]) -> dict[str, str]:
    """The headers, with a warning where there are messages."""
    if messages and (warning := warning_of(messages)) is not None:
        headers["Warning"] = warning
    return headers


def _headers(format_: Format, tag: str | None) -> dict[str, str]:
    headers = {"Content-Type": format_.content_type, "Vary": "Accept", "Cache-Control": "no-cache"}
    return headers if tag is None else {**headers, "ETag": tag}

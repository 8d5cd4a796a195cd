"""`POST /extractions` (text in) and `POST /candidates` (a client's own statements in)."""

import io
from typing import IO, cast

import pyoxigraph
from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field, model_validator
from pyoxigraph import DefaultGraph, RdfFormat
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from extractors.methods import MethodName
from server.bodies import body_schema, check, media_type, parse_json, read_body, read_json
from server.errors import MalformedBody, UnsupportedBody
from server.intake import Outcome
from server.keys import Scope
from server.services import Services
from server.statements import StatementJson, statement_of
from sparql.change import Statement
from sparql.provenance import Support
from sparql.shallow import ShallowFile

_RDF = {
    "text/turtle": RdfFormat.TURTLE,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/rdf+xml": RdfFormat.RDF_XML,
}


class ExtractionRequest(BaseModel):
    """A text to extract from."""

    text: str = Field(description="The text, in the configured language.")
    source: str | None = Field(None, description="Where the text comes from: a URL, a title.")
    commit: bool = Field(True, description="false: only say what would be accepted and refused.")
    method: MethodName | None = Field(
        None, description="How the text is read; as the setting `extraction_method` says when not given."
    )
    open: bool = Field(False, description="true: the method `open`, free words that all wait for a person.")

    @model_validator(mode="after")
    def _one_method(self) -> "ExtractionRequest":
        if self.open and self.method not in (None, "open"):
            raise ValueError(f"open is a method of its own: leave out open, or the method {self.method}")
        return self


class CandidatesRequest(BaseModel):
    """Statements of a client's own extractor."""

    statements: list[StatementJson]
    source: str | None = Field(None, description="Where they come from: a URL, a title.")
    text: str | None = Field(None, description="The text they were extracted from; evidence is checked.")

    @model_validator(mode="after")
    def _quotes_stand_in_the_text(self) -> "CandidatesRequest":
        for number, statement in enumerate(self.statements):
            found = statement.evidence
            if self.text is not None and found and self.text[found.start : found.end] != found.quote:
                raise ValueError(f"statements.{number}.evidence: the text does not have this quote there")
        return self


def router(services: Services) -> APIRouter:
    """The routes through which statements come in."""
    routes = APIRouter(tags=["extraction"], dependencies=[Depends(services.guard.requires(Scope.EXTRACT))])
    limit = services.settings.max_body_bytes
    holds = services.settings.hub_batches == "hold"

    @routes.post("/extractions", openapi_extra=body_schema(ExtractionRequest))
    async def post_extraction(request: Request) -> Response:
        """Extract statements from a text, judge each, and commit those that conform; 202: it is held."""
        message = await read_json(request, ExtractionRequest, limit)
        outcome = await services.intake.extract(
            message.text,
            source=message.source,
            commit=message.commit,
            method="open" if message.open else message.method,
            hold=holds,
        )
        return _answer(outcome)

    @routes.post("/candidates", openapi_extra=body_schema(CandidatesRequest))
    async def post_candidates(request: Request, source: str | None = None) -> Response:
        """Judge statements from a client's own extractor (JSON or RDF), and commit those that conform.

        202: too much depends on them, so they are held, and judged beside other requests.
        """
        kind, text = media_type(request), None
        if kind in ("", "application/json"):
            message = check(parse_json(await read_body(request, limit)), CandidatesRequest)
            statements = [statement_of(statement) for statement in message.statements]
            source, text = message.source or source, message.text
        elif kind in _RDF:
            body = await read_body(request, limit)
            services.admission.limits.check_rdf(body, _RDF[kind])
            statements = await run_in_threadpool(_from_rdf, body, _RDF[kind])
        else:
            raise UnsupportedBody(kind, ", ".join(("application/json", *_RDF)))
        outcome = await services.intake.submit(statements, source=source, text=text, hold=holds)
        return _answer(outcome)

    return routes


def _answer(outcome: Outcome) -> Response:
    held = outcome.verdict.held is not None
    headers = {"Location": f"/held/{outcome.identifier}"} if held else None
    return JSONResponse(outcome.json(), 202 if held else 200, headers)


def _guarded(body: bytes, format_: RdfFormat) -> IO[bytes]:
    return cast("IO[bytes]", ShallowFile(io.BytesIO(body), format_))


def _from_rdf(body: bytes, format_: RdfFormat) -> list[tuple[Statement, Support]]:
    try:
        quads = list(pyoxigraph.parse(_guarded(body, format_), format=format_, rename_blank_nodes=True))
    except SyntaxError as error:
        place = f" at line {error.lineno}, column {error.offset}" if error.lineno else ""
        raise MalformedBody(f"The body is not {format_.name}{place}: {error.msg}.") from error
    if any(not isinstance(quad.graph_name, DefaultGraph) for quad in quads):
        raise MalformedBody("Candidates belong to the default graph. Leave out named graphs.")
    return [(Statement(quad.triple), Support()) for quad in quads]

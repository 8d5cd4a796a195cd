"""Takes statements of a client's own extractor: reads, judges and answers them on one thread."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Final, cast

import pyoxigraph
from pydantic import Field, model_validator
from pyoxigraph import DefaultGraph, Literal, RdfFormat
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from server.errors import InvalidBody, MalformedBody, UnsupportedBody
from server.http.bodies.request_bodies import check, media_type, parse_json, read_body
from server.http.reporting.statements import StatementJson, statement_of
from server.message import Message
from sparql.model.change import Statement
from sparql.provenance.records import Support
from sparql.syntax.nesting import TERM_TOO_LONG, ShallowFile

if TYPE_CHECKING:
    from server.intake.outcome import Outcome
    from server.services import Services

_RDF: Final = {
    "text/turtle": RdfFormat.TURTLE,
    "application/ld+json": RdfFormat.JSON_LD,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/rdf+xml": RdfFormat.RDF_XML,
}


_LONGEST_SOURCE: Final = 2000
_LONGEST_NAME: Final = 1000


class CandidatesRequest(Message):
    """Statements of a client's own extractor."""

    statements: list[StatementJson]
    source: str | None = Field(None, max_length=2000, description="Where they come from: a URL, a title.")
    text: str | None = Field(None, description="The text they were extracted from; evidence is checked.")
    commit: bool = Field(True, description="false: only say what would be accepted and refused.")

    @model_validator(mode="after")
    def _quotes_are_in_the_text(self) -> CandidatesRequest:
        for number, statement in enumerate(self.statements):
            found = statement.evidence
            if self.text is not None and found and self.text[found.start : found.end] != found.quote:
                raise ValueError(f"statements.{number}.evidence: the text does not have this quote there")
        return self


class Candidates:
    """Answers `POST /candidates`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def take(self, request: Request, source: str | None, *, commit: bool) -> Response:
        """Judge and commit the statements of a body; with `commit` false only say what would happen.

        Raises `UnsupportedBody`, `BodyTooLarge`, `MalformedBody`, `InvalidBody` and what the writer raises.
        """
        kind = media_type(request)
        if kind not in ("", "application/json", *_RDF):
            raise UnsupportedBody(kind, ", ".join(("application/json", *_RDF)))
        body = await read_body(request, self._services.settings.max_body_bytes)
        return await asyncio.to_thread(self._taken, kind, body, source, commit)

    def _taken(self, kind: str, body: bytes, source: str | None, commit: bool) -> Response:
        services, text = self._services, None
        if kind in _RDF:
            statements = _from_rdf(body, _RDF[kind])
        else:
            message = check(parse_json(body), CandidatesRequest)
            statements = [statement_of(statement) for statement in message.statements]
            source, text = message.source or source, message.text
            commit = commit and message.commit
        self._check_lengths(statements, source, text)
        return outcome_response(services.intake.take(statements, source=source, text=text, commit=commit))

    def _check_lengths(
        self, statements: Sequence[tuple[Statement, Support]], source: str | None, text: str | None
    ) -> None:
        """Raises `InvalidBody` for a text, a source or a name that is too long."""
        properties = self._services.labels.label_properties
        longest = self._services.settings.max_text_chars
        lengths = [("source", len(source or ""), _LONGEST_SOURCE), ("text", len(text or ""), longest)]
        lengths += [
            (f"statements.{number}.object", len(statement.triple.object.value), _LONGEST_NAME)
            for number, (statement, _) in enumerate(statements)
            if statement.triple.predicate in properties and isinstance(statement.triple.object, Literal)
        ]
        problems = [
            (place, f"it has {length:,} characters, and at most {most:,} are taken")
            for place, length, most in lengths
            if length > most
        ]
        if problems:
            raise InvalidBody(problems)


def outcome_response(outcome: Outcome) -> Response:
    """The response for a text or a submission."""
    return JSONResponse(outcome.json())


def _guarded(body: bytes, format_: RdfFormat) -> IO[bytes]:
    return cast("IO[bytes]", ShallowFile(io.BytesIO(body), format_))


def _from_rdf(body: bytes, format_: RdfFormat) -> list[tuple[Statement, Support]]:
    try:
        quads = list(pyoxigraph.parse(_guarded(body, format_), format=format_, rename_blank_nodes=True))
    except SyntaxError as error:
        place = f" at line {error.lineno}, column {error.offset}" if error.lineno else ""
        raise MalformedBody(f"The body is not {format_.name}{place}: {error.msg}.") from error
    except MemoryError as error:
        raise MalformedBody(TERM_TOO_LONG) from error
    if any(not isinstance(quad.graph_name, DefaultGraph) for quad in quads):
        raise MalformedBody("Candidates belong to the default graph. Leave out named graphs.")
    return [(Statement(quad.triple), Support()) for quad in quads]

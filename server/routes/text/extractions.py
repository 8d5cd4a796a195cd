"""`POST /extractions` (text in) and `POST /candidates` (a client's own statements in)."""

from fastapi import APIRouter, Depends
from pydantic import Field, model_validator
from starlette.requests import Request
from starlette.responses import Response

from extractors import MethodName
from server.http.access.keys import Scope
from server.http.bodies.event_stream import Note, in_steps, step_events
from server.http.bodies.request_bodies import body_schema, read_json
from server.http.pages import Needed
from server.intake.candidates import Candidates, CandidatesRequest, outcome_response
from server.message import IriText, Message
from server.services import Services


class ExtractionRequest(Message):
    """A text to extract from, or a dry run whose candidates are committed."""

    text: str | None = Field(None, description="The text, in the configured language.")
    dry_run: str | None = Field(
        None,
        max_length=100,
        description="Instead of a text, the `id` of an answer to one with `commit` false: its statements are "
        "judged again and committed as they were shown; no model is asked.",
    )
    source: str | None = Field(
        None, max_length=2000, description="Where the text comes from: a URL, a title."
    )
    commit: bool = Field(True, description="false: only say what would be accepted and refused.")
    method: MethodName | None = Field(
        None, description="How the text is read; as the setting `extraction_method` says when not given."
    )
    open: bool = Field(False, description="true: the method `open`, free words that all wait for a person.")

    @model_validator(mode="after")
    def _one_of_each(self) -> "ExtractionRequest":
        if (self.text is None) == (self.dry_run is None):
            raise ValueError("give either text or dry_run")
        if self.dry_run is not None and self.model_fields_set != {"dry_run"}:
            raise ValueError("dry_run is given alone: its text, source and method are known")
        if self.open and self.method not in (None, "open"):
            raise ValueError(f"open is a method of its own: leave out open, or the method {self.method}")
        return self


def router(services: Services, *needs: Needed) -> APIRouter:
    """The routes through which statements are sent."""
    candidates = Candidates(services)
    routes = APIRouter(
        tags=["extraction"], dependencies=[*needs, Depends(services.guard.requires(Scope.EXTRACT))]
    )
    limit = services.settings.max_body_bytes

    @routes.post(
        "/extractions",
        openapi_extra=body_schema(ExtractionRequest),
        responses=step_events("part of the text that was read, and for linking", "ExtractionAnswer"),
    )
    async def post_extraction(request: Request) -> Response:
        """Extract statements from a text, judge each, and commit those that conform."""
        message = await read_json(request, ExtractionRequest, limit)

        async def extracted(note: Note) -> Response:
            if message.text is None:
                dry_run = message.dry_run or ""
                return outcome_response(await services.intake.commit_dry_run(dry_run))
            outcome = await services.intake.extract(
                message.text,
                source=message.source,
                commit=message.commit,
                method="open" if message.open else message.method,
                progress=note,
            )
            return outcome_response(outcome)

        return await in_steps(request, extracted)

    @routes.post("/candidates", openapi_extra=body_schema(CandidatesRequest))
    async def post_candidates(
        request: Request, source: IriText | None = None, commit: bool = True
    ) -> Response:
        """Judge statements from a client's own extractor (JSON or RDF), and commit those that conform."""
        return await candidates.take(request, source, commit=commit)

    return routes

"""`POST /sources`: records of areas, roads, points of interest, reviews and web pages (UrbanKGent, 2.1)."""

from typing import Any

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.requests import Request

from extractors.sources.records import SourceKind
from server.errors import InvalidBody
from server.http.access.keys import Scope
from server.http.bodies.request_bodies import GeoJson, Wkt, body_schema, read_json
from server.http.pages import Needed
from server.message import Message
from server.services import Services


class SourceJson(Message):
    """One record; what is missing is passed over."""

    kind: SourceKind | None = Field(None, description="The geometry decides when it is not given.")
    name: str = Field("", max_length=1000, description="What the place is called.")
    type: str = Field("", max_length=1000, description="What sort of place it is, in words.")
    class_: str | None = Field(
        None, alias="class", max_length=2000, description="IRI of its class, not words."
    )
    text: str = Field("", description="What is said about it.")
    geometry: Wkt | GeoJson | None = Field(None, description="WKT or GeoJSON.")
    rating: float | None = Field(None, description="What a review gives.")
    url: str | None = Field(None, max_length=2000, description="Where the text comes from.")
    id: str | None = Field(
        None, max_length=1000, description="What distinguishes the place from others of its name."
    )


class SourcesRequest(Message):
    """Records to take in."""

    records: list[SourceJson] = Field(min_length=1, max_length=1000)
    clean: bool = Field(True, description="Whether the cleaning rules look at the texts first.")
    commit: bool = Field(True, description="false: only say what would be accepted and refused.")


def router(services: Services, *needs: Needed) -> APIRouter:
    """The route through which records are sent."""
    routes = APIRouter(
        tags=["extraction"], dependencies=[*needs, Depends(services.guard.requires(Scope.EXTRACT))]
    )

    @routes.post("/sources", openapi_extra=body_schema(SourcesRequest))
    async def post_sources(request: Request) -> dict[str, Any]:
        """Clean records, put their geometry into the graph, and extract from their texts."""
        from extractors.sources.mapping import SourceMapping, record_of
        from extractors.sources.records import BrokenRecord, Row
        from extractors.sources.rules import Cleaner, CleaningReport, Rules
        from server.intake.sources import SourceIntake

        message = await read_json(request, SourcesRequest, services.settings.max_body_bytes)
        records, problems = [], []
        for number, one in enumerate(message.records):
            values = one.model_dump(exclude_none=True, exclude={"class_"})
            record = record_of(
                Row(f"records.{number}", values), SourceMapping(kind=one.kind, iri_class=one.class_)
            )
            if isinstance(record, BrokenRecord):
                problems.append((record.place, record.reason))
            else:
                records.append(record)
        if problems:
            raise InvalidBody(problems)
        languages = tuple(filter(None, (code.strip() for code in services.settings.language.split(","))))
        cleaner, report = Cleaner(Rules(languages=languages)), CleaningReport()
        intake, answers = SourceIntake(services), []
        for record in records:
            if message.clean:
                cleaned = cleaner.clean(record)
                report.add(cleaned)
                record = cleaned.record
            answers.append((await intake.take(record, commit=message.commit)).json())
        return {"records": answers, "cleaning": report.json() if message.clean else None}

    return routes

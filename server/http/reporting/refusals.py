"""A refused change in the form that the client prefers: a problem document or a SHACL validation report."""

from __future__ import annotations

from pyoxigraph import RdfFormat, serialize
from starlette.requests import Request
from starlette.responses import Response

from server.http.reporting.problems import MEDIA_TYPE, TYPE_BASE, problem_response
from server.http.reporting.statements import rejection_json
from server.reader_language import rejection_for_reader
from shapes.report import PREFIXES, validation_report
from sparql.model.change import Verdict
from sparql.model.errors import NotAcceptable
from sparql.protocol.formats import GRAPH_FORMATS, Format
from sparql.protocol.negotiation import MediaType, choose

_OFFERS: tuple[MediaType | Format, ...] = (
    MediaType(MEDIA_TYPE, ("application/json",)),
    # Under their own media types alone: application/json means the problem document.
    *(Format(one.name, one.media_type, one.engine) for one in GRAPH_FORMATS),
)


def refusal(request: Request, verdict: Verdict) -> Response:
    """422 with every violation: problem+json, or the report (SHACL, 3.6) in the RDF format asked for."""
    try:
        chosen = choose(request.headers.get("accept"), _OFFERS)
    except NotAcceptable:
        # An error is reported in some form rather than in none.
        chosen = _OFFERS[0]
    if isinstance(chosen, Format):
        assert isinstance(chosen.engine, RdfFormat)
        report = validation_report(map(rejection_for_reader, verdict.rejected))
        body = serialize(report, format=chosen.engine, prefixes=PREFIXES)
        return Response(body, 422, {"Content-Type": chosen.content_type, "Vary": "Accept"})
    return problem_response(
        422,
        "Change does not conform",
        f"Nothing was changed: {len(verdict.rejected)} statements break a shape; correct those listed.",
        type_=TYPE_BASE + "change-does-not-conform",
        instance=request.url.path,
        members={"rejected": [rejection_json(one, None) for one in verdict.rejected]},
        headers={"Vary": "Accept"},
    )

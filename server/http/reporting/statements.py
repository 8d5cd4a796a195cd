"""Statements, refusals and decisions as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator
from pyoxigraph import BlankNode, NamedNode, RdfFormat, Triple, serialize
from pyoxigraph import Literal as RdfLiteral
from starlette.requests import Request
from starlette.responses import Response

from curation.merging.merging import Merge, Merged
from curation.review.review_item import ReviewItem
from geo.remembered import remembered
from server.errors import MalformedBody
from server.http.reporting.problems import MEDIA_TYPE, TYPE_BASE, problem_response
from server.message import LONGEST_IRI, AbsoluteIri, IriText, Message, Name, Prose
from server.reader_language import for_reader, rejection_for_reader
from shapes.results import PREFIXES, validation_report
from sparql.model.change import Rejection, Statement, Verdict, Violation
from sparql.model.errors import NotAcceptable
from sparql.model.source import Term
from sparql.model.vocabulary import SH
from sparql.protocol.formats import GRAPH_FORMATS, Format, MediaType, choose
from sparql.provenance.records import Support

if TYPE_CHECKING:
    from geo.relate.rcc8 import RCC8


class TermJson(Message):
    """A term as in SPARQL 1.1 Query Results JSON (3.2.2)."""

    model_config = ConfigDict(populate_by_name=True)

    # What is none of these is refused by `term_of`, which says what to send instead.
    type: Annotated[
        Literal["uri", "literal", "bnode", "triple"],
        WithJsonSchema({"type": "string", "enum": ["uri", "literal", "bnode"]}),
    ]
    value: Annotated[Any, WithJsonSchema({"type": "string"})]
    datatype: AbsoluteIri | None = None
    lang: Name | None = Field(None, alias="xml:lang")


class EvidenceJson(Message):
    """The words a statement rests on; code points, end exclusive."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: Prose

    @model_validator(mode="after")
    def _in_order(self) -> EvidenceJson:
        if self.end < self.start or len(self.quote) != self.end - self.start:
            raise ValueError("quote must have exactly end - start characters (code points)")
        return self


class StatementJson(Message):
    """One statement; `evidence` and `confidence` may be left out."""

    subject: str = Field(
        max_length=LONGEST_IRI,
        description="An IRI, or `_:` and the identifier of a blank node.",
        json_schema_extra={"anyOf": [{"format": "iri"}, {"pattern": "^_:[A-Za-z0-9]+$"}]},
    )
    predicate: AbsoluteIri
    object: TermJson
    evidence: EvidenceJson | None = None
    confidence: float | None = Field(None, ge=0, le=1)


def statement_of(message: StatementJson) -> tuple[Statement, Support]:
    """The statement and its support. Raises `MalformedBody` for what is no RDF term."""
    triple = Triple(_subject(message.subject), _iri(message.predicate), term_of(message.object))
    evidence, confidence = message.evidence, message.confidence
    if evidence is None:
        return Statement(triple, confidence), _bare(confidence)
    support = Support(start=evidence.start, end=evidence.end, quote=evidence.quote, confidence=confidence)
    return Statement(triple, confidence), support


@lru_cache(maxsize=1024)
def _bare(confidence: float | None) -> Support:
    """The support of a statement without words; most of a batch have the same."""
    return Support(confidence=confidence)


def statement_json(triple: Triple, support: Support | None = None) -> dict[str, Any]:
    """A statement with its evidence, as JSON."""
    found = support or Support()
    evidence = None
    if found.start is not None:
        evidence = {"start": found.start, "end": found.end, "quote": found.quote}
    return {
        "subject": _name(triple.subject),
        "predicate": triple.predicate.value,
        "object": term_json(triple.object),
        "evidence": evidence,
        "confidence": found.confidence,
        "inferred": list(found.inferred),
        "geocoded_from": found.geocoded,
        "geometry": _geometry(found),
    }


def _geometry(support: Support) -> dict[str, Any] | None:
    """What a statement says of where its subject is, and what the geometries say."""
    if support.computed is None:
        return None
    relation = _relations()[support.computed]
    return {"stated": support.stated, "computed": relation.value, "distance_m": support.distance_m}


@cache
def _relations() -> Mapping[NamedNode, RCC8]:
    # Imported here: a server starts before it needs geometry.
    from geo.relate.rcc8 import RELATIONS

    return RELATIONS


def rejection_json(rejection: Rejection, support: Support | None) -> dict[str, Any]:
    """A rejected statement with every reason."""
    return {
        "statement": statement_json(rejection.statement.triple, support),
        "violations": [violation_json(violation) for violation in rejection.violations],
    }


def violation_json(violation: Violation) -> dict[str, Any]:
    """A violation: message in the reader's language, shape, component, path, value, severity."""
    violation = for_reader(violation)
    return {
        "message": violation.message,
        "focus": term_json(violation.focus),
        "shape": _name(violation.shape) if violation.shape is not None else None,
        "component": violation.component.value,
        "path": violation.path,
        "value": term_json(violation.value) if violation.value is not None else None,
        "severity": violation.severity.value.removeprefix(SH.iri),
    }


def review_json(item: ReviewItem) -> dict[str, Any]:
    """A review item with its statement, reasons, text span, the model's words and what was decided."""
    return {
        "id": item.identifier,
        "iri": item.iri.value,
        "statement": statement_json(item.triple, item.support),
        "names": {"subject": item.subject_name, "object": item.object_name},
        "violations": [violation_json(violation) for violation in item.violations],
        "reply": item.support.reply,
        "status": item.state.value,
        "accepted": item.accepted,
        "seen": item.seen,
        "created": item.created,
        "run": item.run.value if item.run else None,
        "document": item.document.value if item.document else None,
        "source": item.source,
        "decisions": [
            {"iri": d.iri.value, "outcome": d.outcome, "by": d.by, "at": d.at, "reason": d.reason}
            for d in item.decisions
        ],
        "assignee": item.assignee,
        "comments": [{"text": one.text, "by": one.by, "at": one.at} for one in item.comments],
    }


def term_json(term: Term) -> dict[str, Any]:
    """A term as in SPARQL 1.1 Query Results JSON (3.2.2)."""
    if isinstance(term, NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": term.value}
    if isinstance(term, Triple):
        parts = {
            "subject": term_json(term.subject),
            "predicate": term_json(term.predicate),
            "object": term_json(term.object),
        }
        return {"type": "triple", "value": parts}
    json: dict[str, Any] = {"type": "literal", "value": term.value}
    if term.language is not None:
        json["xml:lang"] = term.language
    elif term.datatype.value != "http://www.w3.org/2001/XMLSchema#string":
        json["datatype"] = term.datatype.value
    return json


def _name(term: Term) -> str:
    if isinstance(term, BlankNode):
        return f"_:{term.value}"
    return term.value if isinstance(term, NamedNode) else str(term)


def _subject(text: str) -> NamedNode | BlankNode:
    return BlankNode(text[2:]) if text.startswith("_:") and len(text) > 2 else _iri(text)


def term_of(term: TermJson) -> NamedNode | BlankNode | RdfLiteral:
    """A term that a client sent. Raises `MalformedBody` for what is none."""
    if not isinstance(term.value, str):
        raise MalformedBody("An object's value must be a string; triple terms are not taken as candidates.")
    match term.type:
        case "uri":
            return _iri(term.value)
        case "bnode":
            return _subject("_:" + term.value.removeprefix("_:"))
        case "triple":
            raise MalformedBody("An object cannot be a triple term here; send the statement itself.")
        case "literal":
            try:
                if term.lang:
                    return RdfLiteral(term.value, language=term.lang)
                if term.datatype:
                    return RdfLiteral(term.value, datatype=_iri(term.datatype))
            except ValueError as error:
                raise MalformedBody(f"'{term.value}' is no RDF literal: {error}.") from error
            return RdfLiteral(term.value)


@remembered((200, 4096))
def _iri(text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise MalformedBody(f"'{text}' is not an absolute IRI: {error}. Send it in full.") from error


class DecisionRequest(Message):
    """Why, and who decides where the request's key does not say."""

    reason: str | None = Field(None, max_length=10_000, description="Why, for who reads it later.")
    by: str | None = Field(None, min_length=1, max_length=200, description="The person's name.")
    dry_run: bool = Field(False, description="Say what would happen, and change nothing.")


class AcceptRequest(DecisionRequest):
    """`statements`, if given, replace the item's own: the corrected statement, or several in its place."""

    statements: list[StatementJson] | None = Field(None, min_length=1, max_length=50)


class ItemAcceptRequest(AcceptRequest):
    """`entities` says which entities the text means, where the item asks that."""

    entities: dict[IriText, IriText | None] | None = Field(
        None,
        max_length=2,
        description="For the `entity` of each of the item's `choices` the IRI that is meant, or null for a "
        "new one. All statements of the text that ask only this are accepted with the answer.",
    )

    @model_validator(mode="after")
    def _either(self) -> ItemAcceptRequest:
        if self.entities is not None and self.statements is not None:
            raise ValueError("give either entities or statements")
        return self


def merge_json(merge: Merge) -> dict[str, Any]:
    """A merge as it is recorded."""
    return {
        "id": merge.identifier,
        "iri": merge.iri.value,
        "kept": merge.kept.value,
        "merged": merge.merged.value,
        "at": merge.at,
        "by": merge.by,
        "reason": merge.reason,
        "split": merge.split,
    }


def merged_json(merged: Merged) -> dict[str, Any]:
    """The answer to a merge or a split that was done."""
    return {
        "merge": None if merged.merge is None else merged.merge.value.rpartition("/")[2],
        "statements": merged.statements,
        "dropped": [statement_json(triple) for triple in merged.dropped],
        "rejected": [rejection_json(rejection, None) for rejection in merged.rejected],
        "revision": merged.revision,
    }


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

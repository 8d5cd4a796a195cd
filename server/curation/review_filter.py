"""Filters of review items as clients send them, and the IRIs that name documents, components and items."""

from typing import Literal

from pydantic import Field
from pyoxigraph import NamedNode

from curation.review.review_item import State
from curation.review.review_search import ReviewFilter
from server.errors import InvalidBody
from server.message import AbsoluteIri, IriText, Message, Name, Words
from sparql.model.vocabulary import RECORD, SH, UKG

_DOCUMENT = RECORD.term("document/").value


class FilterJson(Message):
    """Which items; the same parts as the parameters of `GET /review`."""

    status: Literal["open", "accepted", "rejected", "superseded", "any"] = "open"
    document: IriText | None = None
    shape: AbsoluteIri | None = None
    predicate: AbsoluteIri | None = None
    entity: AbsoluteIri | None = None
    text: Words | None = None
    severity: Literal["Violation", "Warning", "Info"] | None = None
    component: IriText | None = None
    source: IriText | None = None
    class_: AbsoluteIri | None = Field(None, alias="class")
    group: IriText | None = None
    min_confidence: float | None = Field(None, ge=0, le=1)
    max_confidence: float | None = Field(None, ge=0, le=1)
    assignee: Name | None = None


def filter_of(sent: FilterJson) -> ReviewFilter:
    """A filter from what a client sent. Raises `InvalidBody` for what is no IRI."""

    def iri(name: str, text: str | None) -> NamedNode | None:
        return None if text is None else iri_of(name, text)

    return ReviewFilter(
        state=None if sent.status == "any" else State(sent.status),
        document=None if sent.document is None else document_iri(sent.document),
        shape=iri("shape", sent.shape),
        predicate=iri("predicate", sent.predicate),
        entity=iri("entity", sent.entity),
        text=sent.text,
        severity=None if sent.severity is None else SH.term(sent.severity),
        component=None if sent.component is None else _component(sent.component),
        source=sent.source,
        class_=iri("class", sent.class_),
        group=sent.group,
        min_confidence=sent.min_confidence,
        max_confidence=sent.max_confidence,
        assignee=sent.assignee,
    )


def document_iri(identifier: str) -> NamedNode:
    """A document by its identifier or its whole IRI."""
    return iri_of("document", identifier if "://" in identifier else _DOCUMENT + identifier)


def _component(name: str) -> NamedNode:
    """A component by its IRI, or by its name in SHACL or in the system vocabulary."""
    if ":" in name:
        return iri_of("component", name)
    full = SH.iri if name.endswith("ConstraintComponent") else UKG.iri
    return iri_of("component", full + name)


def identifier(item: NamedNode) -> str:
    """The last part of a record's IRI."""
    return item.value.rpartition("/")[2]


def iri_of(name: str, text: str) -> NamedNode:
    """The IRI that a client sent as a member. Raises `InvalidBody`."""
    try:
        return NamedNode(text)
    except ValueError as error:
        raise InvalidBody([(name, f"'{text}' is not an absolute IRI")]) from error
